//! A frame in memory: its bytes, and their parsed index. Only its super-chunk changes it, so that it is parsed once.

use super::load::{self, FrameContents, LoadedParts, ReadFrame};
use super::writer;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::change::Change;
use crate::frame::format::checksums::{self, ChecksumMode};
use crate::frame::format::chunk_checksums::Checksums;
use crate::frame::format::chunk_info::stored_len;
use crate::frame::format::header::{self, FrameHeader};
use crate::frame::format::plan::{self, FrameIndex, FrameLayout, Images, TargetState};
use crate::frame::format::units::chunk_checksum;
use crate::malloc::MallocVec;
use parking_lot::RwLock;
use std::sync::Arc;

pub(crate) struct MemoryFrame {
    pub(super) inner: RwLock<MemoryInner>,
}

/// The bytes of a frame, and the parts of them that are parsed.
pub(super) struct MemoryInner {
    pub bytes: MallocVec,
    pub layout: FrameLayout,
    pub index: FrameIndex,
}

impl MemoryFrame {
    fn new(bytes: MallocVec, layout: FrameLayout) -> Result<Box<MemoryFrame>> {
        let inner = RwLock::new(MemoryInner { bytes, layout, index: FrameIndex::default() });
        fallible::try_box(MemoryFrame { inner })
    }

    /// Creates a frame without chunks, which consists of header and trailer.
    ///
    /// # Errors
    /// `MemoryAlloc`
    pub(super) fn create(layout: FrameLayout, images: &Images) -> Result<Box<MemoryFrame>> {
        let mut bytes = MallocVec::new();
        bytes.write_at(0, &images.header)?;
        bytes.write_at(images.header.len(), &images.trailer)?;
        MemoryFrame::new(bytes, layout)
    }

    /// Opens a frame.
    ///
    /// # Errors
    /// `ReadBuffer`, `InvalidHeader`, and the errors of `frame.md` 4.2, 4.4 and 4.5.
    pub(super) fn open(memory: MallocVec) -> Result<(Box<MemoryFrame>, FrameContents)> {
        let bytes = memory.bytes();
        if !header::has_magic(bytes) {
            return Err(err!(InvalidHeader, "{} bytes without the magic string of a frame", bytes.len()));
        }
        let header = FrameHeader::parse(bytes, FrameKind::Contiguous)?;
        if header.frame_len != bytes.len() as u64 {
            let (frame_len, len) = (header.frame_len, bytes.len());
            return Err(err!(InvalidHeader, "the frame length is {frame_len}, expected {len}"));
        }
        header.check_for_opening(bytes)?;
        let trailer_len = load::read_trailer_len(&bytes, header.frame_len)?;
        let mode = ChecksumMode::from_environment(ChecksumMode::Verify);
        let loaded = load::load_parts(&bytes, &header, trailer_len, header.frame_len, mode)?;
        let LoadedParts { layout, offsets, contents, checksums, .. } = loaded;
        let mut frame = MemoryFrame::new(memory, layout)?;
        let inner = frame.inner.get_mut();
        inner.index.replace(offsets);
        inner.index.checksums = checksums.map(|mut checksums| {
            checksums.forget_places();
            Arc::new(checksums)
        });
        Ok((frame, contents))
    }

    /// Reads the fixed part of the header.
    pub(crate) fn header(&self) -> Result<FrameHeader> {
        FrameHeader::parse(self.inner.read_recursive().bytes.bytes(), FrameKind::Contiguous)
    }

    /// Returns the address, valid until the next change, and the length in bytes.
    pub(crate) fn address(&self) -> (*mut u8, usize) {
        let inner = self.inner.read_recursive();
        (inner.bytes.as_ptr(), inner.bytes.bytes().len())
    }

    /// Calls `then` with the bytes of the frame.
    pub(crate) fn with_bytes<R>(&self, then: impl FnOnce(&mut MallocVec) -> R) -> R {
        then(&mut self.inner.write().bytes)
    }

    pub(super) fn into_bytes(self) -> MallocVec {
        self.inner.into_inner().bytes
    }

    /// Returns the checksums, if chunk `nchunk` must be checked by them when it is read.
    pub(super) fn unchecked_chunk(&self, nchunk: usize) -> Option<Arc<Checksums>> {
        self.inner.read_recursive().index.unchecked_chunk(nchunk)
    }

    /// Checks a chunk that was read. `offset` is its offset in the data section, in bytes.
    ///
    /// # Errors
    /// `Data` for a damaged chunk.
    pub(super) fn check_chunk(&self, nchunk: usize, bytes: &[u8], offset: u64) -> Result<()> {
        let Some(checksums) = self.unchecked_chunk(nchunk) else { return Ok(()) };
        checksums.check_chunk(nchunk, chunk_checksum(bytes), offset)
    }

    /// Applies `change`, after which the frame has the state `target`. After an error the frame is unchanged.
    ///
    /// # Errors
    /// Those of [`plan::plan_change`]; `MemoryAlloc`.
    pub(super) fn apply(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        let MemoryInner { bytes, layout, index } = &mut *self.inner.write();
        let checksums = index.checksums.clone();
        let index_checksum = || stored_index_checksum(bytes.bytes(), layout);
        let planned = plan::plan_change(layout, index, change, target, &index_checksum);
        let written = planned.and_then(|(plan, undo)| match writer::write_in_memory(&plan, bytes) {
            Ok(()) => Ok(plan.layout),
            Err(error) => index.undo(undo).and(Err(error)),
        });
        match written {
            Ok(new) => *layout = new,
            Err(error) => {
                index.checksums = checksums;
                return Err(error);
            }
        }
        Ok(())
    }
}

impl ReadFrame for &[u8] {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        let range = usize::try_from(at).ok().and_then(|at| Some(at..at.checked_add(dest.len())?));
        let Some(bytes) = range.and_then(|range| self.get(range)) else {
            return Err(err!(ReadBuffer, "{} bytes at offset {at} are outside the frame", dest.len()));
        };
        dest.copy_from_slice(bytes);
        Ok(())
    }
}

/// Returns the checksum of the index chunk of a frame with that layout.
///
/// # Errors
/// `Data`, `ReadBuffer` for an index that cannot be read.
fn stored_index_checksum(frame: &[u8], layout: &FrameLayout) -> Result<u32> {
    let at = layout.index_offset();
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    frame.read_at(at, &mut head)?;
    let len = stored_len(&head).ok_or_else(|| err!(Data, "the index chunk has no length"))?;
    Ok(checksums::checksum(&frame.read_vec_at(at, len)?))
}
