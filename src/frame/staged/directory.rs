//! Atomic changes of a frame in a directory (`frame.md` 2.12, scheme C): a chunk is written to a file with a number
//! that the committed index does not have, and a commit replaces the index file by a new one. The files of superseded
//! chunks are removed afterwards.

use super::state::{Committed, Pending, seal};
use crate::error::Result;
use crate::frame::checksums::Checksums;
use crate::frame::disk::Disk;
use crate::frame::durability::Durability;
use crate::frame::header::FrameHeader;
use crate::frame::plan::{FrameIndex, FrameLayout, Images};
use crate::trace;

/// The files of a directory that an atomic change creates and supersedes.
#[derive(Clone, Default)]
pub(super) struct StagedDirectory {
    /// The numbers of chunk files that were created since the last commit.
    created: Vec<u64>,
    /// The numbers of chunk files that the pending state does not refer to any more.
    superseded: Vec<u64>,
}

impl StagedDirectory {
    /// Writes a chunk to a new file. Returns its number. `cbytes` is the size of all chunks.
    ///
    /// # Errors
    /// `FileOpen`, `FileWrite`; `MemoryAlloc`.
    pub(super) fn store(
        &mut self,
        committed: &mut Committed<'_>,
        index: &mut FrameIndex,
        bytes: &[u8],
        is_replacement: bool,
        cbytes: u64,
    ) -> Result<u64> {
        let number = index.next_chunk_file_number(cbytes, is_replacement, &self.superseded)?;
        let is_synced = committed.level == Durability::Power;
        committed.disk.create_chunk_file(number, bytes, is_synced)?;
        self.created.push(number);
        Ok(number)
    }

    /// Removes a chunk file after the next commit.
    pub(super) fn supersede(&mut self, number: u64) {
        self.superseded.push(number);
    }

    /// Removes the chunk files that were created since the state `before`.
    pub(super) fn remove_new_files(&self, disk: &Disk, before: &StagedDirectory) {
        for &number in self.created.get(before.created.len()..).unwrap_or_default() {
            remove(disk, number);
        }
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
        let mut header = pending.header_image.to_vec();
        let header_len = header.len() as u64;
        let table_len = checksums.and_then(Checksums::writable_table_len).unwrap_or(0);
        let frame_len = header_len + (index.len() + trailer.len()) as u64 + table_len;
        let cbytes = u64::try_from(pending.header.cbytes).unwrap_or(0);
        FrameHeader::set_lengths(&mut header, cbytes, frame_len, None, table_len > 0);
        let table = seal(checksums, &header, &index, &mut trailer, frame_len);
        let file = [&header[..], &index, &table, &trailer].concat();
        let is_synced = committed.level == Durability::Power;
        if is_synced {
            // The new chunk files must have names before the index refers to them.
            committed.disk.sync_names()?;
        }
        committed.disk.replace_index_file(&file, is_synced)?;
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
        for number in self.superseded.drain(..) {
            remove(committed.disk, number);
        }
        Ok(())
    }
}

/// Removes a chunk file that no index refers to. A file that cannot be removed stays as an orphan, without an error.
fn remove(disk: &Disk, number: u64) {
    if let Err(error) = disk.remove_chunk_file(number) {
        trace::warning(|| format!("chunk file {number} could not be removed: {error}"));
    }
}
