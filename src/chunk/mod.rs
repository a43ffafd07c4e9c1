//! The chunk format (`chunk.md` 1 and 2): headers, block geometry, block starts, streams, special chunks,
//! variable-length blocks, lazy trailers. Pure bytes: no threads, no codecs, no filters.
//!
//! Untrusted bytes are turned into checked types here; the rest of the crate takes those types.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod container;
pub mod dictionary;
pub mod format;
pub mod header;
pub mod lazy;
pub mod special;
pub mod stream;
pub mod varlen;

pub use blocks::Blocks;
pub use container::{BlockShape, Container};
pub use header::ChunkHeader;
pub use special::Special;

/// The little-endian `i32` at `pos`; `None` when fewer than four bytes are left.
pub fn read_i32(bytes: &[u8], pos: usize) -> Option<i32> {
    let field = bytes.get(pos..pos.checked_add(4)?)?;
    Some(i32::from_le_bytes(field.try_into().ok()?))
}

/// Stores a little-endian `i32` at `pos`.
///
/// # Panics
/// If fewer than four bytes are left.
pub fn write_i32(bytes: &mut [u8], pos: usize, value: i32) {
    bytes[pos..pos + 4].copy_from_slice(&value.to_le_bytes());
}
