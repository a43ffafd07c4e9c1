//! A frame as a store of chunks: in memory, in a file or in a directory.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@frame`], [`fetch`], [`lazy_form`], [`block_source`] | the frame: opening it; reading chunks, whole or in their lazy form; checking them, and reading blocks |
//! | [`inner`] | the parsed state of a frame, behind a lock |
//! | [`kept_units`] | the records of chunks that were read last |
//! | [`load`] | reading the parts of a frame other than its chunks |
//! | [`status`] | whether another handle has changed the frame |
//! | [`verify`] | checking the parts of a frame by its checksums |
//! | [`disk`], [`chunk_files`] | the files of a frame |
//! | [`trailing`] | whether other data follow a frame in its file |
//! | [`transaction`] | changes one by one or several as one, in place or staged |
//! | [`writer`] | executing a plan in place |
//! | [`undo_log`] | reverting one or several plans that were executed in place |
//! | [`old_bytes`] | bytes of a file before a write |
//! | [`durability`] | what a change leaves if the process dies |
//! | [`staged`] | changes that are there completely or not at all |
//! | [`journal`] | undoing a commit of several sectors whose writer has died |
//! | [`old_chunk`] | the sizes of a chunk that is about to be replaced or deleted |
//! | [`sequential`] | frames that are written from the start to the end, or read from any stream |

mod block_source;
mod chunk_files;
pub(crate) mod disk;
pub(crate) mod durability;
pub(crate) mod fetch;
pub(crate) mod frame;
mod inner;
pub(in crate::frame) mod journal;
mod kept_units;
mod lazy_form;
pub(crate) mod load;
mod old_bytes;
mod old_chunk;
pub(crate) mod sequential;
mod staged;
pub(crate) mod status;
pub(crate) mod trailing;
pub(in crate::frame) mod transaction;
mod undo_log;
mod verify;
pub(crate) mod writer;

pub(crate) use frame::{Destination, Frame, FrameContents};
