//! Reports about single chunks.

use crate::alone::alone;
use crate::build::{BLOSCLZ, CHUNK_HEADER, of_stream, stored};
use crate::guarded::{decompress, getitem};
use crate::support;
use crate::support::calls::Outcome;

/// `BLOSC2_ERROR_DATA`
const DATA: i32 = -3;
/// `BLOSC2_ERROR_READ_BUFFER`
const READ_BUFFER: i32 = -5;
/// `BLOSC2_ERROR_INVALID_HEADER`
const INVALID_HEADER: i32 = -11;

/// A match whose length overflows 32 bits, and one whose length modulo 2^32 is just what the block lacks.
#[test]
fn c_blosc2_801_blosclz_match_length() {
    alone("chunks::c_blosc2_801_blosclz_match_length", || {
        for (extensions, last, nbytes) in [
            // 255 * 8,421,505 is the least multiple above 2^31.
            (8_421_504, 0, 1000),
            (8_421_505, 0, 1000),
            (8_421_505, 0, 9 << 20),
            // 9 + 255 * 16,843,009 + 90 is 2^32 + 98: with a literal on both sides, 100 bytes remain after the overflow.
            (16_843_009, 90, 100),
        ] {
            let mut stream = vec![0x20, b'A', 0xE0];
            stream.resize(stream.len() + extensions, 255);
            stream.extend([last, 0, 0, b'B']);
            let chunk = of_stream(BLOSCLZ, 1, nbytes, &stream);
            for library in support::all() {
                let what = format!("{}: {extensions} bytes of length, {nbytes} bytes", library.name);
                for nthreads in [1, 4] {
                    let outcome = decompress(library, nthreads, &chunk, nbytes as usize);
                    assert_eq!(outcome, Err(DATA), "{what}, {nthreads} threads");
                }
                assert_eq!(getitem(library, &chunk, 50, 10, 1), Err(DATA), "{what}, items");
            }
        }
    });
}

#[test]
fn c_blosc_229_zeros_behind_the_version() {
    alone("chunks::c_blosc_229_zeros_behind_the_version", || {
        for version in [0, 1, 2, 3, 4, 5, 6, 255] {
            for len in [0, 1, 15, 16, 17, 31, 32, 33, 64] {
                let mut chunk = vec![0; len];
                chunk.iter_mut().take(1).for_each(|byte| *byte = version);
                let code = if len < 16 { READ_BUFFER } else { INVALID_HEADER };
                for library in support::all() {
                    let what = format!("{}: version {version}, {len} bytes", library.name);
                    for destsize in [0, 100] {
                        assert_eq!(decompress(library, 1, &chunk, destsize), Err(code), "{what}");
                        assert_eq!(decompress(library, 4, &chunk, destsize), Err(code), "{what}, threads");
                    }
                    assert_eq!(getitem(library, &chunk, 0, 1, 8), Err(code), "{what}, items");
                }
            }
        }
    });
}

#[test]
fn c_blosc_261_destination_longer_than_the_content() {
    alone("chunks::c_blosc_261_destination_longer_than_the_content", || {
        let ramp: Vec<u8> = (0..400).map(|i| i as u8).collect();
        // A literal, a match of 9 + 255 + 134 bytes at distance 1, a literal.
        let sevens = of_stream(BLOSCLZ, 4, 400, &[0x20, 7, 0xE0, 255, 134, 0, 0, 7]);
        let mut zeros = stored(4, 400, &[]);
        zeros[2] = 0x05;
        zeros[4..8].copy_from_slice(&400i32.to_le_bytes());
        zeros[31] = 0x10;
        let cases = [
            ("stored", stored(4, 400, &ramp), ramp),
            ("blosclz", sevens, vec![7; 400]),
            ("zeros", zeros, vec![0; 400]),
            ("Blosc 1", blosc1_chunk(), blosc1_content()),
        ];
        for (kind, chunk, content) in cases {
            for longer in [0, 1, 31, 32, 4095, 1 << 20] {
                for library in support::all() {
                    for nthreads in [1, 4] {
                        let outcome = decompress(library, nthreads, &chunk, content.len() + longer);
                        assert!(outcome.as_ref() == Ok(&content), "{}: {kind}, {longer} more", library.name);
                    }
                }
            }
        }
    });
}

/// The content of the two blocks of [`blosc1_chunk`].
fn blosc1_content() -> Vec<u8> {
    (1..3).flat_map(|step| (0..100).map(move |i| (i * step) as u8)).collect()
}

/// A chunk with the header of Blosc 1: two blocks of 100 bytes in streams that are stored as they are, at 24 and 128.
fn blosc1_chunk() -> Vec<u8> {
    let mut chunk = vec![2, 1, 0x10, 4];
    for field in [200i32, 100, 232, 24, 128] {
        chunk.extend(field.to_le_bytes());
    }
    for block in blosc1_content().chunks(100) {
        chunk.extend(100i32.to_le_bytes());
        chunk.extend(block);
    }
    assert_eq!(chunk.len(), 232);
    chunk
}

/// The chunk is cut at every length, with the header as it was and with one that states the new length.
#[test]
fn numcodecs_228_blocks_of_a_truncated_blosc1_chunk() {
    alone("chunks::numcodecs_228_blocks_of_a_truncated_blosc1_chunk", || {
        let whole = blosc1_chunk();
        let content = blosc1_content();
        assert!(whole.len() > CHUNK_HEADER);
        for len in 0..whole.len() {
            let mut chunk = whole[..len].to_vec();
            let first = &content[..4];
            // Item 30 lies in the second block.
            let check = |chunk: &[u8], all: i32, first: Outcome, second: i32| {
                for library in support::all() {
                    let what = format!("{}: {len} bytes", library.name);
                    assert_eq!(decompress(library, 1, chunk, 200), Err(all), "{what}");
                    // The code is that of the block which a thread finds first.
                    let threads = support::calls::decompress(library, 4, chunk, 200);
                    let one_of = [all, second, first.clone().err().unwrap_or(all)];
                    assert!(threads.is_err_and(|code| one_of.contains(&code)), "{what}, threads");
                    assert_eq!(getitem(library, chunk, 0, 1, 4), first, "{what}, first block");
                    assert_eq!(getitem(library, chunk, 30, 1, 4), Err(second), "{what}, second block");
                }
            };
            if len < 16 {
                check(&chunk, READ_BUFFER, Err(READ_BUFFER), READ_BUFFER);
                continue;
            }
            check(&chunk, INVALID_HEADER, Err(INVALID_HEADER), INVALID_HEADER);
            chunk[12..16].copy_from_slice(&(len as i32).to_le_bytes());
            match len {
                // The starts of the blocks are cut.
                16..24 => check(&chunk, READ_BUFFER, Err(READ_BUFFER), READ_BUFFER),
                // The first block starts at the end.
                24 => check(&chunk, DATA, Err(DATA), DATA),
                25..128 => check(&chunk, READ_BUFFER, Err(READ_BUFFER), DATA),
                // The second block starts at the end.
                128 => check(&chunk, DATA, Ok(first.to_vec()), DATA),
                _ => check(&chunk, READ_BUFFER, Ok(first.to_vec()), READ_BUFFER),
            }
        }
    });
}
