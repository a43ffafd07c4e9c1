//! The structs that a program registers: codecs, filters and tuners; and the descriptors of plugin libraries
//! (`abi.md` 3.10, 3.14). Registration copies the struct and the name in it.

use std::ffi::{c_char, c_double, c_int, c_void};
use std::mem::size_of;

use super::size::size_on_target;
use super::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_context, blosc2_filter_backward_cb,
    blosc2_filter_forward_cb,
};

/// A codec to register. Functions that are NULL are loaded from the codec's plugin library when they are first
/// used (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_codec {
    /// Id of the codec; programs use 160 to 255.
    pub compcode: u8,
    /// Name of the codec; copied at registration. May be NULL or uninitialised.
    pub compname: *mut c_char,
    /// Library code, reported by `blosc2_get_complib_info`.
    pub complib: u8,
    /// Version of the stream format, written to the chunk header.
    pub version: u8,
    /// Function that compresses a stream.
    pub encoder: blosc2_codec_encoder_cb,
    /// Function that decompresses a stream.
    pub decoder: blosc2_codec_decoder_cb,
}
const _: () = assert!(size_of::<blosc2_codec>() == size_on_target(40, 20, 20));

/// A filter to register. Functions that are NULL are loaded from the filter's plugin library when they are first
/// used (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_filter {
    /// Id of the filter; programs use 160 to 255.
    pub id: u8,
    /// Name of the filter; copied at registration. May be NULL or uninitialised.
    pub name: *mut c_char,
    /// Version; not used.
    pub version: u8,
    /// Function that filters a block before compression.
    pub forward: blosc2_filter_forward_cb,
    /// Function that reverses the filter after decompression.
    pub backward: blosc2_filter_backward_cb,
}
const _: () = assert!(size_of::<blosc2_filter>() == size_on_target(40, 20, 20));

/// A tuner to register. Each function returns a negative number for an error. Functions that are NULL are loaded
/// from the tuner's plugin library when they are first used (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_tuner {
    /// Initialises the tuner for the new compression context `cctx`; called by `blosc2_create_cctx`. `config` is
    /// the field `tuner_params` of the `blosc2_cparams`; `dctx` is NULL. The function may store the state of the
    /// tuner in the context's `tuner_params`.
    pub init: Option<
        unsafe extern "C" fn(
            config: *mut c_void,
            cctx: *mut blosc2_context,
            dctx: *mut blosc2_context,
        ) -> c_int,
    >,
    /// Sets the block size before each compression; called only if the tuner has stored no state.
    pub next_blocksize: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Sets the compression parameters before each compression; called only if the tuner has stored a state.
    pub next_cparams: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Receives the duration `ctime` of the last compression, in seconds; called only if the tuner has stored a
    /// state.
    pub update: Option<unsafe extern "C" fn(context: *mut blosc2_context, ctime: c_double) -> c_int>,
    /// Frees the state of the tuner; called by `blosc2_free_ctx`, only if the tuner has stored a state.
    pub free: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Id of the tuner; programs use 160 and above.
    pub id: c_int,
    /// Name of the tuner; copied at registration. May be NULL or uninitialised.
    pub name: *mut c_char,
}
const _: () = assert!(size_of::<blosc2_tuner>() == size_on_target(56, 28, 28));

/// The descriptor that the plugin library of a codec exports as `info`: the names of the functions it exports
/// (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct codec_info {
    /// Name of the encoder.
    pub encoder: *mut c_char,
    /// Name of the decoder.
    pub decoder: *mut c_char,
}
const _: () = assert!(size_of::<codec_info>() == size_on_target(16, 8, 8));

/// The descriptor that the plugin library of a filter exports as `info`: the names of the functions it exports
/// (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct filter_info {
    /// Name of the function that filters a block.
    pub forward: *mut c_char,
    /// Name of the function that reverses the filter.
    pub backward: *mut c_char,
}
const _: () = assert!(size_of::<filter_info>() == size_on_target(16, 8, 8));

/// The descriptor that the plugin library of a tuner exports as `info`: the names of the functions it exports
/// (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tuner_info {
    /// Name of the function `init`.
    pub init: *mut c_char,
    /// Name of the function `next_blocksize`.
    pub next_blocksize: *mut c_char,
    /// Name of the function `next_cparams`.
    pub next_cparams: *mut c_char,
    /// Name of the function `update`.
    pub update: *mut c_char,
    /// Name of the function `free`.
    pub free: *mut c_char,
}
const _: () = assert!(size_of::<tuner_info>() == size_on_target(40, 20, 20));
