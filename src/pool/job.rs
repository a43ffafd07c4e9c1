//! The record of one job. It lives on the stack of the caller of `run` and is shared with the workers that
//! took the job; `offers` decides which workers those are.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::park::{WaitQueue, spin_until};
use super::worker_bits::BANK_COUNT;
use crate::error::{Result, err};
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

crate::sync::per_thread! {
    /// Whether this thread is inside a job. Has no destructor, so it can be read at any time in a thread's life.
    static IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread is inside a job.
pub(super) fn is_in_job() -> bool {
    IN_JOB.with(Cell::get)
}

/// Records whether this thread is inside a job. Returns the previous value.
pub(super) fn set_in_job(inside: bool) -> bool {
    IN_JOB.with(|in_job| in_job.replace(inside))
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobOutcome {
    /// Every call returned.
    Done,
    /// At least one call panicked.
    Panicked,
    /// The process was forked by the job, and the workers stayed in the parent.
    Forked,
}

impl JobOutcome {
    /// Returns the result that `run` returns for this outcome.
    pub(super) fn into_result(self) -> Result<()> {
        match self {
            JobOutcome::Done => Ok(()),
            JobOutcome::Panicked => Err(err!(Failure, "a job panicked")),
            JobOutcome::Forked => Err(err!(Failure, "a job called fork: the child process has no workers")),
        }
    }
}

pub(super) fn call_catching_panic(work: &(dyn Fn(usize) + Sync), tid: usize) -> JobOutcome {
    // `JobOutcome::Panicked` means for the caller that the state which `work` changes may be inconsistent.
    match catch_unwind(AssertUnwindSafe(|| work(tid))) {
        Ok(()) => JobOutcome::Done,
        Err(payload) => {
            // Dropping a payload may panic too, and nothing would catch that panic.
            std::mem::forget(payload);
            JobOutcome::Panicked
        }
    }
}

/// Does the same as [`call_catching_panic`], with this thread marked as being inside a job, so that jobs it starts run
/// inline.
pub(super) fn call_inside_job(work: &(dyn Fn(usize) + Sync), tid: usize) -> JobOutcome {
    let before = set_in_job(true);
    let outcome = call_catching_panic(work, tid);
    set_in_job(before);
    outcome
}

/// Bit of `pending`: the caller sleeps, or is about to, until the count in the lower bits is 0.
const CALLER_SLEEPS: u32 = 1 << 31;

/// One job, while `run` lasts.
pub(super) struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    /// The number of the next worker that begins.
    next_tid: AtomicUsize,
    /// Offers that are neither withdrawn nor finished, and [`CALLER_SLEEPS`].
    pending: AtomicU32,
    panicked: AtomicBool,
    forked: AtomicBool,
    /// Workers that were asleep when the job was offered to them, as bits of their banks. The thread that clears a
    /// bit wakes that worker.
    pub(super) asleep_workers: [AtomicU64; BANK_COUNT],
}

impl<'a> Job<'a> {
    /// Returns a job that is going to be offered to `offers` workers.
    pub(super) fn new(work: &'a (dyn Fn(usize) + Sync), offers: u32) -> Self {
        Job {
            work,
            next_tid: AtomicUsize::new(1),
            pending: AtomicU32::new(offers),
            panicked: AtomicBool::new(false),
            forked: AtomicBool::new(false),
            asleep_workers: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }

    /// Calls `work(0)` on the caller's thread.
    pub(super) fn run_on_caller(&self) {
        if call_inside_job(self.work, 0) == JobOutcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
    }

    /// Calls `work` with the next number, on a worker that took the offer.
    pub(super) fn run_on_worker(&self) {
        let tid = self.next_tid.fetch_add(1, Relaxed);
        if call_catching_panic(self.work, tid) == JobOutcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
    }

    /// Subtracts `offers` from the count. Returns whether no worker is left to wait for.
    pub(super) fn withdraw(&self, offers: u32) -> bool {
        // Acquire: if no worker is left, what the workers wrote is visible to the caller.
        self.pending.fetch_sub(offers, Acquire) == offers
    }

    /// Waits, as the caller, until every worker that began has finished. Spins for at most `spin` before it sleeps.
    pub(super) fn wait(&self, queue: &WaitQueue, spin: Duration) {
        if spin_until(spin, || self.pending.load(Acquire) == 0) {
            return;
        }
        self.pending.fetch_or(CALLER_SLEEPS, Relaxed);
        queue.sleep_while(|| self.pending.load(Acquire) != CALLER_SLEEPS);
    }

    /// Records that the workers that began are in another process.
    pub(super) fn mark_forked(&self) {
        self.forked.store(true, Relaxed);
    }

    /// Returns how the job ended; final when no offer is pending.
    pub(super) fn outcome(&self) -> JobOutcome {
        if self.forked.load(Relaxed) {
            JobOutcome::Forked
        } else if self.panicked.load(Relaxed) {
            JobOutcome::Panicked
        } else {
            JobOutcome::Done
        }
    }

    /// Subtracts the calling worker from the count. Returns whether the worker has to wake the caller, which needs
    /// only the address of the job.
    ///
    /// # Safety
    /// `job` is live, and the calling worker is counted in it. The job may be freed when this returns.
    pub(super) unsafe fn finish(job: *const Job<'_>) -> bool {
        // SAFETY: the job is live until its count is 0, and the caller of this function is in the count. The
        // one reference made here is to the atomic itself and is not used after the subtraction took effect.
        let before = unsafe { &(*job).pending }.fetch_sub(1, Release);
        before == CALLER_SLEEPS | 1
    }
}
