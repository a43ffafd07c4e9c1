//! The working memory for blocks: buffers of the [pool](crate::buffers), lent for the length of a call, and the state of codecs,
//! which stays with its thread, with small buffers, so that a call allocates nothing in the steady state.

use crate::buffers;
use crate::codec::Workspace;
use crate::error::Result;
use parking_lot::Mutex;
use std::cell::Cell;

/// Alignment of each buffer in bytes: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// Upper limit, in bytes, for the buffers that stay with the codec state between calls: taking buffers from the pool costs 3 % of
/// the decompression of 4 KiB (`scripts/count-instructions.sh lz4`).
const SMALL: usize = 128 << 10;

/// A buffer of the pool that is taken at its first use.
#[derive(Default)]
pub(crate) struct ScratchBuffer {
    buffer: Option<buffers::Buffer>,
    /// Bytes of the buffer before the first aligned one.
    offset: usize,
    /// Bytes from there on; 0 without a buffer.
    len: usize,
}

impl ScratchBuffer {
    /// The first `len` bytes. Their content is unspecified: zeros, or what an earlier use has left.
    ///
    /// # Errors
    /// `MemoryAlloc` when there is no memory for them.
    #[inline(always)]
    pub(crate) fn get(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len < len {
            self.grow(len)?;
        }
        match &mut self.buffer {
            Some(buffer) => Ok(&mut buffer[self.offset..self.offset + len]),
            None => Ok(&mut []),
        }
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<()> {
        // The shorter one goes back before the longer one is taken.
        *self = ScratchBuffer::default();
        let buffer = buffers::take(len.saturating_add(ALIGNMENT))?;
        let offset = buffer.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        *self = ScratchBuffer { len: buffer.len() - offset, offset, buffer: Some(buffer) };
        Ok(())
    }
}

/// The buffers and the codec state that decoding or encoding one block needs.
#[derive(Default)]
pub(crate) struct BlockScratch {
    /// Streams before their filters are undone; filter output, odd steps; a prefilter's output.
    pub front: ScratchBuffer,
    /// Filter output, even steps.
    pub back: ScratchBuffer,
    /// A stream's codec output where it cannot go straight to its place; the bytes of a lazy block.
    pub stream: ScratchBuffer,
    /// A whole encoded block, or a whole decoded one before its postfilter.
    pub block: ScratchBuffer,
    /// State of the codecs.
    pub workspace: Workspace,
}

/// The working memory of one worker.
#[derive(Default)]
pub(crate) struct Scratch {
    /// For decoding or encoding a block.
    pub coding: BlockScratch,
    /// A whole decoded block of which a consumer takes parts.
    pub decoded: ScratchBuffer,
}

impl Scratch {
    /// Bytes of all buffers.
    #[inline(always)]
    fn len(&self) -> usize {
        let BlockScratch { front, back, stream, block, .. } = &self.coding;
        front.len + back.len + stream.len + block.len + self.decoded.len
    }

    /// Gives the buffers back to the pool.
    #[inline(never)]
    fn give_buffers_back(&mut self) {
        let BlockScratch { front, back, stream, block, .. } = &mut self.coding;
        for buffer in [front, back, stream, block, &mut self.decoded] {
            *buffer = ScratchBuffer::default();
        }
    }
}

/// The working memory that a thread keeps.
struct ThreadState {
    outer: Cell<Option<Box<Scratch>>>,
    /// For a call inside of another: a block is decoded to be part of one that is encoded.
    inner: Cell<Option<Box<Scratch>>>,
    /// Number of calls at work.
    depth: Cell<u32>,
}

thread_local! {
    static STATE: ThreadState =
        const { ThreadState { outer: Cell::new(None), inner: Cell::new(None), depth: Cell::new(0) } };
}

/// Upper limit for the working memories that the process keeps: worker threads that are at work at the same time.
const MAX_SHARED: usize = 64;

/// Working memory of worker threads that are between jobs.
#[allow(clippy::vec_box, reason = "a thread takes the box as it is; the state of the codecs is large")]
static SHARED: Mutex<Vec<Box<Scratch>>> = Mutex::new(Vec::new());

/// Lends working memory to `work`. A nested call (a caller's callback that compresses, a block that is decoded on the way to
/// its encoding) has its own.
#[inline]
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut lent = lend();
    let result = work(&mut lent.scratch);
    lent.give_back();
    result
}

/// As [`with`], without a closure: handing arguments to one costs small blocks time.
#[inline(always)]
pub(crate) fn lend() -> Lent {
    let level = Level::enter();
    Lent { scratch: level.take().unwrap_or_else(shared_or_fresh), level }
}

/// Working memory in use. The thread keeps it only if it is given back; what a panicking callback had in use is freed.
pub(crate) struct Lent {
    /// The memory.
    pub scratch: Box<Scratch>,
    level: Level,
}

impl Lent {
    /// Gives the memory back: small buffers and the codec state to the thread, others to the pool.
    #[inline(always)]
    pub(crate) fn give_back(mut self) {
        if self.scratch.len() > SMALL {
            self.scratch.give_buffers_back();
        }
        self.level.put(self.scratch);
    }
}

#[cold]
fn shared_or_fresh() -> Box<Scratch> {
    // Another thread that has the lock may have been lost by a `fork`.
    SHARED.try_lock().and_then(|mut shared| shared.pop()).unwrap_or_default()
}

/// One call at work on this thread; the next one is nested until this is dropped, also when a callback panics.
struct Level {
    /// Number of calls at work before; `None` on a thread that is ending, which keeps nothing.
    before: Option<u32>,
}

impl Level {
    #[inline(always)]
    fn enter() -> Level {
        Level { before: STATE.try_with(|state| state.depth.replace(state.depth.get() + 1)).ok() }
    }

    /// Takes the memory that the thread keeps for this level.
    #[inline(always)]
    fn take(&self) -> Option<Box<Scratch>> {
        let before = self.before?;
        STATE.try_with(|state| if before == 0 { state.outer.take() } else { state.inner.take() }).ok()?
    }

    /// Keeps memory for this level.
    #[inline(always)]
    fn put(&self, scratch: Box<Scratch>) {
        let Some(before) = self.before else { return };
        let _ = STATE.try_with(|state| {
            let place = if before == 0 { &state.outer } else { &state.inner };
            place.set(Some(scratch));
        });
    }
}

impl Drop for Level {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = STATE.try_with(|state| state.depth.set(before));
        }
    }
}

/// Moves what this thread keeps to the process. Worker threads call it when their part of a job is done.
pub(crate) fn hand_over() {
    let kept = STATE.try_with(|state| [state.outer.take(), state.inner.take()]).unwrap_or_default();
    if let Some(mut shared) = SHARED.try_lock() {
        for scratch in kept.into_iter().flatten() {
            if shared.len() < MAX_SHARED && shared.try_reserve(1).is_ok() {
                shared.push(scratch);
            }
        }
    }
    buffers::hand_over();
}

/// Frees the memory that the process and this thread keep, but for `keep` bytes of idle buffers of each.
pub(crate) fn release(keep: usize) {
    let kept = STATE.try_with(|state| [state.outer.take(), state.inner.take()]);
    let shared = SHARED.try_lock().map(|mut shared| std::mem::take(&mut *shared));
    // Unlocked again.
    drop((kept, shared));
    buffers::release(keep);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_stay() {
        let mut buffer = ScratchBuffer::default();
        for len in [0, 1, 63, 64, 1000, 10] {
            let bytes = buffer.get(len).unwrap();
            assert_eq!(bytes.len(), len);
            assert!(len == 0 || (bytes.as_ptr() as usize).is_multiple_of(ALIGNMENT));
            bytes.fill(1);
        }
        let (long, short) = (buffer.get(1000).unwrap().as_ptr(), buffer.get(10).unwrap().as_ptr());
        assert_eq!(long, short);
        assert!(buffer.get(usize::MAX).is_err());
        assert!(buffer.get(100).is_ok());
    }

    #[test]
    fn nested_use_has_memory_of_its_own() {
        with(|outer| {
            outer.coding.front.get(100).unwrap().fill(7);
            with(|inner| inner.coding.front.get(100).unwrap().fill(8));
            assert!(outer.coding.front.get(100).unwrap().iter().all(|&x| x == 7));
        });
    }

    #[test]
    fn each_level_keeps_its_codec_state() {
        let address = |scratch: &mut Scratch| std::ptr::from_ref(&scratch.coding.workspace).addr();
        let (outer, inner) = with(|scratch| (address(scratch), with(|scratch| address(scratch))));
        assert_ne!(outer, inner);
        assert_eq!(with(|scratch| (address(scratch), with(|scratch| address(scratch)))), (outer, inner));
    }
}
