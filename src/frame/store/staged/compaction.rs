//! Closing a contiguous frame with atomic changes: chunks are moved into the free bytes between them, and index and
//! trailer directly behind the chunks.
//!
//! Two ways of moving: chunks from the end are moved into holes where they fit, which moves about as many bytes as it
//! frees; if that leaves many holes, all chunks behind the first hole are moved down. Every step writes only where the
//! committed state has no bytes, and ends with a commit.

use super::file::StagedFile;
use super::hole_search::{ChunkInFile, MANY_HOLES_DIVISOR, chunks_by_place};
use super::state::Committed;
use crate::error::Result;
use crate::fallible;
use crate::frame::format::plan::FrameIndex;
use crate::frame::format::space::DataSpace;
use crate::io::{IoStream, WriteUnit};

/// Upper limit, in bytes, for moving chunks to holes when a frame is closed that has few holes: a few milliseconds. A
/// limit of 1 MiB or 16 MiB does not change the lengths of files of 32 MiB (the command at [`MANY_HOLES_DIVISOR`]).
const MAX_UNCONDITIONAL_MOVE: u64 = 4 << 20;
/// Upper limit, in bytes, for moving down all chunks behind the first hole, in a frame with many holes: tens of
/// milliseconds. Without moving down, closed files of up to 45 MB are up to 1.09 times as long as at level `off`, with
/// the limit 16 MiB up to 1.07 times (the command at [`MANY_HOLES_DIVISOR`]).
const MAX_SLIDE: u64 = 64 << 20;
/// The part of the holes, as [`MANY_HOLES_DIVISOR`], above which chunks are moved down without a limit: at most 8 bytes
/// are moved by free byte.
const UNLIMITED_SLIDE_DIVISOR: u64 = 8;
/// While chunks are moved down, the first hole has at least the length of the chunks divided by this, so that a step
/// moves many bytes. Closing after updates in brackets writes 0.84 bytes by byte of payload, with 4 and 64 0.90 and
/// 0.91 bytes (the command at [`MANY_HOLES_DIVISOR`]).
const SLIDE_WINDOW_DIVISOR: u64 = 16;
/// Maximum number of commits for moving chunks into holes, and for moving chunks down.
const MAX_STEPS: usize = 64;

/// The moving of chunks of a frame without pending changes.
struct Compaction<'a, 'b> {
    file: &'a mut StagedFile,
    committed: &'a mut Committed<'b>,
    stream: &'a IoStream,
    index: &'a mut FrameIndex,
    /// The space at the last commit.
    space: DataSpace,
    /// The chunks that were moved since the last commit, and their old entries in the index.
    moves: Vec<(usize, i64)>,
    /// Number of bytes that were moved.
    moved: u64,
}

/// Moves chunks to holes, as far as that is worthwhile, index and trailer directly behind the chunks, and cuts the file.
///
/// # Errors
/// `FileOpen`, `FileRead`, `FileWrite`, `FileTruncate`, and those of encoding the index.
pub(super) fn close(
    file: &mut StagedFile,
    committed: &mut Committed<'_>,
    index: &mut FrameIndex,
) -> Result<()> {
    let stream = committed.stream()?;
    if !committed.is_empty() {
        let header_len = file.header_len();
        file.search.search_before_close(committed, index, &mut file.space, header_len)?;
        Compaction::run(file, committed, &stream, index)?;
        file.close_gap(committed, &stream)?;
    }
    stream.cut(committed.disk.base + committed.layout.frame_len)
}

impl<'a, 'b> Compaction<'a, 'b> {
    /// Moves chunks to holes, as far as that is worthwhile. After an error, the frame has the state of the last commit.
    fn run(
        file: &'a mut StagedFile,
        committed: &'a mut Committed<'b>,
        stream: &'a IoStream,
        index: &'a mut FrameIndex,
    ) -> Result<()> {
        let space = file.space.try_clone()?;
        let mut compaction =
            Compaction { file, committed, stream, index, space, moves: Vec::new(), moved: 0 };
        let done = compaction.fill_all();
        if done.is_err() {
            compaction.undo()?;
        }
        done
    }

    fn fill_all(&mut self) -> Result<()> {
        for _ in 0..MAX_STEPS {
            if !self.move_last_chunks()? {
                break;
            }
        }
        if !self.needs_slide() {
            return Ok(());
        }
        let mut first = 0;
        for _ in 0..MAX_STEPS {
            let Some(next) = self.slide(first)? else { break };
            first = next;
        }
        Ok(())
    }

    /// Reverts the moves since the last commit, in memory.
    fn undo(&mut self) -> Result<()> {
        self.index.encoder.clear();
        for (nchunk, code) in self.moves.drain(..).rev() {
            self.index.replace_entry(nchunk, code)?;
        }
        std::mem::swap(&mut self.file.space, &mut self.space);
        Ok(())
    }

    fn chunks(&self) -> Result<Vec<ChunkInFile>> {
        chunks_by_place(self.index, self.file.header_len(), self.file.space.end())
    }

    /// Returns whether all chunks behind the first hole are to be moved down.
    fn needs_slide(&self) -> bool {
        let Some(first) = self.file.space.holes().first() else { return false };
        let len = self.file.space.end() - first.start;
        self.file.has_holes_above(MANY_HOLES_DIVISOR)
            && (len <= MAX_SLIDE || self.file.has_holes_above(UNLIMITED_SLIDE_DIVISOR))
    }

    /// Moves chunks from the end to holes, and commits. A chunk that has no room in a hole stays, and ends the work if
    /// there are few holes. Returns whether a chunk was moved.
    fn move_last_chunks(&mut self) -> Result<bool> {
        for chunk in self.chunks()?.iter().rev() {
            let has_many_holes = self.file.has_holes_above(MANY_HOLES_DIVISOR);
            if self.file.space.holes().first().is_none_or(|hole| hole.start > chunk.at) {
                break;
            }
            let len = chunk.read_len(self.stream, self.committed)?.filter(|_| chunk.is_movable());
            if self.moved + len.unwrap_or(0) > MAX_UNCONDITIONAL_MOVE && !has_many_holes {
                break;
            }
            match len.and_then(|len| Some((len, self.file.space.find_hole_before(chunk.at, len)?))) {
                Some((len, hole)) => self.move_chunk(chunk, len, hole)?,
                None if has_many_holes => {}
                None => break,
            }
        }
        self.commit()
    }

    /// Moves chunks that follow the first hole at or behind byte `first` to its start, and commits. If the hole is too
    /// short for the next chunk, chunks behind it are moved to the end of the frame instead, which makes it longer.
    /// Returns the value of `first` for the next call; `None` if there is nothing to move.
    fn slide(&mut self, first: u64) -> Result<Option<u64>> {
        let Some(hole) = self.file.space.holes().iter().find(|hole| hole.start >= first).cloned() else {
            return Ok(None);
        };
        let mut chunks = self.chunks()?;
        chunks.retain(|chunk| chunk.at >= hole.end);
        let mut to = hole.start;
        for chunk in &chunks {
            let Some(len) = self.movable_len(chunk)?.filter(|len| to + len <= hole.end) else { break };
            self.move_chunk(chunk, len, to)?;
            to += len;
        }
        if self.commit()? {
            return Ok(Some(hole.start));
        }
        let (_, used) = self.file.space.hole_and_used_len(self.file.header_len());
        for chunk in &chunks {
            let is_long_enough = chunk.at - hole.start > used / SLIDE_WINDOW_DIVISOR && chunk.at > hole.end;
            let Some(len) = self.movable_len(chunk)?.filter(|_| !is_long_enough) else { break };
            let place = self.file.place_at_end(len);
            self.move_chunk(chunk, len, place)?;
        }
        let has_moved = self.commit()?;
        Ok(Some(if has_moved { hole.start } else { hole.end }))
    }

    /// Returns the length of a chunk in bytes; `None` if it cannot be moved.
    fn movable_len(&self, chunk: &ChunkInFile) -> Result<Option<u64>> {
        if !chunk.is_movable() {
            return Ok(None);
        }
        chunk.read_len(self.stream, self.committed)
    }

    /// Copies a chunk to a free place, and changes the index in memory.
    fn move_chunk(&mut self, chunk: &ChunkInFile, len: u64, to: u64) -> Result<()> {
        let Some(nchunk) = chunk.nchunk else { return Ok(()) };
        let base = self.committed.disk.base;
        let bytes = self.stream.read_vec_at(base + chunk.at, len)?;
        self.stream.write_at(base + to, &bytes, WriteUnit::Bytes)?;
        self.file.space.occupy(to, len)?;
        self.file.space.supersede(chunk.at..chunk.at + len)?;
        fallible::push(&mut self.moves, (nchunk, self.index.entry(nchunk)?))?;
        self.index.replace_entry(nchunk, (to - self.file.header_len()) as i64)?;
        self.moved += len;
        Ok(())
    }

    /// Commits the moves since the last commit. Returns whether there were any.
    fn commit(&mut self) -> Result<bool> {
        let Some(changed_from) = self.moves.iter().map(|&(nchunk, _)| nchunk).min() else { return Ok(false) };
        let mut space = self.file.space.try_clone()?;
        let image = self.index.encoder.encode(&self.index.offsets, changed_from, self.index.offsets.len())?;
        // The chunks are still needed at their old places until the index refers to the new ones.
        let old_index = std::mem::replace(&mut self.committed.images.index, image);
        let slot =
            self.file.slot.place_behind(self.committed.images.len_behind_chunks(), self.file.space.end());
        let done = self.file.commit_same(self.committed, self.stream, slot);
        if done.is_err() {
            self.committed.images.index = old_index;
        }
        done?;
        self.moves.clear();
        self.file.space.commit();
        space.commit();
        self.space = space;
        Ok(true)
    }
}
