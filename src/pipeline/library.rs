//! The state of the library: initialised or not, and the settings of the functions without a context (`abi.md` 9.1).
//!
//! All functions work in both states; the state only decides what `blosc2_init` does and whether
//! `blosc2_free_resources` has anything to free. The settings are atomics: no call waits for another.

use super::scratch;
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT};
use crate::codec::BuiltInCodec;
use crate::error::{Result, ensure, err};
use crate::fork_count::PerProcessLock;
use crate::{pool, registry};
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, AtomicI16, AtomicI32, Ordering};

static IS_INITIALIZED: AtomicBool = AtomicBool::new(false);
static STATE_LOCK: PerProcessLock<()> = PerProcessLock::new_static(());

static NTHREADS: AtomicI16 = AtomicI16::new(1);
static COMPRESSOR: AtomicI32 = AtomicI32::new(BLOSC_BLOSCLZ);
static USES_DELTA: AtomicBool = AtomicBool::new(false);
static BLOCKSIZE: AtomicI32 = AtomicI32::new(0);
static SPLITMODE: AtomicI32 = AtomicI32::new(BLOSC_FORWARD_COMPAT_SPLIT);

/// Initialises the library, unless it is initialised. Removes the registrations that callers made before the last
/// [`destroy`].
pub(crate) fn init() {
    if is_initialized() {
        return;
    }
    let _transition = STATE_LOCK.write();
    if !is_initialized() {
        registry::reset();
        IS_INITIALIZED.store(true, Ordering::Release);
    }
}

/// Shuts the library down: ends its threads, also those that contexts started while it was not initialised, and frees
/// memory that was kept for reuse. Settings stay.
pub(crate) fn destroy() {
    {
        let _transition = STATE_LOCK.write();
        IS_INITIALIZED.store(false, Ordering::Release);
    }
    // Not under the lock: a callback in one of the ending threads may call `init`.
    pool::shutdown();
    // After the threads have ended: a thread that ends in the middle of a job moves its memory to the process.
    scratch::release_all();
}

/// Returns whether the library is initialised.
pub(crate) fn is_initialized() -> bool {
    IS_INITIALIZED.load(Ordering::Acquire)
}

/// Returns the number of threads that functions without a context use, at least 1.
pub(crate) fn nthreads() -> i16 {
    NTHREADS.load(Ordering::Relaxed)
}

/// Sets the number of threads that functions without a context use, and starts them. Returns the previous number.
///
/// # Errors
/// `InvalidParam` for less than 1, `ThreadCreate` when no thread can be started; nothing changes then.
pub(crate) fn set_nthreads(nthreads: i16) -> Result<i16> {
    init();
    let previous = self::nthreads();
    if nthreads == previous {
        return Ok(previous);
    }
    ensure!(nthreads > 0, InvalidParam, "`nthreads` is {nthreads}, expected 1 or more");
    pool::prestart(usize::from(nthreads.unsigned_abs()))?;
    NTHREADS.store(nthreads, Ordering::Relaxed);
    Ok(previous)
}

/// Returns the id of the codec that functions without a context use; -1 after an unknown name (`abi.md` 13.4).
pub(crate) fn compressor() -> i32 {
    COMPRESSOR.load(Ordering::Relaxed)
}

/// Sets the codec that functions without a context use. An unknown name is stored as -1, so that no data are
/// compressed with a codec that was not requested. Returns the stored id.
///
/// # Errors
/// `CodecSupport` for a registered codec; nothing changes then.
pub(crate) fn set_compressor(name: &CStr) -> Result<i32> {
    let code = compcode_by_name(name).unwrap_or(-1);
    if code >= 0 && BuiltInCodec::from_compcode(code).is_none() {
        return Err(err!(CodecSupport, "codec {name:?} needs a context"));
    }
    init();
    COMPRESSOR.store(code, Ordering::Relaxed);
    ensure!(code >= 0, Failure, "codec {name:?} is unknown");
    Ok(code)
}

/// Returns the id of the codec with that name: searches the codecs of the format first, then the registered ones.
pub(crate) fn compcode_by_name(name: &CStr) -> Option<i32> {
    let builtin = BuiltInCodec::from_name(name).map(BuiltInCodec::compcode);
    builtin.map(i32::from).or_else(|| registry::codec_by_name(name).map(|codec| codec.id))
}

/// Returns whether functions without a context add a delta filter to the pipeline.
pub(crate) fn uses_delta() -> bool {
    USES_DELTA.load(Ordering::Relaxed)
}

pub(crate) fn set_uses_delta(on: bool) {
    USES_DELTA.store(on, Ordering::Relaxed);
}

/// Returns the block size in bytes that functions without a context use, 0 for an automatic one.
pub(crate) fn blocksize() -> i32 {
    BLOCKSIZE.load(Ordering::Relaxed)
}

pub(crate) fn set_blocksize(blocksize: i32) {
    BLOCKSIZE.store(blocksize, Ordering::Relaxed);
}

/// Returns the split mode that functions without a context use.
pub(crate) fn splitmode() -> i32 {
    SPLITMODE.load(Ordering::Relaxed)
}

pub(crate) fn set_splitmode(splitmode: i32) {
    SPLITMODE.store(splitmode, Ordering::Relaxed);
}
