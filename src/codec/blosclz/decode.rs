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
/// What a copy of fixed size may write: a run of literals or a short match from its beginning, a long match beyond
/// its end.
const OUT_MARGIN: usize = 64;
/// Up to this length copies are done in line; longer ones are worth the call of `memcpy`.
const NEAR_COPY: usize = 256;

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
        let Some(out_end) = self.dest.len().checked_sub(OUT_MARGIN) else { return Some(()) };
        let src = self.src.as_ptr();
        let dest = self.dest.as_mut_ptr();
        let (mut ip, mut op) = (self.ip, self.op);
        while ip <= in_end && op <= out_end {
            // Here `ip + IN_MARGIN` bytes of input and `op + OUT_MARGIN` of output exist.
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
            if found.length > self.dest.len() - op || found.distance > op {
                return None;
            }
            if ip == self.src.len() {
                break;
            }
            if op + found.length > out_end {
                self.op = op;
                self.copy_exactly(&found);
            } else {
                // SAFETY: `distance` bytes come before `op`, `length` and the output margin after it.
                unsafe { copy_long(dest.add(op), found.distance, found.length) };
            }
            op += found.length;
        }
        (self.ip, self.op) = (ip, op);
        Some(())
    }
}

/// Copies `N` bytes.
///
/// # Safety
/// `N` bytes at both places; where they overlap the old bytes of `from` are copied.
#[inline(always)]
unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise. Arrays of bytes have no alignment.
    unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) }
}

/// Eight bytes that repeat the first `distance` of `v`, for `distance` < 8.
#[inline(always)]
fn repeat(v: u64, distance: usize) -> u64 {
    /// The sum of `256^(distance * k)` below `2^64`: multiplying by it repeats `distance` bytes.
    const REPEAT: [u64; 8] = {
        let mut table = [0; 8];
        let mut distance = 1;
        while distance < 8 {
            let mut at = 0;
            while at < 8 {
                table[distance] |= 1 << (8 * at);
                at += distance;
            }
            distance += 1;
        }
        table
    };
    (v & ((1 << (8 * distance)) - 1)).wrapping_mul(REPEAT[distance & 7])
}

/// Copies 8 bytes to `to` from `distance` bytes before.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, 8 after it.
#[inline(always)]
unsafe fn copy_short(to: *mut u8, distance: usize) {
    // SAFETY: the caller's promise: the bytes read lie between `to - distance` and `to + 8`.
    unsafe {
        let mut v = u64::from_le_bytes(to.sub(distance).cast::<[u8; 8]>().read());
        if distance < 8 {
            v = repeat(v, distance);
        }
        to.cast::<[u8; 8]>().write(v.to_le_bytes());
    }
}

/// Copies `length` bytes to `to` from `distance` bytes before, and may write [`OUT_MARGIN`] more.
///
/// Small distances are written from registers: loading what narrower stores have just written would cost more
/// than the copy itself.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, `length + OUT_MARGIN` after it.
#[inline(always)]
unsafe fn copy_long(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: the caller's promise; each arm is for distances that its function allows.
    unsafe {
        let near = length.min(NEAR_COPY);
        let done = match distance {
            0..8 => copy_small_period(to, distance, near),
            8..16 => copy_period::<8>(to, distance, near),
            16..32 => copy_period::<16>(to, distance, near),
            32..64 => copy_period::<32>(to, distance, near),
            _ if length > NEAR_COPY => 0,
            _ => {
                let mut done = 0;
                while done < length {
                    copy::<32>(to.sub(distance).add(done), to.add(done));
                    done += 32;
                }
                return;
            }
        };
        if done < length {
            copy_rest(to, distance, done, length);
        }
    }
}

/// The rest of a long copy of which `done` bytes, some multiple of `distance`, are there already. Writes
/// nothing beyond `length`.
///
/// # Safety
/// `distance` >= 1 bytes before `to`, `length` after it, the first `done` of them written.
#[inline(never)]
unsafe fn copy_rest(to: *mut u8, distance: usize, mut done: usize, length: usize) {
    // SAFETY: the caller's promise. What is read lies between `to - distance` and `to + done`, what is
    // written between there and `to + length`: they don't overlap.
    unsafe {
        let from = to.sub(distance);
        if distance == 1 {
            to.add(done).write_bytes(*from, length - done);
            return;
        }
        // Each copy doubles the bytes that the next can take, whole periods all of them.
        while done < length {
            let part = (distance + done).min(length - done);
            to.add(done).copy_from_nonoverlapping(from, part);
            done += part;
        }
    }
}

/// Writes the `distance` bytes before `to` again and again until `length` bytes are there, and perhaps `distance`
/// more. Returns how many whole periods of bytes are written.
///
/// # Safety
/// `N` <= `distance` <= `2 * N`, `distance` bytes before `to`, `length + distance` after it.
#[inline(always)]
unsafe fn copy_period<const N: usize>(to: *mut u8, distance: usize, length: usize) -> usize {
    // SAFETY: the caller's promise: the two parts, which overlap or touch, lie before `to` and make a whole period.
    unsafe {
        let head = to.sub(distance).cast::<[u8; N]>().read();
        let tail = to.sub(N).cast::<[u8; N]>().read();
        let mut done = 0;
        while done < length {
            to.add(done).cast::<[u8; N]>().write(head);
            to.add(done + distance - N).cast::<[u8; N]>().write(tail);
            done += distance;
        }
        done
    }
}

/// As [`copy_period`], for distances below 8; may write 32 bytes more.
///
/// # Safety
/// 1 <= `distance` < 8, `distance` bytes before `to`, `length + 32` after it.
#[inline(always)]
unsafe fn copy_small_period(to: *mut u8, distance: usize, length: usize) -> usize {
    // SAFETY: the caller's promise. The 8 bytes read begin before `to`, and at least 8 come after it.
    unsafe {
        let v = repeat(u64::from_le_bytes(to.sub(distance).cast::<[u8; 8]>().read()), distance).to_le_bytes();
        let mut done = 0;
        if distance.is_power_of_two() {
            while done < length {
                to.add(done).cast::<[[u8; 8]; 4]>().write([v; 4]);
                done += 32;
            }
        } else {
            while done < length {
                to.add(done).cast::<[u8; 8]>().write(v);
                // The whole periods in 8 bytes.
                done += if distance == 3 { 6 } else { distance };
            }
        }
        done
    }
}
