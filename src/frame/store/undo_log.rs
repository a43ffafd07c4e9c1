//! Rolling back several changes in place: what reverts each of them is kept until the last one has succeeded
//! (`frame.md` 2.13, level `off`).
//!
//! Data flow: change written -> [`ChangeUndo`] added to [`UndoLog`] -> after an error: changes reverted from the last
//! one on, then header, index and trailer of the savepoint written. The frame is read again afterwards.
//!
//! The log concerns failed calls only: a process that is killed leaves the changes that it has made.

use super::disk::Disk;
use super::spill::{SavedBytes, SpillFile};
use super::undo::{FileUndo, Restoration};
use super::writer::remove_superseded;
use crate::error::Result;
use crate::fallible;
use crate::frame::format::plan::{FrameLayout, Images};
use crate::io::{IoStream, OpenMode, paths};
use crate::trace;
use std::thread::{self, ThreadId};

/// Maximum number of overwritten bytes that a log keeps in memory; the others are in a temporary file. Memory of that
/// size does not matter beside the buffers of a call that overwrites as much.
const MAX_BYTES_IN_MEMORY: usize = 64 << 20;

/// What reverts a change of native files.
pub(in crate::frame) struct ChangeUndo {
    /// The file with header, index and trailer.
    pub file: FileUndo,
    /// The chunk file that was written.
    pub chunk_file: Option<OldChunkFile>,
    /// The number of the chunk file that is no longer referenced.
    pub removed: Option<u64>,
}

/// A chunk file before a change.
pub(in crate::frame) struct OldChunkFile {
    /// The number that the file name is made of.
    pub number: u64,
    /// The chunk; `None` if there was no file.
    pub chunk: Option<SavedBytes>,
    /// Whether no index entry referred to the file, which was to be removed.
    pub was_deferred: bool,
}

/// The state of the file with header, index and trailer.
pub(in crate::frame) struct FileState {
    pub layout: FrameLayout,
    pub images: Images,
}

/// The changes in place since the begin of a transaction.
pub(in crate::frame) struct UndoLog {
    /// The thread that has begun the transaction.
    owner: ThreadId,
    /// Number of transactions inside each other.
    depth: usize,
    changes: Vec<LoggedChange>,
    /// The numbers of chunk files that are removed at the end of the transaction: a file that was removed could not be
    /// restored on a full disk.
    deferred: Vec<u64>,
    /// Whether the file is cut off to the length of the frame at the end of the transaction: bytes that were cut off could
    /// not be restored on a full disk.
    has_deferred_cut: bool,
    /// The numbers of the chunk files that were overwritten, which may be longer than their chunks until the end of the
    /// transaction.
    overwritten: Vec<u64>,
    /// Number of changes at the last savepoint.
    last_savepoint: usize,
    bytes_in_memory: usize,
    spill_file: Option<SpillFile>,
    /// Whether the changes cannot be rolled back.
    is_lost: bool,
}

struct LoggedChange {
    undo: ChangeUndo,
    /// The state before the change, if the change is the first one after a savepoint.
    state: Option<FileState>,
}

impl UndoLog {
    /// Returns a log for the transactions of the calling thread.
    pub(in crate::frame) fn new() -> UndoLog {
        UndoLog {
            owner: thread::current().id(),
            depth: 0,
            changes: Vec::new(),
            deferred: Vec::new(),
            has_deferred_cut: false,
            overwritten: Vec::new(),
            last_savepoint: 0,
            bytes_in_memory: 0,
            spill_file: None,
            is_lost: false,
        }
    }

    /// Begins a transaction. Returns its savepoint: the number of changes before it. `None` for another thread than
    /// the one that has begun the first transaction.
    pub(in crate::frame) fn begin(&mut self) -> Option<usize> {
        if self.owner != thread::current().id() {
            return None;
        }
        self.depth += 1;
        self.last_savepoint = self.changes.len();
        Some(self.last_savepoint)
    }

    /// Returns whether the innermost transaction is also the outermost one.
    pub(in crate::frame) fn is_outermost(&self) -> bool {
        self.depth == 1
    }

    /// Ends a transaction. Returns whether it was the outermost one.
    pub(in crate::frame) fn end(&mut self) -> bool {
        self.depth = self.depth.saturating_sub(1);
        self.depth == 0
    }

    /// Returns whether the next change is the first one after a savepoint, so that [`record`](Self::record) needs the
    /// state before it.
    pub(in crate::frame) fn needs_state(&self) -> bool {
        !self.is_lost && self.changes.len() == self.last_savepoint
    }

    /// Returns the list of chunk files that are removed at the end of the transaction.
    pub(in crate::frame) fn deferred_removals(&mut self) -> &mut Vec<u64> {
        &mut self.deferred
    }

    /// States that the file is longer than the frame.
    pub(in crate::frame) fn defer_cut(&mut self) {
        self.has_deferred_cut = true;
    }

    /// Makes room for [`defer_cut_of_chunk_file`](Self::defer_cut_of_chunk_file), and for one more file in the list of
    /// [`deferred_removals`](Self::deferred_removals).
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(in crate::frame) fn reserve_files(&mut self) -> Result<()> {
        fallible::reserve(&mut self.deferred, 1)?;
        fallible::reserve(&mut self.overwritten, 1)
    }

    /// States that the chunk file `number` was overwritten.
    pub(in crate::frame) fn defer_cut_of_chunk_file(&mut self, number: u64) {
        if !self.overwritten.contains(&number) {
            self.overwritten.push(number);
        }
    }

    /// Returns whether [`cut_files`](Self::cut_files) may have something to do.
    pub(in crate::frame) fn has_files_to_cut(&self) -> bool {
        self.has_deferred_cut || !self.overwritten.is_empty()
    }

    /// Returns whether a change of the transaction has left bytes behind the frame.
    pub(in crate::frame) fn has_deferred_cut(&self) -> bool {
        self.has_deferred_cut
    }

    /// Adds a change that was written.
    pub(in crate::frame) fn record(&mut self, mut undo: ChangeUndo, state: Option<FileState>, disk: &Disk) {
        if self.owner != thread::current().id() {
            // Rolling back would destroy the change of the other thread.
            self.lose("another thread has changed the frame");
            return;
        }
        if self.is_lost {
            return;
        }
        self.bytes_in_memory += undo.saved_bytes().map(|bytes| bytes.len_in_memory()).sum::<usize>();
        if self.bytes_in_memory > MAX_BYTES_IN_MEMORY
            && let Err(error) = self.spill(&mut undo, disk)
        {
            self.lose(&error.to_string());
            return;
        }
        self.changes.push(LoggedChange { undo, state });
    }

    /// Moves the overwritten bytes of a change to the temporary file.
    fn spill(&mut self, undo: &mut ChangeUndo, disk: &Disk) -> Result<()> {
        let file = match &mut self.spill_file {
            Some(file) => file,
            None => self.spill_file.insert(SpillFile::create(paths::as_path(&disk.path))?),
        };
        undo.saved_bytes().try_for_each(|bytes| {
            let len = bytes.len_in_memory();
            file.spill(bytes)?;
            self.bytes_in_memory -= len;
            Ok(())
        })
    }

    /// Keeps no more changes: they are not rolled back.
    pub(in crate::frame) fn discard(&mut self) {
        self.is_lost = true;
        self.changes.clear();
    }

    /// Makes room for one more change.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(in crate::frame) fn reserve_change(&mut self) -> Result<()> {
        fallible::reserve(&mut self.changes, 1)?;
        fallible::reserve(&mut self.deferred, 1)
    }

    /// Gives up rolling back, for the stated reason, if there are changes.
    pub(in crate::frame) fn lose(&mut self, reason: &str) {
        if !self.changes.is_empty() {
            self.discard();
            trace::warning(|| format!("changes of a failed call would not be undone: {reason}"));
        }
    }

    /// Reverts the changes since a savepoint, and ends its transaction. Returns the state of the file then; `None`
    /// without changes, and if they cannot be rolled back.
    ///
    /// # Errors
    /// `FileOpen`; nothing is reverted then.
    pub(in crate::frame) fn roll_back(&mut self, savepoint: usize, disk: &Disk) -> Result<Option<FileState>> {
        if self.changes.len() <= savepoint {
            return Ok(None);
        }
        let stream = disk.backend.open(&disk.path, OpenMode::Update)?;
        let mut restoration = Restoration::default();
        let (mut state, mut size) = (None, 0);
        for change in self.changes.drain(savepoint..).rev() {
            size = change.undo.file.size();
            if let Some(file) = &change.undo.chunk_file {
                self.overwritten.retain(|&other| other != file.number);
            }
            change.undo.revert(disk, &stream, &mut self.deferred, &mut restoration);
            state = change.state.or(state);
        }
        if let Some(state) = &state {
            restoration.write_images(disk, &stream, &state.layout, &state.images, size);
        }
        if savepoint == 0 {
            // The file has its old length again.
            self.has_deferred_cut = false;
        }
        restoration.finish();
        Ok(state)
    }

    /// Removes the chunk files whose removal was deferred.
    pub(in crate::frame) fn remove_deferred(&mut self, disk: &Disk) {
        for number in self.deferred.drain(..) {
            self.overwritten.retain(|&other| other != number);
            remove_superseded(disk, number);
        }
    }

    /// Cuts off the files that are longer than their content: the one with the frame, of `frame_len` bytes, and those of
    /// chunks. No other thread or process may change the frame meanwhile. A file that cannot be cut off stays longer.
    pub(in crate::frame) fn cut_files(&mut self, disk: &Disk, frame_len: u64) {
        let chunk_files = self.overwritten.drain(..).map(|number| disk.cut_chunk_file(number));
        let file = std::mem::take(&mut self.has_deferred_cut).then(|| disk.cut_file(frame_len));
        for error in chunk_files.chain(file).filter_map(Result::err) {
            trace::warning(|| format!("the end of a file could not be cut off: {error}"));
        }
    }
}

impl ChangeUndo {
    fn saved_bytes(&mut self) -> impl Iterator<Item = &mut SavedBytes> {
        let chunk = self.chunk_file.as_mut().and_then(|file| file.chunk.as_mut());
        self.file.saved_bytes().chain(chunk)
    }

    /// Reverts the change, except header, index and trailer.
    fn revert(self, disk: &Disk, stream: &IoStream, deferred: &mut Vec<u64>, restoration: &mut Restoration) {
        self.file.restore(disk, stream, restoration);
        deferred.retain(|&number| Some(number) != self.removed);
        if let Some(file) = self.chunk_file {
            restoration.record(disk.restore_chunk_file(file.number, file.chunk.as_ref()));
            deferred.extend(file.was_deferred.then_some(file.number));
        }
    }
}
