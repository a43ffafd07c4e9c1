//! Items here and there (`schunk.md` 13): each chunk is fetched once, each block decoded once.

use super::SuperChunk;
use super::rules::Counters;
use crate::chunk::ChunkHeader;
use crate::chunk::format::{filter_id, flag2};
use crate::err;
use crate::error::Result;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, ItemRange};
use crate::pipeline::{jobs, shared_out::SharedOut};
use std::ops::Range;

/// Items that are wanted of one chunk: byte offset in the chunk, position in the result.
type Wanted = (usize, usize);

impl SuperChunk {
    /// Reads the items at `coords` into `dest`, one after another. `dest` has room for all.
    ///
    /// # Errors
    /// `InvalidParam` for an item that is not there, or a super-chunk without a fixed block and chunk size; those of
    /// reading, or `Failure` where items are read one by one.
    pub fn get_sparse(&self, coords: &[i64], dest: &mut [u8]) -> Result<()> {
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
            let out = SharedOut::new(dest);
            let blocksize = header.blocksize.max(1) as usize;
            let blocks: Vec<&[Wanted]> = wanted.chunk_by(|a, b| a.0 / blocksize == b.0 / blocksize).collect();
            let nthreads = settings.nthreads.max(1).min(blocks.len());
            let nbytes = blocks.len() * blocksize;
            let nthreads = jobs::nthreads_for(nthreads, nbytes, blocksize);
            let params = self.decompress_params(settings, nchunk, source);
            jobs::for_each_block(nthreads, 0..blocks.len(), |n, _| {
                let items = blocks[n];
                let first = items[0].0;
                let end = items[items.len() - 1].0 + typesize;
                // As much of the chunk as the items span, in whole items of the chunk's own size.
                let unit = usize::from(header.typesize);
                let span = first - first % unit..end.next_multiple_of(unit).min(header.nbytes());
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(span.len()).map_err(|_| err!(MemoryAlloc, "a block"))?;
                bytes.resize(span.len(), 0);
                read(&params, header, chunk, &span, &mut bytes)?;
                for &(at, place) in items {
                    // SAFETY: each position of the result is written once.
                    let item = unsafe { out.range(place..place + typesize) };
                    item.copy_from_slice(&bytes[at - span.start..at - span.start + typesize]);
                }
                Ok(())
            })
        })
    }
}

fn read(
    params: &crate::pipeline::params::DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    span: &Range<usize>,
    dest: &mut [u8],
) -> Result<()> {
    let wanted = ItemRange::Bytes { start: span.start as i32, nbytes: span.len() as i32 };
    decompress::getitem(params, header, chunk, wanted, dest).map(|_| ())
}

fn check(coord: i64, nitems: i64) -> Result<()> {
    if (0..nitems).contains(&coord) {
        return Ok(());
    }
    Err(err!(InvalidParam, "item {coord} of {nitems}"))
}
