//! The codecs and filters of the library's plugin range: codecs.md 18.3 to 18.7, filters.md 16 D2 and D7, and views
//! whose number of dimensions differs from that of their blocks.

use crate::checks::{compressed, ours};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{OwnedContext, Params, decompress, dparams, with_destination};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::library::Library;
use crate::support::random::Random;

const NDLZ: u8 = 32;
const ZFP_RATE: u8 = 35;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
const BYTEDELTA_BUGGY: u8 = 34;
const INT_TRUNC: u8 = 36;

/// An array of one chunk, and its parameters.
fn spec(shape: &[i32], blockshape: &[i32], typesize: i32, codec: u8, codec_meta: u8) -> ArraySpec {
    let whole: Vec<i64> = shape.iter().map(|&extent| extent.into()).collect();
    let mut spec = ArraySpec::new(&whole, shape, blockshape, typesize);
    spec.params = Params { codec, codec_meta, typesize, filters: [0; 6], ..Params::default() };
    spec
}

fn smooth_floats(typesize: usize, nbytes: usize) -> Vec<u8> {
    Data::SmoothFloats.generate(&mut Random::new(3), typesize, nbytes)
}

/// A decompression context with a reference to the array.
fn context_of(array: &Array) -> OwnedContext<'static> {
    let mut params = dparams(1);
    params.schunk = array.fields().sc.cast();
    OwnedContext::for_decompression(array.library, params)
}

/// A rate at which cells are not compressed: the data are stored uncompressed.
#[test]
fn codecs_18_3_zfp_rates_above_the_item_size_are_lossless() {
    in_new_process(test_name!(), || {
        for (shape, typesize) in [(&[20][..], 4), (&[10, 10], 8), (&[5, 4, 11], 4), (&[5, 5, 5, 5], 8)] {
            for meta in [99, 100, 101, 168, 200, 255] {
                let spec = spec(shape, shape, typesize, ZFP_RATE, meta);
                let items = smooth_floats(typesize as usize, spec.nbytes());
                assert_eq!(
                    spec.create_from_buffer(ours(), &items).to_cbuffer(),
                    Ok(items),
                    "{shape:?} {typesize} {meta}"
                );
            }
        }
    });
}

/// Truncated ZFP streams, and reads of items without a super-chunk.
#[test]
fn codecs_18_4_truncated_zfp_streams_are_rejected() {
    in_new_process(test_name!(), || {
        for (codec, meta) in [(33, 0xfd), (34, 20), (ZFP_RATE, 50)] {
            let spec = spec(&[32, 32], &[32, 32], 4, codec, meta);
            let items = smooth_floats(4, spec.nbytes());
            let array = spec.create_from_buffer(ours(), &items);
            let mut chunk = array.schunk().get_chunk(0).expect("a chunk");
            let csize = chunk.len() - 40;
            // The stated sizes of the stream and of the chunk are reduced accordingly.
            let cut = csize / 2 / 8 * 8;
            chunk.truncate(40 + cut);
            let cbytes = chunk.len() as i32;
            chunk[12..16].copy_from_slice(&cbytes.to_le_bytes());
            chunk[36..40].copy_from_slice(&(cut as i32).to_le_bytes());
            let (rc, _) = with_destination(4096, |dest| context_of(&array).decompress(&chunk, dest));
            assert_eq!(rc, -3, "codec {codec}");
            let (rc, _) = with_destination(4, |dest| context_of(&array).getitem(&chunk, 1023, 1, dest));
            assert_eq!(rc, -3, "codec {codec}");
            let mut nobodys = OwnedContext::for_decompression(ours(), dparams(1));
            let (rc, _) = with_destination(4, |dest| nobodys.getitem(&chunk, 0, 1, dest));
            assert_eq!(rc, -3, "codec {codec}");
        }
    });
}

/// Any number of items at a fixed rate, at any position.
#[test]
fn codecs_18_5_getitem_reads_any_items_of_a_zfp_rate_chunk() {
    in_new_process(test_name!(), || {
        for (shape, blockshape, meta) in [
            (&[8, 8][..], &[8, 8][..], 50),
            (&[16, 24], &[8, 8], 5),
            (&[100], &[30], 37),
            (&[9, 6, 7], &[5, 6, 7], 60),
        ] {
            let spec = spec(shape, blockshape, 4, ZFP_RATE, meta);
            let items = smooth_floats(4, spec.nbytes());
            let array = spec.create_from_buffer(ours(), &items);
            let chunk = array.schunk().get_chunk(0).expect("a chunk");
            let content = array.schunk().contents();
            let total = content.len() / 4;
            let mut context = context_of(&array);
            for start in 0..total {
                for count in (1..=20).chain([64, 65, 100]).filter(|count| start + count <= total) {
                    let (rc, found) = with_destination(4 * count, |dest| {
                        context.getitem(&chunk, start as i32, count as i32, dest)
                    });
                    assert_eq!(rc, 4 * count as i32, "{shape:?} {meta} {start} {count}");
                    assert!(found == content[4 * start..][..4 * count], "{shape:?} {meta} {start} {count}");
                }
            }
        }
    });
}

/// Distances that the decoder of the reference gets wrong are not written; they are read correctly if the reference
/// wrote them.
#[test]
fn codecs_18_6_long_ndlz_match_distances_round_trip() {
    const FAR: usize = 3855;
    let row = |cell: usize, row: usize| ((cell * 4 + row) as u32).wrapping_mul(2_654_435_761).to_le_bytes();
    for kept in [2, 3] {
        let rows = |cell: usize| {
            (0..4).map(move |n| if cell >= FAR && n < kept { row(cell - FAR, n) } else { row(cell, n) })
        };
        let cells: Vec<Vec<[u8; 4]>> =
            (0..6000).map(|cell| if cell < 4200 { rows(cell).collect() } else { vec![[1; 4]; 4] }).collect();
        let items: Vec<u8> = (0..4).flat_map(|n| cells.iter().flat_map(move |cell| cell[n])).collect();
        let spec = spec(&[4, 24_000], &[4, 24_000], 1, NDLZ, 4);
        let mine = spec.create_from_buffer(ours(), &items);
        assert_eq!(mine.to_cbuffer().as_ref(), Ok(&items));
        let Some(reference) = Library::reference() else { continue };
        let (mut frame, _) = mine.to_cframe().expect("a frame");
        let array = Array::from_frame_copy(reference, &mut frame).1.expect("an array");
        assert_eq!(array.to_cbuffer().as_ref(), Ok(&items));
        // The reference decodes its own stream incorrectly; our library decodes it correctly.
        let (mut frame, _) = spec.create_from_buffer(reference, &items).to_cframe().expect("a frame");
        let array = Array::from_frame_copy(ours(), &mut frame).1.expect("an array");
        assert_eq!(array.to_cbuffer().as_ref(), Ok(&items));
    }
}

/// A stream of a block with zero rows or columns.
#[test]
fn codecs_18_7_ndlz_streams_of_empty_blocks_are_rejected() {
    in_new_process(test_name!(), || {
        let spec = spec(&[40, 40], &[40, 40], 1, NDLZ, 4);
        let items: Vec<u8> = (0..1600).map(|at| (at / 4 % 3) as u8).collect();
        let array = spec.create_from_buffer(ours(), &items);
        let good = array.schunk().get_chunk(0).expect("a chunk");
        for extents in
            [[0, 40], [40, 0], [0, 0], [0, i32::MAX], [i32::MAX, 0], [i32::MAX, i32::MAX], [-1, -1600]]
        {
            let mut bad = good.clone();
            // The fields follow the header, one block start, the size of the stream, and the number of dimensions.
            for (at, extent) in [(41, extents[0]), (45, extents[1])] {
                bad[at..at + 4].copy_from_slice(&i32::to_le_bytes(extent));
            }
            let (rc, _) = with_destination(1600, |dest| context_of(&array).decompress(&bad, dest));
            assert_eq!(rc, -3, "{extents:?}");
        }
    });
}

/// Bytes behind the last complete word or stream are preserved, also in the reference where it does not change them.
#[test]
fn filters_16_d2_plugin_filters_keep_the_tail_bytes() {
    for typesize in [2, 4, 8] {
        for tail in 1..typesize {
            let nbytes = 4000 * typesize + tail;
            let src: Vec<u8> = (0..nbytes).map(|at| (at / 3) as u8).collect();
            let streams = typesize as u8;
            for (id, meta) in [(INT_TRUNC, 8 * streams), (BYTEDELTA_BUGGY, streams)] {
                let params = Params {
                    codec: 1,
                    typesize: typesize as i32,
                    blocksize: 1000 * typesize as i32,
                    filters: [0, 0, 0, 0, 0, id],
                    filters_meta: [0, 0, 0, 0, 0, meta],
                    ..Params::default()
                };
                let chunk = compressed(&params, &src);
                assert!(
                    decompress(ours(), 1, &chunk, nbytes).as_ref() == Ok(&src),
                    "filter {id} tail {tail}"
                );
                if let (INT_TRUNC, Some(reference)) = (id, Library::reference()) {
                    assert!(decompress(reference, 1, &chunk, nbytes).as_ref() == Ok(&src), "tail {tail}");
                }
            }
        }
    }
}

/// Cells that the reference writes and cannot read are rejected.
#[test]
fn filters_16_d7_ndmean_cells_that_cannot_be_read_are_rejected() {
    for (blockshape, side, expected) in
        [(&[2, 8][..], 4, -18), (&[1, 3, 9], 2, -18), (&[2, 8], 2, 0), (&[2, 3], 4, 0)]
    {
        let mut spec = spec(blockshape, blockshape, 8, 1, 0);
        spec.params.filters[5] = NDMEAN;
        spec.params.filters_meta[5] = side;
        let items = smooth_floats(8, spec.nbytes());
        let (rc, array) = spec.context(ours()).create_from_buffer(&items);
        // Sources of less than 32 bytes are not filtered; these are longer.
        assert_eq!(rc < 0, expected < 0, "{blockshape:?} {side}: {rc}");
        if let Some(array) = array {
            assert!(array.to_cbuffer().is_ok(), "{blockshape:?} {side}");
        }
    }
}

/// The blocks of a view are those of its base array, although the view has other dimensions.
#[test]
fn plugins_use_the_blockshape_of_the_base_array_in_views() {
    for (codec, meta, filter) in [(33, 0xfd, 0), (ZFP_RATE, 50, 0), (NDLZ, 4, 0), (1, 0, NDCELL)] {
        let typesize = if codec == NDLZ { 1 } else { 4 };
        let mut spec = spec(&[24, 30], &[12, 15], typesize, codec, meta);
        spec.params.filters[5] = filter;
        spec.params.filters_meta[5] = 5;
        let kind = if typesize == 1 { Data::LowEntropy } else { Data::SmoothFloats };
        let array = spec.create_from_buffer(
            ours(),
            &kind.generate(&mut Random::new(8), typesize as usize, spec.nbytes()),
        );
        let content = array.to_cbuffer();
        let (rc, view) = array.expand_dims(&[true, false, false]);
        assert_eq!((rc, view.expect("a view").to_cbuffer()), (0, content), "{codec} {filter}");
    }
}
