//! Calls leave no state that affects later calls (chunk.md 10.7, 10.8, 10.9, 10.18).

use std::path::Path;

use crate::checks::{
    BITSHUFFLE, CODECS, DELTA, SHUFFLE, assert_all_decode, assert_items, assert_ours_decodes, compressed,
    data, large_destsize, ours, pipeline,
};
use crate::support::array::ArraySpec;
use crate::support::calls::{
    DEST_FILL_BYTE, Header, OwnedContext, Params, Special, dparams, special_chunk, vlcompress,
    with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// A chunk with a 16-byte header and one block, whose filtered bytes are stored uncompressed.
fn short_chunk(flags: u8, typesize: u8, filtered: &[u8]) -> Vec<u8> {
    let len = filtered.len() as i32;
    let mut chunk = vec![2, 1, flags | 0x10, typesize];
    for field in [len, len, len + 24, 20, len] {
        chunk.extend(field.to_le_bytes());
    }
    chunk.extend(filtered);
    chunk
}

fn shuffled(typesize: i32, src: &[u8]) -> Vec<u8> {
    let mut out = vec![0; src.len()];
    // SAFETY: two buffers of that length.
    let rc = unsafe {
        (ours().blosc2_shuffle)(typesize, src.len() as i32, src.as_ptr().cast(), out.as_mut_ptr().cast())
    };
    assert_eq!(rc, src.len() as i32);
    out
}

#[test]
fn chunk_10_07_reused_context_decodes_chunks_with_short_headers() {
    let src = data(Data::Ramp, 4, 4000);
    let old = short_chunk(1, 4, &shuffled(4, &src));
    let plain = short_chunk(0, 4, &src);
    let value = [1, 2, 3, 4, 5, 6, 7, 8];
    let wide = Params { typesize: 8, ..Params::default() };
    let mut before: Vec<(Vec<u8>, usize)> = Vec::new();
    for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&value)] {
        before.push((special_chunk(ours(), &wide, special, 4000, 100).expect("a chunk"), 4000));
    }
    // Metas that would change the shuffle, a dictionary, delta, a wide type, a codec byte.
    for filters in [&[SHUFFLE][..], &[BITSHUFFLE, SHUFFLE], &[DELTA, SHUFFLE]] {
        let mut params =
            Params { typesize: 2, filters: pipeline(filters), codec_meta: 9, ..Params::default() };
        params.filters_meta[5] = 16;
        before.push((compressed(&params, &src), 4000));
    }
    let text = data(Data::Text, 4, 20_000);
    let params = Params { typesize: 4, blocksize: 1000, codec: 1, use_dict: true, ..Params::default() };
    before.push((compressed(&params, &text), 20_000));
    for nthreads in [1, 4] {
        for (chunk, nbytes) in &before {
            for whole_first in [true, false] {
                let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
                let what = format!("after a chunk with flags {:02x} {:02x}", chunk[2], chunk[0x1F]);
                if whole_first {
                    let (rc, _) = with_destination(*nbytes, |dest| context.decompress(chunk, dest));
                    assert_eq!(rc, *nbytes as i32, "{what}");
                } else {
                    let (rc, _) = with_destination(16, |dest| context.getitem(chunk, 1, 1, dest));
                    assert!(rc > 0, "{what}: {rc}");
                }
                for short in [&old, &plain] {
                    assert_items(&mut context, short, &src, &mut Random::new(1), 5);
                    let (rc, dest) = with_destination(4000, |dest| context.decompress(short, dest));
                    assert!(rc == 4000 && dest == src, "{what}: {rc}");
                    assert_items(&mut context, short, &src, &mut Random::new(2), 5);
                }
            }
        }
    }
}

fn global_compress(compressor: &std::ffi::CStr, src: &[u8]) -> Vec<u8> {
    let (rc, mut dest) = with_destination(large_destsize(src.len()), |dest| {
        // SAFETY: a terminated name; a source and a destination with their true lengths.
        unsafe {
            assert!((ours().blosc1_set_compressor)(compressor.as_ptr()) >= 0);
            let (len, room) = (src.len() as i32, dest.len() as i32);
            (ours().blosc2_compress)(5, 1, 4, src.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room)
        }
    });
    assert!(rc > 0, "{compressor:?}: {rc}");
    dest.truncate(rc as usize);
    dest
}

#[test]
fn chunk_10_08_decompression_does_not_change_global_compression() {
    in_new_process(test_name!(), || {
        let src = data(Data::Text, 4, 100_000);
        let names = [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd"];
        let expected = names.map(|name| global_compress(name, &src));
        let mut before = Vec::new();
        for codec in [1, 2, 5] {
            let params = Params { codec, typesize: 4, use_dict: true, ..Params::default() };
            let chunk = compressed(&params, &src);
            assert!(Header::parse(&chunk).uses_dictionary());
            before.push(chunk);
        }
        let mut cparams = Params { typesize: 8, blocksize: 1000, ..Params::default() }.cparams();
        cparams.instr_codec = blosc2::abi::CBool::TRUE;
        let mut context = OwnedContext::for_compression(ours(), cparams).expect("a context");
        let (rc, dest) = with_destination(200_000, |dest| context.compress(&src, dest));
        before.push(dest[..rc as usize].to_vec());
        let filters = pipeline(&[DELTA, BITSHUFFLE]);
        let params =
            Params { codec_meta: 0x42, filters, filters_meta: [1, 2, 3, 4, 5, 6], ..Params::default() };
        before.push(compressed(&params, &src));
        let wide = Params { typesize: 255, ..Params::default() };
        before.push(special_chunk(ours(), &wide, Special::Zeros, 2550, 32).expect("zeros"));
        for chunk in &before {
            let nbytes = Header::parse(chunk).nbytes as usize;
            let (rc, _) = with_destination(nbytes, |dest| {
                // SAFETY: a chunk and a destination with their true lengths.
                unsafe {
                    let (len, room) = (chunk.len() as i32, dest.len() as i32);
                    (ours().blosc2_decompress)(chunk.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room)
                }
            });
            assert_eq!(rc, nbytes as i32);
            for (name, expected) in names.iter().zip(&expected) {
                let now = global_compress(name, &src);
                assert!(now == *expected, "{name:?} after a chunk with flags {:02x}", chunk[0x1F]);
                assert_all_decode(&now, &src);
            }
        }
    });
}

#[test]
fn chunk_10_09_getitem_does_not_change_a_compression_context() {
    let src = data(Data::SmoothFloats, 4, 60_000);
    let mut foreign = Vec::new();
    for codec in CODECS {
        let params = Params {
            codec,
            codec_meta: 3,
            typesize: 12,
            blocksize: 1200,
            filters: pipeline(&[DELTA, BITSHUFFLE]),
            filters_meta: [7; 6],
            ..Params::default()
        };
        foreign.push(compressed(&params, &src));
    }
    let params = Params { typesize: 8, codec: 1, use_dict: true, ..Params::default() };
    foreign.push(compressed(&params, &src));
    foreign.push(special_chunk(ours(), &params, Special::Zeros, 8000, 32).expect("zeros"));
    for codec in CODECS {
        let params = Params { codec, typesize: 4, blocksize: 8192, ..Params::default() };
        let expected = compressed(&params, &src);
        let mut context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
        let told = |context: &OwnedContext<'_>| {
            let c = context.cparams();
            let sizes = (c.typesize, c.blocksize, c.splitmode, c.nthreads);
            ((c.compcode, c.compcode_meta, c.clevel, c.use_dict), sizes, c.filters, c.filters_meta)
        };
        let before = told(&context);
        for chunk in &foreign {
            let (rc, _) = with_destination(24, |dest| context.getitem(chunk, 3, 2, dest));
            assert!(rc > 0, "{rc}");
            assert_eq!(told(&context), before, "codec {codec}");
            let (rc, dest) = with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
            assert!(dest[..rc as usize] == expected, "codec {codec}: {rc} bytes");
            // A compression context still cannot decompress a whole chunk.
            let (rc, _) = with_destination(src.len(), |dest| context.decompress(&expected, dest));
            assert_eq!(rc, -12);
        }
    }
}

/// A mask applies to the next whole decompression only; an invalid mask has no effect.
#[test]
fn chunk_10_18_mask_applies_to_the_next_decompression_only() {
    let src = data(Data::Ramp, 4, 40_000);
    for filters in [&[SHUFFLE][..], &[DELTA, SHUFFLE]] {
        let params = Params { typesize: 4, blocksize: 4000, filters: pipeline(filters), ..Params::default() };
        let chunk = compressed(&params, &src);
        for nthreads in [1, 4] {
            let mut context = OwnedContext::for_decompression(ours(), dparams(nthreads));
            let whole = |context: &mut OwnedContext<'_>| {
                let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                assert!(rc == src.len() as i32 && dest == src, "{rc}");
            };
            // A negative count is rejected, with and without a previous mask.
            for before in [None, Some(10)] {
                if let Some(count) = before {
                    assert_eq!(context.set_maskout(&mut vec![0; count]), 0);
                }
                let mut mask = [1u8; 4];
                for count in [-1, i32::MIN] {
                    // SAFETY: nothing of the mask may be read.
                    let rc = unsafe { (ours().blosc2_set_maskout)(context.raw(), mask.as_mut_ptr(), count) };
                    assert_eq!(rc, -12, "{count}");
                }
                whole(&mut context);
            }
            // getitem ignores the mask, whatever its length, and keeps it for the next decompression.
            for count in [1, 10, 11] {
                assert_eq!(context.set_maskout(&mut vec![1; count]), 0);
                assert_items(&mut context, &chunk, &src, &mut Random::new(3), 5);
                let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
                if count == 10 {
                    assert!(
                        rc == src.len() as i32 && dest.iter().all(|&byte| byte == DEST_FILL_BYTE),
                        "{rc}"
                    );
                } else {
                    assert_eq!(rc, -3, "a mask of {count} blocks");
                }
                whole(&mut context);
            }
            // Any non-zero byte masks the block out (abi.md 16.30).
            let mut mask = [0, 1, 2, 0xFF, 0, 0x80, 0, 0, 1, 0];
            assert_eq!(context.set_maskout(&mut mask), 0);
            let (rc, dest) = with_destination(src.len(), |dest| context.decompress(&chunk, dest));
            assert_eq!(rc, src.len() as i32);
            for (nblock, out) in mask.iter().enumerate() {
                let range = nblock * 4000..(nblock + 1) * 4000;
                if *out == 0 {
                    assert!(dest[range.clone()] == src[range], "block {nblock}");
                } else {
                    assert!(dest[range].iter().all(|&byte| byte == DEST_FILL_BYTE), "block {nblock}");
                }
            }
            // A mask that is set twice, and a context that is freed with a mask.
            assert_eq!(context.set_maskout(&mut [1; 3]), 0);
            assert_eq!(context.set_maskout(&mut [0; 10]), 0);
            whole(&mut context);
            assert_eq!(context.set_maskout(&mut [1; 3]), 0);
        }
    }
}

/// A write to a part of a chunk and a copy neither use nor consume the mask of the decompression context.
#[test]
fn abi_5_mask_of_a_super_chunk_does_not_change_what_is_stored() {
    let scratch = ScratchDir::new();
    let src = data(Data::Ramp, 4, 40_000);
    for store in Store::ALL {
        for filters in [&[SHUFFLE][..], &[DELTA, SHUFFLE]] {
            let params =
                Params { typesize: 4, blocksize: 4000, filters: pipeline(filters), ..Params::default() };
            let spec = ArraySpec { params, ..ArraySpec::new(&[10_000], &[10_000], &[1000], 4) };
            let array = spec.with_store(store, &scratch.new_path()).create_from_buffer(ours(), &src);
            let schunk = array.schunk();
            let mut mask = [1u8; 10];
            // SAFETY: the context of a live super-chunk; the mask is copied.
            let set = unsafe { (ours().blosc2_set_maskout)((*schunk.raw()).dctx, mask.as_mut_ptr(), 10) };
            assert_eq!(set, 0);
            let mut expected = src.clone();
            let items: Vec<u8> = (0..80).map(|n| n + 100).collect();
            assert_eq!(schunk.set_slice(1500, 1520, &items), 0);
            expected[6000..6080].copy_from_slice(&items);
            assert_eq!(array.set(&[7000], &[7020], &items), 0);
            expected[28_000..28_080].copy_from_slice(&items);
            let recompressed = Params { typesize: 4, codec: 1, ..Params::default() };
            let copy = schunk.copy_to(Store::Memory, Path::new(""), Some(&recompressed)).expect("a copy");
            assert!(copy.decompress_into(0, src.len()).as_ref() == Ok(&expected), "{store:?} {filters:?}");
            // The mask is for the caller's next decompression.
            let masked = vec![DEST_FILL_BYTE; src.len()];
            assert!(schunk.decompress_into(0, src.len()).as_ref() == Ok(&masked), "{store:?} {filters:?}");
            assert!(schunk.decompress_into(0, src.len()).as_ref() == Ok(&expected), "{store:?} {filters:?}");
        }
    }
}

/// A source shorter than an item does not change the block size of the chunks after it.
#[test]
fn chunk_5_3_requested_block_size_is_kept_after_a_source_shorter_than_an_item() {
    let src = data(Data::Ramp, 8, 40_000);
    for codec in CODECS {
        for (requested, expected) in [(4000, 4000), (0, 0)] {
            let params = Params { codec, typesize: 8, blocksize: requested, ..Params::default() };
            let mut context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
            for len in [3, 0, 7] {
                let (rc, _) = with_destination(5000, |dest| context.compress(&src[..len], dest));
                assert!(rc > 0, "{rc}");
                assert_eq!(context.cparams().blocksize, expected, "after {len} bytes");
            }
            let (rc, chunk) =
                with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
            let fresh = compressed(&params, &src);
            assert!(chunk[..rc as usize] == fresh, "codec {codec}, block size {requested}");
        }
    }
}

/// Errors do not affect later calls with the same context.
#[test]
fn chunk_10_07_errors_do_not_change_the_context() {
    let src = data(Data::SmoothFloats, 4, 60_000);
    let params = Params { typesize: 4, blocksize: 4096, codec: 1, ..Params::default() };
    let chunk = compressed(&params, &src);
    let vl = vlcompress(ours(), &params, &[src.clone(), src[..100].to_vec()], large_destsize(60_100))
        .expect("a chunk");
    for nthreads in [1, 4] {
        let mut reader = OwnedContext::for_decompression(ours(), dparams(nthreads));
        let random = &mut Random::new(4);
        for _ in 0..200 {
            let mut bad = if random.one_in(2) { chunk.clone() } else { vl.clone() };
            let within = if random.one_in(2) { 32 } else { bad.len() };
            let at = random.below(within);
            bad[at] ^= 1 << random.below(8);
            let _ = with_destination(src.len() + 100, |dest| reader.decompress(&bad, dest));
            let _ = with_destination(400, |dest| reader.getitem(&bad, 100, 100, dest));
            let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&chunk, dest));
            assert!(rc == src.len() as i32 && dest == src, "after a change at {at}: {rc}");
        }
        let mut writer =
            OwnedContext::for_compression(ours(), Params { nthreads, ..params.clone() }.cparams())
                .expect("a context");
        for destsize in [0, 31, 32, 100, 1000, 5000, 60_032] {
            let (rc, _) = with_destination(destsize, |dest| writer.compress(&src, dest));
            assert!(if destsize < 32 { rc == -35 } else { rc >= 0 }, "{destsize}: {rc}");
            let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
            assert!(dest[..rc as usize] == chunk, "after {destsize} bytes: {rc}");
        }
    }
    assert_ours_decodes(&chunk, &src);
}
