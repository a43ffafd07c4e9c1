//! The set of workers: grows to the largest request, hands idle workers to jobs, takes offers back, and ends
//! them all. Callers meet only in atomics; the one lock is for starting and ending threads.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{Builder, JoinHandle};

use crossbeam_utils::CachePadded;

use super::fork;
use super::job::{Job, Outcome, attempt_inside};
use super::park::{Gate, spinning_helps};
use super::worker::{Offer, Slot, serve};

/// Workers of one bank: as many as a word has bits.
const BANK: usize = 64;

/// The number of banks.
pub(super) const BANKS: usize = 16;

/// The largest number of workers. A job may ask for more threads, and gets these.
pub(crate) const MAX_WORKERS: usize = BANKS * BANK;

/// How many sleeping workers the caller wakes for its job. Waking costs a system call, longer than a small job,
/// so it wakes one and that one wakes others while the caller works already.
const CALLER_WAKES: usize = 1;

/// How many sleeping workers a worker wakes when it comes to a job.
const WORKER_WAKES: usize = 2;

/// Sleeping callers are spread over this many gates by the addresses of their jobs.
const GATES: usize = 16;

/// Callbacks of the user run on workers, and were written for the default stack of a C thread on Linux.
const STACK: usize = 8 << 20;

struct Bank {
    /// A bit for each worker that nobody has claimed. A hint: an offer to a worker that is not idle after all
    /// is refused, or waits in its slot till it is withdrawn.
    idle: CachePadded<AtomicU64>,
    slots: [CachePadded<Slot>; BANK],
}

impl Bank {
    fn new() -> Box<Bank> {
        let slots = std::array::from_fn(|_| CachePadded::new(Slot::vacant()));
        Box::new(Bank { idle: CachePadded::new(AtomicU64::new(0)), slots })
    }

    /// Claims up to `want` idle workers, those with the lowest numbers first, since they are likeliest awake.
    fn claim(&self, want: usize) -> u64 {
        let mut idle = self.idle.load(Relaxed);
        loop {
            let chosen = lowest(idle, want);
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

/// The lowest `count` bits that are set in `set`.
fn lowest(set: u64, count: usize) -> u64 {
    let mut rest = set;
    for _ in 0..count {
        if rest == 0 {
            break;
        }
        rest &= rest - 1;
    }
    set & !rest
}

/// The positions of the bits set in `set`.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        bit
    })
}

/// The workers of one process. Lives for ever: workers and late claims may look at it at any time.
pub(super) struct Crew {
    banks: [OnceLock<Box<Bank>>; BANKS],
    /// Workers alive; they have the numbers below it. Written under `threads` only.
    count: AtomicUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
    gates: [CachePadded<Gate>; GATES],
    /// Whether waiting threads spin before they sleep.
    pub(super) spin: bool,
    /// The process (counted in forks) whose threads these are.
    generation: u32,
}

impl Crew {
    /// A crew without workers.
    pub(super) fn new() -> Self {
        Crew {
            banks: [const { OnceLock::new() }; BANKS],
            count: AtomicUsize::new(0),
            threads: Mutex::new(Vec::new()),
            gates: std::array::from_fn(|_| CachePadded::new(Gate::new())),
            spin: spinning_helps(),
            generation: fork::generation(),
        }
    }

    /// The number of workers alive.
    pub(super) fn workers(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Whether the workers are threads of this process, and not of the one it was forked from.
    pub(super) fn is_ours(&self) -> bool {
        self.generation == fork::generation()
    }

    /// Runs one job; the body of `pool::run`.
    pub(super) fn run(&'static self, nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> Outcome {
        let want = (nthreads - 1).min(MAX_WORKERS);
        if self.workers() < want {
            self.try_grow(want);
        }
        let mut claimed = [0; BANKS];
        let offers = self.claim(want, &mut claimed);
        if offers == 0 {
            return attempt_inside(work, 0);
        }
        let job = Job::new(work, offers);
        let guard = Offers::make(self, &job, claimed, offers);
        job.lead();
        drop(guard);
        job.outcome()
    }

    /// Claims up to `want` idle workers into a set of bits for each bank; how many there were.
    pub(super) fn claim(&self, want: usize, claimed: &mut [u64; BANKS]) -> u32 {
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

    /// The slot of worker number `index`, which has been started at some time.
    pub(super) fn slot(&self, index: usize) -> &Slot {
        &self.bank(index / BANK).slots[index % BANK]
    }

    fn bank(&self, bank: usize) -> &Bank {
        self.banks[bank].get_or_init(Bank::new)
    }

    /// Lets jobs claim worker number `index`.
    pub(super) fn set_idle(&self, index: usize) {
        self.bank(index / BANK).idle.fetch_or(1 << (index % BANK), Release);
    }

    /// As a worker that came to `job`, wakes some of those that slept when the job was offered to them.
    pub(super) fn wake_others(&self, job: &Job<'_>) {
        self.wake(job, WORKER_WAKES);
    }

    fn wake(&self, job: &Job<'_>, mut left: usize) {
        for (bank, asleep) in job.asleep.iter().enumerate() {
            while left > 0 {
                let set = asleep.load(Relaxed);
                if set == 0 {
                    break;
                }
                let bit = set & set.wrapping_neg();
                // Acquire pairs with the caller's release of the bit; the offer itself is in the slot's word.
                if asleep.fetch_and(!bit, Acquire) & bit != 0 {
                    self.bank(bank).slots[bit.trailing_zeros() as usize].wake();
                    left -= 1;
                }
            }
        }
    }

    /// Where the caller of `job` sleeps. Looks at the address only.
    pub(super) fn gate_of(&self, job: *const Job<'_>) -> &Gate {
        // Stacks of different threads differ in high bits, often only there: mix them all (Fibonacci hashing).
        let hash = (job.addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &self.gates[(hash >> 60) as usize % GATES]
    }

    /// Grows to `want` workers (at most [`MAX_WORKERS`]) or as many as can be started; how many there are then.
    pub(super) fn grow(&'static self, want: usize) -> usize {
        self.grow_locked(self.threads.lock().unwrap_or_else(PoisonError::into_inner), want)
    }

    /// [`Crew::grow`], but leaves it when another thread is at it: the job goes on with the workers there are.
    pub(super) fn try_grow(&'static self, want: usize) -> usize {
        match self.threads.try_lock() {
            Ok(threads) => self.grow_locked(threads, want),
            Err(TryLockError::Poisoned(poisoned)) => self.grow_locked(poisoned.into_inner(), want),
            Err(TryLockError::WouldBlock) => self.workers(),
        }
    }

    fn grow_locked(&'static self, mut threads: MutexGuard<'_, Vec<JoinHandle<()>>>, want: usize) -> usize {
        while threads.len() < want.min(MAX_WORKERS) {
            let index = threads.len();
            let slot = self.slot(index);
            slot.occupy();
            let builder = Builder::new().name(format!("blosc2-{}", index + 1)).stack_size(STACK);
            match builder.spawn(move || serve(self, index)) {
                Ok(thread) => threads.push(thread),
                Err(_) => {
                    slot.close_unused();
                    break;
                }
            }
            self.count.store(threads.len(), Relaxed);
            self.set_idle(index);
        }
        threads.len()
    }

    /// Ends all workers and waits until they are gone.
    pub(super) fn shutdown(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for index in 0..threads.len() {
            self.slot(index).dismiss();
        }
        for (index, thread) in threads.drain(..).enumerate() {
            // A worker catches what its jobs panic with; it ends in no other way than by returning.
            let _ = thread.join();
            let bank = self.bank(index / BANK);
            bank.idle.fetch_and(!(1 << (index % BANK)), Relaxed);
            bank.slots[index % BANK].vacate();
        }
        self.count.store(0, Relaxed);
    }
}

/// The offers of one job. Dropping them, in whatever way the caller's own share ended, withdraws those nobody
/// took and waits for the workers that took one: afterwards no thread can reach the job.
struct Offers<'j, 'w> {
    crew: &'static Crew,
    job: &'j Job<'w>,
    /// Who was offered the job, and did not refuse.
    offered: [u64; BANKS],
    refused: u32,
}

impl<'j, 'w> Offers<'j, 'w> {
    /// Offers `job` to the `claimed` workers, which `offers` counts, and wakes some that sleep.
    fn make(crew: &'static Crew, job: &'j Job<'w>, claimed: [u64; BANKS], offers: u32) -> Self {
        let mut made = Offers { crew, job, offered: [0; BANKS], refused: 0 };
        let mut left = offers;
        let mut any_asleep = false;
        for (bank, claimed) in claimed.into_iter().enumerate() {
            if left == 0 {
                break;
            }
            let mut asleep = 0;
            for bit in bits(claimed) {
                match crew.bank(bank).slots[bit].offer(job) {
                    Offer::Made => made.offered[bank] |= 1 << bit,
                    Offer::MadeAsleep => {
                        made.offered[bank] |= 1 << bit;
                        asleep |= 1 << bit;
                    }
                    // It is leaving, or has an offer already; in that case its next bit comes after that job.
                    Offer::Refused => made.refused += 1,
                }
                left -= 1;
            }
            if asleep != 0 {
                job.asleep[bank].store(asleep, Release);
                any_asleep = true;
            }
        }
        if any_asleep {
            crew.wake(job, CALLER_WAKES);
        }
        made
    }
}

impl Drop for Offers<'_, '_> {
    fn drop(&mut self) {
        let mut gone = self.refused;
        for (bank, offered) in self.offered.into_iter().enumerate() {
            if offered == 0 {
                continue;
            }
            let unheard = self.job.asleep[bank].swap(0, Relaxed);
            let bank = self.crew.bank(bank);
            let mut back = 0;
            for bit in bits(offered) {
                if bank.slots[bit].withdraw(self.job, unheard & (1 << bit) != 0) {
                    back |= 1 << bit;
                }
            }
            if back != 0 {
                bank.idle.fetch_or(back, Release);
                gone += back.count_ones();
            }
        }
        if self.job.withdraw(gone) {
            return;
        }
        if self.crew.is_ours() {
            self.job.wait(self.crew.gate_of(self.job), self.crew.spin);
        } else {
            // The workers that began are threads of the parent: they can touch nothing here, nor come back.
            self.job.abandon();
        }
    }
}
