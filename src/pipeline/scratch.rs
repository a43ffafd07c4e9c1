//! The working memory of one thread: block buffers and codec state. It stays with the thread between calls, so
//! that a call allocates nothing in the steady state.
//!
//! A thread keeps at most [`SCRATCH`](crate::malloc::limits::SCRATCH) bytes of block buffers; larger ones are freed at the end of the call.

use crate::codec::Workspace;
use crate::err;
use crate::error::Result;
use crate::malloc::limits;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Each buffer begins on such a boundary: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// The buffers and the codec state that decoding or encoding one block needs. Each buffer is empty until its first use.
#[derive(Default)]
pub(crate) struct BlockScratch {
    /// Streams before their filters are undone; filter output, odd steps; a prefilter's output.
    pub front: Buffer,
    /// Filter output, even steps.
    pub back: Buffer,
    /// A stream's codec output where it cannot go straight to its place; the bytes of a lazy block.
    pub stream: Buffer,
    /// A whole encoded block, or a whole decoded one before its postfilter.
    pub block: Buffer,
    /// State of the codecs.
    pub workspace: Workspace,
}

/// One thread's working memory.
#[derive(Default)]
pub(crate) struct Scratch {
    /// For decoding or encoding a block.
    pub coding: BlockScratch,
    /// A whole decoded block of which a consumer takes parts.
    pub decoded: Buffer,
}

impl Scratch {
    /// Bytes of all buffers.
    fn len(&self) -> usize {
        let BlockScratch { front, back, stream, block, .. } = &self.coding;
        [front, back, stream, block, &self.decoded].iter().map(|buffer| buffer.len).sum()
    }

    /// Frees all buffers; the state of the codecs stays.
    #[cold]
    fn free_buffers(&mut self) {
        let workspace = std::mem::take(&mut self.coding.workspace);
        *self = Scratch::default();
        self.coding.workspace = workspace;
    }
}

/// What a thread keeps.
struct Kept {
    scratch: Cell<Option<Box<Scratch>>>,
    /// For who works while the other is at work: a block is decoded to be part of one that is encoded.
    second: Cell<Option<Box<Scratch>>>,
    /// How many are at work.
    depth: Cell<u32>,
}

thread_local! {
    static KEPT_HERE: Kept =
        const { Kept { scratch: Cell::new(None), second: Cell::new(None), depth: Cell::new(0) } };
}

/// Lends this thread's working memory to `work`. A nested call (a caller's callback that compresses, a block that is
/// decoded on the way to its encoding) gets memory of its own.
#[inline]
pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut lent = lend();
    let result = work(&mut lent.scratch);
    lent.give_back();
    result
}

/// As [`with`], for small blocks: they notice what is handed to a closure.
#[inline(always)]
pub(crate) fn lend() -> Lent<'static> {
    // SAFETY: what is kept is there until this thread ends, and is only used on it, which `Lent` cannot leave. A thread on
    // its way out keeps nothing any more.
    Lent::from(KEPT_HERE.try_with(ptr::from_ref).ok().map(|kept| unsafe { &*kept }))
}

/// A thread's working memory while it is at work. It is only kept if it is given back; what a panicking callback had in its
/// hands is not.
pub(crate) struct Lent<'a> {
    /// The memory.
    pub scratch: Box<Scratch>,
    /// Where it comes from, and how deep that thread was at work before.
    level: Option<Level<'a>>,
}

impl<'a> Lent<'a> {
    #[inline(always)]
    fn from(kept: Option<&'a Kept>) -> Self {
        let level = kept.map(|kept| Level { kept, before: kept.depth.replace(kept.depth.get() + 1) });
        let scratch = level.as_ref().and_then(|level| level.place().take()).unwrap_or_else(fresh);
        Lent { scratch, level }
    }

    /// Has the thread keep the memory for the next time.
    #[inline(always)]
    pub(crate) fn give_back(mut self) {
        if self.scratch.len() > limits::SCRATCH {
            self.scratch.free_buffers();
        }
        if let Some(level) = &self.level {
            level.place().set(Some(self.scratch));
        }
    }
}

#[cold]
fn fresh() -> Box<Scratch> {
    Box::default()
}

/// How deep a thread is at work. Goes up again at its end, also when a callback panics.
struct Level<'a> {
    kept: &'a Kept,
    before: u32,
}

impl Level<'_> {
    #[inline(always)]
    fn place(&self) -> &Cell<Option<Box<Scratch>>> {
        if self.before == 0 { &self.kept.scratch } else { &self.kept.second }
    }
}

impl Drop for Level<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.kept.depth.set(self.before);
    }
}

/// A zeroed allocation, of which the bytes from a cache-line boundary on are used.
///
/// It is asked for with an ordinary alignment: only then does the system hand out zeroed pages that take up memory
/// when they are touched, so that a header which promises huge blocks costs nothing.
pub(crate) struct Buffer {
    allocation: NonNull<u8>,
    /// Where the bytes begin in the allocation.
    offset: usize,
    len: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer { allocation: NonNull::dangling(), offset: 0, len: 0 }
    }
}

impl Buffer {
    /// The layout of an allocation for `len` bytes, which are not 0.
    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.checked_add(ALIGNMENT)?, 1).ok()
    }

    /// The first `len` bytes. Their content is unspecified: zeros, or what an earlier use has left.
    ///
    /// # Errors
    /// `MemoryAlloc` when there is no memory for them.
    #[inline(always)]
    pub(crate) fn get(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len < len {
            self.grow(len)?;
        }
        Ok(&mut self.bytes()[..len])
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<()> {
        *self = Buffer::default();
        // SAFETY: the layout's size is not zero.
        let allocation = Buffer::layout(len).and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) }));
        let Some(allocation) = allocation else {
            return Err(err!(MemoryAlloc, "{len} bytes of working memory"));
        };
        *self = Buffer { allocation, offset: allocation.align_offset(ALIGNMENT).min(ALIGNMENT), len };
        Ok(())
    }

    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: our own allocation has `len` initialised bytes from `offset` on, since it is longer by the most
        // that `offset` can be, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.allocation.as_ptr().add(self.offset), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0
            && let Some(layout) = Buffer::layout(self.len)
        {
            // SAFETY: allocated in `reserve` with this very layout.
            unsafe { dealloc(self.allocation.as_ptr(), layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_stay() {
        let mut buffer = Buffer::default();
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
    fn no_more_than_the_limit_is_kept_on_either_level() {
        let kept = |len: usize| {
            with(|scratch| {
                scratch.coding.front.get(len / 2).unwrap();
                scratch.decoded.get(len - len / 2).unwrap();
            });
            with(|scratch| scratch.len())
        };
        assert!(kept(limits::SCRATCH) > limits::SCRATCH / 2);
        assert_eq!(kept(limits::SCRATCH + 2), 0);
        with(|_| {
            assert!(kept(limits::SCRATCH) > limits::SCRATCH / 2);
            assert_eq!(kept(limits::SCRATCH + 2), 0);
        });
    }

    #[test]
    fn nested_use_has_memory_of_its_own() {
        with(|outer| {
            outer.coding.front.get(100).unwrap().fill(7);
            with(|inner| inner.coding.front.get(100).unwrap().fill(8));
            assert!(outer.coding.front.get(100).unwrap().iter().all(|&x| x == 7));
        });
    }
}
