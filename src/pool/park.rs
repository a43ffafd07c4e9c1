//! Waiting: a short spin, then sleep. Keeps no thread handles, so that a wait queue works on every thread at every
//! time of its life, and in memory that a child process inherits from its parent.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::cores::core_count;
use crate::sync::{Condvar, Mutex};

/// How long a worker without a job spins before it sleeps, if its last job did not come while it was spinning.
const SHORT_SPIN: Duration = Duration::from_micros(5);

/// How long a thread spins before it sleeps if the end of its wait is near: a worker while one job comes after the other,
/// and a caller whose workers are at their last blocks. About the time until a sleeping thread of a virtual machine runs
/// (`cargo bench --bench pool`, `worker inside the job, asleep`).
const LONG_SPIN: Duration = Duration::from_micros(50);

/// The number of checks between two readings of the clock.
const CHECKS_PER_CLOCK_READ: u32 = 16;

/// How long threads of a worker set spin.
#[derive(Clone, Copy)]
pub(super) struct SpinTimes {
    pub short: Duration,
    pub long: Duration,
}

impl SpinTimes {
    /// Returns the times for this process. Spinning cannot shorten a wait on one core: the thread that is waited for
    /// needs that core. A model has no clock that would end a spin, and the orders of its threads contain those in which
    /// the spin was too short.
    pub(super) fn new() -> SpinTimes {
        if cfg!(loom) || core_count() == 1 {
            SpinTimes { short: Duration::ZERO, long: Duration::ZERO }
        } else {
            SpinTimes { short: SHORT_SPIN, long: LONG_SPIN }
        }
    }
}

/// Calls `is_ready` until it returns true, for at most `limit` (only once if that is zero). Returns its last result.
pub(super) fn spin_until(limit: Duration, mut is_ready: impl FnMut() -> bool) -> bool {
    if is_ready() {
        return true;
    }
    if limit.is_zero() {
        return false;
    }
    let start = Instant::now();
    loop {
        for _ in 0..CHECKS_PER_CLOCK_READ {
            std::hint::spin_loop();
            if is_ready() {
                return true;
            }
        }
        if start.elapsed() >= limit {
            return false;
        }
    }
}

/// Threads that sleep until an atomic changes, which another type owns.
pub(super) struct WaitQueue {
    lock: Mutex<()>,
    changed: Condvar,
}

impl WaitQueue {
    pub(super) fn new() -> Self {
        WaitQueue { lock: Mutex::new(()), changed: Condvar::new() }
    }

    /// Sleeps while `is_asleep` returns true. A thread that makes it return false calls [`WaitQueue::wake`] afterwards.
    pub(super) fn sleep_while(&self, is_asleep: impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while is_asleep() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes every thread of the queue check its condition again.
    pub(super) fn wake(&self) {
        // A sleeper that checked before the change holds the lock until it waits for the condition variable. This
        // thread has had the lock after the change: the notification cannot come before that wait.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}
