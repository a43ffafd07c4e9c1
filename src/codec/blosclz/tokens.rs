//! Writes the tokens of a BloscLZ stream (`codecs.md` 3.2).

use super::format::{EXTENDED_LENGTH_CODE, MAX_LITERALS, MAX_NEAR_DISTANCE};

/// The difference between the number of bytes of a match and its coded length.
const CODED_BIAS: usize = 2;
/// The low five bits of the control byte if the distance is stored in two bytes at the end of the token.
const FAR_BITS: u32 = 31;
/// The coded length from which a second extension byte is needed.
const TWO_EXTENSION_BYTES_MIN: usize = EXTENDED_LENGTH_CODE + 255;
/// Room, in bytes, for a literal token, a match token written as a word, and one byte that the reference requires.
const SHORT_TOKENS: usize = 1 + MAX_LITERALS + 8 + 1;

/// A match: `coded_len + CODED_BIAS` bytes from `start` on are equal to those `distance` bytes before.
#[derive(Clone, Copy)]
pub(super) struct EncoderMatch {
    pub start: usize,
    pub distance: usize,
    pub coded_len: usize,
}

impl EncoderMatch {
    /// Returns whether the distance needs two more bytes.
    pub(super) fn is_far(&self) -> bool {
        self.distance > MAX_NEAR_DISTANCE
    }

    /// Returns the first position after the match.
    pub(super) fn end(&self) -> usize {
        self.start + self.coded_len + CODED_BIAS
    }
}

/// Writes the stream of an input.
pub(super) struct TokenWriter<'a> {
    input: &'a [u8],
    dest: &'a mut [u8],
    /// The length of the stream so far.
    written: usize,
    /// The number of bytes of `input` that are in the stream.
    consumed: usize,
}

impl<'a> TokenWriter<'a> {
    pub(super) fn new(input: &'a [u8], dest: &'a mut [u8]) -> Self {
        TokenWriter { input, dest, written: 0, consumed: 0 }
    }

    /// Returns the position in `input` from which on a literal run since the last match does not fit into `dest`.
    pub(super) fn literal_limit(&self) -> usize {
        self.consumed + (self.dest.len() - self.written)
    }

    /// Writes the literals before `found`, which begins at or after the end of the last match, and its token. Returns
    /// `None` if they do not fit.
    #[inline(always)]
    pub(super) fn write(&mut self, found: EncoderMatch) -> Option<()> {
        self.written = self.write_short(found).or_else(|| {
            let literals_end =
                write_literals(self.dest, self.written, self.input, self.consumed, found.start)?;
            write_match(self.dest, literals_end, found)
        })?;
        self.consumed = found.end();
        Some(())
    }

    /// Writes up to 32 literals and a match with at most one extension byte, and returns the position behind them;
    /// `None` for others, and near the ends of the buffers.
    ///
    /// Whether there are literals between two matches, and their number, are often random: no branch depends on them.
    #[inline(always)]
    fn write_short(&mut self, found: EncoderMatch) -> Option<usize> {
        let count = found.start - self.consumed;
        if count > MAX_LITERALS || found.coded_len >= TWO_EXTENSION_BYTES_MIN {
            return None;
        }
        let room = self.dest.get_mut(self.written..)?.first_chunk_mut::<SHORT_TOKENS>()?;
        let literals = self.input.get(self.consumed..)?.first_chunk::<MAX_LITERALS>()?;
        room[0] = count.wrapping_sub(1) as u8;
        room[1..=MAX_LITERALS].copy_from_slice(literals);
        let token = count + usize::from(count > 0);
        let (high, low) = distance_bytes(found);
        let token_len = if found.coded_len < EXTENDED_LENGTH_CODE {
            let bytes = (found.coded_len as u32) << 5 | high | low << 8;
            room[token..token + 4].copy_from_slice(&bytes.to_le_bytes());
            2
        } else {
            let head =
                ((found.coded_len - EXTENDED_LENGTH_CODE) << 8 | EXTENDED_LENGTH_CODE << 5) as u32 | high;
            room[token..token + 8].copy_from_slice(&(u64::from(head) | u64::from(low) << 16).to_le_bytes());
            3
        };
        Some(self.written + token + token_len + 2 * usize::from(found.is_far()))
    }

    /// Writes the rest of the input as literals and returns the length of the stream; `None` if it does not fit.
    pub(super) fn finish(self) -> Option<usize> {
        let written = write_literals(self.dest, self.written, self.input, self.consumed, self.input.len())?;
        self.dest[0] |= 0x20;
        Some(written)
    }
}

/// Writes `input[start..end]` as literal tokens at `at`, and returns the position behind them; `None` if they do not
/// fit. Like the reference, requires one more byte of room than the tokens have.
#[inline(never)]
fn write_literals(
    dest: &mut [u8],
    mut at: usize,
    input: &[u8],
    mut start: usize,
    end: usize,
) -> Option<usize> {
    let count = end - start;
    if count == 0 {
        return Some(at);
    }
    if at + count + count.div_ceil(MAX_LITERALS) + 1 > dest.len() {
        return None;
    }
    while start < end {
        let run = (end - start).min(MAX_LITERALS);
        dest[at] = (run - 1) as u8;
        at += 1;
        // A copy of fixed size is faster than one of the exact size, where both buffers are long enough.
        match (dest.get_mut(at..at + MAX_LITERALS), input.get(start..start + MAX_LITERALS)) {
            (Some(to), Some(from)) => to.copy_from_slice(from),
            _ => dest[at..at + run].copy_from_slice(&input[start..start + run]),
        }
        at += run;
        start += run;
    }
    Some(at)
}

/// Returns the five bits of the distance in the control byte, and the distance bytes behind the length: one, or three
/// if the match is far. Computed without a branch on the distance.
#[inline(always)]
fn distance_bytes(found: EncoderMatch) -> (u32, u32) {
    let distance = found.distance as u32 - 1;
    let more = (distance.wrapping_sub(MAX_NEAR_DISTANCE as u32) as u16).swap_bytes();
    if found.is_far() { (FAR_BITS, 255 | u32::from(more) << 8) } else { (distance >> 8, distance & 255) }
}

/// Writes a match token at `at`, and returns the position behind it; `None` if it does not fit. There must also be
/// room for the next token's control byte.
#[inline(never)]
fn write_match(dest: &mut [u8], mut at: usize, found: EncoderMatch) -> Option<usize> {
    let (code, rest) = match found.coded_len.checked_sub(EXTENDED_LENGTH_CODE) {
        Some(rest) => (EXTENDED_LENGTH_CODE, Some(rest)),
        None => (found.coded_len, None),
    };
    let (high, low) = distance_bytes(found);
    let low_bytes = if found.is_far() { 3 } else { 1 };
    let size = 1 + rest.map_or(0, |rest| rest / 255 + 1) + low_bytes;
    if at + size + 1 > dest.len() {
        return None;
    }
    dest[at] = (code << 5) as u8 | high as u8;
    at += 1;
    if let Some(rest) = rest {
        dest[at..at + rest / 255].fill(255);
        at += rest / 255;
        dest[at] = (rest % 255) as u8;
        at += 1;
    }
    dest[at..at + low_bytes].copy_from_slice(&low.to_le_bytes()[..low_bytes]);
    Some(at + low_bytes)
}
