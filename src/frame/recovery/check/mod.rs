//! Checking a frame on disk, part by part. Nothing is changed, and each damaged part is reported.
//!
//! | module | contents |
//! |---|---|
//! | [`files`] | the files of a frame, opened for reading |
//! | [`parts`] | reading and checking header, metalayers, trailer, index and special chunks |
//! | [`chunks`] | reading and checking stored chunks |
//! | [`overlap`] | chunks that extend into the next one |
//! | [`table`] | the checksums of the parts |
//! | [`report`] | the description of a damaged part, and its report |
//! | [`walk`] | the check of all chunks |
//! | [`mod@array`] | the comparison of the chunks with the shape of an array |
//! | [`verify`] | the check of a whole frame |
//!
//! A frame with a table of checksums (`frame.md` 2.14) is compared with it, where readers do so. Each damaged part is
//! reported once; its cause is the error that a read returns.
//!
//! The parts are read independently of each other, with the checks and the error codes of opening and reading a frame
//! (`frame.md` 4), so that a damaged part does not hide the others. Memory is allocated only for bytes that the files
//! have, and for the index, for which [`index::decode`](crate::frame::format::index::decode) has a limit.

mod array;
pub(crate) mod chunks;
pub(crate) mod files;
pub(crate) mod overlap;
pub(crate) mod parts;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod verify;
mod walk;
