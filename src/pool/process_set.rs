//! The worker set of this process. A child of `fork()` has none of its parent's threads, and locks that other threads
//! held stay locked in it: the child does not use the parent's set, and creates a new one.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};

use super::generation;
use super::worker_set::WorkerSet;

/// The set of this process, once there is one. Never freed.
static WORKERS: AtomicPtr<WorkerSet> = AtomicPtr::new(ptr::null_mut());

/// Whether the handler is registered. Not a `Once`: a fork could leave a `Once` half done, while registering twice
/// is harmless.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// Returns the set of this process, if it has one yet.
pub(super) fn existing() -> Option<&'static WorkerSet> {
    // SAFETY: the pointer is null or comes from `Box::into_raw` in `create` and is never freed once stored.
    unsafe { WORKERS.load(Acquire).as_ref() }
}

/// Returns the set of this process, after creating it if there is none. Returns `None` if it cannot be created in a way
/// that survives a fork: jobs then run serially.
pub(super) fn current() -> Option<&'static WorkerSet> {
    existing().or_else(create)
}

#[cold]
fn create() -> Option<&'static WorkerSet> {
    if !REGISTERED.load(Acquire) {
        if !register() {
            return None;
        }
        // Release: a thread that skips the registration, and forks, runs with a registered handler.
        REGISTERED.store(true, Release);
    }
    let new = Box::into_raw(Box::new(WorkerSet::new()));
    if WORKERS.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire).is_err() {
        // SAFETY: `new` came from `Box::into_raw` above and was not stored: no other thread has its address.
        drop(unsafe { Box::from_raw(new) });
    }
    existing()
}

/// The fork handler of the child: uses only atomics, takes no lock and allocates no memory.
#[cfg(unix)]
extern "C" fn in_child() {
    WORKERS.store(ptr::null_mut(), Relaxed);
    generation::advance();
}

#[cfg(unix)]
fn register() -> bool {
    // SAFETY: `in_child` is async-signal-safe and stays mapped: unloading the library is not supported
    // (`abi.md` 9.7).
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) == 0 }
}

#[cfg(not(unix))]
fn register() -> bool {
    true
}
