//! Compares with loops over every chunk, every block and every item (`b2nd.md` 2.4, 6.8).

use crate::b2nd::MAX_DIM;
use crate::b2nd::geometry::Geometry;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Returns every index below `extents`, in C order.
fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![vec![]], |all, &extent| {
        let with = |index: &Vec<i64>, at| index.iter().copied().chain([at]).collect();
        all.iter().flat_map(|index| (0..extent).map(move |at| with(index, at))).collect()
    })
}

/// Returns the touched chunks by the rule of `b2nd.md` 6.8.
fn touched(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Vec<i64> {
    let ndim = geometry.ndim();
    let grid: Vec<i64> = (0..ndim).map(|dim| geometry.chunks_along(dim)).collect();
    let is_touched = |chunk: &Vec<i64>| {
        (0..ndim).all(|dim| {
            let extent = i64::from(geometry.chunkshape()[dim]);
            let begin = chunk[dim] * extent;
            begin < stop[dim] && start[dim] < (begin + extent).min(geometry.shape()[dim])
        })
    };
    if geometry.nitems() == 0 {
        return vec![];
    }
    (0..).zip(indices(&grid)).filter(|(_, chunk)| is_touched(chunk)).map(|(number, _)| number).collect()
}

fn flat(index: &[i64], extents: &[i64]) -> i64 {
    index.iter().zip(extents).fold(0, |sum, (&at, &extent)| sum * extent + at)
}

/// Returns the place of each item of a box: chunk, block and item in the block, computed for each item separately.
fn places(geometry: &Geometry, start: &[i64], stop: &[i64]) -> BTreeMap<Vec<i64>, (i64, i64, i64)> {
    let ndim = geometry.ndim();
    let extents: Vec<i64> =
        (0..ndim).map(|dim| (stop[dim].min(geometry.shape()[dim]) - start[dim].max(0)).max(0)).collect();
    let wide = |extents: &[i32]| extents.iter().map(|&extent| i64::from(extent)).collect::<Vec<_>>();
    let (chunk, block) = (wide(geometry.chunkshape()), wide(geometry.blockshape()));
    let chunks: Vec<i64> = (0..ndim).map(|dim| geometry.chunks_along(dim)).collect();
    let blocks: Vec<i64> = (0..ndim).map(|dim| geometry.blocks_along(dim)).collect();
    let mut places = BTreeMap::new();
    for index in indices(&extents) {
        let item: Vec<i64> = (0..ndim).map(|dim| index[dim] + start[dim].max(0)).collect();
        let at: Vec<i64> = (0..ndim).map(|dim| item[dim] - start[dim]).collect();
        let of = |work: &dyn Fn(usize) -> i64| (0..ndim).map(work).collect::<Vec<_>>();
        let place = (
            flat(&of(&|dim| item[dim] / chunk[dim]), &chunks),
            flat(&of(&|dim| item[dim] % chunk[dim] / block[dim]), &blocks),
            flat(&of(&|dim| item[dim] % chunk[dim] % block[dim]), &block),
        );
        places.insert(at, place);
    }
    places
}

fn assert_tiles(geometry: &Geometry, start: &[i64], stop: &[i64], from: i64) {
    let ndim = geometry.ndim();
    let chunks = geometry.chunks_of_box(start, stop);
    let numbers: Vec<i64> = chunks.clone().map(|part| part.number).collect();
    assert_eq!(numbers, touched(geometry, start, stop));
    assert_eq!(chunks.len(), numbers.len() as i64);
    assert_eq!(chunks.size_hint().1, Some(numbers.len()));
    let mut later = chunks.clone();
    let mut told = vec![];
    while let Some(part) = later.next_part() {
        told.push(part.clone());
    }
    later.seek(from);
    let rest: Vec<_> = later.collect();
    assert_eq!(rest, told[(from.max(0) as usize).min(told.len())..]);

    let mut places = places(geometry, start, stop);
    let blockshape: Vec<i64> = geometry.blockshape().iter().map(|&extent| extent.into()).collect();
    for part in chunks {
        let nitems: i64 = part.shape[..ndim].iter().product();
        assert_eq!(part.is_empty(), nitems == 0);
        let mut left = nitems;
        for block in geometry.blocks_of_part(&part) {
            for index in indices(&block.shape[..ndim]) {
                let sum = |a: &[i64; MAX_DIM]| (0..ndim).map(|dim| a[dim] + index[dim]).collect::<Vec<_>>();
                let place = (part.number, block.number, flat(&sum(&block.start), &blockshape));
                assert_eq!(places.remove(&sum(&block.start_in_box)), Some(place));
                left -= 1;
            }
        }
        assert_eq!(left, 0, "items of chunk {}", part.number);
    }
    assert!(places.is_empty(), "left over: {places:?}");
}

#[test]
fn example_boxes_touch_the_expected_chunks() {
    let geometry = Geometry::new(&[5, 7], &[3, 4], &[2, 2], 1).unwrap();
    let numbers = |start: [i64; 2], stop: [i64; 2]| {
        geometry.chunks_of_box(&start, &stop).map(|part| part.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers([1, 2], [4, 6]), [0, 1, 2, 3]);
    assert_eq!(numbers([3, 0], [5, 3]), [2]);
    assert_eq!(numbers([1, 3], [4, 3]), [0, 2]);
    assert!(numbers([1, 4], [4, 4]).is_empty());
    assert!(numbers([1, 7], [4, 7]).is_empty());
    let scalar = Geometry::new(&[], &[], &[], 1).unwrap();
    assert_tiles(&scalar, &[], &[], 0);
    assert_eq!(scalar.chunks_of_box(&[], &[]).count(), 1);
    // With too few numbers no chunk is touched.
    assert_eq!(geometry.chunks_of_box(&[1], &[2]).len(), 0);
}

/// Generates a slice along one dimension: extent, chunk and block of the dimension, start and stop of the slice.
fn dimension() -> impl Strategy<Value = (i64, i32, i32, i64, i64)> {
    (prop_oneof![1 => Just(0i64), 12 => 1i64..9], 1i32..6, 1i32..4, -2i64..9, -2i64..12)
}

proptest! {
    #[test]
    fn every_item_of_a_box_is_in_exactly_one_part(
        dims in prop::collection::vec(dimension(), 0..=3),
        ones in prop_oneof![6 => 0usize..3, 1 => Just(13usize)],
        from in -1i64..30,
    ) {
        let mut dims = dims;
        dims.extend(std::iter::repeat_n((1, 1, 1, 0, 1), ones));
        let shape: Vec<i64> = dims.iter().map(|of| of.0).collect();
        let chunkshape: Vec<i32> = dims.iter().map(|of| of.1).collect();
        let blockshape: Vec<i32> = dims.iter().map(|of| of.2).collect();
        let start: Vec<i64> = dims.iter().map(|of| of.3).collect();
        let stop: Vec<i64> = dims.iter().map(|of| of.4).collect();
        let geometry = Geometry::new(&shape, &chunkshape, &blockshape, 1).unwrap();
        assert_tiles(&geometry, &start, &stop, from);
    }
}
