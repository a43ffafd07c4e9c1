//! Frames (`frame.md`): a super-chunk as one stretch of bytes, or as a directory of files.
//!
//! | room | owns |
//! |---|---|
//! | [`header`] | the header: its 87 fixed bytes, parsed and written |
//! | [`metalayers`] | the section of metalayers that header and trailer have in common |
//! | [`trailer`] | the trailer and where it begins |
//! | [`index`] | the index chunk: where each chunk is |
//! | [`msgpack`] | the few msgpack forms that header and trailer are made of |
//!
//! | [`plan`] | what a change does to a frame: images, and where they go |
//! | [`writer`], [`undo`] | carrying out a plan in place; taking back one that failed |
//! | [`disk`] | the files of a frame |
//! | [`store`], [`fetch`] | a frame as a store of chunks: opening, changing; getting at chunks |
//!
//! All but the last three are pure functions of bytes: they do no I/O, trust no field that they read, and never panic.

pub(crate) mod disk;
pub(crate) mod fetch;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod metalayers;
pub(crate) mod msgpack;
pub(crate) mod plan;
pub(crate) mod store;
pub(crate) mod trailer;
pub(crate) mod undo;
pub(crate) mod writer;

pub(crate) use header::FrameKind;

#[cfg(test)]
mod tests;
