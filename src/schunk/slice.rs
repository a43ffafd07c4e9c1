//! Slices: consecutive items, across chunks (`schunk.md` 12).

use super::SuperChunk;
use super::cache::{BlockCache, ChunkState};
use super::change::InputChunk;
use super::frame_sync::{ChangeSession, ChunkAccess};
use super::snapshot::retry_until_stored;
use crate::chunk::{BlockGeometry, ChunkHeader, ParsedChunk};
use crate::err;
use crate::error::{Error, ErrorKind, Result, ensure, to_failure_unless_lock, to_kind_unless_lock};
use crate::frame::format::chunk_info::ChunkInfo;
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, ItemRange, RangeReader};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Consecutive items, at least one, as bytes of chunks.
pub(crate) struct Span {
    start: i64,
    stop: i64,
    chunksize: i64,
}

/// The part of a span in one chunk, as bytes of the chunk and of the buffer.
struct SliceChunk {
    nchunk: i64,
    range: Range<usize>,
    buffer: Range<usize>,
}

/// A part of a chunk, and a copy of the chunk or the error of copying it.
type SliceChunkCopy = (SliceChunk, Result<MallocBytes>);

struct ChunkPartToWrite<'a> {
    part: SliceChunk,
    src: &'a [u8],
    /// Uncompressed bytes of all chunks but the last.
    chunksize: i64,
}

impl ChunkPartToWrite<'_> {
    /// Writes the part into the content of its chunk. Bytes behind the end of a short last chunk are omitted
    /// (`schunk.md` 12.2).
    fn write_to(&self, content: &mut [u8]) {
        let Range { start, end } = self.part.range;
        let there = start.min(content.len())..end.min(content.len());
        let len = there.len();
        content[there].copy_from_slice(&self.src[..len]);
    }
}

/// The maximum size of a read during which the decompression context is locked, in bytes: other threads wait for the
/// copy.
const MAX_READ_WITH_CONTEXT: usize = 4096;

/// Returns whether bytes `range` of a chunk are whole items, in blocks of one length.
#[inline(always)]
fn holds_items(header: &ChunkHeader, range: &Range<usize>) -> bool {
    let typesize = usize::from(header.typesize);
    range.start.is_multiple_of(typesize)
        && range.len().is_multiple_of(typesize)
        && range.end <= header.nbytes()
        && !header.has_varlen_blocks()
}

/// Returns the error of a slice whose chunk cannot be stored.
fn to_update_error(error: Error) -> Error {
    to_kind_unless_lock(ErrorKind::ChunkUpdate)(error)
}

impl Span {
    /// Returns the span of items `start..stop`; `None` for no items.
    #[inline(always)]
    fn new(start: i64, stop: i64, typesize: i32, chunksize: i32) -> Result<Option<Span>> {
        let bytes = |item: i64| item.checked_mul(i64::from(typesize));
        let (Some(first), Some(end)) = (bytes(start), bytes(stop)) else {
            return Err(err!(
                InvalidParam,
                "`start` is {start}, `stop` {stop}: the offset in bytes overflows with `typesize` {typesize}"
            ));
        };
        if end <= first {
            return Ok(None);
        }
        let span = Span { start: first, stop: end, chunksize: i64::from(chunksize) };
        span.check().map(|()| Some(span))
    }

    fn check(&self) -> Result<()> {
        let Span { start, chunksize, .. } = *self;
        ensure!(
            start >= 0 && chunksize > 0,
            InvalidParam,
            "the first byte is {start}, expected 0 or more; `chunksize` is {chunksize}, expected 1 or more",
        );
        // With pointers of 32 bits, there is no such buffer.
        ensure!(
            usize::try_from(self.stop - start).is_ok(),
            InvalidParam,
            "the slice has {} bytes, more than a buffer can have: read or write it in parts",
            self.stop - start,
        );
        Ok(())
    }

    /// Returns the size in bytes.
    pub(crate) fn nbytes(&self) -> usize {
        (self.stop - self.start) as usize
    }

    #[inline]
    fn first_chunk(&self) -> i64 {
        self.start / self.chunksize
    }

    /// Returns the number of the chunk behind the last one of the span.
    fn end_chunk(&self) -> i64 {
        (self.stop - 1) / self.chunksize + 1
    }

    /// Returns the numbers of the chunks of the span, each with the range of bytes of the chunk.
    pub(super) fn ranges_in_chunks(&self) -> impl Iterator<Item = (i64, Range<usize>)> + Clone + '_ {
        self.parts().map(|part| (part.nchunk, part.range))
    }

    fn parts(&self) -> impl Iterator<Item = SliceChunk> + Clone + '_ {
        let first = self.first_chunk();
        // Avoids a division for small slices, which lie in one chunk.
        let is_in_one = self.stop - first * self.chunksize <= self.chunksize;
        let end = if is_in_one { first + 1 } else { self.end_chunk() };
        (first..end).map(move |nchunk| {
            let base = nchunk * self.chunksize;
            let range = self.start.max(base)..self.stop.min(base + self.chunksize);
            SliceChunk {
                nchunk,
                range: (range.start - base) as usize..(range.end - base) as usize,
                buffer: (range.start - self.start) as usize..(range.end - self.start) as usize,
            }
        })
    }
}

/// Returns the size of items `start..stop` in bytes; 0 if `stop <= start`.
pub(crate) fn slice_len(start: i64, stop: i64, typesize: i32) -> Result<usize> {
    let items = stop.checked_sub(start);
    let bytes = items.and_then(|items| items.checked_mul(i64::from(typesize)));
    match bytes {
        Some(bytes) => Ok(usize::try_from(bytes).unwrap_or(0)),
        None => Err(err!(
            InvalidParam,
            "`start` is {start}, `stop` {stop}: the size in bytes overflows with `typesize` {typesize}"
        )),
    }
}

impl SuperChunk {
    /// Returns the span of items `start..stop` for the current chunk size; `None` for no items.
    #[inline(always)]
    fn span(&self, start: i64, stop: i64) -> Result<Option<Span>> {
        Span::new(start, stop, self.typesize(), self.chunksize())
    }

    /// Returns the span of items `start..stop`, for [`read_span`](Self::read_span); `None` for no items.
    ///
    /// # Errors
    /// `InvalidParam` for chunks of different sizes or an overflow; `Failure` for items before the first, and for a
    /// super-chunk without chunks.
    pub(crate) fn span_to_read(&self, start: i64, stop: i64) -> Result<Option<Span>> {
        ensure!(start >= 0 || stop <= start, Failure, "`start` is {start}, expected 0 or more");
        self.span(start, stop).map_err(|error| match self.chunksize() {
            // The super-chunk has no chunks, and thus no items: not an error about chunk sizes.
            -1 => err!(Failure, "{error}"),
            _ => error,
        })
    }

    /// Reads items `start..stop` into `dest`, which has their size. Chunks before the one that failed are read.
    pub(crate) fn get_slice(&self, start: i64, stop: i64, dest: OutBuffer<'_>) -> Result<()> {
        self.span_to_read(start, stop)?.map_or(Ok(()), |span| self.read_span(&span, dest))
    }

    /// Reads a short span from one stored or special chunk in memory into `dest`, which has its size. Returns `false`,
    /// and does nothing, for other spans, and if reading fails.
    #[inline(always)]
    pub(crate) fn try_read_uncoded_span(&self, span: &Span, dest: &mut OutBuffer<'_>) -> bool {
        let nchunk = span.first_chunk();
        let base = nchunk * span.chunksize;
        if span.nbytes() > MAX_READ_WITH_CONTEXT
            || span.stop - base > span.chunksize
            || self.has_cached_block.load(Ordering::Relaxed)
            || self.frame().is_some()
        {
            return false;
        }
        let reading = self.read_lock();
        let mut header = ChunkHeader::default();
        let Ok(chunk) = reading
            .lock_proof()
            .chunk_in_memory(nchunk)
            .and_then(|bytes| ParsedChunk::parse(&mut header, bytes))
        else {
            return false;
        };
        let header = chunk.header();
        let range = (span.start - base) as usize..(span.stop - base) as usize;
        // A mask of blocks applies to a read of a whole chunk.
        if i64::from(self.chunksize()) != span.chunksize
            || range.len() == header.nbytes()
            || !holds_items(header, &range)
        {
            return false;
        }
        let dctx = self.dctx();
        if dctx.as_ref().is_some_and(|dctx| dctx.head().postfilter().is_some()) {
            return false;
        }
        let Ok(Some(done)) = decompress::read_uncoded(&chunk, &range, dest) else { return false };
        self.set_current_nchunk(nchunk);
        if let Some(dctx) = dctx {
            dctx.publish_chunk_read(header, &done);
        }
        true
    }

    /// Reads a span into `dest`, which has its size; all items are from one state of the super-chunk. Chunks before the
    /// one that failed are read.
    ///
    /// # Errors
    /// `InvalidParam` for items behind the last; those of reading.
    pub(crate) fn read_span(&self, span: &Span, mut dest: OutBuffer<'_>) -> Result<()> {
        let _fetched = self.fetch_span(span)?;
        self.retry_changed_reads(|| self.try_read_span(span, dest.reborrow()))
    }

    fn try_read_span(&self, span: &Span, mut dest: OutBuffer<'_>) -> Result<()> {
        // A span that is behind the last chunk is rejected without waiting for the lock.
        self.check_nchunk(span.first_chunk())?;
        let settings = self.read_settings(false);
        let copies = self.with_read_access(|access| {
            let current = Span { chunksize: i64::from(self.chunksize()), ..*span };
            if current.chunksize != span.chunksize {
                // The super-chunk was changed before this thread got the lock.
                current.check()?;
                self.check_nchunk(current.first_chunk())?;
            }
            self.read_or_copy_parts(access, current.parts(), &settings, dest.reborrow())
        })?;
        copies.map_or(Ok(()), |copies| self.decode_copies(copies, &settings, dest))
    }

    /// Reads bytes `range` of a chunk into `dest` (same length).
    pub(super) fn read_chunk_part(
        &self,
        nchunk: i64,
        range: Range<usize>,
        mut dest: OutBuffer<'_>,
    ) -> Result<()> {
        self.check_nchunk(nchunk)?;
        let settings = self.read_settings(false);
        self.retry_changed_reads(|| {
            let part = SliceChunk { nchunk, range: range.clone(), buffer: 0..dest.len() };
            let parts = std::iter::once(part);
            let copies = self.with_read_access(|access| {
                self.read_or_copy_parts(access, parts, &settings, dest.reborrow())
            })?;
            copies.map_or(Ok(()), |copies| self.decode_copies(copies, &settings, dest.reborrow()))
        })
    }

    /// Reads parts of chunks to their offsets in `dest`; all parts are from one state of the super-chunk. If decoding
    /// runs functions of the program, returns copies of the remaining chunks, to be decoded without a lock.
    #[inline]
    fn read_or_copy_parts(
        &self,
        access: ChunkAccess<'_>,
        mut parts: impl Iterator<Item = SliceChunk>,
        settings: &ReadSettings,
        mut dest: OutBuffer<'_>,
    ) -> Result<Option<Vec<SliceChunkCopy>>> {
        let mut next = parts.next();
        while let Some(part) = next {
            if !self.try_read_chunk_part(access, &part, settings, dest.reborrow())? {
                let mut copies = Vec::new();
                for part in std::iter::once(part).chain(parts) {
                    let copy = self.check_nchunk(part.nchunk).and_then(|()| {
                        let copy = access.copy_of_chunk(part.nchunk)?;
                        access.note_container(&ChunkHeader::parse(&copy)?, settings);
                        Ok(copy)
                    });
                    let failed = copy.is_err();
                    copies.push((part, copy));
                    if failed {
                        break;
                    }
                }
                return Ok(Some(copies));
            }
            next = parts.next();
            if let Some(part) = &next {
                self.check_nchunk(part.nchunk)?;
            }
        }
        Ok(None)
    }

    /// Decodes parts of copies of chunks to their offsets in `dest`, until one fails or could not be copied.
    fn decode_copies(
        &self,
        copies: Vec<SliceChunkCopy>,
        settings: &ReadSettings,
        mut dest: OutBuffer<'_>,
    ) -> Result<()> {
        copies.into_iter().try_for_each(|(part, copy)| {
            self.set_current_nchunk(part.nchunk);
            let copy = copy?;
            let mut header = ChunkHeader::default();
            let chunk = ParsedChunk::parse(&mut header, &copy)?;
            self.decode_chunk_part(&part, &chunk, None, settings, dest.reborrow())
        })
    }

    /// Reads a part of a chunk. Returns `false`, and does nothing, if decoding runs functions of the program.
    fn try_read_chunk_part(
        &self,
        access: ChunkAccess<'_>,
        part: &SliceChunk,
        settings: &ReadSettings,
        mut dest: OutBuffer<'_>,
    ) -> Result<bool> {
        if settings.postfilter.is_none()
            && let Some(chunk) = access.chunk_state(part.nchunk)
            && let Some(cache) = self.cache().try_lock()
            && let Some(typesize) = cache.get(chunk, part.range.start, &mut dest.range(part.buffer.clone()))
        {
            drop(cache);
            self.note_typesize(typesize);
            return Ok(true);
        }
        let chunksize = usize::try_from(self.chunksize()).unwrap_or(0);
        let lazily = part.range.len() != chunksize;
        let done = access.with_chunk(part.nchunk, lazily, settings, |chunk, access| {
            self.decode_chunk_part(part, chunk, access, settings, dest.reborrow())
        })?;
        Ok(done.is_some())
    }

    /// Decodes a part of a chunk to its offset in `dest`: whole blocks directly, others through the cache. The first read of
    /// at most half of a block decodes only that part if the codec supports it. Without access, the chunk is a copy, and the
    /// cache is not used.
    fn decode_chunk_part(
        &self,
        part: &SliceChunk,
        chunk: &ParsedChunk<'_>,
        access: Option<ChunkAccess<'_>>,
        settings: &ReadSettings,
        mut dest: OutBuffer<'_>,
    ) -> Result<()> {
        let mut dest = dest.range(part.buffer.clone());
        if part.range == (0..chunk.header().nbytes()) {
            // A mask only applies to reads of whole chunks.
            let mask = self.read_settings(true).mask;
            let whole = ReadSettings {
                mask,
                nthreads: settings.nthreads,
                postfilter: settings.postfilter,
                container: settings.container.clone(),
            };
            let params = self.decompress_params(&whole, part.nchunk);
            return self.decode(chunk, &params, dest).map(|_| ());
        }
        let (header, range) = (chunk.header(), part.range.clone());
        let typesize = usize::from(header.typesize);
        let has_items = settings.postfilter.is_none() && holds_items(header, &range);
        if has_items && let Some(done) = decompress::read_uncoded(chunk, &range, &mut dest)? {
            self.note_read(header, &done);
            return Ok(());
        }
        let params = self.decompress_params(settings, part.nchunk);
        if has_items
            && decompress::is_worth_caching(chunk)
            && BlockGeometry::of(header).blocksize().is_multiple_of(typesize)
            && let Some((mut cache, state)) = access.and_then(|access| access.try_lock_cache(part.nchunk))
        {
            return RangeReader::open(&params, chunk, |reader| {
                self.read_through_cache(&mut cache, (state, chunk), reader, range, dest)
            });
        }
        let wanted = ItemRange::Bytes { start: range.start as i32, nbytes: range.len() as i32 };
        let done = decompress::getitem(&params, chunk, wanted, dest)?;
        self.note_read(header, &done);
        Ok(())
    }

    /// As [`decode_chunk_part`](Self::decode_chunk_part), of chunk `state`, which `reader` decodes. `range` consists of whole
    /// items.
    fn read_through_cache(
        &self,
        cache: &mut BlockCache,
        (state, chunk): (ChunkState, &ParsedChunk<'_>),
        reader: &RangeReader<'_>,
        range: Range<usize>,
        mut dest: OutBuffer<'_>,
    ) -> Result<()> {
        let header = chunk.header();
        let typesize = usize::from(header.typesize);
        let blocks = BlockGeometry::of(header);
        let read = |range: Range<usize>, dest: OutBuffer<'_>| {
            let done = reader.read(range, dest)?;
            self.note_read(header, &done);
            Ok(())
        };
        let mut at = range.start;
        while at < range.end {
            let nblock = at / blocks.blocksize();
            let block = blocks.range(nblock);
            if at == block.start && range.end >= block.end {
                // Reads all consecutive whole blocks at once.
                let end = match range.end {
                    end if end == header.nbytes() => end,
                    end => end - end % blocks.blocksize(),
                };
                read(at..end, dest.range(at - range.start..end - range.start))?;
                at = end;
                continue;
            }
            let end = block.end.min(range.end);
            let mut part = dest.range(at - range.start..end - range.start);
            // A part of at most half of a block is decoded alone, unless the previous partial read was of the same
            // block.
            let is_first = 2 * part.len() <= block.len()
                && decompress::can_decode_prefixes(chunk)
                && !cache.record_partial_read(state.nchunk, nblock);
            let is_kept = !is_first && block.len().is_multiple_of(typesize);
            let room = if is_kept { cache.begin_fill(block.len()) } else { None };
            match room {
                Some(room) => {
                    read(block.clone(), room.into())?;
                    part.copy_from_slice(&room[at - block.start..end - block.start]);
                    cache.finish_fill(state, block.start, header.typesize);
                }
                None => read(at..end, part)?,
            }
            at = end;
        }
        Ok(())
    }

    /// Writes items `start..stop` from `src`, which has their size. The write is atomic for other threads and handles,
    /// unless compressing runs functions of the program. If a chunk fails, nothing is written to plain files; elsewhere,
    /// and for a slice beyond the last chunk, the chunks before it are. Items behind the end of a short last chunk are
    /// omitted, unless the whole chunk is written.
    ///
    /// # Errors
    /// `InvalidParam` for items before the first, or chunks of different sizes; `Failure` when a chunk cannot be
    /// compressed or decompressed; `ChunkUpdate` when it cannot be stored.
    pub(crate) fn set_slice(&self, start: i64, stop: i64, src: &[u8]) -> Result<()> {
        self.in_transaction(to_update_error, || self.write_slice(start, stop, src))
    }

    fn write_slice(&self, start: i64, stop: i64, src: &[u8]) -> Result<()> {
        let Some(mut span) = self.span(start, stop)? else { return Ok(()) };
        let target = self.owner_of_view().map_err(to_update_error)?.unwrap_or(self);
        let mut session = None;
        if !self.cctx().map_err(to_failure_unless_lock)?.runs_callbacks() {
            // A slice behind the last chunk is rejected before the lock is taken.
            let is_whole =
                span.parts().next().is_none_or(|first| self.is_whole_chunk(&first, span.chunksize));
            if !is_whole {
                self.check_nchunk(span.first_chunk()).map_err(to_failure_unless_lock)?;
            }
            let open = session.insert(target.lock_for_change(false).map_err(to_update_error)?);
            // Another handle may have replaced a short chunk by a longer one, of which a part must be kept.
            open.access().map_err(if is_whole { to_update_error } else { to_failure_unless_lock })?;
            match self.span(start, stop)? {
                Some(now) => span = now,
                None => return Ok(()),
            }
        }
        if span.end_chunk() > target.counters().nchunks {
            target.keep_changes_in_place();
        }
        for part in span.parts() {
            let new = ChunkPartToWrite { src: &src[part.buffer.clone()], part, chunksize: span.chunksize };
            if let Some(open) = &mut session {
                if let Some((chunk, old)) =
                    self.build_patched_chunk(open, &new).map_err(to_failure_unless_lock)?
                {
                    let chunk = InputChunk::Take(&mut Some(chunk));
                    open.update_known(new.part.nchunk, chunk, old).map_err(to_update_error)?;
                    continue;
                }
                session = None;
            }
            retry_until_stored(new.part.nchunk, || self.try_write_part_unlocked(target, &new))?;
        }
        Ok(())
    }

    /// Returns whether a part covers all bytes of its chunk.
    fn is_whole_chunk(&self, part: &SliceChunk, chunksize: i64) -> bool {
        let counters = self.counters();
        let last_len = match counters.nbytes % chunksize {
            0 => chunksize,
            rest => rest,
        };
        // Includes chunks behind the last one, which cannot be stored in either case.
        let is_last = part.nchunk >= counters.nchunks - 1;
        let end = part.range.end as i64;
        part.range.start == 0 && (end == chunksize || (is_last && end == last_len))
    }

    /// Returns the new chunk for a write of a part of it, and the header fields of the old chunk if it was read; `None`
    /// if decoding runs functions of the program, during which no session may be held. The session is that of the
    /// super-chunk to which the chunk belongs.
    fn build_patched_chunk(
        &self,
        session: &mut ChangeSession<'_>,
        new: &ChunkPartToWrite<'_>,
    ) -> Result<Option<(MallocBytes, Option<ChunkInfo>)>> {
        let nchunk = new.part.nchunk;
        if self.is_whole_chunk(&new.part, new.chunksize) {
            self.set_current_nchunk(nchunk);
            return self.compress(nchunk, Some(new.src), new.src.len()).map(|chunk| Some((chunk, None)));
        }
        self.check_nchunk(nchunk)?;
        let settings = self.read_settings(false);
        let access = session.access()?;
        let mut old = None;
        let content = access.with_chunk(nchunk, false, &settings, |chunk, _| {
            old = Some(ChunkInfo::parse(chunk.bytes())?);
            self.decode_to_malloc(nchunk, chunk, &settings)
        })?;
        let Some(mut content) = content else { return Ok(None) };
        new.write_to(&mut content);
        self.compress(nchunk, Some(&content), content.len()).map(|chunk| Some((chunk, old)))
    }

    /// Writes a part of a chunk of `target`. Holds no lock while decoding and compressing run functions of the program.
    /// Returns `false` if the chunk was replaced in the meantime, so that the result is not stored.
    fn try_write_part_unlocked(&self, target: &SuperChunk, new: &ChunkPartToWrite<'_>) -> Result<bool> {
        let nchunk = new.part.nchunk;
        if self.is_whole_chunk(&new.part, new.chunksize) {
            self.set_current_nchunk(nchunk);
            let chunk =
                self.compress(nchunk, Some(new.src), new.src.len()).map_err(to_failure_unless_lock)?;
            let mut session = target.lock_for_change(false).map_err(to_update_error)?;
            session.access().map_err(to_update_error)?;
            self.check_chunksize(new)?;
            let is_whole = self.is_whole_chunk(&new.part, new.chunksize);
            if is_whole {
                let chunk = InputChunk::Take(&mut Some(chunk));
                session.update(nchunk, chunk).map_err(to_update_error)?;
            }
            return Ok(is_whole);
        }
        let settings = self.read_settings(false);
        let snapshot = self.take_snapshot(nchunk, &settings).map_err(to_failure_unless_lock)?;
        // A change of the chunk size after this check also replaces the chunk of the snapshot, or comes after this
        // write.
        self.check_chunksize(new)?;
        let mut content = self.decode_snapshot(&snapshot, &settings).map_err(to_failure_unless_lock)?;
        new.write_to(&mut content);
        let chunk = self.compress(nchunk, Some(&content), content.len()).map_err(to_failure_unless_lock)?;
        self.replace_if_unchanged(&snapshot, InputChunk::Take(&mut Some(chunk))).map_err(to_update_error)
    }

    /// Checks that the chunk size is still the one by which the slice was divided into parts.
    fn check_chunksize(&self, new: &ChunkPartToWrite<'_>) -> Result<()> {
        let chunksize = self.chunksize();
        if i64::from(chunksize) != new.chunksize {
            let before = new.chunksize;
            return Err(err!(
                InvalidParam,
                "`chunksize` is {chunksize}, expected {before} as at the start of the call"
            ));
        }
        Ok(())
    }

    /// Returns the uncompressed content of a chunk.
    pub(super) fn decode_chunk(&self, nchunk: i64) -> Result<MallocBytes> {
        self.check_nchunk(nchunk)?;
        let settings = self.read_settings(false);
        self.with_chunk(nchunk, false, &settings, &mut |chunk, _| {
            self.decode_to_malloc(nchunk, chunk, &settings)
        })
    }

    pub(super) fn decode_to_malloc(
        &self,
        nchunk: i64,
        chunk: &ParsedChunk<'_>,
        settings: &ReadSettings,
    ) -> Result<MallocBytes> {
        let mut content = MallocBytes::zeroed(chunk.header().nbytes())?;
        self.decode(chunk, &self.decompress_params(settings, nchunk), OutBuffer::from(&mut content[..]))?;
        Ok(content)
    }

    /// Returns the numbers of the chunks that items `start..stop` touch, without a check that the chunks exist
    /// (`schunk.md` 20); `None` for a super-chunk without chunks.
    pub(crate) fn slice_chunks(&self, start: i64, stop: i64) -> Result<Option<Range<i64>>> {
        let counters = self.counters();
        if counters.nchunks == 0 {
            return Ok(None);
        }
        let (typesize, chunksize) = (i64::from(self.typesize()), i64::from(counters.chunksize));
        ensure!(chunksize > 0, InvalidParam, "`chunksize` is {chunksize}, expected 1 or more");
        let bytes = start.checked_mul(typesize).zip(stop.checked_mul(typesize));
        let overflow = || err!(InvalidParam, "`start` is {start}, `stop` {stop}: a byte offset overflows");
        let (first, end) = bytes.ok_or_else(overflow)?;
        let round_up = i64::from(end % chunksize != 0);
        Ok(Some(first / chunksize..end / chunksize + round_up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schunk::storage::Storage;

    #[test]
    fn short_slices_of_stored_and_special_chunks_are_read_without_a_plan() {
        const TYPESIZE: usize = 8;
        // Chunks of less than 32 bytes are stored; longer ones of zeros are special.
        for (chunk, is_longer) in [(3, false), (8, true)] {
            // SAFETY: the default parameters have no pointers but to literals.
            let schunk = unsafe { SuperChunk::create(&Storage::default()) }.unwrap();
            let content: Vec<u8> =
                if is_longer { vec![0; 3 * 8 * chunk] } else { (1..=3 * 8 * chunk as u8).collect() };
            for chunk in content.chunks(8 * chunk) {
                schunk.append_buffer(Some(chunk), chunk.len()).unwrap();
            }
            let items = content.len() / TYPESIZE;
            for (start, stop) in
                (0..items).flat_map(|start| (start + 1..=items).map(move |stop| (start, stop)))
            {
                let expected = &content[start * TYPESIZE..stop * TYPESIZE];
                let span = schunk.span_to_read(start as i64, stop as i64).unwrap().unwrap();
                let mut dest = vec![7; expected.len()];
                let was_read = schunk.try_read_uncoded_span(&span, &mut dest[..].as_mut().into());
                let is_part = start / chunk == (stop - 1) / chunk && stop - start < chunk;
                assert_eq!(was_read, is_part, "{start}..{stop} of chunks of {chunk} items");
                assert_eq!(dest == expected, was_read, "{start}..{stop} of chunks of {chunk} items");
                schunk.get_slice(start as i64, stop as i64, dest[..].as_mut().into()).unwrap();
                assert_eq!(dest, expected, "{start}..{stop} of chunks of {chunk} items");
            }
        }
    }
}
