//! Chunks compressed with contexts: without a super-chunk for filters that need none, and with the super-chunk of an
//! array.

use std::path::Path;

use crate::support::array::ArraySpec;
use crate::support::calls::{
    OwnedContext, Params, compress_copy, decompress, dparams, getitem, with_destination,
};
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::{
    BYTEDELTA, BYTEDELTA_BUGGY, INT_TRUNC, NDCELL, NDLZ, NDMEAN, SHUFFLE, ZFP_ACC, ZFP_RATE, pipeline,
};

#[test]
fn filters_without_a_super_chunk_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(77);
    for round in 0..400 {
        let typesize = *random.pick(&[1, 2, 3, 4, 5, 8, 16, 255, 300]);
        let streams = *random.pick(&[1u8, 2, 4, 7, 8, 16, 255]);
        let filters: &[(u8, u8)] = match random.below(5) {
            0 => &[(BYTEDELTA, streams)],
            1 => &[(SHUFFLE, streams), (BYTEDELTA, streams)],
            2 => &[(SHUFFLE, streams), (BYTEDELTA_BUGGY, streams)],
            3 => &[(INT_TRUNC, 3)],
            _ => &[(BYTEDELTA, streams), (2, 0)],
        };
        // Sizes without trailing bytes, which the reference does not preserve: 5040 is a multiple of all but the
        // largest numbers of streams.
        let whole = 5040 * typesize as usize;
        let loses_tails = filters.iter().any(|&(id, _)| id == BYTEDELTA_BUGGY || id == INT_TRUNC);
        if loses_tails && (streams == 255 || typesize > 16) {
            continue;
        }
        // Block sizes are multiples of the typesize: otherwise the reference cannot read its own chunks (filters.md
        // D10).
        let blocksize = if typesize > 16 { 0 } else { *random.pick(&[0, 1008 * typesize]) };
        let nbytes = if loses_tails { whole } else { whole + random.below(100) };
        let (ids, filters_meta) = pipeline(filters);
        let nthreads = *random.pick(&[1, 4]);
        let codec = *random.pick(&[0, 1, 4, 5]);
        let params =
            Params { codec, typesize, blocksize, nthreads, filters: ids, filters_meta, ..Params::default() };
        let src = Data::Ramp.generate(random, typesize as usize, nbytes);
        let what = format!("round {round}: {nbytes} bytes, {params:?}");
        let chunks =
            [ours, reference].map(|library| compress_copy(library, &params, &src, nbytes + 32, true));
        let [Ok(mine), Ok(theirs)] = chunks else {
            assert_eq!(chunks[0].as_ref().err(), chunks[1].as_ref().err(), "{what}");
            continue;
        };
        let content = decompress(reference, 1, &theirs, nbytes).expect("its own chunk");
        for library in [ours, reference] {
            for chunk in [&mine, &theirs] {
                for threads in [1, 4] {
                    let found = decompress(library, threads, chunk, nbytes);
                    assert!(found.as_ref() == Ok(&content), "{what}: {} {:?}", library.name, found.err());
                }
            }
        }
        let item = (typesize as usize).min(if typesize > 255 { 1 } else { 255 });
        let nitems = nbytes / item;
        for chunk in [&mine, &theirs] {
            for _ in 0..5 {
                let start = random.below(nitems);
                let count = 1 + random.below((nitems - start).min(700));
                let found = getitem(ours, 1, chunk, start as i32, count as i32, count * item);
                assert!(
                    found.as_deref() == Ok(&content[start * item..(start + count) * item]),
                    "{what}: {start}"
                );
            }
        }
    }
}

/// Without a super-chunk, the number of streams of a bytedelta with meta byte 0 is the item size of the chunk.
#[test]
fn bytedelta_of_a_chunk_without_a_super_chunk_has_as_many_streams_as_the_chunk_has_bytes_per_item() {
    let ours = Library::ours();
    let random = &mut Random::new(5);
    for filter in [BYTEDELTA, BYTEDELTA_BUGGY] {
        for (typesize, nbytes) in (1..=9).flat_map(|typesize| [1, 38, 75, 889, 5000].map(|n| (typesize, n))) {
            let (filters, filters_meta) = pipeline(&[(SHUFFLE, 0), (filter, 0)]);
            let params = Params { codec: 1, typesize, filters, filters_meta, ..Params::default() };
            let src = Data::Ramp.generate(random, typesize as usize, nbytes);
            let schunk = SuperChunk::create(ours, Store::Memory, Path::new(""), &params);
            assert_eq!(schunk.append(&src), Ok(1));
            let of_schunk = schunk.get_chunk(0).expect("a chunk");
            let of_context = compress_copy(ours, &params, &src, nbytes + 32, true).expect("a chunk");
            assert!(of_context == of_schunk, "filter {filter}, {typesize}, {nbytes} bytes");
            assert!(
                decompress(ours, 1, &of_schunk, nbytes).as_ref() == Ok(&src),
                "{filter} {typesize} {nbytes}"
            );
        }
    }
}

/// Contexts with a reference to the super-chunk of an array.
#[test]
fn contexts_of_an_array_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(3);
    let (blockshape, nblocks) = ([16, 24], 6);
    for (codec, meta, filters, typesize) in [
        (NDLZ, 4, &[][..], 1),
        (NDLZ, 8, &[], 1),
        (ZFP_ACC, 0xfd, &[], 4),
        (ZFP_RATE, 40, &[], 8),
        (1, 0, &[(NDCELL, 4), (SHUFFLE, 0)], 4),
        (5, 0, &[(NDMEAN, 4), (SHUFFLE, 0)], 8),
        (1, 0, &[(SHUFFLE, 0), (BYTEDELTA, 0)], 4),
    ] {
        let (ids, filters_meta) = pipeline(filters);
        let mut spec = ArraySpec::new(&[32, 72], &[32, 72], &blockshape, typesize);
        let blocksize = 384 * typesize;
        spec.params = Params {
            codec,
            codec_meta: meta,
            typesize,
            blocksize,
            filters: ids,
            filters_meta,
            ..Params::default()
        };
        let nbytes = (blocksize * nblocks) as usize;
        let src = match typesize {
            1 => crate::repeated_cells(nbytes),
            _ => Data::SmoothFloats.generate(random, typesize as usize, nbytes),
        };
        let chunk_of = |library: &'static Library, threads: i16| {
            let array = spec.zeros(library);
            let mut cparams = Params { nthreads: threads, ..spec.params.clone() }.cparams();
            cparams.schunk = array.fields().sc.cast();
            let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
            let (rc, chunk) = with_destination(nbytes + 32, |dest| context.compress(&src, dest));
            assert!(rc > 0, "{} {codec} {meta} {filters:?}: {rc}", library.name);
            chunk[..rc as usize].to_vec()
        };
        let chunks = [chunk_of(ours, 1), chunk_of(ours, 4), chunk_of(reference, 1)];
        assert!(chunks.iter().all(|chunk| chunk.len() < nbytes), "{codec} {meta} {filters:?}");
        assert!(chunks[0] == chunks[1]);
        let mut contents = Vec::new();
        for library in [reference, ours] {
            let array = spec.zeros(library);
            for chunk in &chunks {
                for threads in [1, 4] {
                    let mut params = dparams(threads);
                    params.schunk = array.fields().sc.cast();
                    let mut context = OwnedContext::for_decompression(library, params);
                    let (rc, content) = with_destination(nbytes, |dest| context.decompress(chunk, dest));
                    assert_eq!(rc, nbytes as i32, "{} {codec} {meta} {filters:?}", library.name);
                    let mut mask = [0, 1, 0, 0, 1, 1];
                    assert!(context.set_maskout(&mut mask) >= 0);
                    let (rc, masked) = with_destination(nbytes, |dest| context.decompress(chunk, dest));
                    assert_eq!(rc, nbytes as i32);
                    for (n, block) in
                        content.chunks(blocksize as usize).enumerate().filter(|&(n, _)| mask[n] == 0)
                    {
                        assert!(
                            masked[n * blocksize as usize..][..blocksize as usize] == *block,
                            "block {n}"
                        );
                    }
                    for item in (0..2304).step_by(11).filter(|_| library.name == "ours") {
                        for count in [1, 2, 5, 30, 300].into_iter().filter(|count| item + count <= 2304) {
                            let len = count * typesize as usize;
                            let (rc, found) = with_destination(len, |dest| {
                                context.getitem(chunk, item as i32, count as i32, dest)
                            });
                            assert_eq!(rc, len as i32);
                            assert!(
                                found == content[item * typesize as usize..][..len],
                                "{codec} {item} {count}"
                            );
                        }
                    }
                    contents.push(content);
                }
            }
        }
        assert!(contents.iter().all(|content| *content == contents[0]), "{codec} {meta} {filters:?}");
    }
}
