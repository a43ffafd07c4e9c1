//! Checks that a reader must make and the reference omits (chunk.md 2.4, 10.17).

use crate::checks::{
    BITSHUFFLE, SHUFFLE, assert_all_decode, assert_items_in_all_contexts, assert_ours_decodes, compressed,
    data, ours, pipeline,
};
use crate::support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, Special, decompress, dparams, getitem, special_chunk,
    vlcompress, with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::guard::GuardedBuffer;
use crate::support::random::Random;

fn patch(chunk: &[u8], at: usize, value: i32) -> Vec<u8> {
    let mut bad = chunk.to_vec();
    bad[at..at + 4].copy_from_slice(&value.to_le_bytes());
    bad
}

/// Checks that every function that reads the chunk returns one of these errors.
#[track_caller]
fn assert_refused(chunk: &[u8], destsize: usize, expected: &[i32]) {
    for nthreads in [1, 4] {
        let code = decompress(ours(), nthreads, chunk, destsize).expect_err("a chunk that is rejected");
        assert!(expected.contains(&code), "{code}");
        let code = getitem(ours(), nthreads, chunk, 0, 1, 255).expect_err("a chunk that is rejected");
        assert!(expected.contains(&code) || code == -12, "{code}");
    }
}

#[test]
fn chunk_2_4_negative_nbytes_is_rejected() {
    let src = data(Data::Ramp, 4, 4000);
    let params = Params { typesize: 4, blocksize: 1000, ..Params::default() };
    let mut chunks =
        vec![compressed(&params, &src), compressed(&Params { clevel: 0, ..params.clone() }, &src)];
    for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&[1, 2, 3, 4])] {
        chunks.push(special_chunk(ours(), &params, special, 4000, 100).expect("a chunk"));
    }
    chunks.push(vlcompress(ours(), &params, &[src.clone(), src], 20_000).expect("a chunk"));
    for chunk in &chunks {
        for nbytes in [-1, -4, -4000, i32::MIN] {
            assert_refused(&patch(chunk, 4, nbytes), 4000, &[-11]);
        }
    }
}

/// Block starts must lie behind header, block starts and dictionary, and inside the chunk.
#[test]
fn chunk_2_4_block_starts_outside_the_streams_are_rejected() {
    let src = data(Data::Sparse, 4, 40_000);
    for (codec, use_dict) in [(0, false), (1, false), (5, false), (1, true), (2, true), (5, true)] {
        let params = Params { codec, use_dict, typesize: 4, blocksize: 4000, ..Params::default() };
        let chunk = compressed(&params, &src);
        assert_eq!(Header::parse(&chunk).uses_dictionary(), use_dict);
        let mut first = 32 + 40;
        if use_dict {
            let size = i32::from_le_bytes(chunk[first..first + 4].try_into().expect("four bytes"));
            first += 4 + size as usize;
        }
        let end = chunk.len() as i32;
        for nblock in [0, 3, 9] {
            let at = 32 + 4 * nblock;
            for start in [0, 1, 31, 32, 71, first as i32 - 1, end, end + 1, i32::MAX, -1, i32::MIN] {
                let bad = patch(&chunk, at, start);
                for nthreads in [1, 4] {
                    let code = decompress(ours(), nthreads, &bad, src.len()).expect_err("a bad start");
                    assert_eq!(code, -3, "codec {codec}, start {start}");
                    let code = getitem(ours(), nthreads, &bad, 1000 * nblock as i32, 1, 4);
                    assert_eq!(code, Err(-3), "codec {codec}, start {start}");
                }
            }
            // In the last bytes: too short for a stream.
            for start in end - 3..end {
                let code = decompress(ours(), 1, &patch(&chunk, at, start), src.len());
                assert_eq!(code, Err(-5), "codec {codec}, start {start}");
            }
        }
    }
}

/// Three streams of 333 bytes in a block of 1000: the last byte would not be written.
#[test]
fn chunk_2_4_split_blocks_of_incomplete_items_are_rejected() {
    let src = data(Data::Ramp, 4, 4000);
    let mut chunk = vec![0u8; 32 + 2 * 4];
    chunk[..4].copy_from_slice(&[5, 1, 0x05, 3]);
    for nblock in 0..2 {
        let start = chunk.len() as i32;
        chunk[32 + 4 * nblock..][..4].copy_from_slice(&start.to_le_bytes());
        for _ in 0..3 {
            chunk.extend([0xF9, 0xFF, 0xFF, 0xFF, 1]);
        }
    }
    let cbytes = chunk.len() as i32;
    for (at, field) in [(4, 2000), (8, 1000), (12, cbytes)] {
        chunk[at..at + 4].copy_from_slice(&i32::to_le_bytes(field));
    }
    for nthreads in [1, 4] {
        assert_eq!(decompress(ours(), nthreads, &chunk, 2000), Err(-3));
        assert_eq!(getitem(ours(), nthreads, &chunk, 0, 100, 300), Err(-3));
        // The same with an item size that divides the block.
        let mut sound = patch(&chunk, 8, 999);
        sound = patch(&sound, 4, 1998);
        assert_eq!(decompress(ours(), nthreads, &sound, 1998), Ok(vec![7; 1998]));
    }
    // More streams than bytes.
    let mut halves = src[..80].to_vec();
    halves[40..].fill(0);
    let mut bad =
        compressed(&Params { typesize: 1, blocksize: 40, splitmode: 1, ..Params::default() }, &halves);
    assert!(!Header::parse(&bad).is_memcpyed());
    bad[3] = 255;
    assert_eq!(decompress(ours(), 1, &bad, 80), Err(-6));
}

/// A dictionary flag is ignored on chunks without streams, as the writer of the reference leaves it there.
#[test]
fn chunk_2_4_dictionary_flag_on_chunks_without_streams_is_ignored() {
    let params = Params { typesize: 4, blocksize: 1000, ..Params::default() };
    for kind in [Data::Noise, Data::Zeros, Data::Constant] {
        let src = data(kind, 4, 4000);
        let mut chunk = compressed(&Params { clevel: 0, ..params.clone() }, &src);
        chunk[0x1F] |= 1;
        assert_ours_decodes(&chunk, &src);
        assert_items_in_all_contexts(&chunk, &src);
        chunk[2] = 0x27;
        assert_ours_decodes(&chunk, &src);
    }
    for special in [Special::Zeros, Special::Nans, Special::Value(&[1, 2, 3, 4])] {
        let mut chunk = special_chunk(ours(), &params, special, 4000, 100).expect("a chunk");
        let decoded = decompress(ours(), 1, &chunk, 4000).expect("its content");
        chunk[0x1F] |= 1;
        assert_ours_decodes(&chunk, &decoded);
        assert_items_in_all_contexts(&chunk, &decoded);
    }
}

#[test]
fn chunk_2_4_memcpyed_chunk_with_wrong_nbytes_is_rejected() {
    let src = data(Data::Noise, 4, 4000);
    let chunk = compressed(&Params { clevel: 0, typesize: 4, ..Params::default() }, &src);
    for nbytes in [3996, 4004, 100, 0x7000_0000] {
        let bad = patch(&chunk, 4, nbytes);
        for nthreads in [1, 4] {
            assert_eq!(getitem(ours(), nthreads, &bad, 20, 1, 4), Err(-3), "{nbytes}");
        }
        if nbytes < 10_000 {
            assert_eq!(decompress(ours(), 1, &bad, 5000), Err(-3), "{nbytes}");
        }
    }
}

/// The functions without sizes rely on the sizes in the header only: the chunk ends at the end of readable memory.
#[test]
fn chunk_2_4_blosc1_readers_are_bounded_by_the_header() {
    in_new_process(test_name!(), || {
        let src = data(Data::Text, 4, 40_000);
        let library = ours();
        let random = &mut Random::new(24);
        for params in [
            Params { typesize: 4, blocksize: 4000, ..Params::default() },
            Params { codec: 1, typesize: 4, filters: pipeline(&[BITSHUFFLE]), ..Params::default() },
            Params { codec: 5, typesize: 4, blocksize: 4000, use_dict: true, ..Params::default() },
            Params { clevel: 0, typesize: 4, ..Params::default() },
        ] {
            let chunk = compressed(&params, &src);
            let mut guarded = GuardedBuffer::new(chunk.len());
            let mut room = GuardedBuffer::new(src.len());
            for round in 0..3000 {
                let place = guarded.last_bytes(chunk.len());
                place.copy_from_slice(&chunk);
                if round > 0 {
                    // Any bytes except the header, whose sizes are used.
                    for _ in 0..1 + random.below(3) {
                        place[32 + random.below(chunk.len() - 32)] = random.byte();
                    }
                }
                let from = place.as_ptr().cast();
                let dest = room.last_bytes(src.len());
                // SAFETY: a chunk and a destination as long as their headers and lengths say.
                let rc = unsafe { (library.blosc1_decompress)(from, dest.as_mut_ptr().cast(), dest.len()) };
                assert!(round > 0 || rc == src.len() as i32 && *dest == src, "{rc}");
                let dest = room.last_bytes(4000);
                // SAFETY: as above, with room for 1000 items.
                let rc = unsafe { (library.blosc1_getitem)(from, 4321, 1000, dest.as_mut_ptr().cast()) };
                assert!(round > 0 || rc == 4000 && *dest == src[4 * 4321..][..4000], "{rc}");
            }
        }
    });
}

/// An unknown codec is an error only if a stream needs it.
#[test]
fn chunk_2_4_unknown_codec_fails_only_if_a_stream_needs_it() {
    let mut src = vec![0u8; 4000];
    src[2000..].fill(9);
    let params = Params { typesize: 4, blocksize: 1000, ..Params::default() };
    let runs = compressed(&params, &src);
    let text = data(Data::Text, 4, 4000);
    let coded = compressed(&Params { codec: 1, splitmode: 2, ..params.clone() }, &text);
    let mut noise = data(Data::Noise, 4, 4000);
    noise[2000..].fill(0);
    let raw = compressed(&params, &noise);
    assert!(!Header::parse(&raw).is_memcpyed());
    for format in [2, 5, 6, 7] {
        let with_format = |chunk: &[u8]| {
            let mut chunk = chunk.to_vec();
            chunk[2] = chunk[2] & 0x1F | format << 5;
            chunk[0x16] = 77;
            chunk
        };
        assert_all_decode(&with_format(&runs), &src);
        assert_all_decode(&with_format(&raw), &noise);
        for nthreads in [1, 4] {
            assert_eq!(decompress(ours(), nthreads, &with_format(&coded), 4000), Err(-7), "{format}");
        }
    }
}

/// Blocks of another size than in the previous chunk: the buffers have the sizes of the current chunk.
#[test]
fn chunk_2_4_reused_context_resizes_its_buffers_for_each_chunk() {
    let src = data(Data::SmoothFloats, 4, 50_000);
    for nthreads in [1, 4] {
        let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
        for (typesize, blocksize) in [(1, 4080), (255, 4080), (8, 16), (255, 255), (16, 50_000), (3, 9)] {
            for filter in [SHUFFLE, BITSHUFFLE] {
                let filters = pipeline(&[filter]);
                let params = Params { codec: 1, typesize, blocksize, filters, ..Params::default() };
                let chunk = compressed(&params, &src);
                let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                assert!(rc == src.len() as i32 && dest == src, "{typesize}, {blocksize}: {rc}");
                let (rc, dest) =
                    with_destination(typesize as usize, |dest| context.getitem(&chunk, 5, 1, dest));
                assert!(rc == typesize && dest == src[5 * typesize as usize..][..typesize as usize]);
            }
        }
    }
}

/// Only the destination is written, and at most as many bytes as requested, for arbitrary input (checks 21 and 22).
#[test]
fn chunk_10_17_damaged_chunks_write_only_the_destination() {
    in_new_process(test_name!(), || {
        let src = data(Data::Mixed, 4, 30_000);
        let short = &src[..3000];
        let params = Params { typesize: 4, blocksize: 3000, ..Params::default() };
        let mut chunks: Vec<Vec<u8>> =
            crate::checks::CODECS.map(|codec| compressed(&Params { codec, ..params.clone() }, &src)).into();
        for codec in crate::checks::DICTIONARY_CODECS {
            chunks.push(compressed(&Params { codec, use_dict: true, ..params.clone() }, &src));
        }
        chunks.push(compressed(&Params { filters: pipeline(&[3, 2]), ..params.clone() }, &src));
        let special = special_chunk(ours(), &params, Special::Value(&[1, 2, 3, 4]), 30_000, 100);
        chunks.push(special.expect("a chunk"));
        chunks.push(vlcompress(ours(), &params, &[src.clone(), short.to_vec()], 80_000).expect("a chunk"));
        let random = &mut Random::new(17);
        let mut room = GuardedBuffer::new(40_000);
        for chunk in &chunks {
            let mut guarded = GuardedBuffer::new(chunk.len());
            let mut contexts =
                [1, 4].map(|nthreads| OwnedContext::for_decompression(ours(), dparams(nthreads)));
            for round in 0..1500 {
                let len = if round % 3 == 0 { random.below(chunk.len()) } else { chunk.len() };
                let place = guarded.last_bytes(len);
                place.copy_from_slice(&chunk[..len]);
                if round % 3 != 0 && len > 0 {
                    let end = if random.one_in(2) { 80.min(len) } else { len };
                    place[random.below(end)] ^= 1 << random.below(8);
                }
                let context = &mut contexts[round % 2];
                let dest = room.last_bytes(33_000);
                let rc = context.decompress(place, dest);
                assert!(rc <= 33_000);
                if round % 3 == 0 && len < chunk.len() {
                    assert!(rc < 0, "{len} bytes of {}: {rc}", chunk.len());
                }
                let (start, nitems) = (random.below(8000) as i32, random.below(2000) as i32);
                let dest = room.last_bytes(4 * nitems as usize);
                let rc = context.getitem(place, start, nitems, dest);
                assert!(rc <= 4 * nitems);
                let _ = context.vldecompress(place, 5);
                let _ = context.vldecompress_block(place, 1);
            }
        }
    });
}

/// A destination larger than the content: the rest is not written.
#[test]
fn chunk_10_17_bytes_behind_the_content_are_not_written() {
    let src = data(Data::Text, 4, 30_001);
    for params in [Params::default(), Params { clevel: 0, ..Params::default() }] {
        let chunk = compressed(&params, &src);
        let mut longer = chunk.clone();
        longer.extend([0xEE; 1000]);
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            let (rc, dest) = with_destination(40_000, |dest| context.decompress(&longer, dest));
            assert!(rc == 30_001 && dest[..30_001] == src, "{rc}");
            assert!(dest[30_001..].iter().all(|&byte| byte == DEST_FILL_BYTE));
        }
    }
}
