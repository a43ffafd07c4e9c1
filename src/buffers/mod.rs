//! The buffer pool: memory that is used again, since fresh memory costs more than copying a chunk there (each page is cleared
//! and mapped at its first use), and since allocators give large blocks back to the system when these are freed.
//!
//! Idle blocks wait in two kinds of lists, each with a budget ([`limits`]): one list per thread, which only that thread uses,
//! and one per process. A [`Buffer`] is lent for the length of a call and goes to the list of the thread that drops it; a
//! worker thread [hands](hand_over) its list to the process when its part of a job is done. Blocks of chunks that are freed go to
//! the process ([`give_block`]), and new chunks are made of them ([`take_block`]). [`release`] frees idle blocks.

mod block;
mod idle;
pub mod limits;

use crate::err;
use crate::error::Result;
use block::Block;
use idle::IdleList;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Blocks below this many bytes are not kept for the process: allocators serve those well.
const SMALLEST_SHARED: usize = 64 << 10;

/// The smallest fresh buffer in bytes, so that a few sizes serve all small blocks.
const SMALLEST_BUFFER: usize = 4 << 10;

static PROCESS: Mutex<IdleList> = Mutex::new(IdleList::new(limits::PROCESS));

thread_local! {
    static THREAD: RefCell<IdleList> = const { RefCell::new(IdleList::new(limits::THREAD)) };
}

/// Bytes that the pool lends; they go back to it on drop. Their content is unspecified: zeros, or what an earlier use has left.
pub(crate) struct Buffer(ManuallyDrop<Block>);

impl Deref for Buffer {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the buffer is not used after this.
        let block = unsafe { ManuallyDrop::take(&mut self.0) };
        // The list of a thread that is ending is gone: the block is freed.
        let _ = THREAD.try_with(|idle| idle.borrow_mut().put(block));
    }
}

/// Lends a buffer of at least `len` bytes.
///
/// # Errors
/// `MemoryAlloc`.
#[inline]
pub(crate) fn take(len: usize) -> Result<Buffer> {
    match THREAD.try_with(|idle| idle.borrow_mut().take(len, usize::MAX)) {
        Ok(Some(block)) => Ok(Buffer(ManuallyDrop::new(block))),
        Ok(None) | Err(_) => take_shared(len),
    }
}

/// As [`take`], from the list of the process, or fresh.
#[cold]
fn take_shared(len: usize) -> Result<Buffer> {
    let shared = lock_process().and_then(|mut idle| idle.take(len, usize::MAX));
    let block = shared.or_else(|| Block::zeroed(capacity_for(len)));
    match block {
        Some(block) => Ok(Buffer(ManuallyDrop::new(block))),
        None => Err(err!(MemoryAlloc, "a buffer of {len} bytes")),
    }
}

/// Bytes of a fresh buffer for `len` bytes: up to an eighth more, so that buffers for similar lengths serve each other.
fn capacity_for(len: usize) -> usize {
    let step = (len.checked_next_power_of_two().unwrap_or(1) / 8).max(64);
    len.checked_next_multiple_of(step).unwrap_or(len).max(SMALLEST_BUFFER)
}

/// Locks the list of the process. `None` if another thread holds the lock for longer than a list operation takes: that thread
/// may have been lost by a `fork`.
fn lock_process() -> Option<parking_lot::MutexGuard<'static, IdleList>> {
    const ATTEMPTS: usize = 100;
    (0..ATTEMPTS).find_map(|_| {
        let guard = PROCESS.try_lock();
        if guard.is_none() {
            std::hint::spin_loop();
        }
        guard
    })
}

/// Moves the idle blocks of this thread to the process. Worker threads call it when their part of a job is done.
pub(crate) fn hand_over() {
    let Ok(blocks) = THREAD.try_with(|idle| idle.borrow_mut().drain()) else { return };
    if blocks.is_empty() {
        return;
    }
    if let Some(mut shared) = lock_process() {
        blocks.into_iter().for_each(|block| shared.put(block));
    }
}

/// Takes a `malloc` block of at least `len` bytes, with unspecified content, from the list of the process; the caller owns
/// it. At most an eighth of the length is left over, since the block may be kept for long. `None` if there is none.
pub(crate) fn take_block(len: usize) -> Option<NonNull<u8>> {
    if len < SMALLEST_SHARED {
        return None;
    }
    PROCESS.try_lock()?.take(len, len / 8).map(Block::into_raw)
}

/// Frees a block of at least `len` bytes, or keeps it for [`take_block`]. (The block is not asked for its size: allocators that
/// programs bring along do not all have an answer.)
///
/// # Safety
/// `start` is a `malloc` block of at least `len` initialised bytes that nobody else uses or frees any more.
pub(crate) unsafe fn give_block(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller's promise.
    let block = unsafe { Block::from_raw(start, len) };
    if len >= SMALLEST_SHARED
        && let Some(mut idle) = PROCESS.try_lock()
    {
        idle.put(block);
    }
}

/// Frees idle blocks of the process and of this thread until each list has at most `keep` bytes.
pub(crate) fn release(keep: usize) {
    // Both lists are unlocked again before the blocks are freed.
    let shared = lock_process().map(|mut idle| idle.shrink(keep));
    let own = THREAD.try_with(|idle| idle.borrow_mut().shrink(keep));
    drop((shared, own));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_by_its_thread() {
        std::thread::spawn(|| {
            let buffer = take(100_000).unwrap();
            let start = buffer.as_ptr();
            assert!(buffer.len() >= 100_000);
            // A use inside of the other has its own.
            let inner = take(10).unwrap();
            assert!(!std::ptr::eq(inner.as_ptr(), start));
            drop(buffer);
            assert!(std::ptr::eq(take(99_000).unwrap().as_ptr(), start));
            drop(inner);
            assert!(take(usize::MAX).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn chunks_are_made_of_blocks_that_fit() {
        for len in [0, 1, SMALLEST_SHARED - 1, SMALLEST_SHARED, 3 * SMALLEST_SHARED + 5] {
            let bytes = vec![7; len];
            for _ in 0..3 {
                let copy = crate::malloc::Malloced::copy_of(&bytes).unwrap();
                assert!(*copy == bytes);
                let start = NonNull::new(copy.into_raw()).unwrap();
                // SAFETY: a block of that length that nobody else has.
                unsafe { give_block(start, len) }
            }
        }
        release(0);
    }

    #[test]
    fn idle_blocks_are_handed_over_and_released() {
        std::thread::spawn(|| {
            drop(take(3_000_017).unwrap());
            hand_over();
            assert!(THREAD.with_borrow(|idle| idle.nbytes()) == 0);
            drop(take(3_000_017).unwrap());
            assert!(THREAD.with_borrow(|idle| idle.nbytes()) > 3_000_000);
            release(4_000_000);
            assert!(THREAD.with_borrow(|idle| idle.nbytes()) > 3_000_000);
            release(3_000_000);
            assert!(THREAD.with_borrow(|idle| idle.nbytes()) == 0);
        })
        .join()
        .unwrap();
    }
}
