//! Waiting: a short spin, then sleep. Holds no thread handles, so that it works on every thread at every
//! time of its life, and in memory that a fork leaves behind. Never knows what is waited for.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a waiting thread looks again before it sleeps: about what falling asleep and being woken cost.
const SPIN: Duration = Duration::from_micros(5);

/// How many looks pass between two looks at the clock.
const LOOKS: u32 = 16;

/// Looks at `ready` again and again for a short while (just once if `spin` is false); whether it was true.
pub(super) fn spin_until(spin: bool, mut ready: impl FnMut() -> bool) -> bool {
    if ready() {
        return true;
    }
    if !spin {
        return false;
    }
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if ready() {
                return true;
            }
        }
        if start.elapsed() >= SPIN {
            return false;
        }
    }
}

/// Whether spinning can help at all: with one core, whoever is waited for needs that core.
pub(super) fn spinning_helps() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1)
}

/// A place where threads sleep until an atomic, owned by somebody else, changes.
pub(super) struct Gate {
    lock: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    pub(super) const fn new() -> Self {
        Gate { lock: Mutex::new(()), bell: Condvar::new() }
    }

    /// Sleeps as long as `asleep` holds. Who makes it false calls [`Gate::wake`] afterwards.
    pub(super) fn sleep_while(&self, asleep: impl Fn() -> bool) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while asleep() {
            guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes all who sleep here look again.
    pub(super) fn wake(&self) {
        // A sleeper that looked before the change holds the lock until it hears the bell: having passed
        // through the lock, the bell cannot ring too early.
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_all();
    }
}
