//! The super-chunk and its metalayers (`abi.md` 3.6, 3.7), and the timestamps.

use std::ffi::{c_char, c_int, c_void};
#[cfg(feature = "abi7")]
use std::mem::offset_of;
use std::mem::size_of;

use super::size::size_on_target;
use super::{
    BLOSC2_MAX_FILTERS, BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS, blosc2_context, blosc2_frame,
    blosc2_storage,
};

/// A metalayer of a super-chunk: a name and a content (`abi.md` 3.7).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_metalayer {
    /// Name, at most 31 bytes and a terminating NUL.
    pub name: *mut c_char,
    /// Content: the bytes of a fixed metalayer, or the compressed chunk of a variable-length one.
    pub content: *mut u8,
    /// Number of bytes at `content`.
    pub content_len: i32,
}
const _: () = assert!(size_of::<blosc2_metalayer>() == size_on_target(24, 12, 12));

/// A super-chunk: a sequence of chunks with the same parameters, and metalayers. Only the library allocates it:
/// programs read it through the pointer, and never copy or embed it (`abi.md` 3.6).
// With the feature `abi7` the offsets are those of SOVERSION 7 (`abi.md` 12).
#[repr(C)]
pub struct blosc2_schunk {
    /// Always 0.
    pub version: u8,
    /// Codec id.
    pub compcode: u8,
    /// Meta byte of the codec.
    pub compcode_meta: u8,
    /// Compression level.
    pub clevel: u8,
    /// Split mode, `BLOSC_ALWAYS_SPLIT` and so on.
    pub splitmode: u8,
    /// Item size in bytes.
    pub typesize: i32,
    /// Requested block size in bytes; 0 = chosen automatically.
    pub blocksize: i32,
    /// Uncompressed size of a chunk in bytes; -1 = no chunks yet, 0 = the chunks have different sizes.
    pub chunksize: i32,
    /// Second Blosc2 flags, common to all chunks (`BLOSC2_VL_BLOCKS`).
    #[cfg(not(feature = "abi7"))]
    pub flags2: u8,
    /// Non-zero if the chunks use dictionaries.
    #[cfg(not(feature = "abi7"))]
    pub use_dict: u8,
    /// Filter ids.
    pub filters: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Meta bytes of the filters.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Number of chunks.
    pub nchunks: i64,
    /// Number of the chunk that is being processed, which is passed to prefilters and postfilters. A program that
    /// uses `cctx` directly sets it before.
    pub current_nchunk: i64,
    /// Total uncompressed size of the chunks, in bytes.
    pub nbytes: i64,
    /// Total compressed size of the chunks, in bytes.
    pub cbytes: i64,
    /// Addresses of the chunks of a super-chunk in memory without a frame; otherwise NULL.
    pub data: *mut *mut u8,
    /// Size of the memory at `data`, in bytes.
    pub data_len: usize,
    /// The super-chunk's own copy of the storage parameters; never NULL.
    pub storage: *mut blosc2_storage,
    /// The frame, or NULL.
    pub frame: *mut blosc2_frame,
    /// Compression context, owned by the super-chunk; a program may free it and store another one here.
    pub cctx: *mut blosc2_context,
    /// Decompression context, owned by the super-chunk; a program may free it and store another one here.
    pub dctx: *mut blosc2_context,
    /// The fixed metalayers; the first `nmetalayers` elements are valid.
    pub metalayers: [*mut blosc2_metalayer; BLOSC2_MAX_METALAYERS as usize],
    /// Number of fixed metalayers.
    pub nmetalayers: u16,
    /// The variable-length metalayers; the first `nvlmetalayers` elements are valid.
    pub vlmetalayers: [*mut blosc2_metalayer; BLOSC2_MAX_VLMETALAYERS as usize],
    /// Number of variable-length metalayers.
    pub nvlmetalayers: i16,
    /// Parameters of the tuner.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// Always 0. C-Blosc2 caches the number of dimensions of the `b2nd` array here.
    pub ndim: i8,
    /// NULL, unless the program stores a block from `malloc` here; `blosc2_schunk_free` frees that block. C-Blosc2
    /// caches the block shape of the `b2nd` array here.
    pub blockshape: *mut i64,
    /// True for the super-chunk of a view: its chunks belong to another array.
    pub view: bool,
    /// Incremented by each change of the metalayers, and each time that a change by another process is detected.
    #[cfg(not(feature = "abi7"))]
    pub change_tick: i64,
    // The fields that the public struct of SOVERSION 7 does not have follow here: only the library accesses them.
    /// Same as the field of that name in the current layout (before `filters`). Internal.
    #[cfg(feature = "abi7")]
    pub flags2: u8,
    /// Same as the field of that name in the current layout (before `filters`). Internal.
    #[cfg(feature = "abi7")]
    pub use_dict: u8,
    /// Same as the field of that name in the current layout. Internal.
    #[cfg(feature = "abi7")]
    pub change_tick: i64,
}
#[cfg(not(feature = "abi7"))]
const _: () = assert!(size_of::<blosc2_schunk>() == size_on_target(65_840, 32_968, 32_960));
#[cfg(feature = "abi7")]
const _: () =
    assert!(offset_of!(blosc2_schunk, view) == 65_816 && offset_of!(blosc2_schunk, change_tick) >= 65_824);

/// A point in time, of which only differences are meaningful: `struct timespec` on Unix.
#[cfg(not(windows))]
pub type blosc_timestamp_t = libc::timespec;
/// A point in time, of which only differences are meaningful: `LARGE_INTEGER` on Windows.
#[cfg(windows)]
pub type blosc_timestamp_t = i64;
