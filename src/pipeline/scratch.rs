//! The working memory for blocks: buffers borrowed from the [pool](crate::buffers) during a call, and the state of
//! codecs, which stays with its thread, together with small buffers, so that a call allocates nothing in the steady
//! state.

use crate::buffers;
use crate::buffers::limits::{CODEC_STATES, PROCESS_AFTER_FREE, THREAD_AFTER_FREE, WITH_CODECS};
use crate::codec::Workspace;
use crate::error::Result;
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
    ///
    /// # Errors
    /// `MemoryAlloc` when there is no memory for the buffer.
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
    pub coding: BlockScratch,
    /// A whole decoded block, of which a consumer reads parts.
    pub decoded: ScratchBuffer,
}

impl Scratch {
    /// The sum of the lengths of all buffers, in bytes.
    #[inline(always)]
    fn len(&self) -> usize {
        let BlockScratch { front, back, stream, block, .. } = &self.coding;
        front.len + back.len + stream.len + block.len + self.decoded.len
    }

    /// Returns the buffers to the pool.
    #[inline(never)]
    fn return_buffers(&mut self) {
        let BlockScratch { front, back, stream, block, .. } = &mut self.coding;
        for buffer in [front, back, stream, block, &mut self.decoded] {
            *buffer = ScratchBuffer::default();
        }
    }
}

/// The working memory that a thread keeps.
struct ThreadState {
    outer: Cell<Option<Box<Scratch>>>,
    /// For a nested call: a block is decoded as input of a block that is being encoded.
    inner: Cell<Option<Box<Scratch>>>,
    /// Number of active calls.
    depth: Cell<u32>,
    /// [`buffers::releases`] when memory was last kept.
    releases: Cell<usize>,
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            outer: Cell::new(None),
            inner: Cell::new(None),
            depth: Cell::new(0),
            releases: Cell::new(0),
        }
    };
}

/// Working memory of worker threads that are between jobs, at most [`CODEC_STATES`].
#[allow(clippy::vec_box, reason = "a thread takes the box as it is; the state of the codecs is large")]
static SHARED: Mutex<Vec<Box<Scratch>>> = Mutex::new(Vec::new());

/// Runs `work` with working memory. A nested call (a callback of the program compresses, or a block is decoded in order to
/// be encoded) gets separate memory.
#[inline]
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut lent = lend();
    let result = work(&mut lent.scratch);
    lent.give_back();
    result
}

/// Does the same as [`with`], without a closure: passing the arguments through a closure slows small blocks.
#[inline(always)]
pub(crate) fn lend() -> Lent {
    let level = CallLevel::enter();
    Lent { scratch: level.take().unwrap_or_else(shared_or_fresh), level }
}

/// Working memory in use. The thread keeps it only if it is given back: memory that a panicking callback had in use is
/// freed.
pub(crate) struct Lent {
    /// The memory.
    pub scratch: Box<Scratch>,
    level: CallLevel,
}

impl Lent {
    /// Returns the memory: small buffers and the codec state to the thread, other buffers to the pool.
    #[inline(always)]
    pub(crate) fn give_back(mut self) {
        if self.scratch.len() > WITH_CODECS {
            self.scratch.return_buffers();
        }
        self.level.put(self.scratch);
    }
}

#[cold]
fn shared_or_fresh() -> Box<Scratch> {
    lock_shared().and_then(|mut shared| shared.pop()).unwrap_or_default()
}

/// Locks the shared working memory. Returns `None` if that fails for longer than a push or a pop takes: the thread that
/// holds the lock is suspended, or was lost by a `fork`.
#[allow(clippy::vec_box, reason = "as the list that it locks")]
fn lock_shared() -> Option<MutexGuard<'static, Vec<Box<Scratch>>>> {
    const ATTEMPTS: usize = 100;
    (0..ATTEMPTS).find_map(|_| {
        let guard = SHARED.try_lock();
        if guard.is_none() {
            std::hint::spin_loop();
        }
        guard
    })
}

/// One active call on this thread; the next call is nested until this is dropped, also when a callback panics.
struct CallLevel {
    /// Number of active calls before this one; `None` on a thread that is ending, which keeps no memory.
    before: Option<u32>,
    /// The number belongs to this thread.
    _not_send: PhantomData<*const ()>,
}

impl CallLevel {
    #[inline(always)]
    fn enter() -> CallLevel {
        let before = STATE.try_with(|state| state.depth.replace(state.depth.get() + 1)).ok();
        CallLevel { before, _not_send: PhantomData }
    }

    /// Takes the memory that the thread keeps for this nesting level.
    #[inline(always)]
    fn take(&self) -> Option<Box<Scratch>> {
        let before = self.before?;
        STATE.try_with(|state| if before == 0 { state.outer.take() } else { state.inner.take() }).ok()?
    }

    /// Keeps memory for this nesting level, unless all kept memory was released since the last time.
    #[inline(always)]
    fn put(&self, scratch: Box<Scratch>) {
        let Some(before) = self.before else { return };
        let _ = STATE.try_with(|state| {
            if state.releases.get() != buffers::releases() {
                return free_kept(state);
            }
            let place = if before == 0 { &state.outer } else { &state.inner };
            place.set(Some(scratch));
        });
    }
}

impl Drop for CallLevel {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = STATE.try_with(|state| state.depth.set(before));
        }
    }
}

#[cold]
fn free_kept(state: &ThreadState) {
    state.releases.set(buffers::releases());
    drop((state.outer.take(), state.inner.take()));
}

/// Moves the working memory of this thread to the process. Worker threads call it at the end of their part of a job.
pub(crate) fn hand_over() {
    let kept = STATE.try_with(|state| [state.outer.take(), state.inner.take()]).unwrap_or_default();
    for scratch in kept.into_iter().flatten() {
        let Some(mut shared) = lock_shared() else { break };
        if shared.len() < CODEC_STATES && shared.try_reserve(1).is_ok() {
            shared.push(scratch);
        }
    }
    buffers::hand_over();
}

/// Frees memory that the process and this thread keep, after a super-chunk was freed. The first call keeps little; a
/// process that frees more than one super-chunk reuses the memory of the last one for the next one.
pub(crate) fn release_after_free() {
    static IS_FIRST: AtomicBool = AtomicBool::new(true);
    if IS_FIRST.swap(false, Ordering::Relaxed) {
        free_codec_states();
        buffers::release(THREAD_AFTER_FREE, THREAD_AFTER_FREE);
    } else {
        buffers::release(PROCESS_AFTER_FREE, THREAD_AFTER_FREE);
    }
}

/// Frees the memory that the process and this thread keep. Every other thread frees its own when its next call ends, or
/// when the thread ends.
pub(crate) fn release_all() {
    free_codec_states();
    buffers::release_all();
}

fn free_codec_states() {
    let kept = STATE.try_with(|state| [state.outer.take(), state.inner.take()]);
    // The mutex is unlocked before the memory is freed.
    let shared = lock_shared().map(|mut shared| std::mem::take(&mut *shared));
    drop((kept, shared));
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
        let addresses = || with(|scratch| (address(scratch), with(|scratch| address(scratch))));
        let (outer, inner) = addresses();
        assert_ne!(outer, inner);
        // Another test may release the memory of all threads in between, but it is improbable that it does so each time.
        assert!((0..10).any(|_| addresses() == addresses()));
    }

    #[test]
    fn a_thread_keeps_nothing_from_before_a_release_by_another_thread() {
        let address = || with(|scratch| std::ptr::from_ref(&scratch.coding.workspace).addr());
        std::thread::spawn(move || {
            address();
            std::thread::spawn(release_all).join().unwrap();
            address();
            assert!(STATE.with(|state| state.outer.take()).is_none());
            address();
            // Another test may release memory in between, but it is improbable that it does so each time.
            assert!((0..10).any(|_| {
                address();
                STATE.with(|state| state.outer.take()).is_some()
            }));
        })
        .join()
        .unwrap();
    }
}
