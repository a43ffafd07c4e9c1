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

pub mod disk;
pub mod fetch;
pub mod header;
pub mod index;
pub mod metalayers;
pub mod msgpack;
pub mod plan;
pub mod store;
pub mod trailer;
pub mod undo;
pub mod writer;

pub use header::FrameKind;

#[cfg(test)]
mod tests;
