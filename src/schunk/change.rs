//! Inserting, replacing and deleting chunks (`schunk.md` 10).
//!
//! Data flow: chunk header -> [`ChunkInfo`] -> new counters ([`super::rules`]) -> change of the store -> published
//! counters. After an error nothing is published, except special chunks that were already rewritten as repeated values
//! (`prepare_variable_sizes`; their content is the same), and no chunk is taken from the caller.

use super::access_lock::WriteGuard;
use super::c_struct::chunk_array::ChunkBlock;
use super::c_struct::metalayer_kind::MetalayerKind;
use super::frame_sync::{ChangeSession, ChunkAccess};
use super::rules::{self, Counters, Permutation};
use super::variable_size::nchunks_for_nbytes;
use super::{StorageKind, SuperChunk};
use crate::error::{ErrorKind, Result, ensure, err, to_kind, to_kind_unless_lock};
use crate::fallible;
use crate::frame::format::change::{Change, FrameChunk};
use crate::frame::format::chunk_info::ChunkInfo;
use crate::frame::format::plan::TargetState;
use crate::malloc::MallocBytes;
use crate::panics::in_library_call;
use std::sync::atomic::Ordering;

/// A chunk passed by the caller.
pub(crate) enum InputChunk<'a> {
    Copy(&'a [u8]),
    /// The super-chunk takes ownership of the chunk on success.
    Take(&'a mut Option<MallocBytes>),
}

impl InputChunk<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            InputChunk::Copy(bytes) => bytes,
            InputChunk::Take(chunk) => chunk.as_deref().unwrap_or_default(),
        }
    }

    /// Takes or copies the chunk, as a block for the array of chunks.
    #[inline(always)]
    fn into_chunk_block(self, cbytes: usize, nbytes: usize) -> Result<ChunkBlock> {
        match self {
            InputChunk::Copy(bytes) => ChunkBlock::new(MallocBytes::copy_of(bytes)?),
            InputChunk::Take(place) => {
                let mut chunk = place.take().ok_or_else(|| err!(NullPointer, "no chunk to take"))?;
                if cbytes < nbytes {
                    chunk.truncate_and_shrink(cbytes);
                }
                ChunkBlock::new(chunk)
            }
        }
    }

    /// Frees a chunk to be taken, after its bytes were written to a frame or over another chunk.
    fn release(self) {
        if let InputChunk::Take(place) = self {
            drop(place.take());
        }
    }
}

/// Returns the header fields of a chunk; an error if it cannot be stored.
#[inline(always)]
fn storable_chunk_info(chunk: &[u8]) -> Result<ChunkInfo> {
    let info = ChunkInfo::parse(chunk)?;
    ensure!(!info.is_lazy, InvalidParam, "a lazy chunk cannot be stored");
    ensure!(info.nbytes >= 0, InvalidHeader, "the chunk has {} bytes, expected 0 or more", info.nbytes);
    Ok(info)
}

impl SuperChunk {
    /// Appends a chunk. Returns the new number of chunks.
    ///
    /// # Errors
    /// `InvalidHeader` for bytes that are not a chunk, `ChunkAppend` for a chunk that does not match the others or
    /// could not be stored, `Lock`.
    pub(crate) fn append_chunk(&self, chunk: InputChunk<'_>) -> Result<i64> {
        let info = storable_chunk_info(chunk.bytes())?;
        if self.has_no_frame() {
            let mut guard = self.start_change()?;
            let at = guard.nchunks();
            return guard.insert_without_frame(at, chunk, &info, ErrorKind::ChunkAppend);
        }
        let mut session = self.lock_for_change(true)?;
        let at = self.counters().nchunks;
        session.insert(at, chunk, &info, ErrorKind::ChunkAppend)
    }

    /// Returns whether chunks are stored separately in memory, by this super-chunk itself. Constant for a super-chunk.
    fn has_no_frame(&self) -> bool {
        !self.is_view() && self.frame().is_none()
    }

    /// Inserts a chunk before chunk `at`, or at the end. Returns the new number of chunks.
    ///
    /// # Errors
    /// `InvalidParam` for a position out of range, `InvalidHeader` for bytes that are not a chunk, `ChunkInsert` for a
    /// chunk that does not match the others or could not be stored, `Lock`.
    pub(crate) fn insert_chunk(&self, at: i64, chunk: InputChunk<'_>) -> Result<i64> {
        if self.has_no_frame() {
            let mut guard = self.start_change()?;
            let info = self.check_insert(at, &chunk)?;
            return guard.insert_without_frame(at, chunk, &info, ErrorKind::ChunkInsert);
        }
        in_library_call(|| {
            let mut session = self.lock_for_change(true)?;
            let info = self.check_insert(at, &chunk)?;
            session.insert(at, chunk, &info, ErrorKind::ChunkInsert)
        })
    }

    /// Checks the position of a new chunk. Returns the header fields of the chunk.
    #[inline(always)]
    fn check_insert(&self, at: i64, chunk: &InputChunk<'_>) -> Result<ChunkInfo> {
        let nchunks = self.nchunks();
        ensure!((0..=nchunks).contains(&at), InvalidParam, "`nchunk` is {at}, expected 0 to {nchunks}");
        storable_chunk_info(chunk.bytes())
    }

    /// Replaces chunk `at`. Returns the number of chunks.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, `InvalidHeader` for bytes that are not a chunk, `Failure` when
    /// the old chunk cannot be read, `ChunkUpdate` for a chunk that does not match the others or could not be stored,
    /// `Lock`.
    pub(crate) fn update_chunk(&self, at: i64, chunk: InputChunk<'_>) -> Result<i64> {
        if let Some(owner) = self.owner_of_view()? {
            self.check_nchunk(at)?;
            owner.update_chunk(at, chunk)?;
            return Ok(self.counters().nchunks);
        }
        if self.has_no_frame() {
            return self.start_change()?.update_without_frame(at, chunk);
        }
        self.lock_for_change(false)?.update(at, chunk)
    }

    /// Checks that a chunk can replace chunk `at`, as far as that is possible without reading the old chunk. Returns
    /// the header fields of the new chunk.
    #[inline(always)]
    fn check_update(&self, at: i64, chunk: &InputChunk<'_>) -> Result<ChunkInfo> {
        let counters = self.counters();
        if !(0..counters.nchunks).contains(&at) {
            return Err(err!(InvalidParam, "no chunk {at} in a super-chunk of {} chunks", counters.nchunks));
        }
        let info = storable_chunk_info(chunk.bytes())?;
        if counters.nchunks > 1 {
            rules::check_same_block_kind(counters.flags2, &info)
                .map_err(to_kind_unless_lock(ErrorKind::ChunkUpdate))?;
        }
        self.set_current_nchunk(at);
        Ok(info)
    }

    /// Deletes chunk `at`. Returns the new number of chunks.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, `Failure` when the chunk cannot be read, `ChunkUpdate` when the
    /// frame could not be changed, `Lock`.
    pub(crate) fn delete_chunk(&self, at: i64) -> Result<i64> {
        if self.has_no_frame() {
            return self.start_change()?.delete_without_frame(at);
        }
        in_library_call(|| self.delete_from_frame(at))
    }

    fn delete_from_frame(&self, at: i64) -> Result<i64> {
        let mut session = self.lock_for_change(false)?;
        self.check_nchunk(at)?;
        let old = session.old_chunk(at, None)?;
        let guard = session.guard();
        let before = self.counters();
        let failed = to_kind_unless_lock(ErrorKind::ChunkUpdate);
        let mut after = rules::counters_after_delete(&before, self.storage_kind(), &old).map_err(&failed)?;
        rules::check_frame_has_bytes(&after).map_err(&failed)?;
        let size = i64::from(after.chunksize);
        if size > 0 && after.nchunks > 0 && nchunks_for_nbytes(after.nbytes, size) != after.nchunks {
            // Readers would compute a wrong number of chunks.
            let added = guard.convert_specials(&before, Some(at)).map_err(&failed)?;
            after.cbytes = rules::checked_sum(after.cbytes, added).map_err(&failed)?;
            after.chunksize = 0;
        }
        let change = Change::Delete { at: at as usize, old_len: rules::counted_cbytes(&old) as u64 };
        guard.apply_to_frame(&change, &after).map_err(&failed)?;
        guard.set_counters(&after);
        guard.set_last_nbytes(-1);
        Ok(after.nchunks)
    }

    /// Reorders the chunks: chunk `order[i]` becomes chunk `i`.
    ///
    /// # Errors
    /// `Data` when the order is not a permutation, or for a frame without chunks; `Lock`, those of writing the frame.
    pub(crate) fn reorder(&self, order: &[i64]) -> Result<()> {
        let permutation = Permutation::new(order)?;
        let mut session = self.lock_for_change(true)?;
        let counters = self.counters();
        // Another handle may have inserted or deleted chunks.
        ensure!(
            order.len() as i64 == counters.nchunks,
            Data,
            "`offsets_order` has {} chunk numbers, expected {}",
            order.len(),
            counters.nchunks,
        );
        match self.frame() {
            None => session.guard().reorder_in_memory(&permutation)?,
            Some(_) if order.is_empty() => return Err(err!(Data, "the frame has no chunks to reorder")),
            Some(_) => session.guard().apply_to_frame(&Change::Reorder { order }, &counters)?,
        }
        session.guard().set_last_nbytes(-1);
        Ok(())
    }
}

impl ChunkAccess<'_> {
    /// Returns the header fields of chunk `nchunk`, which must exist, with the sizes that the counters include; `known`
    /// are its fields if it was read already.
    fn counted_chunk_info(self, nchunk: i64, known: Option<ChunkInfo>) -> Result<ChunkInfo> {
        match (self.lock_proof().frame(), self.header()) {
            (Some(frame), Some(header)) => frame.counted_chunk_info(nchunk as usize, header, known),
            _ => ChunkInfo::parse(self.lock_proof().chunk_in_memory(nchunk)?),
        }
    }

    /// Checks that chunk `nchunk`, which has `nbytes` bytes, is as long as the counters say if it is shorter than
    /// `chunksize` bytes: the bytes that it lacks are about to be stored as zeros.
    pub(super) fn check_short_chunk(self, nchunk: i64, nbytes: usize, chunksize: usize) -> Result<()> {
        if nbytes >= chunksize {
            return Ok(());
        }
        let counted = self.counted_chunk_info(nchunk, None)?.nbytes;
        ensure!(
            usize::try_from(counted) == Ok(nbytes),
            Failure,
            "chunk {nchunk} has {nbytes} bytes, expected {counted}: it is damaged",
        );
        Ok(())
    }

    /// Returns the uncompressed size of the last of `nchunks` chunks.
    fn last_chunk_nbytes(self, nchunks: i64) -> Result<i32> {
        let known = self.lock_proof().last_nbytes.load(Ordering::Relaxed);
        if known >= 0 {
            return Ok(known);
        }
        Ok(self.counted_chunk_info(nchunks - 1, None)?.nbytes)
    }
}

impl WriteGuard<'_, SuperChunk> {
    /// Inserts a chunk into a super-chunk without a frame. `at` is in range.
    #[inline(always)]
    fn insert_without_frame(
        &mut self,
        at: i64,
        chunk: InputChunk<'_>,
        info: &ChunkInfo,
        kind: ErrorKind,
    ) -> Result<i64> {
        let failed = to_kind_unless_lock(kind);
        self.lock_proof().check_chunk_fits_array(chunk.bytes(), info).map_err(&failed)?;
        let before = self.counters();
        let last = match before.nchunks {
            0 => None,
            nchunks => Some(ChunkAccess::without_frame(self.lock_proof()).last_chunk_nbytes(nchunks)?),
        };
        let after =
            rules::counters_after_insert(&before, StorageKind::Memory, at, info, last).map_err(&failed)?;
        self.set_current_nchunk(at);
        let stored = chunk.into_chunk_block(info.cbytes as usize, info.nbytes.max(0) as usize);
        stored.and_then(|stored| self.insert_in_memory(at, stored)).map_err(&failed)?;
        self.set_counters(&after);
        let last = if at == before.nchunks { info.nbytes } else { last.unwrap_or(-1) };
        self.set_last_nbytes(last);
        Ok(after.nchunks)
    }

    /// Appends a copy of a chunk to a super-chunk without a frame. Returns the new number of chunks.
    pub(super) fn append_without_frame(&mut self, chunk: &[u8]) -> Result<i64> {
        let info = storable_chunk_info(chunk)?;
        let at = self.nchunks();
        self.insert_without_frame(at, InputChunk::Copy(chunk), &info, ErrorKind::ChunkAppend)
    }

    fn update_without_frame(&mut self, at: i64, chunk: InputChunk<'_>) -> Result<i64> {
        let failed = to_kind_unless_lock(ErrorKind::ChunkUpdate);
        let info = self.check_update(at, &chunk)?;
        self.lock_proof().check_chunk_fits_array(chunk.bytes(), &info).map_err(&failed)?;
        let before = self.counters();
        let old = self.lock_proof().chunk_in_memory(at).and_then(ChunkInfo::parse);
        let old = old.map_err(to_kind(ErrorKind::Failure))?;
        let after =
            rules::counters_after_update(&before, StorageKind::Memory, at, &info, &old).map_err(&failed)?;
        let is_overwritten = match &chunk {
            InputChunk::Copy(bytes) => self.overwrite_in_memory(at, bytes).map_err(&failed)?,
            InputChunk::Take(_) => false,
        };
        if !is_overwritten {
            let stored = chunk.into_chunk_block(info.cbytes as usize, info.nbytes.max(0) as usize);
            stored.and_then(|stored| self.replace_in_memory(at, stored)).map_err(&failed)?;
        }
        self.set_counters(&after);
        self.set_last_nbytes(if at == after.nchunks - 1 { info.nbytes } else { -1 });
        Ok(after.nchunks)
    }

    fn delete_without_frame(&mut self, at: i64) -> Result<i64> {
        self.check_nchunk(at)?;
        let failed = to_kind_unless_lock(ErrorKind::ChunkUpdate);
        let old = self.lock_proof().chunk_in_memory(at).and_then(ChunkInfo::parse);
        let old = old.map_err(to_kind(ErrorKind::Failure))?;
        let after = rules::counters_after_delete(&self.counters(), StorageKind::Memory, &old);
        let after = after.map_err(&failed)?;
        self.remove_in_memory(at).map_err(&failed)?;
        self.set_counters(&after);
        if at == after.nchunks {
            self.set_last_nbytes(-1);
        }
        Ok(after.nchunks)
    }

    /// Stores the uncompressed size of the last chunk in bytes; -1 for unknown.
    #[inline(always)]
    fn set_last_nbytes(&mut self, nbytes: i32) {
        self.object_for_change().last_nbytes.store(nbytes, Ordering::Relaxed);
    }

    /// Discards the cached block and the cached size of the last chunk.
    pub(super) fn discard_cached_state(&mut self) {
        self.discard_cached_block();
        self.set_last_nbytes(-1);
    }

    /// Applies a change to the frame, with the given counters in its header. Does nothing without a frame.
    pub(super) fn apply_to_frame(&mut self, change: &Change<'_>, counters: &Counters) -> Result<()> {
        let Some(frame) = self.object_for_change().frame() else { return Ok(()) };
        let locked = self.lock_proof();
        frame.apply(
            change,
            &TargetState {
                header: locked.frame_header(counters),
                metalayers: &fallible::collect(locked.metalayers(MetalayerKind::Fixed))?,
                vlmetalayers: &fallible::collect(locked.metalayers(MetalayerKind::Variable))?,
            },
        )
    }
}

impl ChangeSession<'_> {
    /// Inserts a chunk into a frame. `at` is in range.
    fn insert(&mut self, at: i64, chunk: InputChunk<'_>, info: &ChunkInfo, kind: ErrorKind) -> Result<i64> {
        let failed = to_kind_unless_lock(kind);
        let access = self.access()?;
        access.lock_proof().check_chunk_fits_array(chunk.bytes(), info).map_err(&failed)?;
        let schunk = access.lock_proof().object();
        let before = schunk.counters();
        // With chunks of different sizes, a frame does not store the size of a special first chunk: this returns an
        // error for it.
        if let (Some(frame), Some(header)) = (schunk.frame(), access.header())
            && before.nchunks > 0
            && before.chunksize <= 0
        {
            frame.chunk_info(0, header)?;
        }
        let last = match before.nchunks {
            0 => None,
            nchunks => Some(access.last_chunk_nbytes(nchunks)?),
        };
        let mut after =
            rules::counters_after_insert(&before, schunk.storage_kind(), at, info, last).map_err(&failed)?;
        schunk.set_current_nchunk(at);
        let guard = self.guard();
        let value = guard.prepare_variable_sizes(&before, &mut after, info, None).map_err(&failed)?;
        let payload = to_frame_chunk(&value, &chunk, info).map_err(&failed)?;
        let change = Change::Insert { at: at as usize, chunk: payload };
        guard.apply_to_frame(&change, &after).map_err(&failed)?;
        chunk.release();
        guard.set_counters(&after);
        let last = if at == before.nchunks { info.nbytes } else { last.unwrap_or(-1) };
        guard.set_last_nbytes(last);
        Ok(after.nchunks)
    }

    /// Replaces chunk `at`. Returns the number of chunks.
    pub(super) fn update(&mut self, at: i64, chunk: InputChunk<'_>) -> Result<i64> {
        self.update_known(at, chunk, None)
    }

    /// As [`update`](Self::update), for a chunk with the header fields `known`, which this session has read.
    pub(super) fn update_known(
        &mut self,
        at: i64,
        chunk: InputChunk<'_>,
        known: Option<ChunkInfo>,
    ) -> Result<i64> {
        if self.frame().is_none() {
            return self.guard().update_without_frame(at, chunk);
        }
        let failed = to_kind_unless_lock(ErrorKind::ChunkUpdate);
        let info = self.check_update(at, &chunk)?;
        self.guard().lock_proof().check_chunk_fits_array(chunk.bytes(), &info).map_err(&failed)?;
        let old = self.old_chunk(at, known)?;
        let before = self.counters();
        let mut after =
            rules::counters_after_update(&before, self.storage_kind(), at, &info, &old).map_err(&failed)?;
        let guard = self.guard();
        let value = guard.prepare_variable_sizes(&before, &mut after, &info, Some(at)).map_err(&failed)?;
        let payload = to_frame_chunk(&value, &chunk, &info).map_err(&failed)?;
        let old_len = rules::counted_cbytes(&old);
        let change = Change::Update { at: at as usize, chunk: payload, old_len: old_len as u64 };
        self.discard_header();
        let guard = self.guard();
        guard.apply_to_frame(&change, &after).map_err(&failed)?;
        chunk.release();
        guard.set_counters(&after);
        guard.set_last_nbytes(if at == after.nchunks - 1 { info.nbytes } else { -1 });
        Ok(after.nchunks)
    }

    /// Returns the header fields of the chunk to be replaced or deleted, after rereading a changed frame.
    fn old_chunk(&mut self, at: i64, known: Option<ChunkInfo>) -> Result<ChunkInfo> {
        let unreadable = to_kind(ErrorKind::Failure);
        let access = self.access().map_err(unreadable)?;
        let schunk = access.lock_proof().object();
        ensure!(at < schunk.counters().nchunks, Failure, "another handle has deleted chunk {at}");
        access.counted_chunk_info(at, known).map_err(unreadable)
    }
}

/// Returns the bytes that a frame stores for a chunk.
fn to_frame_chunk<'a>(
    value: &'a Option<Vec<u8>>,
    chunk: &'a InputChunk<'_>,
    info: &ChunkInfo,
) -> Result<FrameChunk<'a>> {
    if let Some(value) = value {
        return Ok(FrameChunk::Bytes(value));
    }
    if let Some(special) = info.special {
        return Ok(FrameChunk::Special(special));
    }
    let cbytes = usize::try_from(info.cbytes).unwrap_or(0);
    match chunk.bytes().get(..cbytes) {
        Some(bytes) => Ok(FrameChunk::Bytes(bytes)),
        None => {
            let len = chunk.bytes().len();
            Err(err!(InvalidHeader, "the chunk has {len} bytes, expected {cbytes} by its header"))
        }
    }
}
