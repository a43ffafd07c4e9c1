//! The worker set of this process. A child of `fork()` has none of its parent's threads, and locks that other threads
//! held stay locked in it: the child does not use the parent's set, and creates a new one.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};

use super::fork_count;
use super::worker_set::WorkerSet;
use crate::fallible;

/// The set of this process, once there is one. Never freed.
static WORKER_SET: AtomicPtr<WorkerSet> = AtomicPtr::new(ptr::null_mut());

/// Whether the handler is registered. Not a `Once`: a fork could leave a `Once` half done, while registering twice
/// is harmless.
static HANDLER_REGISTERED: AtomicBool = AtomicBool::new(false);

/// Returns the set of this process, if it has one yet.
pub(super) fn get() -> Option<&'static WorkerSet> {
    // SAFETY: the pointer is null or comes from `Box::into_raw` in `create` and is never freed once stored.
    unsafe { WORKER_SET.load(Acquire).as_ref() }
}

/// Returns the set of this process, after creating it if there is none. Returns `None` if it cannot be created in a way
/// that survives a fork, or without memory: jobs then run serially.
pub(super) fn get_or_create() -> Option<&'static WorkerSet> {
    get().or_else(create)
}

#[cold]
fn create() -> Option<&'static WorkerSet> {
    if !HANDLER_REGISTERED.load(Acquire) {
        if !register_fork_handler() {
            return None;
        }
        // Release: a thread that skips the registration, and forks, runs with a registered handler.
        HANDLER_REGISTERED.store(true, Release);
    }
    let new = Box::into_raw(fallible::try_box(WorkerSet::new()).ok()?);
    if WORKER_SET.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire).is_err() {
        // SAFETY: `new` came from `Box::into_raw` above and was not stored: no other thread has its address.
        drop(unsafe { Box::from_raw(new) });
    }
    get()
}

/// The fork handler of the child: uses only atomics, takes no lock and allocates no memory.
#[cfg(unix)]
extern "C" fn reset_in_child() {
    WORKER_SET.store(ptr::null_mut(), Relaxed);
    fork_count::increment();
}

#[cfg(unix)]
fn register_fork_handler() -> bool {
    // SAFETY: `reset_in_child` is async-signal-safe and stays mapped: unloading the library is not supported
    // (`abi.md` 9.7).
    unsafe { libc::pthread_atfork(None, None, Some(reset_in_child)) == 0 }
}

#[cfg(not(unix))]
fn register_fork_handler() -> bool {
    true
}
