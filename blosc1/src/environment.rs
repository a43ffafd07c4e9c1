//! The environment variables (4), read at each call. Text that is no number is ignored where a number is expected; the
//! reference takes it for 0, and ignores 22 (12.14).

use crate::header::{CodeResult, FAILURE};
use crate::settings;
use blosc2_core::blosc1::Codec;
use blosc2_core::blosc1::layout::{ALWAYS_SPLIT, AUTO_SPLIT, FORWARD_COMPAT_SPLIT, NEVER_SPLIT};
use std::ffi::{CStr, CString};

/// Returns a copy of the value of a variable; `None` if it is not set.
fn var(name: &CStr) -> Option<CString> {
    // SAFETY: a C string. A program that changes the environment in another thread at the same time races with every
    // library, by POSIX.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: `getenv` returns NULL or a C string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_owned())
}

/// Returns the decimal number at the start of the value of a variable; `None` without one. Numbers outside of `int` are
/// limited to it.
fn number(name: &CStr) -> Option<i32> {
    let text = var(name)?;
    let mut end = std::ptr::null_mut();
    // SAFETY: a C string, and a place for a pointer into it.
    let value = unsafe { libc::strtol(text.as_ptr(), &mut end, 10) };
    let has_digits = end.cast_const() != text.as_ptr();
    has_digits.then(|| value.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}

/// Returns whether the program asked for warnings on stderr.
pub(crate) fn wants_warnings() -> bool {
    number(c"BLOSC_WARN").is_some_and(|level| level > 0)
}

/// The arguments of `blosc_compress` that variables override.
pub(crate) struct Overrides {
    pub clevel: i32,
    pub doshuffle: i32,
    pub typesize: usize,
}

impl Overrides {
    /// Applies the environment: replaces arguments, and changes settings, which stay.
    ///
    /// # Errors
    /// -1 for an unknown compressor or split mode; no setting changes then.
    pub(crate) fn apply(&mut self) -> CodeResult<()> {
        let codec = match var(c"BLOSC_COMPRESSOR") {
            Some(name) => Some(Codec::from_name(&name).ok_or(FAILURE)?),
            None => None,
        };
        let splitmode = match var(c"BLOSC_SPLITMODE") {
            Some(name) => Some(splitmode_by_name(&name).ok_or(FAILURE)?),
            None => None,
        };
        self.clevel = number(c"BLOSC_CLEVEL").filter(|&clevel| clevel >= 0).unwrap_or(self.clevel);
        self.doshuffle = match var(c"BLOSC_SHUFFLE").as_deref().map(CStr::to_bytes) {
            Some(b"NOSHUFFLE") => 0,
            Some(b"SHUFFLE") => 1,
            Some(b"BITSHUFFLE") => 2,
            _ => self.doshuffle,
        };
        let positive = |name| number(name).filter(|&number| number > 0);
        if let Some(typesize) = positive(c"BLOSC_TYPESIZE") {
            self.typesize = typesize as usize;
        }
        if let Some(codec) = codec {
            settings::set_compressor(codec);
        }
        if let Some(blocksize) = positive(c"BLOSC_BLOCKSIZE") {
            settings::set_blocksize(blocksize);
        }
        apply_nthreads();
        if let Some(splitmode) = splitmode {
            settings::set_splitmode(splitmode);
        }
        Ok(())
    }
}

/// Changes the number of threads as `BLOSC_NTHREADS` says.
pub(crate) fn apply_nthreads() {
    if let Some(nthreads) = number(c"BLOSC_NTHREADS").filter(|&nthreads| nthreads > 0) {
        settings::set_nthreads(nthreads);
    }
}

fn splitmode_by_name(name: &CStr) -> Option<i32> {
    match name.to_bytes() {
        b"ALWAYS" => Some(ALWAYS_SPLIT),
        b"NEVER" => Some(NEVER_SPLIT),
        b"AUTO" => Some(AUTO_SPLIT),
        b"FORWARD_COMPAT" => Some(FORWARD_COMPAT_SPLIT),
        _ => None,
    }
}
