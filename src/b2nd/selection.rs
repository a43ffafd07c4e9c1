//! Orthogonal selections (`b2nd.md` 6.7): one list of coordinates per dimension, in any order and with repetitions. The
//! selected items are the Cartesian product of the lists.
//!
//! Data flow: lists -> along each dimension the pieces of each block, with their offsets in block and buffer -> touched
//! chunks -> blocks of each, decoded once -> products of pieces. Consecutive coordinates of the last dimension that are
//! also consecutive in its list form one piece.

use super::MAX_DIM;
use super::array::Array;
use super::geometry::Geometry;
use super::shape_access::ShapeLockedArray;
use super::slices::{SharedDestination, check_chunk_size, nthreads_for_chunks, to_failure_unless_lock};
use crate::err;
use crate::error::Result;
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::decompress::{BlockContent, BlockSink, ByteRanges};
use crate::pipeline::jobs;
use crate::schunk::patched_chunk::{BlockPatch, PatchExtent};
use parking_lot::Mutex;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

/// Coordinates that are contiguous in block and buffer. The offset of an item is the sum over the dimensions of the
/// offsets of its pieces, in bytes.
#[derive(Clone, Copy, Debug)]
struct Piece {
    in_block: usize,
    in_buffer: usize,
    /// Length in bytes: that of one item, or of several items in the last dimension.
    len: usize,
}

/// The pieces along one dimension that are in the same blocks.
#[derive(Clone, Debug)]
struct AxisBlock {
    /// The summand of this dimension in the number of a block in its chunk.
    nblock: usize,
    /// Range of the pieces of the dimension.
    pieces: Range<usize>,
    /// The largest `in_block` and `in_buffer`, plus the bytes of a piece behind its first item.
    block_reach: usize,
    buffer_reach: usize,
}

/// The blocks along one dimension that are in the same chunks.
#[derive(Clone, Debug)]
struct AxisChunk {
    /// The summand of this dimension in the number of a chunk.
    nchunk: i64,
    /// Range in `Axis::rows`: the blocks in these chunks.
    rows: Range<usize>,
    /// Whether all coordinates of the chunks are selected, and the chunks have no padding.
    is_whole: bool,
}

/// A list of coordinates, sorted into chunks and blocks.
#[derive(Debug, Default)]
struct Axis {
    pieces: Vec<Piece>,
    rows: Vec<AxisBlock>,
    chunks: Vec<AxisChunk>,
}

/// Treatment of a coordinate that is in a list more than once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DuplicatePolicy {
    /// Each occurrence is read.
    All,
    /// Only the last occurrence is written.
    Last,
}

fn try_push<T>(all: &mut Vec<T>, one: T) -> Result<()> {
    all.try_reserve(1).map_err(|_| err!(MemoryAlloc, "a selection of {} pieces", all.len()))?;
    all.push(one);
    Ok(())
}

impl Axis {
    /// Sorts the list of one dimension, whose coordinates are in range. `step` is the distance, in bytes, from one item
    /// of the dimension to the next in the buffer.
    fn new(
        geometry: &Geometry,
        dim: usize,
        list: &[i64],
        step: usize,
        chunk_stride: i64,
        duplicates: DuplicatePolicy,
    ) -> Result<Axis> {
        let typesize = usize::try_from(geometry.typesize()).unwrap_or(0);
        let (chunk, block) =
            (i64::from(geometry.chunkshape()[dim]).max(1), i64::from(geometry.blockshape()[dim]).max(1));
        let item_step = geometry.strides().item_block[dim] as usize * typesize;
        let is_last = dim + 1 == geometry.ndim();
        let mut order = Vec::new();
        order
            .try_reserve_exact(list.len())
            .map_err(|_| err!(MemoryAlloc, "a list of {} coordinates", list.len()))?;
        order.extend(list.iter().copied().zip(0usize..));
        order.sort_unstable();
        if duplicates == DuplicatePolicy::Last {
            // Equal coordinates are in the order of the list, so that the last one replaces those before it.
            order.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                if is_same {
                    *kept = *next;
                }
                is_same
            });
        }
        let mut axis = Axis::default();
        for in_chunk in order.chunk_by(|a, b| a.0 / chunk == b.0 / chunk) {
            let number = in_chunk[0].0 / chunk;
            let first_row = axis.rows.len();
            let mut items = 0;
            for in_block in in_chunk.chunk_by(|a, b| a.0 % chunk / block == b.0 % chunk / block) {
                let first_piece = axis.pieces.len();
                let mut before = None;
                for &(coord, place) in in_block {
                    let follows = before == Some((coord - 1, place.wrapping_sub(1)));
                    if before.is_none_or(|(last, _)| last != coord) {
                        items += 1;
                    }
                    before = Some((coord, place));
                    if is_last
                        && follows
                        && step == typesize
                        && let Some(run) = axis.pieces.last_mut()
                    {
                        run.len += typesize;
                        continue;
                    }
                    let piece = Piece {
                        in_block: (coord % chunk % block) as usize * item_step,
                        in_buffer: place * step,
                        len: typesize,
                    };
                    try_push(&mut axis.pieces, piece)?;
                }
                let pieces = first_piece..axis.pieces.len();
                let reach = |place: fn(&Piece) -> usize| {
                    let ends = axis.pieces[pieces.clone()].iter().map(|p| place(p) + (p.len - typesize));
                    ends.max().unwrap_or(0)
                };
                let nblock = in_block[0].0 % chunk / block * geometry.strides().block_chunk[dim];
                let row = AxisBlock {
                    nblock: nblock as usize,
                    block_reach: reach(|p| p.in_block),
                    buffer_reach: reach(|p| p.in_buffer),
                    pieces,
                };
                try_push(&mut axis.rows, row)?;
            }
            let is_whole = items == geometry.extchunkshape()[dim];
            let rows = first_row..axis.rows.len();
            try_push(&mut axis.chunks, AxisChunk { nchunk: number * chunk_stride, rows, is_whole })?;
        }
        Ok(axis)
    }
}

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
    ///
    /// # Errors
    /// `InvalidIndex` for a coordinate out of range; `InvalidParam` for a `buffersize` above the size of the selected
    /// items, for an invalid buffer shape, and for a number of lists that differs from that of dimensions.
    pub(crate) fn new(
        array: &Array,
        lists: &'a [&'a [i64]],
        buffershape: &'a [i64],
        buffersize: i64,
    ) -> Result<Selection<'a>> {
        Selection::check_for_geometry(array.geometry(), lists, buffershape, buffersize)
    }

    /// Returns the same selection, checked for another geometry of the array.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    fn with_geometry(&self, geometry: &Arc<Geometry>) -> Result<Selection<'a>> {
        Selection::check_for_geometry(Arc::clone(geometry), self.lists, self.buffershape, self.buffersize)
    }

    fn check_for_geometry(
        geometry: Arc<Geometry>,
        lists: &'a [&'a [i64]],
        buffershape: &'a [i64],
        buffersize: i64,
    ) -> Result<Selection<'a>> {
        let ndim = geometry.ndim();
        if lists.len() != ndim || buffershape.len() != ndim {
            return Err(err!(
                InvalidParam,
                "{} lists of coordinates and {} extents in `buffershape`, expected {ndim} of each",
                lists.len(),
                buffershape.len()
            ));
        }
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
        if nbytes < buffersize.into() || (ndim == 0 && nbytes > buffersize.into()) {
            return Err(err!(
                InvalidParam,
                "`buffersize` is {buffersize}, but the selected items have {nbytes} bytes"
            ));
        }
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
        if self.min_buffer_len > len {
            return Err(err!(
                InvalidParam,
                "the buffer has {len} bytes, expected at least {}",
                self.min_buffer_len
            ));
        }
        Ok(())
    }
}

/// A selection, sorted into chunks and blocks.
struct SortedSelection {
    axes: Vec<Axis>,
    typesize: usize,
    chunksize: usize,
    blocksize: usize,
}

impl SortedSelection {
    fn ndim(&self) -> usize {
        self.axes.len()
    }

    /// Returns the number of touched chunks.
    fn nchunks(&self) -> usize {
        self.axes.iter().fold(1, |count: usize, axis| count.saturating_mul(axis.chunks.len()))
    }

    /// Returns the `n`-th touched chunk, in ascending order.
    fn chunk(&self, n: usize) -> ChunkPart<'_> {
        let mut part = ChunkPart { sorted: self, number: 0, rows: Default::default(), is_whole: true };
        let mut rest = n;
        for (dim, axis) in self.axes.iter().enumerate().rev() {
            let chunk = &axis.chunks[rest % axis.chunks.len()];
            rest /= axis.chunks.len();
            part.rows[dim] = chunk.rows.clone();
            part.number += chunk.nchunk;
            part.is_whole &= chunk.is_whole;
        }
        part
    }

    /// Calls `then` for each touched chunk, in ascending order.
    fn for_each_chunk(&self, mut then: impl FnMut(&ChunkPart<'_>) -> Result<()>) -> Result<()> {
        (0..self.nchunks()).try_for_each(|n| then(&self.chunk(n)))
    }
}

/// Positions in nested loops, the last dimension innermost.
struct MultiIndex<'a> {
    counts: &'a [usize],
    position: [usize; MAX_DIM],
    is_started: bool,
}

impl<'a> MultiIndex<'a> {
    fn new(counts: &'a [usize]) -> Self {
        MultiIndex { counts, position: [0; MAX_DIM], is_started: false }
    }

    /// Returns the next position. Without loops there is one position.
    fn next(&mut self) -> Option<&[usize; MAX_DIM]> {
        if !self.is_started {
            self.is_started = true;
            return (!self.counts.contains(&0)).then_some(&self.position);
        }
        for dim in (0..self.counts.len()).rev() {
            self.position[dim] += 1;
            if self.position[dim] < self.counts[dim] {
                return Some(&self.position);
            }
            self.position[dim] = 0;
        }
        None
    }
}

/// The selected items of a chunk.
struct ChunkPart<'a> {
    sorted: &'a SortedSelection,
    number: i64,
    /// For each dimension, the range in `Axis::rows` of the blocks in the chunk.
    rows: [Range<usize>; MAX_DIM],
    /// Whether every byte of the chunk is selected.
    is_whole: bool,
}

impl<'a> ChunkPart<'a> {
    /// Returns the `n`-th touched block, in ascending order.
    fn block(&self, n: usize) -> BlockPart<'a> {
        let axes = &self.sorted.axes;
        let mut part = BlockPart {
            number: 0,
            pieces: [&[]; MAX_DIM],
            ndim: axes.len(),
            block_end: self.sorted.typesize,
            buffer_end: self.sorted.typesize,
        };
        let mut rest = n;
        for (dim, axis) in axes.iter().enumerate().rev() {
            let rows = &axis.rows[self.rows[dim].clone()];
            let row = &rows[rest % rows.len()];
            rest /= rows.len();
            part.number += row.nblock;
            part.pieces[dim] = &axis.pieces[row.pieces.clone()];
            part.block_end += row.block_reach;
            part.buffer_end += row.buffer_reach;
        }
        part
    }

    /// Returns the number of touched blocks.
    fn len(&self) -> usize {
        self.rows[..self.sorted.ndim()].iter().map(Range::len).product()
    }

    /// Returns the numbers of the touched blocks.
    fn block_numbers(&self) -> Result<Vec<usize>> {
        let mut numbers = Vec::new();
        numbers
            .try_reserve_exact(self.len())
            .map_err(|_| err!(MemoryAlloc, "a list of {} blocks", self.len()))?;
        numbers.extend((0..self.len()).map(|n| self.block(n).number));
        Ok(numbers)
    }
}

/// The selected items of a block.
struct BlockPart<'a> {
    number: usize,
    pieces: [&'a [Piece]; MAX_DIM],
    ndim: usize,
    /// End of the last item in the block and in the buffer, in bytes.
    block_end: usize,
    buffer_end: usize,
}

impl BlockPart<'_> {
    /// Calls `then` with the pieces of the last dimension for each combination of pieces of the other dimensions, whose
    /// summed offsets in block and buffer are the first two arguments.
    fn for_each_combination(&self, mut then: impl FnMut(usize, usize, &[Piece])) {
        let Some(last) = self.ndim.checked_sub(1) else { return };
        let mut counts = [1; MAX_DIM];
        for (count, pieces) in counts.iter_mut().zip(&self.pieces[..last]) {
            *count = pieces.len();
        }
        let mut index = MultiIndex::new(&counts[..last]);
        while let Some(position) = index.next() {
            let (mut in_block, mut in_buffer) = (0, 0);
            for (pieces, &n) in self.pieces[..last].iter().zip(position) {
                in_block += pieces[n].in_block;
                in_buffer += pieces[n].in_buffer;
            }
            then(in_block, in_buffer, self.pieces[last]);
        }
    }

    fn check_bounds(&self, block_len: usize, buffer_len: usize) -> Result<()> {
        if self.block_end > block_len || self.buffer_end > buffer_len {
            let ends = (self.block_end, self.buffer_end);
            return Err(err!(
                Failure,
                "items end at bytes {ends:?} of block and buffer, expected at most {block_len} and {buffer_len}"
            ));
        }
        Ok(())
    }

    /// Copies the items from the block to the buffer.
    ///
    /// # Safety
    /// No other code uses the bytes of these items in the target during the call.
    unsafe fn gather(&self, block: &[u8], target: &SharedDestination<'_>) -> Result<()> {
        self.check_bounds(block.len(), target.len())?;
        self.for_each_combination(|in_block, in_buffer, pieces| {
            for piece in pieces {
                // SAFETY: the check above: all pieces end before the ends of block and target. The caller guarantees
                // exclusive access.
                unsafe {
                    let from = block.as_ptr().add(in_block + piece.in_block);
                    move_piece(from, target.start().add(in_buffer + piece.in_buffer), piece.len);
                }
            }
        });
        Ok(())
    }

    /// Fills the items in the buffer with zeros.
    ///
    /// # Safety
    /// As [`gather`](Self::gather).
    unsafe fn write_zeros(&self, target: &SharedDestination<'_>) -> Result<()> {
        self.check_bounds(usize::MAX, target.len())?;
        self.for_each_combination(|_, in_buffer, pieces| {
            for piece in pieces {
                // SAFETY: as in `gather`.
                unsafe { target.start().add(in_buffer + piece.in_buffer).write_bytes(0, piece.len) }
            }
        });
        Ok(())
    }

    /// Copies the items from the buffer to the block.
    fn scatter(&self, src: &[u8], block: &mut [u8]) -> Result<()> {
        self.check_bounds(block.len(), src.len())?;
        self.for_each_combination(|in_block, in_buffer, pieces| {
            for piece in pieces {
                // SAFETY: as in `gather`.
                unsafe {
                    let from = src.as_ptr().add(in_buffer + piece.in_buffer);
                    move_piece(from, block.as_mut_ptr().add(in_block + piece.in_block), piece.len);
                }
            }
        });
        Ok(())
    }
}

impl ByteRanges for BlockPart<'_> {
    fn count_and_nbytes(&self) -> (usize, usize) {
        let Some((last, others)) = self.pieces[..self.ndim].split_last() else { return (0, 0) };
        let times: usize = others.iter().map(|pieces| pieces.len()).product();
        let nbytes: usize = last.iter().map(|piece| piece.len).sum();
        (times.saturating_mul(last.len()), times.saturating_mul(nbytes))
    }

    fn for_each(&self, then: &mut dyn FnMut(Range<usize>)) {
        self.for_each_combination(|in_block, _, pieces| {
            for piece in pieces {
                let start = in_block + piece.in_block;
                then(start..start + piece.len);
            }
        });
    }
}

/// Copies a piece; common item sizes without a call of `memcpy`.
///
/// # Safety
/// `len` bytes are readable at `from` and writable at `to`, and the two do not overlap.
#[inline(always)]
unsafe fn move_piece(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller upholds the same contract.
    unsafe {
        match len {
            1 => to.write(from.read()),
            2 => to.cast::<[u8; 2]>().write(from.cast::<[u8; 2]>().read()),
            4 => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
            8 => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
            len => ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Copies the selected items from the blocks of a chunk to the buffer.
struct SelectionReader<'a> {
    part: &'a ChunkPart<'a>,
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
        part: &'a ChunkPart<'a>,
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
        let target = SharedDestination::new(dest);
        let overlap_lock = selection.has_overlaps.then(|| Mutex::new(()));
        let read = |part: &ChunkPart<'_>| {
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
    part: &'a ChunkPart<'a>,
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
