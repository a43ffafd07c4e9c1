//! The checksums of a frame that has none (`frame.md` 2.14): all chunks are read.

use super::disk_frame::{DiskFrame, new_handle_checksums, new_handle_level};
use super::fetch::{ChunkBytes, FetchMode, StoredChunk, stored_part};
use super::inner::DiskInner;
use super::memory::MemoryFrame;
use crate::error::{ErrorKind, Result};
use crate::frame::format::change::Change;
use crate::frame::format::checksums::{ChecksumMode, MAX_TABLE_CHUNKS};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::metalayers;
use crate::frame::format::plan::TargetState;
use crate::frame::format::units::chunk_checksum;
use crate::io::Backend;
use crate::malloc::MallocVec;
use crate::trace;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum length of the chunks, in bytes, of a frame without checksums that gets them by default: its first change reads
/// all chunks. The first append of 1 MiB to 3 MiB has 0.5 of the speed without checksums, to 63 MiB 0.07 (`cargo bench
/// --bench side_by_side -- --group durable --only 'first append'`).
const MAX_LEN_TO_ADD: u64 = 4 << 20;

impl DiskFrame {
    /// Computes the checksums of the chunks before the first change of a frame without a table, if a table will be
    /// written. If a chunk cannot be read, this handle writes no tables.
    pub(super) fn prepare_checksums(&self) -> Result<()> {
        let max_len = match self.checksum_mode() {
            ChecksumMode::Off | ChecksumMode::Verify => return Ok(()),
            ChecksumMode::Default => MAX_LEN_TO_ADD,
            ChecksumMode::Write => u64::MAX,
        };
        let (nchunks, can_have_table) = {
            let DiskInner { layout, index, .. } = &*self.inner.read_recursive();
            let nchunks = index.offsets.len();
            let is_small = layout.cbytes <= max_len && nchunks <= MAX_TABLE_CHUNKS;
            (nchunks, is_small && index.checksums.is_none())
        };
        if !can_have_table {
            return Ok(());
        }
        let checksums = match nchunks {
            // The file of a new frame may have no header yet.
            0 => Some(Arc::default()),
            _ => {
                let header = self.disk.read_header()?;
                compute_checksums(nchunks, |nchunk| self.stored_chunk(nchunk, &header))?
            }
        };
        if checksums.is_none() {
            self.checksum_mode.store(ChecksumMode::Verify as u8, Ordering::Relaxed);
        }
        self.inner.write().index.checksums = checksums;
        Ok(())
    }

    /// Returns whether new files of the back-end have checksums.
    pub(crate) fn has_checksums_when_new(backend: &Backend) -> bool {
        new_handle_checksums(new_handle_level(backend)) >= ChecksumMode::Default
    }
}

impl MemoryFrame {
    /// Returns the bytes of a frame with checksums, unless a chunk cannot be read.
    pub(crate) fn add_checksums(memory: MallocVec) -> Result<MallocVec> {
        let (mut frame, contents) = MemoryFrame::open(memory)?;
        if frame.inner.get_mut().index.checksums.is_none() && contents.nchunks <= MAX_TABLE_CHUNKS {
            let stored = |nchunk| frame.stored_chunk(nchunk, &contents.header);
            let checksums = compute_checksums(contents.nchunks, stored)?;
            frame.inner.get_mut().index.checksums = checksums;
        }
        let target = TargetState {
            header: contents.header,
            metalayers: &metalayers::borrow(&contents.metalayers)?,
            vlmetalayers: &metalayers::borrow(&contents.vlmetalayers)?,
        };
        frame.apply(&Change::ReplaceVlmetalayers, &target)?;
        Ok(frame.into_bytes())
    }
}

/// Reads all chunks, which `stored` returns. Returns their checksums; `None` if a chunk cannot be read.
///
/// # Errors
/// `MemoryAlloc`
fn compute_checksums<'a>(
    nchunks: usize,
    stored: impl Fn(usize) -> Result<StoredChunk<'a>>,
) -> Result<Option<Arc<Checksums>>> {
    let checksum = |nchunk| match stored(nchunk)?.fetch(FetchMode::Borrow)? {
        ChunkBytes::Special(_) => Ok(0),
        chunk => Ok(chunk_checksum(stored_part(&chunk))),
    };
    match Checksums::of_read_chunks((0..nchunks).map(checksum)) {
        Ok(checksums) => Ok(Some(Arc::new(checksums))),
        Err(error) if error.kind() == ErrorKind::MemoryAlloc => Err(error),
        Err(error) => {
            trace::warning(|| format!("the frame gets no checksums, because a chunk is unreadable: {error}"));
            Ok(None)
        }
    }
}
