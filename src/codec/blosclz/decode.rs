//! The decoder (`codecs.md` 3.2). Streams are untrusted: whatever they say, nothing outside the two slices is
//! touched, and a bad one gives 0.
//!
//! Tokens far enough from both ends go through [`State::fast`], which copies in fixed sizes and may write bytes
//! that later tokens overwrite; the others through [`State::careful`], which is safe code.

mod kernel;

use super::{LONG_CODE, MAX_LITERALS, NEAR_DISTANCE};
use crate::codec::match_copy::copy_match_checked;
use kernel::READ_AHEAD;

/// Decompresses the whole of `src` into `dest` and returns the number of bytes produced; 0 when the stream is bad
/// or does not fit. Bytes of `dest` beyond the result may have been written.
#[cfg(test)]
pub(crate) fn decompress(src: &[u8], dest: &mut [u8]) -> usize {
    let (src_len, dest_len) = (src.len(), dest.len());
    decompress_ahead(src, src_len, dest, dest_len)
}

/// As [`decompress`] of the first `src_len` bytes of `src` into the first `dest_len` of `dest`. What lies behind them
/// is room to read and write ahead: the bytes of `dest` there are garbage afterwards.
///
/// # Panics
/// If the buffers are shorter than that.
pub(crate) fn decompress_ahead(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::run, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decompresses `src` into `dest`, which has room for all of it, until the first `wanted` bytes are there; how many are, 0
/// for a stream that is bad up to there. What comes behind them is not looked at.
pub(crate) fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    let dest_len = dest.len();
    decode(kernel::run, src, src.len(), dest, dest_len, wanted).filter(|&there| there >= wanted).unwrap_or(0)
}

/// The same as [`decompress_ahead`], without the form of the fast loop for this processor.
#[cfg(test)]
pub(super) fn decompress_portable(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::run_portable, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decodes a stream, or its tokens until there are `enough` bytes, with one form of the fast loop.
#[inline]
fn decode(
    run: impl Fn(&mut State<'_>) -> Option<()>,
    ahead: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    enough: usize,
) -> Option<usize> {
    assert!(dest_len <= dest.len());
    let src = &ahead[..src_len];
    let mut state = State { src, ahead, dest, dest_len, enough, ip: 0, op: 0 };
    run(&mut state)?;
    state.rest(run)
}

/// A match token but for its first byte.
struct Match {
    length: usize,
    distance: usize,
}

/// How much of the input is consumed, `ip`, and how much output there is, `op`.
struct State<'a> {
    src: &'a [u8],
    /// The stream, and what may be read behind it.
    ahead: &'a [u8],
    /// The output, and what may be written behind it.
    dest: &'a mut [u8],
    dest_len: usize,
    /// With so many bytes of output there is no need for more.
    enough: usize,
    ip: usize,
    op: usize,
}

/// So many of the last bytes of a stream are copied where there is room to read ahead.
const TAIL: usize = 2 * READ_AHEAD;

impl State<'_> {
    /// Returns the control byte of the token at `ip`, which is inside the stream.
    #[inline(always)]
    fn control(&self) -> usize {
        let control = usize::from(self.src[self.ip]);
        // The first token is always literals.
        if self.op == 0 { control % MAX_LITERALS } else { control }
    }

    /// A run of literals, whose control byte is already consumed.
    #[inline(always)]
    fn literals(&mut self, run: usize) -> Option<()> {
        let from = self.src.get(self.ip..self.ip + run)?;
        self.dest[..self.dest_len].get_mut(self.op..self.op + run)?.copy_from_slice(from);
        self.ip += run;
        self.op += run;
        Some(())
    }

    /// Reads what follows the control byte of a match.
    #[inline(always)]
    fn match_token(&mut self, control: usize) -> Option<Match> {
        let mut length = control >> 5;
        if length == LONG_CODE {
            loop {
                // Two bytes must remain, so that the low distance byte is there whichever extension byte is the last.
                let &[extension, _, ..] = self.src.get(self.ip..)? else { return None };
                self.ip += 1;
                length = length.checked_add(extension as usize)?;
                if extension != 255 {
                    break;
                }
            }
        } else if self.src.len() - self.ip < 2 {
            return None;
        }
        let low = self.src[self.ip] as usize;
        self.ip += 1;
        let mut distance = (control % 32) << 8 | low;
        if distance == NEAR_DISTANCE {
            let &[high, low, ..] = self.src.get(self.ip..)? else { return None };
            self.ip += 2;
            distance += (high as usize) << 8 | low as usize;
        }
        Some(Match { length: length + 2, distance: distance + 1 })
    }

    /// One token, with every check and copies of the exact size.
    #[inline(never)]
    fn careful(&mut self) -> Option<()> {
        let control = self.control();
        self.ip += 1;
        if control < MAX_LITERALS {
            return self.literals(control + 1);
        }
        let found = self.match_token(control)?;
        if found.length > self.dest_len - self.op || found.distance > self.op {
            return None;
        }
        // A match that ends the input is checked but not copied.
        if self.ip < self.src.len() {
            copy_match_checked(self.dest, self.op, found.distance, found.length)?;
            self.op += found.length;
        }
        Some(())
    }

    /// What the fast loop has left for want of room; how much output there is then.
    ///
    /// Out of line, or that loop would suffer.
    #[inline(never)]
    fn rest(&mut self, run: impl Fn(&mut State<'_>) -> Option<()>) -> Option<usize> {
        let rest = &self.src[self.ip..];
        let is_limited = self.ahead.len() - self.ip < TAIL;
        if is_limited && !rest.is_empty() && rest.len() <= TAIL && self.op < self.enough {
            // The last stream of a chunk: from a copy with room behind it.
            let mut copy = [0; TAIL + READ_AHEAD];
            copy[..rest.len()].copy_from_slice(rest);
            let mut end = State { src: &copy[..rest.len()], ahead: &copy, dest: self.dest, ip: 0, ..*self };
            run(&mut end)?;
            self.ip += end.ip;
            self.op = end.op;
        }
        while self.ip < self.src.len() && self.op < self.enough {
            self.careful()?;
        }
        Some(self.op)
    }
}
