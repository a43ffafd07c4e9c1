//! The set of workers: their slots, which of them are idle, and the queues in which callers wait. Callers share
//! atomics only; the one lock is for starting and ending threads (`worker.rs`).

use crossbeam_utils::CachePadded;

use super::job::Job;
use super::park::{SpinTimes, WaitQueue};
use super::slot::WorkerSlot;
use super::worker_bits::{BANK_COUNT, BANK_SIZE, lowest_bits};
use crate::error::Result;
use crate::fallible;
use crate::fork_count;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicU64, AtomicUsize};
use crate::sync::thread::JoinHandle;
use crate::sync::{Mutex, OnceLock};

/// Sleeping callers are spread over this many queues by the addresses of their jobs.
const QUEUE_COUNT: usize = if cfg!(loom) { 1 } else { 16 };

struct Bank {
    /// A bit for each worker that no caller has claimed. A hint: an offer to a worker that is not idle
    /// is refused, or stays in its slot until it is withdrawn.
    idle: CachePadded<AtomicU64>,
    slots: [CachePadded<WorkerSlot>; BANK_SIZE],
}

impl Bank {
    fn new() -> Bank {
        let slots = std::array::from_fn(|_| CachePadded::new(WorkerSlot::vacant()));
        Bank { idle: CachePadded::new(AtomicU64::new(0)), slots }
    }

    /// Claims up to `want` idle workers, those with the lowest numbers first: they are the most likely to be awake.
    fn claim(&self, want: usize) -> u64 {
        let mut idle = self.idle.load(Relaxed);
        loop {
            let chosen = lowest_bits(idle, want);
            if chosen == 0 {
                return 0;
            }
            match self.idle.compare_exchange_weak(idle, idle & !chosen, Acquire, Relaxed) {
                Ok(_) => return chosen,
                Err(now) => idle = now,
            }
        }
    }
}

/// The workers of one process. The set of a process is never freed: workers, and callers that claim workers late, may
/// access it at any time.
pub(super) struct WorkerSet {
    banks: [OnceLock<Box<Bank>>; BANK_COUNT],
    /// The number of workers alive; they have the numbers below it. Written under `threads` only.
    pub(super) count: AtomicUsize,
    pub(super) threads: Mutex<Vec<JoinHandle<()>>>,
    queues: [CachePadded<WaitQueue>; QUEUE_COUNT],
    pub(super) spin: SpinTimes,
    /// The process to which these threads belong, identified by its [`fork_count`].
    generation: u32,
}

impl WorkerSet {
    pub(super) fn new() -> Self {
        WorkerSet {
            banks: std::array::from_fn(|_| OnceLock::new()),
            count: AtomicUsize::new(0),
            threads: Mutex::new(Vec::new()),
            queues: std::array::from_fn(|_| CachePadded::new(WaitQueue::new())),
            spin: SpinTimes::new(),
            generation: fork_count::current(),
        }
    }

    /// Returns the number of workers alive.
    pub(super) fn worker_count(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Returns whether worker number 0 is awake and idle.
    pub(super) fn is_first_worker_awake(&self) -> bool {
        self.banks[0].get().is_some_and(|bank| bank.idle.load(Relaxed) & 1 != 0 && bank.slots[0].is_awake())
    }

    /// Returns whether the workers are threads of this process, and not of the one it was forked from.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.generation == fork_count::current()
    }

    /// Claims up to `want` idle workers into a set of bits for each bank. Returns the number of claimed workers.
    pub(super) fn claim(&self, want: usize, claimed: &mut [u64; BANK_COUNT]) -> u32 {
        let mut got = 0;
        for (bank, chosen) in self.banks.iter().map_while(OnceLock::get).zip(claimed) {
            *chosen = bank.claim(want - got as usize);
            got += chosen.count_ones();
            if got as usize == want {
                break;
            }
        }
        got
    }

    pub(super) fn slot(&self, index: usize) -> &WorkerSlot {
        &self.bank(index / BANK_SIZE).slots[index % BANK_SIZE]
    }

    /// Makes the slot of worker number `index`, before a worker is started. The caller holds the lock of `threads`.
    pub(super) fn make_slot(&self, index: usize) -> Result<()> {
        let bank = &self.banks[index / BANK_SIZE];
        if bank.get().is_none() {
            let new = fallible::try_box(Bank::new())?;
            bank.get_or_init(|| new);
        }
        Ok(())
    }

    fn bank(&self, bank: usize) -> &Bank {
        self.banks[bank].get_or_init(|| Box::new(Bank::new()))
    }

    /// Allows jobs to claim worker number `index`.
    pub(super) fn set_idle(&self, index: usize) {
        self.set_all_idle(index / BANK_SIZE, 1 << (index % BANK_SIZE));
    }

    /// Allows jobs to claim the `workers` of a bank.
    pub(super) fn set_all_idle(&self, bank: usize, workers: u64) {
        self.bank(bank).idle.fetch_or(workers, Release);
    }

    /// Prevents jobs from claiming worker number `index`, which has ended, and frees its slot.
    pub(super) fn vacate(&self, index: usize) {
        self.bank(index / BANK_SIZE).idle.fetch_and(!(1 << (index % BANK_SIZE)), Relaxed);
        self.slot(index).vacate();
    }

    /// Wakes up to `left` of the workers that slept when `job` was offered to them and have not been woken yet. Those that have
    /// taken the job already do not count.
    pub(super) fn wake(&self, job: &Job<'_>, mut left: usize) {
        for (bank, asleep) in job.asleep_workers.iter().enumerate() {
            while left > 0 {
                let set = asleep.load(Relaxed);
                if set == 0 {
                    break;
                }
                let bit = set & set.wrapping_neg();
                // Acquire pairs with the caller's release of the bit; the offer itself is in the slot's word.
                if asleep.fetch_and(!bit, Acquire) & bit != 0 {
                    let slot = &self.bank(bank).slots[bit.trailing_zeros() as usize];
                    // A worker that was only about to sleep may have taken its offer before `asleep_workers` was written: it
                    // has woken no others.
                    let will_wake_others = slot.renew_offer(job);
                    slot.wake();
                    left -= usize::from(will_wake_others);
                }
            }
        }
    }

    /// Returns the queue in which the caller of `job` sleeps. Uses the address only.
    pub(super) fn wait_queue(&self, job: *const Job<'_>) -> &WaitQueue {
        // The stacks of threads differ in high bits, often only there: mix all bits (Fibonacci hashing).
        let hash = (job.addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &self.queues[(hash >> 60) as usize % QUEUE_COUNT]
    }
}
