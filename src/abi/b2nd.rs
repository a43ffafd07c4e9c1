//! The N-dimensional array (`abi.md` 3.8) and the head of its creation parameters (`abi.md` 4.4).

use std::ffi::c_char;
use std::mem::{offset_of, size_of};

use super::{B2ND_MAX_DIM, B2ND_MAX_METALAYERS, blosc2_metalayer, blosc2_schunk, blosc2_storage};

const DIMS: usize = B2ND_MAX_DIM as usize;

/// A cache of one chunk; initialised, but not used (`abi.md` 3.8).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct chunk_cache_s {
    /// The chunk; NULL.
    pub data: *mut u8,
    /// Its number; -1.
    pub nchunk: i64,
}
const _: () = assert!(size_of::<chunk_cache_s>() == 16);

/// An N-dimensional array over a super-chunk. Only the library allocates it and writes its fields, except that a
/// caller may set `sc` to NULL to keep the super-chunk when the array is freed. In the shapes, dimensions from
/// `ndim` on hold 1 (`abi.md` 3.8).
#[repr(C)]
pub struct b2nd_array_t {
    /// The super-chunk; owned.
    pub sc: *mut blosc2_schunk,
    /// Shape in items.
    pub shape: [i64; B2ND_MAX_DIM as usize],
    /// Shape of a chunk in items.
    pub chunkshape: [i32; B2ND_MAX_DIM as usize],
    /// Shape, rounded up to whole chunks.
    pub extshape: [i64; B2ND_MAX_DIM as usize],
    /// Shape of a block in items.
    pub blockshape: [i32; B2ND_MAX_DIM as usize],
    /// Shape of a chunk, rounded up to whole blocks.
    pub extchunkshape: [i64; B2ND_MAX_DIM as usize],
    /// Items of the array.
    pub nitems: i64,
    /// Items of a chunk.
    pub chunknitems: i32,
    /// Items of the array, rounded up to whole chunks.
    pub extnitems: i64,
    /// Items of a block.
    pub blocknitems: i32,
    /// Items of a chunk, rounded up to whole blocks.
    pub extchunknitems: i64,
    /// Number of dimensions, 0 to 16.
    pub ndim: i8,
    /// Not used.
    pub chunk_cache: chunk_cache_s,
    /// Strides of the shape, in items.
    pub item_array_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the chunk shape, in items.
    pub item_chunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the rounded chunk shape, in items.
    pub item_extchunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the block shape, in items.
    pub item_block_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the blocks inside a rounded chunk, in blocks.
    pub block_chunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the chunks; each is the next times the extended shape times the chunk shape there.
    pub chunk_array_strides: [i64; B2ND_MAX_DIM as usize],
    /// Data type of the items as text; owned.
    pub dtype: *mut c_char,
    /// Format of that text; 0 = NumPy's.
    pub dtype_format: i8,
    /// The super-chunk's `change_tick` when the fields were last brought up to date.
    #[cfg(not(feature = "abi7"))]
    pub last_tick: i64,
    /// The same, in a place that only the library knows of: the struct of SOVERSION 7 ends before it.
    #[cfg(feature = "abi7")]
    pub last_tick: i64,
}
const _: () = assert!(size_of::<b2nd_array_t>() == 1376);

/// Creation parameters of an array: opaque in the public headers, but some programs read `ndim` and `shape` at
/// these offsets (`abi.md` 4.4).
#[repr(C)]
pub struct b2nd_context_s {
    /// Number of dimensions.
    pub ndim: i8,
    /// Shape in items.
    pub shape: [i64; DIMS],
    /// Shape of a chunk in items.
    pub chunkshape: [i32; DIMS],
    /// Shape of a block in items.
    pub blockshape: [i32; DIMS],
    /// Data type of the items; owned.
    pub dtype: *mut c_char,
    /// Format of the data type.
    pub dtype_format: i8,
    /// Private copy of the storage, with a private copy of its `cparams`.
    pub b2_storage: *mut blosc2_storage,
    /// Metalayers to add; name and content are borrowed.
    pub metalayers: [blosc2_metalayer; B2ND_MAX_METALAYERS as usize],
    /// Number of metalayers.
    pub nmetalayers: i32,
}
const _: () = {
    assert!(size_of::<b2nd_context_s>() == 656);
    assert!(offset_of!(b2nd_context_s, shape) == 8);
    assert!(offset_of!(b2nd_context_s, dtype) == 264);
    assert!(offset_of!(b2nd_context_s, b2_storage) == 280);
    assert!(offset_of!(b2nd_context_s, metalayers) == 288);
    assert!(offset_of!(b2nd_context_s, nmetalayers) == 648);
};

/// The public name of the creation parameters.
pub type b2nd_context_t = b2nd_context_s;
