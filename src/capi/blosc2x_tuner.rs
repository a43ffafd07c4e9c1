//! The automatic tuner: functions that C-Blosc2 does not have.

use super::ffi::{malloc, result_code, value_or};
use super::pointers::{Input, Size, SourceBuffer, Variable};
use crate::abi::{BLOSC2X_TUNER_AUTO, blosc2_cparams, blosc2x_tuner_params};
use crate::error::{Result, ensure, err};
use crate::pipeline::auto_tuner::explain::explain;
use crate::pipeline::auto_tuner::settings::Settings;
use crate::pipeline::compress::plan::stored_typesize;
use crate::pipeline::tuner_selection::settings_at;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

/// Has contexts, super-chunks and arrays that are created with `cparams` choose codec, level and filters by the data:
/// sets `cparams->tuner_id` to `BLOSC2X_TUNER_AUTO` and `cparams->tuner_params` to `params`. The library reads `*params`
/// whenever it creates a context with `*cparams` or a copy of it, for example in `blosc2_create_cctx`,
/// `blosc2_schunk_new` or `b2nd_empty`; `*params` must stay valid until then. The context keeps a copy.
///
/// The choice depends on the content of the chunk and of earlier chunks of the context, not on time or threads. All
/// releases of C-Blosc2 read the chunks: the tuner chooses from the built-in codecs, the levels 1 to 9, and the filters
/// shuffle, bitshuffle and delta. A block size in `cparams` that is not 0 is kept. The tuner does not choose, and the parameters
/// of `cparams` are used, if `cparams` has a codec that is not built in, a filter other than shuffle, bitshuffle and delta,
/// a dictionary, a prefilter, or `instr_codec`.
///
/// Returns 0; -12 if `cparams` or `params` is NULL, `params->size` is not `sizeof(blosc2x_tuner_params)`, the mode is
/// unknown, or the tradeoff is not from 0 to 1. `*cparams` is unchanged then.
///
/// # Safety
/// The rules of the module `capi`; `*params` stays valid as long as contexts are created with the parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_tuner_auto(
    mut cparams: Variable<*mut blosc2_cparams>,
    params: TunerParams<*const blosc2x_tuner_params>,
) -> c_int {
    result_code(|| {
        params.settings()?;
        let cparams = cparams.get_mut().ok_or_else(|| err!(InvalidParam, "`cparams` is NULL"))?;
        cparams.tuner_id = BLOSC2X_TUNER_AUTO;
        cparams.tuner_params = params.0.cast_mut().cast();
        Ok(0)
    })
}

/// Explains the choice of the automatic tuner with `params` for the `nbytes` bytes at `src`, items of `typesize` bytes (at
/// least 1; more than 255 counts as 1, as in a chunk), as the first chunk of a context.
///
/// Returns an object of JSON as a string, which the caller frees with `free()`; NULL after an error, whose text
/// `blosc2x_last_error` returns: one of the parameters is NULL or out of range, or memory runs out. The object has the
/// members `tradeoff`, `mode`, `nbytes`, `typesize`, `choice`, `candidates` (the choice, then nine others with the best
/// predicted scores) and `features` (one object for each pipeline of filters). A candidate has `codec`, `clevel`, `filters`, and
/// the predicted `ratio`, `compression_mb_s` and `decompression_mb_s`: millions of bytes per second of one thread on the
/// machine that the model was fitted on.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_tuner_explain(
    src: SourceBuffer<*const c_void>,
    nbytes: Size<i32, Input>,
    typesize: i32,
    params: TunerParams<*const blosc2x_tuner_params>,
) -> *mut c_char {
    value_or(ptr::null_mut(), || {
        let settings = params.settings()?;
        ensure!(typesize > 0, InvalidParam, "`typesize` is {typesize}, expected 1 or more");
        let content = src.bytes(nbytes.non_negative_len()?)?;
        let typesize = usize::try_from(stored_typesize(typesize)).unwrap_or(1);
        let json = explain(content, typesize, settings).to_json();
        let text = malloc(json.len() + 1)?;
        // SAFETY: `text` has room for the bytes and a NUL, and no other code has access to it.
        unsafe {
            text.copy_from_nonoverlapping(json.as_ptr(), json.len());
            text.add(json.len()).write(0);
        }
        Ok(text.cast())
    })
}

/// A struct that is as long as its field `size` says; or NULL.
#[repr(transparent)]
pub struct TunerParams<'call, P>(P, PhantomData<&'call ()>);

impl TunerParams<'_, *const blosc2x_tuner_params> {
    /// Returns the settings; NULL is an error.
    fn settings(&self) -> Result<Settings> {
        // SAFETY: the rule of this type.
        unsafe { settings_at(self.0) }
    }
}
