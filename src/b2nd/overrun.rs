//! Boxes that reach beyond the grid of an array's chunks (`b2nd.md` 6.4).
//!
//! The C library walks over all chunks that the box would touch in an unlimited grid, in C order. It computes the
//! number of a chunk outside the grid by the same formula as inside, so the result is the number of another chunk, or
//! too high, in which case the call fails. Programs rely on the calls that succeed, so this module follows the walk,
//! but the other chunks are not accessed.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::geometry::Geometry;

/// Returns the number of chunks inside the grid that the walk over the box `start..stop` visits before the first chunk
/// whose number is too high; `None` if there is no such chunk.
///
/// The box has items, and begins inside the shape in every dimension.
pub(crate) fn chunks_before_overrun(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Option<i64> {
    let ndim = geometry.ndim();
    // Along each dimension: first and last chunk of the walk, and the distance between the numbers of neighbours.
    let mut first = [0i128; MAX_DIM];
    let mut last = [0i128; MAX_DIM];
    let mut stride = [1i128; MAX_DIM];
    let mut nchunks = 1i128;
    let mut highest = 0i128;
    for dim in (0..ndim).rev() {
        let chunk = i64::from(geometry.chunkshape()[dim]).max(1);
        first[dim] = i128::from(start[dim] / chunk);
        last[dim] = i128::from((stop[dim] - 1) / chunk);
        stride[dim] = nchunks;
        nchunks = nchunks.saturating_mul(geometry.chunks_along(dim).into());
        highest = highest.saturating_add(last[dim].saturating_mul(stride[dim]));
    }
    if highest < nchunks {
        return None;
    }
    // The chunks of the walk that are inside the grid, along each dimension; then those of all dimensions behind it
    // too.
    let inside = |dim: usize| last[dim].min(i128::from(geometry.chunks_along(dim)) - 1) - first[dim] + 1;
    let mut rest = (0..ndim).fold(1i128, |product, dim| product.saturating_mul(inside(dim)));
    let mut before = 0i128;
    // The first chunk in C order with a number of at least `nchunks`: along each dimension the first one from which the
    // highest number that can follow is high enough.
    let mut missing = nchunks;
    for dim in 0..ndim {
        highest = highest.saturating_sub(last[dim].saturating_mul(stride[dim]));
        rest /= inside(dim);
        let lacking = missing.saturating_sub(highest);
        let at = first[dim].max(lacking.div_euclid(stride[dim]) + i128::from(lacking % stride[dim] != 0));
        missing = missing.saturating_sub(at.saturating_mul(stride[dim]));
        let counted = (at - first[dim]).min(inside(dim));
        before = before.saturating_add(counted.saturating_mul(rest));
        if counted == inside(dim) {
            // This chunk is outside the grid, and the later chunks of this row are not counted.
            break;
        }
    }
    Some(i64::try_from(before).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Walks over the chunks one by one.
    fn model(geometry: &Geometry, start: &[i64], stop: &[i64]) -> Option<i64> {
        let ndim = geometry.ndim();
        let chunk = |dim: usize| i64::from(geometry.chunkshape()[dim]);
        let mut at: Vec<i64> = (0..ndim).map(|dim| start[dim] / chunk(dim)).collect();
        let mut before = 0;
        loop {
            let number = (0..ndim).fold(0, |number, dim| number * geometry.chunks_along(dim) + at[dim]);
            if number >= geometry.nchunks() {
                return Some(before);
            }
            before += i64::from((0..ndim).all(|dim| at[dim] < geometry.chunks_along(dim)));
            let dim = (0..ndim).rev().find(|&dim| (at[dim] + 1) * chunk(dim) < stop[dim])?;
            at[dim] += 1;
            (dim + 1..ndim).for_each(|behind| at[behind] = start[behind] / chunk(behind));
        }
    }

    fn dimension() -> impl Strategy<Value = (i64, i32, i64, i64)> {
        (1..9i64, 1..9i32).prop_flat_map(|(extent, chunk)| {
            (Just(extent), Just(chunk), 0..extent, 1..14i64)
                .prop_map(|(extent, chunk, start, len)| (extent, chunk, start, start + len))
        })
    }

    proptest! {
        #[test]
        fn count_matches_a_chunk_by_chunk_walk(dims in prop::collection::vec(dimension(), 1..5)) {
            let shape: Vec<i64> = dims.iter().map(|dim| dim.0).collect();
            let chunkshape: Vec<i32> = dims.iter().map(|dim| dim.1).collect();
            let start: Vec<i64> = dims.iter().map(|dim| dim.2).collect();
            let stop: Vec<i64> = dims.iter().map(|dim| dim.3).collect();
            let geometry = Geometry::new(&shape, &chunkshape, &chunkshape, 1).unwrap();
            prop_assert_eq!(
                chunks_before_overrun(&geometry, &start, &stop),
                model(&geometry, &start, &stop)
            );
        }
    }

    #[test]
    fn boxes_far_beyond_the_grid_are_counted_correctly() {
        let geometry = Geometry::new(&[5, 7], &[3, 4], &[3, 4], 1).unwrap();
        assert_eq!(chunks_before_overrun(&geometry, &[0, 0], &[5, 7]), None);
        assert_eq!(chunks_before_overrun(&geometry, &[0, 0], &[3, 16]), None);
        assert_eq!(chunks_before_overrun(&geometry, &[0, 0], &[3, 17]), Some(2));
        assert_eq!(chunks_before_overrun(&geometry, &[0, 0], &[i64::MAX, 1]), Some(2));
        assert_eq!(chunks_before_overrun(&geometry, &[0, 0], &[i64::MAX, i64::MAX]), Some(2));
        let wide = Geometry::new(&[i64::MAX, 1], &[1, 1], &[1, 1], 1).unwrap();
        assert_eq!(chunks_before_overrun(&wide, &[0, 0], &[i64::MAX, 1]), None);
        assert_eq!(chunks_before_overrun(&wide, &[i64::MAX - 2, 0], &[i64::MAX, i64::MAX]), Some(1));
    }
}
