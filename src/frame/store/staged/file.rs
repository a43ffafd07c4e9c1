//! Atomic changes of a contiguous frame in a file (`frame.md` 2.12, schemes A and A2).
//!
//! A commit writes index and trailer to a place that the committed state does not use, and then the header, in one
//! write of one sector. The end of the frame is the end of the trailer; readers ignore the bytes behind it.
//!
//! A frame without chunks has its trailer directly behind the header. Its first chunks belong where that trailer is, so
//! the bytes of the first sector are written together with the header.

use super::hole_search::HoleSearch;
use super::state::{ChunkSums, Committed, Pending, seal};
use crate::error::Result;
use crate::fallible;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::plan::{FrameIndex, FrameLayout, Images};
use crate::frame::format::space::{DataSpace, IndexSlot, NewSlot};
use crate::frame::store::disk::Disk;
use crate::frame::store::durability::{Durability, SECTOR_LEN};
use crate::frame::store::journal::Journal;
use crate::frame::store::old_bytes::OldBytes;
use crate::io::IoStream;
use crate::trace;
use std::ops::Range;
use std::sync::Arc;

/// The bytes between index and trailer.
static ZEROS: [u8; 64] = [0; 64];

/// A contiguous frame in a file.
pub(super) struct StagedFile {
    /// Length of the header of the pending state, in bytes.
    header_len: u64,
    pub(super) space: DataSpace,
    pub(super) slot: IndexSlot,
    pub(super) search: HoleSearch,
    /// Whether nothing was committed yet: the file is empty, and is no frame.
    is_new: bool,
    /// Length of the last chunk that was stored, in bytes; a guess for the next one.
    last_len: u64,
    /// Pending chunks that begin in the first sector, with their offsets from the end of the header. They are written
    /// by the commit.
    unwritten: Vec<(u64, Arc<Vec<u8>>)>,
    /// Whether the name of the file is known to be on disk.
    has_synced_name: bool,
    /// The number of commits. Handles without the lock detect a change also by this number.
    commits: u8,
}

impl StagedFile {
    /// Returns the state of a frame without chunks whose file is empty: the first commit makes it a frame.
    pub(super) fn of_new_frame(layout: &FrameLayout) -> StagedFile {
        StagedFile {
            header_len: layout.header_len,
            space: DataSpace::new(layout.header_len),
            slot: IndexSlot::new(layout.header_len..layout.frame_len),
            search: HoleSearch::of_new_frame(),
            is_new: true,
            last_len: 0,
            unwritten: Vec::new(),
            has_synced_name: false,
            commits: crate::os::process_id() as u8,
        }
    }

    /// Prepares atomic changes of a frame. `images` are those of the committed state.
    ///
    /// # Errors
    /// `FileWrite` if other data follow the frame in its file, `FileOpen`, `FileRead`, `MemoryAlloc`.
    pub(super) fn new(
        disk: &Disk,
        layout: &FrameLayout,
        images: &Images,
        index: &FrameIndex,
    ) -> Result<StagedFile> {
        disk.check_end_of_file(layout, &images.header, disk.reader()?.size()?)?;
        let start = match index.offsets.len() {
            0 => layout.header_len,
            _ => layout.index_offset(),
        };
        // Pages of a table that this handle does not read can be anywhere before the index.
        let has_unread_table = images.has_unread_table(layout.kind)?;
        let end = match has_unread_table {
            true => start,
            false => index.end_of_pages().max(disk.end_of_chunks(layout, &index.offsets)),
        };
        Ok(StagedFile {
            space: DataSpace::new(end),
            slot: IndexSlot::new(start..layout.frame_len),
            search: if has_unread_table { HoleSearch::of_new_frame() } else { HoleSearch::default() },
            is_new: false,
            ..StagedFile::of_new_frame(layout)
        })
    }

    pub(super) fn try_clone(&self) -> Result<StagedFile> {
        Ok(StagedFile {
            space: self.space.try_clone()?,
            slot: self.slot.clone(),
            search: self.search.clone(),
            unwritten: fallible::collect(self.unwritten.iter().cloned())?,
            ..*self
        })
    }

    /// Sets the length of the header of the pending state, which has no chunks.
    pub(super) fn set_header_len(&mut self, header_len: u64) {
        self.header_len = header_len;
        self.space = DataSpace::new(header_len);
    }

    /// Returns the length of the header of the pending state in bytes.
    pub(super) fn header_len(&self) -> u64 {
        self.header_len
    }

    /// Returns the end of the last chunk.
    pub(super) fn end_of_data(&self) -> u64 {
        self.space.end()
    }

    /// Returns the chunk at `offset`, from the end of the header, if it is not written yet.
    pub(super) fn unwritten_chunk(&self, offset: u64) -> Option<Arc<Vec<u8>>> {
        self.unwritten.iter().find(|chunk| chunk.0 == offset).map(|chunk| chunk.1.clone())
    }

    /// Returns the number of the next commit, modulo 64, if it leaves a gap before the index at `index_start`.
    fn next_gap(&mut self, index_start: u64) -> Option<u8> {
        self.commits = self.commits.wrapping_add(1);
        (index_start != self.space.end()).then_some(self.commits & 0x3f)
    }

    /// Marks the range of a chunk that is replaced or deleted as free after the next commit.
    pub(super) fn supersede(&mut self, range: Range<u64>) -> Result<()> {
        self.search.replaced += 1;
        let limit = self.space.end();
        self.space.supersede(range.start.min(limit)..range.end.min(limit))
    }

    /// Returns to the state `before`, except for the place of the committed index.
    pub(super) fn restore(&mut self, before: StagedFile) {
        *self = StagedFile { slot: self.slot.clone(), commits: self.commits, ..before };
    }

    /// Stores a chunk and its record, which may be empty. Returns the offset of the chunk from the end of the header.
    /// `is_replacement` states that the chunk need not follow the last one, `is_read` that it may be read before the
    /// commit.
    pub(super) fn store(
        &mut self,
        committed: &mut Committed<'_>,
        [chunk, record]: &[&[u8]; 2],
        is_replacement: bool,
        is_read: bool,
    ) -> Result<u64> {
        let chunk_len = chunk.len() as u64;
        let len = chunk_len + record.len() as u64;
        let header_len = self.header_len;
        let stream = committed.stream()?;
        let mut at = self.space.find_hole(len).unwrap_or(self.space.end());
        let mut written = 0;
        if committed.is_empty() && self.slot.range.end <= SECTOR_LEN && at < SECTOR_LEN {
            // The committed trailer is in the first sector, which the commit writes.
            written = (SECTOR_LEN - at).min(chunk_len);
            let kept = if is_read { chunk_len } else { written };
            let kept = Arc::new(fallible::copy_of(&chunk[..kept as usize])?);
            fallible::push(&mut self.unwritten, (at - header_len, kept))?;
        } else if self.slot.overlaps(at, len) {
            if is_replacement || committed.is_empty() {
                at = self.place_at_end(len);
            } else {
                self.move_index(committed, &stream, len)?;
            }
        }
        if written < len {
            let rest = [&chunk[written as usize..], record];
            stream.write_vectored_at(committed.disk.base + at + written, &rest)?;
        }
        self.space.occupy(at, len)?;
        self.last_len = len;
        Ok(at - header_len)
    }

    /// Returns a place for `len` bytes at the end of the chunks, or behind the committed slot.
    pub(super) fn place_at_end(&self, len: u64) -> u64 {
        self.slot.place_at_end(&self.space, len)
    }

    /// Commits the present state again, with the index behind a gap in which a chunk of `next` bytes has room.
    fn move_index(&mut self, committed: &mut Committed<'_>, stream: &IoStream, next: u64) -> Result<()> {
        let data = committed.layout.header_len..self.space.end();
        let len = committed.images.len_behind_chunks();
        let slot = self.slot.place_behind_gap(data, len, next);
        self.commit_same(committed, stream, slot)
    }

    /// Commits the present state with index and trailer at another place.
    pub(super) fn commit_same(
        &mut self,
        committed: &mut Committed<'_>,
        stream: &IoStream,
        slot: NewSlot,
    ) -> Result<()> {
        let Images { header, index, table, trailer } = &*committed.images;
        let mut trailer = fallible::copy_of(trailer)?;
        let gap = self.next_gap(slot.start());
        let cbytes = slot.start() - committed.layout.header_len;
        let header = with_lengths(header, cbytes, slot.end(), gap, !table.is_empty())?;
        let table = seal(ChunkSums::Committed(table), &header, index, &mut trailer, slot.end())?;
        write_slot(committed, stream, &slot, &[index, &table, &trailer])?;
        let len = header.len().min(FIXED_HEADER_LEN);
        write_header(committed, stream, &[&header[..len]], false)?;
        (committed.images.header, committed.images.table, committed.images.trailer) =
            (header, table, trailer);
        committed.layout.cbytes = cbytes;
        committed.layout.frame_len = slot.end();
        self.slot = slot.committed();
        Ok(())
    }

    /// Publishes the pending state, with these bytes of index and trailer. `checksums` are those of the chunks, for a
    /// state with a table.
    pub(super) fn commit(
        &mut self,
        committed: &mut Committed<'_>,
        pending: &Pending,
        (index, mut trailer): (Vec<u8>, Vec<u8>),
        checksums: ChunkSums<'_>,
    ) -> Result<()> {
        let stream = committed.stream()?;
        if committed.level == Durability::Power && !self.has_synced_name {
            committed.disk.sync_names()?;
            self.has_synced_name = true;
        }
        let has_table = checksums.table_len() > 0 || !committed.images.table.is_empty();
        let is_content_only = pending.index.is_none() && pending.trailer.is_none() && !has_table;
        if index.is_empty() {
            return self.commit_empty(committed, &stream, pending, trailer);
        }
        if is_content_only {
            let FrameLayout { cbytes, frame_len, .. } = *committed.layout;
            let gap = self.next_gap(self.slot.range.start);
            let header = with_lengths(&pending.header_image, cbytes, frame_len, gap, false)?;
            write_header(committed, &stream, &[&header], self.is_new)?;
            committed.images.header = header;
            return Ok(());
        }
        let header_len = self.header_len;
        let table_len = checksums.table_len();
        let len = (index.len() + trailer.len()) as u64 + table_len;
        let slot = self.slot.place(header_len..self.space.end(), len, self.last_len);
        let gap = self.next_gap(slot.start());
        let cbytes = slot.start() - header_len;
        let header = with_lengths(&pending.header_image, cbytes, slot.end(), gap, table_len > 0)?;
        let table = seal(checksums, &header, &index, &mut trailer, slot.end())?;
        write_slot(committed, &stream, &slot, &[&index, &table, &trailer])?;
        let first_sector = self.first_sector(header_len);
        let old_metalayers = committed.images.header.get(FIXED_HEADER_LEN..);
        let has_new_metalayers = header.get(FIXED_HEADER_LEN..) != old_metalayers;
        let changed_len = if has_new_metalayers || self.is_new || !first_sector.is_empty() {
            header.len()
        } else {
            FIXED_HEADER_LEN
        };
        write_header(committed, &stream, &[&header[..changed_len], &first_sector], self.is_new)?;
        self.is_new = false;
        self.unwritten.clear();
        self.space.commit();
        *committed.images = Images { header, index, table, trailer };
        *committed.layout = FrameLayout {
            header_len,
            table_len,
            cbytes,
            frame_len: slot.end(),
            trailer_len: committed.images.trailer.len() as u64,
            ..*committed.layout
        };
        self.slot = slot.committed();
        Ok(())
    }

    /// Publishes a state without chunks: header and trailer, in one write.
    fn commit_empty(
        &mut self,
        committed: &mut Committed<'_>,
        stream: &IoStream,
        pending: &Pending,
        mut trailer: Vec<u8>,
    ) -> Result<()> {
        let header_len = pending.header_image.len() as u64;
        let frame_len = header_len + trailer.len() as u64;
        let cbytes = u64::try_from(pending.header.cbytes).unwrap_or(0).min(committed.layout.cbytes);
        let header = with_lengths(&pending.header_image, cbytes, frame_len, None, false)?;
        let table = seal(ChunkSums::Pending(None), &header, &[], &mut trailer, frame_len)?;
        if committed.level == Durability::Power {
            // The length of the file must not be lost when the content is written.
            let end = committed.disk.base + frame_len;
            if stream.size()? < end {
                stream.truncate(end)?;
            }
            stream.sync_data()?;
        }
        write_header(committed, stream, &[&header, &trailer], self.is_new)?;
        self.is_new = false;
        self.unwritten.clear();
        self.space = DataSpace::new(header_len);
        self.slot = IndexSlot::new(header_len..frame_len);
        *committed.layout = FrameLayout {
            header_len,
            cbytes,
            frame_len,
            trailer_len: trailer.len() as u64,
            table_len: 0,
            ..*committed.layout
        };
        *committed.images = Images { header, index: Vec::new(), table, trailer };
        if let Err(error) = stream.truncate(committed.disk.base + frame_len) {
            trace::warning(|| format!("the end of a frame could not be cut off: {error}"));
        }
        Ok(())
    }

    /// Returns the bytes of pending chunks in the first sector, from the end of the header on.
    fn first_sector(&self, header_len: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let room = SECTOR_LEN.saturating_sub(header_len) as usize;
        for (at, chunk) in &self.unwritten {
            let at = *at as usize;
            let len = chunk.len().min(room.saturating_sub(at));
            if bytes.len() < at + len {
                bytes.resize(at + len, 0);
            }
            bytes[at..at + len].copy_from_slice(&chunk[..len]);
        }
        bytes
    }

    /// Moves index and trailer directly behind the chunks.
    pub(super) fn close_gap(&mut self, committed: &mut Committed<'_>, stream: &IoStream) -> Result<()> {
        let len = committed.images.len_behind_chunks();
        if self.slot.range != (self.space.end()..self.space.end() + len) {
            for slot in self.slot.places_to_end_of_data(self.space.end(), len) {
                self.commit_same(committed, stream, slot)?;
            }
        }
        Ok(())
    }

    /// Returns whether the length of the holes is above the length of the chunks divided by `divisor`.
    pub(super) fn has_holes_above(&self, divisor: u64) -> bool {
        self.search.has_holes_above(&self.space, self.header_len, divisor)
    }
}

/// Returns a header with other lengths of the data section and the frame, the number of the commit if there is a gap,
/// and the flag of the checksums.
pub(super) fn with_lengths(
    header: &[u8],
    cbytes: u64,
    frame_len: u64,
    gap: Option<u8>,
    has_checksums: bool,
) -> Result<Vec<u8>> {
    let mut header = fallible::copy_of(header)?;
    FrameHeader::set_lengths(&mut header, cbytes, frame_len, gap, has_checksums);
    Ok(header)
}

/// Writes index, padding, table of checksums and trailer, and waits until they are on disk if the level requires it.
pub(super) fn write_slot(
    committed: &Committed<'_>,
    stream: &IoStream,
    slot: &NewSlot,
    [index, table, trailer]: &[&[u8]; 3],
) -> Result<()> {
    let padding = &ZEROS[..slot.padding() as usize];
    stream.write_vectored_at(committed.disk.base + slot.start(), &[index, padding, table, trailer])?;
    committed.sync(stream)
}

/// Writes the start of the frame, which commits a state; with a journal, if the bytes are in several sectors. If that
/// fails, the old bytes are written again. A new frame has no old bytes; the caller removes its file after an error.
pub(super) fn write_header(
    committed: &Committed<'_>,
    stream: &IoStream,
    parts: &[&[u8]],
    is_new: bool,
) -> Result<()> {
    let disk = committed.disk;
    let write = || stream.write_vectored_at(disk.base, parts).and_then(|()| committed.sync(stream));
    if is_new {
        return write();
    }
    let len: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let needs_journal = disk.base % SECTOR_LEN + len > SECTOR_LEN;
    let header = committed.images.header.get(..len as usize).filter(|_| !needs_journal);
    let old = match header {
        Some(header) => OldBytes::copy_of(disk.base, header)?,
        // The trailer of a frame without chunks, or the first bytes of a chunk, are written with the header.
        None => OldBytes::read(stream, disk.base, len)?,
    };
    let is_synced = committed.level == Durability::Power;
    let journal = match needs_journal {
        true => Some(Journal::create(disk, &old, &fallible::concat(parts)?, is_synced)?),
        false => None,
    };
    let done = write();
    if done.is_err()
        && let Err(error) = old.restore(stream)
    {
        trace::warning(|| format!("the header of a frame could not be restored: {error}"));
        if let Some(journal) = journal {
            journal.keep();
        }
    }
    done
}
