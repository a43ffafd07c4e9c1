//! The parsed state of a frame on disk, and its lock, of which a child of `fork()` has its own.

use super::staged::Staging;
use super::undo_log::UndoLog;
use crate::fork_count::PerProcess;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::plan::{FrameIndex, FrameLayout, Images};
use crate::io::FileStamp;
use parking_lot::RwLock;
use std::ops::Deref;

/// The result of a check of the file, made when every later change is certain to give the file another stamp.
pub(in crate::frame) struct LastCheck {
    pub(super) stamp: FileStamp,
    pub(super) header: FrameHeader,
    /// The [generation](super::status::FrameStatus::generation) that belongs to `stamp`.
    pub(super) generation: u64,
    /// Whether the frame occupies the whole file, or is in a directory. Then a change of the frame's length also changes
    /// the length of the file, even when the change is made through a mapping, for which the system updates the time stamps
    /// late; directories are not mapped.
    pub(super) is_whole_file: bool,
}

/// The changes that a handle has begun, in one of two ways.
pub(super) enum Changes {
    /// The changes in place since the begin of a transaction.
    InPlace(UndoLog),
    /// Atomic changes.
    Staged(Box<Staging>),
}

impl Default for Changes {
    /// Returns no changes.
    fn default() -> Self {
        Changes::InPlace(UndoLog::default())
    }
}

/// The parsed state of a frame on disk.
pub(in crate::frame) struct DiskInner {
    pub layout: FrameLayout,
    pub index: FrameIndex,
    /// The contents of the files except the chunks.
    pub images: Images,
    /// The result of the last check of the file; `None` if a later change could leave its stamp unchanged.
    pub(in crate::frame) last_check: Option<LastCheck>,
    /// The end of the last chunk in a file that was not closed after atomic changes, in bytes from the start of the
    /// frame; in the index file of such a directory, the end of the header. `None` in other frames.
    pub(in crate::frame) end_of_chunks: Option<u64>,
    pub(super) changes: Changes,
}

impl DiskInner {
    pub(super) fn new(layout: FrameLayout, images: Images) -> DiskInner {
        DiskInner {
            layout,
            index: FrameIndex::default(),
            images,
            last_check: None,
            end_of_chunks: None,
            changes: Changes::default(),
        }
    }

    /// Returns the state of atomic changes; `None` before the first one, and if the frame is changed in place.
    pub(super) fn staging(&self) -> Option<&Staging> {
        match &self.changes {
            Changes::InPlace(_) => None,
            Changes::Staged(staging) => Some(staging),
        }
    }

    /// As [`staging`](Self::staging).
    pub(super) fn staging_mut(&mut self) -> Option<&mut Staging> {
        match &mut self.changes {
            Changes::InPlace(_) => None,
            Changes::Staged(staging) => Some(staging),
        }
    }

    /// Returns the changes in place; `None` after an atomic change.
    pub(super) fn undo_log(&mut self) -> Option<&mut UndoLog> {
        match &mut self.changes {
            Changes::InPlace(log) => Some(log),
            Changes::Staged(_) => None,
        }
    }

    /// Discards the state of atomic changes, and those that are not committed.
    pub(super) fn discard_staging(&mut self) {
        if self.staging().is_some() {
            self.changes = Changes::default();
        }
    }

    /// Returns the state of a frame that was not read.
    pub(super) fn unread(kind: FrameKind) -> DiskInner {
        let layout =
            FrameLayout { kind, header_len: 0, cbytes: 0, frame_len: 0, trailer_len: 0, table_len: 0 };
        DiskInner::new(layout, Images::default())
    }
}

/// The lock of the state of a frame. A child of `fork()` has one of its own from
/// [`discard_inherited_state`](super::disk_frame::DiskFrame::discard_inherited_state) on: threads of its parent may have held
/// the lock at the fork.
pub(in crate::frame) struct InnerLock(PerProcess<RwLock<DiskInner>>);

impl InnerLock {
    /// Returns the lock of a state that this process has.
    pub(super) fn new(inner: DiskInner) -> InnerLock {
        InnerLock(PerProcess::new(RwLock::new(inner)))
    }

    /// Begins with the state of a frame that was not read, unless this process has done so already.
    pub(super) fn begin_in_child(&self, kind: FrameKind) {
        self.0.get(|_| RwLock::new(DiskInner::unread(kind)));
    }
}

impl Deref for InnerLock {
    type Target = RwLock<DiskInner>;

    #[inline]
    fn deref(&self) -> &RwLock<DiskInner> {
        self.0.newest()
    }
}
