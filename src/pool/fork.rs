//! Which crew belongs to this process. A child of `fork()` has none of its parent's threads, and locks that
//! other threads held stay locked in it: it forgets the parent's crew as it is, and makes one of its own.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};

use super::crew::Crew;

/// The crew of this process, once there is one. Never freed.
static CREW: AtomicPtr<Crew> = AtomicPtr::new(ptr::null_mut());

/// How many forks lie between this process and the one that registered the handler.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Whether the handler is registered. Not a `Once`: that could be forked half-way, while registering twice
/// does no harm.
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The number of forks this process is away from its ancestor's first use of the pool.
pub(super) fn generation() -> u32 {
    GENERATION.load(Relaxed)
}

/// The crew of this process, if it has one yet.
pub(super) fn existing_crew() -> Option<&'static Crew> {
    // SAFETY: the pointer is null or comes from `Box::into_raw` in `create` and is never freed once stored.
    unsafe { CREW.load(Acquire).as_ref() }
}

/// The crew of this process, made if there is none. `None` if that could not be done in a way that survives a
/// fork: jobs then run serially.
pub(super) fn current_crew() -> Option<&'static Crew> {
    existing_crew().or_else(create)
}

#[cold]
fn create() -> Option<&'static Crew> {
    if !REGISTERED.load(Acquire) {
        if !register() {
            return None;
        }
        // Release: who skips the registration, and forks, has the handler.
        REGISTERED.store(true, Release);
    }
    let new = Box::into_raw(Box::new(Crew::new()));
    if CREW.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire).is_err() {
        // SAFETY: `new` came from `Box::into_raw` above, was not stored, and nobody else has seen it.
        drop(unsafe { Box::from_raw(new) });
    }
    existing_crew()
}

/// What a forked child does first: only atomics, no lock and no memory.
#[cfg(unix)]
extern "C" fn in_child() {
    CREW.store(ptr::null_mut(), Relaxed);
    GENERATION.fetch_add(1, Relaxed);
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
