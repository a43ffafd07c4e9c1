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

/// The buffers that a block needs on its way, all of the same length.
pub(crate) struct Buffers<'a> {
    /// Filter output, odd steps; a prefilter's output.
    pub front: &'a mut [u8],
    /// Filter output, even steps.
    pub back: &'a mut [u8],
    /// A stream's codec output where it cannot go straight to its place; what a lazy block was read into.
    pub stream: &'a mut [u8],
    /// A whole encoded block, or a whole decoded one on its way to a postfilter.
    pub block: &'a mut [u8],
    /// A whole decoded block of which somebody wants a part.
    pub item: &'a mut [u8],
}

/// How many buffers there are.
const PARTS: usize = 5;

/// One thread's working memory.
#[derive(Default)]
pub(crate) struct Scratch {
    buffers: Aligned,
    workspace: Workspace,
}

impl Scratch {
    /// One buffer of at least `len` bytes, and the codecs' state.
    ///
    /// # Errors
    /// `MemoryAlloc` when there is no memory for it.
    #[inline(always)]
    pub(crate) fn front(&mut self, len: usize) -> Result<(&mut [u8], &mut Workspace)> {
        self.buffers.reserve(len)?;
        Ok((&mut self.buffers.bytes()[..len], &mut self.workspace))
    }

    /// The buffers, each at least `len` bytes long, and the codecs' state. Contents are left over from
    /// earlier blocks.
    ///
    /// # Errors
    /// `MemoryAlloc` when there is no memory for them.
    // Handed out by value it would be copied, which small blocks notice.
    #[inline(always)]
    pub(crate) fn parts(&mut self, len: usize) -> Result<(Buffers<'_>, &mut Workspace)> {
        let len = len.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX / 8);
        self.buffers.reserve(len.saturating_mul(PARTS))?;
        let (front, rest) = self.buffers.bytes().split_at_mut(len);
        let (back, rest) = rest.split_at_mut(len);
        let (stream, rest) = rest.split_at_mut(len);
        let (block, rest) = rest.split_at_mut(len);
        let item = &mut rest[..len];
        Ok((Buffers { front, back, stream, block, item }, &mut self.workspace))
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
        if self.scratch.buffers.len > limits::SCRATCH {
            self.scratch.buffers.free();
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
struct Aligned {
    allocation: NonNull<u8>,
    /// Where the bytes begin in the allocation.
    offset: usize,
    len: usize,
}

impl Default for Aligned {
    fn default() -> Self {
        Aligned { allocation: NonNull::dangling(), offset: 0, len: 0 }
    }
}

impl Aligned {
    /// The layout of an allocation for `len` bytes, which are not 0.
    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.checked_add(ALIGNMENT)?, 1).ok()
    }

    /// Makes sure that `len` bytes are there; what was in them is lost when they were not.
    #[inline(always)]
    fn reserve(&mut self, len: usize) -> Result<()> {
        if self.len >= len {
            return Ok(());
        }
        self.grow(len)
    }

    #[cold]
    fn free(&mut self) {
        *self = Aligned::default();
    }

    #[cold]
    fn grow(&mut self, len: usize) -> Result<()> {
        *self = Aligned::default();
        // SAFETY: the layout's size is not zero.
        let allocation =
            Aligned::layout(len).and_then(|layout| NonNull::new(unsafe { alloc_zeroed(layout) }));
        let Some(allocation) = allocation else {
            return Err(err!(MemoryAlloc, "{len} bytes of working memory"));
        };
        *self = Aligned { allocation, offset: allocation.align_offset(ALIGNMENT).min(ALIGNMENT), len };
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

impl Drop for Aligned {
    fn drop(&mut self) {
        if self.len > 0
            && let Some(layout) = Aligned::layout(self.len)
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
    fn parts_are_aligned_apart_and_stay() {
        let mut scratch = Scratch::default();
        for len in [0, 1, 63, 64, 1000, 10] {
            let (b, _) = scratch.parts(len).unwrap();
            for part in [&b.front, &b.back, &b.stream, &b.block, &b.item] {
                assert!(part.len() >= len);
                assert!(len == 0 || (part.as_ptr() as usize).is_multiple_of(ALIGNMENT));
            }
            b.front.fill(1);
            b.back.fill(2);
            b.stream.fill(3);
            b.block.fill(4);
            assert!(b.front.iter().all(|&x| x == 1) && b.stream.iter().all(|&x| x == 3));
        }
        assert!(scratch.parts(usize::MAX).is_err());
        assert!(scratch.parts(100).is_ok());
    }

    #[test]
    fn no_more_than_the_limit_is_kept_on_either_level() {
        let kept = |len| {
            with(|scratch| scratch.parts(len / PARTS).map(|_| ())).unwrap();
            with(|scratch| scratch.buffers.len)
        };
        assert!(kept(limits::SCRATCH - PARTS * ALIGNMENT) > limits::SCRATCH / 2);
        assert_eq!(kept(limits::SCRATCH + PARTS * ALIGNMENT), 0);
        with(|_| {
            assert!(kept(limits::SCRATCH - PARTS * ALIGNMENT) > limits::SCRATCH / 2);
            assert_eq!(kept(limits::SCRATCH + PARTS * ALIGNMENT), 0);
        });
    }

    #[test]
    fn nested_use_has_memory_of_its_own() {
        with(|outer| {
            let (b, _) = outer.parts(100).unwrap();
            b.front.fill(7);
            with(|inner| inner.parts(100).unwrap().0.front.fill(8));
            assert!(b.front.iter().all(|&x| x == 7));
        });
    }
}
