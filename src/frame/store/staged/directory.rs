//! Atomic changes of a frame in a directory (`frame.md` 2.12, scheme C): a chunk is written to a file with a number
//! that the committed index does not have. A commit writes the blocks of the index, the table of checksums and the trailer
//! to a place in the index file that the committed state does not use, as in a contiguous frame, and then the header
//! and the block starts of the index, in one write of one sector. The files of superseded chunks are removed
//! afterwards.
//!
//! If header and block starts are longer than a sector, for a state without chunks, and in the first commit of a new frame,
//! the commit replaces the index file by a new one. No chunk file that a committed index has referred to is overwritten: a
//! reader without the lock may have it open, and would find parts of two states.

use super::file::{with_lengths, write_header, write_slot};
use super::state::{ChunkSums, Committed, Pending, seal};
use super::unsynced::UnsyncedFiles;
use crate::chunk::ChunkHeader;
use crate::error::{ErrorKind, Result};
use crate::fallible;
use crate::frame::format::index::{IndexEntry, Offsets, encode_entry, head_len, move_blocks};
use crate::frame::format::plan::{self, FrameIndex, FrameLayout, Images};
use crate::frame::format::space::{DataSpace, IndexSlot, NewSlot};
use crate::frame::store::disk::Disk;
use crate::frame::store::durability::{Durability, SECTOR_LEN};

/// The files of a directory that an atomic change creates and supersedes.
pub(super) struct StagedDirectory {
    /// The numbers of chunk files that were created since the last commit.
    created: Vec<u64>,
    /// Those of them that must be on disk before the next commit and may not be.
    unsynced: UnsyncedFiles,
    /// The numbers of chunk files that the pending state does not refer to any more.
    superseded: Vec<u64>,
    /// Whether the name of the directory is on disk.
    is_name_synced: bool,
    /// The place of the blocks of the index, the table of checksums and the trailer in the index file; `None` before a new
    /// index file is written.
    pub(super) slot: Option<IndexSlot>,
    /// The pages of checksums in the index file, behind its first sector.
    pub(super) pages: DataSpace,
    /// The number of commits. Handles without the lock detect a change also by this number.
    commits: u8,
}

/// The parts of an index file that are written to the slot.
struct SlotParts {
    index: Vec<u8>,
    /// Length of the index that is at its start, in bytes.
    head_len: usize,
    trailer: Vec<u8>,
    table_len: u64,
}

impl SlotParts {
    fn new(index: Vec<u8>, trailer: Vec<u8>, table_len: u64) -> Result<SlotParts> {
        let head_len = if index.is_empty() { 0 } else { head_len(&ChunkHeader::parse(&index)?) };
        Ok(SlotParts { index, head_len, trailer, table_len })
    }

    /// Returns copies of the committed parts.
    fn of_committed(images: &Images) -> Result<SlotParts> {
        let Images { index, table, trailer, .. } = images;
        SlotParts::new(fallible::copy_of(index)?, fallible::copy_of(trailer)?, table.len() as u64)
    }

    /// Returns the length of the parts in the slot, in bytes.
    fn len(&self) -> u64 {
        (self.index.len() - self.head_len + self.trailer.len()) as u64 + self.table_len
    }

    /// Returns the parts before the slot, if that begins at byte `start` of the frame: the header and the start of the
    /// index.
    fn before_slot(&self, header: &[u8], start: u64) -> Result<Vec<u8>> {
        let mut bytes = fallible::concat(&[header, &self.index[..self.head_len]])?;
        if !self.index.is_empty() {
            let gap = (start as usize).saturating_sub(bytes.len()) as i32;
            move_blocks(&ChunkHeader::parse(&self.index)?, &mut bytes[header.len()..], gap);
        }
        Ok(bytes)
    }
}

impl StagedDirectory {
    /// Returns the state of a frame without chunks that has no index file yet.
    pub(super) fn of_new_frame() -> StagedDirectory {
        StagedDirectory {
            created: Vec::new(),
            unsynced: UnsyncedFiles::default(),
            superseded: Vec::new(),
            is_name_synced: false,
            slot: None,
            pages: DataSpace::new(SECTOR_LEN),
            commits: crate::os::process_id() as u8,
        }
    }

    /// Prepares atomic changes of a frame. `images` are those of the committed state.
    pub(super) fn new(layout: &FrameLayout, images: &Images, index: &FrameIndex) -> Result<StagedDirectory> {
        let parts = SlotParts::of_committed(images)?;
        let head_end = layout.header_len + parts.head_len as u64;
        let start = match images.has_unread_table(layout.kind)? {
            true => head_end,
            false => IndexSlot::start_of(layout.frame_len, parts.len(), head_end),
        };
        let slot = IndexSlot::new(start..layout.frame_len);
        let pages = DataSpace::new(index.end_of_pages().max(SECTOR_LEN));
        Ok(StagedDirectory { slot: Some(slot), pages, ..StagedDirectory::of_new_frame() })
    }

    pub(super) fn try_clone(&self) -> Result<StagedDirectory> {
        Ok(StagedDirectory {
            created: fallible::copy_of(&self.created)?,
            superseded: fallible::copy_of(&self.superseded)?,
            unsynced: self.unsynced.try_clone()?,
            slot: self.slot.clone(),
            pages: self.pages.try_clone()?,
            ..*self
        })
    }

    /// Returns to the state `before`, except for the committed index file.
    pub(super) fn restore(&mut self, before: StagedDirectory) {
        let StagedDirectory { is_name_synced, commits, .. } = *self;
        let slot = self.slot.take();
        *self = StagedDirectory { is_name_synced, slot, commits, ..before };
    }

    /// Writes a chunk and its record, which may be empty, to a new file. Returns its number. `cbytes` is the size of all
    /// chunks.
    pub(super) fn store(
        &mut self,
        committed: &mut Committed<'_>,
        index: &mut FrameIndex,
        parts: &[&[u8]; 2],
        is_replacement: bool,
        cbytes: u64,
    ) -> Result<u64> {
        let number = index.next_chunk_file_number(cbytes, is_replacement, &self.superseded)?;
        self.store_as(committed, number, parts)?;
        Ok(number)
    }

    /// Moves chunks to files with lower numbers, if the numbers are too high for `cbytes` bytes of chunks: C-Blosc2 does
    /// not open such a directory. A chunk that cannot be read keeps its number, and so do those of a copy of a directory in an object
    /// store. Returns the state before, for
    /// [`restore_numbers`](Self::restore_numbers), if a number may have changed.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`, `MemoryAlloc`; nothing has changed then.
    pub(super) fn lower_numbers(
        &mut self,
        committed: &Committed<'_>,
        index: &mut FrameIndex,
        cbytes: u64,
    ) -> Result<Option<(Offsets, StagedDirectory)>> {
        let limit = plan::max_chunk_file_number(cbytes);
        let is_changeable = index.first_new_number.is_none();
        if is_changeable && u64::try_from(index.max_number()).is_ok_and(|highest| highest > limit) {
            let before = (plan::copy_offsets(&index.offsets)?, self.try_clone()?);
            if let Err(error) = self.lower_numbers_above(limit, committed, index) {
                self.restore_numbers(committed.disk, index, before);
                return Err(error);
            }
            return Ok(Some(before));
        }
        Ok(None)
    }

    /// Reverts [`lower_numbers`](Self::lower_numbers): the old files are needed again.
    pub(super) fn restore_numbers(
        &mut self,
        disk: &Disk,
        index: &mut FrameIndex,
        (offsets, directory): (Offsets, StagedDirectory),
    ) {
        self.remove_new_files(disk, &directory);
        self.restore(directory);
        index.replace(offsets);
    }

    fn lower_numbers_above(
        &mut self,
        limit: u64,
        committed: &Committed<'_>,
        index: &mut FrameIndex,
    ) -> Result<()> {
        for at in 0..index.offsets.len() {
            let Ok(old) = u64::try_from(index.entry(at)?) else { continue };
            let is_shared = || index.offsets.iter().filter(|&code| code == old as i64).count() > 1;
            if old <= limit || is_shared() {
                continue;
            }
            let number = index.offsets.lowest_free_number(&self.superseded)?;
            if number > limit {
                continue;
            }
            let opened = committed.disk.chunk_files()?.open(old);
            let read = opened.and_then(|stream| stream.read_vec_at(0, stream.size()?));
            let Ok(bytes) = read else { continue };
            self.store_as(committed, number, &[&bytes])?;
            self.supersede(old)?;
            index.replace_entry(at, encode_entry(IndexEntry::Payload(number)))?;
        }
        Ok(())
    }

    /// Writes the parts of a chunk file to a new file with that number.
    fn store_as(&mut self, committed: &Committed<'_>, number: u64, parts: &[&[u8]]) -> Result<()> {
        fallible::reserve(&mut self.created, 1)?;
        let files = committed.disk.chunk_files()?;
        let file = self.retry_with_closed_files(|| files.create(number, parts))?;
        self.created.push(number);
        if committed.level == Durability::Power {
            self.unsynced.add(number, file)?;
        }
        Ok(())
    }

    /// Calls `open`. If it cannot open a file, the new chunk files are synchronised and closed, and it is called again:
    /// the process may have too many open files.
    fn retry_with_closed_files<T>(&mut self, mut open: impl FnMut() -> Result<T>) -> Result<T> {
        match open() {
            Err(error) if error.kind() == ErrorKind::FileOpen && !self.unsynced.is_empty() => {
                self.unsynced.keep_none_open()?;
                open()
            }
            opened => opened,
        }
    }

    /// Removes a chunk file after the next commit.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    pub(super) fn supersede(&mut self, number: u64) -> Result<()> {
        fallible::push(&mut self.superseded, number)?;
        self.unsynced.forget(number);
        Ok(())
    }

    /// Removes the chunk files that were created since the state `before`.
    pub(super) fn remove_new_files(&self, disk: &Disk, before: &StagedDirectory) {
        let new_files = self.created.get(before.created.len()..).unwrap_or_default();
        disk.remove_chunk_files(new_files.iter().copied());
    }

    /// Publishes the pending state, with these bytes of index and trailer. `checksums` are those of the chunks, for a
    /// state with a table.
    pub(super) fn commit(
        &mut self,
        committed: &mut Committed<'_>,
        pending: &Pending,
        (index, trailer): (Vec<u8>, Vec<u8>),
        checksums: ChunkSums<'_>,
    ) -> Result<()> {
        let table_len = checksums.table_len();
        let parts = SlotParts::new(index, trailer, table_len)?;
        let is_in_place = self.is_changed_in_place(pending, &parts.index)?;
        let head_end = pending.header_image.len() as u64 + parts.head_len as u64;
        let end = if self.pages.end() > SECTOR_LEN { self.pages.end() } else { head_end };
        let slot = self.slot.as_ref().filter(|_| is_in_place);
        let place = slot.map(|slot| slot.place(0..end, parts.len(), 0));
        let cbytes = u64::try_from(pending.header.cbytes).unwrap_or(0);
        self.publish(committed, (&pending.header_image, cbytes), parts, checksums, place)?;
        if is_in_place {
            self.pages.commit();
        } else {
            self.pages = DataSpace::new(SECTOR_LEN);
        }
        self.created.clear();
        committed.disk.remove_chunk_files(self.superseded.drain(..));
        Ok(())
    }

    /// Returns whether a commit with that index changes the index file, instead of replacing it.
    pub(super) fn is_changed_in_place(&self, pending: &Pending, index: &[u8]) -> Result<bool> {
        if self.slot.is_none() || index.is_empty() {
            return Ok(false);
        }
        Ok((pending.header_image.len() + head_len(&ChunkHeader::parse(index)?)) as u64 <= SECTOR_LEN)
    }

    /// Gives the index file the bytes that changes in place write.
    pub(super) fn close(&mut self, committed: &mut Committed<'_>) -> Result<()> {
        let Some(slot) = self.slot.clone().filter(|_| !committed.is_empty()) else { return Ok(()) };
        let parts = SlotParts::of_committed(committed.images)?;
        let head_end = committed.layout.header_len + parts.head_len as u64;
        if slot.range == (head_end..head_end + parts.len()) {
            return Ok(());
        }
        let stream = committed.stream()?;
        for place in slot.places_to_end_of_data(head_end, parts.len()) {
            let Images { header, table, .. } = &*committed.images;
            let (header, table) = (fallible::copy_of(header)?, fallible::copy_of(table)?);
            let (parts, cbytes) = (SlotParts::of_committed(committed.images)?, committed.layout.cbytes);
            self.publish(committed, (&header, cbytes), parts, ChunkSums::Committed(&table), Some(place))?;
        }
        stream.cut(committed.disk.base + committed.layout.frame_len)
    }

    /// Writes header, index, table and trailer, and makes them the committed ones. `place` is that of the blocks of the
    /// index and of what follows them; without one, the index file is replaced.
    fn publish(
        &mut self,
        committed: &mut Committed<'_>,
        (header_image, cbytes): (&[u8], u64),
        mut parts: SlotParts,
        checksums: ChunkSums<'_>,
        place: Option<NewSlot>,
    ) -> Result<()> {
        let header_len = header_image.len() as u64;
        let head_end = header_len + parts.head_len as u64;
        let range = match &place {
            Some(place) => place.start()..place.end(),
            None => head_end..head_end + parts.len(),
        };
        self.commits = self.commits.wrapping_add(1);
        let gap = (range.start != head_end).then_some(self.commits & 0x3f);
        let header = with_lengths(header_image, cbytes, range.end, gap, parts.table_len > 0)?;
        let table = seal(checksums, &header, &parts.index, &mut parts.trailer, range.end)?;
        let before_slot = parts.before_slot(&header, range.start)?;
        let in_slot = [&parts.index[parts.head_len..], &table, &parts.trailer];
        match &place {
            Some(place) => {
                let stream = self.retry_with_closed_files(|| committed.stream())?;
                if committed.level == Durability::Power {
                    self.sync_chunk_files(committed.disk)?;
                }
                // A place that the committed state does not use, and then the start of the file.
                write_slot(committed, &stream, place, &in_slot)?;
                write_header(committed, &stream, &[&before_slot], false)?;
            }
            None => {
                let [blocks, table, trailer] = in_slot;
                self.replace_index_file(
                    committed,
                    &fallible::concat(&[&before_slot, blocks, table, trailer])?,
                )?;
            }
        }
        let SlotParts { index, trailer, table_len, .. } = parts;
        *committed.layout = FrameLayout {
            header_len,
            cbytes,
            frame_len: range.end,
            trailer_len: trailer.len() as u64,
            table_len,
            ..*committed.layout
        };
        *committed.images = Images { header, index, table, trailer };
        self.slot = Some(place.map_or(IndexSlot::new(range), NewSlot::committed));
        Ok(())
    }

    /// Waits until the new chunk files and their names are on disk.
    fn sync_chunk_files(&mut self, disk: &Disk) -> Result<()> {
        self.unsynced.sync()?;
        if self.is_name_synced {
            return disk.sync_file_names();
        }
        disk.sync_names()?;
        self.is_name_synced = true;
        Ok(())
    }

    /// Replaces the index file by one that holds `bytes`. At level `power`, the chunk files and their names are on disk
    /// before.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; the old file is unchanged then.
    fn replace_index_file(&mut self, committed: &Committed<'_>, bytes: &[u8]) -> Result<()> {
        let disk = committed.disk;
        let is_synced = committed.level == Durability::Power;
        let new = self.retry_with_closed_files(|| disk.prepare_index_file(bytes))?;
        if is_synced {
            // The disk writes the index file while the calls below wait for the chunk files.
            new.start_write_back();
            self.sync_chunk_files(disk)?;
        }
        disk.commit_index_file(new, is_synced)
    }
}
