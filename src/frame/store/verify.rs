//! Checking the parts of a frame by its checksums (`frame.md` 2.14), and computing the checksums of a frame that has
//! none.

use super::fetch::{FetchMode, stored_part};
use super::frame::{Frame, new_handle_checksums, new_handle_level};
use super::load;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::err;
use crate::error::{ErrorKind, Result};
use crate::frame::format::change::Change;
use crate::frame::format::checksums::{self, ChecksumMode, ChecksummedParts, MAX_TABLE_CHUNKS};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::index::{IndexEntry, decode_entry};
use crate::frame::format::metalayers;
use crate::frame::format::plan::{FrameLayout, Images, TargetState};
use crate::frame::format::units::chunk_checksum;
use crate::io::Backend;
use crate::malloc::MallocVec;
use crate::trace;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum length of the chunks, in bytes, of a frame without checksums that gets them by default: its first change reads
/// all chunks. The first append of 1 MiB to 3 MiB has 0.5 of the speed without checksums, to 63 MiB 0.07 (`cargo bench
/// --bench side_by_side -- --group durable --only 'first append'`).
const MAX_LEN_TO_ADD: i64 = 4 << 20;

impl Frame {
    pub(in crate::frame) fn checksum_mode(&self) -> ChecksumMode {
        ChecksumMode::from_u8(self.checksum_mode.load(Ordering::Relaxed))
    }

    /// Reads the table of checksums, stores it in `images`, and checks the images by it.
    ///
    /// # Errors
    /// `Data` for a table or a part that is damaged; those of reading the frame.
    pub(in crate::frame) fn load_checksums(
        &self,
        layout: &FrameLayout,
        images: &mut Images,
        nchunks: usize,
    ) -> Result<Checksums> {
        let index_end = layout.index_offset() + images.index.len() as u64;
        let trailer_at = layout.frame_len - layout.trailer_len;
        let (bytes, table) = load::read_table(self, index_end, trailer_at, &images.trailer)?;
        images.table = bytes;
        let parts = ChecksummedParts {
            header: &images.header,
            index: checksums::checksum(&images.index),
            trailer: &images.trailer,
            frame_len: layout.frame_len,
        };
        let mut checksums = Checksums::parse(table, &parts, layout.index_offset(), nchunks)?;
        if !self.is_native() {
            checksums.forget_places();
        }
        Ok(checksums)
    }

    /// Returns whether the parsed state was checked by the frame's checksums.
    pub(crate) fn has_checksums(&self) -> bool {
        self.inner.read_recursive().index.checksums.is_some()
    }

    /// In debug builds, reads the frame on native files again after a commit, except its chunks.
    ///
    /// # Panics
    /// If this library wrote parts that it rejects.
    pub(in crate::frame) fn check_commit(&self) {
        if !cfg!(debug_assertions) || !self.is_native() {
            return;
        }
        let reread = || {
            let header = self.read_header()?;
            header.check_for_reading()?;
            let trailer_len = load::read_trailer_len(self, header.frame_len)?;
            self.load_parts(&header, trailer_len)
        };
        if let Err(error) = reread()
            && matches!(error.kind(), ErrorKind::Data | ErrorKind::InvalidHeader)
            // Another handle without the lock may be changing the frame.
            && self.has_header_on_disk(&self.inner.read_recursive().images).unwrap_or(false)
        {
            panic!("a commit cannot be read: {error}");
        }
    }

    /// Computes the checksums of the chunks before the first change of a frame without a table, if a table will be
    /// written. If a chunk cannot be read, this handle writes no tables.
    pub(in crate::frame) fn prepare_checksums(&self) -> Result<()> {
        let can_have_table = self.nchunks() <= MAX_TABLE_CHUNKS;
        let max_len = match self.checksum_mode() {
            ChecksumMode::Off | ChecksumMode::Verify => return Ok(()),
            ChecksumMode::Default => MAX_LEN_TO_ADD,
            ChecksumMode::Write => i64::MAX,
        };
        if self.has_checksums() || !can_have_table || self.cbytes() > max_len {
            return Ok(());
        }
        match self.compute_checksums() {
            Ok(checksums) => self.inner.write().index.checksums = Some(Arc::new(checksums)),
            Err(error) if error.kind() == ErrorKind::MemoryAlloc => return Err(error),
            Err(error) => {
                trace::warning(|| {
                    format!("the frame gets no checksums, because a chunk is unreadable: {error}")
                });
                self.checksum_mode.store(ChecksumMode::Verify as u8, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Returns whether new files of the back-end have checksums.
    pub(crate) fn has_checksums_when_new(backend: &Backend) -> bool {
        new_handle_checksums(new_handle_level(backend)) >= ChecksumMode::Default
    }

    /// Returns the bytes of a frame with checksums.
    pub(crate) fn add_checksums(memory: MallocVec) -> Result<MallocVec> {
        let (frame, contents) = Frame::from_memory(memory)?;
        frame.checksum_mode.store(ChecksumMode::Write as u8, Ordering::Relaxed);
        let target = TargetState {
            header: contents.header,
            metalayers: &metalayers::borrow(&contents.metalayers)?,
            vlmetalayers: &metalayers::borrow(&contents.vlmetalayers)?,
        };
        frame.apply(&Change::ReplaceVlmetalayers, &target)?;
        Ok(frame.inner.into_inner().memory)
    }

    /// Reads all chunks. Returns their checksums.
    fn compute_checksums(&self) -> Result<Checksums> {
        let nchunks = self.nchunks();
        if nchunks == 0 {
            return Ok(Checksums::default());
        }
        let header = self.read_header()?;
        Checksums::of_read_chunks((0..nchunks).map(|nchunk| {
            let code = self.inner.read_recursive().index.offsets.get(nchunk).unwrap_or_default();
            match decode_entry(code)? {
                IndexEntry::Special(_) => Ok(0),
                IndexEntry::Payload(_) => {
                    let stored = self.stored_chunk(nchunk, &header)?;
                    Ok(chunk_checksum(stored_part(&stored.fetch(FetchMode::Borrow)?)))
                }
            }
        }))
    }

    /// Returns the checksum of the index chunk. `images` are those of the frame, if it is on disk.
    ///
    /// # Errors
    /// `Data`, `ReadBuffer` for a frame in memory whose index cannot be read.
    pub(in crate::frame) fn index_checksum(&self, images: &Images) -> Result<u32> {
        if self.disk.is_some() {
            return Ok(checksums::checksum(&images.index));
        }
        let at = self.inner.read_recursive().layout.index_offset();
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        self.read(at, &mut head)?;
        let len = stored_len(&head).ok_or_else(|| err!(Data, "the index chunk has no length"))?;
        Ok(checksums::checksum(&self.read_vec(at, len)?))
    }
}
