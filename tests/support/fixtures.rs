//! Chunks of old releases: the container of the fixtures that `scripts/make-fixtures.py` and
//! `scripts/make-blosc1-fixtures.py` write, and the data of their records.

use std::fs;
use std::path::Path;

/// One chunk of a file.
pub struct Record {
    /// Release and parameters, for messages.
    pub name: String,
    pub typesize: usize,
    pub data: Vec<u8>,
    pub chunk: Vec<u8>,
}

impl Record {
    pub fn version(&self) -> u8 {
        self.chunk[0]
    }

    pub fn flags(&self) -> u8 {
        self.chunk[2]
    }

    pub fn blocksize(&self) -> usize {
        u32::from_le_bytes(self.chunk[8..12].try_into().unwrap()) as usize
    }

    pub fn has_16_byte_header(&self) -> bool {
        self.flags() & 0x05 != 0x05
    }

    pub fn uses_dictionary(&self) -> bool {
        !self.has_16_byte_header() && self.chunk[31] & 0x01 != 0
    }

    /// Codec format 2, which C-Blosc2 does not decode any more, and this library only with the feature `snappy` (chunk.md
    /// 1.4).
    pub fn is_snappy(&self) -> bool {
        self.flags() >> 5 == 2
    }

    /// Not split although bit 4 does not say so: the first Blosc releases did not set it; their readers never split
    /// items of more than 16 bytes and blocks of less than 128 items.
    pub fn is_unsplit_unmarked(&self) -> bool {
        self.has_16_byte_header()
            && self.version() <= 2
            && self.flags() & 0x12 == 0
            && self.typesize > 1
            && (self.typesize > 16 || self.blocksize() / self.typesize < 128)
    }

    /// Bit-shuffled by Blosc 1, with bytes after the last item.
    pub fn has_bitshuffled_tail(&self) -> bool {
        self.has_16_byte_header()
            && self.flags() & 0x04 != 0
            && !self.data.len().is_multiple_of(self.typesize)
    }
}

/// Returns the bytes of Knuth's 64-bit linear congruential generator: its top byte at each step.
fn lcg(seed: usize) -> impl Iterator<Item = u8> {
    let mut state = seed as u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    })
}

/// Returns the uncompressed bytes of a record. Must match `make_data` of `scripts/make-fixtures.py`.
pub fn make_data(kind: &str, nbytes: usize, typesize: usize) -> Vec<u8> {
    match kind {
        "zeros" => vec![0; nbytes],
        "constant" => (0..nbytes).map(|i| (37 + 11 * (i % typesize)) as u8).collect(),
        "series" => (0..nbytes)
            .map(|i| {
                let value = (1000 + 3 * (i / typesize / 8)) as u64;
                (value >> (8 * (i % typesize % 8))) as u8
            })
            .collect(),
        "noise" => lcg(nbytes).take(nbytes).collect(),
        "mixed" => {
            let half = nbytes / 2;
            [make_data("series", half, typesize), make_data("noise", nbytes - half, typesize)].concat()
        }
        "text" => {
            let words = ["alpha ", "beta ", "gamma ", "delta ", "block ", "chunk ", "frame ", "\n"];
            lcg(nbytes).flat_map(|byte| words[usize::from(byte) % 8].bytes()).take(nbytes).collect()
        }
        _ => panic!("unknown formula {kind}"),
    }
}

/// Reads the records of a file: `"B2FX" | u32 count | { u32 length | text | u32 length | chunk }`.
///
/// # Panics
/// If the file does not exist, has other content, or is of another release.
pub fn read_records(directory: &Path, release: &str) -> Vec<Record> {
    let path = directory.join(format!("{release}.bin"));
    let file = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut rest = file.strip_prefix(b"B2FX").expect("the magic number of a fixture");
    let mut take = |nbytes: usize| {
        let (taken, tail) = rest.split_at(nbytes);
        rest = tail;
        taken.to_vec()
    };
    let mut take_sized = |count: bool| {
        let number = u32::from_le_bytes(take(4).try_into().unwrap()) as usize;
        if count { (number, Vec::new()) } else { (number, take(number)) }
    };
    let count = take_sized(true).0;
    let mut records = Vec::new();
    for number in 0..count {
        let text = String::from_utf8(take_sized(false).1).expect("a description in UTF-8");
        let chunk = take_sized(false).1;
        if number == 0 {
            assert!(text.starts_with(release) && chunk.is_empty(), "{release}: the first record is {text}");
            continue;
        }
        let mut words = text.split(' ');
        let mut word = || words.next().expect("formula, nbytes and typesize");
        let (kind, nbytes, typesize) = (word(), word().parse().unwrap(), word().parse().unwrap());
        records.push(Record {
            name: format!("{release}: {text}"),
            typesize,
            data: make_data(kind, nbytes, typesize),
            chunk,
        });
    }
    assert!(rest.is_empty(), "{release}: {} bytes behind the last record", rest.len());
    records
}
