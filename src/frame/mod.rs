//! Frames (`frame.md`): the serialised form of a super-chunk, as one contiguous byte sequence or as a directory of
//! files. In this module, "the reference" is C-Blosc2 3.3.5, and "native" files are plain files of the operating
//! system, without mapping and callbacks.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@format`] | the bytes of a frame, and the effect of a change on them: pure functions |
//! | [`store`] | a frame as a store of chunks, in memory, in a file or in a directory: reading and changing it |
//! | [`recovery`] | checking all parts of a frame on disk; saving its whole parts into a new frame |
//!
//! A module imports only those above it in the table.

pub(crate) mod format;
pub(crate) mod recovery;
pub(crate) mod store;

pub(crate) use format::header::FrameKind;
pub(crate) use store::transaction::FrameSavepoint;

#[cfg(test)]
mod tests;
