//! Atomic changes of a frame in a directory (`frame.md` 2.12, scheme C): a chunk is written to a file with a number
//! that the committed index does not have, and a commit replaces the index file by a new one. The files of superseded
//! chunks are removed afterwards.
//!
//! No file that a committed index has referred to, and no index file, is overwritten: a reader without the lock may
//! have it open, and would find parts of two states.

use super::state::{Committed, Pending, seal};
use super::unsynced::UnsyncedFiles;
use crate::error::{ErrorKind, Result};
use crate::fallible;
use crate::frame::format::checksums::Checksums;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{IndexEntry, Offsets, encode_entry};
use crate::frame::format::plan::{self, FrameIndex, FrameLayout, Images};
use crate::frame::store::disk::Disk;
use crate::frame::store::durability::Durability;
use crate::io::replacement::FileProperties;

/// The files of a directory that an atomic change creates and supersedes.
#[derive(Clone, Default)]
pub(super) struct StagedDirectory {
    /// The numbers of chunk files that were created since the last commit.
    created: Vec<u64>,
    /// Those of them that must be on disk before the next commit and may not be.
    unsynced: UnsyncedFiles,
    /// The numbers of chunk files that the pending state does not refer to any more.
    superseded: Vec<u64>,
    /// The properties of the index file that this handle wrote last.
    index_file: Option<FileProperties>,
    /// Whether the name of the directory is on disk.
    is_name_synced: bool,
}

impl StagedDirectory {
    /// Returns a copy.
    pub(super) fn try_clone(&self) -> Result<StagedDirectory> {
        Ok(StagedDirectory {
            created: fallible::copy_of(&self.created)?,
            superseded: fallible::copy_of(&self.superseded)?,
            unsynced: self.unsynced.try_clone()?,
            ..*self
        })
    }

    /// Writes a chunk and its record, which may be empty, to a new file. Returns its number. `cbytes` is the size of all
    /// chunks.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; `MemoryAlloc`.
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
    /// not open such a directory. A chunk that cannot be read keeps its number. Returns the state before, for
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
        if u64::try_from(index.max_number()).is_ok_and(|highest| highest > limit) {
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
        *self = directory;
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
    fn retry_with_closed_files<T>(&mut self, open: impl Fn() -> Result<T>) -> Result<T> {
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
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`.
    pub(super) fn commit(
        &mut self,
        committed: &mut Committed<'_>,
        pending: &Pending,
        (index, mut trailer): (Vec<u8>, Vec<u8>),
        checksums: Option<&Checksums>,
    ) -> Result<()> {
        let mut header = fallible::copy_of(&pending.header_image)?;
        let header_len = header.len() as u64;
        let table_len = checksums.and_then(Checksums::writable_table_len).unwrap_or(0);
        let frame_len = header_len + (index.len() + trailer.len()) as u64 + table_len;
        let cbytes = u64::try_from(pending.header.cbytes).unwrap_or(0);
        FrameHeader::set_lengths(&mut header, cbytes, frame_len, None, table_len > 0);
        let table = seal(checksums, &header, &index, &mut trailer, frame_len)?;
        self.replace_index_file(committed, &fallible::concat(&[&header, &index, &table, &trailer])?)?;
        *committed.layout = FrameLayout {
            header_len,
            cbytes,
            frame_len,
            trailer_len: trailer.len() as u64,
            table_len,
            ..*committed.layout
        };
        *committed.images = Images { header, index, table, trailer };
        self.created.clear();
        committed.disk.remove_chunk_files(self.superseded.drain(..));
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
        let last = self.index_file;
        let new = self.retry_with_closed_files(|| disk.prepare_index_file(bytes, last))?;
        if is_synced {
            // The disk writes the index file while the calls below wait for the chunk files.
            new.start_write_back();
            self.unsynced.sync()?;
            if self.is_name_synced {
                disk.sync_file_names()?;
            } else {
                disk.sync_names()?;
                self.is_name_synced = true;
            }
        }
        self.index_file = disk.commit_index_file(new, is_synced)?;
        Ok(())
    }
}
