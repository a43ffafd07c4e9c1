//! The bytes of a frame, and the effect of a change on them.
//!
//! | module | contents |
//! |---|---|
//! | [`header`] | the header: its 87 fixed bytes, parsed and written |
//! | [`metalayers`] | the section of metalayers that header and trailer have in common |
//! | [`array_meta`] | the metalayer of an array, and the chunks that it requires |
//! | [`trailer`] | the trailer and where it begins |
//! | [`index`] | the index chunk: the location of each chunk |
//! | [`msgpack`] | the msgpack values of header and trailer |
//! | [`checksums`] | the checksums of all parts of a frame |
//! | [`chunk_checksums`] | the checksums of the chunks, and their changes |
//! | [`units`] | the checksums of the units of a chunk |
//! | [`chunk_info`] | the fields of a chunk header that super-chunks use |
//! | [`mod@change`] | the changes of a frame |
//! | [`plan`] | the effect of a change on a frame: images of its parts, and their offsets |
//! | [`space`] | the use of the bytes of a file |
//!
//! All modules are pure functions of bytes: they do no I/O, check every field that they read, and never panic.

pub(crate) mod array_meta;
pub(crate) mod change;
pub(crate) mod checksums;
pub(in crate::frame) mod chunk_checksums;
pub(crate) mod chunk_info;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod metalayers;
pub(crate) mod msgpack;
pub(crate) mod plan;
pub(in crate::frame) mod space;
pub(crate) mod trailer;
pub(in crate::frame) mod units;
