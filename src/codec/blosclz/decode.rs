//! The decoder (`codecs.md` 3.2). Streams are untrusted: whatever they say, nothing outside the two slices is
//! touched, and a bad one gives 0.
//!
//! Tokens far enough from both ends go through [`State::fast`], which copies in fixed sizes and may write bytes
//! that later tokens overwrite; the others through [`State::careful`], which is safe code.

use super::copy::{COPY_MARGIN, copy, copy_exact, copy_long, copy_short};
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

/// What the fast loop may read from a token's first byte on: the control byte and a whole run of literals (a match
/// without length extension has 4 bytes at most); and one byte more, so that input remains after it.
const IN_MARGIN: usize = 1 + MAX_LITERALS + 1;
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

    /// Tokens as long as both ends are far enough for copies of fixed size.
    #[inline(always)]
    fn fast(&mut self) -> Option<()> {
        let Some(in_end) = self.src.len().checked_sub(IN_MARGIN) else { return Some(()) };
        let capacity = self.dest.len();
        let Some(out_end) = capacity.checked_sub(COPY_MARGIN) else { return Some(()) };
        let src = self.src.as_ptr();
        let dest = self.dest.as_mut_ptr();
        let (mut ip, mut op) = (self.ip, self.op);
        while ip <= in_end && op <= out_end {
            // Here `ip + IN_MARGIN` bytes of input and `op + COPY_MARGIN` of output exist.
            // SAFETY: `ip` is within the input, by the loop's condition.
            let control = unsafe { *src.add(ip) } as usize;
            if control < MAX_LITERALS {
                // SAFETY: the margins hold a control byte and 32 bytes of input, and 32 bytes of output.
                unsafe { copy::<32>(src.add(ip + 1), dest.add(op)) };
                ip += control + 2;
                op += control + 1;
                continue;
            }
            if control < LONG_CODE << 5 {
                // SAFETY: the input margin holds the longest such token, of 4 bytes.
                let mut distance = (control % 32) << 8 | unsafe { *src.add(ip + 1) } as usize;
                ip += 2;
                if distance == NEAR_DISTANCE {
                    // SAFETY: as above.
                    let (high, low) = unsafe { (*src.add(ip), *src.add(ip + 1)) };
                    distance += (high as usize) << 8 | low as usize;
                    ip += 2;
                }
                distance += 1;
                if distance > op {
                    return None;
                }
                // SAFETY: `distance` bytes come before `op`, and the output margin after it holds the copy.
                unsafe { copy_short(dest.add(op), distance) };
                op += (control >> 5) + 2;
                continue;
            }
            self.ip = ip + 1;
            let found = self.match_token(control)?;
            ip = self.ip;
            if found.length > capacity - op || found.distance > op {
                return None;
            }
            if ip == self.src.len() {
                break;
            }
            // SAFETY: `distance` bytes come before `op`, and `length` after it, with the output margin for the first
            // kind of copy.
            unsafe {
                if op + found.length <= out_end {
                    copy_long(dest.add(op), found.distance, found.length);
                } else {
                    copy_exact(dest.add(op), found.distance, 0, found.length);
                }
            }
            op += found.length;
        }
        (self.ip, self.op) = (ip, op);
        Some(())
    }
}
