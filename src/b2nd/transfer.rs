//! A box of items and the buffer from or to which they are copied: the checks before a transfer, and the layout of the
//! items (`b2nd.md` 6.4). This module accesses no item data.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::boxes::BoxLayout;
use super::geometry::Geometry;
use super::overrun::chunks_before_overrun;
use super::tiles::TileIter;
use crate::error::{Result, ensure, err};

/// A box of an array, and the buffer from or to which its items are copied.
pub(super) struct Transfer<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) start: &'a [i64],
    pub(super) stop: &'a [i64],
    /// Strides of the buffer's shape, in items.
    pub(super) strides: [i64; MAX_DIM],
    /// Chunks that are transferred before the call fails, for a box that reaches too far beyond the grid of chunks.
    overrun: Option<i64>,
}

impl<'a> Transfer<'a> {
    /// Checks a box and its buffer, in the order of the reference implementation. Returns `None` for a box without
    /// items of the array: it is empty, or begins behind the end of the shape.
    pub(super) fn new(
        geometry: &'a Geometry,
        start: &'a [i64],
        stop: &'a [i64],
        buffershape: &[i64],
        len: usize,
    ) -> Result<Option<Transfer<'a>>> {
        if geometry.nitems() == 0 {
            return Ok(None);
        }
        for dim in 0..geometry.ndim() {
            let extent = stop[dim].checked_sub(start[dim]);
            ensure!(
                extent.is_some_and(|extent| extent <= buffershape[dim]),
                InvalidParam,
                "`start` {start:?} to `stop` {stop:?}, expected extents of at most `buffershape` {buffershape:?}",
            );
        }
        let is_empty = start.iter().zip(stop).any(|(start, stop)| stop <= start);
        geometry.chunk_nbytes()?;
        if is_empty {
            return Ok(None);
        }
        let mut strides = [1i64; MAX_DIM];
        for dim in (1..geometry.ndim()).rev() {
            strides[dim - 1] = strides[dim].saturating_mul(buffershape[dim]);
        }
        // The last item of the box has to lie in the buffer.
        let mut last = 1i64;
        for dim in 0..geometry.ndim() {
            let items = (stop[dim] - start[dim] - 1).checked_mul(strides[dim]);
            last = items.and_then(|items| last.checked_add(items)).unwrap_or(i64::MAX);
        }
        let needed = last.checked_mul(i64::from(geometry.typesize()));
        ensure!(
            needed.and_then(|needed| usize::try_from(needed).ok()).is_some_and(|needed| needed <= len),
            InvalidParam,
            "the buffer has {len} bytes, too few for `start` {start:?} to `stop` {stop:?}",
        );
        if start.iter().zip(geometry.shape()).any(|(start, extent)| start >= extent) {
            return Ok(None);
        }
        if start.iter().any(|&start| start < 0) {
            return Err(err!(Failure, "`start` is {start:?}, expected no negative coordinate"));
        }
        let overrun = chunks_before_overrun(geometry, start, stop);
        Ok(Some(Transfer { geometry, start, stop, strides, overrun }))
    }

    pub(super) fn ndim(&self) -> usize {
        self.geometry.ndim()
    }

    pub(super) fn buffer_layout(&self, at: &[i64; MAX_DIM]) -> Result<BoxLayout> {
        BoxLayout::with_strides(&self.strides[..self.ndim()], &at[..self.ndim()])
    }

    pub(super) fn block_layout(&self, start: &[i64; MAX_DIM]) -> Result<BoxLayout> {
        let strides = &self.geometry.strides().item_block;
        BoxLayout::with_strides(&strides[..self.ndim()], &start[..self.ndim()])
    }

    /// Returns the layout of a chunk whose items lie in C order, from `start` on.
    pub(super) fn chunk_layout(&self, start: &[i64; MAX_DIM]) -> Result<BoxLayout> {
        let strides = &self.geometry.strides().item_chunk;
        BoxLayout::with_strides(&strides[..self.ndim()], &start[..self.ndim()])
    }

    /// Returns whether the items of a chunk lie in C order, without padding.
    pub(super) fn is_chunk_c_ordered(&self) -> bool {
        let (chunk, block) = (self.geometry.chunkshape(), self.geometry.blockshape());
        let mut inner = chunk.iter().zip(block).skip_while(|&(_, &block)| block == 1);
        let first = inner.next();
        first.is_none_or(|(&chunk, &block)| chunk % block == 0) && inner.all(|(chunk, block)| chunk == block)
    }

    /// Returns the number of chunks to transfer, of `chunks`, all chunks that the box touches.
    pub(super) fn chunks_to_transfer(&self, chunks: &TileIter) -> i64 {
        self.overrun.map_or(chunks.len(), |overrun| overrun.min(chunks.len()))
    }

    /// Returns the error for a box that reaches too far, after its chunks are transferred.
    pub(super) fn check_overrun(&self) -> Result<()> {
        match self.overrun {
            None => Ok(()),
            Some(_) => {
                Err(err!(Failure, "`stop` is {:?}, too far beyond the chunks of the array", self.stop))
            }
        }
    }

    /// Returns the number of the chunk if the box is exactly one chunk with items in C order.
    pub(super) fn whole_chunk(&self) -> Option<i64> {
        let mut number = 0;
        for (dim, &chunk) in self.geometry.chunkshape().iter().enumerate() {
            let chunk = i64::from(chunk);
            if self.start[dim] % chunk != 0 || self.stop[dim] - self.start[dim] != chunk {
                return None;
            }
            number = number * self.geometry.chunks_along(dim) + self.start[dim] / chunk;
        }
        self.is_chunk_c_ordered().then_some(number)
    }

    /// Returns the extents of a chunk, clipped to the shape of the array.
    pub(super) fn extents_of_chunk(&self, number: i64) -> [i64; MAX_DIM] {
        let mut extents = [1; MAX_DIM];
        let mut rest = number;
        for dim in (0..self.ndim()).rev() {
            let along = self.geometry.chunks_along(dim);
            let chunk = i64::from(self.geometry.chunkshape()[dim]);
            let begin = rest % along * chunk;
            rest /= along;
            extents[dim] = chunk.min(self.geometry.shape()[dim] - begin);
        }
        extents
    }

    pub(super) fn chunkshape(&self) -> [i64; MAX_DIM] {
        let mut shape = [1; MAX_DIM];
        for (extent, &chunk) in shape.iter_mut().zip(self.geometry.chunkshape()) {
            *extent = i64::from(chunk);
        }
        shape
    }

    /// Returns the sizes of a chunk and of a block, in bytes.
    pub(super) fn chunk_and_block_nbytes(&self) -> Result<(usize, usize)> {
        let chunk = self.geometry.chunk_nbytes()?;
        let block = self.geometry.block_nbytes()?;
        Ok((usize::try_from(chunk).unwrap_or(0), usize::try_from(block).unwrap_or(0)))
    }
}

/// Returns, for a box of one item and a buffer of that size, the number of the item's chunk and its offset in the chunk
/// in bytes; `None` for other boxes.
pub(super) fn locate_single_item(
    geometry: &Geometry,
    start: &[i64],
    stop: &[i64],
    buffershape: &[i64],
    len: usize,
) -> Option<(i64, usize)> {
    let typesize = usize::try_from(geometry.typesize()).ok().filter(|&size| size == len && size > 0)?;
    let (mut nchunk, mut nblock, mut item) = (0i64, 0i64, 0i64);
    for (dim, (&at, &extent)) in start.iter().zip(geometry.shape()).enumerate() {
        // `at` is not negative, and an extent with items has chunks and blocks with items.
        if !(0..extent).contains(&at) || stop[dim] != at + 1 || buffershape[dim] != 1 {
            return None;
        }
        let (chunk, block) = (geometry.chunkshape()[dim] as u32, geometry.blockshape()[dim] as u32);
        let along = match u32::try_from(at) {
            // 32-bit divisions are faster than 64-bit ones.
            Ok(at) => (i64::from(at / chunk), at % chunk),
            Err(_) => (at / i64::from(chunk), (at % i64::from(chunk)) as u32),
        };
        nchunk = nchunk * geometry.chunks_along(dim) + along.0;
        nblock = nblock * geometry.blocks_along(dim) + i64::from(along.1 / block);
        item = item * i64::from(block) + i64::from(along.1 % block);
    }
    geometry.chunk_nbytes().ok()?;
    let at = nblock.checked_mul(i64::from(geometry.blocknitems()))?.checked_add(item)?;
    Some((nchunk, usize::try_from(at).ok()?.checked_mul(typesize)?))
}

/// Returns whether every byte of the buffer belongs to an item of the array.
pub(super) fn is_buffer_covered(transfer: &Transfer<'_>, buffershape: &[i64], len: usize) -> bool {
    let geometry = transfer.geometry;
    let mut items = i64::from(geometry.typesize());
    for (dim, &room) in buffershape.iter().enumerate() {
        let extent = transfer.stop[dim] - transfer.start[dim];
        if extent != room || transfer.stop[dim] > geometry.shape()[dim] {
            return false;
        }
        items = items.saturating_mul(extent);
    }
    i64::try_from(len).is_ok_and(|len| len == items)
}
