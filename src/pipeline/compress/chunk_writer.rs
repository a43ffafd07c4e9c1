//! Writes encoded blocks into the chunk, in order, from one thread or several.
//!
//! The blocks lie in ascending order regardless of the thread that encodes them, so that the chunk's bytes do not
//! depend on the number of threads. A block that is encoded before its predecessors is copied and kept until its turn.

use super::super::shared_output::SharedOutput;
use crate::chunk::write_i32;
use crate::error::{Result, err};
use crate::fallible;
use crate::filter::copy::copy;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The progress of writing the chunk.
struct WriterState {
    /// Index of the next block to write.
    next: usize,
    /// Offset of that block in the chunk, in bytes.
    pos: usize,
    /// Blocks that were encoded before their predecessors.
    early_blocks: BinaryHeap<Reverse<(usize, Vec<u8>)>>,
    /// Buffers of blocks that have been written, for reuse.
    spare_buffers: Vec<Vec<u8>>,
    /// Whether a block did not fit.
    full: bool,
}

/// The chunk that several workers write blocks into.
pub(super) struct ChunkWriter<'a> {
    out: SharedOutput<'a>,
    header_len: usize,
    /// Offset in bytes of the first block that is written.
    first_block_offset: usize,
    state: Mutex<WriterState>,
}

impl<'a> ChunkWriter<'a> {
    /// Returns a writer of a chunk in `out`. Its block starts begin at offset `header_len`. The blocks before number
    /// `next` are in the chunk; that block begins at offset `first_block_offset`.
    pub(super) fn new(out: &'a mut [u8], header_len: usize, next: usize, first_block_offset: usize) -> Self {
        let state = WriterState {
            next,
            pos: first_block_offset,
            early_blocks: BinaryHeap::new(),
            spare_buffers: Vec::new(),
            full: false,
        };
        ChunkWriter {
            out: SharedOutput::new(out.into()),
            header_len,
            first_block_offset,
            state: Mutex::new(state),
        }
    }

    /// Returns whether a block did not fit, so that encoding more blocks is useless.
    pub(super) fn is_full(&self) -> bool {
        self.lock_state().full
    }

    pub(super) fn write_block(&self, nblock: usize, bytes: &[u8]) -> Result<()> {
        let mut state = self.lock_state();
        if state.full {
            return Ok(());
        }
        if nblock != state.next {
            let mut waiting = state.spare_buffers.pop().unwrap_or_default();
            waiting.clear();
            fallible::extend(&mut waiting, bytes)?;
            if state.early_blocks.try_reserve(1).is_err() {
                return Err(err!(MemoryAlloc, "a list of {} blocks", state.early_blocks.len() + 1));
            }
            state.early_blocks.push(Reverse((nblock, waiting)));
            return Ok(());
        }
        let Some(range) = self.reserve_block(&mut state, bytes.len()) else { return Ok(()) };
        // Early blocks that follow this one are copied under the lock: they are small, and their offset is now
        // determined.
        while state.early_blocks.peek().is_some_and(|first| first.0.0 == state.next)
            && let Some(Reverse((_, waiting))) = state.early_blocks.pop()
        {
            let Some(range) = self.reserve_block(&mut state, waiting.len()) else { return Ok(()) };
            // SAFETY: `reserve_block` returns each range once.
            copy(&waiting, unsafe { self.out.write_range(range) });
            // Without memory for the list, the buffer is freed.
            let _ = fallible::push(&mut state.spare_buffers, waiting);
        }
        drop(state);
        // SAFETY: `reserve_block` returns each range once.
        copy(bytes, unsafe { self.out.write_range(range) });
        Ok(())
    }

    /// Reserves the range of the next block, of `len` bytes, and writes its block start. Returns `None` if it does not
    /// fit.
    fn reserve_block(&self, state: &mut WriterState, len: usize) -> Option<Range<usize>> {
        let range = state.pos..state.pos + len;
        if range.end > self.out.len() {
            state.full = true;
            return None;
        }
        let start = self.header_len + 4 * state.next;
        assert!(
            start + 4 <= self.first_block_offset,
            "the block start at {start} is not before the first block at {}",
            self.first_block_offset
        );
        // SAFETY: the block starts lie before every block, and each is written once, under the lock of the state.
        write_i32(unsafe { self.out.write_range(start..start + 4) }, 0, range.start as i32);
        state.next += 1;
        state.pos = range.end;
        Some(range)
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the length of the chunk in bytes, or `None` if a block did not fit.
    pub(super) fn finish(self) -> Option<usize> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (!state.full).then_some(state.pos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_written_in_any_order_give_the_same_chunk() {
        let blocks: Vec<Vec<u8>> = (0..6).map(|n| vec![n as u8 + 1; n + 1]).collect();
        let assemble = |order: &[usize], len: usize| {
            let mut out = vec![0; len];
            let writer = ChunkWriter::new(&mut out, 4, 0, 28);
            for &n in order {
                writer.write_block(n, &blocks[n]).unwrap();
            }
            writer.finish().map(|len| out[..len].to_vec())
        };
        let wanted = assemble(&[0, 1, 2, 3, 4, 5], 49).unwrap();
        assert_eq!(wanted.len(), 49);
        assert_eq!(wanted[4..8], 28i32.to_le_bytes());
        assert_eq!(wanted[24..28], 43i32.to_le_bytes());
        for order in [[5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4], [0, 5, 1, 4, 2, 3]] {
            assert_eq!(assemble(&order, 49).as_ref(), Some(&wanted));
            assert_eq!(assemble(&order, 48), None);
        }
    }
}
