//! Reading items by a list of coordinates (`schunk.md` 13): each chunk is fetched once, each block is decoded once.

use super::SuperChunk;
use super::rules::Counters;
use crate::buffers;
use crate::chunk::format::{filter_id, flag2};
use crate::chunk::{BlockGeometry, ParsedChunk};
use crate::error::{ErrorKind, Result, ensure, to_kind_unless_lock};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, BlockContent, BlockSink, ByteRanges, ItemRange};
use crate::pipeline::params::DecompressParams;
use crate::pipeline::shared_output::SharedOutput;
use std::ops::Range;

/// A requested item of a chunk: byte offset in the chunk, byte offset in the result.
type RequestedItem = (usize, usize);

impl SuperChunk {
    /// Reads the items at `coords` into `dest`, one after another. `dest` must have their size.
    ///
    /// # Errors
    /// `InvalidParam` for a coordinate out of range, or a super-chunk without a fixed block and chunk size; those of
    /// reading, or `Failure` if items are read one by one.
    pub(crate) fn get_sparse(&self, coords: &[i64], dest: OutBuffer<'_>) -> Result<()> {
        let counters = self.read_lock().counters();
        let (typesize, chunksize) = self.item_and_chunk_size(&counters)?;
        self.get_sparse_of_chunks(coords, dest, (typesize, chunksize), counters.nbytes / typesize as i64)
    }

    /// As [`get_sparse`](Self::get_sparse), for items and chunks of the sizes `typesize` and `chunksize`, in bytes.
    /// Stored chunks may be shorter. Coordinates are less than `nitems`.
    ///
    /// # Errors
    /// As [`get_sparse`](Self::get_sparse); also for an item that its chunk does not have.
    pub(crate) fn get_sparse_of_chunks(
        &self,
        coords: &[i64],
        mut dest: OutBuffer<'_>,
        (typesize, chunksize): (usize, usize),
        nitems: i64,
    ) -> Result<()> {
        let per_chunk = chunksize.checked_div(typesize).unwrap_or(0);
        ensure!(
            per_chunk != 0,
            InvalidParam,
            "items of {typesize} bytes in chunks of {chunksize}, expected at least one item",
        );
        let settings = self.read_settings(false);
        let one_by_one =
            coords.len() == 1 || self.filters().contains(&filter_id::DELTA) || settings.postfilter.is_some();
        if one_by_one {
            for (&coord, item) in coords.iter().zip(dest.chunks_exact(typesize)) {
                check_coord(coord, nitems)?;
                let at = coord as usize % per_chunk * typesize;
                let nchunk = coord / per_chunk as i64;
                self.read_chunk_part(nchunk, at..at + typesize, item)
                    .map_err(to_kind_unless_lock(ErrorKind::Failure))?;
            }
            return Ok(());
        }
        coords.iter().try_for_each(|&coord| check_coord(coord, nitems))?;
        let mut order =
            fallible::collect(coords.iter().enumerate().map(|(position, &coord)| (coord, position)))?;
        order.sort_unstable();
        let per_chunk = per_chunk as i64;
        for same_chunk in order.chunk_by(|a, b| a.0 / per_chunk == b.0 / per_chunk) {
            let nchunk = same_chunk[0].0 / per_chunk;
            let wanted =
                fallible::collect(same_chunk.iter().map(|&(coord, position)| {
                    ((coord % per_chunk) as usize * typesize, position * typesize)
                }))?;
            self.gather_chunk_items(nchunk, &wanted, typesize, &settings, dest.reborrow()).inspect_err(
                |_| {
                    // After an error, the last requested chunk is the current one (`schunk.md` 3.1).
                    self.set_current_nchunk(order.last().map_or(nchunk, |&(coord, _)| coord / per_chunk));
                },
            )?;
        }
        Ok(())
    }

    /// Returns item size and chunk size in bytes, if chunks and blocks are regular and hold whole items.
    fn item_and_chunk_size(&self, counters: &Counters) -> Result<(usize, usize)> {
        let (typesize, chunksize, blocksize) = (self.typesize(), counters.chunksize, self.blocksize());
        let is_regular = typesize > 0
            && chunksize > 0
            && blocksize > 0
            && counters.flags2 & flag2::VL_BLOCKS == 0
            && chunksize % typesize == 0
            && blocksize % typesize == 0;
        ensure!(
            is_regular,
            InvalidParam,
            "`typesize` is {typesize}, `chunksize` {chunksize}, `blocksize` {blocksize}: \
             expected whole items in chunks and blocks of fixed sizes",
        );
        Ok((typesize as usize, chunksize as usize))
    }

    /// Reads items of one chunk; `wanted` is sorted by offset.
    fn gather_chunk_items(
        &self,
        nchunk: i64,
        wanted: &[RequestedItem],
        typesize: usize,
        settings: &ReadSettings,
        mut dest: OutBuffer<'_>,
    ) -> Result<()> {
        self.check_nchunk(nchunk)?;
        self.with_chunk(nchunk, true, settings, &mut |chunk, _| {
            let header = chunk.header();
            let last = wanted.last().map_or(0, |&(at, _)| at + typesize);
            ensure!(
                last <= header.nbytes(),
                InvalidParam,
                "an item ends at byte {last} of a chunk, expected at most {}",
                header.nbytes,
            );
            ensure!(header.special().is_ok(), SchunkSpecial, "the kind of special chunk is not defined");
            let params = self.decompress_params(settings, nchunk);
            let geometry = BlockGeometry::of(header);
            if !geometry.blocksize().is_multiple_of(typesize) {
                return gather_across_blocks(&params, chunk, wanted, typesize, dest.reborrow());
            }
            let block_of = |&(at, _): &RequestedItem| at / geometry.blocksize();
            let items = fallible::collect(wanted.chunk_by(|a, b| block_of(a) == block_of(b)))?;
            let blocks = fallible::collect(items.iter().map(|items| block_of(&items[0])))?;
            let mut sink = ItemSink {
                items,
                blocksize: geometry.blocksize(),
                typesize,
                out: SharedOutput::new(dest.reborrow()),
            };
            decompress::decode_into_sink(&params, chunk, &blocks, &mut sink).map(|_| ())
        })
    }
}

/// Reads items of which some may extend into a second block: the items that begin in the same block are decoded as one
/// range.
fn gather_across_blocks(
    params: &DecompressParams<'_>,
    chunk: &ParsedChunk<'_>,
    wanted: &[RequestedItem],
    typesize: usize,
    mut dest: OutBuffer<'_>,
) -> Result<()> {
    let header = chunk.header();
    let blocksize = BlockGeometry::of(header).blocksize();
    let unit = usize::from(header.typesize).max(1);
    for items in wanted.chunk_by(|a, b| a.0 / blocksize == b.0 / blocksize) {
        let (first, last) = (items[0].0, items[items.len() - 1].0);
        // The range in whole items of the typesize of the chunk.
        let start = first - first % unit;
        let end = (last + typesize).next_multiple_of(unit).min(header.nbytes());
        let range = ItemRange::Bytes { start: start as i32, nbytes: (end - start) as i32 };
        let mut buffer = buffers::take_buffer(end - start)?;
        let bytes = &mut buffer[..end - start];
        decompress::getitem(params, chunk, range, bytes.into())?;
        for &(at, place) in items {
            dest.range(place..place + typesize).copy_from_slice(&bytes[at - start..][..typesize]);
        }
    }
    Ok(())
}

/// Copies items from the blocks of a chunk.
struct ItemSink<'a> {
    items: Vec<&'a [RequestedItem]>,
    blocksize: usize,
    typesize: usize,
    out: SharedOutput<'a>,
}

impl ItemSink<'_> {
    /// Returns the items of the `n`-th block.
    fn items(&self, n: usize) -> BlockItems<'_> {
        let items = self.items[n];
        BlockItems { items, start: items[0].0 / self.blocksize * self.blocksize, typesize: self.typesize }
    }
}

impl BlockSink for ItemSink<'_> {
    fn wanted_range(&self, n: usize, _len: usize) -> Range<usize> {
        let BlockItems { items, start, typesize } = self.items(n);
        items[0].0 - start..items[items.len() - 1].0 - start + typesize
    }

    fn with_byte_ranges(
        &self,
        n: usize,
        _len: usize,
        decode: &mut dyn FnMut(&dyn ByteRanges) -> Result<bool>,
    ) -> Result<bool> {
        decode(&self.items(n))
    }

    unsafe fn accept(&self, n: usize, content: BlockContent<'_>) -> Result<()> {
        let BlockItems { items, start, typesize } = self.items(n);
        for &(at, place) in items {
            // SAFETY: each offset in the result belongs to one block, and the caller guarantees that no other call has
            // this block.
            let item = unsafe { self.out.write_range(place..place + typesize) };
            match content {
                BlockContent::Bytes(block) => item.copy_from_slice(&block[at - start..][..typesize]),
                BlockContent::Zeros => item.fill(0),
            }
        }
        Ok(())
    }
}

/// Items of one block, which begins at byte `start` of the chunk.
struct BlockItems<'a> {
    items: &'a [RequestedItem],
    start: usize,
    typesize: usize,
}

impl ByteRanges for BlockItems<'_> {
    fn count_and_nbytes(&self) -> (usize, usize) {
        (self.items.len(), self.items.len() * self.typesize)
    }

    fn for_each(&self, then: &mut dyn FnMut(Range<usize>)) {
        for &(at, _) in self.items {
            then(at - self.start..at - self.start + self.typesize);
        }
    }
}

fn check_coord(coord: i64, nitems: i64) -> Result<()> {
    ensure!((0..nitems).contains(&coord), InvalidParam, "no item {coord} in a super-chunk of {nitems} items");
    Ok(())
}
