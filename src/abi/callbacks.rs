//! The callback types of the ABI (`abi.md` 4.1) but for pre- and postfilters, which stand with their parameters. Every one is nullable; the library calls them only where their
//! contract says so, possibly from several threads at once.

use std::ffi::{c_char, c_int, c_void};

use super::{blosc2_cparams, blosc2_dparams};

/// A caller's own thread pool: calls `dojob(jobdata + i * jobdata_elsize)` exactly once for each `i` in
/// `[0, numjobs)`, in any threads, and returns when all have returned. The elements of `jobdata` are opaque.
pub type blosc_threads_callback = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        dojob: Option<unsafe extern "C" fn(*mut c_void)>,
        numjobs: c_int,
        jobdata_elsize: usize,
        jobdata: *mut c_void,
    ),
>;

/// Opens a file for `mode` (`rb`, `rb+`, `wb` or `ab`) and returns its stream, or NULL. `params` is that of the
/// `blosc2_io`.
pub type blosc2_open_cb = Option<
    unsafe extern "C" fn(urlpath: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void,
>;

/// Closes a stream. 0 is success.
pub type blosc2_close_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> c_int>;

/// The size of a stream in bytes; negative is an error.
pub type blosc2_size_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> i64>;

/// Writes `nitems` items of `size` bytes at the absolute byte `position`; returns the items written.
pub type blosc2_write_cb = Option<
    unsafe extern "C" fn(
        ptr: *const c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Reads `nitems` items of `size` bytes at the absolute byte `position`; returns the items read. The bytes go to
/// `*ptr`, or `*ptr` is pointed at them where the back-end needs no allocation.
pub type blosc2_read_cb = Option<
    unsafe extern "C" fn(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Truncates a stream to `size` bytes. 0 is success.
pub type blosc2_truncate_cb = Option<unsafe extern "C" fn(stream: *mut c_void, size: i64) -> c_int>;

/// Releases the `params` of a `blosc2_io` when a super-chunk that uses it is freed; negative is an error.
pub type blosc2_destroy_cb = Option<unsafe extern "C" fn(params: *mut c_void) -> c_int>;

/// Compresses one stream: returns the bytes written, 0 when they do not fit, or a negative error. `meta` is the
/// codec's meta byte, `cparams` a temporary copy of the parameters, `chunk` the start of the source buffer
/// (NULL for blocks of variable length).
pub type blosc2_codec_encoder_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        input_len: i32,
        output: *mut u8,
        output_len: i32,
        meta: u8,
        cparams: *mut blosc2_cparams,
        chunk: *const c_void,
    ) -> c_int,
>;

/// Decompresses one stream: returns exactly `output_len`; anything else is an error. `chunk` is the start of the
/// compressed chunk.
pub type blosc2_codec_decoder_cb = Option<
    unsafe extern "C" fn(
        input: *const u8,
        input_len: i32,
        output: *mut u8,
        output_len: i32,
        meta: u8,
        dparams: *mut blosc2_dparams,
        chunk: *const c_void,
    ) -> c_int,
>;

/// Filters `size` bytes on the way to the codec. 0 is success.
pub type blosc2_filter_forward_cb = Option<
    unsafe extern "C" fn(
        src: *const u8,
        dest: *mut u8,
        size: i32,
        meta: u8,
        cparams: *mut blosc2_cparams,
        id: u8,
    ) -> c_int,
>;

/// Undoes the filter on `size` bytes that came from the codec. 0 is success, anything else the error.
pub type blosc2_filter_backward_cb = Option<
    unsafe extern "C" fn(
        src: *const u8,
        dest: *mut u8,
        size: i32,
        meta: u8,
        dparams: *mut blosc2_dparams,
        id: u8,
    ) -> c_int,
>;
