//! Compression and decompression parameters, and what pre- and postfilters see (`abi.md` 3.1, 3.2, 3.9, 3.11).

use std::ffi::{c_int, c_void};
use std::mem::size_of;

use super::{BLOSC2_MAX_FILTERS, CBool, blosc2_context};

/// Parameters of a compression context; filled by the caller, best from a copy of `BLOSC2_CPARAMS_DEFAULTS`.
/// Every value is taken literally: 0 does not mean "the default" (`abi.md` 3.1).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_cparams {
    /// Codec id.
    pub compcode: u8,
    /// Meta byte of the codec.
    pub compcode_meta: u8,
    /// Compression level, 0 (store) to 9.
    pub clevel: u8,
    /// Non-zero: train and use a dictionary (zstd, lz4 and lz4hc only).
    pub use_dict: c_int,
    /// Item size in bytes.
    pub typesize: i32,
    /// Threads; 0 and less mean none besides the caller's.
    pub nthreads: i16,
    /// Block size in bytes, 0 = automatic.
    pub blocksize: i32,
    /// Whether blocks are split into streams, `BLOSC_ALWAYS_SPLIT` and so on.
    pub splitmode: i32,
    /// The super-chunk that the context works for, or NULL; borrowed.
    pub schunk: *mut c_void,
    /// Filter ids, applied from first to last.
    pub filters: [u8; BLOSC2_MAX_FILTERS as usize],
    /// One meta byte for each filter.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Function that fills the blocks, or NULL.
    pub prefilter: blosc2_prefilter_fn,
    /// What the prefilter gets; copied into the context, except for what `user_data` points at.
    pub preparams: *mut blosc2_prefilter_params,
    /// Handed to the tuner's `init`; borrowed.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// True: produce a chunk of `blosc2_instr` records instead of data.
    pub instr_codec: CBool,
    /// For plugin codecs; borrowed.
    pub codec_params: *mut c_void,
    /// For plugin filters; borrowed.
    pub filter_params: [*mut c_void; BLOSC2_MAX_FILTERS as usize],
}
const _: () = assert!(size_of::<blosc2_cparams>() == 136);

/// Parameters of a decompression context; filled by the caller, best from a copy of `BLOSC2_DPARAMS_DEFAULTS`
/// (`abi.md` 3.2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_dparams {
    /// Threads; 0 and less mean none besides the caller's.
    pub nthreads: i16,
    /// The super-chunk that the context works for, or NULL; borrowed. Lazy chunks need it.
    pub schunk: *mut c_void,
    /// Function that changes decompressed blocks, or NULL.
    pub postfilter: blosc2_postfilter_fn,
    /// What the postfilter gets; copied into the context, except for what `user_data` points at.
    pub postparams: *mut blosc2_postfilter_params,
    /// Item size in bytes, as information: a new context does not look at it.
    pub typesize: i32,
}
const _: () = assert!(size_of::<blosc2_dparams>() == 40);

/// What a prefilter sees of the block that it has to fill. The caller sets `user_data`, `output_typesize` and
/// `output_is_disposable`; the library passes a copy, filled for the block, that is private to the call
/// (`abi.md` 3.9).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_prefilter_params {
    /// The caller's own pointer.
    pub user_data: *mut c_void,
    /// The block in the source buffer.
    pub input: *const u8,
    /// Where to write the block; zeroed beforehand unless the output is disposable.
    pub output: *mut u8,
    /// Bytes to write.
    pub output_size: i32,
    /// Item size of the output in bytes.
    pub output_typesize: i32,
    /// Byte offset of the block in the chunk.
    pub output_offset: i32,
    /// Number of the chunk, or -1 without a super-chunk.
    pub nchunk: i64,
    /// Number of the block in the chunk.
    pub nblock: i32,
    /// Number of the worker thread.
    pub tid: i32,
    /// Scratch memory of the thread.
    pub ttmp: *mut u8,
    /// Bytes of scratch memory.
    pub ttmp_nbytes: usize,
    /// The compression context.
    pub ctx: *mut blosc2_context,
    /// True: the output is not needed, so that the rest of the pipeline is skipped.
    pub output_is_disposable: CBool,
}
const _: () = assert!(size_of::<blosc2_prefilter_params>() == 88);

/// Fills a block before it is compressed. Anything but 0 fails the compression.
pub type blosc2_prefilter_fn = Option<unsafe extern "C" fn(params: *mut blosc2_prefilter_params) -> c_int>;

/// What a postfilter sees of the block that was decompressed. The caller sets `user_data`; the library passes a
/// copy, filled for the block, that is private to the call (`abi.md` 3.9).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_postfilter_params {
    /// The caller's own pointer.
    pub user_data: *mut c_void,
    /// The decompressed block.
    pub input: *const u8,
    /// Where to write the block.
    pub output: *mut u8,
    /// Bytes of the block.
    pub size: i32,
    /// Item size in bytes.
    pub typesize: i32,
    /// Byte offset of the block in the chunk.
    pub offset: i32,
    /// Number of the chunk, or -1 without a super-chunk.
    pub nchunk: i64,
    /// Number of the block in the chunk.
    pub nblock: i32,
    /// Number of the worker thread.
    pub tid: i32,
    /// Scratch memory of the thread.
    pub ttmp: *mut u8,
    /// Bytes of scratch memory.
    pub ttmp_nbytes: usize,
    /// The decompression context.
    pub ctx: *mut blosc2_context,
}
const _: () = assert!(size_of::<blosc2_postfilter_params>() == 80);

/// Changes a block after it was decompressed. Anything but 0 fails the decompression.
pub type blosc2_postfilter_fn = Option<unsafe extern "C" fn(params: *mut blosc2_postfilter_params) -> c_int>;

/// How well one stream was compressed: the records, in native byte order, of a chunk made with `instr_codec`
/// (`abi.md` 3.11).
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
