//! Streams made by hand (`codecs.md` 3.2), and the limits of sizes and levels. `tests/golden` has the vectors of
//! `codecs.md` 3.4.

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
