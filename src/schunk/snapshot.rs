//! Read-modify-write of a chunk where decoding or compressing runs functions of the program.
//!
//! No lock of the super-chunk is held while such functions run (design decision 7), so another thread, handle or
//! process may change the chunk in between. The write is made atomic by a comparison: the chunk is copied, the new
//! chunk is made from the copy, and then, with the lock held, the new chunk is stored if the stored chunk still equals
//! the copy. If it does not, the read-modify-write starts again. Equal chunks have equal content, so storing over a
//! chunk that was changed and changed back is correct.

use super::SuperChunk;
use super::change::InputChunk;
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{Result, err};
use crate::frame::store::fetch::{FetchMode, FetchedChunk};
use crate::malloc::MallocBytes;
use crate::pipeline::context::ReadSettings;

/// Upper limit for the attempts of one read-modify-write. Of several that collide one succeeds, so that the limit is
/// only reached if a function of the program itself changes the chunk in each attempt.
const MAX_ATTEMPTS: usize = 1000;

/// A copy of a chunk as it was stored at one time.
pub(super) struct ChunkSnapshot {
    nchunk: i64,
    chunk: MallocBytes,
    header: ChunkHeader,
}

impl ChunkSnapshot {
    /// Uncompressed size in bytes.
    pub(super) fn nbytes(&self) -> usize {
        self.header.nbytes()
    }

    /// Length of the copy in bytes.
    pub(super) fn len(&self) -> usize {
        self.chunk.len()
    }

    /// Parses the copy.
    pub(super) fn parse<'a>(&'a self, header: &'a mut ChunkHeader) -> Result<ParsedChunk<'a>> {
        ParsedChunk::parse(header, &self.chunk)
    }
}

/// Repeats a read-modify-write of chunk `nchunk` until `attempt` returns that the result is stored.
///
/// # Errors
/// `Failure` after [`MAX_ATTEMPTS`], those of `attempt`.
pub(super) fn retry_until_stored(nchunk: i64, mut attempt: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        if attempt()? {
            return Ok(());
        }
    }
    Err(err!(Failure, "chunk {nchunk} was changed during each of {MAX_ATTEMPTS} attempts to change it"))
}

impl SuperChunk {
    /// Copies chunk `nchunk`, for decoding with `settings` without a lock.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, those of reading the frame.
    pub(super) fn take_snapshot(&self, nchunk: i64, settings: &ReadSettings) -> Result<ChunkSnapshot> {
        self.check_nchunk(nchunk)?;
        self.retry_changed_reads(|| {
            self.with_read_access(|access| {
                let chunk = access.copy_of_chunk(nchunk)?;
                let header = ChunkHeader::parse(&chunk)?;
                access.note_container(&header, settings);
                Ok(ChunkSnapshot { nchunk, chunk, header })
            })
        })
    }

    pub(super) fn decode_snapshot(
        &self,
        snapshot: &ChunkSnapshot,
        settings: &ReadSettings,
    ) -> Result<MallocBytes> {
        let mut header = ChunkHeader::default();
        self.decode_to_malloc(snapshot.nchunk, &snapshot.parse(&mut header)?, settings)
    }

    /// Replaces the chunk that was copied by `chunk`, unless the stored chunk differs from the copy. Returns whether it
    /// was replaced.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that does not exist any more, those of [`update_chunk`](Self::update_chunk).
    pub(super) fn replace_if_unchanged(
        &self,
        snapshot: &ChunkSnapshot,
        chunk: InputChunk<'_>,
    ) -> Result<bool> {
        let target = self.owner_of_view()?.unwrap_or(self);
        let mut session = target.lock_for_change(false)?;
        let is_same = session.access()?.fetch(snapshot.nchunk, false, FetchMode::Borrow, |stored| {
            Ok(matches!(stored, FetchedChunk::Whole(stored) if **stored == *snapshot.chunk))
        })?;
        if is_same {
            session.update(snapshot.nchunk, chunk)?;
        }
        Ok(is_same)
    }
}
