//! The encoders against the format: what they write, the C library and our decoder read; and nothing is written beyond the
//! limit.

use std::ffi::c_int;

use super::{fast, high, mid};
use crate::codec::lz4::decompress;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn bytes(&mut self, len: usize, bound: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(bound) as u8).collect()
    }
}

/// All encoders, with their tables: they carry nothing over, which the tests see to by using them for everything.
#[derive(Default)]
struct Encoders {
    fast: fast::Tables,
    mid: mid::Tables,
    high: high::Tables,
}

const COUNT: usize = 7;

impl Encoders {
    fn compress(&mut self, which: usize, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        match which {
            0 => fast::compress(&mut self.fast, src, dest, 1),
            1 => fast::compress(&mut self.fast, src, dest, 5),
            2 => fast::compress(&mut self.fast, src, dest, 10),
            3 => mid::compress(&mut self.mid, src, dest),
            4 => high::compress(&mut self.high, src, dest, 4),
            5 => high::compress(&mut self.high, src, dest, 16),
            _ => high::compress(&mut self.high, src, dest, 256),
        }
    }
}

/// What the C library makes of a block.
fn library_decodes(stream: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut plain = vec![0; len];
    // SAFETY: the lengths are those of the buffers.
    let written = unsafe {
        lz4_sys::LZ4_decompress_safe(
            stream.as_ptr().cast(),
            plain.as_mut_ptr().cast(),
            stream.len() as c_int,
            len as c_int,
        )
    };
    (written == len as c_int).then_some(plain)
}

/// Compresses `src` with every encoder and room to spare, with just enough room, and with too little.
fn check(encoders: &mut Encoders, src: &[u8], name: &str) {
    let bound = src.len() + src.len() / 255 + 16;
    for which in 0..COUNT {
        let name = format!("{name}, {} bytes, encoder {which}", src.len());
        let mut compress = |capacity: usize| {
            let mut dest = vec![0xa5; capacity + 64];
            let written = encoders.compress(which, src, &mut dest[..capacity]);
            assert!(dest[capacity..].iter().all(|&byte| byte == 0xa5), "{name}: wrote beyond {capacity}");
            written.map(|written| dest[..written].to_vec())
        };
        let stream = compress(bound).unwrap_or_else(|| panic!("{name}: more than {bound}"));
        assert!(library_decodes(&stream, src.len()).as_deref() == Some(src), "{name}: the library misreads");
        let mut plain = vec![0; src.len()];
        let read = decompress(&stream, stream.len(), &mut plain, src.len(), &[]);
        assert!(read == src.len() && plain == src, "{name}: our decoder misreads");
        // The library's decoder is lenient about the rules for the end of a block: no match begins in the last 12 bytes, or
        // reaches into the last 5.
        if let Some((start, end)) = last_match(&stream) {
            assert!(
                start + 12 <= src.len() && end + 5 <= src.len(),
                "{name}: the last match, {start}..{end}"
            );
        }
        assert!(
            compress(stream.len()).as_ref() == Some(&stream),
            "{name}: another stream in just enough room"
        );
        for less in [1, 2, 7, 40, stream.len().div_ceil(2), stream.len()] {
            if let Some(capacity) = stream.len().checked_sub(less) {
                assert!(compress(capacity).is_none(), "{name}: {} bytes in {capacity}", stream.len());
            }
        }
    }
}

/// Where the last match of a block begins and ends in its content.
fn last_match(stream: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut out, mut last) = (0, 0, None);
    let length = |nibble: usize, at: &mut usize| {
        let (mut length, mut more) = (nibble, if nibble == 15 { 255 } else { 0 });
        while more == 255 {
            more = usize::from(stream[*at]);
            *at += 1;
            length += more;
        }
        length
    };
    loop {
        let token = usize::from(stream[at]);
        at += 1;
        let literals = length(token >> 4, &mut at);
        (at, out) = (at + literals, out + literals);
        if at == stream.len() {
            return last;
        }
        at += 2;
        let end = out + length(token & 15, &mut at) + 4;
        last = Some((out, end));
        out = end;
    }
}

/// Inputs of all the kinds that matter to a step of an encoder.
fn kinds(len: usize, random: &mut Random) -> Vec<(&'static str, Vec<u8>)> {
    let pieces = |random: &mut Random, piece: &dyn Fn(&mut Random, &mut Vec<u8>)| {
        let mut out = Vec::new();
        while out.len() < len {
            piece(random, &mut out);
        }
        out.truncate(len);
        out
    };
    vec![
        ("noise", random.bytes(len, 256)),
        ("two symbols", random.bytes(len, 2)),
        ("twelve symbols", random.bytes(len, 12)),
        ("one run", vec![7; len]),
        ("runs", {
            pieces(random, &|random, out| {
                let (byte, count) = (random.below(3) as u8, [1, 3, 7, 9, 20, 300, 5000][random.below(7)]);
                out.extend(std::iter::repeat_n(byte, 1 + random.below(count)));
            })
        }),
        ("periods", {
            pieces(random, &|random, out| {
                let width = 1 + random.below(17);
                let period = random.bytes(width, 5);
                let count = 1 + random.below(60);
                out.extend(period.iter().cycle().take(width * count));
                let noise = random.below(20);
                out.extend(random.bytes(noise, 256));
            })
        }),
        ("copies", {
            pieces(random, &|random, out| {
                let noise = random.below(40);
                out.extend(random.bytes(noise, 256));
                let back = 1 + random.below(out.len().clamp(1, 80_000));
                for _ in 0..random.below(400) {
                    out.push(if out.len() < back { 1 } else { out[out.len() - back] });
                }
            })
        }),
        ("shuffled", {
            // The bytes of rising numbers, plane by plane.
            let (items, mut number) = (len.div_ceil(4), 0u32);
            let numbers: Vec<[u8; 4]> = (0..items)
                .map(|_| {
                    number += random.below(70) as u32;
                    number.to_le_bytes()
                })
                .collect();
            let mut out: Vec<u8> = (0..4).flat_map(|i| numbers.iter().map(move |n| n[i])).collect();
            out.truncate(len);
            out
        }),
    ]
}

#[test]
fn short_inputs_of_every_length() {
    let (mut encoders, mut random) = (Encoders::default(), Random(1));
    for len in (0..300).chain((300..2000).step_by(23)) {
        for (kind, src) in kinds(len, &mut random) {
            check(&mut encoders, &src, kind);
        }
    }
}

#[test]
fn long_inputs() {
    let (mut encoders, mut random) = (Encoders::default(), Random(2));
    for len in [4096, 30_000, 65_535, 65_536, 65_537, 140_000, 300_001] {
        for (kind, src) in kinds(len, &mut random) {
            check(&mut encoders, &src, kind);
        }
    }
}

/// A copy this far back can be referred to; one byte farther, not.
#[test]
fn distances_at_the_limit() {
    let (mut encoders, mut random) = (Encoders::default(), Random(3));
    let marker: Vec<u8> = random.bytes(1000, 256);
    for distance in [65_534, 65_535, 65_536, 65_537, 131_072] {
        let between = random.bytes(distance - marker.len(), 256);
        let src = [&marker[..], &between, &marker, b"something else"].concat();
        check(&mut encoders, &src, "markers");
        for which in 0..COUNT {
            let mut dest = vec![0; src.len() * 2];
            let written = encoders.compress(which, &src, &mut dest).unwrap();
            if distance > 65_535 {
                assert!(written > src.len(), "encoder {which} found a match {distance} back");
            }
        }
        let mut dest = vec![0; src.len()];
        let found = encoders.compress(6, &src, &mut dest).is_some();
        assert_eq!(found, distance <= 65_535, "{distance}");
    }
}

/// What one call leaves in the tables is nothing to the next.
#[test]
fn calls_do_not_depend_on_those_before() {
    let mut random = Random(4);
    let mut used = Encoders::default();
    for round in 0..60 {
        let len = [10, 100, 5000, 70_000][round % 4];
        for (kind, src) in kinds(len, &mut random) {
            for which in 0..COUNT {
                let compress = |encoders: &mut Encoders, capacity: usize| {
                    let mut dest = vec![0; capacity];
                    let written = encoders.compress(which, &src, &mut dest)?;
                    dest.truncate(written);
                    Some(dest)
                };
                compress(&mut used, len / 3);
                let bound = len + len / 255 + 16;
                if round < 8 {
                    let fresh = compress(&mut Encoders::default(), bound);
                    assert!(compress(&mut used, bound) == fresh, "{kind}, {len} bytes, encoder {which}");
                }
            }
        }
    }
}

/// Long runs are found by their starts: wherever a run was before, one of its length is a single match.
#[test]
fn runs_are_found_whole() {
    let mut tables = high::Tables::default();
    let mut random = Random(5);
    let mut src = Vec::new();
    for length in [40, 200, 90, 1000, 12] {
        src.extend(random.bytes(30, 200));
        src.extend(std::iter::repeat_n(255, length));
        src.extend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, length as u8]);
    }
    // 90 of them, as once before, with what follows.
    src.extend(random.bytes(30, 200));
    src.extend(std::iter::repeat_n(255, 90));
    src.extend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 90, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71]);
    let mut dest = vec![0; src.len()];
    let written = high::compress(&mut tables, &src, &mut dest, 16).unwrap();
    let (start, end) = last_match(&dest[..written]).unwrap();
    assert!(end - start >= 90 + 12 && end == src.len() - 12, "{start}..{end} of {}", src.len());
}
