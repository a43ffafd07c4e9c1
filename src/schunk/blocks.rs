//! Blocks of a chunk for those who know what is in them: array layers.

use super::SuperChunk;
use crate::chunk::{Blocks, ChunkHeader};
use crate::err;
use crate::error::Result;
use crate::pipeline::context::{Context, ReadSettings};
use crate::pipeline::decompress::{self, BlockSource, Content, ItemRange, Visit};
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
            let done =
                self.with_chunk_in(session, nchunk, false, &settings, &mut |chunk, header, source| {
                    if header.nbytes() != chunksize || header.is_lazy() {
                        return Ok(None);
                    }
                    let params = self.decompress_params(&settings, nchunk, source);
                    let done =
                        decompress::read_item(&params, header, chunk, start..start + dest.len(), dest)?;
                    done.iter().for_each(|done| self.note_read(header, done));
                    Ok(done)
                })?;
            if done.is_some() {
                return Ok(());
            }
        } else {
            drop(session);
        }
        let place = SharedOut::new(dest);
        self.visit_blocks(nchunk, &[nblock], blocksize, chunksize, &|_: usize, content: Content<'_>| {
            // SAFETY: the only block, so the only use of the bytes.
            let dest = unsafe { place.range(0..place.len()) };
            let at = start - nblock * blocksize;
            match content {
                Content::Bytes(bytes) => match bytes.get(at..at + dest.len()) {
                    Some(item) => dest.copy_from_slice(item),
                    None => return Err(err!(Data, "an item at {at} of {} bytes", bytes.len())),
                },
                Content::Zeros => dest.fill(0),
            }
            Ok(())
        })
    }

    /// Notes in the decompression context the item size of a chunk that was read before, unless there is a postfilter, so
    /// that what was read does not count; whether it does.
    fn note_cached(&self, typesize: u8) -> bool {
        let _use = self.dctx_use.lock();
        self.dctx().is_none_or(|dctx| dctx.note_cached(typesize))
    }

    /// Shows the blocks `blocks` of chunk `nchunk`, each `blocksize` bytes long, to `visit`; in no particular order, and
    /// on several threads if the decompression context says so. The chunk has to be `chunksize` bytes long. A single
    /// block is kept for the next time.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk or block that is not there, `Data` for a chunk of another size, those of reading, and
    /// what `visit` returns.
    pub(crate) fn visit_blocks(
        &self,
        nchunk: i64,
        blocks: &[usize],
        blocksize: usize,
        chunksize: usize,
        visit: &dyn Visit,
    ) -> Result<()> {
        self.check_index(nchunk)?;
        let settings = self.read_settings(false);
        let session = self.reading()?;
        if let ([nblock], None) = (blocks, &settings.postfilter)
            && let Some(cache) = self.cache.try_lock()
            && let Some((bytes, typesize)) = cache.view(nchunk, nblock * blocksize..(nblock + 1) * blocksize)
        {
            visit.visit(0, Content::Bytes(bytes))?;
            drop(cache);
            self.note_typesize(typesize);
            return Ok(());
        }
        let wanted = blocks.len().saturating_mul(blocksize);
        let lazily = wanted.saturating_mul(WHOLE) <= chunksize;
        self.with_chunk_in(session, nchunk, lazily, &settings, &mut |chunk, header, source| {
            let geometry = Blocks::of(header);
            let is_regular = header.nbytes() == chunksize && geometry.blocksize() == blocksize;
            if !is_regular || header.has_varlen_blocks() {
                let (nbytes, found) = (header.nbytes, geometry.blocksize());
                return Err(err!(Data, "a chunk of {nbytes} bytes in blocks of {found}"));
            }
            if let [nblock] = *blocks
                && settings.postfilter.is_none()
                && self.keeps(nchunk, nblock, blocksize, visit)
            {
                return self.visit_one(nchunk, nblock, chunk, header, source, &settings, visit);
            }
            let params = self.decompress_params(&settings, nchunk, source);
            let done = decompress::visit_blocks(&params, header, chunk, blocks, visit)?;
            self.note_read(header, &done);
            Ok(())
        })
    }

    /// Whether a block that is wanted alone is decoded as a whole, to be kept: always, unless a part of it does, and the
    /// part that was read before was of another block.
    fn keeps(&self, nchunk: i64, nblock: usize, blocksize: usize, visit: &dyn Visit) -> bool {
        !decompress::pays(&visit.wanted(0, blocksize), blocksize)
            || self.cache.try_lock().is_none_or(|mut cache| cache.touch(nchunk, nblock))
    }

    /// How many threads may read different chunks at once: 1 where reading runs a program's functions, which see one
    /// thread at a time or ask which chunk is at work, or where other threads than the library's do the work.
    pub(crate) fn threads_for_chunks(&self) -> usize {
        let is_users = self.backend.as_ref().is_some_and(|backend| backend.id() > 1)
            || pool::has_callback()
            || self.cctx().is_ok_and(Context::calls_back);
        let settings = self.read_settings(false);
        if is_users || settings.postfilter.is_some() { 1 } else { settings.nthreads.max(1) }
    }

    /// Decodes one block, by way of the cache unless that is in use.
    #[allow(clippy::too_many_arguments, reason = "what a read is made of")]
    fn visit_one(
        &self,
        nchunk: i64,
        nblock: usize,
        chunk: &[u8],
        header: &ChunkHeader,
        source: Option<&dyn BlockSource>,
        settings: &ReadSettings,
        visit: &dyn Visit,
    ) -> Result<()> {
        let params = self.decompress_params(settings, nchunk, source);
        let range = Blocks::of(header).range(nblock);
        let is_coded = header.special_bits() == 0 && (!header.is_memcpyed() || header.is_lazy());
        let is_aligned = range.len().is_multiple_of(usize::from(header.typesize));
        if is_coded
            && is_aligned
            && range.end <= header.nbytes()
            && let Some(mut cache) = self.cache_to_fill(header)
            && let Some(room) = cache.room(range.len())
        {
            let wanted = ItemRange::Bytes { start: range.start as i32, nbytes: range.len() as i32 };
            let done = decompress::getitem(&params, header, chunk, wanted, room)?;
            visit.visit(0, Content::Bytes(room))?;
            cache.keep(nchunk, range.start, header.typesize);
            self.note_read(header, &done);
            return Ok(());
        }
        let done = decompress::visit_blocks(&params, header, chunk, &[nblock], visit)?;
        self.note_read(header, &done);
        Ok(())
    }
}
