//! Invalid arguments return an error code; they cause neither a crash nor wrong output (chunk.md 10.11, 10.20, 10.23,
//! filters.md D4, codecs.md 18.1, 18.2, abi.md 14).

use std::ffi::{CStr, c_void};
use std::ptr;

use crate::checks::{
    CODECS, assert_all_decode, compressed, data, large_destsize, ours, postparams, preparams,
};
use crate::support::calls::{
    Header, OwnedContext, Params, Special, compress, dparams, special_chunk, vlcompress, with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;

#[test]
fn chunk_10_11_typesize_below_1_is_rejected() {
    in_new_process(test_name!(), || {
        let src = data(Data::Ramp, 4, 1000);
        for typesize in [0, -1, -4, -256, i32::MIN] {
            for clevel in [0, 5] {
                for splitmode in 1..=4 {
                    let params = Params { typesize, clevel, splitmode, ..Params::default() };
                    for nbytes in [0, 1, 31, 1000] {
                        assert_eq!(compress(ours(), &params, &src[..nbytes], 5000), Err(-12), "{params:?}");
                    }
                    assert_eq!(vlcompress(ours(), &params, std::slice::from_ref(&src), 5000), Err(-12));
                    for special in [Special::Zeros, Special::Nans, Special::Uninit] {
                        let outcome = special_chunk(ours(), &params, special, 1000, 5000);
                        assert_eq!(outcome, Err(-12), "{params:?}");
                    }
                }
            }
            let (rc, _) = with_destination(5000, |dest| {
                // SAFETY: a source and a destination with their true lengths.
                unsafe {
                    let value = 5u64;
                    let cparams = Params { typesize, ..Params::default() }.cparams();
                    let out = dest.as_mut_ptr().cast::<c_void>();
                    let rc =
                        (ours().blosc2_chunk_repeatval)(cparams, 1000, out, 5000, (&raw const value).cast());
                    assert_eq!(rc, -12);
                    let width = typesize as isize as usize;
                    let rc = (ours().blosc1_compress)(5, 1, width, 1000, src.as_ptr().cast(), out, 5000);
                    assert_eq!(rc, -12);
                    (ours().blosc2_compress)(5, 1, typesize, src.as_ptr().cast(), 1000, out, 5000)
                }
            });
            assert_eq!(rc, -12);
        }
    });
}

#[test]
fn chunk_10_11_negative_sizes_are_rejected() {
    let src = data(Data::Ramp, 8, 1000);
    for size in [-1, -4, -8, i32::MIN] {
        for clevel in [0, 5] {
            let params = Params { clevel, ..Params::default() };
            let context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
            let (rc, dest) = with_destination(5000, |dest| {
                // SAFETY: a negative size means that nothing may be read.
                unsafe {
                    let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
                    (ours().blosc2_compress_ctx)(context.raw(), from, size, to, 5000)
                }
            });
            assert_eq!(rc, -12, "srcsize {size}");
            assert!(dest.iter().all(|&byte| byte == crate::support::calls::DEST_FILL_BYTE));
            let (rc, _) = with_destination(5000, |dest| {
                // SAFETY: as above.
                unsafe {
                    let (from, to) = (src.as_ptr().cast(), dest.as_mut_ptr().cast());
                    (ours().blosc2_compress)(clevel.into(), 1, 8, from, size, to, 5000)
                }
            });
            assert_eq!(rc, -12, "srcsize {size}");
            let blocksize = Params { blocksize: size, ..params.clone() };
            assert_eq!(compress(ours(), &blocksize, &src, 5000), Err(-12), "blocksize {size}");
            assert_eq!(special_chunk(ours(), &blocksize, Special::Zeros, 80, 32), Err(-12));
        }
        for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&[1; 8])] {
            let outcome = special_chunk(ours(), &Params::default(), special, size, 100);
            // The size is not a multiple of the item size either.
            let expected = if size % 8 != 0 && !matches!(special, Special::Zeros) { -3 } else { -12 };
            assert_eq!(outcome, Err(expected), "{special:?}, {size} bytes");
        }
        // A destination of negative size.
        let mut context =
            OwnedContext::for_compression(ours(), Params::default().cparams()).expect("a context");
        let chunk = compressed(&Params::default(), &src);
        let reader = OwnedContext::for_decompression(ours(), dparams(1));
        let mut byte = 7u8;
        // SAFETY: negative sizes mean that nothing may be read or written.
        unsafe {
            let (from, to) = (src.as_ptr().cast(), (&raw mut byte).cast());
            assert_eq!((ours().blosc2_compress_ctx)(context.raw(), from, 1000, to, size), -35);
            let (from, len) = (chunk.as_ptr().cast(), chunk.len() as i32);
            assert_eq!((ours().blosc2_decompress_ctx)(reader.raw(), from, len, to, size), -6);
            assert_eq!((ours().blosc2_decompress_ctx)(reader.raw(), from, size, to, 1), -5);
            assert_eq!((ours().blosc2_getitem_ctx)(reader.raw(), from, len, 0, 1, to, size), -6);
            assert_eq!((ours().blosc2_getitem_ctx)(reader.raw(), from, size, 0, 1, to, 1), -5);
        }
        assert_eq!(byte, 7);
        let (rc, _) = with_destination(5000, |dest| context.compress(&src, dest));
        assert_eq!(rc, chunk.len() as i32);
    }
}

#[test]
fn chunk_10_11_sizes_beyond_31_bits_are_rejected() {
    in_new_process(test_name!(), || {
        let src = data(Data::Ramp, 4, 1000);
        let (rc, dest) = with_destination(5000, |dest| {
            let (from, to) = (src.as_ptr().cast::<c_void>(), dest.as_mut_ptr().cast::<c_void>());
            // SAFETY: sizes above the limit must be refused before anything is read.
            unsafe {
                let usizes = |sizes: &[u64]| {
                    sizes.iter().filter_map(|&size| size.try_into().ok()).collect::<Vec<usize>>()
                };
                for nbytes in
                    usizes(&[1 << 32, (1 << 32) + 1000, usize::MAX as u64, 1 << 31, 2_147_483_616, 1 << 63])
                {
                    assert_eq!((ours().blosc1_compress)(5, 1, 4, nbytes, from, to, 5000), -35, "{nbytes}");
                }
                for typesize in usizes(&[1 << 32, (1 << 32) + 4, usize::MAX as u64, 1 << 31, 536_866_817]) {
                    let rc = (ours().blosc1_compress)(5, 1, typesize, 1000, from, to, 5000);
                    assert_eq!(rc, -12, "{typesize}");
                }
                // The stated destination size may exceed the maximum size of a chunk.
                (ours().blosc1_compress)(5, 1, 4, 1000, from, to, 5000)
            }
        });
        assert_all_decode(&dest[..rc as usize], &src);
        // Check 14.
        let context = OwnedContext::for_compression(ours(), Params::default().cparams()).expect("a context");
        let mut dest = [0u8; 64];
        // SAFETY: as above.
        unsafe {
            let (from, to) = (src.as_ptr().cast::<c_void>(), dest.as_mut_ptr().cast::<c_void>());
            assert_eq!((ours().blosc2_compress_ctx)(context.raw(), from, 2_147_483_616, to, 64), -35);
            assert_eq!((ours().blosc2_compress)(5, 1, 4, from, 2_147_483_616, to, 64), -35);
        }
        assert_eq!(compress(ours(), &Params::default(), &src, 31), Err(-35));
        let params = Params { typesize: 536_866_817, ..Params::default() };
        assert_eq!(compress(ours(), &params, &src, 2000), Err(-12));
        assert_eq!(compress(ours(), &Params { clevel: 10, ..Params::default() }, &src, 2000), Err(-8));
        assert_eq!(compress(ours(), &Params { clevel: 255, ..Params::default() }, &src, 2000), Err(-8));
    });
}

#[test]
fn chunk_10_20_null_buffers_are_rejected() {
    in_new_process(test_name!(), || {
        let library = ours();
        let src = data(Data::Ramp, 8, 1000);
        let chunk = compressed(&Params::default(), &src);
        let vl = vlcompress(library, &Params::default(), std::slice::from_ref(&src), 2000).expect("a chunk");
        let writer = OwnedContext::for_compression(library, Params::default().cparams()).expect("a context");
        let reader = OwnedContext::for_decompression(library, dparams(1));
        let mut out = vec![0u8; 2000];
        let (from, to) = (src.as_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>());
        let (packed, len) = (chunk.as_ptr().cast::<c_void>(), chunk.len() as i32);
        let (none, nowhere) = (ptr::null::<c_void>(), ptr::null_mut::<c_void>());
        let refused = |rc: i32, what: &str| assert!(rc == -32 || rc == -12, "{what}: {rc}");
        // SAFETY: pointers that are not NULL are valid; the test is about NULL.
        unsafe {
            refused((library.blosc2_compress_ctx)(ptr::null_mut(), from, 1000, to, 2000), "context");
            refused((library.blosc2_compress_ctx)(writer.raw(), none, 1000, to, 2000), "source");
            refused((library.blosc2_compress_ctx)(writer.raw(), from, 1000, nowhere, 2000), "destination");
            refused((library.blosc2_compress)(5, 1, 8, none, 1000, to, 2000), "source");
            refused((library.blosc2_compress)(5, 1, 8, from, 1000, nowhere, 2000), "destination");
            refused((library.blosc1_compress)(5, 1, 8, 1000, none, to, 2000), "source");
            refused((library.blosc1_compress)(5, 1, 8, 1000, from, nowhere, 2000), "destination");
            refused((library.blosc2_decompress_ctx)(ptr::null_mut(), packed, len, to, 2000), "context");
            refused((library.blosc2_decompress_ctx)(reader.raw(), none, len, to, 2000), "chunk");
            refused((library.blosc2_decompress_ctx)(reader.raw(), packed, len, nowhere, 2000), "destination");
            refused((library.blosc2_decompress)(none, len, to, 2000), "chunk");
            refused((library.blosc2_decompress)(packed, len, nowhere, 2000), "destination");
            refused((library.blosc1_decompress)(none, to, 2000), "chunk");
            refused((library.blosc1_decompress)(packed, nowhere, 2000), "destination");
            refused((library.blosc2_getitem_ctx)(ptr::null_mut(), packed, len, 0, 1, to, 8), "context");
            refused((library.blosc2_getitem_ctx)(reader.raw(), none, len, 0, 1, to, 8), "chunk");
            refused((library.blosc2_getitem_ctx)(reader.raw(), packed, len, 0, 1, nowhere, 8), "destination");
            refused((library.blosc2_getitem_bytes_ctx)(ptr::null_mut(), packed, len, 0, 8, to, 8), "context");
            refused((library.blosc2_getitem_bytes_ctx)(reader.raw(), none, len, 0, 8, to, 8), "chunk");
            refused((library.blosc2_getitem_bytes_ctx)(reader.raw(), packed, len, 0, 8, nowhere, 8), "dest");
            refused((library.blosc2_getitem)(none, len, 0, 1, to, 8), "chunk");
            refused((library.blosc2_getitem)(packed, len, 0, 1, nowhere, 8), "destination");
            refused((library.blosc1_getitem)(none, 0, 1, to), "chunk");
            refused((library.blosc1_getitem)(packed, 0, 1, nowhere), "destination");
            // Nothing to read or to write is not an error.
            assert_eq!((library.blosc2_compress_ctx)(writer.raw(), none, 0, to, 2000), 32);
            assert_eq!((library.blosc2_getitem)(packed, len, 0, 0, nowhere, 0), 0);

            let cparams = || Params::default().cparams();
            refused((library.blosc2_chunk_zeros)(cparams(), 80, nowhere, 100), "destination");
            refused((library.blosc2_chunk_nans)(cparams(), 80, nowhere, 100), "destination");
            refused((library.blosc2_chunk_uninit)(cparams(), 80, nowhere, 100), "destination");
            refused((library.blosc2_chunk_repeatval)(cparams(), 80, nowhere, 100, from), "destination");
            refused((library.blosc2_chunk_repeatval)(cparams(), 80, to, 100, none), "value");

            let (sources, sizes) = ([from], [1000]);
            let vlcompress = library.blosc2_vlcompress_ctx;
            refused(vlcompress(ptr::null_mut(), sources.as_ptr(), sizes.as_ptr(), 1, to, 2000), "context");
            refused(vlcompress(writer.raw(), ptr::null(), sizes.as_ptr(), 1, to, 2000), "sources");
            refused(vlcompress(writer.raw(), sources.as_ptr(), ptr::null(), 1, to, 2000), "sizes");
            refused(vlcompress(writer.raw(), [none].as_ptr(), sizes.as_ptr(), 1, to, 2000), "a source");
            refused(vlcompress(writer.raw(), sources.as_ptr(), [0].as_ptr(), 1, to, 2000), "no bytes");
            refused(vlcompress(writer.raw(), sources.as_ptr(), [-1].as_ptr(), 1, to, 2000), "-1 bytes");
            refused(vlcompress(writer.raw(), sources.as_ptr(), sizes.as_ptr(), 0, to, 2000), "no blocks");
            refused(vlcompress(writer.raw(), sources.as_ptr(), sizes.as_ptr(), -1, to, 2000), "-1 blocks");
            refused(vlcompress(writer.raw(), sources.as_ptr(), sizes.as_ptr(), 1, nowhere, 2000), "dest");
            refused(vlcompress(reader.raw(), sources.as_ptr(), sizes.as_ptr(), 1, to, 2000), "wrong kind");

            let (packed, len) = (vl.as_ptr().cast::<c_void>(), vl.len() as i32);
            let (mut dests, mut counts) = ([nowhere; 2], [0i32; 2]);
            let (d, c) = (dests.as_mut_ptr(), counts.as_mut_ptr());
            let vldecompress = library.blosc2_vldecompress_ctx;
            refused(vldecompress(ptr::null_mut(), packed, len, d, c, 2), "context");
            refused(vldecompress(reader.raw(), none, len, d, c, 2), "chunk");
            refused(vldecompress(reader.raw(), packed, len, ptr::null_mut(), c, 2), "buffers");
            refused(vldecompress(reader.raw(), packed, len, d, ptr::null_mut(), 2), "sizes");
            refused(vldecompress(reader.raw(), packed, len, d, c, 0), "no blocks");
            refused(vldecompress(reader.raw(), packed, len, d, c, -1), "-1 blocks");
            refused(vldecompress(writer.raw(), packed, len, d, c, 2), "wrong kind");
            let (mut block, mut size) = (ptr::null_mut::<u8>(), 0i32);
            let one_block = library.blosc2_vldecompress_block_ctx;
            refused(one_block(ptr::null_mut(), packed, len, 0, &mut block, &mut size), "context");
            refused(one_block(reader.raw(), none, len, 0, &mut block, &mut size), "chunk");
            refused(one_block(reader.raw(), packed, len, 0, ptr::null_mut(), &mut size), "buffer");
            refused(one_block(reader.raw(), packed, len, 0, &mut block, ptr::null_mut()), "size");
            refused(one_block(writer.raw(), packed, len, 0, &mut block, &mut size), "wrong kind");
            assert!(block.is_null() && dests == [nowhere; 2]);
            let mut nblocks = 0;
            refused((library.blosc2_vlchunk_get_nblocks)(none, len, &mut nblocks), "chunk");
            refused((library.blosc2_vlchunk_get_nblocks)(packed, len, ptr::null_mut()), "result");
        }
    });
}

#[test]
fn chunk_10_20_abi_14_null_contexts_and_parameters_are_rejected() {
    in_new_process(test_name!(), || {
        let library = ours();
        let reader = OwnedContext::for_decompression(library, dparams(1));
        let (mut cparams, mut told) = (Params::default().cparams(), dparams(1));
        let refused = |rc: i32, what: &str| assert!(rc == -32 || rc == -12, "{what}: {rc}");
        // SAFETY: pointers that are not NULL are valid; the test is about NULL.
        unsafe {
            (library.blosc2_free_ctx)(ptr::null_mut());
            refused((library.blosc2_ctx_get_cparams)(ptr::null_mut(), &mut cparams), "context");
            refused((library.blosc2_ctx_get_cparams)(reader.raw(), ptr::null_mut()), "result");
            refused((library.blosc2_ctx_get_dparams)(ptr::null_mut(), &mut told), "context");
            refused((library.blosc2_ctx_get_dparams)(reader.raw(), ptr::null_mut()), "result");
            refused((library.blosc2_set_maskout)(ptr::null_mut(), [0u8; 3].as_mut_ptr(), 3), "context");
            refused((library.blosc2_set_maskout)(reader.raw(), ptr::null_mut(), 3), "mask");

            unsafe extern "C" fn before(_: *mut blosc2::abi::blosc2_prefilter_params) -> i32 {
                0
            }
            unsafe extern "C" fn after(_: *mut blosc2::abi::blosc2_postfilter_params) -> i32 {
                0
            }
            // A filter function without parameters.
            let mut given = Params::default().cparams();
            given.prefilter = Some(before);
            assert!((library.blosc2_create_cctx)(given).is_null());
            let mut given = dparams(1);
            given.postfilter = Some(after);
            assert!((library.blosc2_create_dctx)(given).is_null());
            // Parameters without a function are ignored.
            let (mut pre, mut post) = (preparams(), postparams());
            let mut given = Params::default().cparams();
            given.preparams = &mut pre;
            drop(OwnedContext::for_compression(library, given).expect("a context"));
            let mut given = dparams(1);
            given.postparams = &mut post;
            drop(OwnedContext::for_decompression(library, given));
        }
    });
}

#[test]
fn codecs_18_01_02_abi_14_null_names_and_structs_are_rejected() {
    in_new_process(test_name!(), || {
        let library = ours();
        // SAFETY: pointers that are not NULL are valid; the test is about NULL.
        unsafe {
            assert_eq!((library.blosc2_register_codec)(ptr::null_mut()), -12);
            assert_eq!((library.blosc2_register_filter)(ptr::null_mut()), -12);
            assert_eq!((library.blosc2_register_tuner)(ptr::null_mut()), -12);
            assert_eq!((library.blosc2_compname_to_compcode)(ptr::null()), -1);
            assert!((library.blosc1_set_compressor)(ptr::null()) < 0);
            assert_eq!((library.blosc2_compcode_to_compname)(5, ptr::null_mut()), 5);
            for name in [Some(c"snappy"), Some(c""), Some(c"LZ4"), None] {
                let (mut lib, mut version) = (ptr::dangling_mut(), ptr::dangling_mut());
                let name = name.map_or(ptr::null(), CStr::as_ptr);
                assert_eq!((library.blosc2_get_complib_info)(name, &mut lib, &mut version), -1);
                assert!(lib.is_null() && version.is_null());
                assert_eq!((library.blosc2_get_complib_info)(name, ptr::null_mut(), ptr::null_mut()), -1);
            }
            assert_eq!(
                (library.blosc2_get_complib_info)(c"zstd".as_ptr(), ptr::null_mut(), ptr::null_mut()),
                4
            );

            let nothing = ptr::null();
            let (mut a, mut b, mut c) = (7i32, 7i32, 7i32);
            assert!((library.blosc2_cbuffer_sizes)(nothing, &mut a, &mut b, &mut c) < 0);
            assert_eq!((a, b, c), (0, 0, 0));
            let (mut a, mut b, mut c) = (7usize, 7usize, 7usize);
            (library.blosc1_cbuffer_sizes)(nothing, &mut a, &mut b, &mut c);
            assert_eq!((a, b, c), (0, 0, 0));
            assert!((library.blosc1_cbuffer_validate)(nothing, 100, &mut a) < 0);
            let (mut flags, mut versionlz) = (7i32, 7i32);
            (library.blosc1_cbuffer_metainfo)(nothing, &mut a, &mut flags);
            (library.blosc2_cbuffer_versions)(nothing, &mut flags, &mut versionlz);
            assert_eq!((a, flags, versionlz), (0, 0, 0));
            assert!((library.blosc2_cbuffer_complib)(nothing).is_null());
            let chunk = compressed(&Params::default(), &[1; 100]);
            let (chunk, no_size) = (chunk.as_ptr().cast(), ptr::null_mut::<usize>());
            (library.blosc1_cbuffer_sizes)(chunk, no_size, no_size, no_size);
            (library.blosc1_cbuffer_metainfo)(chunk, no_size, ptr::null_mut());
            (library.blosc2_cbuffer_versions)(chunk, ptr::null_mut(), ptr::null_mut());
        }
    });
}

#[test]
fn filters_d4_abi_14_invalid_shuffle_arguments_are_rejected() {
    in_new_process(test_name!(), || {
        let (src, mut dest) = ([3u8; 64], [7u8; 64]);
        let library = ours();
        let functions = [
            library.blosc2_shuffle,
            library.blosc2_unshuffle,
            library.blosc2_bitshuffle,
            library.blosc2_bitunshuffle,
        ];
        for (index, function) in functions.into_iter().enumerate() {
            for (typesize, len) in
                [(0, 64), (-1, 64), (i32::MIN, 64), (4, -1), (4, -64), (4, i32::MIN), (0, 0)]
            {
                // SAFETY: the buffers are large enough; invalid sizes must be rejected.
                let rc = unsafe { function(typesize, len, src.as_ptr().cast(), dest.as_mut_ptr().cast()) };
                assert_eq!(rc, -12, "function {index}: {typesize}, {len}");
            }
            // SAFETY: as above; one function takes items of any width (filters.md 12).
            let rc = unsafe { function(257, 64, src.as_ptr().cast(), dest.as_mut_ptr().cast()) };
            assert_eq!(rc, if index == 3 { 64 } else { -12 }, "function {index}");
            // SAFETY: nothing is read or written.
            unsafe {
                assert_eq!(function(4, 0, ptr::null(), ptr::null_mut()), 0);
                assert_eq!(function(4, 64, ptr::null(), dest.as_mut_ptr().cast()), -32);
                assert_eq!(function(4, 64, src.as_ptr().cast(), ptr::null_mut()), -32);
            }
        }
    });
}

/// Codecs that are not registered: calls that need no codec still work (codecs.md 1.2).
#[test]
fn chunk_10_23_unknown_codecs_fail_only_when_they_are_needed() {
    let noise = data(Data::Noise, 4, 4000);
    for codec in [3, 6, 31, 99, 245, 255] {
        for nthreads in [1, 4] {
            let params = Params { codec, nthreads, typesize: 4, blocksize: 400, ..Params::default() };
            assert_eq!(compress(ours(), &params, &noise, 5000), Err(-7));
            assert_eq!(compress(ours(), &params, &noise, large_destsize(4000)), Err(-7));
            for value in [0u8, 7] {
                let src = vec![value; 4000];
                let chunk = compressed(&params, &src);
                let header = Header::parse(&chunk);
                assert_eq!((header.versionlz, header.udcompcode, header.flags >> 5), (0xFF, codec, 6));
                assert_eq!(header.special(), u8::from(value == 0));
                assert_all_decode(&chunk, &src);
            }
            let chunk = compressed(&Params { clevel: 0, ..params.clone() }, &noise);
            let header = Header::parse(&chunk);
            assert_eq!((header.versionlz, header.udcompcode, header.flags), (0xFF, codec, 7));
            assert_all_decode(&chunk, &noise);
            assert_all_decode(&compressed(&params, &noise[..31]), &noise[..31]);
        }
    }
    // The context can be used again after the error.
    for codec in CODECS {
        let params = Params { codec, typesize: 4, ..Params::default() };
        assert_all_decode(&compressed(&params, &noise), &noise);
    }
}

/// Filters that do not exist (filters.md 1.1).
#[test]
fn chunk_10_23_unknown_filters_are_rejected() {
    let src = data(Data::Ramp, 4, 4000);
    for id in 5..=255 {
        for slot in [0, 5] {
            let mut params = Params { typesize: 4, filters: [0; 6], ..Params::default() };
            params.filters[slot] = id;
            let context = OwnedContext::for_compression(ours(), params.cparams());
            match id {
                5..=31 | 37..=159 => assert!(context.is_none(), "filter {id}"),
                // Filters of the plugin range are tested with filters.md; user filters are registered by other tests.
                200.. => {
                    let (rc, _) = with_destination(5000, |dest| context.expect("one").compress(&src, dest));
                    assert_eq!(rc, -18, "filter {id}");
                }
                _ => assert!(context.is_some(), "filter {id}"),
            }
        }
    }
    let chunk = compressed(&Params { typesize: 4, ..Params::default() }, &src);
    for (id, expected) in [(5, -1), (31, -1), (37, -18), (159, -18), (200, -18), (255, -18)] {
        let mut patched = chunk.clone();
        patched[0x15] = id;
        for nthreads in [1, 4] {
            let mut reader = OwnedContext::for_decompression(ours(), dparams(nthreads));
            let (rc, _) = with_destination(4000, |dest| reader.decompress(&patched, dest));
            assert_eq!(rc, expected, "filter {id}");
            let (rc, _) = with_destination(40, |dest| reader.getitem(&patched, 10, 10, dest));
            assert_eq!(rc, expected, "filter {id}");
        }
    }
}
