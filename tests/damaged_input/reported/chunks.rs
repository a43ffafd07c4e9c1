//! Reports about single chunks.

use super::build::{BLOSCLZ, chunk_of_stream, chunk_of_streams, memcpyed_chunk, sevens};
use super::guarded::{blosc1_decompress, decompress, getitem};
use crate::support;
use crate::support::calls::{BytesResult, Params, compress};
use crate::support::child::{in_new_process, test_name};
use crate::support::library::Library;

/// `BLOSC2_ERROR_DATA`
const DATA: i32 = -3;
/// `BLOSC2_ERROR_READ_BUFFER`
const READ_BUFFER: i32 = -5;
/// `BLOSC2_ERROR_INVALID_HEADER`
const INVALID_HEADER: i32 = -11;

/// Size in bytes of each of the two valid blocks before an invalid one: enough for threads, which start at 64 KiB.
const GOOD_BLOCKSIZE: i32 = 40_000;

/// A match length that overflows 32 bits, and one whose value modulo 2^32 exactly fills the block.
#[test]
fn c_blosc2_801_overflowing_blosclz_match_length_is_rejected() {
    in_new_process(test_name!(), || {
        // After the match: a literal, after which the stream ends, or two runs of 32 literals, so that enough bytes
        // follow for the fast loop of the decoder.
        let runs = [vec![0x1F; 33], vec![0x1F; 33]].concat();
        for (extensions, last, nbytes) in [
            // 255 * 8,421,505 is the smallest multiple above 2^31.
            (8_421_504, 0, 1000),
            (8_421_505, 0, 1000),
            (8_421_505, 0, 9 << 20),
            // 9 + 255 * 16,843,009 + 91 is 2^32 + 99: with a literal before it, 100 bytes remain after the overflow.
            (16_843_009, 91, 100),
        ] {
            for (tail, literals) in [(&[0, b'B'][..], 1), (&runs, 64)] {
                let mut stream = vec![0x20, b'A', 0xE0];
                stream.resize(stream.len() + extensions, 255);
                stream.extend([if last == 0 { 0 } else { last - literals }, 0]);
                stream.extend(tail);
                let chunk = chunk_of_stream(BLOSCLZ, 1, nbytes, &stream);
                let blocksize = nbytes.max(GOOD_BLOCKSIZE);
                let good = sevens(blocksize as usize);
                let total = 2 * blocksize + nbytes;
                let parallel = chunk_of_streams(BLOSCLZ, 1, [total, blocksize], &[&good, &good, &stream]);
                for library in support::all_libraries() {
                    let what = format!("{}: {extensions} bytes of length, {nbytes} bytes", library.name);
                    let outcome = decompress(library, 1, &chunk, nbytes as usize);
                    assert_eq!(outcome, Err(DATA), "{what}");
                    let outcome = decompress(library, 4, &parallel, total as usize);
                    assert_eq!(outcome, Err(DATA), "{what}, 4 threads");
                    assert_eq!(getitem(library, &chunk, 50, 10, 1), Err(DATA), "{what}, items");
                }
            }
        }
    });
}

#[test]
fn c_blosc_229_header_of_zeros_is_rejected() {
    in_new_process(test_name!(), || {
        for version in [0, 1, 2, 3, 4, 5, 6, 255] {
            for len in [0, 1, 15, 16, 17, 31, 32, 33, 64] {
                let mut chunk = vec![0; len];
                chunk.iter_mut().take(1).for_each(|byte| *byte = version);
                let code = if len < 16 { READ_BUFFER } else { INVALID_HEADER };
                for library in support::all_libraries() {
                    let what = format!("{}: version {version}, {len} bytes", library.name);
                    for destsize in [0, 100, 1 << 17] {
                        assert_eq!(decompress(library, 1, &chunk, destsize), Err(code), "{what}");
                    }
                    assert_eq!(getitem(library, &chunk, 0, 1, 8), Err(code), "{what}, items");
                }
            }
        }
    });
}

/// Returns `len` bytes of a slow ramp in items of 4 bytes, whose lowest 12 bits are 0: the precision filter changes
/// none of them.
fn ramp(len: usize) -> Vec<u8> {
    (0..len as u32 / 4).flat_map(|i| ((i / 3) << 12).to_ne_bytes()).collect()
}

/// Returns the chunk that this library produces for the content.
fn compressed(params: Params, content: &[u8]) -> Vec<u8> {
    let params = Params { typesize: 4, ..params };
    compress(Library::ours(), &params, content, content.len() + 4096).expect("a chunk")
}

#[test]
fn c_blosc_261_destination_longer_than_the_content_is_accepted() {
    in_new_process(test_name!(), || {
        let mut zeros = memcpyed_chunk(4, 400, &[]);
        zeros[2] = 0x05;
        zeros[4..8].copy_from_slice(&400i32.to_le_bytes());
        zeros[31] = 0x10;
        let (short, long) = (ramp(400), ramp(200_000));
        let shuffled = Params { splitmode: 2, ..Params::default() };
        let split = Params { splitmode: 1, ..Params::default() };
        // 12 bits of precision, delta, bit shuffle.
        let chain =
            Params { filters: [0, 0, 0, 4, 3, 2], filters_meta: [0, 0, 0, 12, 0, 0], ..Params::default() };
        let cases = [
            ("stored", memcpyed_chunk(4, 400, &short), short.clone()),
            ("blosclz", chunk_of_stream(BLOSCLZ, 4, 400, &sevens(400)), vec![7; 400]),
            ("zeros", zeros, vec![0; 400]),
            ("Blosc 1", blosc1_chunk(100, Streams::Stored), blosc1_content(100, Streams::Stored)),
            ("Blosc 1, coded", blosc1_chunk(100, Streams::Coded), blosc1_content(100, Streams::Coded)),
            ("shuffled", compressed(shuffled.clone(), &short), short.clone()),
            ("split", compressed(split.clone(), &short), short),
            ("stored, long", memcpyed_chunk(4, 1 << 15, &long), long.clone()),
            ("shuffled, long", compressed(Params { blocksize: 1 << 15, ..shuffled }, &long), long.clone()),
            ("split, long", compressed(Params { blocksize: 1 << 15, ..split }, &long), long.clone()),
            ("filters, long", compressed(Params { blocksize: 1 << 15, ..chain }, &long), long),
        ];
        for (kind, chunk, content) in cases {
            for longer in [0, 1, 31, 32, 4095, 1 << 20] {
                for library in support::all_libraries() {
                    let what = format!("{}: {kind}, {longer} more", library.name);
                    for nthreads in [1, 4] {
                        let outcome = decompress(library, nthreads, &chunk, content.len() + longer);
                        assert!(outcome.as_ref() == Ok(&content), "{what}, {nthreads} threads");
                    }
                    let outcome = blosc1_decompress(library, &chunk, content.len() + longer);
                    assert!(outcome.as_ref() == Ok(&content), "{what}, blosc1_decompress");
                }
            }
        }
    });
}

/// The streams of [`blosc1_chunk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Streams {
    /// As long as their blocks: the uncompressed content.
    Stored,
    /// BloscLZ.
    Coded,
}

/// Returns the content of the two blocks of [`blosc1_chunk`].
fn blosc1_content(blocksize: usize, streams: Streams) -> Vec<u8> {
    match streams {
        Streams::Stored => (1..3).flat_map(|step| (0..blocksize).map(move |i| (i * step) as u8)).collect(),
        Streams::Coded => vec![7; 2 * blocksize],
    }
}

/// Returns a chunk with the header of Blosc 1: two blocks of one stream each, the first of which starts at byte 24.
fn blosc1_chunk(blocksize: usize, streams: Streams) -> Vec<u8> {
    let content = blosc1_content(blocksize, streams);
    let blocks = content.chunks(blocksize).map(|block| match streams {
        Streams::Stored => block.to_vec(),
        Streams::Coded => sevens(blocksize),
    });
    let blocks: Vec<Vec<u8>> = blocks.collect();
    let second = 24 + 4 + blocks[0].len();
    let cbytes = second + 4 + blocks[1].len();
    let mut chunk = vec![2, 1, 0x10, 4];
    for field in [content.len(), blocksize, cbytes, 24, second] {
        chunk.extend((field as i32).to_le_bytes());
    }
    for block in blocks {
        chunk.extend((block.len() as i32).to_le_bytes());
        chunk.extend(block);
    }
    assert_eq!(chunk.len(), cbytes);
    chunk
}

/// The chunk is truncated to every length (a long one only around the boundaries of its parts), with the original
/// header and with one that states the new length.
#[test]
fn numcodecs_228_truncated_blosc1_chunks_are_rejected() {
    in_new_process(test_name!(), || {
        for (blocksize, streams) in [
            (100, Streams::Stored),
            (100, Streams::Coded),
            (40_000, Streams::Stored),
            (40_000, Streams::Coded),
        ] {
            let whole = blosc1_chunk(blocksize, streams);
            let second = i32::from_le_bytes(whole[20..24].try_into().expect("four bytes")) as usize;
            let near = |len: usize| [0, 24, second, whole.len()].iter().any(|&at| len.abs_diff(at) < 30);
            for len in (0..whole.len()).filter(|&len| near(len) || len % 9973 == 0) {
                check_truncated(blocksize, streams, &whole, second, len);
            }
        }
    });
}

/// Checks the first `len` bytes of a chunk whose second block starts at `second`.
fn check_truncated(blocksize: usize, streams: Streams, whole: &[u8], second: usize, len: usize) {
    let mut chunk = whole[..len].to_vec();
    let first = &blosc1_content(blocksize, streams)[..4];
    let nbytes = 2 * blocksize;
    // An item of the second block.
    let item = blocksize as i32 / 4 + 5;
    let check = |chunk: &[u8], all: i32, first: BytesResult, second: i32| {
        for library in support::all_libraries() {
            let what = format!("{}: {streams:?} of {blocksize} bytes, {len} bytes", library.name);
            assert_eq!(decompress(library, 1, chunk, nbytes), Err(all), "{what}");
            // The code is that of the invalid block that a thread decodes first.
            let threads = support::calls::decompress(library, 4, chunk, nbytes);
            let one_of = [all, second, first.clone().err().unwrap_or(all)];
            assert!(threads.is_err_and(|code| one_of.contains(&code)), "{what}, threads");
            assert_eq!(getitem(library, chunk, 0, 1, 4), first, "{what}, first block");
            assert_eq!(getitem(library, chunk, item, 1, 4), Err(second), "{what}, second block");
        }
    };
    if len < 16 {
        return check(&chunk, READ_BUFFER, Err(READ_BUFFER), READ_BUFFER);
    }
    check(&chunk, INVALID_HEADER, Err(INVALID_HEADER), INVALID_HEADER);
    chunk[12..16].copy_from_slice(&(len as i32).to_le_bytes());
    let (all, first, second) = match len {
        // The block starts are truncated.
        16..24 => (READ_BUFFER, Err(READ_BUFFER), READ_BUFFER),
        // The first block starts at the end.
        24 => (DATA, Err(DATA), DATA),
        _ if len < second => (READ_BUFFER, Err(READ_BUFFER), DATA),
        // The second block starts at the end.
        _ if len == second => (DATA, Ok(first.to_vec()), DATA),
        _ => (READ_BUFFER, Ok(first.to_vec()), READ_BUFFER),
    };
    check(&chunk, all, first, second);
    // The reference crashes: its function reads past the length that the header states.
    let outcome = blosc1_decompress(Library::ours(), &chunk, nbytes);
    assert_eq!(outcome, Err(all), "{streams:?} of {blocksize} bytes, {len} bytes, blosc1_decompress");
}
