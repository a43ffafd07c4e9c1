//! The decoder of LZ4 blocks, whole buffer to whole buffer, with or without a dictionary.
//!
//! Owns the walk over a block's sequences. Never writes past the destination and never fails in another way
//! than by `None`, whatever the input.
//!
//! Our own, because the C library copies the long runs of shuffled numbers eight bytes at a time.

#[cfg(target_arch = "x86_64")]
mod near;
#[cfg(test)]
mod tests;

use std::mem::MaybeUninit;
use std::slice;

#[cfg(target_arch = "x86_64")]
use crate::codec::match_copy::Avx2;
use crate::codec::match_copy::{
    OVERSHOOT, Periods, Portable, SHORT, copy_match, copy_match_checked, copy_short,
};

/// Literals that fit into a token, and the chunk they are copied in.
const SHORT_LITERALS: usize = 15;
const LITERAL_CHUNK: usize = 16;
/// The chunk that more literals are copied in, at most [`WRITE_AHEAD`].
const LONG_CHUNK: usize = 64;
/// More literals than this are worth a call of `memcpy`, which aligns its stores.
const MANY_LITERALS: usize = 256;
/// The length in a token's nibble that says that more bytes follow.
const MORE: usize = 15;
const MIN_MATCH: usize = 4;
/// What a round of the fast loop reads without asking: a token, a chunk of literals, an offset.
const READ_AHEAD: usize = 1 + LITERAL_CHUNK + 2;
/// The shortest sequence with a match: a token and an offset.
const SHORTEST: usize = 1 + 2;
/// What it writes without asking: short literals, a short match, and what its copy overshoots.
const WRITE_AHEAD: usize = SHORT_LITERALS + MIN_MATCH + MORE + OVERSHOOT;
// The longest match that fits into a token.
const _: () = assert!(MIN_MATCH + MORE - 1 == SHORT);

/// Bytes of a block that the fast loop takes before it looks what kind of sequences they were: at first, and once nothing
/// has changed for a while.
const WINDOW: usize = 2048;
const LONGEST_WINDOW: usize = 16 << 10;
/// Sequences are mixed once one byte of so many in a window is part of one that has literals.
const MIXED_FROM: usize = 6;

/// Blocks up to this length, in bytes, are copied where there is room to read ahead.
const SMALL: usize = 256;
/// The end of a longer block that is, if there is none behind it.
const TAIL: usize = 96;
/// What a block needs behind it so that all of it can be done fast.
const ROOM_BEHIND: usize = READ_AHEAD + LONG_CHUNK;

/// How far a block is decoded.
struct Walk {
    /// The position in the block, and that in its content. A position one behind the end tells that all is done.
    at: usize,
    out: usize,
    /// Whether sequences with and without literals take turns, as in text, so that nobody can foretell which is next.
    mixed: bool,
    /// Bytes of the block after which that is looked at again.
    window: usize,
}

impl Walk {
    const START: Walk = Walk { at: 0, out: 0, mixed: false, window: WINDOW };

    /// Goes on behind a window, or some of it. In place: what is handed out by value is read in larger pieces than it has
    /// been written in, and has to wait for that, which short blocks notice.
    #[inline]
    fn go_on(&mut self, done: &Done) {
        let len = done.at - self.at;
        (self.at, self.out) = (done.at, done.out);
        if len > self.window {
            let mixed = done.plain < len - len / MIXED_FROM;
            self.window = if mixed == self.mixed { (2 * self.window).min(LONGEST_WINDOW) } else { WINDOW };
            self.mixed = mixed;
        }
    }
}

/// Where a block is, and how far its surroundings may be touched.
pub(super) struct Source<'a> {
    /// The block, and what may be read behind it.
    pub ahead: &'a [u8],
    /// Length of the block, in bytes, at most that of `ahead`.
    pub len: usize,
}

/// Decodes all of `src` into the first `dest_len` bytes of `dest` and returns how many bytes it has. `None` if it is bad or needs
/// more. What lies behind those bytes is room to write ahead, and garbage afterwards. Matches may reach back into `dictionary`,
/// as if it lay before `dest`.
pub(super) fn block(src: Source<'_>, dest: &mut [u8], dest_len: usize, dictionary: &[u8]) -> Option<usize> {
    if src.len > SMALL {
        return go_on(&src, dest, dest_len, dictionary, Walk::START);
    }
    if src.ahead.len() - src.len < ROOM_BEHIND {
        return short_at_the_end(&src.ahead[..src.len], dest, dest_len, dictionary);
    }
    short(&src, dest, dest_len, dictionary)
}

/// A short block with room behind it: the kernel comes to the end.
#[inline(always)]
fn short(src: &Source<'_>, dest: &mut [u8], dest_len: usize, dictionary: &[u8]) -> Option<usize> {
    let done = window(src, dest, &Walk::START)?;
    if done.at == src.len + 1 {
        return Some(done.out).filter(|&out| out <= dest_len);
    }
    go_on(src, dest, dest_len, dictionary, Walk { at: done.at, out: done.out, ..Walk::START })
}

/// As [`short`], with little behind the block, the last stream of a chunk: most of it would have to be done with every
/// check, so it is copied to where there is room.
#[inline(never)]
fn short_at_the_end(block: &[u8], dest: &mut [u8], dest_len: usize, dictionary: &[u8]) -> Option<usize> {
    // Without zeros where none are needed: they would take as long as the block.
    let mut padded = [MaybeUninit::<u8>::uninit(); SMALL + ROOM_BEHIND];
    let (copy, behind) = padded.split_at_mut(block.len());
    // SAFETY: `copy` is as long as `block`.
    unsafe { copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(block.as_ptr(), block.len()) };
    behind[..ROOM_BEHIND].fill(MaybeUninit::new(0));
    // SAFETY: so many bytes have just been written.
    let ahead = unsafe { slice::from_raw_parts(padded.as_ptr().cast::<u8>(), block.len() + ROOM_BEHIND) };
    short(&Source { ahead, len: block.len() }, dest, dest_len, dictionary)
}

/// Decodes what is left of a block.
fn go_on(
    src: &Source<'_>,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
    mut walk: Walk,
) -> Option<usize> {
    let block = &src.ahead[..src.len];
    let behind = src.ahead.len() - src.len;
    loop {
        // Without room there is nothing that the fast loop could do.
        if walk.out + WRITE_AHEAD <= dest.len() {
            let end = walk.at + walk.window;
            if walk.at + READ_AHEAD <= src.ahead.len() {
                fast(src, dest, &mut walk)?;
            }
            if behind < ROOM_BEHIND && walk.at < block.len() && block.len() - walk.at <= TAIL {
                tail(block, dest, &mut walk)?;
            }
            if walk.at == block.len() + 1 {
                return Some(walk.out).filter(|&out| out <= dest_len);
            }
            if walk.at > end {
                continue;
            }
        }
        // The fast loop stopped before a sequence that it cannot do: this one takes it, to its end or to that of the block.
        match sequence(block, dest, dest_len, dictionary, walk.at, walk.out)? {
            (next, written) if next == block.len() + 1 => return Some(written),
            next => (walk.at, walk.out) = next,
        }
    }
}

/// Goes on in the last bytes of `block`, behind which there is little: from a copy with room behind it.
#[inline(always)]
fn tail(block: &[u8], dest: &mut [u8], walk: &mut Walk) -> Option<()> {
    let Some(last) = block.last_chunk::<TAIL>() else { return Some(()) };
    let mut copy = [0; TAIL + ROOM_BEHIND];
    copy[..TAIL].copy_from_slice(last);
    let start = block.len() - TAIL;
    walk.at -= start;
    fast(&Source { ahead: &copy, len: TAIL }, dest, walk)?;
    walk.at += start;
    Some(())
}

/// Decodes `block` into `dest`, which has room for all of its content, until the first `wanted` bytes of that are there; how
/// many are. What comes behind them in the block is not looked at. `None` if it is bad up to there, or ends too early.
pub(super) fn prefix(block: &[u8], dest: &mut [u8], wanted: usize) -> Option<usize> {
    let mut walk = Walk::START;
    let src = Source { ahead: block, len: block.len() };
    let (len, near) = (dest.len(), dest.len().min(wanted + WRITE_AHEAD));
    while walk.out < wanted {
        if walk.at + READ_AHEAD <= block.len() && walk.out + WRITE_AHEAD <= near {
            let end = walk.at + walk.window;
            fast(&src, &mut dest[..near], &mut walk)?;
            if walk.out >= wanted {
                break;
            }
            if walk.at > end {
                continue;
            }
        }
        let next = sequence(block, dest, len, &[], walk.at, walk.out)?;
        (walk.at, walk.out) = next;
        if walk.at == block.len() + 1 {
            break;
        }
    }
    Some(walk.out).filter(|out| (wanted..=len).contains(out))
}

/// Decodes the sequence at `src[at]` with every check, and returns the positions behind it. The last one has no
/// match: the position is then one more than there are bytes.
#[inline]
fn sequence(
    src: &[u8],
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
    mut at: usize,
    mut out: usize,
) -> Option<(usize, usize)> {
    let token = usize::from(*src.get(at)?);
    at += 1;
    let literals = length(src, &mut at, token >> 4)?;
    let end = at.checked_add(literals)?;
    // The fast loop may have gone too far: `out` then lies behind `dest_len`.
    dest[..dest_len].get_mut(out..out.checked_add(literals)?)?.copy_from_slice(src.get(at..end)?);
    out += literals;
    at = end;
    if at == src.len() {
        return Some((at + 1, out));
    }
    let back = usize::from(u16::from_le_bytes(*src.get(at..)?.first_chunk::<2>()?));
    at += 2;
    let length = length(src, &mut at, token & 0xf)?.checked_add(MIN_MATCH)?;
    if back == 0 || length > dest_len - out {
        return None;
    }
    // The part of the match that lies in the dictionary.
    let before = back.saturating_sub(out).min(length);
    if before > 0 {
        let from = dictionary.len().checked_sub(back - out)?;
        dest[out..out + before].copy_from_slice(dictionary.get(from..from + before)?);
    }
    if length > before {
        // Behind the dictionary's end comes the start of `dest`.
        copy_match_checked(dest, out + before, back, length - before)?;
    }
    Some((at, out + length))
}

/// A length whose nibble in the token is `nibble`, with the bytes at `src[at]` that continue it.
#[inline(always)]
fn length(src: &[u8], at: &mut usize, nibble: usize) -> Option<usize> {
    let mut length = nibble;
    if nibble == MORE {
        loop {
            let more = *src.get(*at)?;
            *at += 1;
            // At most 255 for each byte of `src`, so it cannot overflow.
            length += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}

/// Decodes whole sequences as long as there is room to read and write ahead, and up to the end of a window; stops at the
/// first that it leaves alone.
#[inline]
fn fast(src: &Source<'_>, dest: &mut [u8], walk: &mut Walk) -> Option<()> {
    let done = window(src, dest, walk)?;
    walk.go_on(&done);
    Some(())
}

/// Runs the kernel for the next window.
#[inline]
fn window(src: &Source<'_>, dest: &mut [u8], walk: &Walk) -> Option<Done> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        let kernel = if walk.mixed {
            window_avx2::<true, false>
        } else if near::are_near(&src.ahead[..src.len], walk) {
            window_avx2::<false, true>
        } else {
            window_avx2::<false, false>
        };
        // SAFETY: the features have just been detected.
        return unsafe { kernel(src, dest, walk) };
    }
    window_portable(src, dest, walk)
}

/// The same for any processor.
#[inline(never)]
fn window_portable(src: &Source<'_>, dest: &mut [u8], walk: &Walk) -> Option<Done> {
    if walk.mixed {
        window_anywhere::<Portable, true, false>(src, dest, walk)
    } else {
        window_anywhere::<Portable, false, false>(src, dest, walk)
    }
}

/// How far a kernel has come, and about how many bytes of the block are sequences without literals.
struct Done {
    at: usize,
    out: usize,
    plain: usize,
}

/// The same for processors with 32-byte registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
fn window_avx2<const MIXED: bool, const NEAR: bool>(
    src: &Source<'_>,
    dest: &mut [u8],
    walk: &Walk,
) -> Option<Done> {
    window_anywhere::<Avx2, MIXED, NEAR>(src, dest, walk)
}

/// Where a sequence begins depends on the literals of the one before, and to wait for that takes longer than all the
/// rest. Most matches in shuffled numbers follow each other directly: unless sequences are `MIXED`, the processor is
/// made to guess that, by branches where none are needed. If matches are now `NEAR` and now not, it need not guess that.
#[inline(always)]
fn window_anywhere<P: Periods, const MIXED: bool, const NEAR: bool>(
    src: &Source<'_>,
    dest: &mut [u8],
    walk: &Walk,
) -> Option<Done> {
    let &Walk { mut at, mut out, window, .. } = walk;
    let (Some(last_read), Some(last_write), Some(last_match)) = (
        src.ahead.len().checked_sub(READ_AHEAD),
        dest.len().checked_sub(WRITE_AHEAD),
        src.len.checked_sub(SHORTEST),
    ) else {
        return Some(Done { at, out, plain: 0 });
    };
    // A sequence that begins at `last_match` or before has its token and, without literals, its offset inside the block.
    let last_read = last_read.min(last_match).min(at.saturating_add(window));
    let from_here = at;
    // What is counted costs least where it is rare: without literals if `MIXED`, else the bytes of those that have some.
    let (mut without, mut others) = (0, 0);
    let (from, to) = (src.ahead.as_ptr(), dest.as_mut_ptr());
    let readable = src.ahead.len();
    let src = &src.ahead[..src.len];
    let capacity = dest.len();
    while at <= last_read && out <= last_write {
        // A sequence that turns out to need more room is left alone: what it has written by then will be
        // written again.
        let (mut ahead, mut end) = (at + 1, out);
        // SAFETY: `at` <= `last_read`, so a token, a chunk of literals and an offset can be read.
        let token = usize::from(unsafe { from.add(at).read() });
        if !MIXED && token < MORE {
            // No literals, and a short match.
            // SAFETY: as above.
            let back = usize::from(u16::from_le(unsafe { from.add(ahead).cast::<u16>().read_unaligned() }));
            if back.wrapping_sub(1) >= out {
                // Bad, or into the dictionary.
                break;
            }
            // SAFETY: 1 <= `back` <= `out`, and `out` <= `last_write`, so a short match and OVERSHOOT bytes are inside
            // `dest`.
            unsafe { token_match::<P, NEAR>(to.add(out), back) };
            (at, out) = (at + 3, out + token + MIN_MATCH);
            continue;
        }
        let literals = token >> 4;
        if MIXED {
            without += usize::from(literals == 0);
        }
        if !MIXED && literals == 0 {
            // On to the match.
        } else if literals < MORE {
            if !MIXED {
                others += SHORTEST + literals;
            }
            // SAFETY: as above, and `out` <= `last_write`, so a chunk is inside `dest`.
            unsafe {
                let chunk = from.add(ahead).cast::<[u8; LITERAL_CHUNK]>().read_unaligned();
                to.add(end).cast::<[u8; LITERAL_CHUNK]>().write_unaligned(chunk);
            }
            ahead += literals;
            end += literals;
            if ahead + 2 > src.len() {
                if ahead == src.len() {
                    // The last one: where `sequence` would say that it ended.
                    (at, out) = (ahead + 1, end);
                }
                break;
            }
        } else {
            let literals = length(src, &mut ahead, MORE)?;
            let left = src.len() - ahead;
            // Then a chunk more may be read and written, and the match have its room.
            if (literals.saturating_add(2) > left && literals != left)
                || readable - ahead - literals < READ_AHEAD + LONG_CHUNK
                || end > last_write
                || literals > last_write - end
            {
                break;
            }
            if literals > MANY_LITERALS {
                // SAFETY: so many are inside both buffers, as just checked.
                unsafe { copy_many(from.add(ahead), to.add(end), literals) };
            } else {
                // The first chunk without asking: most are no longer, and nobody can foretell which.
                let mut copied = 0;
                loop {
                    // SAFETY: `copied` < `literals`, and a chunk behind the literals is inside both buffers: READ_AHEAD +
                    // LONG_CHUNK can be read, WRITE_AHEAD be written.
                    unsafe {
                        let chunk = from.add(ahead + copied).cast::<[u8; LONG_CHUNK]>().read_unaligned();
                        to.add(end + copied).cast::<[u8; LONG_CHUNK]>().write_unaligned(chunk);
                    }
                    copied += LONG_CHUNK;
                    if copied >= literals {
                        break;
                    }
                }
            }
            ahead += literals;
            end += literals;
            if !MIXED {
                others += SHORTEST + literals;
            }
            if literals == left {
                (at, out) = (ahead + 1, end);
                break;
            }
        }
        // SAFETY: after short literals by READ_AHEAD, after long ones because that much is left.
        let back = usize::from(u16::from_le(unsafe { from.add(ahead).cast::<u16>().read_unaligned() }));
        ahead += 2;
        if back == 0 || back > end {
            // Bad, or into the dictionary.
            break;
        }
        let mut length = (token & 0xf) + MIN_MATCH;
        if length < MORE + MIN_MATCH {
            // SAFETY: as for the copy below.
            unsafe { token_match::<P, NEAR>(to.add(end), back) };
            (at, out) = (ahead, end + length);
            continue;
        }
        length = self::length(src, &mut ahead, MORE)? + MIN_MATCH;
        if length > capacity - end || capacity - end - length < OVERSHOOT {
            break;
        }
        // SAFETY: 1 <= `back` <= `end`; `length` and OVERSHOOT bytes are inside `dest`: by WRITE_AHEAD after short
        // literals, because there was room for it behind long ones, or by the check.
        unsafe { copy_match::<P>(to.add(end), back, length) };
        (at, out) = (ahead, end + length);
    }
    let plain = if MIXED { without * SHORTEST } else { (at - from_here).saturating_sub(others) };
    Some(Done { at, out, plain })
}

/// Copies many literals.
///
/// Marked cold to keep the call out of the way of the kernel's registers.
///
/// # Safety
/// `count` bytes at both places, which are in different buffers.
#[cold]
#[inline(never)]
unsafe fn copy_many(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: by the contract.
    unsafe { to.copy_from_nonoverlapping(from, count) }
}

/// Copies a match whose length fits into a token.
///
/// # Safety
/// As [`Periods::copy_short_anywhere`]'s.
#[inline(always)]
unsafe fn token_match<P: Periods, const NEAR: bool>(to: *mut u8, back: usize) {
    // SAFETY: by the contract.
    unsafe {
        if NEAR {
            P::copy_short_anywhere(to, back);
        } else if back < 8 {
            P::repeat_short(to, back);
        } else {
            copy_short(to, back);
        }
    }
}
