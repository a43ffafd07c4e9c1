//! Variable-length chunks, written by each library and read by both (chunk.md 1.16, 3.11, 4.6).

use crate::support::calls::{Header, OwnedContext, Params, decompress, dparams, getitem, vlcompress};
use crate::support::data::Data;
use crate::support::known_defects as defects;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::{CODECS, DELTA, TRUNC_PREC, TYPESIZES, for_each_point, pick_filters, selected_points};

/// Draws a list of buffers for a variable-length chunk.
fn pick_vl_blocks(random: &mut Random, data: Data, width: usize) -> Vec<Vec<u8>> {
    let nblocks = *random.pick(&[1, 2, 3, 7, 8, 16, 64]);
    let largest = *random.pick(&[4, 100, 1000, 5000]);
    let whole_items = random.one_in(2);
    (0..nblocks)
        .map(|_| {
            let len = 1 + random.below(largest);
            let len = if whole_items { len.div_ceil(width) * width } else { len };
            data.generate(random, width, len)
        })
        .collect()
}

#[test]
fn variable_length_chunks_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let seed = from_environment("BLOSC2_GRID_SEED", 20_240_901);
    let points = selected_points(400);
    for_each_point(points.start..points.start + (points.end - points.start) / 2, seed, |index| {
        let random = &mut Random::of_item(seed, index ^ 0x5656);
        let typesize = *random.pick(&TYPESIZES);
        let (filters, filters_meta) = pick_filters(random, typesize);
        let params = Params {
            codec: *random.pick(&CODECS),
            clevel: random.below(10) as u8,
            use_dict: random.one_in(4),
            typesize,
            nthreads: *random.pick(&[1, 1, 4]),
            splitmode: 1 + random.below(4) as i32,
            filters,
            filters_meta,
            ..Params::default()
        };
        let data = *random.pick(&Data::ALL);
        let blocks = pick_vl_blocks(random, data, typesize as usize);
        let sizes: Vec<usize> = blocks.iter().map(Vec::len).collect();
        let sum: usize = sizes.iter().sum();
        let needed = 32 + 8 * blocks.len() + sum;
        let context = || format!("{params:?}, {data:?}, sizes {sizes:?}");
        let lossless = !defects::has_filter(&params, TRUNC_PREC);
        let useless_dictionary = params.use_dict && !matches!(params.codec, 1 | 2 | 5);

        let check_reads = |library: &Library, chunk: &[u8], expected: &[Vec<u8>], whole: bool| {
            let header = Header::parse(chunk);
            assert_eq!((header.nbytes, header.blocksize), (sum as i32, blocks.len() as i32));
            for nthreads in [1, 4] {
                if library.is_reference()
                    && !defects::vldecompression_verdict(&params, &sizes, nthreads).is_right()
                {
                    continue;
                }
                let what = || format!("{} reads a chunk, nthreads {nthreads}: {}", library.name, context());
                let mut reader = OwnedContext::for_decompression(library, dparams(nthreads));
                let got = reader.vldecompress(chunk, blocks.len() + 1);
                assert!(got.as_deref() == Ok(expected), "vldecompress {:?}: {}", got.err(), what());
                let nblock = expected.len() / 2;
                let got = reader.vldecompress_block(chunk, nblock as i32);
                assert_eq!(got.as_ref(), Ok(&expected[nblock]), "block {nblock}: {}", what());
                if whole {
                    let got = decompress(library, nthreads, chunk, sum);
                    assert!(
                        got.as_deref() == Ok(&expected.concat()[..]),
                        "whole {:?}: {}",
                        got.err(),
                        what()
                    );
                }
                assert_eq!(reader.vldecompress(chunk, blocks.len()).map(|got| got.len()), Ok(blocks.len()));
                if blocks.len() > 1 {
                    assert_eq!(reader.vldecompress(chunk, blocks.len() - 1), Err(-12), "{}", what());
                }
                assert_eq!(reader.vldecompress_block(chunk, -1), Err(-12), "{}", what());
                assert_eq!(reader.vldecompress_block(chunk, blocks.len() as i32), Err(-12), "{}", what());
            }
            assert_eq!(getitem(library, 1, chunk, 0, 1, 300), Err(-12), "getitem: {}", context());
        };

        if ours.is_reference() && !defects::vlcompression_verdict(&params, &sizes).is_right() {
            return;
        }
        let mine = vlcompress(ours, &params, &blocks, needed + (40 << 10));
        if useless_dictionary {
            let plain = Params { use_dict: false, ..params.clone() };
            let plain = vlcompress(ours, &plain, &blocks, needed + (40 << 10));
            assert!(mine == plain, "a dictionary without use changes the chunk: {}", context());
        }
        let decoded = mine.as_ref().ok().map(|chunk| {
            let decoded = OwnedContext::for_decompression(ours, dparams(1))
                .vldecompress(chunk, blocks.len())
                .unwrap_or_else(|code| panic!("ours reads ours: {code}: {}", context()));
            assert!(!lossless || decoded == blocks, "ours reads ours: {}", context());
            check_reads(ours, chunk, &decoded, !ours.is_reference() || !defects::has_filter(&params, DELTA));
            check_reads(reference, chunk, &decoded, !defects::has_filter(&params, DELTA));
            if ours.is_reference() {
                return decoded;
            }
            let many = Params { nthreads: 5 - params.nthreads, ..params.clone() };
            let again = vlcompress(ours, &many, &blocks, needed + (40 << 10));
            assert!(again.as_ref() == Ok(chunk), "depends on the number of threads: {}", context());
            // Decreasing destination sizes: rejected or correct, never a write beyond the destination.
            for destsize in [31, 32, 40, needed / 2, needed - 1, needed] {
                match vlcompress(ours, &params, &blocks, destsize) {
                    Ok(small) => check_reads(ours, &small, &decoded, true),
                    Err(code) => {
                        let expected = if destsize < 32 { -35 } else { 0 };
                        assert_eq!(code, expected, "destsize {destsize}: {}", context());
                    }
                }
            }
            decoded
        });

        let verdict = defects::vlcompression_verdict(&params, &sizes);
        if !verdict.can_call() {
            return;
        }
        let theirs = vlcompress(reference, &params, &blocks, needed + (40 << 10));
        match (&mine, theirs) {
            (Ok(mine), Ok(theirs)) => {
                if !verdict.is_right() {
                    let _ =
                        OwnedContext::for_decompression(ours, dparams(4)).vldecompress(&theirs, blocks.len());
                    return;
                }
                let expected = Header { cbytes: Header::parse(mine).cbytes, ..Header::parse(&theirs) };
                let by_chance = params.use_dict && params.codec == 5;
                let mut header = Header::parse(mine);
                if by_chance {
                    header.blosc2_flags = expected.blosc2_flags;
                }
                assert_eq!(header, expected, "headers, ours left: {}", context());
                let decoded = decoded.expect("our chunk was decoded");
                let whole = !defects::has_filter(&params, DELTA);
                check_reads(ours, &theirs, &decoded, whole || !ours.is_reference());
                check_reads(reference, &theirs, &decoded, whole);
            }
            (mine, theirs) => assert_eq!(mine.as_ref().err(), theirs.as_ref().err(), "{}", context()),
        }
    });
}
