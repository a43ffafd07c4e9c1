//! The tiles of a grid that a box touches: chunks of an array, or blocks of a chunk. The iterator increments positions,
//! so that it needs no division per tile. This module accesses no item data.

#![forbid(unsafe_code)]

use super::MAX_DIM;

/// The intersection of a box and a tile. Positions are in items; entries behind the last dimension are meaningless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TilePart {
    /// Number of the tile in its grid, in C order.
    pub number: i64,
    /// Start of the part inside the tile.
    pub start: [i64; MAX_DIM],
    /// Extents of the part; 0 where the extent of the box is 0.
    pub shape: [i64; MAX_DIM],
    /// Start of the part inside the box.
    pub start_in_box: [i64; MAX_DIM],
}

/// The tiles that a box touches, in ascending order, each with its part of the box.
#[derive(Clone, Debug)]
pub(crate) struct TileIter {
    ndim: usize,
    tile: [i64; MAX_DIM],
    /// Distance in tile numbers from one tile to the next along each dimension.
    strides: [i64; MAX_DIM],
    /// First touched tile along each dimension, and number of touched tiles.
    first: [i64; MAX_DIM],
    count: [i64; MAX_DIM],
    /// The box, clipped to the limit.
    start: [i64; MAX_DIM],
    stop: [i64; MAX_DIM],
    /// Start of this box inside the larger box to which [`TilePart::start_in_box`] refers.
    base: [i64; MAX_DIM],
    /// Number of tiles, and of those that are not returned yet.
    len: i64,
    remaining: i64,
    position: [i64; MAX_DIM],
    part: TilePart,
    /// Whether `part` was returned, so that the next call has to compute the next part.
    is_part_returned: bool,
}

impl TileIter {
    pub(super) fn empty() -> TileIter {
        TileIter {
            ndim: 0,
            tile: [1; MAX_DIM],
            strides: [0; MAX_DIM],
            first: [0; MAX_DIM],
            count: [0; MAX_DIM],
            start: [0; MAX_DIM],
            stop: [0; MAX_DIM],
            base: [0; MAX_DIM],
            len: 0,
            remaining: 0,
            position: [0; MAX_DIM],
            part: TilePart {
                number: 0,
                start: [0; MAX_DIM],
                shape: [1; MAX_DIM],
                start_in_box: [0; MAX_DIM],
            },
            is_part_returned: false,
        }
    }

    /// Returns the tiles of `grid` that `start..stop`, clipped to `limit`, touches: in each dimension those that begin
    /// before `stop` and end behind `start`. The number of tiles in the grid must not overflow, and tiles must have
    /// items.
    pub(super) fn new(
        ndim: usize,
        tile: &[i64; MAX_DIM],
        grid: &[i64; MAX_DIM],
        limit: &[i64; MAX_DIM],
        start: &[i64],
        stop: &[i64],
        base: &[i64; MAX_DIM],
    ) -> TileIter {
        let mut tiles = TileIter { ndim, tile: *tile, base: *base, len: 1, ..TileIter::empty() };
        if start.len() < ndim || stop.len() < ndim {
            return TileIter::empty();
        }
        let mut stride = 1i64;
        for dim in (0..ndim).rev() {
            let (from, to) = (start[dim], stop[dim].min(limit[dim]));
            if from >= limit[dim] || to <= 0 || tile[dim] <= 0 {
                return TileIter::empty();
            }
            let first = from.max(0) / tile[dim];
            // One past the tile of item `to - 1`: the last item of the box, or the one before `start` if the box has no
            // items.
            let end = ((to - 1) / tile[dim] + 1).min(grid[dim]);
            if end <= first {
                return TileIter::empty();
            }
            tiles.strides[dim] = stride;
            tiles.first[dim] = first;
            tiles.count[dim] = end - first;
            tiles.start[dim] = from;
            tiles.stop[dim] = to;
            // At most the number of tiles in the grid, which does not overflow.
            tiles.len = tiles.len.saturating_mul(end - first);
            stride = stride.saturating_mul(grid[dim]);
        }
        tiles.seek(0);
        tiles
    }

    /// Returns the number of all tiles, returned or not.
    pub(crate) fn len(&self) -> i64 {
        self.len
    }

    /// Makes the `index`-th tile, counted from 0, the next one.
    pub(crate) fn seek(&mut self, index: i64) {
        let index = index.clamp(0, self.len);
        self.remaining = self.len - index;
        self.is_part_returned = false;
        if self.remaining == 0 {
            return;
        }
        let mut rest = index;
        for dim in (0..self.ndim).rev() {
            self.position[dim] = rest % self.count[dim];
            rest /= self.count[dim];
            self.compute_part(dim);
        }
        self.part.number =
            (0..self.ndim).map(|dim| (self.first[dim] + self.position[dim]) * self.strides[dim]).sum();
    }

    /// Computes the part along one dimension.
    fn compute_part(&mut self, dim: usize) {
        let begin = (self.first[dim] + self.position[dim]) * self.tile[dim];
        let from = self.start[dim].max(begin);
        let to = self.stop[dim].min(begin.saturating_add(self.tile[dim]));
        self.part.start[dim] = from - begin;
        self.part.shape[dim] = to.saturating_sub(from).max(0);
        self.part.start_in_box[dim] = from.saturating_sub(self.start[dim]).saturating_add(self.base[dim]);
    }

    /// Returns the next tile by reference, for loops in which a copy of the struct would cost time.
    pub(crate) fn next_part(&mut self) -> Option<&TilePart> {
        if self.remaining == 0 {
            return None;
        }
        if self.is_part_returned {
            self.step();
        }
        self.is_part_returned = true;
        self.remaining -= 1;
        Some(&self.part)
    }

    /// Advances to the next tile, which must exist.
    fn step(&mut self) {
        for dim in (0..self.ndim).rev() {
            self.position[dim] += 1;
            self.part.number += self.strides[dim];
            if self.position[dim] < self.count[dim] {
                self.compute_part(dim);
                return;
            }
            self.part.number -= self.strides[dim] * self.count[dim];
            self.position[dim] = 0;
            self.compute_part(dim);
        }
    }
}

impl Iterator for TileIter {
    type Item = TilePart;

    fn next(&mut self) -> Option<TilePart> {
        self.next_part().cloned()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.remaining);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

impl TilePart {
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }
}

#[cfg(test)]
mod tests;
