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
    let (src_len, dest_len) = (src.len(), dest.len());
    decompress_ahead(src, src_len, dest, dest_len)
}

/// As [`decompress`] of the first `src_len` bytes of `src` into the first `dest_len` of `dest`. What lies behind them
/// is room to read and write ahead: the bytes of `dest` there are garbage afterwards.
///
/// # Panics
/// If the buffers are shorter than that.
pub fn decompress_ahead(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decompresses `src` into `dest`, which has room for all of it, until the first `wanted` bytes are there; how many are, 0
/// for a stream that is bad up to there. What comes behind them is not looked at.
pub fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    let dest_len = dest.len();
    decode(src, src.len(), dest, dest_len, wanted).filter(|&there| there >= wanted).unwrap_or(0)
}

/// Decodes a stream, or its tokens until there are `enough` bytes.
#[inline]
fn decode(ahead: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize, enough: usize) -> Option<usize> {
    assert!(dest_len <= dest.len());
    let src = &ahead[..src_len];
    let mut state = State { src, ahead, dest, dest_len, enough, ip: 1, op: 0 };
    let first = *src.first()? as usize % MAX_LITERALS;
    state.first_literals(first + 1)?;
    state.fast()?;
    state.rest()
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

/// What the fast loop may read from a token's first byte on: the control byte and a whole run of literals (a match
/// without length extension has 4 bytes at most); and one byte more, so that input remains after it.
const IN_MARGIN: usize = 1 + MAX_LITERALS + 1;
/// So many of the last bytes of a stream are copied where there is room to read ahead.
const TAIL: usize = 2 * IN_MARGIN;

impl State<'_> {
    /// The literals that every stream begins with.
    #[inline(always)]
    fn first_literals(&mut self, run: usize) -> Option<()> {
        let has_room = self.ahead.len() > MAX_LITERALS && self.dest.len() >= MAX_LITERALS;
        if !has_room || run >= self.src.len() || run > self.dest_len {
            return self.literals(run);
        }
        // SAFETY: there are MAX_LITERALS bytes in both, from the second one of the input on.
        unsafe { copy::<MAX_LITERALS>(self.ahead.as_ptr().add(1), self.dest.as_mut_ptr()) };
        self.ip += run;
        self.op += run;
        Some(())
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
        let control = self.src[self.ip] as usize;
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

    /// What the fast loop has left for want of room; how much output there is then.
    ///
    /// Out of line, or that loop would suffer.
    #[inline(never)]
    fn rest(&mut self) -> Option<usize> {
        let rest = &self.src[self.ip..];
        let is_limited = self.ahead.len() - self.ip < IN_MARGIN;
        if is_limited && !rest.is_empty() && rest.len() <= TAIL && self.op < self.enough {
            // The last stream of a chunk: from a copy with room behind it.
            let mut copy = [0; TAIL + IN_MARGIN];
            copy[..rest.len()].copy_from_slice(rest);
            let mut end = State { src: &copy[..rest.len()], ahead: &copy, dest: self.dest, ip: 0, ..*self };
            end.fast()?;
            self.ip += end.ip;
            self.op = end.op;
        }
        while self.ip < self.src.len() && self.op < self.enough {
            self.careful()?;
        }
        Some(self.op)
    }

    /// Tokens as long as there is room behind both ends for copies of fixed size.
    #[inline(always)]
    fn fast(&mut self) -> Option<()> {
        let Some(in_end) = self.ahead.len().checked_sub(IN_MARGIN) else { return Some(()) };
        let capacity = self.dest.len();
        let Some(out_end) = capacity.checked_sub(COPY_MARGIN) else { return Some(()) };
        let src_len = self.src.len();
        // A token needs a byte of the stream.
        let in_end = in_end.min(src_len - 1);
        let src = self.ahead.as_ptr();
        let dest = self.dest.as_mut_ptr();
        let out_end = out_end.min(self.enough);
        let (mut ip, mut op) = (self.ip, self.op);
        while ip <= in_end && op <= out_end {
            // Here `ip + IN_MARGIN` bytes of input and `op + COPY_MARGIN` of output exist, in the stream or behind it.
            // SAFETY: `ip` is within the input, by the loop's condition.
            let control = unsafe { *src.add(ip) } as usize;
            if control < MAX_LITERALS {
                if control + 2 > src_len - ip {
                    return None;
                }
                // SAFETY: the margins hold a control byte and 32 bytes of input, and 32 bytes of output.
                unsafe { copy::<32>(src.add(ip + 1), dest.add(op)) };
                ip += control + 2;
                op += control + 1;
                continue;
            }
            if control < LONG_CODE << 5 {
                // SAFETY: the input margin holds the longest such token, of 4 bytes.
                let mut distance = (control % 32) << 8 | unsafe { *src.add(ip + 1) } as usize;
                let mut next = ip + 2;
                if distance == NEAR_DISTANCE {
                    // SAFETY: as above.
                    let (high, low) = unsafe { (*src.add(next), *src.add(next + 1)) };
                    distance += (high as usize) << 8 | low as usize;
                    next += 2;
                }
                distance += 1;
                if next >= src_len {
                    // The last one, or cut off: that is for careful hands.
                    break;
                }
                if distance > op {
                    return None;
                }
                // SAFETY: `distance` bytes come before `op`, and the output margin after it holds the copy.
                unsafe { copy_short(dest.add(op), distance) };
                ip = next;
                op += (control >> 5) + 2;
                continue;
            }
            // One more byte for the length, and a distance in its usual place: most of them.
            // SAFETY: the input margin holds them.
            let (more, low) = unsafe { (*src.add(ip + 1) as usize, *src.add(ip + 2) as usize) };
            let (length, distance) = (LONG_CODE + more + 2, ((control % 32) << 8 | low) + 1);
            if more != 255 && distance <= NEAR_DISTANCE && op + length <= out_end {
                if ip + 3 >= src_len {
                    // As above.
                    break;
                }
                if distance > op {
                    return None;
                }
                // SAFETY: `distance` bytes come before `op`, and `length` after it, with the output margin.
                unsafe { copy_long(dest.add(op), distance, length) };
                ip += 3;
                op += length;
                continue;
            }
            self.ip = ip + 1;
            let found = self.match_token(control)?;
            if found.length > capacity - op || found.distance > op {
                return None;
            }
            if self.ip == src_len {
                break;
            }
            ip = self.ip;
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
        // Past the end there was only room.
        (op <= self.dest_len).then_some(())
    }
}
