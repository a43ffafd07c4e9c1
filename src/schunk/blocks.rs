//! Blocks of a chunk for those who know what is in them: array layers.

use super::SuperChunk;
use super::sync::Access;
use crate::chunk::{Blocks, StoredChunk};
use crate::err;
use crate::error::Result;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, BlockContent, BlockSink, ItemRange};
use crate::pipeline::shared_out::SharedOut;
use crate::pool;

/// So many times more bytes a whole chunk may have than its blocks that are wanted, before these are read one by one.
const WHOLE: usize = 4;

impl SuperChunk {
    /// Reads the item at byte `start` of chunk `nchunk` into `dest`, which has its size. Chunks are `chunksize` bytes long,
    /// in whole blocks of `blocksize` bytes. The first item of a block is decoded alone where that can be; with the second
    /// one the block is kept.
    ///
    /// # Errors
    /// As [`visit_blocks`](Self::visit_blocks).
    pub(crate) fn read_item(
        &self,
        nchunk: i64,
        start: usize,
        dest: &mut [u8],
        (chunksize, blocksize): (usize, usize),
    ) -> Result<()> {
        self.check_index(nchunk)?;
        let session = self.reading()?;
        let nblock = start / blocksize.max(1);
        let mut is_first = false;
        if let Some(mut cache) = self.cache.try_lock() {
            if let Some(typesize) = cache.get(nchunk, start, dest)
                && self.note_cached(typesize)
            {
                return Ok(());
            }
            is_first = !cache.touch(nchunk, nblock);
        }
        // Nothing is held while the parameters are looked at by the others.
        let settings = self.read_settings(false);
        // What a lazy chunk has to read from disk is a block.
        let is_near = self.frame().is_none_or(|frame| !frame.is_on_disk() || frame.is_mapped());
        if is_first && is_near && settings.postfilter.is_none() {
            let is_read = session.with_chunk(nchunk, false, &settings, &mut |chunk, _| {
                let header = chunk.header();
                let typesize = usize::from(header.typesize);
                let is_aligned = start.is_multiple_of(typesize) && dest.len().is_multiple_of(typesize);
                // Chunks of another geometry are refused below, on every read of the item.
                let is_regular = header.nbytes() == chunksize && Blocks::of(header).blocksize() == blocksize;
                if !is_regular || !is_aligned || !decompress::decodes_parts(header) {
                    return Ok(false);
                }
                let params = self.decompress_params(&settings, nchunk);
                let wanted = ItemRange::Bytes { start: start as i32, nbytes: dest.len() as i32 };
                let done = decompress::getitem(&params, chunk, wanted, dest)?;
                self.note_read(header, &done);
                Ok(true)
            })?;
            if is_read {
                return Ok(());
            }
        } else {
            drop(session);
        }
        let place = SharedOut::new(dest);
        self.visit_blocks(nchunk, &[nblock], blocksize, chunksize, &|_: usize, content: BlockContent<'_>| {
            // SAFETY: the only block, so the only use of the bytes.
            let dest = unsafe { place.range(0..place.len()) };
            let at = start - nblock * blocksize;
            match content {
                BlockContent::Bytes(bytes) => match bytes.get(at..at + dest.len()) {
                    Some(item) => dest.copy_from_slice(item),
                    None => return Err(err!(Data, "an item at {at} of {} bytes", bytes.len())),
                },
                BlockContent::Zeros => dest.fill(0),
            }
            Ok(())
        })
    }

    /// Notes in the decompression context the item size of a chunk that was read before, unless there is a postfilter, so
    /// that what was read does not count; whether it does.
    fn note_cached(&self, typesize: u8) -> bool {
        self.dctx().is_none_or(|dctx| dctx.note_cached(typesize))
    }

    /// Gives the blocks `blocks` of chunk `nchunk`, each `blocksize` bytes long, to `sink`; in no particular order, and
    /// on several threads if the decompression context says so. The chunk has to be `chunksize` bytes long. A single
    /// block is kept for the next time.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk or block that is not there, `Data` for a chunk of another size, those of reading, and
    /// what `sink` returns.
    pub(crate) fn visit_blocks(
        &self,
        nchunk: i64,
        blocks: &[usize],
        blocksize: usize,
        chunksize: usize,
        sink: &dyn BlockSink,
    ) -> Result<()> {
        self.check_index(nchunk)?;
        let settings = self.read_settings(false);
        let session = self.reading()?;
        if let ([nblock], None) = (blocks, &settings.postfilter)
            && let Some(cache) = self.cache.try_lock()
            && let Some((bytes, typesize)) = cache.view(nchunk, nblock * blocksize..(nblock + 1) * blocksize)
        {
            sink.accept(0, BlockContent::Bytes(bytes))?;
            drop(cache);
            self.note_typesize(typesize);
            return Ok(());
        }
        let wanted = blocks.len().saturating_mul(blocksize);
        let lazily = wanted.saturating_mul(WHOLE) <= chunksize;
        session.with_chunk(nchunk, lazily, &settings, &mut |chunk, access| {
            let header = chunk.header();
            let geometry = Blocks::of(header);
            let is_regular = header.nbytes() == chunksize && geometry.blocksize() == blocksize;
            if !is_regular || header.has_varlen_blocks() {
                let (nbytes, found) = (header.nbytes, geometry.blocksize());
                return Err(err!(Data, "a chunk of {nbytes} bytes in blocks of {found}"));
            }
            if let [nblock] = *blocks
                && settings.postfilter.is_none()
                && self.keeps(nchunk, nblock, blocksize, sink)
            {
                return self.visit_one(nchunk, nblock, chunk, access, &settings, sink);
            }
            let params = self.decompress_params(&settings, nchunk);
            let done = decompress::decode_into_sink(&params, chunk, blocks, sink)?;
            self.note_read(header, &done);
            Ok(())
        })
    }

    /// Whether a block that is wanted alone is decoded as a whole, to be kept: always, unless a part of it does, and the
    /// part that was read before was of another block.
    fn keeps(&self, nchunk: i64, nblock: usize, blocksize: usize, sink: &dyn BlockSink) -> bool {
        !decompress::skips_enough(&sink.wanted(0, blocksize), blocksize)
            || self.cache.try_lock().is_none_or(|mut cache| cache.touch(nchunk, nblock))
    }

    /// How many threads may read different chunks at once: 1 where reading runs a program's functions, which see one
    /// thread at a time or ask which chunk is at work, or where other threads than the library's do the work.
    pub(crate) fn threads_for_chunks(&self) -> usize {
        let is_users = self.backend.as_ref().is_some_and(|backend| backend.id() > 1)
            || pool::has_callback()
            || self.cctx().is_ok_and(|cctx| cctx.calls_back());
        let settings = self.read_settings(false);
        if is_users || settings.postfilter.is_some() { 1 } else { settings.nthreads.max(1) }
    }

    /// Decodes one block, by way of the cache unless that is in use, or there is no access any more.
    fn visit_one(
        &self,
        nchunk: i64,
        nblock: usize,
        chunk: &StoredChunk<'_>,
        access: Option<Access<'_>>,
        settings: &ReadSettings,
        sink: &dyn BlockSink,
    ) -> Result<()> {
        let header = chunk.header();
        let params = self.decompress_params(settings, nchunk);
        let range = Blocks::of(header).range(nblock);
        let is_aligned = range.len().is_multiple_of(usize::from(header.typesize));
        if decompress::is_worth_keeping(chunk)
            && is_aligned
            && range.end <= header.nbytes()
            && let Some(mut cache) = access.and_then(Access::cache_to_fill)
            && let Some(room) = cache.room(range.len())
        {
            let wanted = ItemRange::Bytes { start: range.start as i32, nbytes: range.len() as i32 };
            let done = decompress::getitem(&params, chunk, wanted, room)?;
            sink.accept(0, BlockContent::Bytes(room))?;
            cache.keep(nchunk, range.start, header.typesize);
            self.note_read(header, &done);
            return Ok(());
        }
        let done = decompress::decode_into_sink(&params, chunk, &[nblock], sink)?;
        self.note_read(header, &done);
        Ok(())
    }
}
