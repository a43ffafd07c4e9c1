//! Snappy streams (`blosc1.md` 5.5), which only chunks of Blosc 1 have. The codec has no levels.
//!
//! Owns the encoder and the buffer of a thread; the format is that of the crate `snap`.

use crate::error::Result;
use crate::fallible::{self, get_or_make};

/// The version of the Snappy format library whose streams the crate writes.
pub(super) const VERSION: &str = "1.1.8";

/// The states of one thread.
#[derive(Default)]
pub(super) struct SnappyWorkspace {
    encoder: Option<Box<snap::raw::Encoder>>,
    /// Room for streams that may be longer than the destination.
    stream: Vec<u8>,
}

/// Compresses `src`. Returns the length in bytes; 0 if the result does not fit into `dest`.
pub(super) fn compress(state: &mut SnappyWorkspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    // 0 for content that is too long for a stream.
    let max_len = snap::raw::max_compress_len(src.len());
    let encoder = get_or_make(&mut state.encoder, || fallible::try_box(snap::raw::Encoder::new()))?;
    if max_len <= dest.len() {
        return Ok(encoder.compress(src, dest).unwrap_or(0));
    }
    // The encoder needs room for the longest possible stream, although it is rarely that long.
    let missing = max_len.saturating_sub(state.stream.len());
    fallible::reserve(&mut state.stream, missing)?;
    state.stream.resize(max_len.max(state.stream.len()), 0);
    let len = encoder.compress(src, &mut state.stream).unwrap_or(0);
    let Some(room) = dest.get_mut(..len) else { return Ok(0) };
    room.copy_from_slice(&state.stream[..len]);
    Ok(len)
}

/// Decompresses `src`. Returns the length of the content in bytes; 0 for an invalid stream, and for content that is
/// longer than `dest`.
pub(super) fn decompress(src: &[u8], dest: &mut [u8]) -> usize {
    snap::raw::Decoder::new().decompress(src, dest).unwrap_or(0)
}
