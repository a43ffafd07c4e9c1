//! The embedded coder of bit planes (`codecs.md` 10.6 and 10.7) for cells of 16 and more values: significant values bit
//! by bit, the rest as runs of zeros that end in the next significant one.
//!
//! Owns the coding of planes in the stream, independent of the values.

use super::bit_transpose::{PLANES_PER_GROUP, PlaneGroup};
use super::bits::{ZfpBitReader, ZfpBitWriter};

/// The progress of the coder in a cell.
struct CoderState {
    /// The number of values that are known to be significant.
    significant: u32,
    /// The number of bits of the budget that are left.
    bits_left: u32,
}

/// Writes the first `planes` planes of `N` values, within `budget` bits, and returns how many bits it used.
#[inline(always)]
pub(super) fn encode<const N: usize, const W: usize>(
    groups: impl Fn(usize) -> PlaneGroup<W>,
    planes: u32,
    budget: u32,
    bits: &mut ZfpBitWriter<'_>,
) -> u32 {
    let mut state = CoderState { significant: 0, bits_left: budget };
    let (mut group, mut rest) = (0, planes as usize);
    while rest > 0 && state.bits_left > 0 {
        let wanted = rest.min(PLANES_PER_GROUP);
        for plane in &groups(group)[..wanted] {
            if N == 16 {
                encode_small_plane(plane[0], &mut state, bits);
            } else {
                encode_plane::<N, W>(plane, &mut state, bits);
            }
        }
        group += 1;
        rest -= wanted;
    }
    budget - state.bits_left
}

/// Writes a plane of 16 values, which has at most 31 bits.
#[inline(always)]
fn encode_small_plane(plane: u64, state: &mut CoderState, bits: &mut ZfpBitWriter<'_>) {
    const LAST: u32 = 15;
    let mut n = state.significant;
    let (mut coded, mut len) = (plane & ((1 << n) - 1), n);
    while n <= LAST {
        let rest = plane >> n;
        if rest == 0 {
            len += 1;
            break;
        }
        let zeros = rest.trailing_zeros();
        n += zeros;
        // If only the last value is left, it is the significant one and has no bit.
        let shown = u32::from(n < LAST);
        coded |= (1 | u64::from(shown) << (zeros + 1)) << len;
        len += 1 + zeros + shown;
        n += 1;
    }
    // The code ends inside the plane if the budget ends there.
    let len = len.min(state.bits_left);
    bits.write_bits(coded & ((1 << len) - 1), len);
    state.bits_left -= len;
    state.significant = n;
}

#[inline(always)]
fn encode_plane<const N: usize, const W: usize>(
    plane: &[u64; W],
    state: &mut CoderState,
    bits: &mut ZfpBitWriter<'_>,
) {
    let put = |value: u64, len: u32, state: &mut CoderState, bits: &mut ZfpBitWriter<'_>| {
        let len = len.min(state.bits_left);
        let mask = 1u64.checked_shl(len).map_or(u64::MAX, |bit| bit - 1);
        bits.write_bits(value & mask, len);
        state.bits_left -= len;
    };
    let mut n = state.significant;
    for (word, first) in plane.iter().zip((0..N as u32).step_by(64)) {
        if n > first {
            put(*word, (n - first).min(64), state, bits);
        }
    }
    while n < N as u32 && state.bits_left > 0 {
        let Some(next) = next_set_bit(plane, n) else {
            put(0, 1, state, bits);
            break;
        };
        put(1, 1, state, bits);
        let mut zeros = next - n;
        if W > 1 {
            while zeros >= 63 {
                put(0, 63, state, bits);
                zeros -= 63;
            }
        }
        // If only the last value is left, it is the significant one and has no bit.
        let shown = u32::from(next < N as u32 - 1);
        put(u64::from(shown) << (zeros & 63), zeros + shown, state, bits);
        n = next + 1;
    }
    state.significant = n;
}

/// Returns the position of the first bit 1 from bit `from` on.
#[inline(always)]
fn next_set_bit<const W: usize>(plane: &[u64; W], from: u32) -> Option<u32> {
    let mut word = from as usize / 64;
    let mut bits = plane.get(word)? >> (from % 64) << (from % 64);
    while bits == 0 {
        word += 1;
        bits = *plane.get(word)?;
    }
    Some(64 * word as u32 + bits.trailing_zeros())
}

/// Reads `planes` planes of `N` values and at most `budget` bits into the first of the groups. Returns the number of
/// groups, the number of significant values, and the number of bits used. Planes that are missing in the last group
/// are 0.
#[inline(always)]
pub(super) fn decode<const N: usize, const W: usize>(
    groups: &mut [PlaneGroup<W>],
    planes: u32,
    budget: u32,
    bits: &mut ZfpBitReader<'_>,
) -> (usize, usize, u32) {
    let mut state = CoderState { significant: 0, bits_left: budget };
    let (mut count, mut rest) = (0, planes as usize);
    for group in groups {
        if rest == 0 || state.bits_left == 0 {
            break;
        }
        let wanted = rest.min(PLANES_PER_GROUP);
        *group = [[0; W]; PLANES_PER_GROUP];
        for plane in &mut group[..wanted] {
            decode_plane::<N, W>(plane, &mut state, bits);
        }
        rest -= wanted;
        count += 1;
    }
    (count, state.significant as usize, budget - state.bits_left)
}

#[inline(always)]
fn decode_plane<const N: usize, const W: usize>(
    plane: &mut [u64; W],
    state: &mut CoderState,
    bits: &mut ZfpBitReader<'_>,
) {
    /// The largest number of bits of a plane of 16 values.
    const MAX_SMALL_PLANE_BITS: u32 = 31;
    /// The number of bits of a larger plane that are read ahead: significant values are seldom farther apart.
    const MIN_PEEK_BITS: u32 = 16;
    let (mut n, mut left) = (state.significant, state.bits_left);
    if N == 16 {
        bits.ensure_bits(MAX_SMALL_PLANE_BITS);
        let len = n.min(left);
        plane[0] = bits.peek() & ((1 << len) - 1);
        bits.consume(len);
        left -= len;
    } else {
        for (word, first) in plane.iter_mut().zip((0..N as u32).step_by(64)) {
            if n > first {
                let len = (n - first).min(64).min(left);
                *word = bits.read_bits(len);
                left -= len;
            }
        }
    }
    while n < N as u32 && left > 0 {
        if N > 16 {
            bits.ensure_bits(MIN_PEEK_BITS);
        }
        let next = bits.peek();
        left -= 1;
        if next & 1 == 0 {
            bits.consume(1);
            break;
        }
        // If only the last value is left, it is the significant one and has no bit; the budget may end before it is
        // found.
        let most = left.min(N as u32 - 1 - n);
        let mut zeros = (next >> 1).trailing_zeros().min(most);
        let shown = u32::from(zeros < most);
        if N > 16 && zeros + 2 > bits.valid_bits() {
            bits.consume(1);
            zeros = bits.skip_zeros(most);
            let shown = u32::from(zeros < most);
            bits.consume(shown);
            left -= zeros + shown;
        } else {
            bits.consume(1 + zeros + shown);
            left -= zeros + shown;
        }
        n += zeros;
        plane[n as usize / 64 % W] |= 1 << (n % 64);
        n += 1;
    }
    *state = CoderState { significant: n, bits_left: left };
}
