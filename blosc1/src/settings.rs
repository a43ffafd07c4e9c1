//! The state of the process (3.1). The settings are atomics: a change applies to later calls.

use blosc2_core::blosc1::layout::FORWARD_COMPAT_SPLIT;
use blosc2_core::blosc1::{Codec, call_in_forked_children, end_threads};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The number of threads that a program can use.
pub(crate) const MAX_THREADS: i32 = 256;

static NTHREADS: AtomicI32 = AtomicI32::new(1);
static COMPRESSOR: AtomicI32 = AtomicI32::new(0);
static BLOCKSIZE: AtomicI32 = AtomicI32::new(0);
static SPLITMODE: AtomicI32 = AtomicI32::new(FORWARD_COMPAT_SPLIT);
/// Whether the process has initialised the library. A forked child is not initialised.
static IS_INITIALISED: AtomicBool = AtomicBool::new(false);
/// Whether the fork handler is registered. Not a `Once`: a child that is forked during the registration would wait for
/// it for ever. Two registrations do no harm.
static HAS_FORK_HANDLER: AtomicBool = AtomicBool::new(false);

/// The fork handler of the child.
extern "C" fn reset_in_child() {
    IS_INITIALISED.store(false, Ordering::Relaxed);
}

/// Marks the library as initialised.
pub(crate) fn init() {
    // The store is left out if it changes nothing: threads would take the cache line from each other.
    if IS_INITIALISED.load(Ordering::Relaxed) {
        return;
    }
    if !HAS_FORK_HANDLER.load(Ordering::Acquire) {
        call_in_forked_children(reset_in_child);
        HAS_FORK_HANDLER.store(true, Ordering::Release);
    }
    IS_INITIALISED.store(true, Ordering::Relaxed);
}

/// Ends the threads. Returns whether the library was initialised. The settings stay.
pub(crate) fn free_resources() -> bool {
    let is_initialised = IS_INITIALISED.load(Ordering::Relaxed);
    if is_initialised {
        end_threads();
    }
    is_initialised
}

/// Ends the threads, and marks the library as not initialised. The settings stay.
pub(crate) fn destroy() {
    end_threads();
    IS_INITIALISED.store(false, Ordering::Relaxed);
}

/// Returns the number of threads, as set: any number.
pub(crate) fn nthreads() -> i32 {
    NTHREADS.load(Ordering::Relaxed)
}

/// Sets the number of threads. A lower number ends the threads, after the jobs that they work on; the next job starts as
/// many as it needs. Returns the previous number.
pub(crate) fn set_nthreads(nthreads: i32) -> i32 {
    let previous = NTHREADS.swap(nthreads, Ordering::Relaxed);
    if nthreads < previous {
        end_threads();
    }
    previous
}

/// Returns the codec of functions without an argument for it.
pub(crate) fn compressor() -> Option<Codec> {
    Codec::from_code(COMPRESSOR.load(Ordering::Relaxed))
}

/// Sets the codec of functions without an argument for it.
pub(crate) fn set_compressor(codec: Codec) {
    COMPRESSOR.store(codec.code(), Ordering::Relaxed);
}

/// Returns the block size in bytes; 0 for an automatic one.
pub(crate) fn blocksize() -> i32 {
    BLOCKSIZE.load(Ordering::Relaxed)
}

/// Sets the block size in bytes.
pub(crate) fn set_blocksize(blocksize: i32) {
    BLOCKSIZE.store(blocksize, Ordering::Relaxed);
}

/// Returns the split mode.
pub(crate) fn splitmode() -> i32 {
    SPLITMODE.load(Ordering::Relaxed)
}

/// Sets the split mode. Any number is stored.
pub(crate) fn set_splitmode(splitmode: i32) {
    SPLITMODE.store(splitmode, Ordering::Relaxed);
}
