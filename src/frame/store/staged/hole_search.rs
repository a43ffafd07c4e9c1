//! Finding the free bytes between the chunks of a contiguous frame that earlier handles with atomic changes have left.

use super::state::Committed;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::Result;
use crate::fallible;
use crate::frame::format::checksums::PAGE_LEN;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::plan::FrameIndex;
use crate::frame::format::space::DataSpace;
use crate::io::IoStream;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of chunk headers that a handle reads for each chunk that it replaces or deletes, to find holes. Each
/// replacement leaves at most one hole, so about one hole for this number of chunks stays unknown. With 16 and 256,
/// files of 1000 chunks that are closed after each update get up to 1.043 and 1.035 times the length at level `off`,
/// with 64 up to 1.033 (`cargo test --test durable_files reopened -- --nocapture`).
const HEADERS_PER_REPLACEMENT: u64 = 64;

/// A frame has many holes if their length is above the length of the chunks divided by this. A closed file is at most
/// that much longer than at level `off`: 1.03 times on seeds 21 and 22. With 8 it is up to 1.08 times; with 128 it has
/// the same length, but closing after updates writes 0.92 bytes by byte of payload instead of 0.60 (seed 11,
/// `BLOSC2_SPACE_SEED=11 BLOSC2_SPACE_MIB=32 BLOSC2_SPACE_HISTORIES=24 cargo test --test durable_files space --
/// --nocapture`).
pub(super) const MANY_HOLES_DIVISOR: u64 = 32;

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

    /// Searches before a chunk is replaced or deleted, and adds the holes to `space`, which begins at byte `header_len`.
    /// The frame must have no pending changes. The search continues only after twice the replacements, because it sorts
    /// the places of all chunks.
    pub(super) fn search_before_change(
        &mut self,
        committed: &mut Committed<'_>,
        index: &FrameIndex,
        space: &mut DataSpace,
        header_len: u64,
    ) -> Result<()> {
        let limit = HEADERS_PER_REPLACEMENT * (self.replaced + 1);
        if limit < 2 * self.read_headers {
            return Ok(());
        }
        self.search(committed, index, space, header_len, limit)
    }

    /// Searches before a frame is closed in which this handle has replaced or deleted chunks, in all chunks if the frame
    /// seems to have many holes.
    pub(super) fn search_before_close(
        &mut self,
        committed: &mut Committed<'_>,
        index: &FrameIndex,
        space: &mut DataSpace,
        header_len: u64,
    ) -> Result<()> {
        let mut limit = HEADERS_PER_REPLACEMENT * self.replaced;
        while !self.is_complete && limit > 0 {
            self.search(committed, index, space, header_len, limit)?;
            if !self.has_holes_above(space, header_len, MANY_HOLES_DIVISOR) {
                break;
            }
            limit = 2 * limit.max(self.read_headers);
        }
        Ok(())
    }

    /// Continues the search, until `limit` chunk headers were read since it began.
    fn search(
        &mut self,
        committed: &mut Committed<'_>,
        index: &FrameIndex,
        space: &mut DataSpace,
        header_len: u64,
        limit: u64,
    ) -> Result<()> {
        if self.is_complete || limit <= self.read_headers {
            return Ok(());
        }
        let end = space.end();
        let chunks = chunks_by_place(index, header_len, end)?;
        let next = self.next.unwrap_or(header_len + (next_fraction() * (end - header_len) as f64) as u64);
        let start = chunks.partition_point(|chunk| chunk.at < next);
        let count = limit.min(chunks.len() as u64).saturating_sub(self.read_headers);
        let stream = committed.stream()?;
        let mut holes = Vec::new();
        if let Some(first) = chunks.first() {
            fallible::push(&mut holes, header_len..first.at)?;
        }
        for chunk in chunks.iter().cycle().skip(start).take(count as usize) {
            let Ok(Some(len)) = chunk.read_len(&stream, committed) else {
                // The frame is damaged: its free bytes are unknown.
                self.is_complete = true;
                return Ok(());
            };
            fallible::push(&mut holes, chunk.at + len..chunk.limit)?;
            self.next = Some(chunk.limit);
        }
        self.read_headers += count;
        self.nchunks = chunks.len() as u64;
        self.is_complete = self.read_headers >= self.nchunks;
        space.add_holes(&holes)
    }

    /// Returns whether the length of the holes is above the length of the chunks divided by `divisor`. Holes that were
    /// not found yet are estimated.
    pub(super) fn has_holes_above(&self, space: &DataSpace, header_len: u64, divisor: u64) -> bool {
        let HoleSearch { read_headers, nchunks, is_complete, .. } = *self;
        let (holes, used) = space.hole_and_used_len(header_len);
        let known_part = if is_complete { 1.0 } else { read_headers as f64 / nchunks.max(1) as f64 };
        holes as f64 > used as f64 * known_part / divisor as f64
    }
}

/// The place of a chunk in the file, or of a page of checksums, which cannot be moved.
pub(super) struct ChunkInFile {
    /// Offset from the start of the frame, in bytes.
    pub(super) at: u64,
    /// Number of the chunk; `None` for a page of checksums.
    pub(super) nchunk: Option<usize>,
    /// The start of the next chunk, or the end of the data.
    limit: u64,
    /// Whether several entries of the index refer to the chunk.
    is_shared: bool,
}

impl ChunkInFile {
    /// Returns whether this is a chunk to which one entry of the index refers.
    pub(super) fn is_movable(&self) -> bool {
        self.nchunk.is_some() && !self.is_shared
    }

    /// Reads the length of the chunk and its record, in bytes; `None` if it is not a chunk that ends before its limit.
    pub(super) fn read_len(&self, stream: &IoStream, committed: &Committed<'_>) -> Result<Option<u64>> {
        if self.nchunk.is_none() {
            return Ok(Some(PAGE_LEN as u64).filter(|&len| len <= self.limit - self.at));
        }
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        if self.limit - self.at < head.len() as u64 {
            return Ok(None);
        }
        stream.read_exact_at(committed.disk.base + self.at, &mut head)?;
        let room = self.limit - self.at;
        Ok(stored_len(&head)
            .filter(|&len| len <= room)
            .map(|len| committed.layout.len_with_record(len, room)))
    }
}

/// Returns the stored chunks, and the pages of checksums between them, in the order of their places.
pub(super) fn chunks_by_place(
    index: &FrameIndex,
    header_len: u64,
    end_of_data: u64,
) -> Result<Vec<ChunkInFile>> {
    let pages: Vec<u64> =
        fallible::collect(index.checksums.iter().flat_map(|checksums| checksums.stored_places()))?;
    let places = index.offsets.iter().enumerate();
    let places = places.filter_map(|(n, code)| Some((u64::try_from(code).ok()? + header_len, Some(n))));
    // One list of all chunks, without spare capacity: it is most of the memory that closing a file needs.
    let count = index.offsets.iter().filter(|&code| code >= 0).count();
    let mut chunks = fallible::vec_with_capacity(count + pages.len())?;
    chunks.extend(places.chain(pages.iter().map(|&at| (at, None))).map(|(at, nchunk)| ChunkInFile {
        at,
        nchunk,
        limit: end_of_data.max(at),
        is_shared: false,
    }));
    chunks.sort_unstable_by_key(|chunk| (chunk.at, chunk.nchunk));
    chunks.dedup_by(|chunk, last| {
        let is_same = chunk.at == last.at;
        if is_same {
            last.is_shared = true;
        } else {
            last.limit = chunk.at;
        }
        is_same
    });
    Ok(chunks)
}

/// Returns a fraction of 1 that differs from call to call, and from process to process: the handles of a frame that are
/// opened one after the other must search different parts of it.
fn next_fraction() -> f64 {
    /// The fraction part of the golden ratio: its multiples, modulo 1, are distributed evenly.
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed) + u64::from(crate::os::process_id());
    (number as f64 * GOLDEN_RATIO).fract()
}
