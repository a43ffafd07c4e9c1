//! The array of chunks of a super-chunk without a frame: `data` in the public struct, a `malloc` block of `data_len`
//! bytes.
//!
//! Each of its slots is NULL or points at a chunk: a `malloc` block that begins with the header of a chunk, and is at
//! least as long as `cbytes` in that header ([`ChunkBlock`]). The slots of the first `nchunks` chunks are in use. That
//! there are enough slots is checked at each access, since the counters are changed separately.

use crate::buffers;
use crate::chunk::format::{MIN_HEADER_LENGTH, offset};
use crate::chunk::read_i32;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::malloc::MallocBytes;
use crate::schunk::SuperChunk;
use crate::schunk::access_lock::{LockProof, WriteGuard};
use crate::schunk::rules::Permutation;
use std::ptr::{self, NonNull};
use std::slice;

/// Step by which the array grows, in bytes; a power of 2.
const DATA_STEP: usize = 4096;

/// Granularity of `malloc` in bytes: no allocator uses a smaller one, so that overwriting a chunk by one of the same
/// number of units wastes no memory.
const MALLOC_GRANULARITY: usize = 16;

/// A chunk for the array, at least as long as its header states.
pub(in crate::schunk) struct ChunkBlock(MallocBytes);

impl ChunkBlock {
    /// Checks the length of a chunk.
    ///
    /// # Errors
    /// `InvalidHeader` for a block that is shorter than its header states.
    #[inline(always)]
    pub(in crate::schunk) fn new(block: MallocBytes) -> Result<ChunkBlock> {
        check_chunk_len(&block)?;
        Ok(ChunkBlock(block))
    }
}

/// Checks that a chunk is at least as long as its header states.
#[inline(always)]
fn check_chunk_len(chunk: &[u8]) -> Result<()> {
    let head = chunk.first_chunk::<MIN_HEADER_LENGTH>();
    let cbytes = head.and_then(|head| read_i32(head, offset::CBYTES));
    // A negative number becomes one above all chunk lengths.
    ensure!(
        cbytes.is_some_and(|cbytes| cbytes as usize <= chunk.len()),
        InvalidHeader,
        "the chunk has {} bytes; `cbytes` in its header is {cbytes:?}",
        chunk.len(),
    );
    Ok(())
}

/// Returns the length of a chunk in bytes, from its header.
///
/// # Safety
/// `chunk` is a chunk of the array of a super-chunk.
unsafe fn chunk_len(chunk: NonNull<u8>) -> usize {
    // SAFETY: chunks of the array have a header.
    let head = unsafe { slice::from_raw_parts(chunk.as_ptr(), MIN_HEADER_LENGTH) };
    let cbytes = read_i32(head, offset::CBYTES).and_then(|cbytes| usize::try_from(cbytes).ok());
    cbytes.unwrap_or(0)
}

/// Puts a chunk, or NULL, into a slot. Frees the chunk that was there, or keeps its memory for another chunk.
///
/// # Safety
/// `slot` is in the array of a super-chunk, and the chunk in it is not in use.
unsafe fn replace_chunk(slot: &mut *mut u8, chunk: *mut u8) {
    if let Some(old) = NonNull::new(std::mem::replace(slot, chunk)) {
        // SAFETY: by the contract of this function the chunk was in an array and is not used any more; chunks of the
        // array are `malloc` blocks.
        unsafe { buffers::return_block(old, chunk_len(old)) }
    }
}

impl<'a> LockProof<'a, SuperChunk> {
    /// Returns chunk `nchunk`; for a view, that of its owner.
    #[inline]
    pub(in crate::schunk) fn chunk_in_memory(self, nchunk: i64) -> Result<&'a [u8]> {
        let owner = self.object().owner().ok_or_else(|| err!(Failure, "the owner of the view was freed"))?;
        let nchunks = owner.nchunks();
        let at = usize::try_from(nchunk).ok().filter(|_| nchunk < nchunks);
        let missing = || err!(Data, "no chunk {nchunk} in a super-chunk of {nchunks} chunks");
        // SAFETY: the rule of `c_struct` and of this module. A view and its owner have one lock; changes need a
        // `WriteGuard`, which the proof of the lock excludes for `'a`.
        unsafe {
            let (data, data_len) = ((*owner.as_ptr()).data, (*owner.as_ptr()).data_len);
            let at = at.filter(|&at| at < data_len / size_of::<*mut u8>() && !data.is_null());
            let chunk = at.and_then(|at| NonNull::new(*data.add(at))).ok_or_else(missing)?;
            Ok(slice::from_raw_parts(chunk.as_ptr(), chunk_len(chunk)))
        }
    }
}

impl WriteGuard<'_, SuperChunk> {
    /// Returns all slots of the array, including those behind the chunks.
    #[inline(always)]
    fn chunk_slots(&mut self) -> Result<&mut [*mut u8]> {
        let schunk = self.object_for_change();
        if schunk.is_view() {
            return Err(err!(InvalidParam, "the super-chunk is a view, expected the owner of the chunks"));
        }
        // SAFETY: the rule of `c_struct` and of this module; exclusive access.
        unsafe {
            let (data, data_len) = ((*schunk.as_ptr()).data, (*schunk.as_ptr()).data_len);
            if data.is_null() {
                return Ok(&mut []);
            }
            Ok(slice::from_raw_parts_mut(data, data_len / size_of::<*mut u8>()))
        }
    }

    /// Returns the slots of the chunks.
    ///
    /// # Errors
    /// `InvalidParam` for a view, `Data` when there are fewer slots than chunks.
    #[inline(always)]
    fn chunks_in_memory(&mut self) -> Result<&mut [*mut u8]> {
        let nchunks = self.nchunks();
        let slots = self.chunk_slots()?;
        let there = slots.len();
        let used = usize::try_from(nchunks).ok().and_then(|nchunks| slots.get_mut(..nchunks));
        used.ok_or_else(|| err!(Data, "`nchunks` is {nchunks}, expected at most {there}"))
    }

    #[inline(always)]
    fn chunk_slot(&mut self, at: i64) -> Result<&mut *mut u8> {
        let slot = usize::try_from(at).ok().and_then(|at| self.chunks_in_memory().ok()?.get_mut(at));
        slot.ok_or_else(|| err!(Data, "the super-chunk has no chunk {at}"))
    }

    /// Puts a chunk before chunk `at`, or at the end. The caller publishes the counters.
    ///
    /// # Errors
    /// `MemoryAlloc`, `Data` for a position out of range; nothing changes then.
    #[inline(always)]
    pub(in crate::schunk) fn insert_in_memory(&mut self, at: i64, chunk: ChunkBlock) -> Result<()> {
        let nchunks = self.nchunks();
        let mut slots = self.chunk_slots()?;
        if nchunks as u64 >= slots.len() as u64 {
            slots = self.grow_array(nchunks)?;
        }
        // The slots from `at` on, including the free slot behind the chunks; none for a position out of range.
        match slots.get_mut(at as usize..nchunks as usize + 1) {
            Some([slot]) => *slot = chunk.0.into_raw(),
            Some(behind @ [_, ..]) => {
                behind.copy_within(..behind.len() - 1, 1);
                behind[0] = chunk.0.into_raw();
            }
            Some([]) | None => return Err(err!(Data, "`nchunk` is {at}, expected 0 to {nchunks}")),
        }
        Ok(())
    }

    /// Enlarges the array, which is full. Returns the slots.
    #[cold]
    fn grow_array(&mut self, nchunks: i64) -> Result<&mut [*mut u8]> {
        let slots = self.chunk_slots()?;
        let (there, old_len) = (slots.len(), size_of_val(slots));
        if usize::try_from(nchunks).ok() != Some(there) {
            return Err(err!(Data, "`nchunks` is {nchunks}, expected at most {there}"));
        }
        let s = self.object_for_change().as_ptr();
        // SAFETY: the rule of `c_struct` and of this module; exclusive access. NULL in the slots that are new.
        unsafe {
            let len = old_len + DATA_STEP;
            let data: *mut *mut u8 = libc::realloc((*s).data.cast(), len).cast();
            ensure!(!data.is_null(), MemoryAlloc, "an array of {len} bytes");
            data.cast::<u8>().add(old_len).write_bytes(0, DATA_STEP);
            (*s).data = data;
            (*s).data_len = len;
        }
        self.chunk_slots()
    }

    /// Overwrites chunk `at` with another one that needs the same amount of memory. Returns whether it was overwritten.
    ///
    /// # Errors
    /// `Data` when there is no such chunk, `InvalidHeader` for bytes that are shorter than their header states.
    #[inline(always)]
    pub(in crate::schunk) fn overwrite_in_memory(&mut self, at: i64, chunk: &[u8]) -> Result<bool> {
        check_chunk_len(chunk)?;
        let slot = self.chunk_slot(at)?;
        let Some(block) = NonNull::new(*slot) else { return Ok(false) };
        // SAFETY: a chunk of the array.
        let old_len = unsafe { chunk_len(block) };
        if chunk.len() > old_len
            || chunk.len().div_ceil(MALLOC_GRANULARITY) != old_len.div_ceil(MALLOC_GRANULARITY)
        {
            return Ok(false);
        }
        // The program may pass a chunk that the library has lent to it: overlapping memory takes the general path.
        if chunk.as_ptr().addr().abs_diff(block.addr().get()) < old_len {
            return Ok(false);
        }
        // SAFETY: the block is `old_len` bytes long, does not overlap `chunk`, and access is exclusive.
        unsafe { block.as_ptr().copy_from_nonoverlapping(chunk.as_ptr(), chunk.len()) };
        Ok(true)
    }

    /// Replaces chunk `at`.
    ///
    /// # Errors
    /// `Data` when there is no such chunk.
    pub(in crate::schunk) fn replace_in_memory(&mut self, at: i64, chunk: ChunkBlock) -> Result<()> {
        // SAFETY: a slot of the array; `&mut self` is exclusive access.
        unsafe { replace_chunk(self.chunk_slot(at)?, chunk.0.into_raw()) };
        Ok(())
    }

    /// Frees chunk `at` and closes the gap. The caller publishes the counters.
    ///
    /// # Errors
    /// `Data` when there is no such chunk.
    pub(in crate::schunk) fn remove_in_memory(&mut self, at: i64) -> Result<()> {
        // SAFETY: a slot of the array; `&mut self` is exclusive access.
        unsafe { replace_chunk(self.chunk_slot(at)?, ptr::null_mut()) };
        let chunks = self.chunks_in_memory()?;
        let behind = &mut chunks[at as usize..];
        behind.copy_within(1.., 0);
        behind[behind.len() - 1] = ptr::null_mut();
        Ok(())
    }

    /// Reorders the chunks: chunk `order[i]` becomes chunk `i`.
    ///
    /// # Errors
    /// `Data` for an order of another number of chunks, `MemoryAlloc`.
    pub(in crate::schunk) fn reorder_in_memory(&mut self, order: &Permutation<'_>) -> Result<()> {
        let chunks = self.chunks_in_memory()?;
        if order.as_slice().len() != chunks.len() {
            let len = order.as_slice().len();
            return Err(err!(Data, "`offsets_order` has {len} chunk numbers, expected {}", chunks.len()));
        }
        let before = fallible::copy_of(chunks)?;
        for (slot, &from) in chunks.iter_mut().zip(order.as_slice()) {
            *slot = before[from as usize];
        }
        Ok(())
    }

    /// Frees all chunks and the array. The caller publishes the counters. Nothing happens for a view.
    pub(in crate::schunk) fn free_chunks(&mut self) {
        let Ok(slots) = self.chunk_slots() else { return };
        for slot in slots {
            // SAFETY: a slot of the array; `&mut self` is exclusive access.
            unsafe { replace_chunk(slot, ptr::null_mut()) };
        }
        let s = self.object_for_change().as_ptr();
        // SAFETY: the rule of `c_struct`: NULL or a `malloc` block; exclusive access, and no slice of the slots is in
        // use.
        unsafe {
            libc::free((*s).data.cast());
            (*s).data = ptr::null_mut();
            (*s).data_len = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, error_kind};
    use crate::schunk::OwnedSuperChunk;
    use crate::schunk::access_lock::Lockable;
    use crate::schunk::change::InputChunk;
    use crate::schunk::storage::Storage;
    use crate::schunk::view::ViewSizes;

    /// A super-chunk in memory with one chunk for each of these contents.
    fn with_chunks(contents: &[&[u8]]) -> OwnedSuperChunk {
        // SAFETY: the default parameters have no pointers but to literals.
        let schunk = unsafe { SuperChunk::create(&Storage::default()) }.unwrap();
        for content in contents {
            schunk.append_buffer(Some(content), content.len()).unwrap();
        }
        schunk
    }

    fn chunk(schunk: &SuperChunk, nchunk: i64) -> Vec<u8> {
        schunk.read_lock().lock_proof().chunk_in_memory(nchunk).unwrap().to_vec()
    }

    #[test]
    fn chunk_numbers_out_of_range_are_rejected() {
        let schunk = with_chunks(&[&[1; 16], &[2; 16]]);
        let before = [chunk(&schunk, 0), chunk(&schunk, 1)];
        let stored = || ChunkBlock::new(MallocBytes::copy_of(&before[0]).unwrap()).unwrap();
        let mut guard = WriteGuard::lock(&*schunk).unwrap();
        for at in [-1, 2, 511, 512, i64::MAX, i64::MIN] {
            assert_eq!(error_kind(guard.replace_in_memory(at, stored())), Some(ErrorKind::Data), "{at}");
            assert_eq!(error_kind(guard.remove_in_memory(at)), Some(ErrorKind::Data), "{at}");
            assert_eq!(error_kind(guard.overwrite_in_memory(at, &before[0])), Some(ErrorKind::Data), "{at}");
            assert_eq!(error_kind(guard.lock_proof().chunk_in_memory(at)), Some(ErrorKind::Data), "{at}");
        }
        for at in [-1, 3, 512, i64::MAX] {
            assert_eq!(error_kind(guard.insert_in_memory(at, stored())), Some(ErrorKind::Data), "{at}");
        }
        for order in [&[0][..], &[], &[2, 1, 0]] {
            let order = Permutation::new(order).unwrap();
            assert_eq!(error_kind(guard.reorder_in_memory(&order)), Some(ErrorKind::Data));
        }
        drop(guard);
        assert_eq!([chunk(&schunk, 0), chunk(&schunk, 1)], before);
    }

    #[test]
    fn nchunks_above_the_number_of_slots_is_rejected() {
        let schunk = with_chunks(&[&[1; 16]]);
        let mut guard = WriteGuard::lock(&*schunk).unwrap();
        let right = guard.counters();
        let stored =
            ChunkBlock::new(MallocBytes::copy_of(guard.lock_proof().chunk_in_memory(0).unwrap()).unwrap());
        for nchunks in [2, 512, 513, i64::MAX] {
            guard.set_counters(&crate::schunk::rules::Counters { nchunks, ..right });
            assert_eq!(
                error_kind(guard.lock_proof().chunk_in_memory(nchunks - 1)),
                Some(ErrorKind::Data),
                "{nchunks}"
            );
        }
        assert_eq!(error_kind(guard.insert_in_memory(0, stored.unwrap())), Some(ErrorKind::Data));
        guard.set_counters(&right);
    }

    #[test]
    fn chunks_shorter_than_their_cbytes_are_rejected() {
        let schunk = with_chunks(&[&[1; 16]]);
        let whole = chunk(&schunk, 0);
        for len in [0, 4, 15, whole.len() - 1] {
            let short = &whole[..len];
            let stored = ChunkBlock::new(MallocBytes::copy_of(short).unwrap());
            assert_eq!(error_kind(stored), Some(ErrorKind::InvalidHeader), "{len}");
            let mut guard = WriteGuard::lock(&*schunk).unwrap();
            assert_eq!(
                error_kind(guard.overwrite_in_memory(0, short)),
                Some(ErrorKind::InvalidHeader),
                "{len}"
            );
        }
        assert_eq!(chunk(&schunk, 0), whole);
    }

    #[test]
    fn the_array_grows_and_chunks_keep_their_order() {
        let schunk = with_chunks(&[&[0; 16]]);
        let stored = chunk(&schunk, 0);
        let numbered = |n: usize| {
            let mut bytes = stored.clone();
            let last = bytes.len() - 4;
            bytes[last..].copy_from_slice(&(n as u32).to_le_bytes());
            bytes
        };
        let mut model = vec![stored.clone()];
        for n in 1..1100 {
            let at = n * 7 % (model.len() + 1);
            schunk.insert_chunk(at as i64, InputChunk::Copy(&numbered(n))).unwrap();
            model.insert(at, numbered(n));
        }
        for at in [1099, 0, 500, 511, 512] {
            schunk.delete_chunk(at as i64).unwrap();
            model.remove(at);
        }
        let order: Vec<i64> = (0..model.len() as i64).rev().collect();
        schunk.reorder(&order).unwrap();
        model.reverse();
        for (n, expected) in model.iter().enumerate() {
            assert_eq!(&chunk(&schunk, n as i64), expected, "{n}");
        }
    }

    #[test]
    fn the_chunks_of_a_view_are_not_changed_through_it() {
        let schunk = with_chunks(&[&[1; 16]]);
        let stored = chunk(&schunk, 0);
        let sizes = ViewSizes { nchunks: 1, chunksize: 16, blocksize: 16 };
        // SAFETY: the view is dropped before its owner.
        let view = unsafe { schunk.create_view(&sizes, c"b2nd", &[]) }.unwrap();
        assert_eq!(chunk(&view, 0), stored);
        let block = || ChunkBlock::new(MallocBytes::copy_of(&stored).unwrap()).unwrap();
        let mut guard = WriteGuard::lock(&*view).unwrap();
        assert_eq!(error_kind(guard.insert_in_memory(0, block())), Some(ErrorKind::InvalidParam));
        assert!(guard.replace_in_memory(0, block()).is_err());
        assert!(guard.remove_in_memory(0).is_err());
        guard.free_chunks();
        drop(guard);
        // A view and its owner have the same lock.
        assert!(ptr::eq(view.access_lock(), schunk.access_lock()));
        drop(view);
        assert_eq!(chunk(&schunk, 0), stored);
    }
}
