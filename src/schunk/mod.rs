//! Super-chunks: chunks in order, kept one by one in memory or in a frame (`schunk.md`).
//!
//! | module | owns |
//! |---|---|
//! | [`super_chunk`] | the super-chunk itself: its parts, how they are made and dropped |
//! | [`c_struct`] | the public struct that C sees, and every access to it |
//! | [`access_lock`] | the lock, for any number of readers or one change, and the proofs that it is held |
//! | [`rules`] | what a change does to the counters; pure |
//! | [`storage`] | where and with what parameters a super-chunk is made |
//! | [`create`], [`open`] | making and opening |
//! | [`read`], [`cache`] | chunks for reading; the block that was decoded last |
//! | [`slice`], [`sparse`], [`blocks`] | items in a row, and here and there; blocks for arrays |
//! | [`patched_chunk`] | chunks of which some blocks change, for arrays |
//! | [`change`], [`variable_size`], [`special`] | putting chunks in and taking them out; chunks of different sizes in frames; filling with special ones |
//! | [`compress`] | compressing what becomes a chunk |
//! | [`snapshot`] | read-modify-writes that run a program's functions |
//! | [`metalayers`] | metalayers of both kinds |
//! | [`copy`] | copies, and frames for others |
//! | [`sync`] | other handles on the same frame: locks, and what they have changed |
//! | [`view`] | super-chunks that show the chunks of another |
//!
//! A call takes the access lock, then the lock between processes if the frame has one, rereads the frame if another handle has
//! changed it, and does its work. Functions of the program (codecs, filters, pre- and postfilters, tuners) run without the access
//! lock, except those of an I/O back-end and the threads callback.

pub(crate) mod access_lock;
pub(crate) mod blocks;
mod c_struct;
pub(crate) mod cache;
pub(crate) mod change;
mod compress;
pub(crate) mod copy;
pub(crate) mod create;
#[cfg(all(test, loom))]
mod lock_model_tests;
pub(crate) mod metalayers;
pub(crate) mod open;
pub(crate) mod patched_chunk;
pub(crate) mod read;
pub(crate) mod rules;
pub(crate) mod slice;
mod snapshot;
pub(crate) mod sparse;
pub(crate) mod special;
pub(crate) mod storage;
mod super_chunk;
pub(crate) mod sync;
mod variable_size;
pub(crate) mod view;

pub(crate) use rules::Keeping;
pub(crate) use super_chunk::{OwnedSuperChunk, SuperChunk};
