//! Makes one change of an array: of a number of its metalayer, of all of them, of the frame's numbers, or of any
//! byte.

use super::originals::{Files, Original};
use crate::support::random::Random;

const INTERESTING: [i64; 24] = [
    0,
    1,
    2,
    3,
    5,
    7,
    16,
    17,
    255,
    256,
    4096,
    65_535,
    65_536,
    -1,
    -2,
    536_866_816,
    2_147_483_615,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX,
    i64::MIN,
];

/// Numbers of the frame (frame.md 1): lengths, sizes, flags.
const FRAME_FIELDS: [(usize, usize); 12] = [
    (11, 4),
    (16, 8),
    (25, 1),
    (26, 1),
    (30, 8),
    (30, 8),
    (39, 8),
    (48, 4),
    (53, 4),
    (53, 4),
    (58, 4),
    (58, 4),
];

/// Writes a number of `width` bytes, big-endian.
fn write_be(bytes: &mut [u8], at: usize, width: usize, value: i64) {
    if let Some(place) = bytes.get_mut(at..at + width) {
        place.copy_from_slice(&value.to_be_bytes()[8 - width..]);
    }
}

fn read_be(bytes: &[u8], at: usize, width: usize) -> i64 {
    bytes
        .get(at..at + width)
        .map_or(0, |found| found.iter().fold(0, |value, &byte| value << 8 | i64::from(byte)))
}

fn draw_value(random: &mut Random, old: i64) -> i64 {
    match random.below(6) {
        0..=1 => *random.pick(&INTERESTING),
        2..=3 => old.wrapping_add(random.below(9) as i64 - 4),
        4 => old.wrapping_mul(1 << random.below(40)),
        _ => (random.next() >> random.below(64)) as i64,
    }
}

/// Returns position and width of the lengths in the metalayer (b2nd.md 3).
fn shape_fields(original: &Original) -> Vec<(usize, usize)> {
    let (at, ndim) = (original.metalayer.0, original.ndim);
    let shape = (0..ndim).map(|dim| (at + 4 + 9 * dim + 1, 8));
    let chunk = (0..ndim).map(|dim| (at + 5 + 9 * ndim + 5 * dim + 1, 4));
    let block = (0..ndim).map(|dim| (at + 6 + 14 * ndim + 5 * dim + 1, 4));
    shape.chain(chunk).chain(block).collect()
}

/// Changes the dtype: its format, marker or length.
fn change_dtype(random: &mut Random, original: &Original, bytes: &mut [u8]) {
    let at = original.metalayer.0 + 6 + 19 * original.ndim;
    match random.below(4) {
        0 => write_be(bytes, at, 1, random.below(256) as i64),
        1 => write_be(bytes, at + 1, 1, random.below(256) as i64),
        _ => {
            let new = draw_value(random, read_be(bytes, at + 2, 4));
            write_be(bytes, at + 2, 4, new);
        }
    }
}

/// Writes another valid geometry of the same rank.
fn change_geometry(random: &mut Random, original: &Original, bytes: &mut [u8]) {
    let places = shape_fields(original);
    let factor = 1i64 << random.below(31);
    let all = random.one_in(3);
    for (at, width) in places {
        if all || random.one_in(3) {
            let old = read_be(bytes, at, width);
            let new = match random.below(5) {
                0 => 1 + random.below(40) as i64,
                1 => old.saturating_mul(factor),
                2 => factor,
                3 => 0,
                _ => old.wrapping_add(1),
            };
            write_be(bytes, at, width, new);
        }
    }
}

/// Changes the rank, and sometimes the length of the metalayer accordingly.
fn change_rank(random: &mut Random, original: &Original, bytes: &mut [u8]) {
    let at = original.metalayer.0;
    let ndim = random.below(20) as i64 - 1;
    write_be(bytes, at + 2, 1, ndim);
    if random.one_in(2) {
        // As a shorter or longer metalayer: the following bytes are read as lengths.
        write_be(bytes, at + 3, 1, 0x90 + ndim);
    }
}

fn change_any_bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let len = bytes.len();
    match random.below(5) {
        0..=1 => bytes[random.below(len)] ^= 1 << random.below(8),
        2 => bytes[random.below(len)] = random.byte(),
        3 => bytes.truncate(random.below(len)),
        _ => {
            let (from, to) = (random.below(len), random.below(len));
            let count = (1 + random.below(64)).min(len - from.max(to));
            bytes.copy_within(from..from + count, to);
        }
    }
}

/// Makes one change of the mutant.
pub fn mutate(random: &mut Random, original: &Original, files: &mut Files) {
    let others: Vec<String> = files.keys().filter(|name| name.ends_with(".chunk")).cloned().collect();
    if !others.is_empty() && random.one_in(4) {
        let name = random.pick(&others).clone();
        if random.one_in(5) {
            files.remove(&name);
        } else {
            change_any_bytes(random, files.get_mut(&name).expect("a chunk"));
        }
        return;
    }
    let Some(bytes) = files.get_mut(original.main_file()) else { return };
    let (at, len) = original.metalayer;
    match random.below(20) {
        0..=6 => {
            let places = shape_fields(original);
            if !places.is_empty() {
                let (at, width) = *random.pick(&places);
                let new = draw_value(random, read_be(bytes, at, width));
                write_be(bytes, at, width, new);
            }
        }
        7..=9 => change_geometry(random, original, bytes),
        10 => change_rank(random, original, bytes),
        11 => change_dtype(random, original, bytes),
        12..=13 => {
            let at = at + random.below(len);
            let bit = 1 << random.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= bit;
            }
        }
        14 => {
            // The length of the metalayer, in front of its content (frame.md 1.3).
            let new = draw_value(random, len as i64);
            write_be(bytes, at - 4, 4, new);
        }
        15..=17 => {
            let (at, width) = *random.pick(&FRAME_FIELDS);
            let new = draw_value(random, read_be(bytes, at, width));
            write_be(bytes, at, width, new);
        }
        _ => change_any_bytes(random, bytes),
    }
}
