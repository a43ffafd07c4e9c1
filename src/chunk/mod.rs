//! The chunk format (`chunk.md` 1 and 2): headers, block geometry, block starts, streams, special chunks,
//! variable-length blocks, lazy trailers. This module only reads and writes bytes: it uses no threads, codecs or
//! filters.
//!
//! Untrusted bytes are parsed into checked types here; the rest of the crate uses those types.

#![forbid(unsafe_code)]

pub(crate) mod blocks;
mod bytes;
pub(crate) mod class;
pub(crate) mod container;
pub(crate) mod dictionary;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod lazy;
mod parsed;
pub(crate) mod special;
pub(crate) mod stream;
pub(crate) mod varlen;
pub(crate) mod zero_runs;

pub(crate) use blocks::BlockGeometry;
pub(crate) use bytes::{read_i32, write_i32};
pub(crate) use container::{BlockShape, Container};
pub(crate) use header::ChunkHeader;
pub(crate) use parsed::{LazyBlocks, ParsedChunk};
pub(crate) use special::SpecialValue;
