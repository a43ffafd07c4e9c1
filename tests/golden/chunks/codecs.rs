//! Streams of the codecs, taken from an unfiltered, unsplit, one-block chunk (codecs.md 3.4, 14.1, 19.5).

use std::ffi::{c_int, c_void};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams};

use super::assert_hex;
use crate::support::calls::{Header, Params, compress, decompress};
use crate::support::library::Library;
use crate::support::{all_libraries, crc32, hex, written_here};

/// Parameters for one block, one stream, no filter.
fn single_stream_params(codec: u8, clevel: u8, src: &[u8]) -> Params {
    Params {
        codec,
        clevel,
        typesize: 1,
        blocksize: src.len() as i32,
        splitmode: 2,
        filters: [0; 6],
        ..Params::default()
    }
}

/// Returns the codec's output for `src`, or `None` if the codec failed and the data are stored uncompressed.
fn compressed_stream(library: &Library, params: &Params, src: &[u8]) -> Option<Vec<u8>> {
    let chunk = compress(library, params, src, src.len() + 4096).expect("a chunk");
    let decoded = decompress(library, 1, &chunk, src.len());
    assert!(decoded.as_deref() == Ok(src), "{}: {params:?}: round trip", library.name);
    if Header::parse(&chunk).is_memcpyed() {
        return None;
    }
    let word = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(word(32), 36, "one block");
    assert_eq!(word(36) as usize, chunk.len() - 40, "one stream");
    let stream = &chunk[40..];
    if stream.len() == src.len() {
        assert_eq!(stream, src);
        return None;
    }
    Some(stream.to_vec())
}

/// The generated data of codecs.md 3.4.
fn generate_data(words: usize, width: usize, total: usize) -> Vec<u8> {
    let mut x = 1u32;
    let mut next = || {
        x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7FFF_FFFF;
        (x >> 16) as usize
    };
    let dictionary: Vec<Vec<u8>> = (0..words).map(|_| (0..width).map(|_| next() as u8).collect()).collect();
    let mut out = Vec::new();
    while out.len() < total {
        let word = next() % words;
        let len = 5 + next() % (width - 4);
        out.extend_from_slice(&dictionary[word][..len]);
    }
    out.truncate(total);
    out
}

#[test]
fn blosclz_streams_match_the_vectors() {
    let abc = b"abcdefgh";
    let quick = b"The quick brown fox jumps over the lazy dog. ".repeat(6);
    let fox = hex("3f54686520717569636b2062726f776e20666f78206a756d7073206f76657220740c6865206c617a7920646f
                   672e20e0d52c02672e20");
    type Case<'a> = (&'a str, Vec<u8>, std::ops::RangeInclusive<u8>, Option<Vec<u8>>);
    let cases: Vec<Case> = vec![
        ("abc x 12, low", abc.repeat(12), 1..=2, None),
        ("abc x 12", abc.repeat(12), 3..=9, Some(hex("27 6162636465666768 E0 4C 07 02 666768"))),
        ("abc x 40", abc.repeat(40), 1..=9, Some(hex("27 6162636465666768 E0 FF 2D 07 02 666768"))),
        ("fox, low", quick.clone(), 1..=3, None),
        ("fox", quick.clone(), 4..=9, Some(fox)),
    ];
    for library in all_libraries() {
        for (name, src, clevels, expected) in &cases {
            for clevel in clevels.clone() {
                let got = compressed_stream(library, &single_stream_params(0, clevel, src), src);
                assert_eq!(got.is_some(), expected.is_some(), "{}: {name}, clevel {clevel}", library.name);
                if let (Some(got), Some(expected)) = (got, expected) {
                    assert_hex(library, &format!("{name}, clevel {clevel}"), &got, expected);
                }
            }
        }
        let params = single_stream_params(0, 5, &quick);
        assert_eq!(compress(library, &params, &quick, 40 + 66).map(|chunk| chunk.len()), Ok(94));
        // The codec of the reference gets the rest of the destination, and needs 66 bytes.
        let tight = compress(library, &params, &quick, 40 + 65);
        if library.is_reference() {
            assert_eq!(tight, Err(0));
        } else if let Ok(chunk) = tight {
            assert_eq!(decompress(library, 1, &chunk, quick.len()).as_ref(), Ok(&quick));
        }
    }
}

/// (words, width, total, CRC of the data, [(clevels, size, CRC)], size 0: the codec fails).
type GeneratedCase = (usize, usize, usize, u32, &'static [(std::ops::RangeInclusive<u8>, usize, u32)]);

const BLOSCLZ_CASES: [GeneratedCase; 6] = [
    (
        3,
        400,
        65_536,
        0xd5d1_12e9,
        &[
            (1..=1, 4028, 0xfa97_9655),
            (2..=2, 3997, 0x7c4a_af80),
            (3..=8, 3982, 0xc1af_667e),
            (9..=9, 3997, 0xfb42_55ed),
        ],
    ),
    (
        40,
        60,
        65_536,
        0x47da_89ca,
        &[
            (1..=1, 0, 0),
            (2..=2, 18_066, 0xdc3a_d6c1),
            (3..=8, 17_842, 0xc6be_bbbc),
            (9..=9, 17_880, 0x59cf_51a9),
        ],
    ),
    (
        90,
        120,
        131_072,
        0x468e_bfb9,
        &[(1..=2, 0, 0), (3..=8, 31_615, 0xa5d0_c82b), (9..=9, 31_719, 0xc5fc_6dba)],
    ),
    (
        300,
        60,
        131_072,
        0x71b7_dbe2,
        &[(1..=2, 0, 0), (3..=8, 52_976, 0x3980_381d), (9..=9, 53_233, 0xb0a3_de4e)],
    ),
    (1200, 120, 262_144, 0xf43f_505e, &[(1..=8, 0, 0), (9..=9, 189_159, 0x1175_161e)]),
    (3000, 40, 300_000, 0xb223_2b48, &[(1..=8, 0, 0), (9..=9, 241_879, 0x4070_fc81)]),
];

#[test]
fn blosclz_streams_have_the_documented_sizes_and_crcs() {
    for (words, width, total, crc, levels) in BLOSCLZ_CASES {
        let src = generate_data(words, width, total);
        assert_eq!(crc32(&src), crc, "G({words}, {width}, {total})");
        for library in all_libraries() {
            for (clevels, size, crc) in levels {
                for clevel in clevels.clone() {
                    let got = compressed_stream(library, &single_stream_params(0, clevel, &src), &src);
                    let got = got.map_or((0, 0), |bytes| (bytes.len(), crc32(&bytes)));
                    assert_eq!(
                        got,
                        (*size, *crc),
                        "{}: G({words}, {width}, {total}), clevel {clevel}",
                        library.name
                    );
                }
            }
        }
    }
}

#[test]
fn other_codecs_compress_like_the_reference() {
    let src = generate_data(40, 60, 65_536);
    let sizes: [(u8, [usize; 9]); 4] = [
        (1, [17_990, 17_403, 17_087, 16_049, 15_432, 14_869, 14_236, 14_161, 13_792]),
        (2, [13_283, 13_283, 9800, 9770, 9747, 9740, 9737, 9737, 9737]),
        (4, [13_038, 11_564, 9646, 8711, 7860, 7691, 7693, 7691, 7691]),
        (5, [10_949, 10_390, 7650, 7633, 7332, 7325, 7362, 7306, 7305]),
    ];
    for library in all_libraries() {
        for (codec, sizes) in &sizes {
            for (clevel, &size) in (1..).zip(sizes) {
                let got = compressed_stream(library, &single_stream_params(*codec, clevel, &src), &src)
                    .expect("compressed")
                    .len();
                if library.is_reference() {
                    assert_eq!(got, size, "codec {codec}, clevel {clevel}");
                } else {
                    // Another encoder may write other bytes, but not considerably more.
                    assert!(
                        got <= size + size / 50,
                        "codec {codec}, clevel {clevel}: {got} bytes, reference {size}"
                    );
                }
            }
        }
    }
}

#[test]
fn streams_at_level_5_match_the_vectors() {
    let src = b"abcdefgh".repeat(12);
    let cases = [
        (0, 0x15, "276162636465666768e04c0702666768"),
        (1, 0x35, "ff0161626364656667686162636465666768100038506465666768"),
        (2, 0x35, "8f6162636465666768080040506465666768"),
        (4, 0x75, "785e4b4c4a4e494d4bcf48a4110d0022a925b1"),
        (5, 0x95, "28b52ffd20607d00004061626364656667680100b5a97001"),
    ];
    for library in all_libraries() {
        for (codec, flags, expected) in cases {
            let params = single_stream_params(codec, 5, &src);
            let expected = hex(expected);
            let chunk = compress(library, &params, &src, 1000).expect("a chunk");
            assert_eq!(chunk[2], flags, "{}: codec {codec}", library.name);
            let got = compressed_stream(library, &params, &src).expect("compressed");
            if library.is_reference() || codec != 4 {
                assert_hex(library, &format!("codec {codec}"), &got, &expected);
            } else {
                // Any valid zlib stream is accepted; the reference's stream must be readable.
                let mut theirs = chunk[..36].to_vec();
                theirs.extend((expected.len() as i32).to_le_bytes());
                theirs.extend(&expected);
                theirs[12] = theirs.len() as u8;
                assert_eq!(decompress(library, 1, &theirs, src.len()).as_deref(), Ok(&src[..]));
            }
        }
    }
}

unsafe extern "C" fn encode_to_three_bytes(
    _: *const u8,
    _: i32,
    output: *mut u8,
    output_len: i32,
    meta: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    assert!(output_len >= 3);
    // SAFETY: the caller passes `output_len` writable bytes.
    unsafe { output.copy_from_nonoverlapping([0xC0, meta, 0xDE].as_ptr(), 3) };
    3
}

unsafe extern "C" fn decode_from_three_bytes(
    input: *const u8,
    input_len: i32,
    output: *mut u8,
    output_len: i32,
    meta: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    // SAFETY: the caller passes `input_len` readable and `output_len` writable bytes.
    let (input, output) = unsafe {
        (
            std::slice::from_raw_parts(input, input_len as usize),
            std::slice::from_raw_parts_mut(output, output_len as usize),
        )
    };
    if input != [0xC0, meta, 0xDE] {
        return -1;
    }
    for (i, byte) in output.iter_mut().enumerate() {
        *byte = b'a' + (i % 8) as u8;
    }
    output_len
}

#[test]
fn user_codec_chunk_matches_the_vector() {
    // codecs.md 14.1 with id 201 (the filter vectors use 200).
    let src = b"abcdefgh".repeat(12);
    let mut expected =
        hex("05 09 d5 01 60 00 00 00 60 00 00 00 2b 00 00 00 00 00 00 00 00 00 c8 42 00 00 00 00 00 00 00 00
                            24 00 00 00 03 00 00 00 c0 42 de");
    expected[0x16] = 201;
    let expected = written_here(expected, &[0]);
    for library in all_libraries() {
        let mut codec = blosc2_codec {
            compcode: 201,
            compname: c"three".as_ptr().cast_mut(),
            complib: 201,
            version: 9,
            encoder: Some(encode_to_three_bytes),
            decoder: Some(decode_from_three_bytes),
        };
        // SAFETY: a valid struct whose name is static.
        assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec) }, 0);
        let params = Params { codec_meta: 0x42, ..single_stream_params(201, 5, &src) };
        let chunk = compress(library, &params, &src, 1000).expect("a chunk");
        assert_hex(library, "user codec", &chunk, &expected);
        assert_eq!(decompress(library, 1, &chunk, 96).as_deref(), Ok(&src[..]));
        let mut other_meta = chunk.clone();
        other_meta[0x17] = 1;
        assert_eq!(decompress(library, 1, &other_meta, 96), Err(-3), "{}", library.name);
    }
}
