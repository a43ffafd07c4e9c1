//! The super-chunk and its metalayers (`abi.md` 3.6, 3.7), and the timestamps.

use std::ffi::{c_char, c_int, c_void};
#[cfg(feature = "abi7")]
use std::mem::offset_of;
use std::mem::size_of;

use super::{
    BLOSC2_MAX_FILTERS, BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS, blosc2_context, blosc2_frame,
    blosc2_storage,
};

/// A metalayer of a super-chunk: a name and its content (`abi.md` 3.7).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_metalayer {
    /// Name, at most 31 bytes and a NUL.
    pub name: *mut c_char,
    /// Content: the bytes of a fixed metalayer, or the chunk of a variable-length one.
    pub content: *mut u8,
    /// Bytes at `content`.
    pub content_len: i32,
}
const _: () = assert!(size_of::<blosc2_metalayer>() == 24);

/// A super-chunk. Only the library allocates it: read it through the pointer, never copy or embed it
/// (`abi.md` 3.6).
// With the feature `abi7` the places are those of SOVERSION 7 (`abi.md` 12).
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
    /// Split mode.
    pub splitmode: u8,
    /// Item size in bytes.
    pub typesize: i32,
    /// Block size in bytes as it was asked for; 0 = automatic.
    pub blocksize: i32,
    /// Uncompressed bytes of a chunk; -1 = still empty, 0 = chunks of different sizes.
    pub chunksize: i32,
    /// Second Blosc2 flags that all chunks share (`BLOSC2_VL_BLOCKS`).
    #[cfg(not(feature = "abi7"))]
    pub flags2: u8,
    /// Non-zero: the chunks use dictionaries.
    #[cfg(not(feature = "abi7"))]
    pub use_dict: u8,
    /// Filter ids.
    pub filters: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Meta bytes of the filters.
    pub filters_meta: [u8; BLOSC2_MAX_FILTERS as usize],
    /// Number of chunks.
    pub nchunks: i64,
    /// The chunk at work, which pre- and postfilters are told; to be set before using `cctx` directly.
    pub current_nchunk: i64,
    /// Total of the uncompressed bytes.
    pub nbytes: i64,
    /// Total of the compressed bytes.
    pub cbytes: i64,
    /// The chunks of a super-chunk in memory that is no frame; else NULL.
    pub data: *mut *mut u8,
    /// Bytes allocated for `data`.
    pub data_len: usize,
    /// The library's copy of the storage parameters; never NULL.
    pub storage: *mut blosc2_storage,
    /// The frame, or NULL.
    pub frame: *mut blosc2_frame,
    /// Compression context; a caller may free it and put another in its place.
    pub cctx: *mut blosc2_context,
    /// Decompression context; a caller may free it and put another in its place.
    pub dctx: *mut blosc2_context,
    /// The fixed metalayers, the first `nmetalayers` of them valid.
    pub metalayers: [*mut blosc2_metalayer; BLOSC2_MAX_METALAYERS as usize],
    /// Number of fixed metalayers.
    pub nmetalayers: u16,
    /// The variable-length metalayers, the first `nvlmetalayers` of them valid.
    pub vlmetalayers: [*mut blosc2_metalayer; BLOSC2_MAX_VLMETALAYERS as usize],
    /// Number of variable-length metalayers.
    pub nvlmetalayers: i16,
    /// Parameters of the tuner.
    pub tuner_params: *mut c_void,
    /// Tuner id.
    pub tuner_id: c_int,
    /// Dimensions of the array in here, once they were needed; else 0.
    pub ndim: i8,
    /// Block shape of the array in here, once it was needed; else NULL.
    pub blockshape: *mut i64,
    /// True: a view, whose chunks belong to another array.
    pub view: bool,
    /// Counts the changes to the metalayers, and the times that a change by another process was found.
    #[cfg(not(feature = "abi7"))]
    pub change_tick: i64,
    // What the public struct of SOVERSION 7 lacks lies behind it, in memory that only the library knows of.
    /// As the field of that name before the filters in the present layout.
    #[cfg(feature = "abi7")]
    pub flags2: u8,
    /// As the field of that name before the filters in the present layout.
    #[cfg(feature = "abi7")]
    pub use_dict: u8,
    /// As the last field of the present layout.
    #[cfg(feature = "abi7")]
    pub change_tick: i64,
}
#[cfg(not(feature = "abi7"))]
const _: () = assert!(size_of::<blosc2_schunk>() == 65_840);
#[cfg(feature = "abi7")]
const _: () =
    assert!(offset_of!(blosc2_schunk, view) == 65_816 && offset_of!(blosc2_schunk, change_tick) >= 65_824);

/// A point in time, only good for differences: `struct timespec` on Unix.
#[cfg(not(windows))]
pub type blosc_timestamp_t = libc::timespec;
/// A point in time, only good for differences: `LARGE_INTEGER` on Windows.
#[cfg(windows)]
pub type blosc_timestamp_t = i64;
