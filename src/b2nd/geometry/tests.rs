//! Tests every check with its error code, and the formulas of `b2nd.md` 2.2 in 128-bit integers. `tests/golden/arrays` has
//! the example layouts.

use super::*;
use crate::error::ErrorKind::{self, InvalidParam, MaxBufsizeExceeded};
use crate::error::error_kind;
use proptest::prelude::*;

/// A shape with its chunk shape and block shape.
type Shapes = (&'static [i64], &'static [i32], &'static [i32]);

#[test]
fn incompatible_shapes_are_rejected() {
    let cases: [(Shapes, bool); 11] = [
        ((&[5], &[3], &[2]), true),
        ((&[5, 7], &[3], &[2]), false),
        ((&[-1], &[3], &[2]), false),
        ((&[5], &[-3], &[2]), false),
        ((&[5], &[3], &[-2]), false),
        ((&[5], &[3], &[0]), false),
        ((&[5, 5], &[3, 3], &[3, 0]), false),
        ((&[0], &[0], &[0]), true),
        ((&[0], &[0], &[2]), true),
        ((&[5], &[30], &[20]), true),
        ((&[5], &[2], &[4]), true),
    ];
    for ((shape, chunkshape, blockshape), is_right) in cases {
        let wanted = (!is_right).then_some(InvalidParam);
        assert_eq!(
            error_kind(check_shapes(shape, chunkshape, blockshape)),
            wanted,
            "{shape:?} {chunkshape:?} {blockshape:?}"
        );
        assert_eq!(error_kind(Geometry::new(shape, chunkshape, blockshape, 1)), wanted, "{shape:?}");
        assert_eq!(error_kind(Geometry::from_stored(shape, chunkshape, blockshape, 1)), wanted, "{shape:?}");
    }
    assert_eq!(error_kind(check_shapes(&[1; 16], &[1; 16], &[1; 16])), None);
    assert_eq!(error_kind(check_shapes(&[1; 17], &[1; 17], &[1; 17])), Some(InvalidParam));
}

#[test]
fn overflowing_sizes_are_rejected() {
    const MAX: i64 = i64::MAX;
    let cases: [(Shapes, Option<ErrorKind>); 12] = [
        ((&[65536, 65536], &[1, 1], &[65536, 65536]), Some(InvalidParam)),
        ((&[65536, 65536], &[65536, 65536], &[1, 1]), Some(InvalidParam)),
        ((&[1 << 62, 4], &[1, 1], &[1, 1]), Some(InvalidParam)),
        ((&[MAX], &[1_000_000], &[1]), Some(InvalidParam)),
        ((&[MAX], &[1], &[1]), None),
        ((&[MAX - 5], &[6], &[6]), Some(InvalidParam)),
        ((&[2_147_483_615], &[2_147_483_615], &[2_147_483_615]), None),
        ((&[5], &[2_147_483_616], &[2_147_483_616]), Some(MaxBufsizeExceeded)),
        ((&[5], &[i32::MAX], &[i32::MAX - 1]), Some(MaxBufsizeExceeded)),
        // Behind a 0, no extent can overflow the product.
        ((&[0, MAX, MAX], &[1; 3], &[1; 3]), None),
        ((&[MAX, MAX, 0], &[1; 3], &[1; 3]), Some(InvalidParam)),
        ((&[MAX, 0, MAX], &[1; 3], &[1; 3]), None),
    ];
    for ((shape, chunkshape, blockshape), wanted) in cases {
        let made = Geometry::new(shape, chunkshape, blockshape, 1);
        assert_eq!(error_kind(made), wanted, "{shape:?} {chunkshape:?} {blockshape:?}");
    }
    for (typesize, wanted) in
        [(0, Some(InvalidParam)), (-1, Some(InvalidParam)), (1, None), (715_827_871, None)]
    {
        assert_eq!(error_kind(Geometry::new(&[3], &[3], &[3], typesize)), wanted, "{typesize}");
    }
    assert_eq!(error_kind(Geometry::new(&[3], &[3], &[3], 715_827_872)), Some(MaxBufsizeExceeded));
    assert_eq!(error_kind(Geometry::new(&[1], &[i32::MAX], &[1], i32::MAX)), Some(MaxBufsizeExceeded));
}

/// A stored array may have chunks of any size, but must have chunks; a new array may have none if it is empty.
#[test]
fn stored_arrays_and_new_ones_are_checked_differently() {
    assert_eq!(error_kind(Geometry::new(&[5, 0], &[0, 0], &[0, 0], 1)), None);
    assert_eq!(error_kind(Geometry::from_stored(&[5, 0], &[0, 0], &[0, 0], 1)), Some(InvalidParam));
    assert_eq!(error_kind(Geometry::from_stored(&[0, 0], &[0, 0], &[0, 2], 1)), None);
    assert_eq!(error_kind(Geometry::new(&[5], &[0], &[0], 1)), Some(InvalidParam));
    let strange = Geometry::from_stored(&[5], &[i32::MAX], &[i32::MAX - 1], 1).unwrap();
    assert_eq!(error_kind(strange.chunk_nbytes()), Some(InvalidParam));
    let strange = Geometry::from_stored(&[5], &[3], &[2], -7).unwrap();
    assert_eq!(
        (error_kind(strange.chunk_nbytes()), error_kind(strange.nbytes())),
        (Some(InvalidParam), Some(InvalidParam))
    );
    let empty = Geometry::new(&[0, 5], &[0, 5], &[0, 5], 4).unwrap();
    assert_eq!(error_kind(empty.with_shape(&[1, 5])), Some(InvalidParam));
    assert_eq!(error_kind(empty.with_shape(&[1, 0])), None);
    let whole = Geometry::new(&[4, 5], &[2, 5], &[1, 5], 4).unwrap();
    assert_eq!(whole.with_shape(&[0, 9]).unwrap(), Geometry::new(&[0, 9], &[2, 5], &[1, 5], 4).unwrap());
    assert_eq!(error_kind(whole.with_shape(&[-1, 9])), Some(InvalidParam));
    assert_eq!(error_kind(whole.with_shape(&[1])), Some(InvalidParam));
}

/// Compares with the formulas of `b2nd.md` 2.2, in 128-bit integers, which cannot overflow.
fn assert_formulas(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) {
    let geometry = Geometry::new(shape, chunkshape, blockshape, 1);
    let wide = |extents: &[i64]| extents.iter().map(|&extent| extent as i128).product::<i128>();
    let up = |extent: i64, unit: i64| if unit == 0 { 0 } else { (extent + unit - 1) / unit * unit };
    let chunks: Vec<i64> = chunkshape.iter().map(|&chunk| chunk.into()).collect();
    let blocks: Vec<i64> = blockshape.iter().map(|&block| block.into()).collect();
    let ext: Vec<i64> = shape.iter().zip(&chunks).map(|(&extent, &chunk)| up(extent, chunk)).collect();
    let extchunk: Vec<i64> = chunks
        .iter()
        .zip(&blocks)
        .map(|(&chunk, &block)| if chunk == 0 { 0 } else { up(chunk, block) })
        .collect();
    let Ok(g) = geometry else {
        assert!(wide(shape) != 0 && chunkshape.contains(&0), "{shape:?} {chunkshape:?} {blockshape:?}");
        return;
    };
    assert_eq!((g.shape(), g.extshape(), g.extchunkshape()), (shape, &ext[..], &extchunk[..]));
    assert_eq!(i128::from(g.nitems()), wide(shape));
    assert_eq!(i128::from(g.extnitems()), wide(&ext));
    assert_eq!(i128::from(g.extchunknitems()), wide(&extchunk));
    assert_eq!(i128::from(g.chunknitems()), wide(&chunks));
    assert_eq!(i128::from(g.blocknitems()), wide(&blocks));
    let nchunks = if g.nitems() == 0 { 0 } else { g.extnitems() / i64::from(g.chunknitems()) };
    assert_eq!(g.nchunks(), nchunks);
    let nblocks = if g.extchunknitems() == 0 { 0 } else { g.extchunknitems() / i64::from(g.blocknitems()) };
    assert_eq!(g.blocks_per_chunk(), nblocks);
    let ndim = shape.len();
    let stop = (1..ndim).rev().find(|&n| shape[n] == 0 || chunks[n] == 0 || blocks[n] == 0).unwrap_or(0);
    let stride = |extents: &[i64], dim: usize| if dim < stop { 0 } else { wide(&extents[dim + 1..]) as i64 };
    let products: Vec<i64> = ext.iter().zip(&chunks).map(|(ext, chunk)| ext * chunk).collect();
    let grid: Vec<i64> =
        extchunk.iter().zip(&blocks).map(|(ext, block)| ext.checked_div(*block).unwrap_or(0)).collect();
    for dim in 0..ndim {
        let s = g.strides();
        assert_eq!(s.item_array[dim], stride(shape, dim));
        assert_eq!(s.item_chunk[dim], stride(&chunks, dim));
        assert_eq!(s.item_extchunk[dim], stride(&extchunk, dim));
        assert_eq!(s.item_block[dim], stride(&blocks, dim));
        assert_eq!(s.block_chunk[dim], stride(&grid, dim));
        assert_eq!(s.chunk_array[dim], stride(&products, dim));
    }
    assert_eq!(g.public_shapes().3[ndim..], [1; MAX_DIM][ndim..]);
    assert_eq!(g.public_shapes().4[ndim..], [1; MAX_DIM][ndim..]);
}

proptest! {
    #[test]
    fn all_fields_follow_the_formulas(
        extents in prop::collection::vec((0i64..9, prop_oneof![1 => Just(0i32), 9 => 1..5i32], 1i32..4), 0..=6),
        ones in 0usize..=10,
    ) {
        let mut extents = extents;
        extents.extend(std::iter::repeat_n((1, 1, 1), ones));
        let shape: Vec<i64> = extents.iter().map(|of| of.0).collect();
        let chunkshape: Vec<i32> = extents.iter().map(|of| of.1).collect();
        let blockshape: Vec<i32> = extents.iter().map(|of| if of.1 == 0 { of.2 - 1 } else { of.2 }).collect();
        assert_formulas(&shape, &chunkshape, &blockshape);
    }

    #[test]
    fn arbitrary_shapes_do_not_panic(
        extents in prop::collection::vec((any::<i64>(), any::<i32>(), any::<i32>()), 0..=3),
        small in prop::collection::vec((-1i64..4, -1i32..4, -1i32..4), 0..=3),
        typesize in any::<i32>(),
        start in prop::collection::vec(any::<i64>(), 6),
        stop in prop::collection::vec(any::<i64>(), 6),
    ) {
        let extents = || extents.iter().chain(&small);
        let shape: Vec<i64> = extents().map(|of| of.0).collect();
        let chunkshape: Vec<i32> = extents().map(|of| of.1).collect();
        let blockshape: Vec<i32> = extents().map(|of| of.2).collect();
        let _ = Geometry::new(&shape, &chunkshape, &blockshape, typesize);
        if let Ok(geometry) = Geometry::from_stored(&shape, &chunkshape, &blockshape, typesize) {
            let _ = (geometry.nbytes(), geometry.chunk_nbytes(), geometry.block_nbytes(), geometry.nchunks());
            for part in geometry.chunks_of_box(&start, &stop).take(100) {
                prop_assert!(part.number < geometry.nchunks() && part.number >= 0);
                for block in geometry.blocks_of_part(&part).take(10) {
                    prop_assert!(block.number < geometry.blocks_per_chunk() && block.number >= 0);
                }
            }
        }
    }
}
