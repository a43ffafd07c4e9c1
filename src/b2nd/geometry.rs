//! The shape of an array with its chunks and blocks, and all values derived from them (`b2nd.md` 2). They are checked
//! once, here, so that the other modules need no checks. This module accesses no item data.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::tiles::{TileIter, TilePart};
use crate::abi::BLOSC2_MAX_BUFFERSIZE;
use crate::chunk::format::MAX_BLOCKSIZE;
use crate::error::{Result, ensure, err};

/// A compatible shape, chunk shape, block shape and typesize, with all values derived from them.
///
/// Arrays of shapes hold 1 behind the last dimension, arrays of strides 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    ndim: usize,
    typesize: i32,
    shape: [i64; MAX_DIM],
    chunkshape: [i32; MAX_DIM],
    blockshape: [i32; MAX_DIM],
    extshape: [i64; MAX_DIM],
    extchunkshape: [i64; MAX_DIM],
    nitems: i64,
    extnitems: i64,
    chunknitems: i32,
    extchunknitems: i64,
    blocknitems: i32,
    strides: Strides,
}

/// The strides of `b2nd.md` 2.2, in items or in blocks. For an array without items some are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Strides {
    /// Of the shape, in items.
    pub item_array: [i64; MAX_DIM],
    /// Of the chunk shape, in items.
    pub item_chunk: [i64; MAX_DIM],
    /// Of the padded chunk shape, in items.
    pub item_extchunk: [i64; MAX_DIM],
    /// Of the block shape, in items.
    pub item_block: [i64; MAX_DIM],
    /// Of the blocks inside a padded chunk, in blocks.
    pub block_chunk: [i64; MAX_DIM],
    /// The `chunk_array_strides` of the public struct: a product without a useful meaning.
    pub chunk_array: [i64; MAX_DIM],
}

/// Returns the size in bytes of a block of `blockshape` items.
pub(crate) fn block_nbytes(blockshape: &[i32], typesize: i32) -> Result<i32> {
    let nitems = blockshape.iter().try_fold(1i32, |items, &extent| items.checked_mul(extent));
    let nbytes = nitems.and_then(|items| items.checked_mul(typesize)).filter(|_| typesize >= 0);
    nbytes
        .ok_or_else(|| err!(InvalidParam, "a block of {blockshape:?} items of {typesize} bytes exceeds 2 GB"))
}

/// Checks a shape with its chunk shape and block shape, which have the same length (`b2nd.md` 2.1).
pub(crate) fn check_shapes(shape: &[i64], chunkshape: &[i32], blockshape: &[i32]) -> Result<()> {
    if shape.len() > MAX_DIM || shape.len() != chunkshape.len() || shape.len() != blockshape.len() {
        let lens = (shape.len(), chunkshape.len(), blockshape.len());
        return Err(err!(
            InvalidParam,
            "shape, chunk shape and block shape have {lens:?} dimensions, expected equal numbers of at most {MAX_DIM}"
        ));
    }
    for (dim, ((&extent, &chunk), &block)) in shape.iter().zip(chunkshape).zip(blockshape).enumerate() {
        ensure!(
            extent >= 0 && chunk >= 0 && block >= 0 && (block != 0 || chunk == 0),
            InvalidParam,
            "dimension {dim} has extent {extent}, chunk extent {chunk} and block extent {block}, expected no \
             negative extent, and no block extent of 0 in a larger chunk extent",
        );
    }
    Ok(())
}

impl Geometry {
    /// Returns the geometry of an array that is to be made.
    pub(crate) fn new(
        shape: &[i64],
        chunkshape: &[i32],
        blockshape: &[i32],
        typesize: i32,
    ) -> Result<Geometry> {
        let geometry = Geometry::derive(shape, chunkshape, blockshape, typesize)?;
        ensure!(
            geometry.nitems == 0 || !chunkshape.contains(&0),
            InvalidParam,
            "chunk shape {chunkshape:?} for {} items, expected extents of at least 1",
            geometry.nitems,
        );
        ensure!(typesize > 0, InvalidParam, "`typesize` is {typesize}, expected at least 1");
        let nbytes = geometry.padded_chunk_bytes()?;
        ensure!(
            nbytes <= i64::from(BLOSC2_MAX_BUFFERSIZE),
            MaxBufsizeExceeded,
            "a padded chunk has {nbytes} bytes, expected at most {BLOSC2_MAX_BUFFERSIZE}: choose a smaller chunk shape",
        );
        Ok(geometry)
    }

    /// Returns the geometry of a stored array (`b2nd.md` 6.10). The typesize is that of the super-chunk; the size of
    /// chunks is checked when they are used.
    pub(crate) fn from_stored(
        shape: &[i64],
        chunkshape: &[i32],
        blockshape: &[i32],
        typesize: i32,
    ) -> Result<Geometry> {
        let mut extents = shape.iter().zip(chunkshape).zip(blockshape);
        ensure!(
            extents.all(|((&extent, &chunk), &block)| extent == 0 || (chunk != 0 && block != 0)),
            InvalidParam,
            "shape {shape:?}, chunk shape {chunkshape:?}, block shape {blockshape:?}, expected chunk and \
             block extents of at least 1 in each dimension with items",
        );
        Geometry::derive(shape, chunkshape, blockshape, typesize)
    }

    /// Returns the geometry with the same chunks and blocks, but another shape.
    pub(crate) fn with_shape(&self, shape: &[i64]) -> Result<Geometry> {
        let (chunkshape, blockshape) = (self.chunkshape(), self.blockshape());
        let geometry = Geometry::derive(shape, chunkshape, blockshape, self.typesize)?;
        ensure!(
            geometry.nitems == 0 || !chunkshape.contains(&0),
            InvalidParam,
            "chunk shape {chunkshape:?} for {} items, expected extents of at least 1",
            geometry.nitems,
        );
        Ok(geometry)
    }

    /// Checks the shapes and derives the other values (`b2nd.md` 2.1 and 2.2).
    fn derive(shape: &[i64], chunkshape: &[i32], blockshape: &[i32], typesize: i32) -> Result<Geometry> {
        check_shapes(shape, chunkshape, blockshape)?;
        let ndim = shape.len();
        let mut geometry = Geometry {
            ndim,
            typesize,
            shape: [1; MAX_DIM],
            chunkshape: [1; MAX_DIM],
            blockshape: [1; MAX_DIM],
            extshape: [1; MAX_DIM],
            extchunkshape: [1; MAX_DIM],
            nitems: 1,
            extnitems: 1,
            chunknitems: 1,
            extchunknitems: 1,
            blocknitems: 1,
            strides: Strides::default(),
        };
        geometry.shape[..ndim].copy_from_slice(shape);
        geometry.chunkshape[..ndim].copy_from_slice(chunkshape);
        geometry.blockshape[..ndim].copy_from_slice(blockshape);
        for dim in 0..ndim {
            geometry.extshape[dim] = round_up_to_multiple(shape[dim], chunkshape[dim].into())?;
            geometry.extchunkshape[dim] = match chunkshape[dim] {
                0 => 0,
                chunk => round_up_to_multiple(chunk.into(), blockshape[dim].into())?,
            };
        }
        geometry.nitems = product(&geometry.shape)?;
        geometry.extnitems = product(&geometry.extshape)?;
        geometry.extchunknitems = product(&geometry.extchunkshape)?;
        geometry.chunknitems = product32(&geometry.chunkshape)?;
        geometry.blocknitems = product32(&geometry.blockshape)?;
        geometry.strides = geometry.derive_strides();
        Ok(geometry)
    }

    /// Returns the strides (the last table of `b2nd.md` 2.2).
    fn derive_strides(&self) -> Strides {
        let mut strides = Strides::default();
        let s = &mut strides;
        let Some(last) = self.ndim.checked_sub(1) else { return strides };
        for all in [
            &mut s.item_array,
            &mut s.item_chunk,
            &mut s.item_extchunk,
            &mut s.item_block,
            &mut s.block_chunk,
            &mut s.chunk_array,
        ] {
            all[last] = 1;
        }
        for dim in (0..last).rev() {
            let inner = dim + 1;
            let (chunk, block) = (i64::from(self.chunkshape[inner]), i64::from(self.blockshape[inner]));
            if self.shape[inner] == 0 || chunk == 0 || block == 0 {
                continue;
            }
            // The products may only wrap for an array without items, whose strides are not used.
            s.item_array[dim] = s.item_array[inner].wrapping_mul(self.shape[inner]);
            s.item_chunk[dim] = s.item_chunk[inner].wrapping_mul(chunk);
            s.item_extchunk[dim] = s.item_extchunk[inner].wrapping_mul(self.extchunkshape[inner]);
            s.item_block[dim] = s.item_block[inner].wrapping_mul(block);
            s.block_chunk[dim] = s.block_chunk[inner].wrapping_mul(self.extchunkshape[inner] / block);
            s.chunk_array[dim] = s.chunk_array[inner].wrapping_mul(self.extshape[inner].wrapping_mul(chunk));
        }
        strides
    }

    /// Number of dimensions, 0 to 16.
    pub(crate) fn ndim(&self) -> usize {
        self.ndim
    }

    /// Size of an item in bytes; at least 1, unless another program has stored the array.
    pub(crate) fn typesize(&self) -> i32 {
        self.typesize
    }

    /// Shape in items.
    pub(crate) fn shape(&self) -> &[i64] {
        &self.shape[..self.ndim]
    }

    /// Shape of a chunk in items.
    pub(crate) fn chunkshape(&self) -> &[i32] {
        &self.chunkshape[..self.ndim]
    }

    /// Shape of a block in items.
    pub(crate) fn blockshape(&self) -> &[i32] {
        &self.blockshape[..self.ndim]
    }

    /// Shape in items, rounded up to whole chunks.
    #[cfg(test)]
    pub(crate) fn extshape(&self) -> &[i64] {
        &self.extshape[..self.ndim]
    }

    /// Shape of a chunk in items, rounded up to whole blocks.
    pub(crate) fn extchunkshape(&self) -> &[i64] {
        &self.extchunkshape[..self.ndim]
    }

    /// Returns the five shapes with 1 behind the last dimension, as in the public struct: shape, chunk shape, block
    /// shape, padded shape, padded chunk shape.
    #[allow(clippy::type_complexity, reason = "five arrays")]
    pub(crate) fn public_shapes(
        &self,
    ) -> (&[i64; MAX_DIM], &[i32; MAX_DIM], &[i32; MAX_DIM], &[i64; MAX_DIM], &[i64; MAX_DIM]) {
        (&self.shape, &self.chunkshape, &self.blockshape, &self.extshape, &self.extchunkshape)
    }

    pub(crate) fn nitems(&self) -> i64 {
        self.nitems
    }

    /// Number of items of the array, rounded up to whole chunks.
    pub(crate) fn extnitems(&self) -> i64 {
        self.extnitems
    }

    pub(crate) fn chunknitems(&self) -> i32 {
        self.chunknitems
    }

    /// Number of items of a chunk, rounded up to whole blocks.
    pub(crate) fn extchunknitems(&self) -> i64 {
        self.extchunknitems
    }

    pub(crate) fn blocknitems(&self) -> i32 {
        self.blocknitems
    }

    pub(crate) fn strides(&self) -> &Strides {
        &self.strides
    }

    pub(crate) fn chunks_along(&self, dim: usize) -> i64 {
        self.extshape[dim].checked_div(self.chunkshape[dim].into()).unwrap_or(0)
    }

    /// Returns the distances in chunk numbers from one chunk to the next along each dimension; 0 behind the last one.
    pub(crate) fn chunk_steps(&self) -> [i64; MAX_DIM] {
        let (mut steps, mut step) = ([0; MAX_DIM], 1i64);
        for dim in (0..self.ndim).rev() {
            steps[dim] = step;
            // The product only wraps for an array without items, which has no chunks.
            step = step.wrapping_mul(self.chunks_along(dim));
        }
        steps
    }

    /// Number of blocks of a chunk along a dimension.
    pub(crate) fn blocks_along(&self, dim: usize) -> i64 {
        self.extchunkshape[dim].checked_div(self.blockshape[dim].into()).unwrap_or(0)
    }

    /// Number of chunks; 0 without items.
    pub(crate) fn nchunks(&self) -> i64 {
        match self.nitems {
            0 => 0,
            _ => (0..self.ndim).map(|dim| self.chunks_along(dim)).product(),
        }
    }

    /// Number of blocks of a chunk; 0 if a chunk has no items.
    #[cfg(test)]
    pub(crate) fn blocks_per_chunk(&self) -> i64 {
        match self.extchunknitems {
            0 => 0,
            _ => (0..self.ndim).map(|dim| self.blocks_along(dim)).product(),
        }
    }

    /// Returns the size of the whole array in bytes.
    ///
    /// # Errors
    /// `InvalidParam` when the size does not fit 63 bits, or the typesize is negative.
    pub(crate) fn nbytes(&self) -> Result<i64> {
        self.bytes(self.nitems)
    }

    /// Returns the size of a block in bytes.
    pub(crate) fn block_nbytes(&self) -> Result<i32> {
        let nbytes = self.bytes(self.blocknitems.into())?;
        let size = i32::try_from(nbytes).ok().filter(|&size| size <= MAX_BLOCKSIZE);
        size.ok_or_else(|| err!(InvalidParam, "a block has {nbytes} bytes, expected at most {MAX_BLOCKSIZE}"))
    }

    /// Returns the size of a chunk in bytes, including padding. For an array made by [`new`](Self::new) it is at
    /// most 2 147 483 615.
    pub(crate) fn chunk_nbytes(&self) -> Result<i32> {
        let nbytes = self.padded_chunk_bytes()?;
        i32::try_from(nbytes).map_err(|_| {
            err!(InvalidParam, "a padded chunk has {nbytes} bytes, expected at most {}", i32::MAX)
        })
    }

    fn padded_chunk_bytes(&self) -> Result<i64> {
        self.bytes(self.extchunknitems)
    }

    fn bytes(&self, nitems: i64) -> Result<i64> {
        let typesize = i64::from(self.typesize);
        nitems.checked_mul(typesize).filter(|_| typesize >= 0).ok_or_else(|| {
            err!(InvalidParam, "{nitems} items of {typesize} bytes, expected 0 to {} bytes", i64::MAX)
        })
    }

    /// Returns the chunks that the box `start..stop` touches, in ascending order (`b2nd.md` 6.8): in each dimension
    /// those that begin before `stop`, and for which the smaller of the chunk's end and the array's end is behind
    /// `start`. An empty extent inside a chunk touches it, with a part of no items. Items outside the shape belong to
    /// no part.
    ///
    /// `start` and `stop` have at least one number per dimension; further numbers are ignored.
    pub(crate) fn chunks_of_box(&self, start: &[i64], stop: &[i64]) -> TileIter {
        if self.nitems == 0 {
            return TileIter::empty();
        }
        let mut grid = [1; MAX_DIM];
        let mut tile = [1; MAX_DIM];
        for dim in 0..self.ndim {
            grid[dim] = self.chunks_along(dim);
            tile[dim] = i64::from(self.chunkshape[dim]);
        }
        TileIter::new(self.ndim, &tile, &grid, &self.shape, start, stop, &[0; MAX_DIM])
    }

    /// Returns the blocks of a chunk that `part` touches, in ascending order. The positions `start_in_box` of their
    /// parts are relative to the start of the box, like that of `part`.
    pub(crate) fn blocks_of_part(&self, part: &TilePart) -> TileIter {
        if self.extchunknitems == 0 {
            return TileIter::empty();
        }
        let mut stop = [0; MAX_DIM];
        let mut grid = [1; MAX_DIM];
        let mut tile = [1; MAX_DIM];
        for dim in 0..self.ndim {
            stop[dim] = part.start[dim].saturating_add(part.shape[dim]);
            grid[dim] = self.blocks_along(dim);
            tile[dim] = i64::from(self.blockshape[dim]);
        }
        TileIter::new(self.ndim, &tile, &grid, &self.extchunkshape, &part.start, &stop, &part.start_in_box)
    }
}

/// Returns `extent`, rounded up to a multiple of `unit`; 0 for a unit of 0.
fn round_up_to_multiple(extent: i64, unit: i64) -> Result<i64> {
    match extent.checked_rem(unit) {
        None => Ok(0),
        Some(0) => Ok(extent),
        Some(rest) => (extent - rest)
            .checked_add(unit)
            .filter(|_| extent <= i64::MAX - unit)
            .ok_or_else(|| err!(InvalidParam, "extent {extent} overflows if padded to a multiple of {unit}")),
    }
}

/// Returns the product of the extents, multiplied from the left: after a 0, no later extent can overflow it.
fn product(extents: &[i64; MAX_DIM]) -> Result<i64> {
    extents
        .iter()
        .try_fold(1i64, |product, &extent| product.checked_mul(extent))
        .ok_or_else(|| err!(InvalidParam, "the product of {extents:?} exceeds {}", i64::MAX))
}

/// As [`product`], in 32 bits.
fn product32(extents: &[i32; MAX_DIM]) -> Result<i32> {
    extents
        .iter()
        .try_fold(1i32, |product, &extent| product.checked_mul(extent))
        .ok_or_else(|| err!(InvalidParam, "the product of {extents:?} exceeds {}", i32::MAX))
}

#[cfg(test)]
mod tests;
