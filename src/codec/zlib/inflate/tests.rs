//! Tests of the decoder: against that of flate2 (zlib-rs), and for every part of the format.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::*;
use crate::random::Random;

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1u32, 0u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

/// Returns a zlib stream of `body`, raw deflate, that decodes to `plain`.
fn wrap_zlib(body: &[u8], plain: &[u8]) -> Vec<u8> {
    [&[0x78, 0x01], body, &adler32(plain).to_be_bytes()].concat()
}

fn decode_with_inflater(src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0xa5; len + 8];
    let written = Inflater::default().decode_zlib(src, &mut dest[4..4 + len], adler32);
    assert!(dest[..4].iter().chain(&dest[4 + len..]).all(|&b| b == 0xa5), "wrote outside dest");
    written.map(|written| dest[4..4 + written].to_vec())
}

fn decode_with_flate2(src: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut dest = vec![0; len];
    let mut inflate = Decompress::new(true);
    match inflate.decompress(src, &mut dest, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) => {
            dest.truncate(inflate.total_out() as usize);
            Some(dest)
        }
        _ => None,
    }
}

fn compress_with_flate2(plain: &[u8], level: i32) -> Vec<u8> {
    let mut dest = vec![0; plain.len() * 9 / 8 + 100];
    let mut deflate = Compress::new(Compression::new(level as u32), true);
    assert!(matches!(deflate.compress(plain, &mut dest, FlushCompress::Finish), Ok(Status::StreamEnd)));
    dest.truncate(deflate.total_out() as usize);
    dest
}

/// Returns bytes with matches of all lengths at all kinds of distances between literals.
fn matches_of_all_kinds(len: usize, random: &mut Random) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    while out.len() < len {
        for _ in 0..random.below(12) {
            out.push(random.below(256) as u8);
        }
        let reach = [1, 2, 8, 16, 32, 70, 300, 30_000][random.below(8)];
        if !out.is_empty() {
            let distance = 1 + random.below(reach.min(out.len()));
            let longest = [4, 16, 40, 300, 1000][random.below(5)];
            for _ in 0..random.below(longest) {
                out.push(out[out.len() - distance]);
            }
        }
    }
    out.truncate(len);
    out
}

/// Returns noise whose bytes have `kinds` different values, the more likely the nearer to the middle if `bell`, with a
/// match after about every `calm` bytes.
fn noise(len: usize, kinds: usize, bell: bool, calm: usize, random: &mut Random) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    while out.len() < len {
        for _ in 0..1 + random.below(2 * calm) {
            let byte = match bell {
                true => (0..4).map(|_| random.below(kinds)).sum::<usize>() / 4,
                false => random.below(kinds),
            };
            out.push(byte as u8);
        }
        let distance = 1 + random.below(out.len().min(30_000));
        for _ in 0..3 + random.below(20) {
            out.push(out[out.len() - distance]);
        }
    }
    out.truncate(len);
    out
}

/// Returns a body of one block with the fixed code: `literals`, then the end.
fn fixed_block(literals: &[u8]) -> Vec<u8> {
    let mut bits = TestBitWriter::default();
    bits.put(1, 1).put(1, 2);
    bits.literals(literals).code(0, 7);
    bits.bytes
}

/// Writes bits, lowest first.
#[derive(Default)]
struct TestBitWriter {
    bytes: Vec<u8>,
    used: usize,
}

impl TestBitWriter {
    fn put(&mut self, value: usize, count: usize) -> &mut Self {
        for i in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |=
                ((value.checked_shr(i as u32).unwrap_or(0) & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
        self
    }

    /// Writes bytes with the fixed code.
    fn literals(&mut self, bytes: &[u8]) -> &mut Self {
        for byte in bytes.iter().map(|&byte| usize::from(byte)) {
            if byte < 144 {
                self.code(0x30 + byte, 8)
            } else {
                self.code(0x190 + byte - 144, 9)
            };
        }
        self
    }

    /// Writes a Huffman code, highest bit first.
    fn code(&mut self, value: usize, count: usize) -> &mut Self {
        (0..count).rev().for_each(|i| {
            self.put(value >> i & 1, 1);
        });
        self
    }
}

#[test]
fn every_level_and_kind_round_trips() {
    let mut random = Random(1);
    let (lens, times) = if cfg!(miri) { (5, 1) } else { (8, 3) };
    for len in [0, 1, 5, 300, 400, 2000, 70_000, 200_000].into_iter().take(lens) {
        for _ in 0..times {
            let plain = matches_of_all_kinds(len, &mut random);
            for level in [1, 2, 5, 6, 9].into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
                let stream = compress_with_flate2(&plain, level);
                assert!(decode_with_inflater(&stream, len).as_ref() == Some(&plain), "{len} {level}");
                assert_eq!(decode_with_inflater(&stream, len.wrapping_sub(1).min(len)).is_some(), len == 0);
                // With more room than needed, the shorter result is reported.
                assert!(decode_with_inflater(&stream, len + 500).as_ref() == Some(&plain));
            }
        }
    }
}

#[test]
fn noise_of_every_kind_round_trips() {
    let mut random = Random(6);
    let (lens, step) = if cfg!(miri) { (1, 4) } else { (6, 1) };
    for len in [380, 500, 1000, 2300, 9000, 70_000].into_iter().take(lens) {
        for kinds in [2, 16, 60, 100, 144, 200, 256].into_iter().step_by(step) {
            for calm in [4, 20, 60, 500, 100_000].into_iter().step_by(step) {
                let plain = noise(len, kinds, random.below(2) == 0, calm, &mut random);
                let level = [1, 2, 5, 6, 9][random.below(5)];
                let stream = compress_with_flate2(&plain, level);
                assert!(
                    decode_with_inflater(&stream, len).as_ref() == Some(&plain),
                    "{len} {kinds} {calm} {level}"
                );
                assert_eq!(decode_with_inflater(&stream, len - 1), None);
                assert!(decode_with_inflater(&stream, len + 500).as_ref() == Some(&plain));
                let stream = wrap_zlib(&fixed_block(&plain), &plain);
                assert!(
                    decode_with_inflater(&stream, len).as_ref() == Some(&plain),
                    "{len} {kinds} {calm} fixed"
                );
            }
        }
    }
}

#[test]
fn one_inflater_decodes_streams_of_all_kinds_in_turn() {
    let mut random = Random(2);
    let mut inflater = Inflater::default();
    let shorter = if cfg!(miri) { 10 } else { 1 };
    for round in 0..if cfg!(miri) { 3 } else { 200 } {
        let plain = match round % 2 {
            0 => matches_of_all_kinds(1 + random.below(5000) / shorter, &mut random),
            _ => noise(1 + random.below(9000) / shorter, 1 + random.below(256), true, 40, &mut random),
        };
        let mut stream = compress_with_flate2(&plain, 1 + round % 9);
        if round % 3 == 0 {
            stream.truncate(stream.len() / 2);
        }
        let mut dest = vec![0; plain.len()];
        let written = inflater.decode_zlib(&stream, &mut dest, adler32);
        assert_eq!(written, (round % 3 != 0).then_some(plain.len()));
        assert!(round % 3 == 0 || dest == plain);
    }
}

#[test]
fn matches_of_every_distance_and_length_are_decoded() {
    let mut random = Random(3);
    // Literals on both sides, so that the fast loop copies the match.
    let start: Vec<u8> = (0..400).map(|_| random.below(256) as u8).collect();
    let symbol_of = |value: usize, symbols: &[Entry], first: usize| {
        let base = |symbol: usize| symbols[symbol].value(0);
        let last = if value == 258 {
            285
        } else {
            (first..symbols.len().min(285)).rfind(|&s| base(s) <= value && base(s) > 0).unwrap()
        };
        (last, value - base(last), symbols[last].bits() as usize)
    };
    use table::Entry;
    let (distance_step, length_step) = if cfg!(miri) { (35, 127) } else { (1, 1) };
    for distance in (1..=70).chain([127, 128, 129, 255, 256, 257, 399, 400]).step_by(distance_step) {
        for length in (3..=258).step_by(length_step) {
            let mut bits = TestBitWriter::default();
            bits.put(1, 1).put(1, 2);
            bits.literals(&start);
            let (symbol, rest, extra) = symbol_of(length, &LITLEN_SYMBOLS, 257);
            if symbol < 280 {
                bits.code(symbol - 256, 7)
            } else {
                bits.code(0xc0 + symbol - 280, 8)
            };
            bits.put(rest, extra);
            let (symbol, rest, extra) = symbol_of(distance, &DISTANCE_SYMBOLS, 0);
            bits.code(symbol, 5).put(rest, extra);
            bits.literals(&start).code(0, 7);

            let mut plain = start.clone();
            (0..length).for_each(|_| plain.push(plain[plain.len() - distance]));
            plain.extend(&start);
            let stream = wrap_zlib(&bits.bytes, &plain);
            // The match is copied by the fast loop, and by the checked path (too little room behind it).
            assert!(
                decode_with_inflater(&stream, plain.len()).as_ref() == Some(&plain),
                "{distance} {length}"
            );
            let mut short = bits.bytes.clone();
            short.truncate(short.len() / 2);
            assert_eq!(decode_with_inflater(&short, plain.len()), None);
        }
    }
}

#[test]
fn damaged_streams_are_accepted_and_decoded_as_by_zlib_rs() {
    let mut random = Random(4);
    let (mut accepted, mut refused) = (0, 0);
    let (rounds, damages) = if cfg!(miri) { (2, 5) } else { (300, 40) };
    for round in 0..rounds {
        let len = 1 + random.below(if round % 10 == 0 && !cfg!(miri) { 20_000 } else { 700 });
        let (kinds, bell) = (2 + random.below(255), random.below(2) == 0);
        let plain = match round % 3 {
            0 => noise(len.max(600), kinds, bell, 1 + random.below(200), &mut random),
            _ => matches_of_all_kinds(len, &mut random),
        };
        let stream = compress_with_flate2(&plain, 1 + round % 9);
        for _ in 0..damages {
            let mut bad = stream.clone();
            for _ in 0..1 + random.below(3) {
                // Mostly the header, where the codes are.
                let reach = if random.below(3) == 0 { bad.len() } else { bad.len().min(90) };
                let at = random.below(reach);
                bad[at] ^= 1 << random.below(8);
            }
            if random.below(8) == 0 {
                bad.truncate(random.below(bad.len()));
            }
            // Corrects the checksum, so that it does not hide damage to the data.
            if let Some(decoded) = decode_raw_with_flate2(&bad) {
                let end = decoded.1 + 2;
                if end + 4 <= bad.len() {
                    bad[end..end + 4].copy_from_slice(&adler32(&decoded.0).to_be_bytes());
                }
            }
            let (a, b) =
                (decode_with_inflater(&bad, plain.len() + 100), decode_with_flate2(&bad, plain.len() + 100));
            assert!(a == b, "{} and {}: {bad:02x?}", a.is_some(), b.is_some());
            if a.is_some() { accepted += 1 } else { refused += 1 }
        }
    }
    let least = if cfg!(miri) { 0 } else { 500 };
    assert!(
        accepted + refused == rounds * damages && accepted >= least && refused > least,
        "{accepted} accepted, {refused} refused"
    );
}

/// Returns the content of the deflate data behind the header, and the length of that data in bytes.
fn decode_raw_with_flate2(stream: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut dest = vec![0; 30_000];
    let mut inflate = Decompress::new(false);
    match inflate.decompress(stream.get(2..)?, &mut dest, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) => {
            dest.truncate(inflate.total_out() as usize);
            Some((dest, inflate.total_in() as usize))
        }
        _ => None,
    }
}

#[test]
fn every_truncation_is_refused() {
    let mut random = Random(5);
    let (len, step) = if cfg!(miri) { (400, 80) } else { (3000, 1) };
    for level in [1, 6, 9] {
        let plain = match level {
            9 => noise(len, 100, true, 50, &mut random),
            _ => matches_of_all_kinds(len, &mut random),
        };
        let stream = compress_with_flate2(&plain, level);
        for cut in (0..stream.len()).step_by(step) {
            assert_eq!(decode_with_inflater(&stream[..cut], plain.len()), None, "{cut} of {}", stream.len());
        }
    }
}

#[test]
fn only_valid_zlib_headers_are_accepted() {
    let stream = compress_with_flate2(b"some text", 6);
    let with = |method: u8, flags: u8| [&[method, flags], &stream[2..]].concat();
    let step = if cfg!(miri) { 30 } else { 1 };
    for method in (0..=255).step_by(step) {
        for flags in (0..=255).step_by(step) {
            let stream = with(method, flags);
            let good = u16::from_be_bytes([method, flags]) % 31 == 0
                && method & 0xf == 8
                && method >> 4 <= 7
                && flags & 0x20 == 0;
            assert_eq!(decode_with_inflater(&stream, 9).is_some(), good, "{method:02x} {flags:02x}");
        }
    }
    assert_eq!(decode_with_inflater(&[], 9), None);
    assert_eq!(decode_with_inflater(&[0x78], 9), None);
    assert_eq!(decode_with_inflater(&[0x78, 0x01], 9), None);
}

#[test]
fn valid_stored_blocks_are_copied_and_invalid_ones_refused() {
    // An empty block that is not the last one, then a last block of five bytes.
    let body = [0, 0, 0, 0xff, 0xff, 1, 5, 0, 0xfa, 0xff, b'h', b'e', b'l', b'l', b'o'];
    assert_eq!(decode_with_inflater(&wrap_zlib(&body, b"hello"), 5).as_deref(), Some(&b"hello"[..]));
    assert_eq!(decode_with_inflater(&wrap_zlib(&body, b"hello"), 4), None);
    let mut bad = body;
    bad[8] = 0xfb;
    assert_eq!(decode_with_inflater(&wrap_zlib(&bad, b"hello"), 5), None);
    // Between blocks of other kinds, so that buffered bits have to be returned.
    let mut stream = TestBitWriter::default();
    stream.put(0, 1).put(1, 2).code(0x30 + 65, 8).code(0, 7).put(0, 1).put(0, 2);
    let mut bytes = stream.bytes;
    bytes.extend([2, 0, 0xfd, 0xff, b'B', b'C']);
    let mut stream = TestBitWriter { used: bytes.len() * 8, bytes };
    stream.put(1, 1).put(1, 2).code(0x30 + 68, 8).code(0, 7);
    for spare in [0, 100, 1000] {
        let mut stream = wrap_zlib(&stream.bytes, b"ABCD");
        stream.extend(vec![0; spare]);
        assert_eq!(decode_with_inflater(&stream, 4).as_deref(), Some(&b"ABCD"[..]));
    }
}

#[test]
fn unused_codes_are_refused() {
    for (symbol, symbol_bits) in [(0xc6, 8), (0xc7, 8)] {
        let mut bits = TestBitWriter::default();
        bits.put(1, 1).put(1, 2).code(0x30, 8).code(symbol, symbol_bits).code(0, 5).code(0, 7);
        assert_eq!(decode_with_inflater(&wrap_zlib(&bits.bytes, &[0; 259]), 1000), None);
    }
    for distance in [30, 31] {
        let mut bits = TestBitWriter::default();
        bits.put(1, 1).put(1, 2).code(0x30, 8).code(1, 7).code(distance, 5).code(0, 7);
        assert_eq!(decode_with_inflater(&wrap_zlib(&bits.bytes, &[0; 4]), 4), None);
        assert_eq!(decode_with_inflater(&wrap_zlib(&bits.bytes, &[0; 4]), 1000), None);
    }
    let mut bits = TestBitWriter::default();
    bits.put(1, 1).put(3, 2).put(0, 64);
    assert_eq!(decode_with_inflater(&wrap_zlib(&bits.bytes, &[]), 10), None);
}

#[test]
fn matches_before_the_start_are_refused() {
    for spare in [4, 1000] {
        let mut bits = TestBitWriter::default();
        bits.put(1, 1).put(1, 2).code(0x30, 8).code(1, 7).code(1, 5).code(0, 7);
        bits.bytes.extend([0; 19]);
        assert_eq!(decode_with_inflater(&wrap_zlib(&bits.bytes, &[0; 4]), spare), None);
    }
}

#[test]
fn a_match_before_the_start_is_refused_at_any_position() {
    let len = if cfg!(miri) { 900 } else { 2900 };
    let plain = noise(len, 256, true, 100_000, &mut Random(10));
    for at in (0..len).step_by(if cfg!(miri) { 400 } else { 50 }) {
        let mut bits = TestBitWriter::default();
        bits.put(1, 1).put(1, 2);
        // A match of three bytes from 32768 bytes before.
        bits.literals(&plain[..at]).code(1, 7).code(29, 5).put(8191, 13);
        bits.literals(&plain[at..]).code(0, 7);
        let mut dest = vec![0; plain.len() + 500];
        assert_eq!(Inflater::default().decode_raw(&bits.bytes, &mut dest), None, "{at}");
    }
}
