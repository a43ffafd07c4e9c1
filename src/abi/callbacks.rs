//! The callback types of the ABI (`abi.md` 4.1), except those of prefilters and postfilters, which are in
//! `params`. Every callback may be NULL. The library calls them only as their contract says, possibly from several
//! threads at once.

use std::ffi::{c_char, c_int, c_void};

use super::{blosc2_cparams, blosc2_dparams};

/// Runs the jobs of the library in a caller's own threads. Must call `dojob(jobdata + i * jobdata_elsize)`, with
/// the offset in bytes, exactly once for each `i` from 0 to `numjobs - 1`, in any threads, and return after all
/// these calls have returned. The elements of `jobdata` are opaque. `callback_data` is the pointer passed to
/// `blosc2_set_threads_callback`.
pub type blosc_threads_callback = Option<
    unsafe extern "C" fn(
        callback_data: *mut c_void,
        dojob: Option<unsafe extern "C" fn(*mut c_void)>,
        numjobs: c_int,
        jobdata_elsize: usize,
        jobdata: *mut c_void,
    ),
>;

/// Opens the file `urlpath` in the mode `mode` (`rb`, `rb+`, `wb` or `ab`). Returns a stream, which the library
/// passes to the other functions of the back-end, or NULL for an error. `params` is the field `params` of the
/// `blosc2_io`.
pub type blosc2_open_cb = Option<
    unsafe extern "C" fn(urlpath: *const c_char, mode: *const c_char, params: *mut c_void) -> *mut c_void,
>;

/// Closes `stream`. Returns 0 for success.
pub type blosc2_close_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> c_int>;

/// Returns the size of the file of `stream` in bytes; a negative number is an error.
pub type blosc2_size_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> i64>;

/// Writes the `nitems` items of `size` bytes at `ptr` to `stream`, at the byte `position` counted from the start
/// of the file. Returns the number of items written.
pub type blosc2_write_cb = Option<
    unsafe extern "C" fn(
        ptr: *const c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Reads `nitems` items of `size` bytes from `stream`, at the byte `position` counted from the start of the file.
/// If the field `is_allocation_necessary` of the back-end is true, the function fills the buffer at `*ptr`; if
/// false, it sets `*ptr` to the address of the bytes, in memory of the back-end that stays valid. Returns the
/// number of items read.
pub type blosc2_read_cb = Option<
    unsafe extern "C" fn(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Sets the length of the file of `stream` to `size` bytes. Returns 0 for success.
pub type blosc2_truncate_cb = Option<unsafe extern "C" fn(stream: *mut c_void, size: i64) -> c_int>;

/// Releases `params`, the field of a `blosc2_io`. Called when a super-chunk that uses the back-end is freed, and
/// when opening one fails. A negative return value is an error.
pub type blosc2_destroy_cb = Option<unsafe extern "C" fn(params: *mut c_void) -> c_int>;

/// Compresses one stream: the `input_len` bytes at `input` into `output`, which has room for `output_len` bytes.
/// Returns the number of bytes written, 0 if they do not fit (the stream is stored uncompressed then), or a
/// negative number for an error. `meta` is the meta byte of the codec; `cparams` is a temporary copy of the
/// compression parameters; `chunk` is the start of the uncompressed source buffer (NULL for variable-length
/// blocks). Called from several threads at once.
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

/// Decompresses one stream: the `input_len` bytes at `input` into the `output_len` bytes at `output`. Must return
/// exactly `output_len`; any other value is an error. `meta` is the meta byte of the codec; `dparams` is a
/// temporary copy of the decompression parameters; `chunk` is the start of the compressed chunk. Called from
/// several threads at once.
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

/// Filters a block before compression: reads the `size` bytes at `src` and writes `size` bytes to `dest`. `meta`
/// is the meta byte of the filter, `cparams` a temporary copy of the compression parameters, `id` the id of the
/// filter. Returns 0 for success; with any other value the compression fails with -18. Called from several threads
/// at once.
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

/// Reverses the filter on a block after decompression: reads the `size` bytes at `src` and writes `size` bytes to
/// `dest`. `meta` is the meta byte of the filter, `dparams` a temporary copy of the decompression parameters, `id`
/// the id of the filter. Returns 0 for success; any other value makes the decompression fail. Called from several
/// threads at once.
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
