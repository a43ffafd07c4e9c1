//! Orthogonal selections (`b2nd.md` 6.7): one list of coordinates per dimension, in any order and with repetitions. The
//! selected items are the Cartesian product of the lists.
//!
//! Data flow: lists -> along each dimension the pieces of each block, with their offsets in block and buffer -> touched
//! chunks -> blocks of each, decoded once -> products of pieces. Consecutive coordinates of the last dimension that are
//! also consecutive in its list form one piece.

mod axis;
mod parts;

use super::MAX_DIM;
use super::array::Array;
use super::geometry::Geometry;
use super::shape_access::ShapeLockedArray;
use super::slices::{SharedDestination, check_chunk_size, nthreads_for_chunks};
use crate::error::{Result, ensure, err, to_failure_unless_lock};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::decompress::{BlockContent, BlockSink, ByteRanges};
use crate::pipeline::jobs;
use crate::schunk::patched_chunk::{BlockPatch, PatchExtent};
use crate::schunk::planned_read::ChunkBlocks;
use axis::{Axis, DuplicatePolicy};
use parking_lot::Mutex;
use parts::{ChunkSelection, SortedSelection};
use std::ops::Range;
use std::sync::Arc;

/// A checked selection, and the layout of the buffer from or to which its items are copied.
pub(crate) struct Selection<'a> {
    geometry: Arc<Geometry>,
    lists: &'a [&'a [i64]],
    buffershape: &'a [i64],
    buffersize: i64,
    /// Distance from one item of the buffer to the next along each dimension, in bytes.
    buffer_strides: [usize; MAX_DIM],
    min_buffer_len: usize,
    /// Whether two items may have the same offset in the buffer.
    has_overlaps: bool,
}

impl<'a> Selection<'a> {
    /// Checks a selection, a list of coordinates for each dimension of the array, for a buffer of `buffershape` items;
    /// `buffersize` is its size in bytes as the program states it, which may be too small (`b2nd.md` 6.7).
    pub(crate) fn new(
        geometry: Arc<Geometry>,
        lists: &'a [&'a [i64]],
        buffershape: &'a [i64],
        buffersize: i64,
    ) -> Result<Selection<'a>> {
        let ndim = geometry.ndim();
        ensure!(
            lists.len() == ndim && buffershape.len() == ndim,
            InvalidParam,
            "{} lists of coordinates and {} extents in `buffershape`, expected {ndim} of each",
            lists.len(),
            buffershape.len(),
        );
        for (dim, (list, &extent)) in lists.iter().zip(geometry.shape()).enumerate() {
            if let Some(coord) = list.iter().find(|coord| !(0..extent).contains(*coord)) {
                return Err(err!(
                    InvalidIndex,
                    "coordinate {coord} in dimension {dim}, expected 0 or more and less than {extent}"
                ));
            }
        }
        let typesize = i128::from(geometry.typesize());
        let nbytes = lists.iter().fold(typesize, |bytes, list| bytes.saturating_mul(list.len() as i128));
        // For an array without dimensions the buffer must hold its only item.
        ensure!(
            nbytes >= buffersize.into() && (ndim != 0 || nbytes <= buffersize.into()),
            InvalidParam,
            "`buffersize` is {buffersize}, but the selected items have {nbytes} bytes",
        );
        geometry.chunk_nbytes()?;
        let steps = [0; MAX_DIM];
        let mut selection = Selection {
            geometry,
            lists,
            buffershape,
            buffersize,
            buffer_strides: steps,
            min_buffer_len: 0,
            has_overlaps: false,
        };
        if !selection.is_empty() {
            selection.compute_buffer_layout(buffershape)?;
        }
        Ok(selection)
    }

    /// Computes the steps and the span of the buffer.
    fn compute_buffer_layout(&mut self, buffershape: &[i64]) -> Result<()> {
        let wrong = || {
            err!(
                InvalidParam,
                "`buffershape` is {buffershape:?}, expected no negative extent, offsets below 2^63, and items of \
                 at least 1 byte"
            )
        };
        let typesize = usize::try_from(self.geometry.typesize()).ok().filter(|&size| size > 0);
        let typesize = typesize.ok_or_else(wrong)?;
        let mut step = typesize;
        let mut end = typesize;
        for (dim, list) in self.lists.iter().enumerate().rev() {
            self.buffer_strides[dim] = step;
            let last = (list.len() - 1).checked_mul(step).and_then(|last| end.checked_add(last));
            end = last.ok_or_else(wrong)?;
            if dim > 0 {
                let extent = usize::try_from(buffershape[dim]).map_err(|_| wrong())?;
                self.has_overlaps |= extent < list.len();
                // A step that overflows is saturated: if it is used, `end` overflows, too, and is checked.
                step = step.saturating_mul(extent);
            }
        }
        self.min_buffer_len = isize::try_from(end).map_err(|_| wrong())? as usize;
        Ok(())
    }

    /// Returns the same selection, checked for another geometry of the array.
    fn with_geometry(&self, geometry: &Arc<Geometry>) -> Result<Selection<'a>> {
        Selection::new(Arc::clone(geometry), self.lists, self.buffershape, self.buffersize)
    }

    /// Returns whether no item is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.iter().any(|list| list.is_empty())
    }

    /// Returns the minimum length of the buffer in bytes.
    pub(crate) fn min_buffer_len(&self) -> usize {
        self.min_buffer_len
    }

    /// Sorts the lists; there is at least one item and one dimension.
    fn sort(&self, duplicates: DuplicatePolicy) -> Result<SortedSelection> {
        let geometry = &*self.geometry;
        let mut axes = fallible::vec_with_capacity(self.lists.len())?;
        let mut chunk_stride = 1i64;
        for (dim, list) in self.lists.iter().enumerate().rev() {
            axes.push(Axis::new(geometry, dim, list, self.buffer_strides[dim], chunk_stride, duplicates)?);
            chunk_stride = chunk_stride.saturating_mul(geometry.chunks_along(dim));
        }
        axes.reverse();
        Ok(SortedSelection {
            axes,
            typesize: geometry.typesize() as usize,
            chunksize: geometry.chunk_nbytes()? as usize,
            blocksize: geometry.block_nbytes()? as usize,
        })
    }

    fn check_buffer_len(&self, len: usize) -> Result<()> {
        ensure!(
            self.min_buffer_len <= len,
            InvalidParam,
            "the buffer has {len} bytes, expected at least {}",
            self.min_buffer_len,
        );
        Ok(())
    }
}

/// Copies the selected items from the blocks of a chunk to the buffer.
struct SelectionReader<'a> {
    part: &'a ChunkSelection<'a>,
    target: &'a SharedDestination<'a>,
    /// Serialises the blocks, where items of several blocks have the same offset in the buffer.
    overlap_lock: Option<&'a Mutex<()>>,
}

impl<'a> SelectionReader<'a> {
    /// Returns a sink for the blocks of a chunk.
    ///
    /// # Safety
    /// While the sink is used, no other thread uses the bytes of `target` that belong to selected items of the chunk,
    /// unless it locks `overlap_lock`.
    unsafe fn new(
        part: &'a ChunkSelection<'a>,
        target: &'a SharedDestination<'a>,
        overlap_lock: Option<&'a Mutex<()>>,
    ) -> Self {
        SelectionReader { part, target, overlap_lock }
    }
}

impl BlockSink for SelectionReader<'_> {
    fn wanted_range(&self, n: usize, len: usize) -> Range<usize> {
        let block = self.part.block(n);
        // Pieces are in ascending order.
        let first = block.pieces[..block.ndim].iter().filter_map(|pieces| pieces.first());
        let start = first.map(|piece| piece.in_block).sum();
        if start < block.block_end && block.block_end <= len { start..block.block_end } else { 0..len }
    }

    fn with_byte_ranges(
        &self,
        n: usize,
        len: usize,
        decode: &mut dyn FnMut(&dyn ByteRanges) -> Result<bool>,
    ) -> Result<bool> {
        let block = self.part.block(n);
        if block.block_end > len { Ok(false) } else { decode(&block) }
    }

    unsafe fn accept(&self, n: usize, content: BlockContent<'_>) -> Result<()> {
        let _alone = self.overlap_lock.map(Mutex::lock);
        let block = self.part.block(n);
        // SAFETY: the length of the buffer was checked; other blocks have other items, at other offsets unless the lock
        // serialises the blocks. The caller guarantees that no other call has this block.
        unsafe {
            match content {
                BlockContent::Bytes(bytes) => block.gather(bytes, self.target),
                BlockContent::Zeros => block.write_zeros(self.target),
            }
        }
    }
}

impl Array {
    /// Reads the items of the `selection` into `dest`. Other bytes of the buffer stay unchanged.
    ///
    /// # Errors
    /// `InvalidParam` for a buffer that is too short, `Failure` when a chunk cannot be read.
    pub(crate) fn get_orthogonal(&self, selection: &Selection<'_>, mut dest: OutBuffer<'_>) -> Result<()> {
        self.read_with_retry(|geometry| {
            self.read_selection(&selection.with_geometry(geometry)?, dest.reborrow())
        })
    }

    fn read_selection(&self, selection: &Selection<'_>, mut dest: OutBuffer<'_>) -> Result<()> {
        let schunk = self.schunk()?;
        if selection.is_empty() {
            return Ok(());
        }
        selection.check_buffer_len(dest.len())?;
        if selection.lists.is_empty() {
            let nbytes = schunk
                .decompress_chunk(0, dest.range(0..selection.min_buffer_len))
                .map_err(to_failure_unless_lock)?;
            return check_chunk_size(nbytes, selection.min_buffer_len);
        }
        let sorted = selection.sort(DuplicatePolicy::All)?;
        let _fetched = schunk.fetch(|| {
            let mut chunks: Vec<ChunkBlocks> = Vec::new();
            sorted.for_each_chunk(|part| {
                fallible::push(&mut chunks, (part.number, Some(part.block_numbers()?)))
            })?;
            Ok(chunks.into_iter())
        })?;
        let target = SharedDestination::new(dest);
        let overlap_lock = selection.has_overlaps.then(|| Mutex::new(()));
        let read = |part: &ChunkSelection<'_>| {
            let blocks = part.block_numbers()?;
            // SAFETY: each chunk is read once, and where items of several chunks or blocks have the same offset, a lock
            // serialises them.
            let mut reader = unsafe { SelectionReader::new(part, &target, overlap_lock.as_ref()) };
            schunk
                .visit_blocks(part.number, &blocks, sorted.blocksize, sorted.chunksize, &mut reader)
                .map_err(to_failure_unless_lock)
        };
        let decoded = sorted.nchunks().saturating_mul(sorted.blocksize);
        match nthreads_for_chunks(schunk, sorted.nchunks(), decoded) {
            nthreads if nthreads > 1 && overlap_lock.is_none() => {
                jobs::for_each_item(nthreads, 0..sorted.nchunks(), |n| read(&sorted.chunk(n)))
            }
            _ => sorted.for_each_chunk(read),
        }
    }

    /// Writes the items of the `selection` from `src`. Of equal coordinates in a list the last one is written.
    ///
    /// # Errors
    /// As [`get_orthogonal`](Self::get_orthogonal); `Lock`. Chunks before the one that failed are written.
    pub(crate) fn set_orthogonal(&self, selection: &Selection<'_>, src: &[u8]) -> Result<()> {
        self.with_shape_lock(|locked| {
            write_selection(locked, &selection.with_geometry(&self.geometry())?, src)
        })
    }
}

fn write_selection(locked: &ShapeLockedArray<'_>, selection: &Selection<'_>, src: &[u8]) -> Result<()> {
    if selection.is_empty() {
        return Ok(());
    }
    selection.check_buffer_len(src.len())?;
    if selection.lists.is_empty() {
        return locked
            .schunk()
            .compress_and_update_chunk(0, &src[..selection.min_buffer_len])
            .map_err(to_failure_unless_lock);
    }
    let sorted = selection.sort(DuplicatePolicy::Last)?;
    let sizes = (sorted.chunksize, sorted.blocksize);
    sorted.for_each_chunk(|part| {
        let changes = SelectionPatch { block_numbers: part.block_numbers()?, part, src };
        locked
            .schunk()
            .patch_chunk(part.number, sizes, &changes, !part.is_whole)
            .map_err(to_failure_unless_lock)
    })
}

/// The changes of a selection in the blocks of a chunk.
struct SelectionPatch<'a> {
    part: &'a ChunkSelection<'a>,
    /// The blocks, in ascending order.
    block_numbers: Vec<usize>,
    src: &'a [u8],
}

impl BlockPatch for SelectionPatch<'_> {
    fn extent(&self, nblock: usize) -> PatchExtent {
        match (self.block_numbers.binary_search(&nblock), self.part.is_whole) {
            (Err(_), _) => PatchExtent::Nothing,
            (Ok(_), true) => PatchExtent::All,
            (Ok(_), false) => PatchExtent::Part,
        }
    }

    fn write(&self, nblock: usize, block: &mut [u8]) -> Result<()> {
        match self.block_numbers.binary_search(&nblock) {
            Ok(n) => self.part.block(n).scatter(self.src, block),
            Err(_) => Ok(()),
        }
    }
}
