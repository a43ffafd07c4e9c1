//! Synchronisation with other handles on the same frame: locks, and rereading their changes (`schunk.md` 19, `frame.md`
//! 6).

use super::SuperChunk;
use super::access_lock::{LockProof, ReadGuard, WriteGuard};
use super::c_struct::metalayer_kind::MetalayerKind;
use super::cache::ChunkState;
use super::transaction::ChangeLockGuard;
use crate::error::{ErrorKind, Result, ensure};
use crate::frame::format::header::FrameHeader;
use crate::frame::store::status::FrameStatus;
use crate::frame::store::{DiskFrame, Frame, FrameContents, MemoryFrame};
use crate::io::FrameLockGuard;
use std::ops::Deref;
use std::time::Instant;

/// Number of attempts to reread a frame that another handle without the lock keeps changing.
const MAX_REFRESH_ATTEMPTS: usize = 50;

/// Shared access to a super-chunk and its frame, which was reread. Released on drop.
struct ReadSession<'a> {
    status: FrameStatus,
    _frame_lock: Option<FrameLockGuard<'a>>,
    guard: ReadGuard<'a, SuperChunk>,
}

/// Exclusive access to a super-chunk and its frame. Released on drop.
pub(super) struct ChangeSession<'a> {
    /// `None` without a frame, and until the header is read.
    header: Option<FrameHeader>,
    _frame_lock: Option<FrameLockGuard<'a>>,
    guard: WriteGuard<'a, SuperChunk>,
    _change_lock: Option<ChangeLockGuard<'a>>,
}

/// Proof that the access lock is held for `'a`, and that the frame's header was read while it was held.
#[derive(Clone, Copy)]
pub(super) struct ChunkAccess<'a> {
    lock_proof: LockProof<'a, SuperChunk>,
    header: Option<&'a FrameHeader>,
    /// `None` during a change, which may replace the chunks that are read.
    generation: Option<u64>,
    /// As [`FrameStatus::unlocked_since`].
    unlocked_since: Option<Instant>,
}

impl<'a> ChunkAccess<'a> {
    #[inline(always)]
    fn new(lock_proof: LockProof<'a, SuperChunk>, status: &'a FrameStatus) -> ChunkAccess<'a> {
        let FrameStatus { header, generation, unlocked_since, .. } = status;
        ChunkAccess {
            lock_proof,
            header: Some(header),
            generation: Some(*generation),
            unlocked_since: *unlocked_since,
        }
    }

    /// Returns access to the chunks of a super-chunk without a frame.
    ///
    /// # Panics
    /// If there is a frame, since its header must be read.
    #[inline(always)]
    pub(super) fn without_frame(lock_proof: LockProof<'a, SuperChunk>) -> ChunkAccess<'a> {
        assert!(lock_proof.frame().is_none(), "the super-chunk has a frame, expected separate chunks");
        ChunkAccess::in_memory(lock_proof, None)
    }

    /// Returns access to chunks in memory, which only this handle changes; `header` is that of their frame.
    #[inline(always)]
    fn in_memory(lock_proof: LockProof<'a, SuperChunk>, header: Option<&'a FrameHeader>) -> ChunkAccess<'a> {
        ChunkAccess { lock_proof, header, generation: Some(0), unlocked_since: None }
    }

    pub(super) fn lock_proof(self) -> LockProof<'a, SuperChunk> {
        self.lock_proof
    }

    /// Returns the chunk in the state that this access reads, for the cached block; `None` during a change.
    pub(super) fn chunk_state(self, nchunk: i64) -> Option<ChunkState> {
        self.generation.map(|generation| ChunkState { generation, nchunk })
    }

    /// Returns the current header of the frame; `None` without a frame.
    pub(super) fn header(self) -> Option<&'a FrameHeader> {
        self.header
    }

    /// Returns the result of reading and decoding a chunk of the frame from its file, unless another process has changed
    /// the frame. A chunk that was checked before is not checked again, so that decoding may be what fails.
    ///
    /// # Errors
    /// `FileRead`; the error of the read.
    pub(super) fn confirm_read<R>(self, read: Result<R>) -> Result<R> {
        match (self.unlocked_since, self.header, self.lock_proof.object().disk_frame()) {
            (_, Some(header), Some(frame)) if read.is_err() => frame.explain_error(header, read),
            (Some(since), Some(header), Some(frame)) => frame.confirm_unchanged(header, since, read),
            _ => read,
        }
    }
}

impl SuperChunk {
    /// Calls `read` with the lock for reading held, after rereading the frame if another handle has changed it.
    ///
    /// Takes a closure instead of returning a session: moving that costs a short read without a frame 5 % of its
    /// instructions.
    #[inline(always)]
    pub(super) fn with_read_access<R>(&self, read: impl FnOnce(ChunkAccess<'_>) -> Result<R>) -> Result<R> {
        match self.frame() {
            None => self.with_memory_access(read),
            Some(Frame::Memory(frame)) => self.with_memory_frame_access(frame, read),
            Some(Frame::Disk(frame)) => self.with_disk_frame_access(frame, read),
        }
    }

    /// As [`with_read_access`](Self::with_read_access), but calls `read` again, a limited number of times, while it
    /// fails because another handle without the lock has changed the frame in the meantime.
    #[inline(always)]
    pub(super) fn retry_read_access<R>(
        &self,
        mut read: impl FnMut(ChunkAccess<'_>) -> Result<R>,
    ) -> Result<R> {
        match self.frame() {
            None => self.with_memory_access(read),
            Some(Frame::Memory(frame)) => self.with_memory_frame_access(frame, read),
            Some(Frame::Disk(frame)) => {
                DiskFrame::retry_changed_reads(Some(frame), || self.with_disk_frame_access(frame, &mut read))
            }
        }
    }

    /// As [`with_read_access`](Self::with_read_access), for a super-chunk without a frame.
    #[inline(always)]
    fn with_memory_access<R>(&self, read: impl FnOnce(ChunkAccess<'_>) -> Result<R>) -> Result<R> {
        let guard = self.read_lock();
        read(ChunkAccess::in_memory(guard.lock_proof(), None))
    }

    /// As [`with_read_access`](Self::with_read_access), for a super-chunk with a frame in memory.
    #[inline(never)]
    fn with_memory_frame_access<R>(
        &self,
        frame: &MemoryFrame,
        read: impl FnOnce(ChunkAccess<'_>) -> Result<R>,
    ) -> Result<R> {
        let guard = self.read_lock();
        let header = frame.header()?;
        read(ChunkAccess::in_memory(guard.lock_proof(), Some(&header)))
    }

    /// As [`with_read_access`](Self::with_read_access), for a super-chunk with a frame on disk.
    #[inline(always)]
    fn with_disk_frame_access<R>(
        &self,
        frame: &DiskFrame,
        read: impl FnOnce(ChunkAccess<'_>) -> Result<R>,
    ) -> Result<R> {
        let guard = self.read_lock();
        let frame_lock = frame.lock(false)?;
        // Borrowed in its place: moving it costs a slice of 10 items in memory a tenth of its time.
        let status = frame.status();
        let Ok(status) = &status else { return status.map(|_| unreachable!("an error")) };
        let (current, reread);
        let (lock_proof, status) = if status.is_stale {
            drop((frame_lock, guard));
            reread = self.lock_stale_frame(frame, &status.header)?;
            (reread.guard.lock_proof(), &reread.status)
        } else {
            current = (frame_lock, guard);
            (current.1.lock_proof(), status)
        };
        read(ChunkAccess::new(lock_proof, status))
    }

    /// Rereads the frame, which another handle has changed since it had the header `old`, and locks for reading. If the
    /// frame is not valid yet, because another handle is writing it, the known contents are used.
    #[cold]
    fn lock_stale_frame<'a>(&'a self, frame: &'a DiskFrame, old: &FrameHeader) -> Result<ReadSession<'a>> {
        let mut old = old.clone();
        for attempt in 0.. {
            // Rereading the frame needs exclusive access.
            let is_current = self.refresh_exclusively()?;
            if !is_current && attempt < MAX_REFRESH_ATTEMPTS && frame.has_changed_since(&old) {
                let _reading = self.read_lock();
                let _frame_lock = frame.lock(false)?;
                old = frame.status()?.header;
                continue;
            }
            let guard = self.read_lock();
            let frame_lock = frame.lock(false)?;
            let status = frame.status()?;
            if is_current && status.is_stale {
                // Another handle has changed the frame again.
                old = status.header;
                continue;
            }
            if !is_current {
                self.discard_cached_block();
            }
            return Ok(ReadSession { status, _frame_lock: frame_lock, guard });
        }
        unreachable!("the attempts have no end")
    }

    /// Locks for a change and discards the cached block. With `resync`, first rereads a frame that another handle has
    /// changed.
    ///
    /// # Errors
    /// `InvalidParam` for a view, `Lock`, `Failure` from inside an I/O function, and those of a frame that cannot be
    /// read.
    pub(super) fn lock_for_change(&self, resync: bool) -> Result<ChangeSession<'_>> {
        let change_lock = if self.is_view() { None } else { self.lock_changes()? };
        let mut guard = self.start_change()?;
        let mut frame_lock = None;
        let mut header = None;
        if let Some(frame) = self.frame() {
            frame_lock = frame.lock(true)?;
            if resync {
                header = Some(guard.header_for_change(frame)?);
            }
        }
        Ok(ChangeSession { header, _frame_lock: frame_lock, guard, _change_lock: change_lock })
    }

    /// As [`lock_for_change`](Self::lock_for_change), but does not lock or read the frame.
    ///
    /// # Errors
    /// `InvalidParam` for a view, `Failure` from inside an I/O function.
    #[inline(always)]
    pub(super) fn start_change(&self) -> Result<WriteGuard<'_, SuperChunk>> {
        ensure!(!self.is_view(), InvalidParam, "the super-chunk is a view, expected the owner of the chunks");
        let guard = WriteGuard::lock(self)?;
        self.discard_cached_block();
        Ok(guard)
    }

    /// Rereads the frame if another handle has changed it. Returns whether the known contents are up to date now;
    /// `false` for a frame that is not valid yet.
    fn refresh_exclusively(&self) -> Result<bool> {
        if let Some(owner) = self.owner_of_view()? {
            return owner.refresh_exclusively();
        }
        let mut guard = WriteGuard::lock(self)?;
        let Some(frame) = self.disk_frame() else { return Ok(false) };
        let _frame_lock = frame.lock(false)?;
        // Another thread of this process may have reread the frame already.
        let status = frame.status()?;
        Ok(!status.is_stale || guard.reread_if_stale(frame)?.0)
    }

    /// Rereads counters and metalayers if another handle has changed the frame. Returns whether they were reread. A
    /// frame that currently cannot be read counts as unchanged.
    ///
    /// # Errors
    /// `Lock`; `FileRead` for an invalid frame length.
    pub(crate) fn refresh(&self) -> Result<bool> {
        if let Some(owner) = self.owner_of_view()? {
            return owner.refresh();
        }
        let Some(frame) = self.disk_frame() else { return Ok(false) };
        // The check only needs shared access, so that readers do not exclude each other: arrays call this before each
        // read.
        if !self.is_stale(frame)? {
            return Ok(false);
        }
        let mut guard = WriteGuard::lock(self)?;
        let _frame_lock = frame.lock(false)?;
        let Ok(status) = frame.status() else { return Ok(false) };
        if !status.is_stale {
            return Ok(false);
        }
        guard.reread_if_stale(frame).map(|(changed, _)| changed)
    }

    /// Returns whether another handle has changed the frame. A frame that currently cannot be read counts as unchanged.
    fn is_stale(&self, frame: &DiskFrame) -> Result<bool> {
        let _reading = self.read_lock();
        let _frame_lock = frame.lock(false)?;
        Ok(frame.status().is_ok_and(|status| status.is_stale))
    }

    /// As [`refresh`](Self::refresh), but ignores errors other than `Lock`.
    pub(crate) fn refresh_ignoring_errors(&self) -> Result<()> {
        match self.refresh() {
            Err(error) if error.kind() == ErrorKind::Lock => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the frame's lock between processes exclusively, for several calls. The lock is reentrant. Returns `None`
    /// for a frame without a lock.
    ///
    /// # Errors
    /// `Lock`; `Failure` from inside an I/O function.
    pub(crate) fn lock_frame(&self) -> Result<Option<FrameLockGuard<'_>>> {
        let Some(frame) = self.disk_frame().filter(|frame| frame.has_lock()) else { return Ok(None) };
        // Waits for current readers, which hold the frame's lock in shared mode.
        let _changing = WriteGuard::lock(self)?;
        frame.lock(true)
    }

    /// As [`lock_frame`](Self::lock_frame), until [`release_frame_lock`](Self::release_frame_lock). Changes until then
    /// are committed together, also without a lock.
    pub(crate) fn hold_frame_lock(&self) -> Result<()> {
        if let Some(frame_lock) = self.lock_frame()? {
            frame_lock.keep_locked();
        }
        self.begin_bracket()
    }

    /// Releases one level of the frame's lock, after the changes since [`hold_frame_lock`](Self::hold_frame_lock) are
    /// committed.
    ///
    /// # Errors
    /// `Lock`, those of writing the frame. The lock is released then, too.
    pub(crate) fn release_frame_lock(&self) -> Result<()> {
        let done = self.end_bracket();
        self.disk_frame().map_or(Ok(()), DiskFrame::unlock).and(done)
    }
}

impl WriteGuard<'_, SuperChunk> {
    /// Rereads the frame if another handle has changed it. Returns whether it did, and the header.
    fn reread_if_stale(&mut self, frame: &DiskFrame) -> Result<(bool, FrameHeader)> {
        let status = frame.status_from_disk()?;
        if !status.is_stale {
            return Ok((false, status.header));
        }
        let header = status.header.clone();
        match frame.refresh(status.header)? {
            Some(contents) => {
                self.publish_contents(&contents)?;
                Ok((true, contents.header))
            }
            None => Ok((false, header)),
        }
    }

    /// Returns the header of the frame that is about to be changed. The errors are those of
    /// [`update_frame`](Self::update_frame).
    fn header_for_change(&mut self, frame: &Frame) -> Result<FrameHeader> {
        match frame.disk() {
            Some(frame) => self.update_frame(frame),
            None => frame.header(),
        }
    }

    /// Rereads the frame that is about to be changed, if another handle has changed it. Returns its header.
    ///
    /// # Errors
    /// `FileRead` when another handle has changed the frame and it is not valid yet: writing from the known contents
    /// would destroy these changes.
    pub(super) fn update_frame(&mut self, frame: &DiskFrame) -> Result<FrameHeader> {
        let (_, header) = self.reread_if_stale(frame)?;
        ensure!(
            header.frame_len == frame.len() || frame.has_open_transaction(),
            FileRead,
            "the frame length is {}, expected {}: another handle is writing the frame",
            header.frame_len,
            frame.len(),
        );
        Ok(header)
    }

    fn publish_contents(&mut self, contents: &FrameContents) -> Result<()> {
        self.discard_cached_state();
        let mut counters = self.counters();
        counters.nbytes = contents.header.nbytes;
        counters.cbytes = contents.header.cbytes;
        counters.nchunks = contents.nchunks as i64;
        // The super-chunk was opened before the first chunk, so its chunk size is not set, or another handle has added
        // a chunk of another size since.
        let has_different_sizes = contents.header.chunksize == 0 && contents.nchunks > 0;
        if counters.chunksize == -1 || has_different_sizes {
            counters.chunksize = contents.header.chunksize;
        }
        // The flags of the current chunks determine which chunks may be added.
        if counters.nchunks > 0 {
            counters.flags2 = contents.header.flags2;
        }
        self.set_counters(&counters);
        self.replace_metalayers(MetalayerKind::Fixed, &contents.metalayers)?;
        self.replace_metalayers(MetalayerKind::Variable, &contents.vlmetalayers)?;
        self.increment_change_tick();
        Ok(())
    }
}

impl<'a> ChangeSession<'a> {
    /// Returns access to the chunks, for the lifetime of the session. Reads the header of the frame if it was not read
    /// before.
    ///
    /// # Errors
    /// `FileRead` for a frame that is not valid yet, and those of reading it.
    pub(super) fn access(&mut self) -> Result<ChunkAccess<'_>> {
        if self.header.is_none()
            && let Some(frame) = self.guard.object().frame()
        {
            self.header = Some(self.guard.header_for_change(frame)?);
        }
        Ok(ChunkAccess {
            lock_proof: self.guard.lock_proof(),
            header: self.header.as_ref(),
            generation: None,
            unlocked_since: None,
        })
    }

    /// Returns the guard of the super-chunk's access lock.
    pub(super) fn guard(&mut self) -> &mut WriteGuard<'a, SuperChunk> {
        &mut self.guard
    }

    /// Discards the header, so that the next [`access`](Self::access) rereads it: the frame is about to change.
    pub(super) fn discard_header(&mut self) {
        self.header = None;
    }
}

impl Deref for ChangeSession<'_> {
    type Target = SuperChunk;

    fn deref(&self) -> &SuperChunk {
        &self.guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::err;
    use crate::frame::store::fetch::FetchMode;
    use crate::io::tests::TempDir;
    use crate::schunk::storage::Storage;

    #[test]
    #[cfg_attr(miri, ignore = "uses files: Miri has no getrlimit")]
    fn errors_of_decoding_a_replaced_chunk_are_those_of_a_changed_frame() {
        let dir = TempDir::new();
        let path = dir.c_path("frame.b2frame");
        let storage = Storage { contiguous: true, urlpath: Some(&path), ..Storage::default() };
        // SAFETY: the pointers in the parameters are those of literals.
        let (writer, reader) = unsafe {
            let writer = SuperChunk::create(&storage).unwrap();
            writer.finish_creation().unwrap();
            writer.append_buffer(Some(&[1; 100]), 100).unwrap();
            (writer, SuperChunk::open(&path, 0, storage.io).unwrap())
        };
        let mut calls = 0;
        let read = reader.retry_read_access(|access| {
            access.fetch(0, false, FetchMode::Keep, |_| {
                calls += 1;
                if calls > 1 {
                    return Ok(());
                }
                writer.compress_and_update_chunk(0, &[2; 100])?;
                Err(err!(Data, "the bytes of another chunk"))
            })
        });
        assert!(read.is_ok(), "{read:?}");
        assert_eq!(calls, 2);
        let damaged = reader.retry_read_access(|access| {
            access.fetch::<()>(0, false, FetchMode::Keep, |_| {
                calls += 1;
                Err(err!(Data, "damaged bytes"))
            })
        });
        assert_eq!((damaged.unwrap_err().kind(), calls), (ErrorKind::Data, 3));
    }
}
