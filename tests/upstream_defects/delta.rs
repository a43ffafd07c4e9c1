//! Delta at every position of the pipeline: above and below other filters, with threads, masks, prefilters,
//! postfilters, variable-length blocks, and on blocks shorter than a word (chunk.md 10.13, 10.15, filters.md 16 D2,
//! D3, D6).

use std::ffi::c_int;

use blosc2::abi::{blosc2_postfilter_params, blosc2_prefilter_params};

use crate::checks::{
    BITSHUFFLE, DELTA, SHUFFLE, TRUNC_PREC, assert_all_decode, assert_items, assert_items_in_all_contexts,
    assert_ours_decodes, assert_outcome, compressed, data, large_destsize, ours, pipeline, postparams,
    preparams,
};
use crate::support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, decompress, dparams, vlcompress, with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::guard::GuardedBuffer;
use crate::support::known_defects as defects;
use crate::support::library::Library;
use crate::support::memory::PeakMemory;
use crate::support::random::Random;

/// Returns all pipelines of up to four filters that contain delta, and some longer ones.
fn delta_pipelines() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![vec![]];
    let mut longest: Vec<Vec<u8>> = vec![vec![]];
    for _ in 0..4 {
        longest = longest
            .iter()
            .flat_map(|ids| [SHUFFLE, BITSHUFFLE, DELTA].map(|id| [ids.as_slice(), &[id]].concat()))
            .collect();
        all.extend(longest.iter().cloned());
    }
    all.retain(|ids| ids.contains(&DELTA));
    all.extend([vec![1, 1, 1, 3, 2], vec![1, 3, 3, 3, 2], vec![3; 6], vec![2, 3, 1, 3, 2, 3]]);
    all
}

fn params(filters: &[u8]) -> Params {
    Params { codec: 1, typesize: 4, blocksize: 8000, filters: pipeline(filters), ..Params::default() }
}

#[test]
fn chunk_10_15_filters_d3_delta_round_trips_at_any_pipeline_position() {
    // Large enough for threads; the last block ends with half an item.
    let src = data(Data::Sparse, 4, 90_002);
    let random = &mut Random::new(15);
    for filters in delta_pipelines() {
        let params = params(&filters);
        let chunk = compressed(&params, &src);
        let header = Header::parse(&chunk);
        assert!(!header.is_memcpyed() && header.flags & 8 != 0, "{filters:?}");
        assert_eq!(compressed(&Params { nthreads: 4, ..params.clone() }, &src), chunk, "{filters:?}");
        for nthreads in [1, 1, 4, 4, 4] {
            let outcome = decompress(ours(), nthreads, &chunk, src.len());
            assert_outcome(&format!("{filters:?}, {nthreads} threads"), outcome, &src);
        }
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            assert_items(&mut context, &chunk, &src, random, 8);
            if let Some(reference) = Library::reference()
                && defects::decompression_verdict(&params, &header, nthreads).is_right()
            {
                let outcome = decompress(reference, nthreads, &chunk, src.len());
                assert_outcome(&format!("the reference, {filters:?}"), outcome, &src);
            }
        }
    }
}

#[test]
fn chunk_10_15_delta_round_trips_for_every_typesize() {
    for typesize in [1, 2, 3, 4, 7, 8, 12, 16, 20, 24, 255] {
        for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[BITSHUFFLE, DELTA]] {
            let src = data(Data::SmoothFloats, 4, 70_001);
            let params = Params { typesize, blocksize: 0, ..params(filters) };
            for blocksize in [0, 8 * typesize, 33 * typesize] {
                let chunk = compressed(&Params { blocksize, ..params.clone() }, &src);
                assert_ours_decodes(&chunk, &src);
                assert_items_in_all_contexts(&chunk, &src);
            }
        }
    }
}

/// With the first block masked out, the other blocks are correct and no thread waits for ever.
#[test]
fn chunk_10_13_delta_blocks_decode_with_the_first_block_masked_out() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 90_002);
        let nblocks = src.len().div_ceil(8000);
        for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA], &[DELTA, BITSHUFFLE, DELTA]] {
            let chunk = compressed(&params(filters), &src);
            for nthreads in [1, 4] {
                let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
                for round in 0..50 {
                    let random = &mut Random::new(round);
                    let mut mask: Vec<u8> = (0..nblocks).map(|_| u8::from(random.one_in(3))).collect();
                    mask[0] = 1;
                    assert_eq!(context.set_maskout(&mut mask), 0);
                    let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                    assert_eq!(rc, src.len() as i32);
                    for (nblock, out) in mask.into_iter().enumerate() {
                        let range = nblock * 8000..((nblock + 1) * 8000).min(src.len());
                        if out == 0 {
                            assert!(dest[range.clone()] == src[range], "{filters:?}: block {nblock}");
                        } else {
                            assert!(
                                dest[range].iter().all(|&byte| byte == DEST_FILL_BYTE),
                                "{filters:?}: {nblock}"
                            );
                        }
                    }
                }
            }
        }
    });
}

/// With a damaged first block, all threads return the error without delay.
#[test]
fn chunk_10_13_damaged_first_block_of_delta_is_an_error() {
    in_new_process(test_name!(), || {
        let src = data(Data::Sparse, 4, 90_002);
        for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA]] {
            let chunk = compressed(&Params { splitmode: 2, ..params(filters) }, &src);
            let start = i32::from_le_bytes(chunk[32..36].try_into().expect("four bytes")) as usize;
            for nthreads in [1, 4] {
                let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
                for csize in [i32::MIN, -256, i32::MAX, 1, 3] {
                    let mut bad = chunk.clone();
                    bad[start..start + 4].copy_from_slice(&csize.to_le_bytes());
                    for mask in [None, Some(0), Some(1)] {
                        if let Some(first) = mask {
                            let mut mask = vec![0; src.len().div_ceil(8000)];
                            mask[0] = first;
                            assert_eq!(context.set_maskout(&mut mask), 0);
                        }
                        let (rc, _) = with_destination(src.len(), |dest| context.decompress(&bad, dest));
                        assert!(rc < 0, "csize {csize}: {rc}");
                        let (rc, _) = with_destination(4, |dest| context.getitem(&bad, 5000, 1, dest));
                        assert!(rc < 0, "csize {csize}: {rc}");
                    }
                    let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                    assert!(rc == src.len() as i32 && dest == src, "the sound chunk afterwards: {rc}");
                }
            }
        }
    });
}

unsafe extern "C" fn inverting_prefilter(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes a valid struct, with buffers of the stated size.
    unsafe {
        let params = &*params;
        for i in 0..params.output_size as usize {
            *params.output.add(i) = !*params.input.add(i);
        }
    }
    0
}

unsafe extern "C" fn inverting_postfilter(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: as in `inverting_prefilter`.
    unsafe {
        let params = &*params;
        for i in 0..params.size as usize {
            *params.output.add(i) = !*params.input.add(i);
        }
    }
    0
}

#[test]
fn chunk_10_15_filters_d3_delta_decodes_with_a_postfilter() {
    let src = data(Data::SmoothFloats, 4, 90_000);
    let inverted: Vec<u8> = src.iter().map(|byte| !byte).collect();
    for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA], &[DELTA, SHUFFLE, DELTA]] {
        let chunk = compressed(&params(filters), &src);
        for nthreads in [1, 4] {
            let mut parameters = postparams();
            let mut given = dparams(nthreads);
            given.postfilter = Some(inverting_postfilter);
            given.postparams = &mut parameters;
            let mut context = OwnedContext::for_decompression(ours(), given);
            let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
            assert!(rc == src.len() as i32 && dest == inverted, "{filters:?}, {nthreads}: {rc}");
            assert_items(&mut context, &chunk, &inverted, &mut Random::new(3), 20);
            // With the first block masked out.
            let mut mask = vec![0; src.len().div_ceil(8000)];
            mask[0] = 1;
            assert_eq!(context.set_maskout(&mut mask), 0);
            let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
            assert!(rc == src.len() as i32 && dest[8000..] == inverted[8000..], "{filters:?}: {rc}");
            assert!(dest[..8000].iter().all(|&byte| byte == DEST_FILL_BYTE), "{filters:?}");
        }
    }
}

/// The chunk decodes to the output of the prefilter, also in the reference.
#[test]
fn chunk_10_15_filters_d3_delta_decodes_to_the_prefilter_output() {
    let src = data(Data::SmoothFloats, 4, 90_000);
    let inverted: Vec<u8> = src.iter().map(|byte| !byte).collect();
    for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA]] {
        for use_dict in [false, true] {
            let mut chunks = Vec::new();
            for nthreads in [1, 4] {
                let mut parameters = preparams();
                let mut cparams = Params { nthreads, use_dict, ..params(filters) }.cparams();
                cparams.prefilter = Some(inverting_prefilter);
                cparams.preparams = &mut parameters;
                let mut context = OwnedContext::for_compression(ours(), cparams).expect("a context");
                let (rc, dest) =
                    with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
                assert!(rc > 0 && !Header::parse(&dest).is_memcpyed(), "{filters:?}: {rc}");
                chunks.push(dest[..rc as usize].to_vec());
            }
            assert_eq!(chunks[0], chunks[1], "{filters:?}");
            assert_ours_decodes(&chunks[0], &inverted);
            assert_items_in_all_contexts(&chunks[0], &inverted);
            if let Some(reference) = Library::reference() {
                let outcome = decompress(reference, 1, &chunks[0], src.len());
                assert_outcome("the reference", outcome, &inverted);
            }
        }
    }
}

/// Each variable-length block is its own delta reference, for every reader (also chunk.md 10.10).
#[test]
fn chunk_10_15_filters_d3e_vl_blocks_are_their_own_delta_reference() {
    let random = &mut Random::new(5);
    let blocks: Vec<Vec<u8>> =
        (0..24).map(|i| data(Data::SmoothFloats, 4, 5000 + 400 * i + random.below(50))).collect();
    for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA], &[DELTA, DELTA], &[3, 1, 3, 2]] {
        let params = params(filters);
        let chunk = vlcompress(ours(), &params, &blocks, 400_000).expect("a chunk");
        let threaded = vlcompress(ours(), &Params { nthreads: 4, ..params.clone() }, &blocks, 400_000);
        assert_eq!(threaded.as_ref(), Ok(&chunk));
        for nthreads in [1, 4] {
            let outcome = decompress(ours(), nthreads, &chunk, blocks.concat().len());
            assert_outcome(&format!("{filters:?}, as a whole"), outcome, &blocks.concat());
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            assert!(context.vldecompress(&chunk, 24).as_ref() == Ok(&blocks), "{filters:?}, {nthreads}");
            for (nblock, block) in blocks.iter().enumerate() {
                let got = context.vldecompress_block(&chunk, nblock as i32);
                assert!(got.as_ref() == Ok(block), "{filters:?}, block {nblock}");
            }
        }
        if let Some(reference) = Library::reference() {
            let sizes: Vec<usize> = blocks.iter().map(Vec::len).collect();
            if defects::vldecompression_verdict(&params, &sizes, 1).is_right() {
                let mut context = OwnedContext::for_decompression(reference, dparams(1));
                assert!(context.vldecompress(&chunk, 24).as_ref() == Ok(&blocks), "reference, {filters:?}");
            }
        }
    }
}

/// The bytes after the last complete word are preserved in every block.
#[test]
fn chunk_10_15_filters_d2_tail_bytes_are_preserved() {
    for typesize in [2, 3, 4, 8, 12, 16, 24] {
        for tail in 1..typesize as usize {
            let src = data(Data::Ramp, typesize as usize, 40 * typesize as usize + tail);
            for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA], &[BITSHUFFLE, DELTA, DELTA]] {
                for blocksize in [0, 32 * typesize] {
                    let params = Params { typesize, blocksize, ..params(filters) };
                    let chunk = compressed(&params, &src);
                    assert_ours_decodes(&chunk, &src);
                    if filters.len() < 3 {
                        // The reference does not change the tail when it undoes delta.
                        assert_all_decode_with_one_thread(&chunk, &src);
                    }
                }
            }
        }
    }
    for (typesize, precision) in [(4, 10), (8, 20)] {
        for tail in 1..typesize as usize {
            let src = data(Data::Noise, 1, 40 * typesize as usize + tail);
            for filters in [&[TRUNC_PREC][..], &[TRUNC_PREC, SHUFFLE], &[TRUNC_PREC, DELTA]] {
                let mut params = Params { typesize, blocksize: 0, ..params(filters) };
                params.filters_meta[6 - filters.len()] = precision;
                let (rc, dest) = with_destination(large_destsize(src.len()), |dest| {
                    let mut context =
                        OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                    context.compress(&src, dest)
                });
                let chunk = &dest[..rc as usize];
                assert!(!Header::parse(chunk).is_memcpyed());
                let decoded = decompress(ours(), 1, chunk, src.len()).expect("its content");
                let whole = src.len() - tail;
                assert_eq!(decoded[whole..], src[whole..], "{filters:?}");
                assert_ne!(decoded[..whole], src[..whole], "{filters:?}");
                // The chunk contains no bytes of earlier blocks.
                assert_all_decode_with_one_thread(chunk, &decoded);
            }
        }
    }
}

fn assert_all_decode_with_one_thread(chunk: &[u8], expected: &[u8]) {
    assert_ours_decodes(chunk, expected);
    if let Some(reference) = Library::reference() {
        assert_outcome("the reference", decompress(reference, 1, chunk, expected.len()), expected);
    }
}

/// Blocks shorter than a word, at the end of readable memory.
#[test]
fn chunk_10_15_filters_d6_blocks_shorter_than_a_word_round_trip() {
    in_new_process(test_name!(), || {
        for typesize in [2, 4, 8, 16] {
            for len in 1..typesize as usize {
                let bytes = data(Data::Noise, 1, 200);
                for at_end in [true, false] {
                    let mut guarded = GuardedBuffer::new(200);
                    // Variable-length blocks.
                    let block = guarded.edge_bytes(len, at_end);
                    block.copy_from_slice(&bytes[..len]);
                    let params = Params { typesize, blocksize: 0, ..params(&[DELTA]) };
                    let context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                    let (source, size) = (block.as_ptr().cast(), len as i32);
                    // SAFETY: one source of its stated size.
                    let (rc, dest) = with_destination(40 + len, |dest| unsafe {
                        (ours().blosc2_vlcompress_ctx)(
                            context.raw(),
                            &source,
                            &size,
                            1,
                            dest.as_mut_ptr().cast(),
                            dest.len() as i32,
                        )
                    });
                    assert_eq!(rc, 40 + len as i32);
                    let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
                    let block = reader.vldecompress_block(&dest, 0);
                    assert_eq!(block.as_deref(), Ok(&bytes[..len]), "typesize {typesize}");
                    // Small blocks of a chunk.
                    let src = guarded.edge_bytes(66, at_end);
                    src.copy_from_slice(&bytes[..66]);
                    let params = Params { blocksize: len as i32, ..params.clone() };
                    let mut context =
                        OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                    let (rc, dest) = with_destination(large_destsize(66), |dest| context.compress(src, dest));
                    // Blocks that are so short do not shrink: the chunk is stored (chunk.md 3.6).
                    assert_eq!(rc, 66 + 32);
                    assert_ours_decodes(&dest[..rc as usize], &bytes[..66]);
                    // A destination that ends at the end of writable memory.
                    let decoded = guarded.edge_bytes(66, at_end);
                    let chunk = &dest[..rc as usize];
                    assert_eq!(reader.decompress(chunk, decoded), 66);
                    assert_eq!(*decoded, bytes[..66]);
                    assert_items_in_all_contexts(chunk, &bytes[..66]);
                }
            }
        }
    });
}

/// The reference reads the common pipelines, with threads where it supports them.
#[test]
fn chunk_10_15_reference_decodes_common_delta_pipelines() {
    let src = data(Data::SmoothFloats, 8, 200_000);
    for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[DELTA, BITSHUFFLE]] {
        let params = Params { typesize: 8, ..params(filters) };
        assert_all_decode(&compressed(&params, &src), &src);
    }
}

/// A chunk of 62 bytes claims blocks of 512 MiB. Items of its second block depend on the first block, whose stream is
/// invalid: memory for a block is allocated, but not written.
#[test]
fn filters_6_huge_claimed_first_block_is_not_written() {
    in_new_process(test_name!(), || {
        const BLOCKSIZE: i32 = 536_866_816;
        for format in [0u8, 1, 3, 4] {
            // An extended header; the streams are not split.
            let mut chunk = vec![5, 1, 0x15 | 0x08 | format << 5, 4];
            for field in [2 * BLOCKSIZE, BLOCKSIZE, 62] {
                chunk.extend(field.to_le_bytes());
            }
            chunk.resize(32, 0);
            chunk[0x15] = DELTA;
            for field in [40i32, 40, 18] {
                chunk.extend(field.to_le_bytes());
            }
            chunk.resize(62, 0xE0);
            let peak_memory = PeakMemory::start();
            let mut context = OwnedContext::for_decompression(ours(), dparams(1));
            let mut dest = [DEST_FILL_BYTE; 40];
            assert_eq!(context.getitem(&chunk, BLOCKSIZE / 4 + 1000, 10, &mut dest), -3, "format {format}");
            let grown = peak_memory.growth();
            assert!(grown < 16 << 20, "format {format}: {grown} bytes");
        }
    });
}
