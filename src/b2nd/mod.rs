//! Arrays of up to 16 dimensions on top of super-chunks (`b2nd.md`).
//!
//! | module | owns |
//! |---|---|
//! | [`geometry`] | a checked shape with its chunks and blocks, and all values derived from it |
//! | [`tiles`] | the chunks that a box of items touches, and the blocks of a chunk |
//! | [`overrun`] | boxes that reach beyond the grid of chunks |
//! | [`metalayer`] | the bytes of the `b2nd` metalayer, and of the older `caterva` one |
//! | [`boxes`], [`rows`] | copying and filling boxes of items: the plan, and the loops over bytes |
//! | [`mod@array`] | an array: its super-chunk and its geometry |
//! | `shape_lock`, `shape_access` | the lock of the shape, for writers of items or one change; access with it |
//! | `transfer` | a checked box and its buffer |
//! | [`slices`] | reading and writing boxes |
//! | [`resize`], [`copies`] | growing and shrinking; copies, parts, concatenation |
//! | [`selection`], [`sparse`] | items at lists of coordinates per dimension; items at a list of positions |
//! | [`views`] | the same items under other dimensions |
//!
//! The modules up to `rows` use no chunk bytes, no super-chunks and no threads.

pub(crate) mod array;
pub(crate) mod boxes;
pub(crate) mod copies;
pub(crate) mod geometry;
pub(crate) mod metalayer;
pub(crate) mod overrun;
mod parallel_write;
pub(crate) mod resize;
pub(crate) mod rows;
pub(crate) mod selection;
mod shape_access;
mod shape_lock;
pub(crate) mod slices;
pub(crate) mod sparse;
pub(crate) mod tiles;
mod transfer;
pub(crate) mod views;

use crate::abi::B2ND_MAX_DIM;

/// Upper limit for the number of dimensions of an array.
pub(crate) const MAX_DIM: usize = B2ND_MAX_DIM as usize;
