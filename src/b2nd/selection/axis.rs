//! The list of coordinates of one dimension, sorted into chunks, blocks and pieces.

use super::super::geometry::Geometry;
use crate::error::Result;
use crate::fallible;
use std::ops::Range;

/// Coordinates that are contiguous in block and buffer. The offset of an item is the sum over the dimensions of the
/// offsets of its pieces, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Offset in the block in bytes.
    pub in_block: usize,
    /// Offset in the buffer in bytes.
    pub in_buffer: usize,
    /// Length in bytes: that of one item, or of several items in the last dimension.
    pub len: usize,
}

/// The pieces along one dimension that are in the same blocks.
#[derive(Clone, Debug)]
pub(super) struct AxisBlock {
    /// The summand of this dimension in the number of a block in its chunk.
    pub nblock: usize,
    pub pieces: Range<usize>,
    /// The largest `in_block` and `in_buffer`, plus the bytes of a piece behind its first item.
    pub block_reach: usize,
    pub buffer_reach: usize,
}

/// The blocks along one dimension that are in the same chunks.
#[derive(Clone, Debug)]
pub(super) struct AxisChunk {
    /// The summand of this dimension in the number of a chunk.
    pub nchunk: i64,
    /// Range in `Axis::rows`: the blocks in these chunks.
    pub rows: Range<usize>,
    /// Whether all coordinates of the chunks are selected, and the chunks have no padding.
    pub is_whole: bool,
}

/// A list of coordinates, sorted into chunks and blocks.
#[derive(Debug, Default)]
pub(super) struct Axis {
    pub pieces: Vec<Piece>,
    pub rows: Vec<AxisBlock>,
    pub chunks: Vec<AxisChunk>,
}

/// Treatment of a coordinate that is in a list more than once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicatePolicy {
    /// Each occurrence is read.
    All,
    /// Only the last occurrence is written.
    Last,
}

impl Axis {
    /// Sorts the list of one dimension, whose coordinates are in range. `step` is the distance, in bytes, from one item
    /// of the dimension to the next in the buffer.
    pub(super) fn new(
        geometry: &Geometry,
        dim: usize,
        list: &[i64],
        step: usize,
        chunk_stride: i64,
        duplicates: DuplicatePolicy,
    ) -> Result<Axis> {
        let typesize = usize::try_from(geometry.typesize()).unwrap_or(0);
        let (chunk, block) =
            (i64::from(geometry.chunkshape()[dim]).max(1), i64::from(geometry.blockshape()[dim]).max(1));
        let item_step = geometry.strides().item_block[dim] as usize * typesize;
        let is_last = dim + 1 == geometry.ndim();
        let mut order = fallible::collect(list.iter().copied().zip(0usize..))?;
        order.sort_unstable();
        if duplicates == DuplicatePolicy::Last {
            // Equal coordinates are in the order of the list, so that the last one replaces those before it.
            order.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    *kept = *next;
                }
                is_same
            });
        }
        let mut axis = Axis::default();
        for in_chunk in order.chunk_by(|a, b| a.0 / chunk == b.0 / chunk) {
            let number = in_chunk[0].0 / chunk;
            let first_row = axis.rows.len();
            let mut items = 0;
            for in_block in in_chunk.chunk_by(|a, b| a.0 % chunk / block == b.0 % chunk / block) {
                let first_piece = axis.pieces.len();
                let mut before = None;
                for &(coord, place) in in_block {
                    let follows = before == Some((coord - 1, place.wrapping_sub(1)));
                    if before.is_none_or(|(last, _)| last != coord) {
                        items += 1;
                    }
                    before = Some((coord, place));
                    if is_last
                        && follows
                        && step == typesize
                        && let Some(run) = axis.pieces.last_mut()
                    {
                        run.len += typesize;
                        continue;
                    }
                    let piece = Piece {
                        in_block: (coord % chunk % block) as usize * item_step,
                        in_buffer: place * step,
                        len: typesize,
                    };
                    fallible::push(&mut axis.pieces, piece)?;
                }
                let pieces = first_piece..axis.pieces.len();
                let reach = |place: fn(&Piece) -> usize| {
                    let ends = axis.pieces[pieces.clone()].iter().map(|p| place(p) + (p.len - typesize));
                    ends.max().unwrap_or(0)
                };
                let nblock = in_block[0].0 % chunk / block * geometry.strides().block_chunk[dim];
                let row = AxisBlock {
                    nblock: nblock as usize,
                    block_reach: reach(|p| p.in_block),
                    buffer_reach: reach(|p| p.in_buffer),
                    pieces,
                };
                fallible::push(&mut axis.rows, row)?;
            }
            let is_whole = items == geometry.extchunkshape()[dim];
            let rows = first_row..axis.rows.len();
            fallible::push(&mut axis.chunks, AxisChunk { nchunk: number * chunk_stride, rows, is_whole })?;
        }
        Ok(axis)
    }
}
