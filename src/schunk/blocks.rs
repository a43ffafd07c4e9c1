//! Reading blocks of a chunk for array layers, which define the layout of the items.

use super::SuperChunk;
use super::frame_sync::ChunkAccess;
use super::read::ChunkUse;
use crate::buffers;
use crate::chunk::{BlockGeometry, ParsedChunk};
use crate::error::{Result, ensure, err};
use crate::frame::store::DiskFrame;
use crate::out_buffer::OutBuffer;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, BlockContent, BlockSink, ItemRange, RangeReader};
use crate::pipeline::params::DecompressParams;
use crate::pipeline::shared_output::SharedOutput;
use crate::pool;

/// Minimum ratio of the size of a chunk to that of the blocks to read, for which the chunk is read lazily, block by
/// block.
const MIN_LAZY_RATIO: usize = 4;

impl SuperChunk {
    /// Reads the item at byte `start` of chunk `nchunk` into `dest`, which has its size. The first read of an item of a
    /// block decodes only that item if the codec supports it; the second one decodes the block into the cache. `sizes`
    /// are those of chunks and blocks, as in [`visit_blocks`](Self::visit_blocks).
    pub(crate) fn read_item(
        &self,
        nchunk: i64,
        start: usize,
        mut dest: OutBuffer<'_>,
        sizes: (usize, usize),
    ) -> Result<()> {
        // Whole blocks are read from disk: a single item is only decoded alone from memory.
        if self.disk_frame().is_some_and(|frame| !frame.is_mapped()) {
            return self.read_item_in_block(nchunk, start, dest, sizes);
        }
        self.retry_changed_reads(|| {
            self.check_nchunk(nchunk)?;
            let nblock = start / sizes.1.max(1);
            let is_read = self.with_read_access(|access| {
                let mut is_first = false;
                if let Some(mut cache) = self.cache().try_lock() {
                    if let Some(chunk) = access.chunk_state(nchunk)
                        && let Some(typesize) = cache.get(chunk, start, &mut dest)
                        && self.note_cached(typesize)
                    {
                        return Ok(true);
                    }
                    is_first = !cache.record_partial_read(nchunk, nblock);
                }
                // The settings are read without the lock of the cache.
                let settings = self.read_settings(false);
                if !is_first || settings.postfilter.is_some() {
                    return Ok(false);
                }
                let is_read = access.with_chunk(nchunk, false, &settings, |chunk, _| {
                    let header = chunk.header();
                    let typesize = usize::from(header.typesize);
                    let is_aligned = start.is_multiple_of(typesize) && dest.len().is_multiple_of(typesize);
                    // `visit_blocks` returns the error for an item that the chunk does not have.
                    let is_stored = start + dest.len() <= header.nbytes() && !header.has_varlen_blocks();
                    if !is_stored || !is_aligned || !decompress::can_decode_prefixes(chunk) {
                        return Ok(false);
                    }
                    let params = self.decompress_params(&settings, nchunk);
                    let wanted = ItemRange::Bytes { start: start as i32, nbytes: dest.len() as i32 };
                    let done = decompress::getitem(&params, chunk, wanted, dest.reborrow())?;
                    self.note_read(header, &done);
                    Ok(true)
                })?;
                Ok(is_read == Some(true))
            })?;
            if is_read { Ok(()) } else { self.read_item_in_block(nchunk, start, dest.reborrow(), sizes) }
        })
    }

    /// As [`read_item`](Self::read_item), but decodes the block.
    fn read_item_in_block(
        &self,
        nchunk: i64,
        start: usize,
        dest: OutBuffer<'_>,
        (chunksize, blocksize): (usize, usize),
    ) -> Result<()> {
        let nblock = start / blocksize.max(1);
        let mut sink = SingleItem { start: start - nblock * blocksize, dest: SharedOutput::new(dest) };
        self.visit_blocks(nchunk, &[nblock], blocksize, chunksize, &mut sink)
    }

    /// Stores, in the decompression context, the item size of a chunk whose block is in the cache. Returns `false` if
    /// there is a postfilter, which was not applied to cached blocks.
    fn note_cached(&self, typesize: u8) -> bool {
        self.dctx().is_none_or(|dctx| dctx.publish_cached_read(typesize))
    }

    /// Passes the blocks `blocks` of chunk `nchunk`, which are the content of the chunk in pieces of `blocksize` bytes,
    /// to `sink`; in no particular order, and on several threads if the decompression context has several. A single
    /// block is stored in the cache. Chunks usually are `chunksize` bytes long; of a block in which a shorter chunk ends
    /// the sink receives the bytes that the chunk has.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, `Data` for a block that begins behind the end of the chunk and
    /// for a chunk of variable-length blocks, those of reading and of `sink`.
    pub(crate) fn visit_blocks(
        &self,
        nchunk: i64,
        blocks: &[usize],
        blocksize: usize,
        chunksize: usize,
        sink: &mut dyn BlockSink,
    ) -> Result<()> {
        self.retry_changed_reads(|| {
            self.check_nchunk(nchunk)?;
            let settings = self.read_settings(false);
            let wanted = blocks.len().saturating_mul(blocksize);
            let lazily = wanted.saturating_mul(MIN_LAZY_RATIO) <= chunksize;
            let sizes = (chunksize, blocksize);
            let used = self.with_read_access(|access| {
                if let ([nblock], None) = (blocks, &settings.postfilter)
                    && let Some(chunk) = access.chunk_state(nchunk)
                    && let Some(cache) = self.cache().try_lock()
                    && let Some((bytes, typesize)) = cache.get_ref(chunk, nblock * blocksize, blocksize)
                {
                    // SAFETY: the sink is borrowed exclusively.
                    unsafe { sink.accept(0, BlockContent::Bytes(bytes)) }?;
                    drop(cache);
                    self.note_typesize(typesize);
                    return Ok(ChunkUse::Done(()));
                }
                access.use_or_copy_chunk(nchunk, lazily, &settings, &mut |chunk, access| {
                    self.visit_blocks_of_chunk((nchunk, chunk), access, blocks, sizes, &settings, sink)
                })
            })?;
            used.finish(&mut |chunk, access| {
                self.visit_blocks_of_chunk((nchunk, chunk), access, blocks, sizes, &settings, sink)
            })
        })
    }

    /// As [`visit_blocks`](Self::visit_blocks), of chunk `nchunk`, which is a copy without access.
    fn visit_blocks_of_chunk(
        &self,
        (nchunk, chunk): (i64, &ParsedChunk<'_>),
        access: Option<ChunkAccess<'_>>,
        blocks: &[usize],
        (chunksize, blocksize): (usize, usize),
        settings: &ReadSettings,
        sink: &mut dyn BlockSink,
    ) -> Result<()> {
        let header = chunk.header();
        if header.has_varlen_blocks() {
            return Err(err!(Data, "the chunk has variable-length blocks, expected blocks of {blocksize}"));
        }
        let has_whole_blocks = header.nbytes() == chunksize
            || blocks
                .iter()
                .all(|nblock| nblock.saturating_add(1).saturating_mul(blocksize) <= header.nbytes());
        let params = self.decompress_params(settings, nchunk);
        if !has_whole_blocks || BlockGeometry::of(header).blocksize() != blocksize {
            return self.visit_byte_ranges(&params, chunk, blocks, blocksize, sink);
        }
        if let [nblock] = *blocks
            && settings.postfilter.is_none()
            && self.needs_caching(nchunk, nblock, blocksize, sink)
        {
            return self.visit_cached_block(nchunk, nblock, chunk, access, settings, sink);
        }
        let done = decompress::decode_into_sink(&params, chunk, blocks, sink)?;
        self.note_read(header, &done);
        Ok(())
    }

    /// As [`visit_blocks`](Self::visit_blocks), for a chunk that ends before or inside one of the blocks, or that was
    /// compressed in blocks of another size. Uses one thread.
    fn visit_byte_ranges(
        &self,
        params: &DecompressParams<'_>,
        chunk: &ParsedChunk<'_>,
        blocks: &[usize],
        blocksize: usize,
        sink: &mut dyn BlockSink,
    ) -> Result<()> {
        let header = chunk.header();
        let nbytes = header.nbytes();
        let mut buffer = buffers::take_buffer(blocksize.min(nbytes))?;
        let done = RangeReader::open(params, chunk, |reader| {
            let mut done = None;
            for (n, nblock) in blocks.iter().enumerate() {
                let start = nblock.saturating_mul(blocksize);
                let end = start.saturating_add(blocksize).min(nbytes);
                ensure!(
                    start < end,
                    Data,
                    "block {nblock} is missing: the chunk has {nbytes} bytes, the block begins at byte {start}",
                );
                let block = &mut buffer[..end - start];
                // Decoding an uninitialised chunk writes nothing.
                block.fill(0);
                done = Some(reader.read(start..end, block.into())?);
                // SAFETY: the sink is borrowed exclusively.
                unsafe { sink.accept(n, BlockContent::Bytes(block)) }?;
            }
            Ok(done)
        })?;
        if let Some(done) = done {
            self.note_read(header, &done);
        }
        Ok(())
    }

    /// Returns whether the only block of a read is decoded whole, into the cache: always, unless `sink` reads only the
    /// start of the block, and the previous read was of another block.
    fn needs_caching(&self, nchunk: i64, nblock: usize, blocksize: usize, sink: &dyn BlockSink) -> bool {
        !decompress::is_partial_decode_worthwhile(&sink.wanted_range(0, blocksize), blocksize)
            || self.cache().try_lock().is_none_or(|mut cache| cache.record_partial_read(nchunk, nblock))
    }

    /// Returns how many threads may read different chunks at once: 1 if reading runs functions of the program, which
    /// expect one thread at a time or query the current chunk, or if the program supplies the threads.
    pub(crate) fn threads_for_chunks(&self) -> usize {
        let is_users = self.disk_frame().is_some_and(DiskFrame::has_user_callbacks)
            || pool::has_callback()
            || self.cctx().is_ok_and(|cctx| cctx.runs_callbacks());
        let settings = self.read_settings(false);
        if is_users || settings.postfilter.is_some() { 1 } else { settings.nthreads.max(1) }
    }

    /// Decodes one block into the cache, and passes it from there to `sink`. Decodes directly to `sink` if the cache is
    /// in use, or without access.
    fn visit_cached_block(
        &self,
        nchunk: i64,
        nblock: usize,
        chunk: &ParsedChunk<'_>,
        access: Option<ChunkAccess<'_>>,
        settings: &ReadSettings,
        sink: &mut dyn BlockSink,
    ) -> Result<()> {
        let header = chunk.header();
        let params = self.decompress_params(settings, nchunk);
        let range = BlockGeometry::of(header).range(nblock);
        let is_aligned = range.len().is_multiple_of(usize::from(header.typesize));
        if decompress::is_worth_caching(chunk)
            && is_aligned
            && range.end <= header.nbytes()
            && let Some((mut cache, state)) = access.and_then(|access| access.try_lock_cache(nchunk))
            && let Some(room) = cache.begin_fill(range.len())
        {
            let wanted = ItemRange::Bytes { start: range.start as i32, nbytes: range.len() as i32 };
            let done = decompress::getitem(&params, chunk, wanted, room.into())?;
            // SAFETY: the sink is borrowed exclusively.
            unsafe { sink.accept(0, BlockContent::Bytes(room)) }?;
            cache.finish_fill(state, range.start, header.typesize);
            self.note_read(header, &done);
            return Ok(());
        }
        let done = decompress::decode_into_sink(&params, chunk, &[nblock], sink)?;
        self.note_read(header, &done);
        Ok(())
    }
}

/// Copies one item from the only block of a list.
struct SingleItem<'a> {
    /// Offset of the item in the block, in bytes.
    start: usize,
    dest: SharedOutput<'a>,
}

impl BlockSink for SingleItem<'_> {
    unsafe fn accept(&self, _n: usize, content: BlockContent<'_>) -> Result<()> {
        // SAFETY: the list has one block, and the caller guarantees that no other call has it.
        let dest = unsafe { self.dest.write_range(0..self.dest.len()) };
        match content {
            BlockContent::Bytes(bytes) => match bytes.get(self.start..self.start + dest.len()) {
                Some(item) => dest.copy_from_slice(item),
                None => {
                    let (start, len) = (self.start, bytes.len());
                    return Err(err!(Data, "the item at byte {start} is outside the block of {len} bytes"));
                }
            },
            BlockContent::Zeros => dest.fill(0),
        }
        Ok(())
    }
}
