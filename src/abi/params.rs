//! Compression and decompression parameters, and the parameters of prefilters and postfilters (`abi.md` 3.1, 3.2,
//! 3.9, 3.11).

use std::ffi::{c_int, c_void};
use std::mem::size_of;

use super::size::size_on_target;
use super::{BLOSC2_MAX_FILTERS, CBool, blosc2_context};

/// Parameters of a compression context. The caller sets the fields, preferably in a copy of
/// `BLOSC2_CPARAMS_DEFAULTS`: a value of 0 does not mean "the default" (`abi.md` 3.1).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_cparams {
    /// Codec id, `BLOSC_BLOSCLZ` and so on.
    pub compcode: u8,
    /// Meta byte of the codec.
    pub compcode_meta: u8,
    /// Compression level, 0 (store) to 9.
    pub clevel: u8,
    /// Non-zero: train a dictionary and use it (zstd, lz4 and lz4hc only).
    pub use_dict: c_int,
    /// Item size in bytes.
    pub typesize: i32,
    /// Number of threads, the calling thread included; 1 and less mean the calling thread only.
    pub nthreads: i16,
    /// Block size in bytes; 0 = chosen automatically.
    pub blocksize: i32,
    /// Whether blocks are split into streams: `BLOSC_ALWAYS_SPLIT` and so on.
    pub splitmode: i32,
    /// The super-chunk that the context belongs to, or NULL; borrowed.
    pub schunk: *mut c_void,
    /// Filter ids, `BLOSC_SHUFFLE` and so on, applied from first to last.
    pub filters: [u8; BLOSC2_MAX_FILTERS as usize],
    /// The meta byte of each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Function that supplies the content of the blocks, or NULL.
    pub prefilter: blosc2_prefilter_fn,
    /// Parameters of the prefilter; required if `prefilter` is not NULL. The struct is copied into the context;
    /// the memory at `user_data` is not.
    pub preparams: *mut blosc2_prefilter_params,
    /// Passed to the tuner's `init`; borrowed.
    pub tuner_params: *mut c_void,
    /// Tuner id; 0 and less mean the default tuner.
    pub tuner_id: c_int,
    /// True: compress into a chunk of `blosc2_instr` records instead of the data.
    pub instr_codec: CBool,
    /// Parameters of a plugin codec; borrowed.
    pub codec_params: *mut c_void,
    /// Parameters of the plugin filters, one pointer for each filter; borrowed.
    pub filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize],
}
const _: () = assert!(size_of::<blosc2_cparams>() == size_on_target(136, 88, 88));

/// Parameters of a decompression context. The caller sets the fields, preferably in a copy of
/// `BLOSC2_DPARAMS_DEFAULTS` (`abi.md` 3.2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_dparams {
    /// Number of threads, the calling thread included; 1 and less mean the calling thread only.
    pub nthreads: i16,
    /// The super-chunk that the context belongs to, or NULL; borrowed. Required for lazy chunks.
    pub schunk: *mut c_void,
    /// Function that changes decompressed blocks, or NULL.
    pub postfilter: blosc2_postfilter_fn,
    /// Parameters of the postfilter; required if `postfilter` is not NULL. The struct is copied into the context;
    /// the memory at `user_data` is not.
    pub postparams: *mut blosc2_postfilter_params,
    /// Item size in bytes; informative, ignored by `blosc2_create_dctx`.
    pub typesize: i32,
}
const _: () = assert!(size_of::<blosc2_dparams>() == size_on_target(40, 20, 20));

/// Parameters of a prefilter for one block. The caller sets `user_data`, `output_typesize` and
/// `output_is_disposable`; for each call the library passes a copy in which it has set the other fields. The copy
/// is private to the call (`abi.md` 3.9).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_prefilter_params {
    /// Pointer of the caller, passed unchanged.
    pub user_data: *mut c_void,
    /// Start of the block in the source buffer.
    pub input: *const u8,
    /// Buffer for the content of the block; set to zeros before the call.
    pub output: *mut u8,
    /// Number of bytes to write to `output`.
    pub output_size: i32,
    /// Item size of the output in bytes; 0 and less mean the item size of the context.
    pub output_typesize: i32,
    /// Offset of the block in the chunk, in bytes.
    pub output_offset: i32,
    /// Number of the chunk in the super-chunk; -1 without a super-chunk.
    pub nchunk: i64,
    /// Number of the block in the chunk.
    pub nblock: i32,
    /// Number of the worker thread; 0 without worker threads.
    pub tid: i32,
    /// Scratch memory of the thread, `ttmp_nbytes` bytes.
    pub ttmp: *mut u8,
    /// Size of `ttmp` in bytes.
    pub ttmp_nbytes: usize,
    /// The compression context.
    pub ctx: *mut blosc2_context,
    /// True: the output is not used, and the rest of the pipeline is skipped.
    pub output_is_disposable: CBool,
}
const _: () = assert!(size_of::<blosc2_prefilter_params>() == size_on_target(88, 56, 56));

/// Supplies the content of a block before it is compressed. Returns 0 for success; with any other value the
/// compression fails with -18. Called from several threads at once.
pub type blosc2_prefilter_fn = Option<unsafe extern "C" fn(params: *mut blosc2_prefilter_params) -> c_int>;

/// Parameters of a postfilter for one block. The caller sets `user_data`; for each call the library passes a copy
/// in which it has set the other fields. The copy is private to the call (`abi.md` 3.9).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_postfilter_params {
    /// Pointer of the caller, passed unchanged.
    pub user_data: *mut c_void,
    /// The decompressed block.
    pub input: *const u8,
    /// Buffer for the resulting block.
    pub output: *mut u8,
    /// Size of the block in bytes.
    pub size: i32,
    /// Item size in bytes.
    pub typesize: i32,
    /// Offset of the block in the chunk, in bytes.
    pub offset: i32,
    /// Number of the chunk in the super-chunk; -1 without a super-chunk.
    pub nchunk: i64,
    /// Number of the block in the chunk.
    pub nblock: i32,
    /// Number of the worker thread; 0 without worker threads.
    pub tid: i32,
    /// Scratch memory of the thread, `ttmp_nbytes` bytes.
    pub ttmp: *mut u8,
    /// Size of `ttmp` in bytes.
    pub ttmp_nbytes: usize,
    /// The decompression context.
    pub ctx: *mut blosc2_context,
}
const _: () = assert!(size_of::<blosc2_postfilter_params>() == size_on_target(80, 56, 52));

/// Changes a block after it was decompressed. Returns 0 for success; with any other value the decompression fails
/// with -27. Called from several threads at once.
pub type blosc2_postfilter_fn = Option<unsafe extern "C" fn(params: *mut blosc2_postfilter_params) -> c_int>;

/// Statistics of the compression of one stream. A chunk made with `instr_codec` decompresses to these records, in
/// native byte order (`abi.md` 3.11).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct blosc2_instr {
    /// Compression ratio.
    pub cratio: f32,
    /// Speed of the codec in GB/s.
    pub cspeed: f32,
    /// Speed of the filters in GB/s.
    pub filter_speed: f32,
    /// Flags of the stream.
    pub flags: [u8; 4],
}
const _: () = assert!(size_of::<blosc2_instr>() == 16);
