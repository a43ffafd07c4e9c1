//! The record of one job. It lives on the stack of the caller of `run` and is shared with the workers that
//! took the job; this file never decides who they are.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

use super::IN_JOB;
use super::crew::BANKS;
use super::park::{Gate, spin_until};
use crate::err;
use crate::error::Result;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Every call returned.
    Done,
    /// At least one call panicked.
    Panicked,
    /// The process was forked by the job, and the workers stayed in the parent.
    Forked,
}

impl Outcome {
    /// The result that `run` gives for it.
    pub(super) fn into_result(self) -> Result<()> {
        match self {
            Outcome::Done => Ok(()),
            Outcome::Panicked => Err(err!(Failure, "a job panicked")),
            Outcome::Forked => Err(err!(Failure, "a job forked: its workers are not in the child process")),
        }
    }
}

/// Calls `work(tid)`; a panic ends here.
pub(super) fn attempt(work: &(dyn Fn(usize) + Sync), tid: usize) -> Outcome {
    // Whoever sees the state a panic left behind is told by `Outcome::Panicked`.
    match catch_unwind(AssertUnwindSafe(|| work(tid))) {
        Ok(()) => Outcome::Done,
        Err(payload) => {
            // Dropping a payload may panic in its turn, with nobody left to catch it.
            std::mem::forget(payload);
            Outcome::Panicked
        }
    }
}

/// [`attempt`], with this thread marked as being inside a job, so that jobs it starts run inline.
pub(super) fn attempt_inside(work: &(dyn Fn(usize) + Sync), tid: usize) -> Outcome {
    let before = IN_JOB.replace(true);
    let outcome = attempt(work, tid);
    IN_JOB.set(before);
    outcome
}

/// In `pending`: the caller sleeps, or is about to, until the count below it is 0.
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
    /// Workers that were asleep when the job was offered to them, as bits of their banks. Who clears a bit
    /// wakes that worker.
    pub(super) asleep: [AtomicU64; BANKS],
}

impl<'a> Job<'a> {
    /// A job that `offers` workers will be offered.
    pub(super) fn new(work: &'a (dyn Fn(usize) + Sync), offers: u32) -> Self {
        Job {
            work,
            next_tid: AtomicUsize::new(1),
            pending: AtomicU32::new(offers),
            panicked: AtomicBool::new(false),
            forked: AtomicBool::new(false),
            asleep: [const { AtomicU64::new(0) }; BANKS],
        }
    }

    /// The caller's own share.
    pub(super) fn lead(&self) {
        if attempt_inside(self.work, 0) == Outcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
    }

    /// The share of a worker that took the offer.
    pub(super) fn help(&self) {
        let tid = self.next_tid.fetch_add(1, Relaxed);
        if attempt(self.work, tid) == Outcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
    }

    /// Takes `offers` off the count; whether nobody is left to wait for.
    pub(super) fn withdraw(&self, offers: u32) -> bool {
        // Acquire: with nobody left, what the workers wrote is visible to the caller.
        self.pending.fetch_sub(offers, Acquire) == offers
    }

    /// Waits, as the caller, until every worker that began has left.
    pub(super) fn wait(&self, gate: &Gate, spin: bool) {
        if spin_until(spin, || self.pending.load(Acquire) == 0) {
            return;
        }
        self.pending.fetch_or(CALLER_SLEEPS, Relaxed);
        gate.sleep_while(|| self.pending.load(Acquire) != CALLER_SLEEPS);
    }

    /// Notes that the workers that began are in another process.
    pub(super) fn abandon(&self) {
        self.forked.store(true, Relaxed);
    }

    /// How the job ended; final when nobody is pending.
    pub(super) fn outcome(&self) -> Outcome {
        if self.forked.load(Relaxed) {
            Outcome::Forked
        } else if self.panicked.load(Relaxed) {
            Outcome::Panicked
        } else {
            Outcome::Done
        }
    }

    /// Signs a worker off; whether the caller must be woken, for which the job is no longer needed.
    ///
    /// # Safety
    /// `job` is live, and the calling worker is counted in it. The job may be gone when this returns.
    pub(super) unsafe fn leave(job: *const Job<'_>) -> bool {
        // SAFETY: the job is live until its count is 0, and the caller of this function is in the count. The
        // one reference made here is to the atomic itself and is not used after the subtraction took effect.
        let before = unsafe { &(*job).pending }.fetch_sub(1, Release);
        before == CALLER_SLEEPS | 1
    }
}
