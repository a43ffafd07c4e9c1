//! The embedded coder of bit planes (`codecs.md` 10.6) for planes of four bits.
//!
//! Planes are handled as nibbles: sixteen in a word, the highest plane in the highest nibble.

use crate::codec::zfp::bits::{ZfpBitReader, ZfpBitWriter};

pub(super) const VALUES_PER_CELL: usize = 4;

const PLANES_PER_WORD: u32 = 16;

/// The largest number of bits of a plane in the stream: a group test before each value, and a bit for each value but
/// the last.
const MAX_PLANE_BITS: u32 = 7;

/// A coded or decoded plane: its bits, the number of bits in the stream, and the number of values that are known to
/// be significant afterwards.
#[derive(Clone, Copy)]
struct Plane {
    bits: u8,
    len: u8,
    significant: u8,
}

const EMPTY_PLANE: Plane = Plane { bits: 0, len: 0, significant: 0 };

/// The number of planes that are written at once.
const PLANES_PER_GROUP: usize = 8;

/// The codes of two planes, indexed by the number of significant values (times 256) and the two planes, the first in
/// the high nibble: the bits, from bit 16 on the length of both, from bit 20 on that of the first, and from bit 24 on
/// the number of significant values afterwards.
static ENCODED_PAIRS: [u32; 8 << 8] = {
    let mut table = [0; 8 << 8];
    let mut at = 0;
    while at <= VALUES_PER_CELL << 8 | 0xff {
        let first = encode_plane((at >> 8) as u8, (at >> 4 & 15) as u8);
        let second = encode_plane(first.significant, (at & 15) as u8);
        table[at] = first.bits as u32
            | (second.bits as u32) << first.len
            | (first.len as u32 + second.len as u32) << 16
            | (first.len as u32) << 20
            | (second.significant as u32) << 24;
        at += 1;
    }
    table
};

/// The decoded plane, indexed by the number of significant values and the next bits of the stream.
static DECODED_PLANES: [[Plane; 1 << MAX_PLANE_BITS]; 8] = {
    let mut table = [[EMPTY_PLANE; 1 << MAX_PLANE_BITS]; 8];
    let mut n = 0;
    while n <= VALUES_PER_CELL {
        let mut bits = 0;
        while bits < 1 << MAX_PLANE_BITS {
            table[n][bits] = decode_plane(n as u8, bits as u8, MAX_PLANE_BITS as u8);
            bits += 1;
        }
        n += 1;
    }
    table
};

/// The number of bits of the stream that index [`DECODED_PAIRS`].
const PAIR_BITS: u32 = 10;

/// One or two decoded planes, indexed by the number of significant values (times 2 to the power of [`PAIR_BITS`]) and
/// the next bits of the stream: the planes, the first one higher; from bit 8 on the number of bits that they have in
/// the stream, from bit 12 on the number of significant values afterwards; bit 15 is set if there are two.
static DECODED_PAIRS: [u16; 8 << PAIR_BITS] = {
    let mut table = [0; 8 << PAIR_BITS];
    let mut at = 0;
    while at < (VALUES_PER_CELL + 1) << PAIR_BITS {
        let bits = at & ((1 << PAIR_BITS) - 1);
        let first = decode_plane((at >> PAIR_BITS) as u8, bits as u8 & 0x7f, MAX_PLANE_BITS as u8);
        let behind = (bits >> first.len) as u8 & 0x7f;
        let second = decode_plane(first.significant, behind, MAX_PLANE_BITS as u8);
        let len = first.len + second.len;
        table[at] = if len as u32 <= PAIR_BITS {
            (first.bits << 4 | second.bits) as u16
                | (len as u16) << 8
                | (second.significant as u16) << 12
                | 1 << 15
        } else {
            first.bits as u16 | (first.len as u16) << 8 | (first.significant as u16) << 12
        };
        at += 1;
    }
    table
};

const fn encode_plane(mut n: u8, plane: u8) -> Plane {
    let (mut bits, mut len) = (plane & ((1 << n) - 1), n);
    while n < VALUES_PER_CELL as u8 {
        let any = plane >> n != 0;
        bits |= (any as u8) << len;
        len += 1;
        if !any {
            break;
        }
        while n < VALUES_PER_CELL as u8 - 1 {
            let bit = plane >> n & 1;
            bits |= bit << len;
            len += 1;
            if bit == 1 {
                break;
            }
            n += 1;
        }
        n += 1;
    }
    Plane { bits, len, significant: n }
}

/// Decodes a plane of at most `budget` bits.
const fn decode_plane(mut n: u8, bits: u8, budget: u8) -> Plane {
    let mut len = if n < budget { n } else { budget };
    let mut plane = bits & ((1 << len) - 1);
    while len < budget && n < VALUES_PER_CELL as u8 {
        let any = bits >> len & 1;
        len += 1;
        if any == 0 {
            break;
        }
        while len < budget && n < VALUES_PER_CELL as u8 - 1 {
            let bit = bits >> len & 1;
            len += 1;
            if bit == 1 {
                break;
            }
            n += 1;
        }
        plane |= 1 << n;
        n += 1;
    }
    Plane { bits: plane, len, significant: n }
}

/// Returns the lowest bits of all nibbles; the other bits are ignored.
#[inline(always)]
fn gather_nibble_bits(value: u64) -> u64 {
    let value = value & 0x1111_1111_1111_1111;
    let value = (value | value >> 3) & 0x0303_0303_0303_0303;
    let value = (value | value >> 6) & 0x000f_000f_000f_000f;
    let value = (value | value >> 12) & 0x0000_00ff_0000_00ff;
    (value | value >> 24) & 0xffff
}

/// The bits of a byte, each in a separate nibble.
static BITS_TO_NIBBLES: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 8 << 8 {
        table[at >> 3] |= ((at >> 3 >> (at & 7) & 1) as u32) << (4 * (at & 7));
        at += 1;
    }
    table
};

/// Returns the planes of group `number` of four values whose highest bit is bit 63.
#[inline(always)]
fn plane_group(values: &[u64; VALUES_PER_CELL], number: u32) -> u32 {
    let [x, y, z, w] =
        values.map(|value| BITS_TO_NIBBLES[(value << (PLANES_PER_GROUP as u32 * number) >> 56) as usize]);
    x | y << 1 | z << 2 | w << 3
}

/// Writes the first `planes` planes of four values whose highest bit is bit 63, within `budget` bits, and returns how
/// many it used.
#[inline(always)]
pub(super) fn encode(
    values: &[u64; VALUES_PER_CELL],
    planes: u32,
    budget: u32,
    bits: &mut ZfpBitWriter<'_>,
) -> u32 {
    let (mut left, mut n, mut rest) = (budget, 0, planes as usize);
    let mut number = 0;
    while rest > 0 && left > 0 {
        let group = plane_group(values, number);
        number += 1;
        // A plane has one bit or more.
        left = match rest.min(left as usize) {
            0..=2 => encode_group::<1>(group, &mut n, rest, left, bits),
            3..=4 => encode_group::<2>(group, &mut n, rest, left, bits),
            _ => encode_group::<{ PLANES_PER_GROUP / 2 }>(group, &mut n, rest, left, bits),
        };
        rest = rest.saturating_sub(PLANES_PER_GROUP);
    }
    budget - left
}

/// Writes the first `planes` planes of a group, at most `PAIRS` pairs, within `left` bits. Returns how many of those
/// bits are left. `n` is the number of significant values, times 256.
#[inline(always)]
fn encode_group<const PAIRS: usize>(
    group: u32,
    n: &mut usize,
    planes: usize,
    left: u32,
    bits: &mut ZfpBitWriter<'_>,
) -> u32 {
    // All planes of the pairs are coded, needed or not. Only a prefix of the code is written, whose length is looked
    // up: a loop of varying length would be slower.
    let (mut word, mut count, mut counts) = (0u64, 0, [0u32; PLANES_PER_GROUP]);
    for pair in 0..PAIRS {
        let entry = ENCODED_PAIRS[*n & 0x700 | (group >> (24 - 8 * pair) & 0xff) as usize];
        word |= u64::from(entry & 0xffff) << count;
        counts[2 * pair] = count + (entry >> 20 & 15);
        count += entry >> 16 & 15;
        counts[2 * pair + 1] = count;
        *n = (entry >> 16) as usize & 0xff00;
    }
    // The prefix ends inside a plane if the budget ends there.
    let len = counts[planes.min(2 * PAIRS) - 1].min(left);
    bits.write_bits(word & ((1 << len) - 1), len);
    left - len
}

/// Reads four values of `planes` planes and at most `budget` bits. Returns the values and the number of bits used.
#[inline(always)]
pub(super) fn decode(planes: u32, budget: u32, bits: &mut ZfpBitReader<'_>) -> ([u64; VALUES_PER_CELL], u32) {
    let (mut left, mut n, mut rest) = (budget, 0, planes);
    let (mut values, mut at) = ([0; VALUES_PER_CELL], 0);
    while rest > 0 && left > 0 {
        let count = rest.min(PLANES_PER_WORD);
        let (mut word, mut done) = (0u64, 0);
        while done < count && left > 0 {
            bits.ensure_bits(PAIR_BITS);
            let window = bits.peek();
            let len;
            if n == VALUES_PER_CELL && left >= VALUES_PER_CELL as u32 {
                // All values are significant: planes are nibbles, the first one lowest.
                let several = (bits.valid_bits() / 4).min(left / 4).min(count - done);
                len = 4 * several;
                word = word << len | reverse_nibbles(window) >> (64 - len);
                done += several;
            } else {
                let pair = DECODED_PAIRS[n << PAIR_BITS | (window % (1 << PAIR_BITS)) as usize];
                let (pair_len, two) = (u32::from(pair >> 8 & 15), u32::from(pair >> 15));
                if pair_len <= left && two < count - done {
                    word = word << (4 + 4 * two) | u64::from(pair & 0xff);
                    n = usize::from(pair >> 12 & 7);
                    done += 1 + two;
                    left -= pair_len;
                    bits.consume(pair_len);
                    continue;
                }
                let plane = if left >= MAX_PLANE_BITS {
                    DECODED_PLANES[n & 7][(window & 0x7f) as usize]
                } else {
                    decode_plane(n as u8, (window & 0x7f) as u8, left as u8)
                };
                len = u32::from(plane.len);
                n = usize::from(plane.significant);
                word = word << 4 | u64::from(plane.bits);
                done += 1;
            }
            left -= len;
            bits.consume(len);
        }
        let piece = word << (4 * (PLANES_PER_WORD - done));
        for (nth, value) in values.iter_mut().enumerate() {
            *value |= gather_nibble_bits(piece >> nth) << 48 >> (at * PLANES_PER_WORD);
        }
        rest -= count;
        at += 1;
    }
    (values, budget - left)
}

/// Returns the nibbles in reverse order.
#[inline(always)]
fn reverse_nibbles(word: u64) -> u64 {
    let word = word.swap_bytes();
    (word & 0x0f0f_0f0f_0f0f_0f0f) << 4 | word >> 4 & 0x0f0f_0f0f_0f0f_0f0f
}
