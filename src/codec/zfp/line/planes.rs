//! The embedded coder of bit planes (`codecs.md` 10.6) for planes of four bits.
//!
//! Planes travel as nibbles: sixteen in a word, the highest plane in the highest nibble.

use super::CELL;
use super::bits::{PEEKED, Reader, Writer};

/// Planes of a word.
const PER_PIECE: u32 = 16;
/// Words for the 64 planes of a double.
const PIECES: usize = 4;

/// Bits of a plane at most: a group test before each value, and each value but the last.
const MAX_PLANE_BITS: u32 = 7;

/// What a plane becomes, or what was read: the bits, how many are in the stream, and the number of values that are known
/// to be significant afterwards.
#[derive(Clone, Copy)]
struct Plane {
    bits: u8,
    len: u8,
    significant: u8,
}

const NO_PLANE: Plane = Plane { bits: 0, len: 0, significant: 0 };

/// By the number of significant values and the plane.
static ENCODED: [[Plane; 16]; 8] = {
    let mut table = [[NO_PLANE; 16]; 8];
    let mut n = 0;
    while n <= CELL {
        let mut plane = 0;
        while plane < 16 {
            table[n][plane] = encoded(n as u8, plane as u8);
            plane += 1;
        }
        n += 1;
    }
    table
};

/// By the number of significant values and the next bits of the stream.
static DECODED: [[Plane; 1 << MAX_PLANE_BITS]; 8] = {
    let mut table = [[NO_PLANE; 1 << MAX_PLANE_BITS]; 8];
    let mut n = 0;
    while n <= CELL {
        let mut bits = 0;
        while bits < 1 << MAX_PLANE_BITS {
            table[n][bits] = decoded(n as u8, bits as u8, MAX_PLANE_BITS as u8);
            bits += 1;
        }
        n += 1;
    }
    table
};

const fn encoded(mut n: u8, plane: u8) -> Plane {
    let (mut bits, mut len) = (plane & ((1 << n) - 1), n);
    while n < CELL as u8 {
        let any = plane >> n != 0;
        bits |= (any as u8) << len;
        len += 1;
        if !any {
            break;
        }
        while n < CELL as u8 - 1 {
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

/// Of `budget` bits at most.
const fn decoded(mut n: u8, bits: u8, budget: u8) -> Plane {
    let mut len = if n < budget { n } else { budget };
    let mut plane = bits & ((1 << len) - 1);
    while len < budget && n < CELL as u8 {
        let any = bits >> len & 1;
        len += 1;
        if any == 0 {
            break;
        }
        while len < budget && n < CELL as u8 - 1 {
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

/// The first `planes` planes of four values whose highest bit is bit 63.
#[inline(always)]
pub fn interleave(values: [u64; CELL], planes: u32) -> [u64; PIECES] {
    let mut pieces = [0; PIECES];
    for (at, piece) in pieces.iter_mut().enumerate().take(planes.div_ceil(PER_PIECE) as usize) {
        for (number, value) in values.iter().enumerate() {
            *piece |= spread(value << (at as u32 * PER_PIECE) >> 48) << number;
        }
    }
    pieces
}

/// The inverse of [`interleave`].
#[inline(always)]
pub fn separate(pieces: [u64; PIECES], planes: u32) -> [u64; CELL] {
    let mut values = [0; CELL];
    for (at, piece) in pieces.iter().enumerate().take(planes.div_ceil(PER_PIECE) as usize) {
        for (number, value) in values.iter_mut().enumerate() {
            *value |= gather(piece >> number) << 48 >> (at as u32 * PER_PIECE);
        }
    }
    values
}

/// The low sixteen bits, each in a nibble of its own.
#[inline(always)]
fn spread(value: u64) -> u64 {
    let value = (value | value << 24) & 0x0000_00ff_0000_00ff;
    let value = (value | value << 12) & 0x000f_000f_000f_000f;
    let value = (value | value << 6) & 0x0303_0303_0303_0303;
    (value | value << 3) & 0x1111_1111_1111_1111
}

/// The inverse of [`spread`], whatever the other bits are.
#[inline(always)]
fn gather(value: u64) -> u64 {
    let value = value & 0x1111_1111_1111_1111;
    let value = (value | value >> 3) & 0x0303_0303_0303_0303;
    let value = (value | value >> 6) & 0x000f_000f_000f_000f;
    let value = (value | value >> 12) & 0x0000_00ff_0000_00ff;
    (value | value >> 24) & 0xffff
}

/// Writes planes within `budget` bits, and returns how many it used.
#[inline(always)]
pub fn encode(pieces: &[u64; PIECES], planes: u32, budget: u32, bits: &mut Writer<'_>) -> u32 {
    let (mut left, mut n, mut rest) = (budget, 0, planes);
    for &piece in pieces {
        let mut piece = piece;
        for _ in 0..rest.min(PER_PIECE) {
            let plane = ENCODED[n & 7][(piece >> 60) as usize];
            piece <<= 4;
            let mut len = u32::from(plane.len);
            if len > left {
                // The encoder stops in the middle of a plane.
                len = left;
            }
            bits.put(u64::from(plane.bits) & ((1 << len) - 1), len);
            left -= len;
            n = usize::from(plane.significant);
            if left == 0 {
                return budget;
            }
        }
        rest = rest.saturating_sub(PER_PIECE);
        if rest == 0 {
            break;
        }
    }
    budget - left
}

/// Reads planes of at most `budget` bits; how many bits it used, too.
#[inline(always)]
pub fn decode(planes: u32, budget: u32, bits: &mut Reader<'_>) -> ([u64; PIECES], u32) {
    let (mut left, mut n, mut rest) = (budget, 0, planes);
    let mut pieces = [0; PIECES];
    let (mut window, mut known) = (bits.peek(), PEEKED);
    for piece in &mut pieces {
        let count = rest.min(PER_PIECE);
        if count == 0 || left == 0 {
            break;
        }
        let (mut word, mut done) = (0u64, 0);
        while done < count && left > 0 {
            if known < MAX_PLANE_BITS {
                (window, known) = (bits.peek(), PEEKED);
            }
            let plane = if left >= MAX_PLANE_BITS {
                DECODED[n & 7][(window & 0x7f) as usize]
            } else {
                decoded(n as u8, (window & 0x7f) as u8, left as u8)
            };
            let len = u32::from(plane.len);
            window >>= len;
            known -= len;
            left -= len;
            bits.skip(len);
            n = usize::from(plane.significant);
            word = word << 4 | u64::from(plane.bits);
            done += 1;
        }
        *piece = word << (4 * (PER_PIECE - done));
        rest -= count;
    }
    (pieces, budget - left)
}
