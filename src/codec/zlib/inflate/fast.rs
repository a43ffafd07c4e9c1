//! The inner loop of the decoder: symbols, as long as both buffers have room to read and write ahead.
//!
//! Owns the unchecked reads and writes. Leaves every symbol near the end of a buffer to the checked path.

use std::ptr;

use crate::codec::match_copy::{MatchCopy, OVERSHOOT, copy_match};

use super::bit_reader::{BitReader, READ_AHEAD};
use super::table::{DistanceTable, LitlenTable};

/// The two decoding tables of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockTables<'a> {
    pub litlen: &'a LitlenTable,
    pub distance: &'a DistanceTable,
}

/// The reason why the loop stopped.
pub(super) enum StopReason {
    EndOfBlock,
    /// One of the buffers is nearly used up.
    NearEnd,
    /// A match that ends too near the end of the destination: it has been decoded, and not copied yet.
    Match {
        distance: usize,
        length: usize,
    },
}

/// The room, in bytes, for the literals of one round. The room for a match is checked separately.
const WRITE_AHEAD: usize = 8;

/// Returns whether a round may read and write ahead.
pub(super) fn has_room(bits: &BitReader, dest: &[u8], out: usize) -> bool {
    // A position beyond the end has no room either.
    bits.src.len().saturating_sub(bits.pos) >= READ_AHEAD && dest.len().saturating_sub(out) >= WRITE_AHEAD
}

/// Decodes symbols from `out` on until the block ends, or one of the buffers is nearly used up. Returns `None` if the
/// stream is invalid.
#[inline(always)]
pub(super) fn decode_symbols<P: MatchCopy>(
    codes: BlockTables,
    bits: &mut BitReader,
    dest: &mut [u8],
    mut out: usize,
) -> Option<(usize, StopReason)> {
    let BlockTables { litlen, distance: distance_table } = codes;
    let src = bits.src;
    if !has_room(bits, dest, out) {
        return Some((out, StopReason::NearEnd));
    }
    let (last_read, last_write) = (src.len() - READ_AHEAD, dest.len() - WRITE_AHEAD);
    let (mut pos, mut word, mut left) = (bits.pos, bits.word, bits.valid_bits);
    let base = dest.as_mut_ptr();
    // The greatest end of a match that is copied in wide steps; 0 if `dest` is too short for any.
    let last_wide = dest.len().saturating_sub(OVERSHOOT);

    // Only the low six bits of `left` are valid; the others, which entries change, are never used.
    macro_rules! refill {
        () => {
            // SAFETY: `pos` was at most `last_read` when the round began (or before the first), and a round
            // refills twice, each time stepping at most 7 bytes: the 8 bytes read lie within READ_AHEAD.
            let next = u64::from_le(unsafe { ptr::read_unaligned(src.as_ptr().add(pos).cast::<u64>()) });
            word |= next.wrapping_shl(left);
            pos += ((left ^ 63) >> 3 & 7) as usize;
            left = left & 7 | 56;
        };
    }
    macro_rules! consume {
        ($entry:expr) => {
            word = $entry.shift(word);
            left = $entry.subtract_from(left);
        };
    }
    macro_rules! literal {
        ($entry:expr) => {
            consume!($entry);
            // SAFETY: `out` was at most `last_write` when the round began, and a round writes fewer than
            // 8 literals.
            unsafe { base.add(out).write($entry.byte()) };
            out += 1;
        };
    }

    // The next entry is always looked up before the refill, which it does not need, and before the copy of the match in
    // front of it: the dependency chain from word to entry to word is the critical path.
    refill!();
    let mut entry = litlen.lookup(word);
    let stop = loop {
        if pos > last_read || out > last_write {
            break StopReason::NearEnd;
        }
        // At least 56 bits are left, and `entry` is the first of them.
        if entry.is_literal() {
            literal!(entry);
            entry = litlen.lookup(word);
            if entry.is_literal() {
                literal!(entry);
                entry = litlen.lookup(word);
                if entry.is_literal() {
                    literal!(entry);
                    // At least 23 bits are left: enough for an index, but not for a length and its distance.
                    entry = litlen.lookup(word);
                    refill!();
                    continue;
                }
            }
        }
        // At least 34 bits are left, and a length takes at most 20.
        if entry.is_special() {
            if entry.is_link() {
                consume!(entry);
                entry = litlen.lookup_second(entry, word);
                if entry.is_literal() {
                    literal!(entry);
                    entry = litlen.lookup(word);
                    refill!();
                    continue;
                }
            }
            if entry.is_special() {
                if !entry.is_end() {
                    return None;
                }
                consume!(entry);
                break StopReason::EndOfBlock;
            }
        }
        let length = entry.value(word);
        consume!(entry);
        // At least 14 bits are left: enough for an index.
        let mut far = distance_table.lookup(word);
        refill!();
        if far.is_special() {
            if !far.is_link() {
                return None;
            }
            consume!(far);
            far = distance_table.lookup_second(far, word);
            if far.is_special() {
                return None;
            }
        }
        let distance = far.value(word);
        consume!(far);
        entry = litlen.lookup(word);
        refill!();
        if distance > out {
            return None;
        }
        if out + length > last_wide {
            break StopReason::Match { distance, length };
        }
        // SAFETY: 1 <= `distance` <= `out`, so the match begins inside `dest`, and it ends OVERSHOOT bytes before the
        // end of `dest` or earlier.
        unsafe { copy_match::<P>(base.add(out), distance, length) };
        out += length;
    };
    (bits.pos, bits.word, bits.valid_bits) = (pos, word, left & 63);
    Some((out, stop))
}
