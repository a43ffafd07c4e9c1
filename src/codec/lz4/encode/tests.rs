//! Tests the encoders against the format: an independent decoder (the crate `lz4_flex`) and our own decode the
//! blocks, and nothing is written beyond the limit.

use lz4_flex::block::decompress_into_with_dict;

use super::{LAST_LITERALS, fast, high, mid};
use crate::codec::lz4::decompress;
use crate::random::Random;

/// All encoders, with their tables. The tests reuse the tables for every input, which checks that no content is
/// carried over.
struct Encoders {
    fast: fast::FastTables,
    mid: mid::MidTables,
    high: high::ChainTables,
    /// The tables prepared for the dictionary with that number.
    prepared: (u64, fast::FastTables, mid::MidTables),
}

impl Default for Encoders {
    fn default() -> Encoders {
        Encoders {
            fast: fast::FastTables::default(),
            mid: mid::MidTables::default(),
            high: high::ChainTables::new().unwrap(),
            prepared: Default::default(),
        }
    }
}

#[derive(Clone, Copy)]
struct Dictionary<'a> {
    id: u64,
    bytes: &'a [u8],
}

const NO_DICTIONARY: Dictionary<'static> = Dictionary { id: 0, bytes: &[] };

const ENCODER_COUNT: usize = 7;

impl Encoders {
    fn compress(&mut self, which: usize, src: &[u8], dest: &mut [u8]) -> Option<usize> {
        match which {
            0 => fast::compress(&mut self.fast, src, dest, 1).unwrap(),
            1 => fast::compress(&mut self.fast, src, dest, 5).unwrap(),
            2 => fast::compress(&mut self.fast, src, dest, 10).unwrap(),
            3 => mid::compress(&mut self.mid, src, dest).unwrap(),
            4 => high::compress(&mut self.high, src, dest, 4),
            5 => high::compress(&mut self.high, src, dest, 16),
            _ => high::compress(&mut self.high, src, dest, 256),
        }
    }

    fn compress_with(
        &mut self,
        which: usize,
        dictionary: Dictionary<'_>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Option<usize> {
        let Dictionary { id, bytes } = dictionary;
        if bytes.is_empty() {
            return self.compress(which, src, dest);
        }
        if self.prepared.0 != id {
            self.prepared = (id, fast::FastTables::default(), mid::MidTables::default());
        }
        let (input, start) = ([bytes, src].concat(), bytes.len());
        let (_, fast, mid) = &mut self.prepared;
        match which {
            0..=2 => {
                fast::compress_with_dictionary(&mut self.fast, fast, &input, start, dest, [1, 5, 10][which])
                    .unwrap()
            }
            3 => mid::compress_with_dictionary(&mut self.mid, mid, &input, start, dest).unwrap(),
            _ => high::compress_with_dictionary(
                &mut self.high,
                &input,
                start,
                id,
                dest,
                [4, 16, 256][which - 4],
            ),
        }
    }
}

/// Decodes a block with `lz4_flex`.
fn decode_with_lz4_flex(stream: &[u8], len: usize, dictionary: &[u8]) -> Option<Vec<u8>> {
    let mut plain = vec![0; len];
    let written = decompress_into_with_dict(stream, &mut plain, dictionary).ok()?;
    (written == len).then_some(plain)
}

fn check(encoders: &mut Encoders, src: &[u8], name: &str) {
    check_with_dictionary(encoders, NO_DICTIONARY, src, name);
}

/// Compresses `src` with every encoder and room to spare, with just enough room, and with too little.
fn check_with_dictionary(encoders: &mut Encoders, dictionary: Dictionary<'_>, src: &[u8], name: &str) {
    let bound = src.len() + src.len() / 255 + 16;
    for which in 0..ENCODER_COUNT {
        let name = format!("{name}, {} bytes, {} before, encoder {which}", src.len(), dictionary.bytes.len());
        let mut compress = |capacity: usize| {
            let mut dest = vec![0xa5; capacity + 64];
            let written = encoders.compress_with(which, dictionary, src, &mut dest[..capacity]);
            assert!(dest[capacity..].iter().all(|&byte| byte == 0xa5), "{name}: wrote beyond {capacity}");
            written.map(|written| dest[..written].to_vec())
        };
        let stream = compress(bound).unwrap_or_else(|| panic!("{name}: more than {bound}"));
        let decoded = decode_with_lz4_flex(&stream, src.len(), dictionary.bytes);
        assert!(decoded.as_deref() == Some(src), "{name}: lz4_flex misreads");
        let mut plain = vec![0; src.len()];
        let read = decompress(&stream, stream.len(), &mut plain, src.len(), dictionary.bytes);
        assert!(read == src.len() && plain == src, "{name}: our decoder misreads");
        // Decoders do not check the rules for the end of a block: no match begins in the last 12 bytes, or reaches
        // into the last 5.
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

/// Returns the positions in the content where the last match of a block begins and ends.
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

/// Returns inputs of all kinds that exercise a step of an encoder.
fn test_inputs(len: usize, random: &mut Random) -> Vec<(&'static str, Vec<u8>)> {
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
                let distance = 1 + random.below(out.len().clamp(1, 80_000));
                for _ in 0..random.below(400) {
                    out.push(if out.len() < distance { 1 } else { out[out.len() - distance] });
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
fn blocks_of_every_short_length_decode_to_the_input() {
    let (mut encoders, mut random) = (Encoders::default(), Random(1));
    let step = if cfg!(miri) { 150 } else { 1 };
    for len in (0..300).chain((300..2000).step_by(23)).step_by(step) {
        for (kind, src) in test_inputs(len, &mut random) {
            check(&mut encoders, &src, kind);
        }
    }
}

#[test]
fn long_blocks_decode_to_the_input() {
    let (mut encoders, mut random) = (Encoders::default(), Random(2));
    let (lens, kind_step) = if cfg!(miri) { (1, 8) } else { (7, 1) };
    for len in [4096, 30_000, 65_535, 65_536, 65_537, 140_000, 300_001].into_iter().take(lens) {
        for (kind, src) in test_inputs(len, &mut random).into_iter().step_by(kind_step) {
            check(&mut encoders, &src, kind);
        }
    }
}

/// The longest distance of a match is 65535 bytes; a copy one byte farther back is not matched.
#[test]
#[cfg_attr(miri, ignore = "takes many minutes for 64 KiB")]
fn matches_reach_back_65535_bytes_and_no_farther() {
    let (mut encoders, mut random) = (Encoders::default(), Random(3));
    let marker: Vec<u8> = random.bytes(1000, 256);
    for distance in [65_534, 65_535, 65_536, 65_537, 131_072] {
        let between = random.bytes(distance - marker.len(), 256);
        let src = [&marker[..], &between, &marker, b"something else"].concat();
        check(&mut encoders, &src, "markers");
        for which in 0..ENCODER_COUNT {
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

/// Long runs are found by their starts: a run of the same length as an earlier run is a single match, wherever the
/// earlier one was.
#[test]
fn repetition_behind_long_literals_is_a_single_match() {
    let mut encoders = Encoders::default();
    let noise = Random(11).bytes(20_000, 256);
    for start in [1, 2, 3, 4, 5, 1000] {
        let src = [&noise[..], &noise[start..start + 400]].concat();
        for which in 4..ENCODER_COUNT {
            let mut dest = vec![0; src.len() + src.len() / 255 + 16];
            let written = encoders.compress(which, &src, &mut dest).unwrap();
            // One byte for each 255 literals or bytes of the match; a token, a distance and the last token.
            let expected = noise.len() + noise.len() / 255 + 400 / 255 + 10 + LAST_LITERALS;
            assert!(written <= expected, "{start}, encoder {which}: {written} bytes");
        }
    }
}

#[test]
fn run_that_occurred_before_is_a_single_match() {
    let mut tables = high::ChainTables::new().unwrap();
    let mut random = Random(5);
    let mut src = Vec::new();
    for length in [40, 200, 90, 1000, 12] {
        src.extend(random.bytes(30, 200));
        src.extend(std::iter::repeat_n(255, length));
        src.extend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, length as u8]);
    }
    // A run of 90, which occurred before with the same bytes behind it.
    src.extend(random.bytes(30, 200));
    src.extend(std::iter::repeat_n(255, 90));
    src.extend([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 90, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71]);
    let mut dest = vec![0; src.len()];
    let written = high::compress(&mut tables, &src, &mut dest, 16).unwrap();
    let (start, end) = last_match(&dest[..written]).unwrap();
    assert!(end - start >= 90 + 12 && end == src.len() - 12, "{start}..{end} of {}", src.len());
}

/// Dictionaries of every kind and length, one after the other and with other content in between.
#[test]
fn blocks_with_a_dictionary_decode_to_the_input() {
    let (mut encoders, mut random) = (Encoders::default(), Random(6));
    let mut id = 0;
    let (lens, step) = if cfg!(miri) { (6, 5) } else { (10, 1) };
    for dictionary_len in [1, 3, 7, 8, 9, 100, 1000, 4096, 32_768].into_iter().take(lens).step_by(step) {
        for (kind, bytes) in test_inputs(dictionary_len, &mut random).into_iter().step_by(step) {
            id += 1;
            let dictionary = Dictionary { id, bytes: &bytes };
            for len in [0, 1, 12, 13, 14, 40, 300, 3000, 32_768, 40_000].into_iter().take(lens).step_by(step)
            {
                if len >= 32_768 && id % 7 > 0 {
                    continue;
                }
                for (_, src) in test_inputs(len, &mut random).into_iter().step_by(3) {
                    check_with_dictionary(&mut encoders, dictionary, &src, kind);
                }
                // Parts of the dictionary, and its end in front of the same bytes.
                let mut src: Vec<u8> = bytes.iter().rev().step_by(2).copied().take(len / 2).collect();
                src.splice(0..0, bytes[dictionary_len / 2..].iter().copied());
                src.extend(&bytes[..dictionary_len.min(len)]);
                check_with_dictionary(&mut encoders, dictionary, &src, kind);
            }
            check(&mut encoders, &bytes, kind);
        }
    }
}

/// The dictionary lies directly before the content: the first byte of a dictionary of 65535 bytes can be referred to
/// from the first byte of the content, not from the second.
#[test]
#[cfg_attr(miri, ignore = "takes many minutes for 64 KiB")]
fn matches_reach_65535_bytes_into_a_dictionary_and_no_farther() {
    let (mut encoders, mut random) = (Encoders::default(), Random(7));
    let bytes = random.bytes(65_535, 256);
    let dictionary = Dictionary { id: 1, bytes: &bytes };
    for (shift, found) in [(0, true), (1, false)] {
        let src = [&random.bytes(shift, 256)[..], &bytes[..100], &random.bytes(20, 256)].concat();
        check_with_dictionary(&mut encoders, dictionary, &src, "the dictionary's start");
        for which in 3..ENCODER_COUNT {
            let mut dest = vec![0; 200];
            let written = encoders.compress_with(which, dictionary, &src, &mut dest).unwrap();
            assert_eq!(written < 50, found, "encoder {which}, {shift}: {written}");
        }
    }
}

/// The content that one call leaves in the tables, and the state that an encoder keeps of a dictionary, do not change
/// the output of the next call.
#[test]
#[cfg_attr(miri, ignore = "takes many minutes for 24 dictionaries")]
fn output_does_not_depend_on_earlier_calls() {
    let mut random = Random(8);
    let mut used = Encoders::default();
    let dictionaries: Vec<Vec<u8>> =
        (0..3).flat_map(|_| test_inputs(5000, &mut random)).map(|(_, bytes)| bytes).collect();
    for round in 0..400 {
        let id = random.below(dictionaries.len());
        let dictionary = match round % 4 {
            0 => NO_DICTIONARY,
            _ => Dictionary { id: 1 + id as u64, bytes: &dictionaries[id] },
        };
        let len = [30, 700, 4000, 20_000, 70_000][random.below(if round % 8 < 2 { 5 } else { 3 })];
        let kind = random.below(8);
        let (name, src) = test_inputs(len, &mut random).swap_remove(kind);
        for which in 0..ENCODER_COUNT {
            let bound = len + len / 255 + 16;
            let compress = |encoders: &mut Encoders, capacity: usize| {
                let mut dest = vec![0; capacity];
                let written = encoders.compress_with(which, dictionary, &src, &mut dest)?;
                dest.truncate(written);
                Some(dest)
            };
            // Twice, the first time with too little room.
            compress(&mut used, len / 9);
            let fresh = compress(&mut Encoders::default(), bound);
            assert!(compress(&mut used, bound) == fresh, "{name}, {len} bytes, encoder {which}");
        }
    }
}
