//! What a program registers: codecs, filters and tuners, and the descriptors of plugin libraries
//! (`abi.md` 3.10, 3.14). Registration copies the struct but not the strings, which have to stay valid.

use std::ffi::{c_char, c_double, c_int, c_void};
use std::mem::size_of;

use super::{
    blosc2_codec_decoder_cb, blosc2_codec_encoder_cb, blosc2_context, blosc2_filter_backward_cb,
    blosc2_filter_forward_cb,
};

/// A codec to register. NULL functions are looked up in a plugin library at first use (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_codec {
    /// Id, 160 to 255 for a program's own.
    pub compcode: u8,
    /// Name; has to stay valid.
    pub compname: *mut c_char,
    /// Library code, only reported by `blosc2_get_complib_info`.
    pub complib: u8,
    /// Version of the stream format, written into the chunks.
    pub version: u8,
    /// Compresses a stream.
    pub encoder: blosc2_codec_encoder_cb,
    /// Decompresses a stream.
    pub decoder: blosc2_codec_decoder_cb,
}
const _: () = assert!(size_of::<blosc2_codec>() == 40);

/// A filter to register. NULL functions are looked up in a plugin library at first use (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_filter {
    /// Id, 160 to 255 for a program's own.
    pub id: u8,
    /// Name; has to stay valid.
    pub name: *mut c_char,
    /// Version; not used.
    pub version: u8,
    /// Filters a block.
    pub forward: blosc2_filter_forward_cb,
    /// Undoes the filter.
    pub backward: blosc2_filter_backward_cb,
}
const _: () = assert!(size_of::<blosc2_filter>() == 40);

/// A tuner to register. Every function returns a negative number for an error. NULL functions are looked up in a
/// plugin library at first use (`abi.md` 3.10).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_tuner {
    /// Prepares the tuner for a context; `config` is the caller's `tuner_params`.
    pub init: Option<
        unsafe extern "C" fn(
            config: *mut c_void,
            cctx: *mut blosc2_context,
            dctx: *mut blosc2_context,
        ) -> c_int,
    >,
    /// Sets the block size before a compression, where the tuner keeps no state.
    pub next_blocksize: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Sets the parameters before a compression.
    pub next_cparams: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Learns how long, in seconds, the compression took.
    pub update: Option<unsafe extern "C" fn(context: *mut blosc2_context, ctime: c_double) -> c_int>,
    /// Releases the tuner's state.
    pub free: Option<unsafe extern "C" fn(context: *mut blosc2_context) -> c_int>,
    /// Id, from 160 for a program's own.
    pub id: c_int,
    /// Name; has to stay valid.
    pub name: *mut c_char,
}
const _: () = assert!(size_of::<blosc2_tuner>() == 56);

/// The descriptor that a codec's plugin library exports as `info`: names of its functions (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct codec_info {
    /// Name of the encoder.
    pub encoder: *mut c_char,
    /// Name of the decoder.
    pub decoder: *mut c_char,
}
const _: () = assert!(size_of::<codec_info>() == 16);

/// The descriptor that a filter's plugin library exports as `info`: names of its functions (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct filter_info {
    /// Name of the function that filters.
    pub forward: *mut c_char,
    /// Name of the function that undoes it.
    pub backward: *mut c_char,
}
const _: () = assert!(size_of::<filter_info>() == 16);

/// The descriptor that a tuner's plugin library exports as `info`: names of its functions (`abi.md` 3.14).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tuner_info {
    /// Name of `init`.
    pub init: *mut c_char,
    /// Name of `next_blocksize`.
    pub next_blocksize: *mut c_char,
    /// Name of `next_cparams`.
    pub next_cparams: *mut c_char,
    /// Name of `update`.
    pub update: *mut c_char,
    /// Name of `free`.
    pub free: *mut c_char,
}
const _: () = assert!(size_of::<tuner_info>() == 40);
