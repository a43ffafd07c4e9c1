//! Variable-length blocks (chunk.md 10.10, codecs.md 18.18; their delta is in `delta`, their dictionaries in
//! `dictionaries`).

use std::ptr;

use crate::checks::{CODECS, assert_all_decode, data, ours, pipeline};
use crate::support::calls::{
    Header, OwnedContext, Params, decompress, dparams, getitem, vlcompress, with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::known_defects as defects;
use crate::support::library::Library;

fn sample_blocks(kind: Data) -> Vec<Vec<u8>> {
    [1, 7, 1000, 66, 65, 5000, 3, 70_000, 128].map(|len| data(kind, 4, len)).into()
}

fn assert_readable(chunk: &[u8], blocks: &[Vec<u8>]) {
    assert_all_decode(chunk, &blocks.concat());
    let mut libraries = vec![ours()];
    libraries.extend(Library::reference());
    for library in libraries {
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
            assert!(context.vldecompress(chunk, blocks.len()).as_deref() == Ok(blocks), "{}", library.name);
            for (nblock, block) in blocks.iter().enumerate() {
                let got = context.vldecompress_block(chunk, nblock as i32);
                assert!(got.as_ref() == Ok(block), "{}: block {nblock}", library.name);
            }
        }
    }
}

#[test]
fn chunk_10_10_any_destination_size_is_safe() {
    for kind in [Data::Noise, Data::Text, Data::Zeros] {
        let blocks = sample_blocks(kind);
        let sum: usize = blocks.iter().map(Vec::len).sum();
        let certain = 32 + 8 * blocks.len() + sum;
        for codec in CODECS {
            for nthreads in [1, 4] {
                let params = Params { codec, typesize: 4, nthreads, ..Params::default() };
                let full = vlcompress(ours(), &params, &blocks, certain).expect("it fits");
                let mut sizes: Vec<usize> = (32..120).collect();
                sizes.extend((120..certain).step_by(1777));
                sizes.extend([sum, sum + 31, sum + 32, sum + 33, certain - 1, full.len() - 1, full.len()]);
                for destsize in sizes {
                    let outcome = vlcompress(ours(), &params, &blocks, destsize);
                    if destsize < full.len() {
                        assert_eq!(outcome, Err(0), "{destsize} bytes, {} are needed", full.len());
                    } else {
                        assert_eq!(outcome.as_ref(), Ok(&full), "{destsize} bytes");
                    }
                }
                assert_eq!(vlcompress(ours(), &params, &blocks, 31), Err(-35));
                assert_readable(&full, &blocks);
            }
        }
    }
}

#[test]
fn chunk_10_10_empty_chunk_is_rejected() {
    let mut chunk = vlcompress(ours(), &Params::default(), &[vec![1; 50]], 200).expect("a chunk");
    chunk[4..8].copy_from_slice(&[0; 4]);
    for len in [32, chunk.len()] {
        chunk[12..16].copy_from_slice(&(len as i32).to_le_bytes());
        let chunk = &chunk[..len];
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            assert_eq!(with_destination(100, |dest| context.decompress(chunk, dest)).0, -11);
            assert_eq!(context.vldecompress(chunk, 10).err(), Some(-11));
            assert_eq!(context.vldecompress_block(chunk, 0).err(), Some(-11));
        }
        assert!(getitem(ours(), 1, chunk, 0, 1, 8).is_err());
    }
}

/// Functions that read single blocks ignore a mask; it applies to the next read of the whole chunk.
#[test]
fn chunk_10_10_mask_does_not_apply_to_single_blocks() {
    let blocks = sample_blocks(Data::Text);
    let chunk = vlcompress(ours(), &Params::default(), &blocks, 100_000).expect("a chunk");
    for nthreads in [1, 4] {
        let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
        for count in [blocks.len(), 3] {
            assert_eq!(context.set_maskout(&mut vec![1; count]), 0);
            assert!(context.vldecompress(&chunk, 20).as_ref() == Ok(&blocks));
            for (nblock, block) in blocks.iter().enumerate() {
                assert!(context.vldecompress_block(&chunk, nblock as i32).as_ref() == Ok(block));
            }
        }
        let mut mask: Vec<u8> = (0..blocks.len()).map(|nblock| u8::from(nblock % 2 == 0)).collect();
        assert_eq!(context.set_maskout(&mut mask), 0);
        let whole = blocks.concat();
        let (rc, dest) = with_destination(whole.len(), |dest| context.decompress(&chunk, dest));
        assert_eq!(rc, whole.len() as i32);
        let mut at = 0;
        for (nblock, block) in blocks.iter().enumerate() {
            let got = &dest[at..at + block.len()];
            if nblock % 2 == 0 {
                assert!(
                    got.iter().all(|&byte| byte == crate::support::calls::DEST_FILL_BYTE),
                    "block {nblock}"
                );
            } else {
                assert!(got == block, "block {nblock}");
            }
            at += block.len();
        }
    }
}

/// If there is no memory for the second block, the first one is freed and both pointers are NULL.
#[cfg(unix)]
#[test]
fn chunk_10_10_failed_block_allocation_frees_the_other_blocks() {
    in_new_process(test_name!(), || {
        const HUGE: i32 = 1_900_000_000;
        let mut chunk =
            vlcompress(ours(), &Params::default(), &[vec![1; 100_000], data(Data::Text, 1, 900)], 200_000)
                .expect("a chunk");
        // The second block claims more than the available memory.
        chunk[4..8].copy_from_slice(&(100_000 + HUGE).to_le_bytes());
        let second = i32::from_le_bytes(chunk[36..40].try_into().expect("four bytes")) as usize;
        chunk[second..second + 4].copy_from_slice(&HUGE.to_le_bytes());
        let status = std::fs::read_to_string("/proc/self/statm").expect("sizes of the process");
        let pages: libc::rlim_t = status.split(' ').next().expect("a number").parse().expect("a number");
        let limit = libc::rlimit { rlim_cur: pages * 4096 + (256 << 20), rlim_max: libc::RLIM_INFINITY };
        // SAFETY: a valid struct.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        for nthreads in [1, 4] {
            let context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            for _ in 0..3000 {
                // Leaking the first block each time would exhaust the memory: 3000 times 100 kB.
                let mut dests = [ptr::dangling_mut(); 2];
                let mut sizes = [-77; 2];
                // SAFETY: arrays of two entries.
                let rc = unsafe {
                    (ours().blosc2_vldecompress_ctx)(
                        context.raw(),
                        chunk.as_ptr().cast(),
                        chunk.len() as i32,
                        dests.as_mut_ptr(),
                        sizes.as_mut_ptr(),
                        2,
                    )
                };
                assert_eq!(rc, -4);
                assert!(dests.iter().all(|dest| dest.is_null()));
            }
            let mut reader = OwnedContext::for_decompression(ours(), dparams(nthreads));
            assert_eq!(reader.vldecompress_block(&chunk, 1).err(), Some(-4));
        }
    });
}

/// At level 0 the codec is still called; BloscLZ then stores blocks uncompressed.
#[test]
fn codecs_18_18_variable_length_blocks_round_trip_at_level_0() {
    in_new_process(test_name!(), || {
        for kind in [Data::Text, Data::Zeros, Data::Noise] {
            let blocks = sample_blocks(kind);
            let sum: usize = blocks.iter().map(Vec::len).sum();
            for codec in CODECS {
                for nthreads in [1, 4] {
                    let params = Params { codec, clevel: 0, nthreads, typesize: 4, ..Params::default() };
                    let certain = 32 + 8 * blocks.len() + sum;
                    let chunk = vlcompress(ours(), &params, &blocks, certain).expect("it fits");
                    assert!(!Header::parse(&chunk).is_memcpyed());
                    if codec == 0 {
                        assert_eq!(chunk.len(), certain, "raw blocks");
                    }
                    assert_readable(&chunk, &blocks);
                }
            }
        }
    });
}

/// The bytes do not depend on the number of threads, and blocks can be read in any order.
#[test]
fn chunk_10_10_chunk_does_not_depend_on_the_number_of_threads() {
    let blocks = sample_blocks(Data::SmoothFloats);
    let sizes: Vec<usize> = blocks.iter().map(Vec::len).collect();
    for filters in [&[][..], &[1], &[2], &[1, 2], &[3, 1]] {
        for codec in CODECS {
            let params = Params { codec, typesize: 4, filters: pipeline(filters), ..Params::default() };
            let chunk = vlcompress(ours(), &params, &blocks, 200_000).expect("a chunk");
            let threaded = Params { nthreads: 4, ..params.clone() };
            assert_eq!(vlcompress(ours(), &threaded, &blocks, 200_000).as_ref(), Ok(&chunk));
            if defects::has_filter(&params, 3) {
                let mut context = OwnedContext::for_decompression(ours(), dparams(4));
                assert!(context.vldecompress(&chunk, sizes.len()).as_ref() == Ok(&blocks));
                assert!(decompress(ours(), 1, &chunk, sizes.iter().sum()) == Ok(blocks.concat()));
            } else {
                assert_readable(&chunk, &blocks);
            }
        }
    }
}

/// The readers reject invalid input and write nothing (chunk.md 4.6).
#[test]
fn chunk_10_10_invalid_reads_are_rejected() {
    let blocks = sample_blocks(Data::Text);
    let chunk = vlcompress(ours(), &Params::default(), &blocks, 100_000).expect("a chunk");
    let plain = crate::checks::compressed(&Params::default(), &blocks[5]);
    let mut context = OwnedContext::for_decompression(ours(), dparams(1));
    assert_eq!(context.vldecompress(&chunk, blocks.len() - 1).err(), Some(-12));
    assert_eq!(context.vldecompress(&plain, 10).err(), Some(-12));
    for nblock in [-1, i32::MIN, blocks.len() as i32, i32::MAX] {
        assert_eq!(context.vldecompress_block(&chunk, nblock).err(), Some(-12));
    }
    assert_eq!(context.vldecompress_block(&plain, 0).err(), Some(-12));
    assert_eq!(getitem(ours(), 1, &chunk, 0, 1, 8), Err(-12));
    // A damaged block leaks no buffers (the test harness checks this), and the other blocks can be read.
    let zstd =
        vlcompress(ours(), &Params { codec: 5, ..Params::default() }, &blocks, 100_000).expect("a chunk");
    let start = i32::from_le_bytes(zstd[52..56].try_into().expect("four bytes")) as usize;
    let mut bad = zstd.clone();
    bad[start + 5] ^= 0xFF;
    assert!(context.vldecompress(&bad, 20).is_err());
    assert!(context.vldecompress_block(&bad, 5).is_err());
    assert!(context.vldecompress_block(&bad, 2).as_ref() == Ok(&blocks[2]));
}
