//! The working memory for blocks: buffers borrowed from the [pool](crate::buffers) during a call, and the state of
//! codecs, which stays with its thread, together with small buffers, so that a call allocates nothing in the steady
//! state.

use crate::buffers;
use crate::buffers::limits::{
    MAX_BUFFERS_WITH_CODEC_STATE, MAX_CODEC_STATES, MAX_PROCESS_IDLE_AFTER_FREE, MAX_THREAD_IDLE_AFTER_FREE,
};
use crate::codec::Workspace;
use crate::error::Result;
use crate::fallible;
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

/// Alignment of each buffer in bytes: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

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
    /// Returns the first `len` bytes. Their content is unspecified: zeros, or data of an earlier use.
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
        // Returns the short buffer to the pool first, so that no more than one is in use.
        *self = ScratchBuffer::default();
        let buffer = buffers::take_buffer(len.saturating_add(ALIGNMENT))?;
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
    /// A stream's codec output where the codec cannot write it to its destination; the bytes of a lazy block.
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
    pub block_scratch: BlockScratch,
    /// A whole decoded block, of which a consumer reads parts.
    pub decoded_block: ScratchBuffer,
}

impl Scratch {
    /// Returns memory without buffers, for a thread that has used no codec.
    fn new() -> Result<Box<Scratch>> {
        fallible::try_box(Scratch::default())
    }

    /// The sum of the lengths of all buffers, in bytes.
    #[inline(always)]
    fn buffers_len(&self) -> usize {
        let BlockScratch { front, back, stream, block, .. } = &self.block_scratch;
        front.len + back.len + stream.len + block.len + self.decoded_block.len
    }

    #[inline(never)]
    fn return_buffers(&mut self) {
        let BlockScratch { front, back, stream, block, .. } = &mut self.block_scratch;
        for buffer in [front, back, stream, block, &mut self.decoded_block] {
            *buffer = ScratchBuffer::default();
        }
    }
}

/// The working memory that a thread keeps.
struct ThreadScratch {
    outermost: Cell<Option<Box<Scratch>>>,
    /// For a nested call: a block is decoded as input of a block that is being encoded.
    nested: Cell<Option<Box<Scratch>>>,
    /// Number of active calls.
    depth: Cell<u32>,
    /// [`buffers::release_count`] when memory was last kept.
    last_release_count: Cell<usize>,
}

thread_local! {
    static THREAD_SCRATCH: ThreadScratch = const {
        ThreadScratch {
            outermost: Cell::new(None),
            nested: Cell::new(None),
            depth: Cell::new(0),
            last_release_count: Cell::new(0),
        }
    };
}

/// Working memory of worker threads that are between jobs, at most [`MAX_CODEC_STATES`].
#[allow(clippy::vec_box, reason = "a thread takes the box as it is; the state of the codecs is large")]
static SHARED_SCRATCH: Mutex<Vec<Box<Scratch>>> = Mutex::new(Vec::new());

/// Runs `work` with working memory. A nested call (a callback of the program compresses, or a block is decoded in order
/// to be encoded) gets separate memory.
#[inline]
pub(crate) fn with_scratch<R>(work: impl FnOnce(&mut Scratch) -> Result<R>) -> Result<R> {
    let mut borrowed = borrow_scratch()?;
    let result = work(&mut borrowed.scratch);
    borrowed.release();
    result
}

/// Does the same as [`with_scratch`], without a closure: passing the arguments through a closure slows small blocks.
#[inline(always)]
pub(crate) fn borrow_scratch() -> Result<BorrowedScratch> {
    let outer_calls = THREAD_SCRATCH.try_with(|state| state.depth.replace(state.depth.get() + 1)).ok();
    let level = NestingGuard { outer_calls, _not_send: PhantomData };
    let scratch = match level.take_scratch() {
        Some(scratch) => scratch,
        None => take_shared_or_new()?,
    };
    Ok(BorrowedScratch { scratch, level })
}

/// Working memory in use. The thread keeps it only if it is [released](Self::release): memory that a panicking
/// callback had in use is freed.
pub(crate) struct BorrowedScratch {
    pub scratch: Box<Scratch>,
    level: NestingGuard,
}

impl BorrowedScratch {
    /// Returns the memory: small buffers and the codec state to the thread, other buffers to the pool.
    #[inline(always)]
    pub(crate) fn release(mut self) {
        if self.scratch.buffers_len() > MAX_BUFFERS_WITH_CODEC_STATE {
            self.scratch.return_buffers();
        }
        self.level.keep_scratch(self.scratch);
    }
}

#[cold]
fn take_shared_or_new() -> Result<Box<Scratch>> {
    lock_shared().and_then(|mut shared| shared.pop()).map_or_else(Scratch::new, Ok)
}

/// Locks the shared working memory. Returns `None` if that fails for longer than a push or a pop takes: the thread that
/// holds the lock is suspended, or was lost by a `fork`.
#[allow(clippy::vec_box, reason = "as the list that it locks")]
fn lock_shared() -> Option<MutexGuard<'static, Vec<Box<Scratch>>>> {
    const SHARED_LOCK_ATTEMPTS: usize = 100;
    (0..SHARED_LOCK_ATTEMPTS).find_map(|_| {
        let guard = SHARED_SCRATCH.try_lock();
        if guard.is_none() {
            std::hint::spin_loop();
        }
        guard
    })
}

/// One active call on this thread; the next call is nested until this is dropped, also when a callback panics.
struct NestingGuard {
    /// Number of active calls before this one; `None` on a thread that is ending, which keeps no memory.
    outer_calls: Option<u32>,
    /// The number belongs to this thread.
    _not_send: PhantomData<*const ()>,
}

impl NestingGuard {
    /// Takes the memory that the thread keeps for this nesting level.
    #[inline(always)]
    fn take_scratch(&self) -> Option<Box<Scratch>> {
        let outer_calls = self.outer_calls?;
        THREAD_SCRATCH
            .try_with(|state| if outer_calls == 0 { state.outermost.take() } else { state.nested.take() })
            .ok()?
    }

    /// Keeps memory for this nesting level, unless all kept memory was released since the last time.
    #[inline(always)]
    fn keep_scratch(&self, scratch: Box<Scratch>) {
        let Some(outer_calls) = self.outer_calls else { return };
        let _ = THREAD_SCRATCH.try_with(|state| {
            if state.last_release_count.get() != buffers::release_count() {
                return free_thread_scratch(state);
            }
            let place = if outer_calls == 0 { &state.outermost } else { &state.nested };
            place.set(Some(scratch));
        });
    }
}

impl Drop for NestingGuard {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(outer_calls) = self.outer_calls {
            let _ = THREAD_SCRATCH.try_with(|state| state.depth.set(outer_calls));
        }
    }
}

#[cold]
fn free_thread_scratch(state: &ThreadScratch) {
    state.last_release_count.set(buffers::release_count());
    drop((state.outermost.take(), state.nested.take()));
}

/// Moves the working memory of this thread to the process. Worker threads call it at the end of their part of a job.
pub(crate) fn move_to_process() {
    let kept =
        THREAD_SCRATCH.try_with(|state| [state.outermost.take(), state.nested.take()]).unwrap_or_default();
    for scratch in kept.into_iter().flatten() {
        let Some(mut shared) = lock_shared() else { break };
        if shared.len() < MAX_CODEC_STATES && shared.try_reserve(1).is_ok() {
            shared.push(scratch);
        }
    }
    buffers::move_idle_to_process();
}

/// Frees memory that the process and this thread keep, after a super-chunk was freed. The first call keeps little; a
/// process that frees more than one super-chunk reuses the memory of the last one for the next one.
pub(crate) fn release_after_free() {
    static IS_FIRST: AtomicBool = AtomicBool::new(true);
    if IS_FIRST.swap(false, Ordering::Relaxed) {
        free_codec_states();
        buffers::release(MAX_THREAD_IDLE_AFTER_FREE, MAX_THREAD_IDLE_AFTER_FREE);
    } else {
        buffers::release(MAX_PROCESS_IDLE_AFTER_FREE, MAX_THREAD_IDLE_AFTER_FREE);
    }
}

/// Frees the memory that the process and this thread keep. Every other thread frees its own when its next call ends, or
/// when the thread ends.
pub(crate) fn release_all() {
    free_codec_states();
    buffers::release_all();
}

fn free_codec_states() {
    let kept = THREAD_SCRATCH.try_with(|state| [state.outermost.take(), state.nested.take()]);
    // The mutex is unlocked before the memory is freed.
    let shared = lock_shared().map(|mut shared| std::mem::take(&mut *shared));
    drop((kept, shared));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_reused_for_shorter_lengths() {
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
    fn nested_calls_use_separate_buffers() {
        with_scratch(|outer| {
            outer.block_scratch.front.get(100).unwrap().fill(7);
            with_scratch(|inner| {
                inner.block_scratch.front.get(100)?.fill(8);
                Ok(())
            })
            .unwrap();
            assert!(outer.block_scratch.front.get(100).unwrap().iter().all(|&x| x == 7));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn each_nesting_level_reuses_its_codec_state() {
        let address = |scratch: &mut Scratch| std::ptr::from_ref(&scratch.block_scratch.workspace).addr();
        let nested = || with_scratch(|scratch| Ok(address(scratch)));
        let addresses = || with_scratch(|scratch| Ok((address(scratch), nested()?))).unwrap();
        let (outer, inner) = addresses();
        assert_ne!(outer, inner);
        // Another test may release the memory of all threads in between, but it is improbable that it does so each
        // time.
        assert!((0..10).any(|_| addresses() == addresses()));
    }

    #[test]
    fn release_by_another_thread_frees_the_kept_scratch_at_the_end_of_the_next_call() {
        let address = || {
            with_scratch(|scratch| Ok(std::ptr::from_ref(&scratch.block_scratch.workspace).addr())).unwrap()
        };
        std::thread::spawn(move || {
            address();
            std::thread::spawn(release_all).join().unwrap();
            address();
            assert!(THREAD_SCRATCH.with(|state| state.outermost.take()).is_none());
            address();
            // Another test may release memory in between, but it is improbable that it does so each time.
            assert!((0..10).any(|_| {
                address();
                THREAD_SCRATCH.with(|state| state.outermost.take()).is_some()
            }));
        })
        .join()
        .unwrap();
    }
}
