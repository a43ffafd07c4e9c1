//! Super-chunks: chunks in order, kept one by one in memory or in a frame (`schunk.md`).
//!
//! | module | owns |
//! |---|---|
//! | [`super_chunk`] | the struct of a super-chunk, its construction and its drop |
//! | [`c_struct`] | the public struct of the C API, and every access to it |
//! | [`access_lock`] | the lock, for any number of readers or one change, and the proofs that it is held |
//! | [`rules`] | the effect of a change on the counters; pure functions |
//! | [`storage`] | place and parameters of a new super-chunk |
//! | [`create`], [`open`] | making and opening |
//! | [`read`], [`cache`] | reading chunks; the cache of the last decoded block |
//! | [`mod@slice`], [`sparse`], [`blocks`] | reading and writing slices; reading lists of items; reading blocks for arrays |
//! | [`patched_chunk`] | changing some blocks of a chunk, for arrays |
//! | [`planned_read`] | the parts of files that a read needs, for back-ends that fetch them together |
//! | [`array_chunks`] | the check that a new chunk fits the array that a super-chunk holds |
//! | [`change`], [`variable_size`], [`special`] | inserting, replacing and deleting chunks; chunks of different sizes in frames; special chunks |
//! | [`compress`] | compression of new chunks |
//! | [`snapshot`] | read-modify-writes that run a program's functions |
//! | [`metalayers`] | metalayers of both kinds |
//! | [`copy`] | copies, and export as frames |
//! | [`frame_sync`] | other handles on the same frame: locks, and rereading their changes |
//! | [`transaction`] | calls with several changes, of which all or none are committed |
//! | [`view`] | super-chunks that show the chunks of another |
//!
//! A call takes the access lock, then the lock between processes if the frame has one, rereads the frame if another
//! handle has changed it, and does its work. A write to an array takes the lock between processes first, and keeps it
//! while it takes the access lock for each chunk (`src/b2nd/shape_access.rs`). Functions of the program (codecs,
//! filters, pre- and postfilters, tuners) run without the access lock, except those of an I/O back-end and the threads
//! callback.

pub(crate) mod access_lock;
mod array_chunks;
pub(crate) mod blocks;
mod c_struct;
pub(crate) mod cache;
pub(crate) mod change;
mod compress;
pub(crate) mod copy;
pub(crate) mod create;
pub(crate) mod frame_sync;
#[cfg(all(test, loom))]
mod lock_model_tests;
pub(crate) mod metalayers;
pub(crate) mod open;
pub(crate) mod patched_chunk;
pub(crate) mod planned_read;
pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod slice;
mod snapshot;
pub(crate) mod sparse;
pub(crate) mod special;
pub(crate) mod storage;
mod super_chunk;
mod transaction;
mod variable_size;
pub(crate) mod view;

pub use c_struct::metalayer_kind::MetalayerKind;
pub(crate) use rules::StorageKind;
pub(crate) use super_chunk::{OwnedSuperChunk, SuperChunk};
