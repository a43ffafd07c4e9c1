//! The worker set of this process. A child of `fork()` has none of its parent's threads, and locks that other threads
//! held stay locked in it: the child does not use the parent's set, and creates a new one.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use super::worker_set::WorkerSet;
use crate::fallible;
use crate::fork_count;

/// The set of this process, or of a process from which it was forked, once there is one. Never freed.
static WORKER_SET: AtomicPtr<WorkerSet> = AtomicPtr::new(ptr::null_mut());

/// Returns the set of this process, if it has one yet.
pub(super) fn get() -> Option<&'static WorkerSet> {
    as_own_set(WORKER_SET.load(Acquire))
}

/// Returns the set at an address that was read from `WORKER_SET`; `None` if it is that of another process.
fn as_own_set(set: *mut WorkerSet) -> Option<&'static WorkerSet> {
    // SAFETY: the pointer is null or comes from `Box::into_raw` in `create` and is never freed once stored.
    unsafe { set.as_ref() }.filter(|set| set.is_of_this_process())
}

/// Returns the set of this process, after creating it if there is none. Returns `None` if it cannot be created in a way
/// that survives a fork, or without memory: jobs then run serially.
pub(super) fn get_or_create() -> Option<&'static WorkerSet> {
    get().or_else(create)
}

#[cold]
fn create() -> Option<&'static WorkerSet> {
    if !fork_count::register_handler() {
        return None;
    }
    let old = WORKER_SET.load(Acquire);
    if let Some(set) = as_own_set(old) {
        return Some(set);
    }
    let new = Box::into_raw(fallible::try_box(WorkerSet::new()).ok()?);
    if WORKER_SET.compare_exchange(old, new, AcqRel, Acquire).is_err() {
        // SAFETY: `new` came from `Box::into_raw` above and was not stored: no other thread has its address.
        drop(unsafe { Box::from_raw(new) });
    }
    get()
}
