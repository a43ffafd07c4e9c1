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
//! | [`disk`] | the files of a frame |
//! | [`store`], [`fetch`] | a frame as a store of chunks: opening and changing it; reading chunks |
//!
//! All modules except `writer`, `undo`, `disk`, `store` and `fetch` are pure functions of bytes: they do no I/O, check
//! every field that they read, and never panic.

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
