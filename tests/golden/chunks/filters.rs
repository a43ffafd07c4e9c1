//! Filter vectors (filters.md 2, 4-7, 17): the raw shuffle functions, and filtered blocks extracted from chunks in
//! which a user codec stored the output of the pipeline unchanged.

use std::ffi::{c_int, c_void};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams};

use super::assert_hex;
use crate::support::calls::{DEST_FILL_BYTE, Header, Params, compress, decompress, with_destination};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::{all_libraries, crc32, hex, native_items, written_here};

unsafe extern "C" fn encode_as_incompressible(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    0
}

unsafe extern "C" fn fail_to_decode(
    _: *const u8,
    _: i32,
    _: *mut u8,
    _: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    -1
}

const RAW_CODEC: u8 = 200;

/// Registers codec 200, which stores every stream unchanged.
fn register_raw(library: &Library) {
    let mut codec = blosc2_codec {
        compcode: RAW_CODEC,
        compname: c"raw".as_ptr().cast_mut(),
        complib: RAW_CODEC,
        version: 1,
        encoder: Some(encode_as_incompressible),
        decoder: Some(fail_to_decode),
    };
    // SAFETY: a valid struct whose name is static.
    assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec) }, 0);
}

fn raw_codec_params(typesize: i32, blocksize: i32, filters: [u8; 6], filters_meta: [u8; 6]) -> Params {
    Params { codec: RAW_CODEC, typesize, blocksize, filters, filters_meta, splitmode: 2, ..Params::default() }
}

/// Returns the blocks of `src` after the filter pipeline.
fn filtered_blocks(library: &Library, params: &Params, src: &[u8]) -> Vec<Vec<u8>> {
    register_raw(library);
    let chunk = compress(library, params, src, src.len() + 4096).expect("a chunk");
    assert!(!Header::parse(&chunk).is_memcpyed());
    let word = |at: usize| i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes")) as usize;
    let nblocks = src.len().div_ceil(Header::parse(&chunk).blocksize as usize);
    (0..nblocks)
        .map(|block| {
            let at = word(32 + 4 * block);
            chunk[at + 4..at + 4 + word(at)].to_vec()
        })
        .collect()
}

fn data_d1(len: usize) -> Vec<u8> {
    (0..len).map(|i| (7 * i + 13 * (i / 8)) as u8).collect()
}

fn filter_in_last_slot(id: u8) -> [u8; 6] {
    [0, 0, 0, 0, 0, id]
}

#[test]
fn header_of_an_unsplit_user_codec_chunk_matches_the_vector() {
    let expected = hex(
        "05 01 d5 04 23 00 00 00 20 00 00 00 53 00 00 00 00 00 00 00 00 01 c8 00 00 00 00 00 00 00 00 00",
    );
    for library in all_libraries() {
        register_raw(library);
        let chunk =
            compress(library, &raw_codec_params(4, 32, filter_in_last_slot(1), [0; 6]), &data_d1(35), 4096)
                .expect("a chunk");
        assert_hex(library, "header", &chunk[..32], &written_here(expected.clone(), &[0]));
    }
}

#[test]
fn plain_and_zero_chunks_record_the_pipeline() {
    let base = Params { typesize: 4, filters: [0, 0, 0, 0, 3, 1], ..Params::default() };
    let src = data_d1(256);
    let mut plain = hex(
        "05 01 07 04 00 01 00 00 00 01 00 00 20 01 00 00 00 00 00 00 03 01 00 00 00 00 00 00 00 00 00 00",
    );
    plain.extend(&src);
    let plain = written_here(plain, &[0]);
    let zeros = hex(
        "05 01 0d 04 00 01 00 00 00 01 00 00 20 00 00 00 00 00 00 00 03 01 00 00 00 00 00 00 00 00 00 10",
    );
    let zeros = written_here(zeros, &[0]);
    for library in all_libraries() {
        let chunk = compress(library, &Params { clevel: 0, ..base.clone() }, &src, 1000).expect("plain");
        assert_hex(library, "plain", &chunk, &plain);
        assert_eq!(decompress(library, 1, &chunk, 256).as_deref(), Ok(&src[..]));
        let chunk = compress(library, &base, &[0; 256], 1000).expect("zeros");
        assert_hex(library, "zeros", &chunk, &zeros);
        // Incompressible: the chunk has the flags of the attempt.
        let noise = Random::new(3).bytes(8192);
        let chunk = compress(library, &base, &noise, 8192 + 32).expect("a raw copy");
        assert_eq!(chunk[2], 0x0F, "{}", library.name);
        assert_eq!(&chunk[32..], noise, "{}", library.name);
    }
}

#[test]
fn meta_sets_the_element_size_of_shuffle() {
    let cases: [(usize, u8, &str); 3] = [
        (
            32,
            0,
            "00 1c 45 61 8a a6 cf eb 07 23 4c 68 91 ad d6 f2 0e 2a 53 6f 98 b4 dd f9 15 31 5a 76 9f bb e4 00",
        ),
        (
            32,
            2,
            "00 0e 1c 2a 45 53 61 6f 8a 98 a6 b4 cf dd eb f9 07 15 23 31 4c 5a 68 76 91 9f ad bb d6 e4 f2 00",
        ),
        (
            36,
            8,
            "00 45 8a cf 07 4c 91 d6 0e 53 98 dd 15 5a 9f e4 1c 61 a6 eb 23 68 ad f2 2a 6f b4 f9 31 76 bb 00 14 1b 22 29",
        ),
    ];
    for library in all_libraries() {
        for (len, meta, expected) in cases {
            let params = raw_codec_params(4, len as i32, filter_in_last_slot(1), [0, 0, 0, 0, 0, meta]);
            let blocks = filtered_blocks(library, &params, &data_d1(len));
            assert_hex(library, &format!("meta {meta}"), &blocks[0], &hex(expected));
        }
        // A typesize above 255 counts as 1, unless the meta states another.
        let src = data_d1(600);
        assert_eq!(
            filtered_blocks(library, &raw_codec_params(300, 600, filter_in_last_slot(1), [0; 6]), &src)[0],
            src
        );
        let four = filtered_blocks(library, &raw_codec_params(4, 600, filter_in_last_slot(1), [0; 6]), &src);
        assert_eq!(
            filtered_blocks(library, &raw_codec_params(300, 600, filter_in_last_slot(1), [4; 6]), &src),
            four
        );
        // Bitshuffle ignores its meta.
        let plain = filtered_blocks(library, &raw_codec_params(4, 600, filter_in_last_slot(2), [0; 6]), &src);
        assert_eq!(
            filtered_blocks(library, &raw_codec_params(4, 600, filter_in_last_slot(2), [2; 6]), &src),
            plain
        );
    }
}

#[test]
fn delta_blocks_match_the_vectors() {
    let block1 =
        "14 1c 2c 3c 2c 14 14 74 1c 2c 34 34 14 14 ec fc 14 34 34 2c 1c 6c 7c 74 2c 3c 2c 1c 14 f4 f4 14";
    let cases: [(i32, [u8; 6], &str, Option<&str>); 6] = [
        (
            4,
            filter_in_last_slot(3),
            "00 07 0e 15 1c 24 24 24 59 6f 79 6b 24 24 3c 2c eb f9 f7 e9 2c 3c 2c 24 69 7b 69 5f 24 24 24 e4",
            Some(block1),
        ),
        (
            2,
            filter_in_last_slot(3),
            "00 07 0e 12 12 36 36 12 6f 7d 16 16 32 32 0e 1e e5 e7 12 0e 3e 32 12 16 7b 6d 12 32 36 16 12 f2",
            Some(block1),
        ),
        (
            1,
            filter_in_last_slot(3),
            "00 07 09 1b 09 3f 09 1b 74 09 1f 09 3b 09 07 19 fc 1b 09 07 39 0b 19 0f 74 19 0b 39 0f 19 0b f9",
            None,
        ),
        (
            16,
            filter_in_last_slot(3),
            "00 07 0e 15 1c 23 2a 31 45 4b 5d 4f 7d 4b 45 47 cf dd cb c5 c7 c5 db cd 45 47 45 7b 4d 5f 4d bb",
            None,
        ),
        (
            4,
            [0, 0, 0, 0, 3, 1],
            "00 1c 59 24 eb 2c 69 24 07 24 6f 24 f9 3c 7b 24 0e 24 79 3c f7 2c 69 24 15 24 6b 2c e9 24 5f e4",
            Some(
                "14 2c 1c 14 14 1c 2c 14 1c 14 2c 14 34 6c 3c f4 2c 14 34 ec 34 7c 2c f4 3c 74 34 fc 2c 74 1c 14",
            ),
        ),
        (
            4,
            [0, 0, 0, 0, 1, 3],
            "00 1c 45 61 8a ba 8a 8a 8d 85 83 83 96 8e 9a 9a 9f 87 85 9d 96 9e 8e 96 8d 85 87 8f 8a 8a be 76",
            Some(
                "14 37 57 60 82 99 c9 ce 5e 7b 33 26 c4 a9 85 70 a8 af ff 1c 0a 65 45 b6 e6 93 b3 6e 58 3d 01 14",
            ),
        ),
    ];
    for library in all_libraries() {
        for (typesize, filters, first, second) in cases {
            let blocks =
                filtered_blocks(library, &raw_codec_params(typesize, 32, filters, [0; 6]), &data_d1(64));
            let what = format!("typesize {typesize}, {filters:?}");
            assert_hex(library, &what, &blocks[0], &hex(first));
            if let Some(second) = second {
                assert_hex(library, &what, &blocks[1], &hex(second));
            }
        }
    }
}

#[test]
fn trunc_prec_matches_the_vectors_and_rejects_invalid_metas() {
    let floats = hex(
        "51 06 9e 3f db 0f 49 c0 60 42 a2 0d 65 20 f1 47 cd cc cc 3d 00 00 00 80 00 00 80 7f 00 00 c0 ff",
    );
    let floats = native_items(floats, 4);
    let ten =
        "00 00 9e 3f 00 00 49 c0 00 40 a2 0d 00 20 f1 47 00 c0 cc 3d 00 00 00 80 00 00 80 7f 00 00 c0 ff";
    let cases = [
        (10u8, ten),
        (13u8.wrapping_neg(), ten),
        (
            0xF6,
            "00 04 9e 3f 00 0c 49 c0 00 40 a2 0d 00 20 f1 47 00 cc cc 3d 00 00 00 80 00 00 80 7f 00 00 c0 ff",
        ),
        (1, "00 00 80 3f 00 00 40 c0 00 00 80 0d 00 00 c0 47 00 00 c0 3d"),
        (22u8.wrapping_neg(), "00 00 80 3f 00 00 40 c0 00 00 80 0d 00 00 c0 47 00 00 c0 3d"),
    ];
    for library in all_libraries() {
        for (meta, expected) in cases {
            let blocks = filtered_blocks(
                library,
                &raw_codec_params(4, 32, filter_in_last_slot(4), [meta; 6]),
                &floats,
            );
            let expected = native_items(hex(expected), 4);
            assert_hex(library, &format!("meta {meta}"), &blocks[0][..expected.len()], &expected);
        }
        let doubles = native_items(hex("9a 99 99 99 99 99 b9 3f").repeat(4), 8);
        let truncated = native_items(hex("00 00 00 00 99 99 b9 3f").repeat(4), 8);
        for meta in [20, 0xE0] {
            let blocks = filtered_blocks(
                library,
                &raw_codec_params(8, 32, filter_in_last_slot(4), [meta; 6]),
                &doubles,
            );
            assert_hex(library, "doubles", &blocks[0], &truncated);
        }
        // Every meta: accepted exactly if some mantissa bits are left (filters.md 18.12).
        for (typesize, bits) in [(4, 23), (8, 52)] {
            for meta in -128i32..128 {
                let params = raw_codec_params(typesize, 32, filter_in_last_slot(4), [meta as u8; 6]);
                let accepted = (1..=bits).contains(&meta) || (1 - bits..0).contains(&meta);
                let result = compress(library, &params, &floats, 1000).map(|_| ());
                let expected = if accepted { Ok(()) } else { Err(-18) };
                assert_eq!(result, expected, "{}: typesize {typesize}, meta {meta}", library.name);
            }
        }
    }
}

/// Version 2 did not shuffle blocks whose element count is not a multiple of 8; version 3 had five slots.
#[test]
fn chunk_version_decides_whether_a_block_is_bitunshuffled() {
    let noise = Random::new(4).bytes(224);
    for library in all_libraries() {
        for slot in [4, 5] {
            let mut filters = [0; 6];
            filters[slot] = 2;
            let params = raw_codec_params(4, 112, filters, [0; 6]);
            let shuffled = filtered_blocks(library, &params, &noise).concat();
            let chunk = compress(library, &params, &noise, 4096).expect("a chunk");
            for version in 1..=7 {
                let mut chunk = chunk.clone();
                chunk[0] = version;
                let raw = version == 2 || version == 3 && slot == 5;
                let expected = if raw { &shuffled } else { &noise };
                let decoded = decompress(library, 1, &chunk, noise.len());
                assert_eq!(
                    decoded.as_ref(),
                    Ok(expected),
                    "{}: version {version}, slot {slot}",
                    library.name
                );
            }
        }
        // A last block of 16 elements and two bytes: shuffled in version 2, too; the tail is preserved (filters.md 16
        // D2).
        let params = raw_codec_params(4, 112, filter_in_last_slot(2), [0; 6]);
        let src = &noise[..178];
        let first = &filtered_blocks(library, &params, src)[0];
        let mut chunk = compress(library, &params, src, 4096).expect("a chunk");
        chunk[0] = 2;
        let decoded = decompress(library, 1, &chunk, src.len()).expect("two blocks");
        assert_hex(library, "first block", &decoded[..112], first);
        let whole = if library.is_reference() { 176 } else { 178 };
        assert_hex(library, "last block", &decoded[112..whole], &src[112..whole]);
    }
}

type ShuffleFunction = unsafe extern "C" fn(i32, i32, *const c_void, *mut c_void) -> i32;

fn call_shuffle(function: ShuffleFunction, typesize: i32, src: &[u8]) -> Vec<u8> {
    // SAFETY: source and destination of the stated length.
    let (rc, dest) = with_destination(src.len(), |dest| unsafe {
        function(typesize, src.len() as i32, src.as_ptr().cast(), dest.as_mut_ptr().cast())
    });
    assert_eq!(rc, src.len() as i32);
    dest
}

#[test]
fn shuffle_functions_match_the_checksum_table() {
    let g: Vec<u8> = (0..32_773u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_eq!(crc32(&g[..4096]), 0x7ebc_569c);
    let table = include_str!("shuffle-crcs.txt");
    for library in all_libraries() {
        let mut rows = 0;
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = line.split(' ');
            let typesize: i32 = fields.next().expect("a typesize").parse().expect("a number");
            let pairs = [
                [library.blosc2_shuffle, library.blosc2_unshuffle],
                [library.blosc2_bitshuffle, library.blosc2_bitunshuffle],
            ];
            for (which, pair) in pairs.into_iter().enumerate() {
                for len in [4096, 4099, 32_773] {
                    for (inverse, function) in pair.into_iter().enumerate() {
                        let expected =
                            u32::from_str_radix(fields.next().expect("a checksum"), 16).expect("hex");
                        let got = crc32(&call_shuffle(function, typesize, &g[..len]));
                        assert_eq!(
                            got, expected,
                            "{}: function {which}, inverse {inverse}, typesize {typesize}, {len} bytes",
                            library.name
                        );
                    }
                }
            }
            rows += 1;
        }
        assert_eq!(rows, 23);
    }
}

#[test]
fn shuffle_functions_match_the_small_vectors() {
    let count = |len: usize| (0..len as u8).collect::<Vec<u8>>();
    for library in all_libraries() {
        let shuffled = call_shuffle(library.blosc2_shuffle, 3, &count(11));
        assert_hex(library, "T 3", &shuffled, &hex("00 03 06 01 04 07 02 05 08 09 0a"));
        let shuffled = call_shuffle(library.blosc2_shuffle, 4, &count(18));
        assert_hex(library, "T 4", &shuffled, &hex("00 04 08 0c 01 05 09 0d 02 06 0a 0e 03 07 0b 0f 10 11"));
        assert_hex(library, "T 16", &call_shuffle(library.blosc2_shuffle, 16, &count(8)), &count(8));
        let bits = |src: &[u8]| call_shuffle(library.blosc2_bitshuffle, 1, src);
        assert_hex(library, "bits", &bits(&hex("01 00 00 00 00 00 00 00")), &hex("01 00 00 00 00 00 00 00"));
        assert_hex(library, "bits", &bits(&hex("00 01 00 00 00 00 00 00")), &hex("02 00 00 00 00 00 00 00"));
        assert_hex(library, "bits", &bits(&hex("80 00 00 00 00 00 00 00")), &hex("00 00 00 00 00 00 00 01"));
        let expected = hex(
            "00 00 aa aa cc cc f0 f0 00 ff 00 00 00 00 00 00 ff ff aa aa cc cc f0 f0 00 ff 00 00 00 00 00 00
                            20 21 22 23 24",
        );
        assert_hex(library, "bits T 2", &call_shuffle(library.blosc2_bitshuffle, 2, &count(37)), &expected);
        let expected = hex("aa 66 b4 38 c0 00 00 00 55 cc 96 18 e0 00 00 00 aa 99 d2 1c e0 00 00 00");
        assert_hex(library, "bits T 3", &call_shuffle(library.blosc2_bitshuffle, 3, &count(24)), &expected);
        assert_hex(library, "bits T 4", &call_shuffle(library.blosc2_bitshuffle, 4, &count(31)), &count(31));
    }
}

#[test]
fn shuffle_functions_check_their_arguments() {
    let src = [7u8; 64];
    let mut dest = [DEST_FILL_BYTE; 64];
    for library in all_libraries() {
        let mut rc = |function: ShuffleFunction, typesize: i32, len: i32| {
            // SAFETY: the calls below are rejected, or access at most 64 bytes.
            unsafe { function(typesize, len, src.as_ptr().cast(), dest.as_mut_ptr().cast()) }
        };
        for function in [library.blosc2_shuffle, library.blosc2_unshuffle] {
            for (typesize, len, expected) in [
                (0, 64, -12),
                (-1, 64, -12),
                (257, 64, -12),
                (4, -1, -12),
                (256, 64, 64),
                (1, 64, 64),
                (4, 0, 0),
            ] {
                assert_eq!(rc(function, typesize, len), expected, "{}: ({typesize}, {len})", library.name);
            }
        }
        for (typesize, len, expected) in
            [(-1, 64, -12), (257, 64, -12), (4, -1, -12), (256, 64, 64), (4, 0, 0)]
        {
            assert_eq!(
                rc(library.blosc2_bitshuffle, typesize, len),
                expected,
                "{}: ({typesize}, {len})",
                library.name
            );
        }
        if !library.is_reference() {
            // The reference crashes here (filters.md 12).
            assert_eq!(rc(library.blosc2_bitshuffle, 0, 64), -12);
            for (typesize, len) in [(0, 64), (-1, 64), (4, -1)] {
                assert_eq!(rc(library.blosc2_bitunshuffle, typesize, len), -12, "({typesize}, {len})");
            }
        }
        assert_eq!(rc(library.blosc2_bitunshuffle, 256, 64), 64);
        assert_eq!(rc(library.blosc2_bitunshuffle, 257, 64), 64);
    }
}
