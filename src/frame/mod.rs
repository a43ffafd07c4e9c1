//! Frames (`frame.md`): the serialised form of a super-chunk, as one contiguous byte sequence or as a directory of
//! files. In this module, "the reference" is C-Blosc2 3.3.5, and "native" files are plain files of the operating
//! system, without mapping and callbacks.
//!
//! | module | contents |
//! |---|---|
//! | [`header`] | the header: its 87 fixed bytes, parsed and written |
//! | [`metalayers`] | the section of metalayers that header and trailer have in common |
//! | [`trailer`] | the trailer and where it begins |
//! | [`index`] | the index chunk: the location of each chunk |
//! | [`msgpack`] | the msgpack values of header and trailer |
//! | [`plan`] | the effect of a change on a frame: images of its parts, and their offsets |
//! | [`writer`], [`undo`] | executing a plan in place; reverting a plan that failed |
//! | [`undo_log`], [`spill`] | reverting several plans; the bytes that are kept for that |
//! | [`checksums`] | the checksums of all parts of a frame |
//! | [`durability`] | what a change leaves if the process dies |
//! | [`staged`], [`space`] | changes that are there completely or not at all; the use of the bytes of a file |
//! | [`journal`] | undoing a commit of several sectors whose writer has died |
//! | [`transaction`] | changes one by one or several as one, by either of the two |
//! | [`disk`] | the files of a frame |
//! | [`trailing`] | whether other data follow a frame in its file |
//! | [`load`] | reading the parts of a frame other than its chunks |
//! | [`store`], [`fetch`] | a frame as a store of chunks: opening it; reading chunks |
//! | [`status`] | whether another handle has changed the frame |
//! | [`verify`] | checking the parts of a frame by its checksums |
//! | [`check`], [`repair`] | checking all parts of a frame on disk; saving its whole parts into a new frame |
//! | [`sequential`] | frames that are written from the start to the end, or read from any stream |
//! | [`chunk_info`] | the fields of a chunk header that super-chunks use |
//!
//! All modules except `writer`, `undo`, `undo_log`, `spill`, `staged`, `journal`, `transaction`, `disk`, `load`,
//! `store`, `status`, `verify`, `fetch`, `check` and `repair` are pure functions of bytes: they do no I/O, check every
//! field that they read, and never panic.

pub(crate) mod check;
pub(crate) mod checksums;
pub(crate) mod chunk_info;
pub(crate) mod disk;
pub(crate) mod durability;
pub(crate) mod fetch;
pub(crate) mod header;
pub(crate) mod index;
mod journal;
pub(crate) mod load;
pub(crate) mod metalayers;
pub(crate) mod msgpack;
pub(crate) mod plan;
pub(crate) mod repair;
pub(crate) mod sequential;
mod space;
mod spill;
mod staged;
pub(crate) mod status;
pub(crate) mod store;
pub(crate) mod trailer;
pub(crate) mod trailing;
mod transaction;
pub(crate) mod undo;
mod undo_log;
mod verify;
pub(crate) mod writer;

pub(crate) use header::FrameKind;
pub(crate) use transaction::FrameSavepoint;

#[cfg(test)]
mod tests;
