//! Items here and there (`schunk.md` 13): each chunk is fetched once, each block decoded once.

use super::SuperChunk;
use super::rules::Counters;
use crate::chunk::format::{filter_id, flag2};
use crate::chunk::{Blocks, ChunkHeader};
use crate::err;
use crate::error::Result;
use crate::malloc::kept::KeptBuffer;
use crate::malloc::limits::THREAD_BUFFER;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, ItemRange, Runs};
use crate::pipeline::params::DecompressParams;
use crate::pipeline::{jobs, shared_out::SharedOut};
use crate::pool;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

thread_local! {
    /// A block that was decoded.
    static BLOCK: KeptBuffer = const { KeptBuffer::new() };
}

/// Items that are wanted of one chunk: byte offset in the chunk, position in the result.
type Wanted = (usize, usize);

impl SuperChunk {
    /// Reads the items at `coords` into `dest`, one after another. `dest` has room for all.
    ///
    /// # Errors
    /// `InvalidParam` for an item that is not there, or a super-chunk without a fixed block and chunk size; those of
    /// reading, or `Failure` where items are read one by one.
    pub(crate) fn get_sparse(&self, coords: &[i64], dest: &mut [u8]) -> Result<()> {
        let counters = self.counters();
        let (typesize, chunksize) = self.geometry(&counters)?;
        let nitems = counters.nbytes / typesize as i64;
        let settings = self.read_settings(false);
        let one_by_one =
            coords.len() == 1 || self.filters().contains(&filter_id::DELTA) || settings.postfilter.is_some();
        if one_by_one {
            for (&coord, item) in coords.iter().zip(dest.chunks_exact_mut(typesize)) {
                check(coord, nitems)?;
                let at = coord as usize % (chunksize / typesize) * typesize;
                let nchunk = coord / (chunksize / typesize) as i64;
                self.read_part(nchunk, at..at + typesize, item)
                    .map_err(|error| err!(Failure, "item {coord}: {error}"))?;
            }
            return Ok(());
        }
        let mut order = Vec::new();
        order
            .try_reserve_exact(coords.len())
            .map_err(|_| err!(MemoryAlloc, "{} coordinates", coords.len()))?;
        for (position, &coord) in coords.iter().enumerate() {
            check(coord, nitems)?;
            order.push((coord, position));
        }
        order.sort_unstable();
        let per_chunk = (chunksize / typesize) as i64;
        for same_chunk in order.chunk_by(|a, b| a.0 / per_chunk == b.0 / per_chunk) {
            let nchunk = same_chunk[0].0 / per_chunk;
            let wanted: Vec<Wanted> = same_chunk
                .iter()
                .map(|&(coord, position)| ((coord % per_chunk) as usize * typesize, position * typesize))
                .collect();
            self.gather(nchunk, &wanted, typesize, &settings, dest).inspect_err(|_| {
                // The chunks behind it count as touched (`schunk.md` 3.1).
                self.note_current(order.last().map_or(nchunk, |&(coord, _)| coord / per_chunk));
            })?;
        }
        Ok(())
    }

    /// Item size and chunk size in bytes, if items can be told apart.
    fn geometry(&self, counters: &Counters) -> Result<(usize, usize)> {
        let (typesize, chunksize, blocksize) = (self.typesize(), counters.chunksize, self.blocksize());
        let is_regular = typesize > 0
            && chunksize > 0
            && blocksize > 0
            && counters.flags2 & flag2::VL_BLOCKS == 0
            && chunksize % typesize == 0
            && blocksize % typesize == 0;
        if !is_regular {
            return Err(err!(
                InvalidParam,
                "items of {typesize} bytes in chunks of {chunksize} and blocks of {blocksize}"
            ));
        }
        Ok((typesize as usize, chunksize as usize))
    }

    /// Reads items of one chunk; `wanted` is in ascending order.
    fn gather(
        &self,
        nchunk: i64,
        wanted: &[Wanted],
        typesize: usize,
        settings: &ReadSettings,
        dest: &mut [u8],
    ) -> Result<()> {
        self.check_index(nchunk)?;
        self.with_chunk(nchunk, true, settings, &mut |chunk, header, source| {
            let last = wanted.last().map_or(0, |&(at, _)| at + typesize);
            if last > header.nbytes() {
                return Err(err!(InvalidParam, "an item at {last} of {} bytes", header.nbytes));
            }
            let blocksize = header.blocksize.max(1) as usize;
            let blocks: Vec<&[Wanted]> = wanted.chunk_by(|a, b| a.0 / blocksize == b.0 / blocksize).collect();
            let nthreads = settings.nthreads.max(1).min(blocks.len());
            let gathering = Gathering {
                params: &self.decompress_params(settings, nchunk, source),
                header,
                chunk,
                typesize,
                out: SharedOut::new(dest),
            };
            let nbytes = blocks.len() * blocksize;
            gathering.run(jobs::nthreads_for(nthreads, nbytes, blocksize), &blocks)
        })
    }
}

/// Reading items of one chunk.
struct Gathering<'a> {
    params: &'a DecompressParams<'a>,
    header: &'a ChunkHeader,
    chunk: &'a [u8],
    typesize: usize,
    out: SharedOut<'a>,
}

/// Items of one block, which begins at byte `start` of the chunk.
struct Items<'a> {
    items: &'a [Wanted],
    start: usize,
    typesize: usize,
}

impl Runs for Items<'_> {
    fn count(&self) -> (usize, usize) {
        (self.items.len(), self.items.len() * self.typesize)
    }

    fn each(&self, then: &mut dyn FnMut(Range<usize>)) {
        for &(at, _) in self.items {
            then(at - self.start..at - self.start + self.typesize);
        }
    }
}

impl Gathering<'_> {
    /// Reads the items of all blocks. The decoder has its own working memory, so that no job of blocks is run here,
    /// which would hold it already.
    fn run(&self, nthreads: usize, blocks: &[&[Wanted]]) -> Result<()> {
        if nthreads <= 1 {
            return blocks.iter().try_for_each(|items| self.block(items));
        }
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(None);
        pool::run(nthreads, &|_| {
            while let Some(items) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.block(items) {
                    next.store(blocks.len(), Ordering::Relaxed);
                    failed.lock().get_or_insert(error);
                }
            }
        })?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Reads the items of one block, which are in ascending order.
    fn block(&self, items: &[Wanted]) -> Result<()> {
        let (first, end) = (items[0].0, items[items.len() - 1].0 + self.typesize);
        let mut span = self.span(first, end);
        // A thread on its way out keeps nothing.
        let mut bytes = BLOCK
            .try_with(|kept| kept.take(span.len()))
            .unwrap_or_else(|_| KeptBuffer::new().take(span.len()))?;
        let read = if self.few(items, first..end, &span, &mut bytes[..span.len()])? {
            Ok(())
        } else if let Some(part) = self.part(first..end, &span, &mut bytes)? {
            span = part;
            Ok(())
        } else {
            let wanted = ItemRange::Bytes { start: span.start as i32, nbytes: span.len() as i32 };
            decompress::getitem(self.params, self.header, self.chunk, wanted, &mut bytes[..span.len()])
                .map(|_| ())
        };
        if read.is_ok() {
            for &(at, place) in items {
                // SAFETY: each position of the result is written once.
                let item = unsafe { self.out.range(place..place + self.typesize) };
                item.copy_from_slice(&bytes[at - span.start..at - span.start + self.typesize]);
            }
        }
        let _ = BLOCK.try_with(|kept| kept.give_back(bytes));
        read
    }

    /// Reads the items, all of which are in `wanted`, to their places in `bytes`, if that is a block and they are few; whether
    /// it did.
    fn few(
        &self,
        items: &[Wanted],
        wanted: Range<usize>,
        span: &Range<usize>,
        bytes: &mut [u8],
    ) -> Result<bool> {
        let nblock = span.start / Blocks::of(self.header).blocksize().max(1);
        if self.header.is_lazy() || Blocks::of(self.header).range(nblock) != *span {
            return Ok(false);
        }
        let runs = Items { items, start: span.start, typesize: self.typesize };
        let inside = wanted.start - span.start..wanted.end - span.start;
        decompress::read_runs(self.params, self.header, self.chunk, nblock, &inside, &runs, bytes)
    }

    /// Reads the bytes `wanted` of the block that `span` is into `bytes`, if that pays and is possible; which those are.
    fn part(
        &self,
        wanted: Range<usize>,
        span: &Range<usize>,
        bytes: &mut [u8],
    ) -> Result<Option<Range<usize>>> {
        let inside = wanted.start - span.start..wanted.end - span.start;
        if *span == wanted || self.header.is_lazy() || !decompress::pays(&inside, span.len()) {
            return Ok(None);
        }
        let place = &mut bytes[..wanted.len()];
        let read = decompress::read_item(self.params, self.header, self.chunk, wanted.clone(), place)?;
        Ok(read.map(|_| wanted))
    }

    /// What is read for bytes `first..end` of one block: the whole block where it has to be decoded, since then it is
    /// decoded straight to its place; else as much as the items span, in whole items of the chunk's own size.
    fn span(&self, first: usize, end: usize) -> Range<usize> {
        let header = self.header;
        let unit = usize::from(header.typesize).max(1);
        let is_plain = header.special_bits() != 0 || (header.is_memcpyed() && !header.is_lazy());
        let blocks = Blocks::of(header);
        let block = blocks.range(first / blocks.blocksize().max(1));
        let is_whole = block.start.is_multiple_of(unit) && block.end.is_multiple_of(unit);
        if !is_plain && is_whole && block.start <= first && end <= block.end && block.len() <= THREAD_BUFFER {
            return block;
        }
        first - first % unit..end.next_multiple_of(unit).min(header.nbytes())
    }
}

fn check(coord: i64, nitems: i64) -> Result<()> {
    if (0..nitems).contains(&coord) {
        return Ok(());
    }
    Err(err!(InvalidParam, "item {coord} of {nitems}"))
}
