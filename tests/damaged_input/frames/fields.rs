//! Positions of the numbers of a valid frame (frame.md 1): header, metalayer sections, index, chunk headers, trailer.
//! `mutation` chooses the new values.

use std::collections::BTreeMap;

/// The files of a mutant: one named `frame`, or those of a directory.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A number in the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub at: usize,
    pub width: usize,
    pub big_endian: bool,
}

impl Field {
    fn big_endian(at: usize, width: usize) -> Field {
        Field { at, width, big_endian: true }
    }

    fn little_endian(at: usize, width: usize) -> Field {
        Field { at, width, big_endian: false }
    }

    /// Returns the value, or 0 beyond the end.
    pub fn get(self, bytes: &[u8]) -> i64 {
        let Some(found) = bytes.get(self.at..self.at + self.width) else { return 0 };
        let fold = |value: i64, &byte: &u8| value << 8 | i64::from(byte);
        let value =
            if self.big_endian { found.iter().fold(0, fold) } else { found.iter().rev().fold(0, fold) };
        let unused = 64 - 8 * self.width as u32;
        value << unused >> unused
    }

    pub fn set(self, bytes: &mut [u8], value: i64) {
        if let Some(place) = bytes.get_mut(self.at..self.at + self.width) {
            if self.big_endian {
                place.copy_from_slice(&value.to_be_bytes()[8 - self.width..]);
            } else {
                place.copy_from_slice(&value.to_le_bytes()[..self.width]);
            }
        }
    }
}

pub const HEADER_LEN: Field = Field { at: 11, width: 4, big_endian: true };
pub const FRAME_LEN: Field = Field { at: 16, width: 8, big_endian: true };
pub const NBYTES: Field = Field { at: 30, width: 8, big_endian: true };
pub const CBYTES: Field = Field { at: 39, width: 8, big_endian: true };
pub const CHUNKSIZE: Field = Field { at: 58, width: 4, big_endian: true };

/// The parts of a valid frame.
#[derive(Clone, Debug)]
pub struct FrameLayout {
    /// The numbers that mutations change.
    pub fields: Vec<Field>,
    /// Position and length of the index chunk; `None` without chunks.
    pub index: Option<(usize, usize)>,
    pub trailer: usize,
}

/// `cd idx | de n | n x { name, d2 off } | dc n | n x { c6 len content }` (frame.md 1.3).
fn add_metalayer_fields(bytes: &[u8], mut at: usize, fields: &mut Vec<Field>) {
    fields.extend([
        Field::big_endian(at, 1),
        Field::big_endian(at + 1, 2),
        Field::big_endian(at + 3, 1),
        Field::big_endian(at + 4, 2),
    ]);
    let count = Field::big_endian(at + 4, 2).get(bytes);
    at += 6;
    for _ in 0..count {
        let len = usize::from(bytes[at] & 0x1F);
        fields.extend([
            Field::big_endian(at, 1),
            Field::big_endian(at + 1 + len, 1),
            Field::big_endian(at + 2 + len, 4),
        ]);
        at += 6 + len;
    }
    fields.extend([Field::big_endian(at, 1), Field::big_endian(at + 1, 2)]);
    at += 3;
    for _ in 0..count {
        fields.extend([Field::big_endian(at, 1), Field::big_endian(at + 1, 4)]);
        at += 5 + Field::big_endian(at + 1, 4).get(bytes) as usize;
    }
}

/// Returns the fields of a chunk at this position (chunk.md 1.2).
pub fn chunk_fields(at: usize) -> Vec<Field> {
    let bytes = [0, 2, 3, 16, 21, 22, 23, 30, 31].map(|offset| Field::little_endian(at + offset, 1));
    let words = [4, 8, 12, 32, 36, 40].map(|offset| Field::little_endian(at + offset, 4));
    [&bytes[..], &words[..], &words[..3]].concat()
}

/// Returns the parts of a valid frame, or of a directory's index file.
pub fn parse_layout(bytes: &[u8]) -> FrameLayout {
    let mut fields = Vec::new();
    for at in [25, 26, 27, 28, 68, 70, 71, 75, 76, 77, 78, 85] {
        fields.push(Field::big_endian(at, 1));
    }
    for (at, width) in [(11, 4), (16, 8), (30, 8), (39, 8), (48, 4), (53, 4), (58, 4), (63, 2), (66, 2)] {
        // The numbers that determine all others are drawn more often.
        fields.extend([Field::big_endian(at, width); 3]);
    }
    add_metalayer_fields(bytes, 0x58, &mut fields);
    let header = HEADER_LEN.get(bytes) as usize;
    let len = FRAME_LEN.get(bytes) as usize;
    let trailer = len - Field::big_endian(len - 22, 4).get(bytes) as usize;
    fields.extend([
        Field::big_endian(trailer, 1),
        Field::big_endian(trailer + 1, 1),
        Field::big_endian(trailer + 2, 1),
    ]);
    add_metalayer_fields(bytes, trailer + 3, &mut fields);
    fields.extend([
        Field::big_endian(len - 23, 1),
        Field::big_endian(len - 22, 4),
        Field::big_endian(len - 22, 4),
        Field::big_endian(len - 17, 1),
    ]);
    let index = (NBYTES.get(bytes) > 0).then(|| {
        let at = header + if bytes[26] == 0 { CBYTES.get(bytes) as usize } else { 0 };
        fields.extend(chunk_fields(at));
        (at, Field::little_endian(at + 12, 4).get(bytes) as usize)
    });
    if bytes[26] == 0 && index.is_some() {
        // Payload chunks follow each other without gaps, except in a frame with holes, for which the first chunk is
        // enough.
        let mut at = header;
        let end = header + CBYTES.get(bytes) as usize;
        while at + 32 <= end {
            fields.extend(chunk_fields(at));
            match Field::little_endian(at + 12, 4).get(bytes) {
                size @ 32.. => at += size as usize,
                _ => break,
            }
        }
    }
    FrameLayout { fields, index, trailer }
}
