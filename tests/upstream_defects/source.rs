//! The source is never written to (chunk.md 10.2, filters.md D1), and the chunks can be read.

use std::ffi::c_int;

use blosc2::abi::blosc2_prefilter_params;

use crate::checks::{
    BITSHUFFLE, CODECS, DELTA, DICTIONARY_CODECS, SHUFFLE, TRUNC_PREC, assert_all_decode,
    assert_ours_decodes, data, large_destsize, ours, pipeline, preparams,
};
use crate::support::calls::{Header, OwnedContext, Params, decompress, dparams, with_destination};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::guard::ReadOnlyBuffer;

const PIPELINES: [&[u8]; 8] = [
    &[SHUFFLE, BITSHUFFLE, SHUFFLE],
    &[TRUNC_PREC, DELTA, SHUFFLE],
    &[SHUFFLE, BITSHUFFLE, DELTA],
    &[DELTA, SHUFFLE, BITSHUFFLE],
    &[DELTA, DELTA, DELTA],
    &[SHUFFLE, BITSHUFFLE, SHUFFLE, DELTA, BITSHUFFLE],
    &[SHUFFLE, SHUFFLE, BITSHUFFLE, BITSHUFFLE, SHUFFLE, BITSHUFFLE],
    &[DELTA, SHUFFLE, DELTA, BITSHUFFLE, DELTA, SHUFFLE],
];

fn params(filters: &[u8], codec: u8, nthreads: i16, clevel: u8) -> Params {
    let mut params = Params {
        codec,
        nthreads,
        clevel,
        typesize: 4,
        blocksize: 8192,
        filters: pipeline(filters),
        ..Params::default()
    };
    // Keeps all bits, so that the filter is lossless.
    params.filters_meta = params.filters.map(|id| if id == TRUNC_PREC { 23 } else { 0 });
    params
}

#[test]
fn chunk_10_02_filters_d1_compression_does_not_write_to_the_source() {
    in_new_process(test_name!(), || {
        for kind in [Data::Ramp, Data::SmoothFloats, Data::Noise] {
            let src = ReadOnlyBuffer::new(&data(kind, 4, 100_000));
            for filters in PIPELINES {
                for codec in CODECS {
                    for nthreads in [1, 4] {
                        for (clevel, destsize) in [
                            (5, src.bytes().len() + 32),
                            (1, large_destsize(src.bytes().len())),
                            (0, large_destsize(src.bytes().len())),
                        ] {
                            let params = params(filters, codec, nthreads, clevel);
                            let mut context =
                                OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                            let (rc, dest) =
                                with_destination(destsize, |dest| context.compress(src.bytes(), dest));
                            assert!(rc > 0, "{kind:?} {params:?}: {rc}");
                            // Also for noise, which is stored uncompressed.
                            assert_ours_decodes(&dest[..rc as usize], src.bytes());
                        }
                    }
                }
            }
        }
    });
}

/// Pipelines that the reference can undo: it decodes our chunks.
#[test]
fn filters_d1_pipelines_of_three_decode_in_the_reference() {
    for kind in [Data::Ramp, Data::Noise] {
        let src = data(kind, 4, 100_000);
        for filters in [PIPELINES[0], PIPELINES[2], PIPELINES[6]] {
            for codec in CODECS {
                let chunk = crate::checks::compressed(&params(filters, codec, 1, 5), &src);
                if filters.contains(&DELTA) {
                    assert_ours_decodes(&chunk, &src);
                    // With more threads the reference fails if a filter lies below delta.
                    if let Some(reference) = crate::support::library::Library::reference() {
                        let outcome = decompress(reference, 1, &chunk, src.len());
                        assert_eq!(outcome.as_deref(), Ok(&src[..]), "{filters:?}");
                    }
                } else {
                    assert_all_decode(&chunk, &src);
                }
            }
        }
    }
}

#[test]
fn chunk_10_02_dictionary_and_three_filters_do_not_write_to_the_source() {
    in_new_process(test_name!(), || {
        let src = ReadOnlyBuffer::new(&data(Data::Records, 4, 100_000));
        for filters in [PIPELINES[0], PIPELINES[6]] {
            for codec in DICTIONARY_CODECS {
                for nthreads in [1, 4] {
                    let params = Params { use_dict: true, ..params(filters, codec, nthreads, 5) };
                    let mut context =
                        OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                    let (rc, dest) = with_destination(large_destsize(src.bytes().len()), |dest| {
                        context.compress(src.bytes(), dest)
                    });
                    assert!(rc > 0 && Header::parse(&dest).uses_dictionary(), "{params:?}: {rc}");
                    assert_all_decode(&dest[..rc as usize], src.bytes());
                }
            }
        }
    });
}

#[test]
fn chunk_10_02_vlcompress_does_not_write_to_its_sources() {
    in_new_process(test_name!(), || {
        let blocks: Vec<ReadOnlyBuffer> = [5000, 17, 70_000, 4096, 1, 33_333]
            .map(|len| ReadOnlyBuffer::new(&data(Data::Ramp, 4, len)))
            .into();
        for filters in PIPELINES {
            for nthreads in [1, 4] {
                let params = params(filters, 1, nthreads, 5);
                let context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                let sources: Vec<_> = blocks.iter().map(|block| block.bytes().as_ptr().cast()).collect();
                let sizes: Vec<_> = blocks.iter().map(|block| block.bytes().len() as i32).collect();
                // SAFETY: as many sources as sizes, each of its stated size.
                let (rc, dest) = with_destination(300_000, |dest| unsafe {
                    (ours().blosc2_vlcompress_ctx)(
                        context.raw(),
                        sources.as_ptr(),
                        sizes.as_ptr(),
                        sizes.len() as i32,
                        dest.as_mut_ptr().cast(),
                        dest.len() as i32,
                    )
                });
                assert!(rc > 0, "{params:?}: {rc}");
                let mut reader = OwnedContext::for_decompression(ours(), dparams(nthreads));
                let decoded = reader.vldecompress(&dest[..rc as usize], 10).expect("blocks");
                let same = decoded.iter().zip(&blocks).all(|(got, block)| got == block.bytes());
                assert!(same && decoded.len() == blocks.len(), "{params:?}");
            }
        }
    });
}

unsafe extern "C" fn invert(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes a valid struct, with buffers of the stated size.
    unsafe {
        let params = &*params;
        for i in 0..params.output_size as usize {
            *params.output.add(i) = !*params.input.add(i);
        }
    }
    0
}

#[test]
fn chunk_10_02_prefilter_and_two_filters_do_not_write_to_the_source() {
    in_new_process(test_name!(), || {
        for kind in [Data::Ramp, Data::Noise] {
            let src = ReadOnlyBuffer::new(&data(kind, 4, 100_000));
            let inverted: Vec<u8> = src.bytes().iter().map(|byte| !byte).collect();
            for filters in [&[SHUFFLE, BITSHUFFLE][..], &[SHUFFLE, DELTA], &[DELTA, SHUFFLE]] {
                for nthreads in [1, 4] {
                    for destsize in [src.bytes().len() + 32, large_destsize(src.bytes().len())] {
                        let mut parameters = preparams();
                        let mut cparams = params(filters, 1, nthreads, 5).cparams();
                        cparams.prefilter = Some(invert);
                        cparams.preparams = &mut parameters;
                        let mut context = OwnedContext::for_compression(ours(), cparams).expect("a context");
                        let (rc, dest) =
                            with_destination(destsize, |dest| context.compress(src.bytes(), dest));
                        assert!(rc > 0, "{kind:?} {filters:?}: {rc}");
                        assert_ours_decodes(&dest[..rc as usize], &inverted);
                    }
                }
            }
        }
    });
}
