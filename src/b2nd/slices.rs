//! Reading and writing boxes of items (`b2nd.md` 6.3, 6.4).
//!
//! Data flow: box -> chunks it touches -> blocks of each -> rows of bytes, copied between decoded blocks and the
//! caller's buffer. Chunks whose bytes are contiguous in the buffer are decoded to and encoded from the buffer
//! directly.

use super::MAX_DIM;
use super::array::Array;
use super::boxes::plan_rows;
use super::geometry::Geometry;
use super::shape_access::ShapeLockedArray;
use super::tiles::TilePart;
use super::transfer::{Transfer, is_buffer_covered, locate_single_item};
use crate::chunk::SpecialValue;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Error, Result, ensure, err, to_failure_unless_lock};
use crate::fallible;
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::decompress::{BlockContent, BlockSink, ByteRanges};
use crate::pipeline::jobs;
use crate::schunk::SuperChunk;
use crate::schunk::change::InputChunk;
use crate::schunk::patched_chunk::{BlockPatch, PatchExtent};
use crate::schunk::planned_read::ChunkBlocks;
use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

/// A buffer that several threads write, each thread other bytes.
pub(super) struct SharedDestination<'a> {
    start: *mut u8,
    len: usize,
    buffer: PhantomData<OutBuffer<'a>>,
}

// SAFETY: the buffer is borrowed mutably for `'a`, and code that writes through the pointer writes disjoint bytes in
// different threads.
unsafe impl Send for SharedDestination<'_> {}
// SAFETY: `start` and `len` do not change; writes through `start` are to disjoint bytes in different threads.
unsafe impl Sync for SharedDestination<'_> {}

impl<'a> SharedDestination<'a> {
    /// Borrows a buffer for writes by several threads.
    pub(super) fn new(mut buffer: OutBuffer<'a>) -> Self {
        SharedDestination { start: buffer.as_mut_ptr(), len: buffer.len(), buffer: PhantomData }
    }

    /// Returns the start of the buffer, of which [`len`](Self::len) bytes may be written.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Returns the length of the buffer in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Array {
    /// Reads the box from `start` to `stop` into `dest`, a buffer of `buffershape` items; items of the buffer outside
    /// the box, and those behind the end of the array, become zero. `takes_mask` states whether the mask of the decompression
    /// context is used; it is not for items that are stored in another array.
    ///
    /// # Errors
    /// `InvalidParam` for a box that does not fit into the buffer, `Failure` for one that begins before the array or
    /// reaches too far beyond its chunks ([`overrun`](super::overrun)) and when a chunk cannot be read, those of a
    /// refresh.
    pub(crate) fn get_box(
        &self,
        start: &[i64],
        stop: &[i64],
        buffershape: &[i64],
        mut dest: OutBuffer<'_>,
        takes_mask: bool,
    ) -> Result<()> {
        self.read_with_retry(|geometry| {
            self.read_box(geometry, start, stop, buffershape, dest.reborrow(), takes_mask)
        })
    }

    fn read_box(
        &self,
        geometry: &Geometry,
        start: &[i64],
        stop: &[i64],
        buffershape: &[i64],
        mut dest: OutBuffer<'_>,
        takes_mask: bool,
    ) -> Result<()> {
        let schunk = self.schunk()?;
        let _fetched = schunk.fetch(|| Ok(blocks_of_box(geometry, start, stop)))?;
        if geometry.ndim() == 0 {
            dest.fill(0);
            let len = usize::try_from(geometry.typesize()).unwrap_or(0);
            let Some(item) = dest.get(0..len) else {
                return Err(err!(InvalidParam, "the buffer is shorter than an item, {len} bytes"));
            };
            let read = schunk.decompress_whole_chunk(0, item, takes_mask).map_err(to_failure_unless_lock)?;
            return if read { Ok(()) } else { Err(err!(Failure, "chunk 0 is no item of {len} bytes")) };
        }
        if let Some((nchunk, at)) = locate_single_item(geometry, start, stop, buffershape, dest.len()) {
            let sizes = (geometry.chunk_nbytes()? as usize, geometry.block_nbytes()? as usize);
            return schunk.read_item(nchunk, at, dest, sizes).map_err(to_failure_unless_lock);
        }
        let checked = Transfer::new(geometry, start, stop, buffershape, dest.len());
        let transfer = match checked {
            Ok(Some(transfer)) => transfer,
            none => {
                dest.fill(0);
                return none.map(|_| ());
            }
        };
        if !is_buffer_covered(&transfer, buffershape, dest.len()) {
            dest.fill(0);
        }
        if let Some(number) = transfer.whole_chunk()
            && read_whole_chunk(schunk, &transfer, number, dest.reborrow(), takes_mask)
                .map_err(to_failure_unless_lock)?
        {
            return Ok(());
        }
        let target = SharedDestination::new(dest);
        let mut chunks = geometry.chunks_of_box(start, stop);
        let count = usize::try_from(transfer.chunks_to_transfer(&chunks)).unwrap_or(usize::MAX);
        let nthreads = nthreads_for_chunks(schunk, count, target.len());
        if nthreads > 1 {
            jobs::for_each_item(nthreads, 0..count, |n| {
                let mut chunks = chunks.clone();
                chunks.seek(n as i64);
                // SAFETY: each part of the box is read once, and parts have no common items.
                chunks
                    .next_part()
                    .map_or(Ok(()), |part| unsafe { read_box_part(schunk, &transfer, part, &target) })
            })
            .map_err(to_failure_unless_lock)?;
            return transfer.check_overrun();
        }
        for _ in 0..count {
            let Some(part) = chunks.next_part() else { break };
            // SAFETY: one thread reads all parts.
            unsafe { read_box_part(schunk, &transfer, part, &target) }.map_err(to_failure_unless_lock)?;
        }
        transfer.check_overrun()
    }

    /// Writes the box from `start` to `stop` from `src`, a buffer of `buffershape` items.
    ///
    /// # Errors
    /// `InvalidParam` for a box that does not fit into the buffer, `Failure` for one that begins before the array or
    /// reaches too far beyond its chunks ([`overrun`](super::overrun)) and when a chunk cannot be read or stored,
    /// `Lock`, those of a refresh. Chunks before the one that failed are written.
    pub(crate) fn set_box(&self, start: &[i64], stop: &[i64], buffershape: &[i64], src: &[u8]) -> Result<()> {
        self.with_shape_lock(|locked| locked.write_box(start, stop, buffershape, src))
    }

    /// Reads the whole array into `dest`.
    ///
    /// # Errors
    /// `InvalidParam` when the array does not fit, those of [`get_box`](Self::get_box).
    pub(crate) fn read(&self, mut dest: OutBuffer<'_>) -> Result<()> {
        self.read_with_retry(|geometry| {
            check_buffer_len(geometry, dest.len())?;
            if geometry.nitems() == 0 {
                return Ok(());
            }
            let start = &[0; MAX_DIM][..geometry.ndim()];
            self.read_box(geometry, start, geometry.shape(), geometry.shape(), dest.reborrow(), true)
        })
    }

    /// Writes the whole array from `src`.
    ///
    /// # Errors
    /// `InvalidParam` when `src` is shorter than the array, those of [`set_box`](Self::set_box).
    pub(crate) fn write(&self, src: &[u8]) -> Result<()> {
        if self.geometry().nitems() == 0 {
            return check_buffer_len(&self.geometry(), src.len());
        }
        self.with_shape_lock(|locked| {
            let geometry = self.geometry();
            check_buffer_len(&geometry, src.len())?;
            let start = &[0; MAX_DIM][..geometry.ndim()];
            locked.write_box(start, geometry.shape(), geometry.shape(), src)
        })
    }
}

/// Returns the chunks of the box from `start` to `stop`, each with its blocks that have some of the items.
fn blocks_of_box<'a>(
    geometry: &'a Geometry,
    start: &[i64],
    stop: &[i64],
) -> impl Iterator<Item = ChunkBlocks> + Clone + use<'a> {
    geometry.chunks_of_box(start, stop).map(move |part| {
        let blocks = geometry.blocks_of_part(&part).map(|block| usize::try_from(block.number).unwrap_or(0));
        (part.number, Some(blocks.collect()))
    })
}

impl ShapeLockedArray<'_> {
    /// As [`Array::set_box`].
    pub(super) fn write_box(
        &self,
        start: &[i64],
        stop: &[i64],
        buffershape: &[i64],
        src: &[u8],
    ) -> Result<()> {
        let (geometry, schunk) = (&*self.array().geometry(), self.schunk());
        if geometry.ndim() == 0 {
            let len = usize::try_from(geometry.typesize()).unwrap_or(0);
            let Some(item) = src.get(..len) else {
                return Err(err!(
                    InvalidParam,
                    "the buffer has {} bytes, expected at least {len}",
                    src.len()
                ));
            };
            return schunk.compress_and_update_chunk(0, item).map_err(to_failure_unless_lock);
        }
        let Some(transfer) = Transfer::new(geometry, start, stop, buffershape, src.len())? else {
            return Ok(());
        };
        if let Some(number) = transfer.whole_chunk()
            && write_whole_chunk(schunk, &transfer, number, src).map_err(to_failure_unless_lock)?
        {
            return Ok(());
        }
        self.write_parts(&transfer, src, |_| Ok(false))
    }

    /// Writes the parts of the box in each chunk. `store` is called for each chunk, in order, and returns whether it has
    /// stored the chunk.
    pub(super) fn write_parts(
        &self,
        transfer: &Transfer<'_>,
        src: &[u8],
        mut store: impl FnMut(&SuperChunk) -> Result<bool>,
    ) -> Result<()> {
        let schunk = self.schunk();
        let sizes = transfer.chunk_and_block_nbytes()?;
        let mut chunks = transfer.geometry.chunks_of_box(transfer.start, transfer.stop);
        for _ in 0..transfer.chunks_to_transfer(&chunks) {
            let Some(part) = chunks.next_part() else { break };
            let patch = BoxPatch::new(transfer, part, src);
            let stored = store(schunk).and_then(|is_stored| match is_stored {
                true => Ok(()),
                false => schunk.patch_chunk(part.number, sizes, &patch, patch.keeps_items()),
            });
            stored.map_err(to_failure_unless_lock)?;
        }
        transfer.check_overrun().inspect_err(|_| schunk.keep_changes_in_place())
    }
}

impl Array {
    /// Sets every item, including padding, to `value`, which has the size of an item.
    ///
    /// # Errors
    /// `Failure` when a chunk cannot be made or stored.
    pub(crate) fn fill(&mut self, value: &[u8]) -> Result<()> {
        let schunk = self.schunk()?;
        schunk.in_transaction(to_failure_unless_lock, || fill_chunks(schunk, &self.geometry(), value))
    }
}

fn fill_chunks(schunk: &SuperChunk, geometry: &Geometry, value: &[u8]) -> Result<()> {
    let chunksize = usize::try_from(geometry.chunk_nbytes()?).unwrap_or(0);
    let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH + value.len())?;
    let made = schunk.with_new_context(|context| match geometry.nchunks() {
        0 => Ok(0),
        _ => context.compress_special_chunk(
            SpecialValue::Value,
            chunksize,
            value,
            OutBuffer::from(&mut chunk[..]),
        ),
    });
    made.map_err(to_failure_unless_lock)?;
    for nchunk in 0..geometry.nchunks() {
        schunk.update_chunk(nchunk, InputChunk::Copy(&chunk)).map_err(to_failure_unless_lock)?;
    }
    Ok(())
}

fn check_buffer_len(geometry: &Geometry, len: usize) -> Result<()> {
    let needed = geometry.nbytes()?;
    if i64::try_from(len).is_ok_and(|len| len < needed) {
        return Err(err!(InvalidParam, "the buffer has {len} bytes, expected at least {needed}"));
    }
    Ok(())
}

/// Size of a read, in bytes, from which it is distributed over threads.
const MIN_PARALLEL: usize = 64 << 10;

/// Returns the number of threads that read `count` chunks in parallel, for a buffer of `len` bytes: all threads if
/// there are at least two chunks per thread, otherwise 1. In the latter case chunks are read one after the other, and
/// the blocks of each chunk in parallel.
pub(super) fn nthreads_for_chunks(schunk: &SuperChunk, count: usize, len: usize) -> usize {
    if count < 2 || len < MIN_PARALLEL {
        return 1;
    }
    let nthreads = schunk.threads_for_chunks();
    if count >= 2 * nthreads { nthreads } else { 1 }
}

/// Reads a part of a chunk, block by block, to its offset in `target`.
///
/// # Safety
/// During the call no other thread uses the bytes of `target` that belong to items of the part.
unsafe fn read_box_part(
    schunk: &SuperChunk,
    transfer: &Transfer<'_>,
    part: &TilePart,
    target: &SharedDestination<'_>,
) -> Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    let (chunksize, blocksize) = transfer.chunk_and_block_nbytes()?;
    let tiles = transfer.geometry.blocks_of_part(part);
    let blocks: Vec<usize> = {
        let mut tiles = tiles.clone();
        let mut blocks = fallible::vec_with_capacity(usize::try_from(tiles.len()).unwrap_or(usize::MAX))?;
        while let Some(block) = tiles.next_part() {
            blocks.push(block.number as usize);
        }
        blocks
    };
    let mut reader = BoxReader { transfer, part, blocks: &blocks, blocksize, target };
    schunk.visit_blocks(part.number, &blocks, blocksize, chunksize, &mut reader)
}

/// Copies the items of a part of the box from the blocks of a chunk. Only [`read_box_part`] makes one.
struct BoxReader<'a> {
    transfer: &'a Transfer<'a>,
    part: &'a TilePart,
    /// Numbers of the blocks, and size of a block in bytes.
    blocks: &'a [usize],
    blocksize: usize,
    target: &'a SharedDestination<'a>,
}

impl BoxReader<'_> {
    /// Returns the part of the box in the `n`-th block.
    fn overlap(&self, n: usize) -> BlockOverlap {
        BlockOverlap::new(self.transfer, self.part, self.blocks.get(n).copied().unwrap_or(usize::MAX))
    }

    #[cold]
    fn missing_overlap(&self, n: usize) -> Error {
        err!(Failure, "entry {n} of {} blocks has no item of the box", self.blocks.len())
    }
}

impl BlockSink for BoxReader<'_> {
    fn wanted_range(&self, n: usize, len: usize) -> Range<usize> {
        let overlap = self.overlap(n);
        if overlap.is_empty {
            return 0..len;
        }
        let strides = &self.transfer.geometry.strides().item_block;
        let typesize = self.transfer.geometry.typesize() as usize;
        let (mut first, mut last) = (0, 0);
        for (dim, stride) in strides.iter().enumerate().take(self.transfer.ndim()) {
            first += overlap.start[dim] * stride;
            last += (overlap.start[dim] + overlap.shape[dim] - 1) * stride;
        }
        let (first, end) = (first as usize * typesize, (last as usize + 1) * typesize);
        if end <= len { first..end } else { 0..len }
    }

    fn with_byte_ranges(
        &self,
        n: usize,
        len: usize,
        decode: &mut dyn FnMut(&dyn ByteRanges) -> Result<bool>,
    ) -> Result<bool> {
        let (overlap, geometry) = (self.overlap(n), self.transfer.geometry);
        if overlap.is_empty {
            return Err(self.missing_overlap(n));
        }
        let ndim = self.transfer.ndim();
        // The destination is irrelevant: only the source ranges of the rows are used.
        let from = self.transfer.block_layout(&overlap.start)?;
        let rows = plan_rows(&overlap.shape[..ndim], geometry.typesize(), &from, &from)?;
        if rows.src_range().end > len { Ok(false) } else { decode(&rows) }
    }

    unsafe fn with_block_dest(
        &self,
        n: usize,
        decode: &mut dyn FnMut(&mut [u8]) -> Result<()>,
    ) -> Option<Result<()>> {
        let (overlap, geometry) = (self.overlap(n), self.transfer.geometry);
        if overlap.is_empty {
            return None;
        }
        let strides = &geometry.strides().item_block;
        let mut first = 0;
        for (dim, &extent) in geometry.blockshape().iter().enumerate() {
            let is_same = extent == 1 || self.transfer.strides[dim] == strides[dim];
            if !is_same || overlap.shape[dim] != i64::from(extent) {
                return None;
            }
            first += overlap.start_in_box[dim] * self.transfer.strides[dim];
        }
        let first = usize::try_from(first).ok()?.checked_mul(geometry.typesize() as usize)?;
        let end = first.checked_add(self.blocksize).filter(|&end| end <= self.target.len)?;
        // SAFETY: inside the buffer; no other block has these items, and the caller guarantees that no other call has
        // this block.
        let dest = unsafe { slice::from_raw_parts_mut(self.target.start.add(first), end - first) };
        Some(decode(dest))
    }

    unsafe fn accept(&self, n: usize, content: BlockContent<'_>) -> Result<()> {
        let overlap = self.overlap(n);
        if overlap.is_empty {
            return Err(self.missing_overlap(n));
        }
        let (ndim, typesize) = (self.transfer.ndim(), self.transfer.geometry.typesize());
        let to = self.transfer.buffer_layout(&overlap.start_in_box)?;
        match content {
            BlockContent::Bytes(bytes) => {
                let from = self.transfer.block_layout(&overlap.start)?;
                let rows = plan_rows(&overlap.shape[..ndim], typesize, &from, &to)?;
                // SAFETY: the buffer has that length; no other block has these items, and by the contract of `accept`
                // no other call has this block.
                unsafe { rows.copy_shared(bytes, self.target.start, self.target.len) }
            }
            BlockContent::Zeros => {
                let rows = plan_rows(&overlap.shape[..ndim], typesize, &to, &to)?;
                // SAFETY: the buffer has that length; no other block has these items, and by the contract of `accept`
                // no other call has this block.
                unsafe { rows.fill_shared(self.target.start, self.target.len, &[0]) }
            }
        }
    }
}

/// Reads a box that is exactly one chunk. Returns `false`, and does nothing, if the chunk does not have the size that
/// the chunk shape requires.
fn read_whole_chunk(
    schunk: &SuperChunk,
    transfer: &Transfer<'_>,
    number: i64,
    mut dest: OutBuffer<'_>,
    takes_mask: bool,
) -> Result<bool> {
    let (chunksize, _) = transfer.chunk_and_block_nbytes()?;
    let ndim = transfer.ndim();
    let shape = transfer.chunkshape();
    let from = transfer.chunk_layout(&[0; MAX_DIM])?;
    let to = transfer.buffer_layout(&[0; MAX_DIM])?;
    let rows = plan_rows(&shape[..ndim], transfer.geometry.typesize(), &from, &to)?;
    if rows.count() == 1 {
        return schunk.decompress_whole_chunk(number, dest.range(0..chunksize), takes_mask);
    }
    let mut content = MallocBytes::zeroed(chunksize)?;
    if !schunk.decompress_whole_chunk(number, OutBuffer::from(&mut content[..]), takes_mask)? {
        return Ok(false);
    }
    rows.copy_to_uninit(&content, dest).map(|()| true)
}

/// Writes a box that is exactly one chunk, if its items are in the same order in buffer and chunk. Returns whether they
/// are.
fn write_whole_chunk(schunk: &SuperChunk, transfer: &Transfer<'_>, number: i64, src: &[u8]) -> Result<bool> {
    let (chunksize, _) = transfer.chunk_and_block_nbytes()?;
    let ndim = transfer.ndim();
    let shape = transfer.chunkshape();
    let from = transfer.buffer_layout(&[0; MAX_DIM])?;
    let to = transfer.chunk_layout(&[0; MAX_DIM])?;
    let rows = plan_rows(&shape[..ndim], transfer.geometry.typesize(), &from, &to)?;
    if rows.count() != 1 {
        return Ok(false);
    }
    schunk.compress_and_update_chunk(number, &src[..chunksize]).map(|()| true)
}

/// Checks that the chunk of an array without dimensions had the size of an item, in bytes.
pub(super) fn check_chunk_size(nbytes: usize, chunksize: usize) -> Result<()> {
    ensure!(nbytes == chunksize, Failure, "the chunk has {nbytes} bytes, expected {chunksize}");
    Ok(())
}

/// The changes by a part of the box in the blocks of its chunk.
pub(super) struct BoxPatch<'a> {
    transfer: &'a Transfer<'a>,
    part: &'a TilePart,
    src: &'a [u8],
}

impl<'a> BoxPatch<'a> {
    #[inline]
    pub(super) fn new(transfer: &'a Transfer<'a>, part: &'a TilePart, src: &'a [u8]) -> Self {
        BoxPatch { transfer, part, src }
    }

    /// Returns whether some items of the chunk are not overwritten.
    #[inline]
    pub(super) fn keeps_items(&self) -> bool {
        let extents = self.transfer.extents_of_chunk(self.part.number);
        let ndim = self.transfer.ndim();
        self.part.shape[..ndim] != extents[..ndim]
    }
}

/// The intersection of a part of the box and a block: its start in the block and in the box, and its extents.
struct BlockOverlap {
    start: [i64; MAX_DIM],
    start_in_box: [i64; MAX_DIM],
    shape: [i64; MAX_DIM],
    /// The other fields are undefined then. Not `None`: wrapping the struct copies its 384 bytes.
    is_empty: bool,
}

impl BlockOverlap {
    /// Returns the intersection; it is empty for a number that is no `i64`.
    fn new(transfer: &Transfer<'_>, part: &TilePart, nblock: usize) -> BlockOverlap {
        let geometry = transfer.geometry;
        let nblock = i64::try_from(nblock);
        let mut overlap = BlockOverlap {
            start: [0; MAX_DIM],
            start_in_box: [0; MAX_DIM],
            shape: [1; MAX_DIM],
            is_empty: nblock.is_err(),
        };
        let mut rest = nblock.unwrap_or_default();
        for dim in (0..geometry.ndim()).rev() {
            let along = geometry.blocks_along(dim).max(1);
            let block = i64::from(geometry.blockshape()[dim]);
            let begin = rest % along * block;
            rest /= along;
            let first = part.start[dim];
            let start = first.max(begin);
            let extent = (first + part.shape[dim]).min(begin + block) - start;
            if extent <= 0 {
                overlap.is_empty = true;
                break;
            }
            overlap.start[dim] = start - begin;
            overlap.start_in_box[dim] = part.start_in_box[dim] + (start - first);
            overlap.shape[dim] = extent;
        }
        overlap
    }
}

impl BlockPatch for BoxPatch<'_> {
    fn extent(&self, nblock: usize) -> PatchExtent {
        let overlap = BlockOverlap::new(self.transfer, self.part, nblock);
        if overlap.is_empty {
            return PatchExtent::Nothing;
        }
        let blockshape = self.transfer.geometry.blockshape();
        let is_all = overlap.shape.iter().zip(blockshape).all(|(&a, &b)| a == i64::from(b));
        if is_all { PatchExtent::All } else { PatchExtent::Part }
    }

    fn write(&self, nblock: usize, block: &mut [u8]) -> Result<()> {
        let overlap = BlockOverlap::new(self.transfer, self.part, nblock);
        if overlap.is_empty {
            return Ok(());
        }
        let from = self.transfer.buffer_layout(&overlap.start_in_box)?;
        let to = self.transfer.block_layout(&overlap.start)?;
        let shape = &overlap.shape[..self.transfer.ndim()];
        plan_rows(shape, self.transfer.geometry.typesize(), &from, &to)?.copy(self.src, block)
    }
}
