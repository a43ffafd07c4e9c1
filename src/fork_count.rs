//! The number of forks between this process and the one that registered the fork handler first. State that belongs to
//! one process stores the number: a child of `fork()` finds another one, and does not use what only its parent may use.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};

static FORK_COUNT: AtomicU32 = AtomicU32::new(0);

/// Whether the handler is registered. Not a `Once`: a fork could leave a `Once` half done.
static HANDLER_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Returns the number of forks between this process and the one that called [`register_handler`] first.
#[inline]
pub(crate) fn current() -> u32 {
    FORK_COUNT.load(Relaxed)
}

/// Registers the handler that counts forks, at the first call. Returns false if that fails: forks are not counted then.
pub(crate) fn register_handler() -> bool {
    if HANDLER_REGISTERED.load(Acquire) {
        return true;
    }
    // Two threads may both register the handler: a fork then adds 2, which is another number all the same.
    let is_registered = register();
    // Release: a thread that skips the registration, and forks, runs with a registered handler.
    if is_registered {
        HANDLER_REGISTERED.store(true, Release);
    }
    is_registered
}

/// The fork handler of the child: uses only an atomic, takes no lock and allocates no memory.
#[cfg(all(unix, not(miri)))]
extern "C" fn count_fork() {
    FORK_COUNT.fetch_add(1, Relaxed);
}

#[cfg(all(unix, not(miri)))]
fn register() -> bool {
    // SAFETY: `count_fork` is async-signal-safe and stays mapped: unloading the library is not supported (`abi.md` 9.7).
    unsafe { libc::pthread_atfork(None, None, Some(count_fork)) == 0 }
}

#[cfg(not(all(unix, not(miri))))]
fn register() -> bool {
    true
}
