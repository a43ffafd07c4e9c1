//! The vectors of the specification.

use super::data::{crc32, generate_words};
use super::*;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn compress_with_new_tables(clevel: i32, src: &[u8], maxout: usize) -> Vec<u8> {
    compress_guarded(&mut HashTables::new().unwrap(), Release::V2_5_3, clevel, src, maxout)
}

#[test]
fn hand_made_streams_decode_as_in_the_reference() {
    let cases: [(&str, usize, &str); 13] = [
        ("2041", 1, "A"),
        ("0041", 1, "A"),
        ("e041", 1, "A"),
        ("3f41", 1, ""),
        ("2041", 0, ""),
        ("20", 5, ""),
        ("2141", 5, ""),
        ("21414220", 9, ""),
        ("21414220000041", 9, "ABBBBA"),
        ("21414220010041", 9, "ABABAA"),
        ("21414220020041", 9, ""),
        ("21414220010041", 5, ""),
        ("2141422001004158", 9, ""),
    ];
    for (input, capacity, expected) in cases {
        let output = decompress_guarded(&hex(input), capacity).unwrap_or_default();
        assert_eq!(output, expected.as_bytes(), "{input} into {capacity}");
    }
    assert_eq!(decompress_guarded(&[], 9), None);
}

#[test]
fn match_at_the_end_of_a_stream_is_checked_but_not_copied() {
    let mut s = hex("20 41 E0");
    s.extend([255; 35]);
    s.extend(hex("42 00 02 42 43 44"));
    assert_eq!(s.len(), 44);
    let mut expected = vec![b'A'; 9001];
    expected.extend(b"BCD");

    let cases: [(&str, Option<&[u8]>); 6] = [
        ("", Some(b"")),
        ("9F FF 03 2B 00 5A", Some(b"AAAAAAZ")),
        ("9F FF 03 2D 00 5A", None),
        ("9F FF 03 2B", Some(b"")),
        ("80 05", None),
        ("E0 01 05", Some(b"")),
    ];
    for (tail, added) in cases {
        let input = [&s[..], &hex(tail)].concat();
        let expected = added.map(|added| [&expected[..], added].concat());
        assert_eq!(decompress_guarded(&input, 10_000), expected, "{tail}");
    }
}

#[test]
fn short_inputs_encode_as_in_the_reference() {
    for clevel in 1..=9 {
        let small = compress_with_new_tables(clevel, &b"abcdefgh".repeat(12), 96);
        let expected = if clevel < 3 { "" } else { "27 6162636465666768 E0 4C 07 02 666768" };
        assert_eq!(small, hex(expected), "clevel {clevel}");

        let larger = compress_with_new_tables(clevel, &b"abcdefgh".repeat(40), 320);
        assert_eq!(larger, hex("27 6162636465666768 E0 FF 2D 07 02 666768"), "clevel {clevel}");

        let zeros = compress_with_new_tables(clevel, &[0; 1024], 1024);
        assert_eq!(zeros, hex("23 00000000 E0 FF FF FF F3 03 02 000000"), "clevel {clevel}");

        let text = b"The quick brown fox jumps over the lazy dog. ".repeat(6);
        let expected = if clevel < 4 {
            ""
        } else {
            "3f54686520717569636b2062726f776e20666f78206a756d7073206f7665722074\
             0c6865206c617a7920646f672e20e0d52c02672e20"
        };
        assert_eq!(compress_with_new_tables(clevel, &text, 270), hex(expected), "clevel {clevel}");
        assert_eq!(compress_with_new_tables(clevel, &text, 66), hex(expected), "clevel {clevel}");
        assert_eq!(compress_with_new_tables(clevel, &text, 65), hex(""), "clevel {clevel}");
    }
}

/// A range of levels, and the size and CRC-32 of its stream (0 if there is none).
type ExpectedStreams = (std::ops::RangeInclusive<i32>, usize, u32);
/// The parameters of [`generate_words`], the CRC-32 of the generated data, and its streams.
type GeneratedCase<'a> = ((usize, usize, usize), u32, &'a [ExpectedStreams]);

#[test]
#[cfg_attr(miri, ignore = "takes many minutes for 64 KiB")]
fn generated_data_encodes_as_in_the_reference() {
    let cases: [GeneratedCase; 6] = [
        (
            (3, 400, 65536),
            0xd5d1_12e9,
            &[
                (1..=1, 4028, 0xfa97_9655),
                (2..=2, 3997, 0x7c4a_af80),
                (3..=8, 3982, 0xc1af_667e),
                (9..=9, 3997, 0xfb42_55ed),
            ],
        ),
        (
            (40, 60, 65536),
            0x47da_89ca,
            &[
                (1..=1, 0, 0),
                (2..=2, 18066, 0xdc3a_d6c1),
                (3..=8, 17842, 0xc6be_bbbc),
                (9..=9, 17880, 0x59cf_51a9),
            ],
        ),
        (
            (90, 120, 131072),
            0x468e_bfb9,
            &[(1..=2, 0, 0), (3..=8, 31615, 0xa5d0_c82b), (9..=9, 31719, 0xc5fc_6dba)],
        ),
        (
            (300, 60, 131072),
            0x71b7_dbe2,
            &[(1..=2, 0, 0), (3..=8, 52976, 0x3980_381d), (9..=9, 53233, 0xb0a3_de4e)],
        ),
        ((1200, 120, 262144), 0xf43f_505e, &[(1..=8, 0, 0), (9..=9, 189_159, 0x1175_161e)]),
        ((3000, 40, 300_000), 0xb223_2b48, &[(1..=8, 0, 0), (9..=9, 241_879, 0x4070_fc81)]),
    ];
    let mut tables = HashTables::new().unwrap();
    for ((count, word_len, total), crc, streams) in cases {
        let input = generate_words(count, word_len, total);
        assert_eq!(crc32(&input), crc, "the generator");
        for (levels, size, crc) in streams {
            for clevel in levels.clone() {
                let output = compress_guarded(&mut tables, Release::V2_5_3, clevel, &input, total);
                assert_eq!((output.len(), crc32(&output)), (*size, *crc), "{count}, clevel {clevel}");
                if *size > 0 {
                    assert!(decompress_guarded(&output, total).as_ref() == Some(&input));
                }
            }
        }
    }
}

#[test]
fn tiny_inputs_small_outputs_and_level_0_are_not_compressed() {
    for len in 0..16 {
        assert!(compress_with_new_tables(9, &vec![0; len], 100).is_empty());
    }
    for maxout in 0..66 {
        assert!(compress_with_new_tables(9, &[0; 1000], maxout).is_empty());
    }
    for clevel in [i32::MIN, -1, 0] {
        assert!(compress_with_new_tables(clevel, &[0; 1000], 1000).is_empty());
    }
    assert!(!compress_with_new_tables(i32::MAX, &[0; 1000], 1000).is_empty());
}
