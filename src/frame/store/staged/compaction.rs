//! Free bytes between the chunks of a contiguous frame with atomic changes: finding those that earlier handles have
//! left, and moving chunks into them when the frame is closed.
//!
//! Two ways of moving: chunks from the end are moved into holes where they fit, which moves about as many bytes as it
//! frees; if that leaves many holes, all chunks behind the first hole are moved down. Every step writes only where the
//! committed state has no bytes, and ends with a commit.

use super::file::StagedFile;
use super::state::Committed;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::Result;
use crate::fallible;
use crate::frame::format::index::Offsets;
use crate::frame::format::plan::FrameIndex;
use crate::frame::format::space::DataSpace;
use crate::frame::store::disk;
use crate::io::{IoStream, WriteUnit};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of chunk headers that a handle reads for each chunk that it replaces or deletes, to find holes. Each
/// replacement leaves at most one hole, so about one hole for this number of chunks stays unknown. With 16 and 256,
/// files of 1000 chunks that are closed after each update get up to 1.043 and 1.035 times the length at level `off`,
/// with 64 up to 1.033 (`cargo test --test durable_files reopened -- --nocapture`).
const HEADERS_PER_REPLACEMENT: u64 = 64;

/// Upper limit, in bytes, for moving chunks to holes when a frame is closed that has few holes: a few milliseconds. A
/// limit of 1 MiB or 16 MiB does not change the lengths of files of 32 MiB (the command at [`MANY_HOLES_DIVISOR`]).
const MAX_UNCONDITIONAL_MOVE: u64 = 4 << 20;
/// A frame has many holes if their length is above the length of the chunks divided by this. A closed file is at most
/// that much longer than at level `off`: 1.03 times on seeds 21 and 22. With 8 it is up to 1.08 times; with 128 it has
/// the same length, but closing after updates writes 0.92 bytes by byte of payload instead of 0.60 (seed 11,
/// `BLOSC2_SPACE_SEED=11 BLOSC2_SPACE_MIB=32 BLOSC2_SPACE_HISTORIES=24 cargo test --test durable_files space --
/// --nocapture`).
const MANY_HOLES_DIVISOR: u64 = 32;
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

/// The progress of finding the holes of earlier handles.
#[derive(Clone, Default)]
pub(super) struct HoleSearch {
    /// Number of chunks that this handle has replaced or deleted.
    pub(super) replaced: u64,
    /// Number of chunk headers that were read.
    read_headers: u64,
    /// Number of chunks when the search was last continued.
    nchunks: u64,
    /// The place, in bytes from the start of the frame, where the search continues; `None` before it begins.
    next: Option<u64>,
    /// Whether no more holes can be found.
    is_complete: bool,
}

impl HoleSearch {
    /// Returns the search of a frame that this handle creates: there are no earlier handles.
    pub(super) fn of_new_frame() -> HoleSearch {
        HoleSearch { is_complete: true, ..HoleSearch::default() }
    }
}

/// The place of a chunk in the file.
struct StoredChunk {
    /// Offset from the start of the frame, in bytes.
    at: u64,
    nchunk: usize,
    /// The start of the next chunk, or the end of the data.
    limit: u64,
    /// Whether several entries of the index refer to the chunk.
    is_shared: bool,
}

impl StoredChunk {
    /// Reads the length of the chunk, in bytes; `None` if it is not a chunk that ends before its limit.
    fn read_len(&self, stream: &IoStream, base: u64) -> Result<Option<u64>> {
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        if self.limit - self.at < head.len() as u64 {
            return Ok(None);
        }
        stream.read_exact_at(base + self.at, &mut head)?;
        Ok(disk::stored_len(&head).filter(|&len| len <= self.limit - self.at))
    }
}

/// Returns the stored chunks in the order of their places.
fn stored_chunks(offsets: &Offsets, header_len: u64, end_of_data: u64) -> Result<Vec<StoredChunk>> {
    let places = offsets.iter().enumerate();
    let places = places.filter_map(|(n, code)| Some((u64::try_from(code).ok()? + header_len, n)));
    let mut places: Vec<(u64, usize)> = fallible::collect(places)?;
    places.sort_unstable();
    let mut chunks: Vec<StoredChunk> = fallible::vec_with_capacity(places.len())?;
    for (at, nchunk) in places {
        match chunks.last_mut() {
            Some(last) if last.at == at => {
                last.is_shared = true;
                continue;
            }
            Some(last) => last.limit = at,
            None => {}
        }
        chunks.push(StoredChunk { at, nchunk, limit: end_of_data.max(at), is_shared: false });
    }
    Ok(chunks)
}

/// Returns a fraction of 1 that differs from call to call, and from process to process: the handles of a frame that are
/// opened one after the other must search different parts of it.
fn next_fraction() -> f64 {
    /// The fraction part of the golden ratio: its multiples, modulo 1, are distributed evenly.
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed) + u64::from(std::process::id());
    (number as f64 * GOLDEN_RATIO).fract()
}

impl StagedFile {
    /// Searches holes that earlier handles have left, before a chunk is replaced or deleted. The frame must have no
    /// pending changes. The search continues only after twice the replacements, because it sorts the places of all
    /// chunks.
    ///
    /// # Errors
    /// `FileOpen`.
    pub(super) fn search_holes_before_change(
        &mut self,
        committed: &mut Committed<'_>,
        offsets: &Offsets,
    ) -> Result<()> {
        let limit = HEADERS_PER_REPLACEMENT * (self.search.replaced + 1);
        if limit < 2 * self.search.read_headers {
            return Ok(());
        }
        self.search_holes(committed, offsets, limit)
    }

    /// Searches holes before the frame is closed, in all chunks if the frame seems to have many holes.
    fn search_holes_before_close(&mut self, committed: &mut Committed<'_>, offsets: &Offsets) -> Result<()> {
        let mut limit = HEADERS_PER_REPLACEMENT * self.search.replaced;
        while !self.search.is_complete {
            self.search_holes(committed, offsets, limit)?;
            if !self.has_holes_above(MANY_HOLES_DIVISOR) {
                break;
            }
            limit = 2 * limit.max(self.search.read_headers);
        }
        Ok(())
    }

    /// Continues the search, until `limit` chunk headers were read since it began.
    fn search_holes(&mut self, committed: &mut Committed<'_>, offsets: &Offsets, limit: u64) -> Result<()> {
        if self.search.is_complete || limit <= self.search.read_headers {
            return Ok(());
        }
        let (header_len, end) = (self.header_len(), self.space.end());
        let chunks = stored_chunks(offsets, header_len, end)?;
        let next =
            self.search.next.unwrap_or(header_len + (next_fraction() * (end - header_len) as f64) as u64);
        let start = chunks.partition_point(|chunk| chunk.at < next);
        let count = limit.min(chunks.len() as u64).saturating_sub(self.search.read_headers);
        let stream = committed.stream()?;
        let mut holes = Vec::new();
        if let Some(first) = chunks.first() {
            fallible::push(&mut holes, header_len..first.at)?;
        }
        for chunk in chunks.iter().cycle().skip(start).take(count as usize) {
            let Ok(Some(len)) = chunk.read_len(&stream, committed.disk.base) else {
                // The frame is damaged: its free bytes are unknown.
                self.search.is_complete = true;
                return Ok(());
            };
            fallible::push(&mut holes, chunk.at + len..chunk.limit)?;
            self.search.next = Some(chunk.limit);
        }
        self.search.read_headers += count;
        self.search.nchunks = chunks.len() as u64;
        self.search.is_complete = self.search.read_headers >= self.search.nchunks;
        self.space.add_holes(&holes)
    }

    /// Returns whether the length of the holes is above the length of the chunks divided by `divisor`. Holes that were
    /// not found yet are estimated.
    fn has_holes_above(&self, divisor: u64) -> bool {
        let HoleSearch { read_headers, nchunks, is_complete, .. } = self.search;
        let (holes, used) = self.space.hole_and_used_len(self.header_len());
        let known_part = if is_complete { 1.0 } else { read_headers as f64 / nchunks.max(1) as f64 };
        holes as f64 > used as f64 * known_part / divisor as f64
    }

    /// Moves chunks to holes, as far as that is worthwhile.
    ///
    /// # Errors
    /// `FileRead`, `FileWrite`, and those of encoding the index.
    pub(super) fn fill_holes(
        &mut self,
        committed: &mut Committed<'_>,
        stream: &IoStream,
        index: &mut FrameIndex,
    ) -> Result<()> {
        if self.search.replaced > 0 {
            self.search_holes_before_close(committed, &index.offsets)?;
        }
        Compaction::run(self, committed, stream, index)
    }
}

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

    fn chunks(&self) -> Result<Vec<StoredChunk>> {
        stored_chunks(&self.index.offsets, self.file.header_len(), self.file.space.end())
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
            let len = chunk.read_len(self.stream, self.committed.disk.base)?.filter(|_| !chunk.is_shared);
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
    fn movable_len(&self, chunk: &StoredChunk) -> Result<Option<u64>> {
        if chunk.is_shared {
            return Ok(None);
        }
        chunk.read_len(self.stream, self.committed.disk.base)
    }

    /// Copies a chunk to a free place, and changes the index in memory.
    fn move_chunk(&mut self, chunk: &StoredChunk, len: u64, to: u64) -> Result<()> {
        let base = self.committed.disk.base;
        let bytes = self.stream.read_vec_at(base + chunk.at, len)?;
        self.stream.write_at(base + to, &bytes, WriteUnit::Bytes)?;
        self.file.space.occupy(to, len)?;
        self.file.space.supersede(chunk.at..chunk.at + len)?;
        fallible::push(&mut self.moves, (chunk.nchunk, self.index.entry(chunk.nchunk)?))?;
        self.index.replace_entry(chunk.nchunk, (to - self.file.header_len()) as i64)?;
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
