//! The number of forks between this process and the one that used the pool first.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

static FORK_COUNT: AtomicU32 = AtomicU32::new(0);

/// Returns the number of forks between this process and the one that registered the fork handler.
pub(super) fn current() -> u32 {
    FORK_COUNT.load(Relaxed)
}

/// Counts one more fork. Async-signal-safe: the fork handler of a child calls it.
pub(super) fn increment() {
    FORK_COUNT.fetch_add(1, Relaxed);
}
