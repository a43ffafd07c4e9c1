//! Dictionaries: small buffers, raw copies, tight destinations, partial reads (chunk.md 10.3, 10.6, 10.24,
//! codecs.md 18.15).

use crate::checks::{
    CODECS, DICTIONARY_CODECS, assert_all_decode, assert_items, assert_items_in_all_contexts,
    assert_ours_decodes, compressed, data, ours,
};
use crate::support::calls::{
    BYTE_ORDER_FLAG, DEST_FILL_BYTE, Header, OwnedContext, Params, compress, decompress, dparams, getitem,
    vlcompress, with_destination,
};
use crate::support::data::Data;
use crate::support::random::Random;

fn params(codec: u8, nthreads: i16) -> Params {
    Params { codec, nthreads, typesize: 4, blocksize: 4096, use_dict: true, ..Params::default() }
}

#[test]
fn chunk_10_03a_memcpyed_chunk_has_no_dictionary_flag() {
    for nbytes in [5120, 50_000, 200_001] {
        let src = data(Data::Noise, 4, nbytes);
        for codec in DICTIONARY_CODECS {
            for nthreads in [1, 4] {
                let chunk = compress(ours(), &params(codec, nthreads), &src, nbytes + 32).expect("it fits");
                let header = Header::parse(&chunk);
                assert!(header.is_memcpyed() && !header.uses_dictionary(), "{header:?}");
                assert_all_decode(&chunk, &src);
                assert_items_in_all_contexts(&chunk, &src);
            }
        }
    }
}

#[test]
fn chunk_10_03b_small_buffers_are_memcpyed() {
    for nbytes in [0, 1, 2, 3, 4, 16, 31] {
        for kind in [Data::Noise, Data::Constant, Data::Zeros] {
            let src = data(kind, 1, nbytes);
            for codec in DICTIONARY_CODECS {
                for destsize in [nbytes + 32, nbytes + 36, nbytes + 100, 5000] {
                    let chunk = compress(ours(), &params(codec, 1), &src, destsize).expect("it fits");
                    let header = Header::parse(&chunk);
                    assert_eq!(
                        (chunk.len(), header.flags, header.blosc2_flags),
                        (nbytes + 32, 7, BYTE_ORDER_FLAG)
                    );
                    assert_eq!(chunk[32..], src);
                    assert_all_decode(&chunk, &src);
                }
            }
        }
    }
}

/// Every destination size is safe, and every size that is large enough succeeds. `with_destination` checks the bytes
/// behind the destination.
#[test]
fn chunk_10_03c_10_03e_codecs_18_15_any_destination_size_is_safe() {
    for kind in [Data::Text, Data::Ramp, Data::Noise, Data::Zeros] {
        for nbytes in [5119, 5120, 20_000] {
            let src = data(kind, 4, nbytes);
            for codec in DICTIONARY_CODECS {
                for nthreads in [1, 4] {
                    let params = Params { blocksize: 1000, ..params(codec, nthreads) };
                    let full = compressed(&params, &src);
                    let mut sizes: Vec<usize> = (32..700).step_by(23).collect();
                    sizes.extend((full.len().saturating_sub(40).max(32)..full.len() + 40).step_by(7));
                    sizes.extend([full.len() - 1, full.len(), nbytes + 31, nbytes + 32, nbytes + 33]);
                    sizes.sort_unstable();
                    let mut fitted = false;
                    for destsize in sizes.into_iter().filter(|&size| size >= 32) {
                        match compress(ours(), &params, &src, destsize) {
                            Ok(chunk) => {
                                fitted = true;
                                assert_ours_decodes(&chunk, &src);
                            }
                            Err(code) => assert!(
                                // Zeros need space for their encoded runs before they become a special chunk.
                                code == 0
                                    && !fitted
                                    && (kind == Data::Zeros || destsize < full.len().min(nbytes + 32)),
                                "{kind:?}, codec {codec}: {code} for {destsize} bytes, {} are needed",
                                full.len()
                            ),
                        }
                    }
                    assert!(fitted);
                    assert_all_decode(&full, &src);
                }
            }
        }
    }
}

#[test]
fn chunk_10_03d_vl_blocks_get_a_dictionary_only_if_the_codec_supports_it() {
    let blocks: Vec<Vec<u8>> = (0..20).map(|i| data(Data::Text, 1, 1000 + i)).collect();
    for codec in CODECS {
        let outcome = vlcompress(ours(), &params(codec, 1), &blocks, 100_000);
        if !DICTIONARY_CODECS.contains(&codec) {
            // The C library puts a Zstandard dictionary into the chunk, which no codec uses.
            let chunk = outcome.expect("a chunk");
            assert!(!Header::parse(&chunk).uses_dictionary(), "codec {codec}");
            assert_all_decode(&chunk, &blocks.concat());
            continue;
        }
        let chunk = outcome.expect("a chunk");
        assert!(Header::parse(&chunk).uses_dictionary(), "codec {codec}");
        assert_all_decode(&chunk, &blocks.concat());
        for destsize in (32..chunk.len()).step_by(37).chain([chunk.len() - 1]) {
            assert_eq!(vlcompress(ours(), &params(codec, 1), &blocks, destsize), Err(0));
        }
        assert_eq!(vlcompress(ours(), &params(codec, 4), &blocks, chunk.len()), Ok(chunk));
    }
}

/// Check 13: the flag is set exactly if the chunk contains a dictionary.
#[test]
fn chunk_10_03_dictionary_flag_is_set_exactly_with_a_dictionary() {
    for (nbytes, expected) in [(16, false), (31, false), (4999, false), (5119, false), (5120, true)] {
        let src = data(Data::Sparse, 4, nbytes);
        for codec in DICTIONARY_CODECS {
            // The trainer of zstd may find too little content in short data.
            let chunk = compressed(&Params { blocksize: 1000, ..params(codec, 1) }, &src);
            let marked = Header::parse(&chunk).uses_dictionary();
            assert!(marked == expected || codec == 5 && !marked, "codec {codec}, {nbytes} bytes");
            if marked {
                let size = &chunk[32 + 4 * 6..][..4];
                let size = i32::from_le_bytes(size.try_into().expect("four bytes"));
                assert!((1..=256).contains(&size), "{size}");
            }
            assert_all_decode(&chunk, &src);
        }
    }
}

#[test]
fn chunk_10_06_getitem_loads_the_dictionary_of_its_chunk() {
    let (one, other) = (data(Data::Text, 4, 100_000), data(Data::Records, 4, 90_001));
    for codec in DICTIONARY_CODECS {
        let chunks = [&one, &other].map(|src| compressed(&params(codec, 1), src));
        let plain = compressed(&Params { use_dict: false, ..params(codec, 1) }, &one);
        assert!(chunks.iter().all(|chunk| Header::parse(chunk).uses_dictionary()), "codec {codec}");
        assert_items_in_all_contexts(&chunks[0], &one);
        for nthreads in [1, 4] {
            let random = &mut Random::new(6);
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            for _ in 0..10 {
                assert_items(&mut context, &chunks[1], &other, random, 2);
                let (rc, _) = with_destination(one.len(), |dest| context.decompress(&chunks[0], dest));
                assert_eq!(rc, one.len() as i32);
                // The dictionary of the previous chunk is not used for this one.
                assert_items(&mut context, &chunks[1], &other, random, 2);
                assert_items(&mut context, &plain, &one, random, 2);
                assert_items(&mut context, &chunks[0], &one, random, 2);
            }
        }
        // Without a context, and with one for compression.
        let mut item = [DEST_FILL_BYTE; 8];
        // SAFETY: a chunk and a destination with their true lengths.
        let rc = unsafe {
            (ours().blosc2_getitem)(
                chunks[0].as_ptr().cast(),
                chunks[0].len() as i32,
                20_000,
                2,
                item.as_mut_ptr().cast(),
                8,
            )
        };
        assert!(rc == 8 && item == one[80_000..80_008], "{rc}");
        let cparams = Params { use_dict: false, ..params(codec, 1) }.cparams();
        let mut writer = OwnedContext::for_compression(ours(), cparams).expect("a context");
        assert_items(&mut writer, &chunks[0], &one, &mut Random::new(7), 20);
    }
}

/// The memory of a previously read chunk may have been freed.
#[test]
fn chunk_10_06_dictionary_of_a_freed_chunk_is_not_used() {
    let src = data(Data::Text, 4, 50_000);
    for codec in DICTIONARY_CODECS {
        let mut context = OwnedContext::for_decompression(ours(), dparams(1));
        for round in 0..20 {
            // A chunk at a different address in each round, freed directly after it was read.
            let chunk = compressed(&Params { blocksize: 4096 + 4 * round, ..params(codec, 1) }, &src);
            let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
            assert!(rc == src.len() as i32 && dest == src);
            drop(chunk);
            let chunk = compressed(&Params { blocksize: 5000 + 4 * round, ..params(codec, 1) }, &src);
            assert_items(&mut context, &chunk, &src, &mut Random::new(8), 3);
        }
    }
}

/// A damaged dictionary returns an error; it causes no crash.
#[test]
fn chunk_10_06_damaged_dictionaries_are_rejected() {
    let src = data(Data::Text, 4, 50_000);
    for codec in DICTIONARY_CODECS {
        let chunk = compressed(&params(codec, 1), &src);
        let at = 32 + 4 * src.len().div_ceil(4096);
        for (size, expected) in [(0, -9), (-1, -9), (32_769, -9), (i32::MIN, -9), (32_768, -5)] {
            let mut bad = chunk.clone();
            bad[at..at + 4].copy_from_slice(&i32::to_le_bytes(size));
            if size == 32_768 && bad.len() >= at + 4 + 32_768 {
                continue;
            }
            assert_eq!(decompress(ours(), 1, &bad, src.len()), Err(expected), "codec {codec}, {size}");
            assert_eq!(getitem(ours(), 1, &bad, 5, 3, 12), Err(expected), "codec {codec}, {size}");
        }
    }
}
