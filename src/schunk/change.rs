//! Putting chunks in and taking them out (`schunk.md` 10).
//!
//! Data flow: chunk header -> facts -> new counters ([`super::rules`]) -> the store is changed -> counters published.
//! Nothing is published, and nothing was taken from the caller, after an error.

use super::gate::Changing;
use super::live::Layer;
use super::rules::{self, Counters};
use super::sync::{Access, ChangeSession};
use super::{Keeping, SuperChunk};
use crate::buffers;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_BUFFERSIZE, flag, version};
use crate::chunk::{ChunkHeader, Special, write_i32};
use crate::err;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::fetch::ChunkInfo;
use crate::frame::plan::{Change, Payload, Target};
use crate::malloc::Malloced;
use crate::pipeline::compress::{Source, special_chunk};
use crate::pipeline::params::CompressParams;
use std::sync::atomic::Ordering;

/// Special chunks that are rewritten at the most when a frame turns to chunks of different sizes.
const MOST_CONVERSIONS: usize = 1 << 16;

/// Uncompressed bytes above which a chunk in memory is compressed where it stays instead of copied from a buffer of the pool, so
/// that appending takes no second copy of a large chunk.
const LARGE_CHUNK: usize = 16 << 20;

/// A chunk that is handed in.
pub(crate) enum Incoming<'a> {
    /// One that stays the caller's.
    Copy(&'a [u8]),
    /// One that the super-chunk takes if all goes well.
    Take(&'a mut Option<Malloced>),
}

impl Incoming<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Incoming::Copy(bytes) => bytes,
            Incoming::Take(chunk) => chunk.as_deref().unwrap_or_default(),
        }
    }

    /// The chunk as a block of its own; it is taken.
    #[inline(always)]
    fn into_block(self, cbytes: usize, nbytes: usize) -> Result<Malloced> {
        match self {
            Incoming::Copy(bytes) => Malloced::copy_of(bytes),
            Incoming::Take(place) => {
                let mut chunk = place.take().ok_or_else(|| err!(NullPointer, "no chunk"))?;
                if cbytes < nbytes {
                    chunk.truncate(cbytes);
                }
                Ok(chunk)
            }
        }
    }

    /// The chunk has been written elsewhere: a block that was to be taken is freed.
    fn release(self) {
        if let Incoming::Take(place) = self {
            drop(place.take());
        }
    }
}

/// What a chunk says, if it can be stored at all.
#[inline(always)]
fn facts(chunk: &[u8]) -> Result<ChunkInfo> {
    let info = ChunkInfo::of(chunk)?;
    if info.is_lazy {
        return Err(err!(InvalidParam, "a lazy chunk cannot be stored"));
    }
    Ok(info)
}

/// A failed step of an operation gets the operation's code, but for those that say more.
fn as_code(kind: ErrorKind) -> impl Fn(Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::Lock => error,
        _ => Error::new(kind, format_args!("{error}")),
    }
}

impl SuperChunk {
    /// Appends a chunk; the number of chunks then.
    ///
    /// # Errors
    /// `InvalidHeader` for bytes that are no chunk, `ChunkAppend` for a chunk that does not fit in or could not be
    /// stored, `Lock`.
    pub(crate) fn append_chunk(&self, chunk: Incoming<'_>) -> Result<i64> {
        let info = facts(chunk.bytes())?;
        if self.has_no_frame() {
            let changing = &self.start_change()?;
            let at = self.counters().nchunks;
            return self.insert_plain(changing, at, chunk, &info, ErrorKind::ChunkAppend);
        }
        let mut session = self.changing(true)?;
        let at = self.counters().nchunks;
        self.insert(&mut session, at, chunk, info, ErrorKind::ChunkAppend)
    }

    /// Whether chunks are kept one by one in memory, by this super-chunk itself. That never changes.
    fn has_no_frame(&self) -> bool {
        !self.is_view() && self.frame().is_none()
    }

    /// Inserts a chunk where there is no frame. `at` is a place among the chunks.
    #[inline(always)]
    fn insert_plain(
        &self,
        changing: &Changing<'_>,
        at: i64,
        chunk: Incoming<'_>,
        info: &ChunkInfo,
        kind: ErrorKind,
    ) -> Result<i64> {
        let failed = as_code(kind);
        let before = self.counters();
        let last = match before.nchunks {
            0 => None,
            nchunks => Some(self.nbytes_of_last(nchunks, Access::without_frame(changing))?),
        };
        let after = rules::insert(&before, Keeping::Memory, at, info, last).map_err(&failed)?;
        self.note_current(at);
        let block = chunk.into_block(info.cbytes as usize, info.nbytes.max(0) as usize).map_err(&failed)?;
        self.insert_in_memory(changing, at, before.nchunks, block).map_err(&failed)?;
        self.set_counters(&after);
        let last = if at == before.nchunks { info.nbytes } else { last.unwrap_or(-1) };
        self.last_nbytes.store(last, Ordering::Relaxed);
        Ok(after.nchunks)
    }

    /// Inserts a chunk before chunk `at`, or at the end; the number of chunks then.
    ///
    /// # Errors
    /// `InvalidParam` when there is no such place, `InvalidHeader` for bytes that are no chunk, `ChunkInsert` for a chunk
    /// that does not fit in or could not be stored, `Lock`.
    pub(crate) fn insert_chunk(&self, at: i64, chunk: Incoming<'_>) -> Result<i64> {
        let mut session = self.changing(true)?;
        let nchunks = self.counters().nchunks;
        if !(0..=nchunks).contains(&at) {
            return Err(err!(InvalidParam, "a place {at} among {nchunks} chunks"));
        }
        let info = facts(chunk.bytes())?;
        if self.frame().is_none() {
            return self.insert_plain(session.changing(), at, chunk, &info, ErrorKind::ChunkInsert);
        }
        self.insert(&mut session, at, chunk, info, ErrorKind::ChunkInsert)
    }

    fn insert(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        chunk: Incoming<'_>,
        info: ChunkInfo,
        kind: ErrorKind,
    ) -> Result<i64> {
        let failed = as_code(kind);
        let access = session.access(self)?;
        let before = self.counters();
        // The frame cannot tell the size of a special first chunk among chunks of different sizes.
        if let (Some(frame), Some(header)) = (self.frame(), access.header())
            && before.nchunks > 0
            && before.chunksize <= 0
        {
            frame.chunk_info(0, header)?;
        }
        let last = match before.nchunks {
            0 => None,
            nchunks => Some(self.nbytes_of_last(nchunks, access)?),
        };
        let keeping = self.keeping();
        let mut after = rules::insert(&before, keeping, at, &info, last).map_err(&failed)?;
        self.note_current(at);
        let value = self.prepare_variable(&before, &mut after, &info, None).map_err(&failed)?;
        let payload = payload_of(&value, &chunk, &info).map_err(&failed)?;
        let change = Change::Insert { at: at as usize, chunk: payload };
        self.apply(&change, &after).map_err(&failed)?;
        chunk.release();
        self.set_counters(&after);
        let last = if at == before.nchunks { info.nbytes } else { last.unwrap_or(-1) };
        self.last_nbytes.store(last, Ordering::Relaxed);
        Ok(after.nchunks)
    }

    /// Uncompressed size of the last of `nchunks` chunks.
    fn nbytes_of_last(&self, nchunks: i64, access: Access<'_>) -> Result<i32> {
        let known = self.last_nbytes.load(Ordering::Relaxed);
        if known >= 0 {
            return Ok(known);
        }
        Ok(self.info_of(nchunks - 1, access)?.nbytes)
    }

    /// What the header of a chunk that is there says.
    pub(super) fn info_of(&self, nchunk: i64, access: Access<'_>) -> Result<ChunkInfo> {
        match (self.frame(), access.header()) {
            (Some(frame), Some(header)) => frame.chunk_info(nchunk as usize, header),
            _ => ChunkInfo::of(self.chunk_in_memory(access, nchunk)?),
        }
    }

    /// Sees to it that a frame whose chunks shall have different sizes can tell the size of each: special chunks, whose
    /// size the index does not have, become repeated values (`frame.md` 9). Returns such a chunk in the place of a new
    /// one that is special, and counts what it takes. The chunk that is `replaced` need not be told of.
    fn prepare_variable(
        &self,
        before: &Counters,
        after: &mut Counters,
        info: &ChunkInfo,
        replaced: Option<i64>,
    ) -> Result<Option<Vec<u8>>> {
        if info.cbytes < EXTENDED_HEADER_LENGTH as i32 {
            return Err(err!(InvalidHeader, "frames keep no chunks of {} bytes", info.cbytes));
        }
        if after.nchunks == 1 && info.nbytes == 0 {
            return Err(err!(InvalidParam, "a frame cannot begin with an empty chunk"));
        }
        // Readers count chunks by their size, unless sizes differ.
        let size = i64::from(after.chunksize);
        if size > 0 && count(after.nbytes, size) != after.nchunks {
            after.chunksize = 0;
        }
        if after.chunksize != 0 {
            return self.with_size(after, info);
        }
        if before.chunksize != 0 {
            let added = self.convert_specials(before, replaced)?;
            after.cbytes = rules::sum(after.cbytes, added)?;
        }
        let Some(special) = info.special else { return Ok(None) };
        let chunk = as_value(special, info.nbytes, self.typesize())?;
        after.cbytes = rules::sum(after.cbytes, chunk.len() as i64)?;
        Ok(Some(chunk))
    }

    /// What takes the place of a new special chunk whose size readers of the index would not believe: one that is no whole
    /// number of items (`frame.md` 1.4).
    fn with_size(&self, after: &mut Counters, info: &ChunkInfo) -> Result<Option<Vec<u8>>> {
        let is_whole = info.nbytes.checked_rem(self.typesize()) == Some(0);
        let Some(special) = info.special.filter(|_| !is_whole) else { return Ok(None) };
        let chunk = as_value(special, info.nbytes, self.typesize())?;
        after.cbytes = rules::sum(after.cbytes, chunk.len() as i64)?;
        Ok(Some(chunk))
    }

    /// Writes special chunks out as repeated values, one after another, but for the one that is about to go; the bytes
    /// that they take. The frame is a good one after each.
    fn convert_specials(&self, before: &Counters, replaced: Option<i64>) -> Result<i64> {
        let Some(frame) = self.frame() else { return Ok(0) };
        let offsets = frame.offsets()?;
        let is_special = |&(n, code): &(usize, i64)| code < 0 && Some(n as i64) != replaced;
        let specials: Vec<usize> = offsets.iter().enumerate().filter(is_special).map(|(n, _)| n).collect();
        if specials.len() > MOST_CONVERSIONS {
            return Err(err!(InvalidParam, "{} special chunks cannot change their size", specials.len()));
        }
        let mut counters = *before;
        for nchunk in specials {
            let header = frame.look()?.header;
            let info = frame.chunk_info(nchunk, &header)?;
            let Some(special) = info.special else { continue };
            let chunk = as_value(special, info.nbytes, self.typesize())?;
            let mut after = counters;
            after.cbytes = rules::sum(after.cbytes, chunk.len() as i64)?;
            let chunk = Payload::Bytes(&chunk);
            self.apply(&Change::Update { at: nchunk, chunk, old_len: 0 }, &after)?;
            self.set_counters(&after);
            counters = after;
        }
        Ok(counters.cbytes - before.cbytes)
    }

    /// Changes the frame into what the super-chunk is with those counters.
    pub(super) fn apply(&self, change: &Change<'_>, counters: &Counters) -> Result<()> {
        let Some(frame) = self.frame() else { return Ok(()) };
        frame.apply(
            change,
            &Target {
                header: self.frame_header(counters),
                metalayers: &self.metalayers(Layer::Fixed),
                vlmetalayers: &self.metalayers(Layer::Variable),
            },
        )
    }

    /// Puts another chunk in the place of chunk `at`; the number of chunks.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that is not there, `InvalidHeader` for bytes that are no chunk, `Failure` when the old
    /// one cannot be read, `ChunkUpdate` for a chunk that does not fit in or could not be stored, `Lock`.
    pub(crate) fn update_chunk(&self, at: i64, chunk: Incoming<'_>) -> Result<i64> {
        if let Some(owner) = self.owner_of_view()? {
            self.check_index(at)?;
            owner.update_chunk(at, chunk)?;
            return Ok(self.counters().nchunks);
        }
        if self.has_no_frame() {
            return self.update_plain(&self.start_change()?, at, chunk);
        }
        self.update_in(&mut self.changing(false)?, at, chunk)
    }

    /// As [`update_chunk`](Self::update_chunk), with leave to change that is there already. This is no view.
    pub(super) fn update_in(
        &self,
        session: &mut ChangeSession<'_>,
        at: i64,
        chunk: Incoming<'_>,
    ) -> Result<i64> {
        if self.frame().is_none() {
            return self.update_plain(session.changing(), at, chunk);
        }
        let failed = as_code(ErrorKind::ChunkUpdate);
        let info = self.check_update(at, &chunk)?;
        let old = self.old_chunk(session, at)?;
        let before = self.counters();
        let mut after = rules::update(&before, self.keeping(), at, &info, &old).map_err(&failed)?;
        let value = self.prepare_variable(&before, &mut after, &info, Some(at)).map_err(&failed)?;
        let payload = payload_of(&value, &chunk, &info).map_err(&failed)?;
        let old_len = rules::counted(&old);
        let change = Change::Update { at: at as usize, chunk: payload, old_len: old_len as u64 };
        session.forget_header();
        self.apply(&change, &after).map_err(&failed)?;
        chunk.release();
        self.set_counters(&after);
        self.last_nbytes.store(if at == after.nchunks - 1 { info.nbytes } else { -1 }, Ordering::Relaxed);
        Ok(after.nchunks)
    }

    /// Puts another chunk in the place of one where there is no frame.
    fn update_plain(&self, changing: &Changing<'_>, at: i64, chunk: Incoming<'_>) -> Result<i64> {
        let failed = as_code(ErrorKind::ChunkUpdate);
        let info = self.check_update(at, &chunk)?;
        let before = self.counters();
        let old = self.chunk_in_memory(Access::without_frame(changing), at).and_then(ChunkInfo::of);
        let old = old.map_err(|error| err!(Failure, "the old chunk cannot be read: {error}"))?;
        let after = rules::update(&before, Keeping::Memory, at, &info, &old).map_err(&failed)?;
        let is_overwritten = match &chunk {
            Incoming::Copy(bytes) => self.overwrite_in_memory(changing, at, bytes, old.cbytes as usize),
            Incoming::Take(_) => false,
        };
        if !is_overwritten {
            let block = chunk.into_block(info.cbytes as usize, info.nbytes.max(0) as usize);
            self.replace_in_memory(changing, at, block.map_err(&failed)?);
        }
        self.set_counters(&after);
        self.last_nbytes.store(if at == after.nchunks - 1 { info.nbytes } else { -1 }, Ordering::Relaxed);
        Ok(after.nchunks)
    }

    /// Sees that a chunk can come in the place of another, as far as that can be told without that; its facts.
    #[inline(always)]
    fn check_update(&self, at: i64, chunk: &Incoming<'_>) -> Result<ChunkInfo> {
        let counters = self.counters();
        if !(0..counters.nchunks).contains(&at) {
            return Err(err!(InvalidParam, "chunk {at} of {}", counters.nchunks));
        }
        let info = facts(chunk.bytes())?;
        if counters.nchunks > 1 {
            rules::check_mix(counters.flags2, &info).map_err(as_code(ErrorKind::ChunkUpdate))?;
        }
        self.note_current(at);
        Ok(info)
    }

    /// The facts of a chunk that is to go; the frame is looked at first.
    fn old_chunk(&self, session: &mut ChangeSession<'_>, at: i64) -> Result<ChunkInfo> {
        let unreadable = |error: Error| err!(Failure, "the old chunk cannot be read: {error}");
        let access = session.access(self).map_err(unreadable)?;
        if at >= self.counters().nchunks {
            return Err(err!(Failure, "chunk {at} is gone"));
        }
        self.info_of(at, access).map_err(unreadable)
    }

    /// Deletes chunk `at`; the number of chunks then.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that is not there, `Failure` when it cannot be read, `ChunkUpdate` when the frame could
    /// not be changed, `Lock`.
    pub(crate) fn delete_chunk(&self, at: i64) -> Result<i64> {
        let mut session = self.changing(false)?;
        let nchunks = self.counters().nchunks;
        if !(0..nchunks).contains(&at) {
            return Err(err!(InvalidParam, "chunk {at} of {nchunks}"));
        }
        self.note_current(at);
        let old = self.old_chunk(&mut session, at)?;
        let before = self.counters();
        let failed = as_code(ErrorKind::ChunkUpdate);
        let mut after = rules::delete(&before, self.keeping(), &old).map_err(&failed)?;
        if self.frame().is_none() {
            self.remove_in_memory(session.changing(), at);
        } else {
            let size = i64::from(after.chunksize);
            if size > 0 && after.nchunks > 0 && count(after.nbytes, size) != after.nchunks {
                // Readers would count the chunks wrongly.
                let added = self.convert_specials(&before, Some(at)).map_err(&failed)?;
                after.cbytes = rules::sum(after.cbytes, added).map_err(&failed)?;
                after.chunksize = 0;
            }
            self.apply(&Change::Delete { at: at as usize }, &after).map_err(&failed)?;
        }
        self.set_counters(&after);
        self.last_nbytes.store(-1, Ordering::Relaxed);
        Ok(after.nchunks)
    }

    /// Puts the chunks into another order: chunk `order[i]` becomes chunk `i`.
    ///
    /// # Errors
    /// `Data` when the order is no permutation, or for a frame without chunks; `Lock`, those of writing the frame.
    pub(crate) fn reorder(&self, order: &[i64]) -> Result<()> {
        rules::check_order(order)?;
        let session = self.changing(true)?;
        let counters = self.counters();
        // Another handle may have brought chunks that the order knows nothing of.
        if order.len() as i64 != counters.nchunks {
            return Err(err!(Data, "an order of {} chunks for {}", order.len(), counters.nchunks));
        }
        match self.frame() {
            None => self.reorder_in_memory(session.changing(), order),
            Some(_) if order.is_empty() => return Err(err!(Data, "a frame without chunks has no order")),
            Some(_) => self.apply(&Change::Reorder { order }, &counters)?,
        }
        self.last_nbytes.store(-1, Ordering::Relaxed);
        Ok(())
    }

    /// Compresses `src`, or what the prefilter makes of nothing, and appends the chunk; the number of chunks then.
    ///
    /// # Errors
    /// `MaxBufsizeExceeded` for too many bytes, those of compression, those of
    /// [`append_chunk`](Self::append_chunk).
    pub(crate) fn append_buffer(&self, src: Option<&[u8]>, nbytes: usize) -> Result<i64> {
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(MaxBufsizeExceeded, "{nbytes} bytes; {MAX_BUFFERSIZE} is the limit"));
        }
        let at = self.counters().nchunks;
        self.note_current(at);
        if self.frame().is_none() && nbytes + EXTENDED_HEADER_LENGTH > LARGE_CHUNK {
            let mut block = Malloced::zeroed(nbytes + EXTENDED_HEADER_LENGTH)?;
            let cbytes = self.compress_into(at, src, nbytes, &mut block)?;
            block.truncate(cbytes);
            return self.append_chunk(Incoming::Take(&mut Some(block)));
        }
        self.with_compressed(at, src, nbytes, |chunk| self.append_chunk(Incoming::Copy(chunk)))
    }

    /// Compresses `content` and puts it in the place of chunk `at`.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that is not there, those of compression, those of
    /// [`update_chunk`](Self::update_chunk).
    pub(crate) fn put_content(&self, at: i64, content: &[u8]) -> Result<()> {
        self.check_index(at)?;
        self.with_compressed(at, Some(content), content.len(), |chunk| {
            self.update_chunk(at, Incoming::Copy(chunk)).map(|_| ())
        })
    }

    /// Compresses what shall be chunk `nchunk` into a block of its own.
    ///
    /// # Errors
    /// Those of compression.
    pub(super) fn compress(&self, nchunk: i64, src: Option<&[u8]>, nbytes: usize) -> Result<Malloced> {
        self.with_compressed(nchunk, src, nbytes, Malloced::copy_of)
    }

    /// Compresses what shall be chunk `nchunk` with the super-chunk's context and lends the chunk to `then`.
    pub(super) fn with_compressed<R>(
        &self,
        nchunk: i64,
        src: Option<&[u8]>,
        nbytes: usize,
        then: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<R> {
        let room = nbytes + EXTENDED_HEADER_LENGTH;
        let mut buffer = buffers::take(room)?;
        let cbytes = self.compress_into(nchunk, src, nbytes, &mut buffer[..room])?;
        then(&buffer[..cbytes])
    }

    /// Compresses what shall be chunk `nchunk` with the super-chunk's context into `dest`, which has room for the chunk;
    /// its length. The public struct tells another number as soon as another thread reads.
    fn compress_into(
        &self,
        nchunk: i64,
        src: Option<&[u8]>,
        nbytes: usize,
        dest: &mut [u8],
    ) -> Result<usize> {
        let cctx = self.cctx()?;
        let source = match src {
            Some(src) => Source::Buffer(src),
            None => Source::Absent(nbytes),
        };
        let cbytes = if cctx.calls_back() {
            cctx.compress_chunk(source, dest, nchunk, |schunk| self.container_in(schunk))
        } else {
            // The gate comes before the context.
            let container = self.asked_container(cctx);
            let _use = self.cctx_use.lock();
            cctx.compress_chunk(source, dest, nchunk, |_| container)
        }?;
        if cbytes == 0 {
            return Err(err!(Failure, "{nbytes} bytes could not be compressed"));
        }
        Ok(cbytes)
    }
}

/// How many chunks a reader counts in a frame with chunks of one size.
fn count(nbytes: i64, size: i64) -> i64 {
    if nbytes <= 0 { 0 } else { (nbytes - 1) / size + 1 }
}

/// What a frame stores of a chunk.
fn payload_of<'a>(
    value: &'a Option<Vec<u8>>,
    chunk: &'a Incoming<'_>,
    info: &ChunkInfo,
) -> Result<Payload<'a>> {
    if let Some(value) = value {
        return Ok(Payload::Bytes(value));
    }
    if let Some(special) = info.special {
        return Ok(Payload::Special(special));
    }
    let cbytes = usize::try_from(info.cbytes).unwrap_or(0);
    match chunk.bytes().get(..cbytes) {
        Some(bytes) => Ok(Payload::Bytes(bytes)),
        None => Err(err!(InvalidHeader, "a chunk of {cbytes} bytes, {} are there", chunk.bytes().len())),
    }
}

/// A special chunk as one that repeats a value, which every reader finds among chunks of different sizes; what is no whole
/// number of items as zeros. Bytes that nobody has set become zeros.
fn as_value(special: Special, nbytes: i32, typesize: i32) -> Result<Vec<u8>> {
    let width = usize::try_from(typesize).unwrap_or(1);
    let params = CompressParams { typesize, blocksize: nbytes.max(1), ..CompressParams::default() };
    if nbytes == 0 {
        // An empty chunk has nothing to repeat.
        let mut chunk = vec![0; EXTENDED_HEADER_LENGTH];
        let header = ChunkHeader {
            version: version::STABLE,
            versionlz: 1,
            flags: flag::EXTENDED | flag::MEMCPYED,
            typesize: typesize.clamp(1, 255) as u8,
            blocksize: 1,
            cbytes: EXTENDED_HEADER_LENGTH as i32,
            ..ChunkHeader::default()
        };
        header.write(&mut chunk);
        return Ok(chunk);
    }
    if nbytes.checked_rem(typesize) != Some(0) {
        if special == Special::Nan {
            return Err(err!(InvalidParam, "{nbytes} bytes of not-a-numbers are none of {typesize} bytes"));
        }
        return Ok(run_of_zeros(nbytes));
    }
    let mut value = vec![0; width];
    if special == Special::Nan {
        special.fill(&mut value, 0, width, &[])?;
    }
    let mut chunk = vec![0; EXTENDED_HEADER_LENGTH + width];
    special_chunk(&params, Special::Value, nbytes as usize, &value, &mut chunk)?;
    Ok(chunk)
}

/// A chunk of `nbytes` zeros, at least 1, whose header says so: blocks of one stream each, a run.
fn run_of_zeros(nbytes: i32) -> Vec<u8> {
    let blocksize = nbytes.min(MAX_BLOCKSIZE);
    let nblocks = nbytes.unsigned_abs().div_ceil(blocksize.unsigned_abs()) as usize;
    let (tables, len) = (EXTENDED_HEADER_LENGTH + 4 * nblocks, EXTENDED_HEADER_LENGTH + 8 * nblocks);
    // The length of a stream that is a run of zeros is 0.
    let mut chunk = vec![0; len];
    let header = ChunkHeader {
        version: version::STABLE,
        versionlz: 1,
        flags: flag::EXTENDED | flag::DONT_SPLIT,
        typesize: 1,
        nbytes,
        blocksize,
        cbytes: len as i32,
        ..ChunkHeader::default()
    };
    header.write(&mut chunk);
    for nblock in 0..nblocks {
        write_i32(&mut chunk, EXTENDED_HEADER_LENGTH + 4 * nblock, (tables + 4 * nblock) as i32);
    }
    chunk
}
