//! The N-dimensional array (`abi.md` 3.8) and the first fields of its creation parameters (`abi.md` 4.4).

use std::ffi::c_char;
#[cfg(target_pointer_width = "64")]
use std::mem::offset_of;
use std::mem::size_of;

use super::size::size_on_target;
use super::{B2ND_MAX_DIM, B2ND_MAX_METALAYERS, blosc2_metalayer, blosc2_schunk, blosc2_storage};

const DIMS: usize = B2ND_MAX_DIM as usize;

/// A cache for one chunk; initialised, but not used (`abi.md` 3.8).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct chunk_cache_s {
    /// The chunk; always NULL.
    pub data: *mut u8,
    /// The number of the chunk; always -1.
    pub nchunk: i64,
}
const _: () = assert!(size_of::<chunk_cache_s>() == size_on_target(16, 16, 12));

/// An N-dimensional array in a super-chunk. The library allocates it and writes its fields; programs read them.
/// The only field that a program may write is `sc`: set to NULL before `b2nd_free`, it keeps the super-chunk. In
/// the five shapes, the elements from `ndim` on are 1 (`abi.md` 3.8).
#[repr(C)]
pub struct b2nd_array_t {
    /// The super-chunk, owned by the array.
    pub sc: *mut blosc2_schunk,
    /// Shape of the array, in items.
    pub shape: [i64; B2ND_MAX_DIM as usize],
    /// Shape of a chunk, in items.
    pub chunkshape: [i32; B2ND_MAX_DIM as usize],
    /// Shape of the array, rounded up to whole chunks, in items.
    pub extshape: [i64; B2ND_MAX_DIM as usize],
    /// Shape of a block, in items.
    pub blockshape: [i32; B2ND_MAX_DIM as usize],
    /// Shape of a chunk, rounded up to whole blocks, in items.
    pub extchunkshape: [i64; B2ND_MAX_DIM as usize],
    /// Number of items of the array (product of `shape`).
    pub nitems: i64,
    /// Number of items of a chunk (product of `chunkshape`).
    pub chunknitems: i32,
    /// Number of items of the array, rounded up to whole chunks (product of `extshape`).
    pub extnitems: i64,
    /// Number of items of a block (product of `blockshape`).
    pub blocknitems: i32,
    /// Number of items of a chunk, rounded up to whole blocks (product of `extchunkshape`).
    pub extchunknitems: i64,
    /// Number of dimensions, 0 to 16.
    pub ndim: i8,
    /// Not used.
    pub chunk_cache: chunk_cache_s,
    /// Strides of `shape`, in items.
    pub item_array_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of `chunkshape`, in items.
    pub item_chunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of `extchunkshape`, in items.
    pub item_extchunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of `blockshape`, in items.
    pub item_block_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the blocks of a chunk that is rounded up to whole blocks, in blocks.
    pub block_chunk_strides: [i64; B2ND_MAX_DIM as usize],
    /// Strides of the chunks: `s[i] = s[i+1] * extshape[i+1] * chunkshape[i+1]`.
    pub chunk_array_strides: [i64; B2ND_MAX_DIM as usize],
    /// Data type of the items, a string owned by the array.
    pub dtype: *mut c_char,
    /// Format of `dtype`; 0 is NumPy's.
    pub dtype_format: i8,
    /// The value of the super-chunk's `change_tick` when the fields were last updated.
    #[cfg(not(feature = "abi7"))]
    pub last_tick: i64,
    /// The value of the super-chunk's `change_tick` when the fields were last updated. Internal: the public struct of
    /// SOVERSION 7 ends before this field.
    #[cfg(feature = "abi7")]
    pub last_tick: i64,
}
const _: () = assert!(size_of::<b2nd_array_t>() == size_on_target(1376, 1368, 1348));

/// Creation parameters of an array: opaque in the public headers, but some programs read `ndim` and `shape` at
/// these offsets (`abi.md` 4.4).
#[repr(C)]
pub struct b2nd_context_s {
    /// Number of dimensions.
    pub ndim: i8,
    /// Shape of the array, in items.
    pub shape: [i64; DIMS],
    /// Shape of a chunk, in items.
    pub chunkshape: [i32; DIMS],
    /// Shape of a block, in items.
    pub blockshape: [i32; DIMS],
    /// Data type of the items, a string owned by the context.
    pub dtype: *mut c_char,
    /// Format of `dtype`; 0 is NumPy's.
    pub dtype_format: i8,
    /// The context's own copy of the storage, with its own copy of the `cparams`.
    pub b2_storage: *mut blosc2_storage,
    /// Metalayers to add; their names and contents are borrowed from the caller.
    pub metalayers: [blosc2_metalayer; B2ND_MAX_METALAYERS as usize],
    /// Number of valid elements of `metalayers`.
    pub nmetalayers: i32,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<b2nd_context_s>() == 656);
    assert!(offset_of!(b2nd_context_s, shape) == 8);
    assert!(offset_of!(b2nd_context_s, dtype) == 264);
    assert!(offset_of!(b2nd_context_s, b2_storage) == 280);
    assert!(offset_of!(b2nd_context_s, metalayers) == 288);
    assert!(offset_of!(b2nd_context_s, nmetalayers) == 648);
};

/// The creation parameters of an array, made by `b2nd_create_ctx` and freed by `b2nd_free_ctx`; opaque.
pub type b2nd_context_t = b2nd_context_s;
