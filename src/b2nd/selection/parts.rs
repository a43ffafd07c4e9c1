//! The chunks and blocks that a selection touches, and the copies between a block and the buffer.

use super::super::MAX_DIM;
use super::super::slices::SharedDestination;
use super::axis::{Axis, Piece};
use crate::error::{Result, err};
use crate::fallible;
use crate::pipeline::decompress::ByteRanges;
use std::ops::Range;
use std::ptr;

/// A selection, sorted into chunks and blocks.
pub(super) struct SortedSelection {
    pub axes: Vec<Axis>,
    pub typesize: usize,
    pub chunksize: usize,
    pub blocksize: usize,
}

impl SortedSelection {
    fn ndim(&self) -> usize {
        self.axes.len()
    }

    /// Returns the number of touched chunks.
    pub(super) fn nchunks(&self) -> usize {
        self.axes.iter().fold(1, |count: usize, axis| count.saturating_mul(axis.chunks.len()))
    }

    /// Returns the `n`-th touched chunk, in ascending order.
    pub(super) fn chunk(&self, n: usize) -> ChunkSelection<'_> {
        let mut part = ChunkSelection { sorted: self, number: 0, rows: Default::default(), is_whole: true };
        let mut rest = n;
        for (dim, axis) in self.axes.iter().enumerate().rev() {
            let chunk = &axis.chunks[rest % axis.chunks.len()];
            rest /= axis.chunks.len();
            part.rows[dim] = chunk.rows.clone();
            part.number += chunk.nchunk;
            part.is_whole &= chunk.is_whole;
        }
        part
    }

    /// Calls `then` for each touched chunk, in ascending order.
    pub(super) fn for_each_chunk(
        &self,
        mut then: impl FnMut(&ChunkSelection<'_>) -> Result<()>,
    ) -> Result<()> {
        (0..self.nchunks()).try_for_each(|n| then(&self.chunk(n)))
    }
}

/// Positions in nested loops, the last dimension innermost.
struct MultiIndex<'a> {
    counts: &'a [usize],
    position: [usize; MAX_DIM],
    is_started: bool,
}

impl<'a> MultiIndex<'a> {
    fn new(counts: &'a [usize]) -> Self {
        MultiIndex { counts, position: [0; MAX_DIM], is_started: false }
    }

    /// Returns the next position. Without loops there is one position.
    fn next(&mut self) -> Option<&[usize; MAX_DIM]> {
        if !self.is_started {
            self.is_started = true;
            return (!self.counts.contains(&0)).then_some(&self.position);
        }
        for dim in (0..self.counts.len()).rev() {
            self.position[dim] += 1;
            if self.position[dim] < self.counts[dim] {
                return Some(&self.position);
            }
            self.position[dim] = 0;
        }
        None
    }
}

/// The selected items of a chunk.
pub(super) struct ChunkSelection<'a> {
    sorted: &'a SortedSelection,
    pub number: i64,
    /// For each dimension, the range in `Axis::rows` of the blocks in the chunk.
    rows: [Range<usize>; MAX_DIM],
    /// Whether every byte of the chunk is selected.
    pub is_whole: bool,
}

impl<'a> ChunkSelection<'a> {
    /// Returns the `n`-th touched block, in ascending order.
    pub(super) fn block(&self, n: usize) -> BlockPart<'a> {
        let axes = &self.sorted.axes;
        let mut part = BlockPart {
            number: 0,
            pieces: [&[]; MAX_DIM],
            ndim: axes.len(),
            block_end: self.sorted.typesize,
            buffer_end: self.sorted.typesize,
        };
        let mut rest = n;
        for (dim, axis) in axes.iter().enumerate().rev() {
            let rows = &axis.rows[self.rows[dim].clone()];
            let row = &rows[rest % rows.len()];
            rest /= rows.len();
            part.number += row.nblock;
            part.pieces[dim] = &axis.pieces[row.pieces.clone()];
            part.block_end += row.block_reach;
            part.buffer_end += row.buffer_reach;
        }
        part
    }

    /// Returns the number of touched blocks.
    fn len(&self) -> usize {
        self.rows[..self.sorted.ndim()].iter().map(Range::len).product()
    }

    pub(super) fn block_numbers(&self) -> Result<Vec<usize>> {
        fallible::collect((0..self.len()).map(|n| self.block(n).number))
    }
}

/// The selected items of a block.
pub(super) struct BlockPart<'a> {
    number: usize,
    pub pieces: [&'a [Piece]; MAX_DIM],
    pub ndim: usize,
    /// End of the last item in the block and in the buffer, in bytes.
    pub block_end: usize,
    buffer_end: usize,
}

impl BlockPart<'_> {
    /// Calls `then` with the offsets in block and buffer, and the length, of each run of items that is contiguous in both.
    #[inline(always)]
    fn for_each_piece(&self, mut then: impl FnMut(usize, usize, usize)) {
        let Some(last) = self.ndim.checked_sub(1) else { return };
        let mut counts = [1; MAX_DIM];
        for (count, pieces) in counts.iter_mut().zip(&self.pieces[..last]) {
            *count = pieces.len();
        }
        let mut index = MultiIndex::new(&counts[..last]);
        while let Some(position) = index.next() {
            let (mut in_block, mut in_buffer) = (0, 0);
            for (pieces, &n) in self.pieces[..last].iter().zip(position) {
                in_block += pieces[n].in_block;
                in_buffer += pieces[n].in_buffer;
            }
            for piece in self.pieces[last] {
                then(in_block + piece.in_block, in_buffer + piece.in_buffer, piece.len);
            }
        }
    }

    fn check_bounds(&self, block_len: usize, buffer_len: usize) -> Result<()> {
        if self.block_end > block_len || self.buffer_end > buffer_len {
            let ends = (self.block_end, self.buffer_end);
            return Err(err!(
                Failure,
                "items end at bytes {ends:?} of block and buffer, expected at most {block_len} and {buffer_len}"
            ));
        }
        Ok(())
    }

    /// Copies the items from the block to the buffer.
    ///
    /// # Safety
    /// No other code uses the bytes of these items in the target during the call.
    pub(super) unsafe fn gather(&self, block: &[u8], target: &SharedDestination<'_>) -> Result<()> {
        self.check_bounds(block.len(), target.len())?;
        self.for_each_piece(|in_block, in_buffer, len| {
            // SAFETY: all pieces end before the ends of block and target (`check_bounds`), and by the contract no other
            // code uses these bytes of the target.
            unsafe { move_piece(block.as_ptr().add(in_block), target.start().add(in_buffer), len) }
        });
        Ok(())
    }

    /// Fills the items in the buffer with zeros.
    ///
    /// # Safety
    /// As [`gather`](Self::gather).
    pub(super) unsafe fn write_zeros(&self, target: &SharedDestination<'_>) -> Result<()> {
        self.check_bounds(usize::MAX, target.len())?;
        self.for_each_piece(|_, in_buffer, len| {
            // SAFETY: all pieces end before the end of the target (`check_bounds`), and by the contract no other code
            // uses these bytes of it.
            unsafe { target.start().add(in_buffer).write_bytes(0, len) }
        });
        Ok(())
    }

    /// Copies the items from the buffer to the block.
    pub(super) fn scatter(&self, src: &[u8], block: &mut [u8]) -> Result<()> {
        self.check_bounds(block.len(), src.len())?;
        self.for_each_piece(|in_block, in_buffer, len| {
            // SAFETY: all pieces end before the ends of block and buffer (`check_bounds`); the block is borrowed mutably.
            unsafe { move_piece(src.as_ptr().add(in_buffer), block.as_mut_ptr().add(in_block), len) }
        });
        Ok(())
    }
}

impl ByteRanges for BlockPart<'_> {
    fn count_and_nbytes(&self) -> (usize, usize) {
        let Some((last, others)) = self.pieces[..self.ndim].split_last() else { return (0, 0) };
        let times: usize = others.iter().map(|pieces| pieces.len()).product();
        let nbytes: usize = last.iter().map(|piece| piece.len).sum();
        (times.saturating_mul(last.len()), times.saturating_mul(nbytes))
    }

    fn for_each(&self, then: &mut dyn FnMut(Range<usize>)) {
        self.for_each_piece(|start, _, len| then(start..start + len));
    }
}

/// Copies a piece; common item sizes without a call of `memcpy`.
///
/// # Safety
/// `len` bytes are readable at `from` and writable at `to`, and the two do not overlap.
#[inline(always)]
unsafe fn move_piece(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller upholds the same contract.
    unsafe {
        match len {
            1 => to.write(from.read()),
            2 => to.cast::<[u8; 2]>().write(from.cast::<[u8; 2]>().read()),
            4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
            8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
            len => ptr::copy_nonoverlapping(from, to, len),
        }
    }
}
