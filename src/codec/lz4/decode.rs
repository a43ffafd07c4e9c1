//! The decoder of LZ4 blocks, whole buffer to whole buffer, with or without a dictionary.
//!
//! Owns the loop over a block's sequences. For every input, it writes only inside the destination, and `None` is the
//! only kind of failure.
//!
//! An own implementation, because the C library copies the long runs of shuffled numbers eight bytes at a time.

mod format;
mod kernel;
mod progress;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::slice;

use crate::codec::match_copy::copy_match_checked;
use crate::tuning::tunable;

use format::{MIN_MATCH, read_length};
use kernel::{BLOCK_SLACK, READ_AHEAD, WRITE_AHEAD};
use progress::DecodeProgress;

pub(super) use progress::BlockWithSlack;

tunable! {
    /// Whether short blocks with few readable bytes behind them are copied into a longer buffer (docs/tuning.md).
    const COPIES_SMALL_BLOCKS: bool = true;
}

/// Blocks of up to this length, in bytes, are copied into a longer buffer first if too few readable bytes lie behind
/// them.
const MAX_SMALL_BLOCK: usize = 256;

/// Decodes all of `src` into the first `dest_len` bytes of `dest` and returns the number of bytes of the content.
/// Returns `None` if the block is bad or its content is longer. The bytes of `dest` behind the content may be
/// overwritten with garbage. Matches may reach back into `dictionary`, as if it lay before `dest`.
pub(super) fn decode_lz4_block(
    src: BlockWithSlack<'_>,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> Option<usize> {
    let has_slack = src.readable.len() - src.len >= BLOCK_SLACK;
    if src.len > MAX_SMALL_BLOCK || !(has_slack || COPIES_SMALL_BLOCKS.get()) {
        return decode_remaining(&src, dest, dest_len, dictionary, DecodeProgress::default());
    }
    if !has_slack {
        return decode_copied_small_block(&src.readable[..src.len], dest, dest_len, dictionary);
    }
    decode_small_block(&src, dest, dest_len, dictionary)
}

/// Decodes a short block with enough readable bytes behind it: the kernel can decode it to its end.
#[inline(always)]
fn decode_small_block(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> Option<usize> {
    let mut progress = DecodeProgress::default();
    kernel::decode_sequences(src, dest, &mut progress)?;
    if progress.at == src.len + 1 {
        return Some(progress.out).filter(|&out| out <= dest_len);
    }
    decode_remaining(src, dest, dest_len, dictionary, progress)
}

/// Decodes like [`decode_small_block`] a block with few readable bytes behind it, such as the last stream of a chunk.
/// Most of it would have to be decoded with every check, so it is copied into a longer buffer first.
#[inline(never)]
fn decode_copied_small_block(
    block: &[u8],
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> Option<usize> {
    // Uninitialised: zeroing all of it would take as long as decoding the block.
    let mut padded = [MaybeUninit::<u8>::uninit(); MAX_SMALL_BLOCK + BLOCK_SLACK];
    let (copy, behind) = padded.split_at_mut(block.len());
    // SAFETY: `copy` is as long as `block`.
    unsafe { copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(block.as_ptr(), block.len()) };
    behind[..BLOCK_SLACK].fill(MaybeUninit::new(0));
    // SAFETY: the first `block.len() + BLOCK_SLACK` bytes have just been written.
    let ahead = unsafe { slice::from_raw_parts(padded.as_ptr().cast::<u8>(), block.len() + BLOCK_SLACK) };
    decode_small_block(&BlockWithSlack { readable: ahead, len: block.len() }, dest, dest_len, dictionary)
}

fn decode_remaining(
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
    mut progress: DecodeProgress,
) -> Option<usize> {
    let block = &src.readable[..src.len];
    loop {
        // The fast loop needs WRITE_AHEAD writable bytes.
        if progress.out + WRITE_AHEAD <= dest.len() && progress.at + READ_AHEAD <= src.readable.len() {
            kernel::decode_sequences(src, dest, &mut progress)?;
            if progress.at == block.len() + 1 {
                return Some(progress.out).filter(|&out| out <= dest_len);
            }
        }
        // The fast loop stopped before a sequence that it does not handle: `decode_sequence` decodes it, to its
        // end or to the end of the block.
        match decode_sequence(block, dest, dest_len, dictionary, progress.at, progress.out)? {
            (next, written) if next == block.len() + 1 => return Some(written),
            next => (progress.at, progress.out) = next,
        }
    }
}

/// Decodes `block` into `dest`, which has room for all of its content, until the first `wanted` bytes of the content
/// are decoded. Returns the number of decoded bytes. The rest of the block is not read. Returns `None` if the block
/// is bad up to there, or ends too early.
pub(super) fn decode_prefix(block: &[u8], dest: &mut [u8], wanted: usize) -> Option<usize> {
    let mut progress = DecodeProgress::default();
    let src = BlockWithSlack { readable: block, len: block.len() };
    let (len, near) = (dest.len(), dest.len().min(wanted + WRITE_AHEAD));
    while progress.out < wanted {
        if progress.at + READ_AHEAD <= block.len() && progress.out + WRITE_AHEAD <= near {
            kernel::decode_sequences(&src, &mut dest[..near], &mut progress)?;
            if progress.out >= wanted {
                break;
            }
        }
        let next = decode_sequence(block, dest, len, &[], progress.at, progress.out)?;
        (progress.at, progress.out) = next;
        if progress.at == block.len() + 1 {
            break;
        }
    }
    Some(progress.out).filter(|out| (wanted..=len).contains(out))
}

/// Decodes the sequence at `src[at]` with every check, and returns the positions behind it. The last one has no
/// match: the position is then one more than there are bytes.
#[inline]
fn decode_sequence(
    src: &[u8],
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
    mut at: usize,
    mut out: usize,
) -> Option<(usize, usize)> {
    let token = usize::from(*src.get(at)?);
    at += 1;
    let literals = read_length(src, &mut at, token >> 4)?;
    let end = at.checked_add(literals)?;
    // The fast loop may have decoded more than `dest_len` bytes: `out` is then behind `dest_len`.
    dest[..dest_len].get_mut(out..out.checked_add(literals)?)?.copy_from_slice(src.get(at..end)?);
    out += literals;
    at = end;
    if at == src.len() {
        return Some((at + 1, out));
    }
    let distance = usize::from(u16::from_le_bytes(*src.get(at..)?.first_chunk::<2>()?));
    at += 2;
    let length = read_length(src, &mut at, token & 0xf)?.checked_add(MIN_MATCH)?;
    if distance == 0 || length > dest_len - out {
        return None;
    }
    // The part of the match that lies in the dictionary.
    let before = distance.saturating_sub(out).min(length);
    if before > 0 {
        let from = dictionary.len().checked_sub(distance - out)?;
        dest[out..out + before].copy_from_slice(dictionary.get(from..from + before)?);
    }
    if length > before {
        // Behind the dictionary's end comes the start of `dest`.
        copy_match_checked(dest, out + before, distance, length - before)?;
    }
    Some((at, out + length))
}
