//! Inputs that codecs and filters reject, with the return codes of the reference; and the names of codecs and
//! filters.

use std::ffi::{CStr, CString};
use std::ptr;

use crate::support::array::ArraySpec;
use crate::support::calls::{OwnedContext, Params, compress_copy, decompress, with_destination};
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::{BYTEDELTA, BYTEDELTA_BUGGY, INT_TRUNC, NDCELL, NDLZ, NDMEAN, ZFP_RATE, pipeline};

/// Every value of the meta byte of a filter, without a super-chunk.
#[test]
fn filters_without_a_super_chunk_have_the_same_codes() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let src = Data::Noise.generate(&mut Random::new(1), 4, 4800);
    for id in [NDCELL, NDMEAN, BYTEDELTA_BUGGY, BYTEDELTA, INT_TRUNC] {
        for typesize in [1, 2, 3, 4, 8, 16, 300] {
            for meta in 0..=255 {
                // The reference has no number of streams for it (filters.md 8).
                if meta == 0 && matches!(id, BYTEDELTA | BYTEDELTA_BUGGY) {
                    continue;
                }
                let (filters, filters_meta) = pipeline(&[(id, meta)]);
                let params = Params { codec: 1, typesize, filters, filters_meta, ..Params::default() };
                let [mine, theirs] = [ours, reference]
                    .map(|library| compress_copy(library, &params, &src, 6000, true).map(|_| ()));
                assert_eq!(mine, theirs, "filter {id} typesize {typesize} meta {meta}");
            }
        }
    }
}

/// Codecs without a super-chunk, and chunks that need a super-chunk for decoding.
#[test]
fn codecs_without_a_super_chunk_have_the_same_codes() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let src = Data::SmoothFloats.generate(&mut Random::new(1), 4, 6400);
    for codec in NDLZ..=ZFP_RATE {
        for codec_meta in [0, 4, 5, 8, 50] {
            let params = Params { codec, codec_meta, typesize: 4, filters: [0; 6], ..Params::default() };
            let [mine, theirs] =
                [ours, reference].map(|library| compress_copy(library, &params, &src, 8000, true));
            assert_eq!(mine, theirs, "codec {codec} meta {codec_meta}");
        }
    }
    for (codec, codec_meta, filters) in [
        (ZFP_RATE, 50, &[][..]),
        (33, 0, &[]),
        (1, 0, &[(NDCELL, 2), (1, 0)]),
        (1, 0, &[(NDMEAN, 2), (1, 0)]),
    ] {
        let mut spec = ArraySpec::new(&[40, 40], &[40, 40], &[20, 20], 4);
        let (filters, filters_meta) = pipeline(filters);
        spec.params = Params { codec, codec_meta, typesize: 4, filters, filters_meta, ..Params::default() };
        let array = spec.create_from_buffer(ours, &src);
        let chunk = array.schunk().get_chunk(0).expect("a chunk");
        for threads in [1, 4] {
            let [mine, theirs] =
                [ours, reference].map(|library| decompress(library, threads, &chunk, src.len()).map(|_| ()));
            assert!(mine.is_err(), "{codec} {filters:?}");
            assert_eq!(mine, theirs, "{codec} {filters:?}");
        }
    }
}

/// Every meta byte of the codecs, and shapes that they reject, in arrays.
#[test]
fn arrays_have_the_same_codes() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(4);
    for blockshape in
        [&[50][..], &[4], &[3], &[8, 8], &[3, 9], &[9, 3], &[2, 4], &[5, 6, 7], &[4, 4, 4, 4], &[2; 5]]
    {
        for typesize in [1, 2, 4, 8] {
            let shape: Vec<i64> = blockshape.iter().map(|&extent| i64::from(extent) * 2).collect();
            let chunkshape: Vec<i32> = blockshape.iter().map(|&extent| extent * 2).collect();
            let mut spec = ArraySpec::new(&shape, &chunkshape, blockshape, typesize);
            let items = Data::SmoothFloats.generate(random, typesize as usize, spec.nbytes());
            let mut check = |codec, codec_meta, filters: &[(u8, u8)], splitmode| {
                let (filters, filters_meta) = pipeline(filters);
                spec.params = Params {
                    codec,
                    codec_meta,
                    typesize,
                    filters,
                    filters_meta,
                    splitmode,
                    ..Params::default()
                };
                let [mine, theirs] =
                    [ours, reference].map(|library| spec.context(library).create_from_buffer(&items).0);
                // The rest of the destination may be less than the reference's encoder requires.
                let is_short_of_room = codec == NDLZ && (mine, theirs) == (0, -1) && blockshape.len() == 2;
                if !is_short_of_room {
                    assert_eq!(mine, theirs, "{:?} of {blockshape:?}", spec.params);
                }
            };
            for codec in NDLZ..=ZFP_RATE {
                // Larger ones write outside the memory of the reference (codecs.md 18.3).
                let filters_meta: &[u8] =
                    if codec == ZFP_RATE { &[1, 10, 20] } else { &[0, 1, 4, 5, 8, 16, 127, 128, 255] };
                for &meta in filters_meta {
                    check(codec, meta, &[], 4);
                    check(codec, meta, &[(1, 0)], 1);
                }
            }
            for meta in [0, 1, 2, 3, 4, 5, 8, 9, 16, 100, 127, 128, 255] {
                check(1, 0, &[(NDCELL, meta)], 4);
                let first = blockshape[0];
                let is_broken =
                    first < i32::from(meta) && blockshape.iter().any(|&extent| extent > i32::from(meta));
                if !is_broken {
                    check(1, 0, &[(NDMEAN, meta)], 4);
                }
            }
        }
    }
}

/// Names and libraries of the codecs.
#[test]
fn codec_names_are_those_of_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let info = |library: &Library, code: i32| {
        let (mut name, mut lib, mut version) = (ptr::null(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: out-pointers; the caller frees the strings that the library passes to it.
        unsafe {
            let found = (library.blosc2_compcode_to_compname)(code, &mut name);
            if name.is_null() {
                return (found, None);
            }
            let name = CStr::from_ptr(name).to_owned();
            let complib = (library.blosc2_get_complib_info)(name.as_ptr(), &mut lib, &mut version);
            let [lib, version] = [lib, version].map(|text| {
                let owned: CString = CStr::from_ptr(text).to_owned();
                libc::free(text.cast());
                owned
            });
            let back = (library.blosc2_compname_to_compcode)(name.as_ptr());
            (found, Some((name, complib, lib, version, back)))
        }
    };
    for code in (-2..0).chain(NDLZ.into()..160) {
        assert_eq!(info(ours, code), info(reference, code), "{code}");
    }
}

/// A chunk with a codec or filter that is not available returns the code for unknown ones.
#[test]
fn unknown_ids_return_the_documented_codes() {
    for library in crate::support::all_libraries() {
        let src = Data::Noise.generate(&mut Random::new(1), 4, 4800);
        let params = Params { codec: 41, typesize: 4, filters: [0; 6], ..Params::default() };
        let mut context = OwnedContext::for_compression(library, params.cparams()).expect("a context");
        assert_eq!(with_destination(6000, |dest| context.compress(&src, dest)).0, -7, "{}", library.name);
        let filters = [0, 0, 0, 0, 0, 37];
        assert!(OwnedContext::for_compression(library, Params { filters, ..params }.cparams()).is_none());
    }
}
