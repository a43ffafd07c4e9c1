//! Declarations of exported functions, for tests that are linked with the library and call them as C code does.

use std::ffi::{c_char, c_int, c_void};

use blosc2::abi::{
    b2nd_array_t, b2nd_context_t, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_metalayer,
    blosc2_schunk, blosc2_storage, blosc2x_report, blosc2x_verify_options,
};

unsafe extern "C" {
    pub fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context;
    pub fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context;
    pub fn b2nd_create_ctx(
        b2_storage: *const blosc2_storage,
        ndim: i8,
        shape: *const i64,
        chunkshape: *const i32,
        blockshape: *const i32,
        dtype: *const c_char,
        dtype_format: i8,
        metalayers: *const blosc2_metalayer,
        nmetalayers: i32,
    ) -> *mut b2nd_context_t;
    pub fn b2nd_free(array: *mut b2nd_array_t) -> c_int;
    pub fn b2nd_free_ctx(ctx: *mut b2nd_context_t) -> c_int;
    pub fn b2nd_from_cbuffer(
        ctx: *mut b2nd_context_t,
        array: *mut *mut b2nd_array_t,
        buffer: *const c_void,
        buffersize: i64,
    ) -> c_int;
    pub fn b2nd_from_schunk(schunk: *mut blosc2_schunk, array: *mut *mut b2nd_array_t) -> c_int;
    pub fn b2nd_get_slice_cbuffer(
        array: *const b2nd_array_t,
        start: *const i64,
        stop: *const i64,
        buffer: *mut c_void,
        buffershape: *const i64,
        buffersize: i64,
    ) -> c_int;
    pub fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int;
    pub fn b2nd_resize(array: *mut b2nd_array_t, new_shape: *const i64, start: *const i64) -> c_int;
    pub fn b2nd_set_slice_cbuffer(
        buffer: *const c_void,
        buffershape: *const i64,
        buffersize: i64,
        start: *const i64,
        stop: *const i64,
        array: *mut b2nd_array_t,
    ) -> c_int;
    pub fn b2nd_to_cbuffer(array: *const b2nd_array_t, buffer: *mut c_void, buffersize: i64) -> c_int;
    pub fn b2nd_zeros(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int;
    pub fn blosc1_set_compressor(compname: *const c_char) -> c_int;
    pub fn blosc2_compress(
        clevel: c_int,
        doshuffle: c_int,
        typesize: i32,
        src: *const c_void,
        srcsize: i32,
        dest: *mut c_void,
        destsize: i32,
    ) -> c_int;
    pub fn blosc2_compress_ctx(
        context: *mut blosc2_context,
        src: *const c_void,
        srcsize: i32,
        dest: *mut c_void,
        destsize: i32,
    ) -> c_int;
    pub fn blosc2_decompress(src: *const c_void, srcsize: i32, dest: *mut c_void, destsize: i32) -> c_int;
    pub fn blosc2_decompress_ctx(
        context: *mut blosc2_context,
        src: *const c_void,
        srcsize: i32,
        dest: *mut c_void,
        destsize: i32,
    ) -> c_int;
    pub fn blosc2_free_ctx(context: *mut blosc2_context);
    pub fn blosc2_getitem_ctx(
        context: *mut blosc2_context,
        src: *const c_void,
        srcsize: i32,
        start: c_int,
        nitems: c_int,
        dest: *mut c_void,
        destsize: i32,
    ) -> c_int;
    pub fn blosc2_meta_add(
        schunk: *mut blosc2_schunk,
        name: *const c_char,
        content: *mut u8,
        content_len: i32,
    ) -> c_int;
    pub fn blosc2_schunk_append_buffer(schunk: *mut blosc2_schunk, src: *const c_void, nbytes: i32) -> i64;
    pub fn blosc2_schunk_copy(schunk: *mut blosc2_schunk, storage: *mut blosc2_storage)
    -> *mut blosc2_schunk;
    pub fn blosc2_schunk_decompress_chunk(
        schunk: *mut blosc2_schunk,
        nchunk: i64,
        dest: *mut c_void,
        nbytes: i32,
    ) -> c_int;
    pub fn blosc2_schunk_delete_chunk(schunk: *mut blosc2_schunk, nchunk: i64) -> i64;
    pub fn blosc2_schunk_free(schunk: *mut blosc2_schunk) -> c_int;
    pub fn blosc2_schunk_get_slice_buffer(
        schunk: *mut blosc2_schunk,
        start: i64,
        stop: i64,
        buffer: *mut c_void,
    ) -> c_int;
    pub fn blosc2_schunk_get_sparse_buffer(
        schunk: *mut blosc2_schunk,
        ncoords: i64,
        coords: *const i64,
        buffer: *mut c_void,
    ) -> c_int;
    pub fn blosc2_schunk_new(storage: *mut blosc2_storage) -> *mut blosc2_schunk;
    pub fn blosc2_schunk_open(urlpath: *const c_char) -> *mut blosc2_schunk;
    pub fn blosc2_schunk_to_buffer(
        schunk: *mut blosc2_schunk,
        cframe: *mut *mut u8,
        needs_free: *mut bool,
    ) -> i64;
    pub fn blosc2_vlcompress_ctx(
        context: *mut blosc2_context,
        srcs: *const *const c_void,
        srcsizes: *const i32,
        nblocks: i32,
        dest: *mut c_void,
        destsize: i32,
    ) -> c_int;
    pub fn blosc2_vlmeta_add(
        schunk: *mut blosc2_schunk,
        name: *const c_char,
        content: *mut u8,
        content_len: i32,
        cparams: *mut blosc2_cparams,
    ) -> c_int;
    pub fn blosc2_vlmeta_get(
        schunk: *mut blosc2_schunk,
        name: *const c_char,
        content: *mut *mut u8,
        content_len: *mut i32,
    ) -> c_int;
    pub fn blosc2_vlmeta_update(
        schunk: *mut blosc2_schunk,
        name: *const c_char,
        content: *mut u8,
        content_len: i32,
        cparams: *mut blosc2_cparams,
    ) -> c_int;
    pub fn blosc2x_repair(
        source: *const c_char,
        destination: *const c_char,
        report: blosc2x_report,
        user_data: *mut c_void,
    ) -> i64;
    pub fn blosc2x_verify(
        urlpath: *const c_char,
        options: *const blosc2x_verify_options,
        report: blosc2x_report,
        user_data: *mut c_void,
    ) -> i64;
}
