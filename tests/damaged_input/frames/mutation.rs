//! Makes one change of a frame: of a number of the format, of the entries of the index, of the length, or of any
//! byte.

use super::fields::{CBYTES, CHUNKSIZE, FRAME_LEN, Field, Files, HEADER_LEN, NBYTES, chunk_fields};
use super::originals::Original;
use crate::support::random::Random;

const INTERESTING: [i64; 36] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    17,
    25,
    31,
    32,
    33,
    35,
    86,
    87,
    97,
    112,
    127,
    128,
    255,
    256,
    4096,
    65_535,
    65_536,
    -1,
    -2,
    -32,
    536_866_816,
    536_866_817,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    i64::MAX,
    i64::MIN,
];

/// Values that an index may contain (frame.md 1.4).
const INDEX_CODES: [u64; 10] = [
    0x81 << 56,
    0x82 << 56,
    0x84 << 56,
    0x83 << 56,
    0x86 << 56,
    0x80 << 56,
    0x88 << 56,
    0xFF << 56,
    0x81 << 56 | 12345,
    u64::MAX,
];

fn draw_value(random: &mut Random, field: Field, bytes: &[u8], others: &[Field]) -> i64 {
    let near = random.below(17) as i64 - 8;
    match random.below(8) {
        0..=2 => *random.pick(&INTERESTING),
        3..=4 => field.get(bytes).wrapping_add(near),
        5 => (bytes.len() as i64).wrapping_add(near),
        6 => random.pick(others).get(bytes).wrapping_add(*random.pick(&[0, 0, 1, -1, 32, -32])),
        _ => (random.next() >> random.below(64)) as i64,
    }
}

fn change_field(random: &mut Random, bytes: &mut [u8], fields: &[Field]) {
    let field = *random.pick(fields);
    let value = if field.width == 1 && random.one_in(2) {
        field.get(bytes) ^ 1 << random.below(8)
    } else {
        draw_value(random, field, bytes, fields)
    };
    field.set(bytes, value);
}

/// Writes the length of the frame to its header.
fn write_frame_len(bytes: &mut [u8]) {
    let len = bytes.len() as i64;
    FRAME_LEN.set(bytes, len);
}

/// Encodes an index chunk of these entries, uncompressed or as a repeated value.
fn encode_index(random: &mut Random, entries: &[u64]) -> Vec<u8> {
    let nbytes = 8 * entries.len() as i32;
    let one_value = entries.len() > 1 && entries.iter().all(|&entry| entry == entries[0]);
    let (flags, special, data): (u8, u8, Vec<u8>) = if one_value && random.one_in(2) {
        (0x05, 0x30, entries[0].to_le_bytes().to_vec())
    } else {
        (0x07, 0, entries.iter().flat_map(|entry| entry.to_le_bytes()).collect())
    };
    let mut chunk = vec![5, 1, flags, 8];
    for number in [nbytes, nbytes.clamp(1, 16_384), 32 + data.len() as i32] {
        chunk.extend(number.to_le_bytes());
    }
    chunk.extend([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, special]);
    chunk.extend(data);
    chunk
}

/// Replaces the index by another one and updates the header accordingly.
fn change_index(random: &mut Random, original: &Original, bytes: &mut Vec<u8>) {
    let Some((at, len)) = original.layout.index else { return };
    if at + len > bytes.len() {
        return;
    }
    let mut entries: Vec<u64> = original.offsets.iter().map(|&offset| offset as u64).collect();
    let cbytes = CBYTES.get(bytes);
    for _ in 0..1 + random.below(3) {
        let which = random.below(entries.len());
        entries[which] = match random.below(6) {
            0 => *random.pick(&INDEX_CODES),
            1 => entries[random.below(entries.len())],
            2 => cbytes.wrapping_add(*random.pick(&[0, -1, -31, -32, -33, 1, 1 << 40])) as u64,
            3 => entries[which].wrapping_add(random.below(65) as u64).wrapping_sub(32),
            4 => *random.pick(&INTERESTING) as u64,
            _ => random.next() >> random.below(64),
        };
    }
    match random.below(8) {
        0 => entries.truncate(random.below(entries.len()) + 1),
        1 => entries.extend([0; 3]),
        2 => {
            // Many chunks with the same code, and a consistent header.
            let count = 1 << random.below(17);
            entries = vec![*random.pick(&INDEX_CODES); count];
            let nbytes = CHUNKSIZE.get(bytes).saturating_mul(count as i64);
            NBYTES.set(bytes, nbytes);
        }
        _ => {}
    }
    let index = encode_index(random, &entries);
    bytes.splice(at..at + len, index);
    write_frame_len(bytes);
}

/// Writes sizes that are consistent with each other, but not with the chunks.
fn change_sizes(random: &mut Random, original: &Original, bytes: &mut [u8]) {
    let count = original.offsets.len() as i64;
    let chunksize = match random.below(4) {
        0 => *random.pick(&INTERESTING),
        1 => CHUNKSIZE.get(bytes) + random.below(9) as i64 - 4,
        2 => 0,
        _ => 1 + random.below(5000) as i64,
    };
    CHUNKSIZE.set(bytes, chunksize);
    if random.one_in(4) {
        return;
    }
    let short = random.below(chunksize.clamp(1, 5000) as usize) as i64;
    NBYTES.set(bytes, chunksize.saturating_mul(count).saturating_sub(short));
}

fn change_any_bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let len = bytes.len();
    match random.below(7) {
        0..=1 => bytes[random.below(len)] ^= 1 << random.below(8),
        2 => bytes[random.below(len)] = random.byte(),
        3 => {
            let (from, to) = (random.below(len), random.below(len));
            let count = (1 + random.below(64)).min(len - from.max(to));
            bytes.copy_within(from..from + count, to);
        }
        4 => {
            bytes.truncate(random.below(len));
            if random.one_in(2) {
                write_frame_len(bytes);
            }
        }
        5 => {
            let more = random.below(100);
            bytes.extend(random.bytes(more));
            if random.one_in(2) {
                write_frame_len(bytes);
            }
        }
        _ => {
            // Removes or inserts some bytes in the middle.
            let at = random.below(len);
            let gone = random.below(40).min(len - at);
            let come = random.below(40);
            bytes.splice(at..at + gone, random.bytes(come));
            if !random.one_in(3) {
                write_frame_len(bytes);
            }
        }
    }
}

/// Moves or removes the trailer.
fn move_trailer(random: &mut Random, original: &Original, bytes: &mut Vec<u8>) {
    let at = original.layout.trailer;
    if at > bytes.len() {
        return;
    }
    if random.one_in(2) {
        let slack = random.below(60);
        bytes.splice(at..at, random.bytes(slack));
    } else {
        let header = HEADER_LEN.get(bytes).clamp(0, at as i64) as usize;
        bytes.drain(random.below(at - header + 1) + header..at);
    }
    write_frame_len(bytes);
}

fn change_frame(random: &mut Random, original: &Original, bytes: &mut Vec<u8>) {
    match random.below(16) {
        0..=6 => change_field(random, bytes, &original.layout.fields),
        7..=9 => change_index(random, original, bytes),
        10 => change_sizes(random, original, bytes),
        11 => move_trailer(random, original, bytes),
        _ => change_any_bytes(random, bytes),
    }
}

/// Makes one change of the mutant.
pub fn mutate(random: &mut Random, original: &Original, files: &mut Files) {
    let chunk_files: Vec<String> = files.keys().filter(|name| name.ends_with(".chunk")).cloned().collect();
    if chunk_files.is_empty() || random.one_in(2) {
        if let Some(bytes) = files.get_mut(original.main_file()) {
            change_frame(random, original, bytes);
        }
        return;
    }
    let name = random.pick(&chunk_files).clone();
    match random.below(12) {
        0 => drop(files.remove(&name)),
        1 => {
            let other = files[random.pick(&chunk_files)].clone();
            files.insert(name, other);
        }
        2 => drop(files.insert(name, Vec::new())),
        3..=7 => {
            let bytes = files.get_mut(&name).expect("a chunk file");
            change_field(random, bytes, &chunk_fields(0));
        }
        _ => {
            let bytes = files.get_mut(&name).expect("a chunk file");
            match random.below(3) {
                0 => bytes.truncate(random.below(bytes.len() + 1)),
                1 => bytes.extend([0xAB; 40]),
                _ if !bytes.is_empty() => {
                    let at = random.below(bytes.len().min(80));
                    bytes[at] = random.byte();
                }
                _ => {}
            }
        }
    }
}
