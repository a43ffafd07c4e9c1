//! Reading items by a list of positions (`b2nd.md` 6.6): positions in the array are converted to positions in the
//! super-chunk, which gathers the items.

use super::array::Array;
use super::geometry::Geometry;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::out_buffer::OutBuffer;

/// The contribution of one dimension to a position.
#[derive(Clone, Copy, Default)]
struct Dimension {
    extent: u64,
    chunk: u64,
    block: u64,
    /// Distances in items from one chunk, block and item along the dimension to the next.
    chunk_step: u64,
    block_step: u64,
    item_step: u64,
}

/// Converts positions in C order to positions in the super-chunk (`b2nd.md` 2.4).
struct PositionConverter {
    nitems: i64,
    /// The last dimension first.
    dims: Vec<Dimension>,
}

impl PositionConverter {
    /// Returns the converter for an array whose chunks have items.
    fn of(geometry: &Geometry) -> PositionConverter {
        let strides = geometry.strides();
        let mut chunk_step = geometry.extchunknitems();
        let mut dims = Vec::with_capacity(geometry.ndim());
        for dim in (0..geometry.ndim()).rev() {
            dims.push(Dimension {
                extent: geometry.shape()[dim] as u64,
                chunk: geometry.chunkshape()[dim] as u64,
                block: geometry.blockshape()[dim] as u64,
                chunk_step: chunk_step as u64,
                block_step: (strides.block_chunk[dim] * i64::from(geometry.blocknitems())) as u64,
                item_step: strides.item_block[dim] as u64,
            });
            // A product that overflows is not used: the positions of all items of the array fit.
            chunk_step = chunk_step.wrapping_mul(geometry.chunks_along(dim));
        }
        PositionConverter { nitems: geometry.nitems(), dims }
    }

    fn schunk_position(&self, coord: i64) -> Result<i64> {
        if !(0..self.nitems).contains(&coord) {
            return Err(err!(InvalidParam, "item {coord}, expected 0 or more and less than {}", self.nitems));
        }
        let mut rest = coord as u64;
        let mut at = 0;
        for dim in &self.dims {
            let along = rest % dim.extent;
            rest /= dim.extent;
            let inside = along % dim.chunk;
            at += along / dim.chunk * dim.chunk_step
                + inside / dim.block * dim.block_step
                + inside % dim.block * dim.item_step;
        }
        Ok(at as i64)
    }
}

impl Array {
    /// Reads the items at the positions `coords`, counted in C order, into `dest`, one after another.
    ///
    /// # Errors
    /// `InvalidParam` for a position out of range, an array without dimensions, or a `dest` that is too short; those of
    /// reading.
    pub(crate) fn get_sparse(&self, coords: &[i64], mut dest: OutBuffer<'_>) -> Result<()> {
        self.read_with_retry(|geometry| self.read_sparse(geometry, coords, dest.reborrow()))
    }

    fn read_sparse(&self, geometry: &Geometry, coords: &[i64], dest: OutBuffer<'_>) -> Result<()> {
        let schunk = self.schunk()?;
        ensure!(geometry.ndim() != 0, InvalidParam, "the array has 0 dimensions, expected at least 1");
        let typesize = usize::try_from(geometry.typesize()).unwrap_or(0);
        ensure!(
            coords.len().checked_mul(typesize).is_some_and(|needed| needed <= dest.len()),
            InvalidParam,
            "the buffer has {} bytes, too few for {} items of {typesize} bytes",
            dest.len(),
            coords.len(),
        );
        // Positions must not overflow.
        geometry.nchunks().checked_mul(geometry.extchunknitems()).ok_or_else(|| {
            err!(
                InvalidParam,
                "{} chunks of {} items, expected less than 2^63 items",
                geometry.nchunks(),
                geometry.extchunknitems()
            )
        })?;
        let converter = PositionConverter::of(geometry);
        let positions = fallible::try_collect(coords.iter().map(|&coord| converter.schunk_position(coord)))?;
        let chunksize = usize::try_from(geometry.chunk_nbytes()?).unwrap_or(0);
        // A damaged super-chunk may have fewer chunks than the array.
        let end = geometry.nchunks().min(schunk.counters().nchunks) * geometry.extchunknitems();
        schunk.get_sparse_of_chunks(&positions, dest, (typesize, chunksize), end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the position by the formula of `b2nd.md` 2.4.
    fn by_formula(geometry: &Geometry, coord: i64) -> i64 {
        let ndim = geometry.ndim();
        let mut at = [0i64; 16];
        let mut rest = coord;
        for dim in (0..ndim).rev() {
            at[dim] = rest % geometry.shape()[dim];
            rest /= geometry.shape()[dim];
        }
        let (mut nchunk, mut nblock, mut item) = (0, 0, 0);
        for (dim, &at) in at[..ndim].iter().enumerate() {
            let chunk = i64::from(geometry.chunkshape()[dim]);
            let block = i64::from(geometry.blockshape()[dim]);
            nchunk = nchunk * geometry.chunks_along(dim) + at / chunk;
            nblock = nblock * geometry.blocks_along(dim) + at % chunk / block;
            item = item * block + at % chunk % block;
        }
        nchunk * geometry.extchunknitems() + nblock * i64::from(geometry.blocknitems()) + item
    }

    #[test]
    fn positions_are_those_of_the_formula() {
        for (shape, chunkshape, blockshape) in [
            (&[5i64, 7][..], &[3, 4][..], &[2, 2][..]),
            (&[3, 4, 5], &[2, 3, 4], &[1, 2, 3]),
            (&[11], &[4], &[3]),
            (&[2, 1, 3, 2], &[3, 2, 2, 1], &[4, 1, 2, 1]),
        ] {
            let geometry = Geometry::new(shape, chunkshape, blockshape, 1).unwrap();
            let converter = PositionConverter::of(&geometry);
            for coord in 0..geometry.nitems() {
                assert_eq!(
                    converter.schunk_position(coord).unwrap(),
                    by_formula(&geometry, coord),
                    "{shape:?} {coord}"
                );
            }
            assert!(converter.schunk_position(-1).is_err());
            assert!(converter.schunk_position(geometry.nitems()).is_err());
        }
    }
}
