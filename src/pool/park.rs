//! Waiting: a short spin, then sleep. Keeps no thread handles, so that a wait queue works on every thread at every
//! time of its life, and in memory that a child process inherits from its parent.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::sync::{Condvar, Mutex};

/// How long a waiting thread spins before it sleeps: about the time that falling asleep and being woken takes.
const SPIN_TIME: Duration = Duration::from_micros(5);

/// The number of checks between two readings of the clock.
const CHECKS_PER_CLOCK_READ: u32 = 16;

/// Calls `is_ready` until it returns true, for a short while (only once if `spin` is false). Returns its last result.
pub(super) fn spin_until(spin: bool, mut is_ready: impl FnMut() -> bool) -> bool {
    if is_ready() {
        return true;
    }
    if !spin {
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
        if start.elapsed() >= SPIN_TIME {
            return false;
        }
    }
}

/// Returns whether spinning can shorten a wait: on one core, the thread that is waited for needs that core. A model
/// has no clock that would end a spin, and the orders of its threads contain those in which the spin was too short.
pub(super) fn is_spinning_useful() -> bool {
    !cfg!(loom) && std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// Threads that sleep until an atomic changes, which another type owns.
pub(super) struct WaitQueue {
    lock: Mutex<()>,
    changed: Condvar,
}

impl WaitQueue {
    /// Returns an empty queue.
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
