//! Golden vectors: chunks that the format documents state byte for byte, from our library and from the reference
//! (which verifies the vectors). Each vector also decodes to its input in both.

mod codecs;
mod environment;
mod filters;
mod interface;

use crate::support::calls::{
    Header, OwnedContext, Params, Special, compress, decompress, dparams, getitem, special_chunk, vlcompress,
};
use crate::support::library::Library;
use crate::support::{all_libraries, hex, written_here};

/// u32 values as little-endian bytes.
fn u32_bytes(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[track_caller]
fn assert_hex(library: &Library, what: &str, got: &[u8], expected: &[u8]) {
    if got == expected {
        return;
    }
    let dump = |bytes: &[u8]| {
        let lines: Vec<String> = bytes.chunks(16).take(24).map(|line| format!("{line:02x?}")).collect();
        lines.join("\n")
    };
    panic!(
        "{}: {what}: {} bytes\n{}\nexpected {} bytes\n{}",
        library.name,
        got.len(),
        dump(got),
        expected.len(),
        dump(expected)
    );
}

/// Compresses in every library, compares with the vector of a little-endian machine, and decodes in every library.
#[track_caller]
fn check_vector(name: &str, params: &Params, src: &[u8], destsize: usize, expected: &[u8]) {
    let expected = &written_here(expected.to_vec(), &[0]);
    let mut stored = [&expected[..32], src].concat();
    stored[2] |= 2;
    stored[12..16].copy_from_slice(&(src.len() as i32 + 32).to_le_bytes());
    for library in all_libraries() {
        let chunk = compress(library, params, src, destsize)
            .unwrap_or_else(|code| panic!("{}: {name}: error {code}", library.name));
        // This library stores data whose coded form is not shorter (chunk.md 3.6).
        let is_stored = expected.len() >= src.len() + 32 && !library.is_reference();
        assert_hex(library, name, &chunk, if is_stored { &stored } else { expected });
        for nthreads in [1, 4] {
            let decoded = decompress(library, nthreads, expected, src.len());
            assert_eq!(decoded.as_deref(), Ok(src), "{}: {name} decoded", library.name);
        }
    }
}

fn params_with_typesize(typesize: i32) -> Params {
    Params { typesize, ..Params::default() }
}

#[test]
fn v1_empty_chunk() {
    let expected = hex("05 01 07 08 00 00 00 00 01 00 00 00 20 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00");
    check_vector("V1", &Params::default(), &[], 32, &expected);
}

#[test]
fn v2_less_than_32_bytes() {
    let expected = hex("05 01 07 01 0a 00 00 00 0a 00 00 00 2a 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00
                        00 01 02 03 04 05 06 07 08 09");
    check_vector("V2", &params_with_typesize(1), &(0..10).collect::<Vec<u8>>(), 42, &expected);
}

#[test]
fn v3_zeros() {
    let expected = hex("05 01 15 04 40 00 00 00 40 00 00 00 20 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 10");
    check_vector("V3", &params_with_typesize(4), &[0; 64], 96, &expected);
}

#[test]
fn v4_repeated_byte() {
    let expected = hex("05 01 15 04 40 00 00 00 40 00 00 00 29 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00
                        24 00 00 00 ef ff ff ff 01");
    check_vector("V4", &params_with_typesize(4), &[0x11; 64], 96, &expected);
}

#[test]
fn v5_split_lz4_and_runs() {
    let expected = hex("05 01 25 04 80 00 00 00 80 00 00 00 47 00 00 00
                        00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 00
                        24 00 00 00 11 00 00 00 10 00 01 00 10 03 05 00
                        0d 02 00 50 00 00 00 00 00 00 00 00 00 fe ff ff
                        ff 01 ff ff ff ff 01");
    let src = u32_bytes((0..32).map(|i| if i == 5 { 0x0102_0003 } else { 0x0102_0000 }));
    check_vector("V5", &Params { codec: 1, ..params_with_typesize(4) }, &src, 1000, &expected);
}

fn v6_vector() -> (Params, Vec<u8>, Vec<u8>) {
    let expected = hex("05 01 25 04 a0 00 00 00 80 00 00 00 7c 00 00 00
                        00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 00
                        28 00 00 00 58 00 00 00 20 00 00 00 00 01 02 03
                        04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13
                        14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 00 00 00 00
                        00 00 00 00 00 00 00 00 20 00 00 00 20 21 22 23
                        24 25 26 27 00 00 00 00 00 00 00 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00");
    (Params { codec: 1, blocksize: 128, ..params_with_typesize(4) }, u32_bytes(0..40), expected)
}

#[test]
fn v6_two_blocks() {
    let (params, src, expected) = v6_vector();
    check_vector("V6", &params, &src, 1000, &expected);
    check_vector("V6 in 192 bytes", &params, &src, 192, &expected);
    let mut blosclz = expected;
    blosclz[2] = 0x05;
    blosclz[0x16] = 0;
    check_vector("V6 with blosclz", &Params { codec: 0, ..params }, &src, 1000, &blosclz);
}

#[test]
fn v7_never_split() {
    let expected = hex("05 01 35 04 a0 00 00 00 80 00 00 00 80 00 00 00
                        00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 00
                        28 00 00 00 5c 00 00 00 30 00 00 00 ff 16 00 01
                        02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11
                        12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 00 00
                        00 00 00 05 00 43 50 00 00 00 00 00 20 00 00 00
                        20 21 22 23 24 25 26 27 00 00 00 00 00 00 00 00
                        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    let (params, src, _) = v6_vector();
    check_vector("V7", &Params { splitmode: 2, ..params }, &src, 1000, &expected);
}

#[test]
fn v8_output_depends_on_the_destination() {
    let src = hex("c665a7742ac3ffdb8c822c1d4c08ab4d06c11ecd16a66f62b4a62e89ba1f7dee
                   ffd5816c649f99134f784a8bf5a1539e9f1314bbe8ad25877b53980c85c1e307");
    let params = Params { blocksize: 32, filters: [0; 6], ..params_with_typesize(1) };
    let mut roomy = hex("05 01 15 01 40 00 00 00 20 00 00 00 70 00 00 00");
    roomy.extend([0; 16]);
    roomy.extend(hex("28 00 00 00 4c 00 00 00"));
    for half in src.chunks(32) {
        roomy.extend(hex("20 00 00 00"));
        roomy.extend(half);
    }
    check_vector("V8, destsize 1000", &params, &src, 1000, &roomy);
    let mut tight = hex("05 01 17 01 40 00 00 00 20 00 00 00 60 00 00 00");
    tight.extend([0; 16]);
    tight.extend(&src);
    check_vector("V8, destsize 96", &params, &src, 96, &tight);
    for library in all_libraries() {
        assert_eq!(compress(library, &params, &src, 95), Err(0), "{}: V8, destsize 95", library.name);
    }
}

#[test]
fn v9_special_chunks() {
    let head = |cbytes: u8, flags: u8| {
        let mut header = hex("05 01 05 04 e8 03 00 00 e8 03 00 00");
        header.extend([cbytes, 0, 0, 0]);
        header.extend([0; 15]);
        header.push(flags);
        header
    };
    let mut value = head(0x24, 0x30);
    value.extend(hex("00 00 60 40"));
    let pattern = 3.5f32.to_le_bytes();
    let nan = f32::NAN.to_ne_bytes();
    let cases = [
        (Special::Zeros, head(0x20, 0x10), [0; 4]),
        (Special::Nans, head(0x20, 0x20), nan),
        // The destination keeps the fill bytes of the tests.
        (Special::Uninit, head(0x20, 0x40), [crate::support::calls::DEST_FILL_BYTE; 4]),
        (Special::Value(&pattern), value, pattern),
    ];
    for library in all_libraries() {
        for (special, expected, item) in &cases {
            let chunk = special_chunk(library, &params_with_typesize(4), *special, 1000, 100)
                .expect("a special chunk");
            assert_hex(library, "V9", &chunk, expected);
            for nthreads in [1, 4] {
                let decoded = decompress(library, nthreads, &chunk, 1000);
                assert_eq!(decoded, Ok(item.repeat(250)), "{}: {special:?} decoded", library.name);
                let items = getitem(library, nthreads, &chunk, 7, 3, 12);
                assert_eq!(items, Ok(item.repeat(3)), "{}: {special:?} items", library.name);
            }
        }
        let plain = Params { clevel: 0, ..params_with_typesize(4) };
        let chunk = special_chunk(library, &plain, Special::Zeros, 100_000, 32).expect("zeros");
        assert_eq!(Header::parse(&chunk).blocksize, 8192, "{}", library.name);

        let value: Vec<u8> = (0..300u32).map(|i| i as u8).collect();
        let chunk = special_chunk(library, &params_with_typesize(300), Special::Value(&value), 90_000, 332)
            .expect("a value");
        let header = hex("05 01 05 01 90 5f 01 00 90 5f 01 00 4c 01 00 00");
        assert_hex(library, "V9, typesize 300", &chunk[..16], &header);
        assert_eq!(chunk.len(), 332);
        assert_eq!(decompress(library, 1, &chunk, 90_000), Ok(value.repeat(300)), "{}", library.name);
    }
}

#[test]
fn v10_typesize_300() {
    let expected = hex("05 01 05 01 58 02 00 00 58 02 00 00 29 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00
                        24 00 00 00 ef ff ff ff 01");
    check_vector("V10", &params_with_typesize(300), &[0x11; 600], 700, &expected);
}

#[test]
fn v11_zero_runs_and_a_raw_leftover() {
    let mut src = vec![0u8; 160];
    src[156..].fill(1);
    let mut expected = hex("05 01 15 01 a0 00 00 00 40 00 00 00 58 00 00 00");
    expected.extend([0; 16]);
    expected.extend(hex("2c 00 00 00 30 00 00 00 34 00 00 00 00 00 00 00 00 00 00 00 20 00 00 00"));
    expected.extend(&src[128..]);
    check_vector(
        "V11",
        &Params { blocksize: 64, filters: [0; 6], ..params_with_typesize(1) },
        &src,
        1000,
        &expected,
    );
}

#[test]
fn v12_delta() {
    let expected = hex("05 01 1d 04 80 00 00 00 40 00 00 00 b0 00 00 00
                        00 00 00 00 00 03 00 00 00 00 00 00 00 00 00 00
                        28 00 00 00 6c 00 00 00 40 00 00 00 01 00 00 00
                        03 00 00 00 07 00 00 00 0f 00 00 00 1b 00 00 00
                        0b 00 00 00 3f 00 00 00 17 00 00 00 73 00 00 00
                        13 00 00 00 37 00 00 00 1f 00 00 00 eb 00 00 00
                        3b 00 00 00 6f 00 00 00 27 00 00 00 40 00 00 00
                        00 01 00 00 20 01 00 00 40 01 00 00 60 01 00 00
                        80 01 00 00 a0 01 00 00 c0 01 00 00 20 02 00 00
                        00 02 00 00 20 02 00 00 c0 02 00 00 a0 02 00 00
                        80 03 00 00 e0 03 00 00 40 03 00 00 20 03 00 00");
    let params = Params { blocksize: 64, filters: [0, 0, 0, 0, 0, 3], ..params_with_typesize(4) };
    check_vector("V12", &params, &u32_bytes((0..32).map(|i| i * i + 1)), 1000, &expected);
}

#[test]
fn v14_variable_length_blocks() {
    let expected = hex("06 01 15 01 24 00 00 00 03 00 00 00 5c 00 00 00
                        00 00 00 00 00 01 00 00 00 00 00 00 00 00 01 00
                        2c 00 00 00 34 00 00 00 44 00 00 00 04 00 00 00
                        72 65 64 00 0c 00 00 00 67 72 65 65 6e 2d 67 72
                        65 65 6e 00 14 00 00 00 62 6c 75 65 2d 62 6c 75
                        65 2d 62 6c 75 65 2d 62 6c 75 65 00");
    let mut blocks = vec![b"red\0".to_vec(), b"green-green\0".to_vec(), b"blue-blue-blue-blue\0".to_vec()];
    let libraries = all_libraries();
    for &library in &libraries {
        for clevel in [5, 0] {
            let params = Params { clevel, ..params_with_typesize(1) };
            let chunk = vlcompress(library, &params, &blocks, 1000).expect("V14");
            assert_hex(library, "V14", &chunk, &written_here(expected.clone(), &[0]));
        }
        let mut reader = OwnedContext::for_decompression(library, dparams(1));
        assert_eq!(reader.vldecompress(&expected, 3).as_ref(), Ok(&blocks), "{}", library.name);
        assert_eq!(reader.vldecompress_block(&expected, 1).as_ref(), Ok(&blocks[1]), "{}", library.name);
        assert_eq!(decompress(library, 1, &expected, 36), Ok(blocks.concat()), "{}", library.name);
    }
    blocks.push(vec![b'z'; 100]);
    for &library in &libraries {
        let chunk =
            vlcompress(library, &params_with_typesize(1), &blocks, 1000).expect("V14 with four blocks");
        assert_eq!(chunk.len(), 112);
        assert_hex(library, "V14, starts", &chunk[32..48], &u32_bytes([0x30, 0x38, 0x48, 0x60]));
        let span = hex("64 00 00 00 23 7a 7a 7a 7a e0 54 03 02 7a 7a 7a");
        assert_hex(library, "V14, last block", &chunk[0x60..], &span);
    }
}

#[test]
fn v15_lazy_chunk_without_its_frame_is_rejected() {
    let lazy = hex("05 01 25 04 20 01 00 00 80 00 00 00 c2 00 00 00
                    00 00 00 00 00 01 01 00 00 00 00 00 00 00 00 08
                    2c 00 00 00 5c 00 00 00 9e 00 00 00 01 00 00 00
                    11 01 00 00 00 00 00 00 30 00 00 00 42 00 00 00
                    24 00 00 00");
    for library in all_libraries() {
        assert_eq!(decompress(library, 1, &lazy, 288), Err(-12), "{}", library.name);
        assert_eq!(getitem(library, 1, &lazy, 0, 1, 4), Err(-12), "{}", library.name);
        let (mut nbytes, mut cbytes, mut blocksize) = (0, 0, 0);
        // SAFETY: a header and valid out-pointers.
        let rc = unsafe {
            (library.blosc2_cbuffer_sizes)(lazy.as_ptr().cast(), &mut nbytes, &mut cbytes, &mut blocksize)
        };
        assert_eq!((rc, nbytes, cbytes, blocksize), (0, 288, 194, 128), "{}", library.name);
    }
}

#[test]
fn v16_run_tokens() {
    let chunk = |stream: &str| {
        let mut chunk = hex("05 01 35 01 64 00 00 00 64 00 00 00 29 00 00 00");
        chunk.extend([0; 16]);
        chunk.extend(hex("24 00 00 00"));
        chunk.extend(hex(stream));
        chunk
    };
    for library in all_libraries() {
        let cases = [
            ("f9 ff ff ff ff", Ok(vec![7; 100])),
            ("01 ff ff ff 01", Ok(vec![255; 100])),
            ("00 ff ff ff 01", Err(-17)),
        ];
        for (stream, expected) in cases {
            for nthreads in [1, 4] {
                assert_eq!(
                    decompress(library, nthreads, &chunk(stream), 100),
                    expected,
                    "{}: {stream}",
                    library.name
                );
            }
        }
    }
}

#[test]
fn v17_dictionaries() {
    let src: Vec<u8> = (0..5120u32).map(|i| i as u8).collect();
    let params = Params { codec: 1, use_dict: true, filters: [0; 6], ..params_with_typesize(1) };
    let mut dictionary: Vec<u8> = (0..=255).collect();
    dictionary[4..8].copy_from_slice(&[0, 1, 0, 0]);
    let chunk = |cbytes: u8, codec: u8, stream: &str| {
        let mut chunk = hex("05 01 35 01 00 14 00 00 00 14 00 00");
        chunk.extend([cbytes, 1, 0, 0]);
        chunk.extend(hex("00 00 00 00 00 00"));
        chunk.push(codec);
        chunk.extend([0; 8]);
        chunk.push(1);
        chunk.extend(hex("28 01 00 00 00 01 00 00"));
        chunk.extend(&dictionary);
        chunk.extend(hex(stream));
        chunk
    };
    let lz4 = chunk(
        0x51,
        1,
        &format!("25 00 00 00 8f 00 01 02 03 04 05 06 07 00 01 {} f3 50 fb fc fd fe ff", "ff".repeat(19)),
    );
    check_vector("V17, lz4", &params, &src, 30_000, &lz4);
    let lz4hc = chunk(
        0x50,
        2,
        &format!("24 00 00 00 00 00 01 4f 04 05 06 07 00 01 {} f3 50 fb fc fd fe ff", "ff".repeat(19)),
    );
    check_vector("V17, lz4hc", &Params { codec: 2, ..params.clone() }, &src, 30_000, &lz4hc);
    for library in all_libraries() {
        for codec in [1, 2, 5] {
            let params = Params { codec, ..params.clone() };
            for (len, dictionary) in [(5119, false), (5120, true)] {
                let chunk = compress(library, &params, &src[..len], 30_000).expect("a chunk");
                let used = Header::parse(&chunk).uses_dictionary();
                // Zstd may not find a dictionary in so few bytes; then the chunk has none.
                assert!(
                    used == dictionary || codec == 5 && !used,
                    "{}: codec {codec}, {len} bytes",
                    library.name
                );
                assert_eq!(
                    decompress(library, 1, &chunk, len).as_deref(),
                    Ok(&src[..len]),
                    "{}",
                    library.name
                );
            }
        }
    }
}
