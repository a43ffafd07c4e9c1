//! A frame as a store of chunks: in memory or on disk, where it is a file or a directory. The super-chunk controls which thread
//! may read or write at a time.

use super::disk_frame::DiskFrame;
use super::fetch::{self, StoredChunk};
use super::load::FrameContents;
use super::memory::MemoryFrame;
use crate::error::Result;
use crate::frame::FrameKind;
use crate::frame::format::change::Change;
use crate::frame::format::chunk_info::ChunkInfo;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers;
use crate::frame::format::plan::{self, FrameIndex, FrameLayout, Images, TargetState};
use crate::frame::format::trailer;
use crate::io::{Backend, FrameLockGuard};
use crate::malloc::MallocVec;
use std::ffi::CStr;

/// A frame, and the parsed state of its header, index and trailer.
pub(crate) enum Frame {
    Memory(Box<MemoryFrame>),
    Disk(Box<DiskFrame>),
}

/// The place of a new frame.
pub(crate) enum Destination<'a> {
    Memory,
    File(&'a CStr, Backend),
    /// A directory; the path has no slash at its end.
    Directory(&'a CStr, Backend),
}

impl Frame {
    /// Creates a frame without chunks. With atomic changes, a transaction is open until
    /// [`finish_creation`](DiskFrame::finish_creation), and the files have a temporary name before.
    ///
    /// # Errors
    /// `MemoryAlloc`, `FileOpen` for a path that is taken, `FileWrite`, `FileTruncate`.
    pub(crate) fn create(destination: Destination<'_>, target: &TargetState<'_>) -> Result<Frame> {
        let kind = match destination {
            Destination::Directory(..) => FrameKind::Sparse,
            _ => FrameKind::Contiguous,
        };
        let trailer = trailer::build(target.vlmetalayers)?;
        let mut header = FrameHeader { kind, ..target.header.clone() };
        header.header_len = FIXED_HEADER_LEN + metalayers::section_len(target.metalayers)?;
        header.frame_len = (header.header_len + trailer.len()) as u64;
        let layout = FrameLayout { cbytes: 0, ..FrameLayout::of_opened(&header, trailer.len() as u64) };
        let images = Images { header: header.build(target.metalayers)?, trailer, ..Images::default() };
        match destination {
            Destination::Memory => MemoryFrame::create(layout, &images).map(Frame::Memory),
            Destination::File(path, backend) | Destination::Directory(path, backend) => {
                DiskFrame::create(path, backend, header, layout, images).map(Frame::Disk)
            }
        }
    }

    /// Opens a frame in memory.
    ///
    /// # Errors
    /// `ReadBuffer`, `InvalidHeader`, and the errors of `frame.md` 4.2, 4.4 and 4.5.
    pub(crate) fn from_memory(memory: MallocVec) -> Result<(Frame, FrameContents)> {
        MemoryFrame::open(memory).map(|(frame, contents)| (Frame::Memory(frame), contents))
    }

    /// Opens the frame at `path`, which begins at byte `base` of its file. For a sparse frame, `path` is a directory
    /// without a slash at its end. Also returns the result of [`first_chunk_flags2`](Self::first_chunk_flags2): other
    /// processes may change the frame as soon as it is open.
    ///
    /// # Errors
    /// `FileOpen`, `FileRead`, `Lock`, and the errors of `frame.md` 4.1, 4.4 and 4.5.
    pub(crate) fn open(
        kind: FrameKind,
        path: &CStr,
        base: u64,
        backend: Backend,
    ) -> Result<(Frame, FrameContents, u8)> {
        let (frame, contents, flags2) = DiskFrame::open(kind, path, base, backend)?;
        Ok((Frame::Disk(frame), contents, flags2))
    }

    /// Returns the frame, if it is in memory.
    pub(crate) fn memory(&self) -> Option<&MemoryFrame> {
        match self {
            Frame::Memory(frame) => Some(frame),
            Frame::Disk(_) => None,
        }
    }

    /// Returns the frame, if it is on disk.
    #[inline]
    pub(crate) fn disk(&self) -> Option<&DiskFrame> {
        match self {
            Frame::Memory(_) => None,
            Frame::Disk(frame) => Some(frame),
        }
    }

    /// Calls `then` with the layout and the index, as last read.
    pub(super) fn with_parsed<R>(&self, then: impl FnOnce(&FrameLayout, &FrameIndex) -> R) -> R {
        match self {
            Frame::Memory(frame) => {
                let inner = frame.inner.read_recursive();
                then(&inner.layout, &inner.index)
            }
            Frame::Disk(frame) => {
                let inner = frame.inner.read_recursive();
                then(&inner.layout, &inner.index)
            }
        }
    }

    /// Returns whether the frame is a directory, where each chunk has its own file.
    pub(super) fn has_chunk_files(&self) -> bool {
        self.kind() == FrameKind::Sparse
    }

    pub(crate) fn kind(&self) -> FrameKind {
        self.disk().map_or(FrameKind::Contiguous, |frame| frame.disk.kind())
    }

    /// Returns whether the parsed state was checked by the frame's checksums.
    pub(crate) fn has_checksums(&self) -> bool {
        self.with_parsed(|_, index| index.checksums.is_some())
    }

    /// Returns the length of the frame in bytes, as last read; of a sparse frame, that of the index file.
    pub(crate) fn len(&self) -> u64 {
        self.with_parsed(|layout, _| layout.frame_len)
    }

    /// Returns the length that the frame has once it is closed, in bytes.
    pub(crate) fn closed_len(&self) -> u64 {
        self.disk().map_or_else(|| self.len(), DiskFrame::closed_len)
    }

    /// Returns the number of chunks, as last read.
    pub(crate) fn nchunks(&self) -> usize {
        self.with_parsed(|_, index| index.offsets.len())
    }

    /// Returns a copy of the index: one code for each chunk (`frame.md` 1.4).
    pub(crate) fn offsets(&self) -> Result<Offsets> {
        self.with_parsed(|_, index| plan::copy_offsets(&index.offsets))
    }

    /// As [`DiskFrame::lock`]; a frame in memory has no lock.
    #[inline]
    pub(crate) fn lock(&self, exclusive: bool) -> Result<Option<FrameLockGuard<'_>>> {
        match self {
            Frame::Memory(_) => Ok(None),
            Frame::Disk(frame) => frame.lock(exclusive),
        }
    }

    /// Reads the header.
    pub(crate) fn header(&self) -> Result<FrameHeader> {
        match self {
            Frame::Memory(frame) => frame.header(),
            Frame::Disk(frame) => frame.status().map(|status| status.header),
        }
    }

    /// Returns whether a child can change the frame after a fork during reads by other threads: its state has a new lock,
    /// or none of them held the lock.
    pub(crate) fn is_unlocked_after_fork(&self) -> bool {
        match self {
            Frame::Memory(frame) => !frame.inner.is_locked(),
            Frame::Disk(frame) => frame.is_native(),
        }
    }

    /// Returns chunk `nchunk`: opens the file with its bytes, or locks the memory. `header` is the current header of the
    /// frame.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk that does not exist, perhaps because another handle has deleted it meanwhile; `Data` for
    /// an invalid entry of the index; `InvalidHeader` for an offset beyond the data section; `FileOpen`.
    #[inline(always)]
    pub(crate) fn stored_chunk<'a>(
        &'a self,
        nchunk: usize,
        header: &'a FrameHeader,
    ) -> Result<StoredChunk<'a>> {
        match self {
            Frame::Memory(frame) => frame.stored_chunk(nchunk, header),
            Frame::Disk(frame) => frame.stored_chunk(nchunk, header),
        }
    }

    /// Returns the fields of the header of chunk `nchunk` that super-chunks use.
    pub(crate) fn chunk_info(&self, nchunk: usize, header: &FrameHeader) -> Result<ChunkInfo> {
        self.stored_chunk(nchunk, header)?.info()
    }

    /// As [`fetch::first_chunk_flags2`].
    pub(crate) fn first_chunk_flags2(&self, contents: &FrameContents) -> Result<u8> {
        fetch::first_chunk_flags2(contents, |nchunk| self.stored_chunk(nchunk, &contents.header))
    }

    /// Applies `change`, after which the frame has the state `target`. After an error the frame is unchanged, as far as
    /// its bytes can be restored.
    ///
    /// # Errors
    /// Those of [`plan::plan_change`], and of writing the frame; `FileWrite` also if other data follow the frame in its
    /// file; `Failure` in a child that was forked during the change of a frame on disk.
    pub(crate) fn apply(&self, change: &Change<'_>, target: &TargetState<'_>) -> Result<()> {
        match self {
            Frame::Memory(frame) => frame.apply(change, target),
            Frame::Disk(frame) => frame.apply(change, target),
        }
    }
}
