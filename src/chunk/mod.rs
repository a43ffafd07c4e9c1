//! The chunk format (`chunk.md` 1 and 2): headers, block geometry, block starts, streams, special chunks,
//! variable-length blocks, lazy trailers. Pure bytes: no threads, no codecs, no filters.
//!
//! Untrusted bytes are turned into checked types here; the rest of the crate takes those types.

#![forbid(unsafe_code)]

pub(crate) mod blocks;
pub(crate) mod class;
pub(crate) mod container;
pub(crate) mod dictionary;
pub(crate) mod format;
pub(crate) mod header;
pub(crate) mod lazy;
pub(crate) mod special;
mod stored;
pub(crate) mod stream;
pub(crate) mod varlen;

pub(crate) use blocks::Blocks;
pub(crate) use container::{BlockShape, Container};
pub(crate) use header::ChunkHeader;
pub(crate) use special::Special;
pub(crate) use stored::{LazyBlocks, StoredChunk};

/// The little-endian `i32` at `pos`; `None` when fewer than four bytes are left.
pub(crate) fn read_i32(bytes: &[u8], pos: usize) -> Option<i32> {
    let field = bytes.get(pos..pos.checked_add(4)?)?;
    Some(i32::from_le_bytes(field.try_into().ok()?))
}

/// Stores a little-endian `i32` at `pos`.
///
/// # Panics
/// If fewer than four bytes are left.
pub(crate) fn write_i32(bytes: &mut [u8], pos: usize, value: i32) {
    bytes[pos..pos + 4].copy_from_slice(&value.to_le_bytes());
}
