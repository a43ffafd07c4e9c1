//! The decoder of LZ4 blocks, whole buffer to whole buffer, with or without a dictionary.
//!
//! Owns the walk over a block's sequences. Never writes past the destination and never fails in another way
//! than by `None`, whatever the input.
//!
//! Our own, because the C library copies the long runs of shuffled numbers eight bytes at a time.

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
/// With a sequence for each so many bytes of a window that has literals, sequences are mixed.
const MIXED_FOR_EACH: usize = 52;
/// Bytes at the start of a window that are looked at for near matches: so many, and so much of a long window. With one for
/// each so many bytes near and far are mixed.
const SAMPLE: usize = 64;
const SAMPLE_OF_WINDOW: usize = 64;
const NEAR_FOR_EACH: usize = 32;
/// Shorter rests of a block are not worth a look.
const LONG: usize = 1024;

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
        let whole = done.at - self.at > self.window;
        (self.at, self.out) = (done.at, done.out);
        if whole {
            let mixed = done.with_literals > self.window / MIXED_FOR_EACH;
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
    if src.len <= SMALL && src.ahead.len() - src.len < ROOM_BEHIND {
        return block_at_the_end(&src.ahead[..src.len], dest, dest_len, dictionary);
    }
    block_with_room(src, dest, dest_len, dictionary)
}

/// As [`block`], for a short one with little behind it, the last stream of a chunk: most of it would have to be done
/// with every check, so it is copied to where there is room.
#[inline(never)]
fn block_at_the_end(block: &[u8], dest: &mut [u8], dest_len: usize, dictionary: &[u8]) -> Option<usize> {
    // Without zeros where none are needed: they would take as long as the block.
    let mut padded = [MaybeUninit::<u8>::uninit(); SMALL + ROOM_BEHIND];
    let (copy, behind) = padded.split_at_mut(block.len());
    // SAFETY: `copy` is as long as `block`.
    unsafe { copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(block.as_ptr(), block.len()) };
    behind[..ROOM_BEHIND].fill(MaybeUninit::new(0));
    // SAFETY: so many bytes have just been written.
    let ahead = unsafe { slice::from_raw_parts(padded.as_ptr().cast::<u8>(), block.len() + ROOM_BEHIND) };
    block_with_room(Source { ahead, len: block.len() }, dest, dest_len, dictionary)
}

/// For a long block, or one with room behind it.
#[inline]
fn block_with_room(src: Source<'_>, dest: &mut [u8], dest_len: usize, dictionary: &[u8]) -> Option<usize> {
    let mut walk = Walk::START;
    let block = &src.ahead[..src.len];
    let behind = src.ahead.len() - src.len;
    loop {
        // Without room there is nothing that the fast loop could do.
        if walk.out + WRITE_AHEAD <= dest.len() {
            let end = walk.at + walk.window;
            if walk.at + READ_AHEAD <= src.ahead.len() {
                fast(&src, dest, &mut walk)?;
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
fn window(src: &Source<'_>, dest: &mut [u8], walk: &Walk) -> Option<Done> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        let kernel = if walk.mixed {
            window_avx2::<true, false>
        } else if src.len - walk.at > LONG && are_near(&src.ahead[..src.len], walk) {
            window_avx2::<false, true>
        } else {
            window_avx2::<false, false>
        };
        // SAFETY: the features have just been detected.
        return unsafe { kernel(src, dest, walk) };
    }
    if walk.mixed {
        window_anywhere::<Portable, true, false>(src, dest, walk)
    } else {
        window_anywhere::<Portable, false, false>(src, dest, walk)
    }
}

/// How far a kernel has come, and how many of the sequences had literals.
struct Done {
    at: usize,
    out: usize,
    with_literals: usize,
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
        return Some(Done { at, out, with_literals: 0 });
    };
    // A sequence that begins at `last_match` or before has its token and, without literals, its offset inside the block.
    let last_read = last_read.min(last_match).min(at.saturating_add(window));
    let mut with_literals = 0;
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
            with_literals += usize::from(literals > 0);
        }
        if !MIXED && literals == 0 {
            // On to the match.
        } else if literals < MORE {
            if !MIXED {
                with_literals += 1;
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
            // Then a chunk more may be read and written, and the match have its room.
            if literals.saturating_add(2) > src.len() - ahead
                || readable - ahead - literals < READ_AHEAD + LONG_CHUNK
                || end > last_write
                || literals > last_write - end
            {
                break;
            }
            // The first chunk without asking: most are no longer, and nobody can foretell which.
            let mut copied = 0;
            loop {
                // SAFETY: `copied` < `literals`, and a chunk behind the literals is inside both buffers: READ_AHEAD + LONG_CHUNK
                // can be read, WRITE_AHEAD be written.
                unsafe {
                    let chunk = from.add(ahead + copied).cast::<[u8; LONG_CHUNK]>().read_unaligned();
                    to.add(end + copied).cast::<[u8; LONG_CHUNK]>().write_unaligned(chunk);
                }
                copied += LONG_CHUNK;
                if copied >= literals {
                    break;
                }
            }
            ahead += literals;
            end += literals;
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
    Some(Done { at, out, with_literals })
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

/// Whether matches so near that they repeat take turns with others in the next window of `src`.
fn are_near(src: &[u8], walk: &Walk) -> bool {
    let mut at = walk.at;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::lz4::{State, compress_fast, compress_hc};

    /// The format, byte by byte.
    fn plainly(src: &[u8], capacity: usize, dictionary: &[u8]) -> Option<Vec<u8>> {
        let mut all = dictionary.to_vec();
        let mut bytes = src.iter().map(|&b| usize::from(b));
        loop {
            let token = bytes.next()?;
            let length = |nibble: usize, bytes: &mut dyn Iterator<Item = usize>| {
                let mut length = nibble;
                let mut more = if nibble == 15 { 255 } else { 0 };
                while more == 255 {
                    more = bytes.next()?;
                    length += more;
                }
                Some(length)
            };
            for _ in 0..length(token >> 4, &mut bytes)? {
                all.push(bytes.next()? as u8);
            }
            if all.len() - dictionary.len() > capacity {
                return None;
            }
            if bytes.len() == 0 {
                return Some(all[dictionary.len()..].to_vec());
            }
            let back = bytes.next()? + bytes.next()? * 256;
            let length = length(token & 15, &mut bytes)? + 4;
            if back == 0 || back > all.len() || all.len() - dictionary.len() + length > capacity {
                return None;
            }
            (0..length).for_each(|_| all.push(all[all.len() - back]));
        }
    }

    /// What all amounts of room behind the two buffers give alike.
    fn ours(src: &[u8], capacity: usize, dictionary: &[u8]) -> Option<Vec<u8>> {
        let decode = |read_ahead: usize, write_ahead: usize| {
            let mut ahead = src.to_vec();
            ahead.extend((0..read_ahead).map(|i| (i * 37) as u8));
            let mut dest = vec![0xa5; capacity + write_ahead + 8];
            let room = &mut dest[4..4 + capacity + write_ahead];
            let written = block(Source { ahead: &ahead, len: src.len() }, room, capacity, dictionary);
            let outside = dest[..4].iter().chain(&dest[4 + capacity + write_ahead..]);
            assert!(outside.into_iter().all(|&b| b == 0xa5), "wrote outside dest");
            written.map(|written| dest[4..4 + written].to_vec())
        };
        let tight = decode(0, 0);
        for (read_ahead, write_ahead) in [(40, 0), (0, 200), (1, 60), (7, 130), (19, 98), (300, 3000)] {
            assert!(decode(read_ahead, write_ahead) == tight, "{read_ahead} and {write_ahead} bytes of room");
        }
        tight
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound
        }
    }

    /// A block of sequences of all kinds; most of them valid.
    fn sequences(count: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
        let (mut block, mut out) = (vec![], dictionary);
        let put = |length: usize, block: &mut Vec<u8>| {
            if length >= 15 {
                block.extend(std::iter::repeat_n(255, (length - 15) / 255));
                block.push(((length - 15) % 255) as u8);
            }
        };
        for i in 0..count {
            let literals =
                [0, random.below(3), random.below(20), random.below(80), random.below(600)][random.below(5)];
            let literals = literals.max(usize::from(i == 0));
            let length =
                [random.below(4), random.below(30), random.below(300), random.below(3000)][random.below(4)];
            block.push((literals.min(15) << 4 | length.min(15)) as u8);
            put(literals, &mut block);
            block.extend((0..literals).map(|_| random.below(256) as u8));
            out += literals;
            let reach = [1, 16, 40, 80, 65535, 66000][random.below(6)];
            // Now and then before the start.
            let reach = reach.min(out + usize::from(random.below(300) == 0));
            let back = 1 + random.below(reach);
            block.extend((back.min(65535) as u16).to_le_bytes());
            put(length, &mut block);
            out += length + 4;
        }
        let literals = random.below(40);
        block.push((literals.min(15) << 4) as u8);
        put(literals, &mut block);
        block.extend((0..literals).map(|_| random.below(256) as u8));
        block
    }

    #[test]
    fn decodes_as_the_format_says() {
        let mut random = Random(1);
        let dictionary: Vec<u8> = (0..5000).map(|_| random.below(256) as u8).collect();
        let (mut good, mut bad) = (0, 0);
        for round in 0..3000 {
            let dictionary = &dictionary[..[0, 0, 7, 5000][round % 4]];
            let count = [0, 1, 3, 40][random.below(4)];
            let mut block = sequences(count, dictionary.len(), &mut random);
            if random.below(4) == 0 {
                let at = random.below(block.len());
                block[at] ^= 1 << random.below(8);
            }
            if random.below(8) == 0 {
                block.truncate(random.below(block.len()));
            }
            let len = plainly(&block, 1 << 20, dictionary).map_or(300, |plain| plain.len());
            for capacity in [len, len.saturating_sub(1), len + 1, len + 50, len + 500, random.below(len + 1)]
            {
                let expected = plainly(&block, capacity, dictionary);
                if expected.is_some() {
                    good += 1
                } else {
                    bad += 1
                }
                assert!(ours(&block, capacity, dictionary) == expected, "round {round}, capacity {capacity}");
            }
        }
        assert!(good > 3000 && bad > 3000, "{good} good, {bad} bad");
    }

    #[test]
    fn short_matches_near_and_far() {
        let mut random = Random(3);
        for round in 0..200 {
            let (mut block, mut out) = (vec![], 0);
            // Enough for several windows.
            while block.len() < 3 * WINDOW {
                let few = usize::from(random.below([50, 1000][round % 2]) == 0);
                let (literals, length) = (if out == 0 { 14 } else { few }, random.below(15));
                block.push((literals << 4 | length) as u8);
                block.extend((0..literals).map(|_| random.below(256) as u8));
                out += literals;
                let reach = [1, 8, 20, 40, 60_000][random.below(5)].min(out);
                block.extend((1 + random.below(reach) as u16).to_le_bytes());
                out += length + 4;
            }
            block.extend([0x10, 7]);
            let plain = plainly(&block, 1 << 20, &[]);
            assert_eq!(plain.as_ref().map(Vec::len), Some(out + 1));
            assert!(ours(&block, out + 1, &[]) == plain, "round {round}");
        }
    }

    #[test]
    fn decodes_what_the_library_encodes() {
        let mut random = Random(2);
        let mut state = State::default();
        for round in 0..400 {
            let count = random.below(60);
            let plain = plainly(&sequences(count, 0, &mut random), 1 << 20, &[]).unwrap_or_default();
            let mut stream = vec![0; plain.len() * 2 + 100];
            let written = if round % 2 == 0 {
                compress_fast(&mut state, &plain, &mut stream, 1 + round % 9)
            } else {
                compress_hc(&mut state, &plain, &mut stream, 1 + round % 9)
            };
            assert!(ours(&stream[..written], plain.len(), &[]) == Some(plain));
        }
    }

    #[test]
    fn lengths_without_end_are_refused() {
        for tail in [0, 1, 100] {
            let stream = [vec![0xf0], vec![255; 100_000], vec![7; tail]].concat();
            assert_eq!(ours(&stream, 1000, &[]), None);
            let stream = [vec![0x1f, 1, 1, 0], vec![255; 100_000], vec![0; tail]].concat();
            assert_eq!(ours(&stream, 1000, &[]), None);
        }
        assert_eq!(ours(&[], 10, &[]), None);
        assert_eq!(ours(&[0], 10, &[]).as_deref(), Some(&[][..]));
    }
}
