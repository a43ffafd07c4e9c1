//! The buffer pool: memory blocks that calls reuse. Fresh memory costs more than copying a chunk, since the system
//! clears and maps each page at its first use, and allocators return large blocks to the system when these are freed.
//!
//! Idle blocks are on two kinds of lists, each with a budget ([`limits`]): one list per thread, which only that thread
//! uses, and one per process. A [`Buffer`] is borrowed during one call; dropping it puts the block on the list of the
//! thread that drops it. A worker thread [moves](move_idle_to_process) its list to the process when its part of a job
//! is done. Freed chunks go to the list of the process ([`return_block`]), and new chunks are made of these blocks
//! ([`take_block`]). [`release`] frees idle blocks, [`release_all`] also those of other threads.

mod block;
mod idle_list;
pub mod limits;

use crate::error::{Result, err};
use block::Block;
use idle_list::IdleList;
use parking_lot::{Mutex, MutexGuard};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimum size, in bytes, of blocks on the list of the process: allocators keep smaller ones without a call of the
/// system.
const MIN_SHARED_BLOCK: usize = 64 << 10;

/// The smallest fresh buffer, in bytes, so that a few sizes serve all small blocks: a page.
const MIN_BUFFER_CAPACITY: usize = 4 << 10;

static PROCESS_LIST: Mutex<IdleList> = Mutex::new(IdleList::new(limits::MAX_PROCESS_IDLE));

/// Number of calls of [`release_all`].
static RELEASE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The idle blocks of a thread.
struct ThreadList {
    idle_list: IdleList,
    /// [`RELEASE_COUNT`] when the list last had its blocks freed.
    last_release_count: usize,
}

thread_local! {
    static THREAD_LIST: RefCell<ThreadList> =
        const { RefCell::new(ThreadList { idle_list: IdleList::new(limits::MAX_THREAD_IDLE), last_release_count: 0 }) };
}

/// A buffer borrowed from the pool, to which it returns on drop. Its content is unspecified: zeros, or bytes of an
/// earlier use.
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
        // The list of a thread that is ending no longer exists: the block is freed.
        let _ = THREAD_LIST.try_with(|list| {
            let ThreadList { idle_list: idle, last_release_count: releases } = &mut *list.borrow_mut();
            let current = RELEASE_COUNT.load(Ordering::Relaxed);
            if *releases != current {
                *releases = current;
                while idle.pop_oldest_above(0).is_some() {}
            }
            let _ = idle.push(block);
            while idle.pop_excess().is_some() {}
        });
    }
}

/// Returns a buffer of at least `len` bytes.
#[inline]
pub(crate) fn take_buffer(len: usize) -> Result<Buffer> {
    match THREAD_LIST.try_with(|list| list.borrow_mut().idle_list.take(len, max_unused(len))) {
        Ok(Some(block)) => Ok(Buffer(ManuallyDrop::new(block))),
        Ok(None) | Err(_) => take_shared_or_new(len),
    }
}

/// Does the same as [`take_buffer`], with a block of the list of the process, or a fresh one.
#[cold]
fn take_shared_or_new(len: usize) -> Result<Buffer> {
    let shared = lock_process_list().and_then(|mut idle| idle.take(len, max_unused(len)));
    let block = shared.or_else(|| Block::zeroed(capacity_for(len)));
    match block {
        Some(block) => Ok(Buffer(ManuallyDrop::new(block))),
        None => Err(err!(MemoryAlloc, "cannot allocate a buffer of {len} bytes")),
    }
}

/// Returns how many bytes of a block may be unused in a buffer of `len` bytes. A small buffer must not take the block
/// of a large one: the large one would be allocated again.
#[inline(always)]
fn max_unused(len: usize) -> usize {
    len.saturating_mul(3).max(MIN_SHARED_BLOCK)
}

/// Returns the size, in bytes, of a fresh buffer for `len` bytes: up to an eighth more, so that a buffer can be reused
/// for similar lengths.
fn capacity_for(len: usize) -> usize {
    let step = len.checked_ilog2().map_or(1, |log2| 1usize << log2 >> 3).max(64);
    len.checked_next_multiple_of(step).unwrap_or(len).max(MIN_BUFFER_CAPACITY)
}

/// Number of attempts to lock the list of the process. The lock is held for a search of a list at most, below a
/// microsecond.
const LIST_LOCK_ATTEMPTS: usize = 100;

/// Locks the list of the process. Returns `None` if that fails for longer than an operation on a list takes: the thread
/// that holds the lock is suspended, or was lost by a `fork`.
fn lock_process_list() -> Option<MutexGuard<'static, IdleList>> {
    (0..LIST_LOCK_ATTEMPTS).find_map(|_| {
        let guard = PROCESS_LIST.try_lock();
        if guard.is_none() {
            std::hint::spin_loop();
        }
        guard
    })
}

/// Does the same as [`lock_process_list`], but yields the processor to a suspended thread between attempts.
fn lock_process_list_yielding() -> Option<MutexGuard<'static, IdleList>> {
    (0..LIST_LOCK_ATTEMPTS).find_map(|_| {
        let guard = lock_process_list();
        if guard.is_none() {
            std::thread::yield_now();
        }
        guard
    })
}

/// Puts blocks on the list of the process. Blocks that exceed its limits are freed, while the list is not locked.
fn add_to_process_list(blocks: impl Iterator<Item = Block>) {
    for block in blocks.filter(|block| block.capacity() >= MIN_SHARED_BLOCK) {
        let Some(mut idle) = lock_process_list() else { return };
        let refused = idle.push(block);
        let mut excess = idle.pop_excess();
        drop(idle);
        drop(refused);
        while excess.take().is_some() {
            excess = lock_process_list().and_then(|mut idle| idle.pop_excess());
        }
    }
}

/// Moves the idle blocks of this thread to the process. Worker threads call it when their part of a job is done.
pub(crate) fn move_idle_to_process() {
    let next = || THREAD_LIST.try_with(|list| list.borrow_mut().idle_list.pop_oldest_above(0)).ok().flatten();
    add_to_process_list(std::iter::from_fn(next));
    // Frees the blocks that the list of the process did not accept.
    while next().is_some() {}
}

/// Returns a `malloc` block of at least `len` bytes, with unspecified content, from the list of the process; the caller
/// owns it. Returns `None` if there is none of which at most an eighth of `len` would be unused: chunks are kept for
/// long.
pub(crate) fn take_block(len: usize) -> Option<NonNull<u8>> {
    if len < MIN_SHARED_BLOCK {
        return None;
    }
    let block = PROCESS_LIST.try_lock()?.take(len, len / 8);
    block.map(|block| block.into_raw(len))
}

/// Puts a block of at least `len` bytes on the list of the process, or frees it. The list counts it as `len` bytes: not
/// every allocator that a program uses can return the size of a block.
///
/// # Safety
/// `start` is a `malloc` block of at least `len` initialised bytes that no other code uses or frees any more.
pub(crate) unsafe fn return_block(start: NonNull<u8>, len: usize) {
    // SAFETY: by the contract of this function a `malloc` block of that length that no other code uses or frees.
    let block = unsafe { Block::from_raw(start, len) };
    add_to_process_list(std::iter::once(block));
}

/// Frees idle blocks until the list of the process has at most `keep_process` bytes, and that of this thread
/// `keep_thread`.
pub(crate) fn release(keep_process: usize, keep_thread: usize) {
    // The list is not locked while a block is freed.
    while lock_process_list_yielding().and_then(|mut idle| idle.pop_oldest_above(keep_process)).is_some() {}
    while let Ok(Some(_)) =
        THREAD_LIST.try_with(|list| list.borrow_mut().idle_list.pop_oldest_above(keep_thread))
    {}
}

/// Frees the idle blocks of the process and of this thread. Every other thread frees its own when it next returns a
/// buffer, or ends.
pub(crate) fn release_all() {
    RELEASE_COUNT.fetch_add(1, Ordering::Relaxed);
    release(0, 0);
}

/// Returns the number of calls of [`release_all`]: memory that was kept before the last one has to be freed.
#[inline(always)]
pub(crate) fn release_count() -> usize {
    RELEASE_COUNT.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_reuses_its_buffers() {
        std::thread::spawn(|| {
            let buffer = take_buffer(100_000).unwrap();
            let start = buffer.as_ptr();
            assert!(buffer.len() >= 100_000);
            // A nested use gets another block.
            let inner = take_buffer(10).unwrap();
            assert!(!std::ptr::eq(inner.as_ptr(), start));
            drop(buffer);
            assert!(std::ptr::eq(take_buffer(99_000).unwrap().as_ptr(), start));
            drop(inner);
            assert!(take_buffer(usize::MAX).is_err());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn copies_in_reused_blocks_are_correct() {
        for len in [0, 1, MIN_SHARED_BLOCK - 1, MIN_SHARED_BLOCK, 3 * MIN_SHARED_BLOCK + 5] {
            let bytes = vec![7; len];
            for _ in 0..3 {
                let copy = crate::malloc::MallocBytes::copy_of(&bytes).unwrap();
                assert!(*copy == bytes);
                let start = NonNull::new(copy.into_raw()).unwrap();
                // SAFETY: a block of that length, which only this test has.
                unsafe { return_block(start, len) }
            }
        }
        release(0, 0);
    }

    #[test]
    fn idle_blocks_move_to_the_process_and_are_released() {
        std::thread::spawn(|| {
            drop(take_buffer(3_000_017).unwrap());
            move_idle_to_process();
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) == 0);
            drop(take_buffer(3_000_017).unwrap());
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) > 3_000_000);
            release(0, 4_000_000);
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) > 3_000_000);
            release(0, 3_000_000);
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) == 0);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_small_buffer_does_not_take_a_large_block() {
        std::thread::spawn(|| {
            let large = take_buffer(10 << 20).unwrap();
            let start = large.as_ptr();
            drop(large);
            let small = take_buffer(4 << 10).unwrap();
            assert!(small.len() <= (4 << 10) + max_unused(4 << 10));
            assert!(std::ptr::eq(take_buffer(9 << 20).unwrap().as_ptr(), start));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn capacities_are_at_most_an_eighth_above_the_length() {
        for len in [4 << 10, 4097, (1 << 20) + 32, (3 << 20) - 1, 1 << 30] {
            let capacity = capacity_for(len);
            assert!(capacity >= len && capacity - len <= len / 8, "{capacity} bytes for {len}");
        }
        assert_eq!(capacity_for(0), MIN_BUFFER_CAPACITY);
        assert_eq!(capacity_for(usize::MAX), usize::MAX);
    }

    #[test]
    fn another_thread_frees_its_blocks_when_it_next_returns_a_buffer() {
        std::thread::spawn(|| {
            drop(take_buffer(3_000_017).unwrap());
            std::thread::spawn(release_all).join().unwrap();
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) > 3_000_000);
            drop(take_buffer(10).unwrap());
            assert!(THREAD_LIST.with_borrow(|list| list.idle_list.nbytes()) < 100_000);
        })
        .join()
        .unwrap();
    }

    // WASI does not tell the length of a block.
    #[cfg(not(target_os = "wasi"))]
    #[test]
    fn into_raw_returns_unused_memory_to_the_allocator() {
        let block = Block::zeroed(100 << 10).unwrap();
        let start = block.into_raw(50 << 10);
        // SAFETY: a block of `malloc`.
        let usable = unsafe { crate::os::block_len(start.as_ptr().cast()) };
        assert!((50 << 10..60 << 10).contains(&usable), "{usable} bytes");
        // SAFETY: a block of that length that only this test has.
        unsafe { return_block(start, 50 << 10) }
        release_all();
    }
}
