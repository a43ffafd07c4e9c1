//! Whether near and far matches take turns in a block, for the kernels that can do without a guess.
//!
//! Owns the look ahead. Copies nothing.

#![forbid(unsafe_code)]

use super::{MORE, Walk, length};

/// Bytes at the start of a window that are looked at for near matches: so many, and so much of a long window. With one for
/// each so many bytes near and far are mixed.
const SAMPLE: usize = 64;
const SAMPLE_OF_WINDOW: usize = 64;
const NEAR_FOR_EACH: usize = 32;
/// Shorter rests of a block are not worth a look.
const LONG: usize = 1024;

/// Whether matches so near that they repeat take turns with others in the next window of `src`.
pub(super) fn are_near(src: &[u8], walk: &Walk) -> bool {
    let mut at = walk.at;
    if src.len() - at <= LONG {
        return false;
    }
    let sample = SAMPLE.max(walk.window / SAMPLE_OF_WINDOW);
    let (mut near, end) = (0, at.saturating_add(sample).min(src.len()));
    while let Some(&token) = src[..end].get(at)
        && token >> 4 < MORE as u8
    {
        at += 1 + usize::from(token >> 4);
        let Some(&[low, high]) = src.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        near += usize::from(u16::from_le_bytes([low, high]) < 8);
        at += 2;
        if token & 0xf == MORE as u8 && length(src, &mut at, MORE).is_none() {
            break;
        }
    }
    near >= sample / NEAR_FOR_EACH
}
