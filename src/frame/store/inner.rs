//! The parsed state of a frame, and its lock, of which a child of `fork()` has its own.

use super::staged::Staging;
use super::undo_log::UndoLog;
use crate::fork_count::PerProcess;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::plan::{FrameIndex, FrameLayout, Images};
use crate::io::FileStamp;
use crate::malloc::MallocVec;
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

/// The parsed state of a frame.
pub(in crate::frame) struct Inner {
    /// The bytes of a frame in memory; empty for a frame on disk.
    pub memory: MallocVec,
    pub layout: FrameLayout,
    pub index: FrameIndex,
    /// The contents of the files except the chunks.
    pub images: Images,
    /// The result of the last check of the file; `None` if a later change could leave its stamp unchanged.
    pub(in crate::frame) last_check: Option<LastCheck>,
    /// The end of the last chunk in a file that was not closed after atomic changes, in bytes from the start of the
    /// frame; in the index file of such a directory, the end of the header. `None` in other frames.
    pub(in crate::frame) end_of_chunks: Option<u64>,
    /// The state of atomic changes; `None` before the first one, and if the frame is changed in place.
    pub(in crate::frame) staging: Option<Staging>,
    /// The changes in place since the begin of a transaction.
    pub(in crate::frame) undo_log: UndoLog,
}

impl Inner {
    pub(super) fn new(memory: MallocVec, layout: FrameLayout, images: Images) -> Inner {
        let index = FrameIndex::default();
        Inner {
            memory,
            layout,
            index,
            images,
            last_check: None,
            end_of_chunks: None,
            staging: None,
            undo_log: UndoLog::default(),
        }
    }
}

/// The lock of the state of a frame. A child of `fork()` has one of its own from
/// [`discard_inherited_state`](super::frame::Frame::discard_inherited_state) on: threads of its parent may have held the lock at the fork.
pub(in crate::frame) struct InnerLock(PerProcess<RwLock<Inner>>);

impl InnerLock {
    /// Returns the lock of a state that this process has.
    pub(super) fn new(inner: Inner) -> InnerLock {
        InnerLock(PerProcess::new(RwLock::new(inner)))
    }

    /// Begins with the state of a frame that was not read, unless this process has done so already.
    pub(super) fn begin_in_child(&self, kind: FrameKind) {
        let layout =
            FrameLayout { kind, header_len: 0, cbytes: 0, frame_len: 0, trailer_len: 0, table_len: 0 };
        self.0.get(|_| RwLock::new(Inner::new(MallocVec::new(), layout, Images::default())));
    }

    /// Returns the state of a frame in memory.
    pub(super) fn into_inner(self) -> Inner {
        self.0.into_first().into_inner()
    }
}

impl Deref for InnerLock {
    type Target = RwLock<Inner>;

    #[inline]
    fn deref(&self) -> &RwLock<Inner> {
        self.0.newest()
    }
}
