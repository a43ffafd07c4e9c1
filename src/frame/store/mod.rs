//! A frame as a store of chunks: in memory, in a file or in a directory.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@frame`] | a frame in memory or on disk: creating and opening it, and the operations that both have |
//! | [`memory`], [`disk_frame`] | the two kinds of frames |
//! | [`fetch`], [`lazy_form`], [`block_source`] | reading chunks, whole or in their lazy form; checking them, and reading blocks |
//! | [`inner`] | the parsed state of a frame on disk, behind a lock |
//! | [`kept_units`] | the records of chunks that were read last |
//! | [`load`] | reading the parts of a frame other than its chunks |
//! | [`read_plan`] | the bytes that reading blocks needs |
//! | [`status`] | whether another handle has changed the frame |
//! | [`disk`], [`chunk_files`] | the files of a frame |
//! | [`trailing`] | whether other data follow a frame in its file |
//! | [`transaction`] | changes one by one or several as one, in place or staged |
//! | [`writer`] | executing a plan in place |
//! | [`undo_log`] | reverting one or several plans that were executed in place |
//! | [`old_bytes`] | bytes of a file before a write |
//! | [`missing_checksums`] | the checksums of a frame that has none |
//! | [`durability`] | what a change leaves if the process dies |
//! | [`staged`] | changes that are there completely or not at all |
//! | [`journal`] | undoing a commit of several sectors whose writer has died |
//! | [`old_chunk`] | the sizes of a chunk that is about to be replaced or deleted |
//! | [`sequential`] | frames that are written from the start to the end, or read from any stream |

mod block_source;
mod chunk_files;
pub(crate) mod disk;
pub(crate) mod disk_frame;
pub(crate) mod durability;
pub(crate) mod fetch;
pub(crate) mod frame;
mod inner;
pub(in crate::frame) mod journal;
mod kept_units;
mod lazy_form;
pub(crate) mod load;
pub(crate) mod memory;
mod missing_checksums;
mod old_bytes;
mod old_chunk;
mod read_plan;
pub(crate) mod sequential;
mod staged;
pub(crate) mod status;
pub(crate) mod trailing;
pub(in crate::frame) mod transaction;
mod undo_log;
pub(crate) mod writer;

pub(crate) use disk_frame::DiskFrame;
pub(crate) use frame::{Destination, Frame};
pub(crate) use load::FrameContents;
pub(crate) use memory::MemoryFrame;
