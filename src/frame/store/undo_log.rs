//! Reverting changes in place of native files (`frame.md` 2.13, level `off`): what reverts a write is recorded until the
//! change, or the last change of a transaction, has succeeded.
//!
//! Data flow: old bytes read -> [`UndoRecord`] -> write. After an error, the records are replayed from the last one on,
//! and header, index and trailer are written from their images in memory. Every file is cut off last, and in a
//! transaction at its end, so that restoring needs no disk space.
//!
//! Header, index and trailer are in memory already ([`Images`]), so an append reads nothing. An update reads the chunk
//! that it replaces. Chunks that are moved are not read: they are still in the file, and are moved back.
//!
//! The log concerns failed calls only: a process that is killed leaves the writes that it has made.

use super::chunk_files::{self, ChunkFiles};
use super::disk::Disk;
use super::old_bytes::{MAX_SEGMENT_LEN, OldBytes, SpillFile, with_copy_buffer};
use crate::error::Result;
use crate::fallible;
use crate::frame::format::plan::{ChunkFile, FrameLayout, Images, Move};
use crate::io::{IoStream, OpenMode, WriteUnit, paths, try_resize};
use crate::trace;
use std::ffi::CString;
use std::thread::{self, ThreadId};

/// Maximum number of overwritten bytes that a log keeps in memory; the others are in a temporary file. Memory of that
/// size does not matter beside the buffers of a call that overwrites as much.
const MAX_BYTES_IN_MEMORY: usize = 64 << 20;

/// The state of the file with header, index and trailer.
pub(in crate::frame) struct FileState {
    pub layout: FrameLayout,
    pub images: Images,
}

/// What reverts a step of a change.
enum UndoRecord {
    /// The state before the first change after a savepoint, and the length of the file in bytes.
    Savepoint(FileState, u64),
    /// Overwritten bytes of the file with header, index and trailer.
    Bytes(OldBytes),
    /// The move that brings bytes of that file back. Its offsets count from the start of the file.
    Moved(Move),
    /// A chunk file that was written.
    ChunkFile {
        number: u64,
        /// The content before; `None` for a new file, and for an orphan, to which no index entry refers.
        old: Option<OldBytes>,
        /// Whether the file was to be removed.
        was_deferred: bool,
        /// Whether the change is the first one of the transaction after which the file is longer than its chunk.
        defers_cut: bool,
    },
    /// The number of a chunk file that is to be removed.
    Removal(u64),
}

/// The chunk file that the current change writes.
struct OpenChunkFile {
    path: CString,
    stream: IoStream,
    /// The length of the new chunk, in bytes, if the file is cut off at the end of the change.
    cut_to: Option<u64>,
}

/// The changes in place since the begin of a transaction, or one change.
#[derive(Default)]
pub(in crate::frame) struct UndoLog {
    records: Vec<UndoRecord>,
    /// The numbers of chunk files that are removed at the end: a file that was removed could not be restored on a full
    /// disk.
    deferred: Vec<u64>,
    open_chunk_file: Option<OpenChunkFile>,
    /// `None` if each change is complete for itself. In a box, because frames are moved when they are opened, and the log
    /// at each change.
    transaction: Option<Box<LoggedTransaction>>,
}

struct LoggedTransaction {
    /// The thread that has begun the outermost transaction.
    owner: ThreadId,
    /// Number of transactions inside each other.
    depth: usize,
    /// Number of records at the last savepoint.
    last_savepoint: usize,
    /// Whether the file is cut off to the length of the frame at the end.
    has_deferred_cut: bool,
    /// The numbers of the chunk files that may be longer than their chunks, and are cut off at the end.
    overwritten: Vec<u64>,
    bytes_in_memory: usize,
    spill_file: Option<SpillFile>,
    /// Whether the changes cannot be rolled back.
    is_lost: bool,
}

impl UndoLog {
    /// Begins a transaction. Returns its savepoint: the number of records before it. `None` for another thread than
    /// the one that has begun the first transaction.
    pub(in crate::frame) fn begin(&mut self) -> Option<usize> {
        let last_savepoint = self.records.len();
        let transaction = self.transaction.get_or_insert_with(|| {
            Box::new(LoggedTransaction {
                owner: thread::current().id(),
                depth: 0,
                last_savepoint,
                has_deferred_cut: false,
                overwritten: Vec::new(),
                bytes_in_memory: 0,
                spill_file: None,
                is_lost: false,
            })
        });
        if transaction.owner != thread::current().id() {
            return None;
        }
        transaction.depth += 1;
        transaction.last_savepoint = last_savepoint;
        Some(last_savepoint)
    }

    /// Ends a transaction. At the end of the outermost one, removes the chunk files whose removal was deferred.
    pub(in crate::frame) fn end(&mut self, disk: &Disk) {
        let Some(transaction) = &mut self.transaction else { return };
        transaction.depth = transaction.depth.saturating_sub(1);
        if transaction.depth == 0 {
            disk.remove_chunk_files(self.deferred.drain(..));
            *self = UndoLog::default();
        }
    }

    pub(in crate::frame) fn has_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    /// Returns whether a change of the transaction has left bytes behind the frame.
    pub(super) fn has_deferred_cut(&self) -> bool {
        self.transaction.as_ref().is_some_and(|transaction| transaction.has_deferred_cut)
    }

    /// States that the file is longer than the frame, if a transaction is open.
    pub(super) fn defer_cut(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.has_deferred_cut = true;
        }
    }

    /// Returns whether [`cut_files`](Self::cut_files) may have something to do at the end of the innermost transaction.
    pub(in crate::frame) fn has_files_to_cut(&self) -> bool {
        self.transaction
            .as_ref()
            .is_some_and(|open| open.depth == 1 && (open.has_deferred_cut || !open.overwritten.is_empty()))
    }

    /// Cuts off the files that are longer than their content: the one with the frame, of `frame_len` bytes, and those of
    /// chunks. No other thread or process may change the frame meanwhile. A file that cannot be cut off stays longer.
    pub(in crate::frame) fn cut_files(&mut self, disk: &Disk, frame_len: u64) {
        let Some(transaction) = &mut self.transaction else { return };
        let cut = |number| disk.chunk_files().and_then(|files| files.cut(number));
        let chunk_files = transaction.overwritten.drain(..).map(cut);
        let file = std::mem::take(&mut transaction.has_deferred_cut).then(|| disk.cut_file(frame_len));
        for error in chunk_files.chain(file).filter_map(Result::err) {
            trace::warning(|| format!("the end of a file could not be cut off: {error}"));
        }
    }

    /// Begins a change. `before` is the state before it, `size` the length of the file in bytes. Returns the number of
    /// records before the change, for [`complete_change`](Self::complete_change) or [`undo_change`](Self::undo_change).
    pub(super) fn begin_change(&mut self, before: &FileState, size: u64) -> Result<usize> {
        let mark = self.records.len();
        if let Some(transaction) = &self.transaction
            && !transaction.is_lost
            && transaction.last_savepoint == mark
        {
            let state = FileState { layout: before.layout, images: before.images.try_clone()? };
            fallible::push(&mut self.records, UndoRecord::Savepoint(state, size))?;
        }
        Ok(mark)
    }

    /// Reads bytes of the file with header, index and trailer that are about to be overwritten.
    pub(super) fn save(&mut self, stream: &IoStream, position: u64, len: u64) -> Result<()> {
        fallible::push(&mut self.records, UndoRecord::Bytes(OldBytes::read(stream, position, len)?))
    }

    /// Moves bytes of that file, segment by segment, in the order in which no byte is overwritten before it is read. The
    /// offsets of `moved` count from the start of the file.
    pub(super) fn move_bytes(&mut self, stream: &IoStream, moved: Move) -> Result<()> {
        fallible::reserve(&mut self.records, 1)?;
        let (mut done, mut moving, mut segment) = (0, Ok(()), Vec::new());
        while done < moved.len && moving.is_ok() {
            let (at, len) = moved.next_segment(done, MAX_SEGMENT_LEN);
            let read = try_resize(&mut segment, len)
                .and_then(|()| stream.read_exact_at(moved.from + at, &mut segment));
            moving = read.and_then(|()| {
                stream.write_at(moved.to + at, &segment, WriteUnit::Bytes).inspect_err(|_| {
                    // The write may have overwritten a part of its own source.
                    report(stream.write_at(moved.from + at, &segment, WriteUnit::Bytes));
                })
            });
            if moving.is_ok() {
                done += len;
            }
        }
        self.records.push(UndoRecord::Moved(moved.reversed(done)));
        moving
    }

    /// Writes a chunk file. The chunk that is in the file of a replaced chunk is overwritten in place.
    pub(super) fn write_chunk_file(&mut self, files: &ChunkFiles, file: ChunkFile<'_>) -> Result<()> {
        let ChunkFile { number, bytes, is_replacement } = file;
        fallible::reserve(&mut self.records, 1)?;
        let path = files.path(number)?;
        let deferred = self.deferred.iter().position(|&other| other == number);
        // The file is overwritten in place, not created anew or truncated first: both take file systems many times
        // longer.
        let existing = match is_replacement || deferred.is_some() {
            true => files.backend.open(&path, OpenMode::Update).ok(),
            false => None,
        };
        let (stream, old) = match existing {
            Some(stream) => {
                let size = stream.size()?;
                let old = OldBytes::read(&stream, 0, size)?;
                (stream, Some(old))
            }
            None => (files.backend.open(&path, OpenMode::Create)?, None),
        };
        let mut cut_to = Some(bytes.len()).filter(|&len| old.as_ref().is_some_and(|old| old.len() > len));
        let mut defers_cut = false;
        if let Some(transaction) = &mut self.transaction
            && cut_to.take().is_some()
            && !transaction.overwritten.contains(&number)
        {
            fallible::push(&mut transaction.overwritten, number)?;
            defers_cut = true;
        }
        let written = match &old {
            Some(_) => chunk_files::overwrite_chunk(&stream, bytes),
            None => stream.write_at(0, bytes, WriteUnit::Bytes),
        };
        deferred.map(|at| self.deferred.swap_remove(at));
        let was_deferred = deferred.is_some();
        self.records.push(UndoRecord::ChunkFile { number, old, was_deferred, defers_cut });
        self.open_chunk_file = Some(OpenChunkFile { path, stream, cut_to: cut_to.map(|len| len as u64) });
        written
    }

    /// Cuts off the chunk file that the change has written behind its chunk; in a transaction, that is done at its end.
    pub(super) fn cut_chunk_file(&self) -> Result<()> {
        match &self.open_chunk_file {
            Some(OpenChunkFile { stream, cut_to: Some(len), .. }) => stream.truncate(*len),
            _ => Ok(()),
        }
    }

    /// Removes a chunk file at the end of the change, or of the transaction.
    pub(super) fn defer_removal(&mut self, number: u64) -> Result<()> {
        fallible::reserve(&mut self.deferred, 1)?;
        fallible::push(&mut self.records, UndoRecord::Removal(number))?;
        self.deferred.push(number);
        Ok(())
    }

    /// Ends a change that was written. `mark` is the result of [`begin_change`](Self::begin_change).
    pub(super) fn complete_change(&mut self, mark: usize, disk: &Disk) {
        self.open_chunk_file = None;
        let Some(transaction) = &mut self.transaction else {
            self.records.clear();
            disk.remove_chunk_files(self.deferred.drain(..));
            return;
        };
        if transaction.owner != thread::current().id() {
            // Rolling back would destroy the change of the other thread.
            self.records.truncate(mark);
            self.lose("another thread has changed the frame");
        } else if transaction.is_lost {
            self.records.clear();
        } else if let Err(error) = transaction.limit_memory(&mut self.records[mark..], disk) {
            self.lose(&error.to_string());
        }
    }

    /// Reverts a change that has failed. `before` is the state before it, `size` the length of the file in bytes.
    pub(super) fn undo_change(
        &mut self,
        mark: usize,
        disk: &Disk,
        stream: &IoStream,
        before: &FileState,
        size: u64,
    ) {
        let (_, restored) = self.replay(mark, disk, stream);
        report(restored.and(write_images(disk, stream, before, size)));
    }

    /// Reverts the changes since a savepoint. Returns the state of the file then; `None` without changes, and if they
    /// cannot be rolled back.
    ///
    /// # Errors
    /// `FileOpen`; nothing is reverted then.
    pub(in crate::frame) fn roll_back(&mut self, savepoint: usize, disk: &Disk) -> Result<Option<FileState>> {
        if self.records.len() <= savepoint {
            return Ok(None);
        }
        let stream = disk.backend.open(disk.path(), OpenMode::Update)?;
        let (before, mut restored) = self.replay(savepoint, disk, &stream);
        if let Some((state, size)) = &before {
            restored = restored.and(write_images(disk, &stream, state, *size));
        }
        if let Some(transaction) = self.transaction.as_mut().filter(|_| savepoint == 0) {
            // The file has its old length again.
            transaction.has_deferred_cut = false;
        }
        report(restored);
        Ok(before.map(|(state, _)| state))
    }

    /// Reverts the records behind `mark`, except header, index and trailer. Returns the first of their states. A write
    /// that fails does not prevent the others: it concerns bytes that could not be overwritten either. The second
    /// result is the first error.
    fn replay(
        &mut self,
        mark: usize,
        disk: &Disk,
        stream: &IoStream,
    ) -> (Option<(FileState, u64)>, Result<()>) {
        let (mut before, mut restored) = (None, Ok(()));
        while self.records.len() > mark
            && let Some(record) = self.records.pop()
        {
            restored = restored.and(match record {
                UndoRecord::Savepoint(state, size) => {
                    before = Some((state, size));
                    Ok(())
                }
                UndoRecord::Bytes(old) => old.restore(stream),
                UndoRecord::Moved(back) => move_back(stream, back),
                UndoRecord::ChunkFile { number, old, was_deferred, defers_cut } => {
                    // The list had that entry before the change, so that it need not grow.
                    self.deferred.extend(was_deferred.then_some(number));
                    if let Some(transaction) = self.transaction.as_mut().filter(|_| defers_cut) {
                        transaction.overwritten.retain(|&other| other != number);
                    }
                    let opened = self.open_chunk_file.take();
                    disk.chunk_files().and_then(|files| match (old, opened) {
                        (Some(old), Some(file)) => chunk_files::restore_chunk(&file.stream, &old),
                        (Some(old), None) => {
                            let stream = files.backend.open(&files.path(number)?, OpenMode::Update)?;
                            chunk_files::restore_chunk(&stream, &old)
                        }
                        (None, Some(file)) => chunk_files::remove_file(&file.path),
                        (None, None) => chunk_files::remove_file(&files.path(number)?),
                    })
                }
                UndoRecord::Removal(number) => {
                    self.deferred.retain(|&other| other != number);
                    Ok(())
                }
            });
        }
        (before, restored)
    }

    /// Keeps no more changes of a transaction that is not inside another one: they are not rolled back.
    pub(in crate::frame) fn discard(&mut self) {
        if self.transaction.as_ref().is_some_and(|open| open.depth == 1) {
            self.forget_records();
        }
    }

    fn forget_records(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.is_lost = true;
            self.records.clear();
        }
    }

    /// Gives up rolling back, for the stated reason, if there are changes.
    pub(in crate::frame) fn lose(&mut self, reason: &str) {
        if !self.records.is_empty() {
            self.forget_records();
            trace::warning(|| format!("changes of a failed call would not be undone: {reason}"));
        }
    }
}

impl LoggedTransaction {
    /// Moves the old bytes of a change to the temporary file if there are too many in memory.
    fn limit_memory(&mut self, change: &mut [UndoRecord], disk: &Disk) -> Result<()> {
        let old_bytes = change.iter_mut().filter_map(|record| match record {
            UndoRecord::Bytes(old) | UndoRecord::ChunkFile { old: Some(old), .. } => Some(old),
            _ => None,
        });
        for old in old_bytes {
            self.bytes_in_memory += old.len();
            if self.bytes_in_memory > MAX_BYTES_IN_MEMORY {
                let file = match &mut self.spill_file {
                    Some(file) => file,
                    None => self.spill_file.insert(SpillFile::create(&paths::as_path(disk.path()))?),
                };
                self.bytes_in_memory -= file.spill(old)?;
            }
        }
        Ok(())
    }
}

/// Logs an error of restoring old bytes.
fn report(restored: Result<()>) {
    if let Err(error) = restored {
        trace::warning(|| {
            format!("a write to a frame failed, and its old bytes could not be restored: {error}")
        });
    }
}

/// Writes header, index, table and trailer, and cuts the file to its old `size` in bytes, if it is longer. All parts are
/// written even if one cannot be.
fn write_images(disk: &Disk, stream: &IoStream, state: &FileState, size: u64) -> Result<()> {
    let FileState { layout, images } = state;
    let trailer_at = layout.frame_len - layout.trailer_len;
    let parts = [
        (layout.index_offset(), &images.index),
        (trailer_at - layout.table_len, &images.table),
        (trailer_at, &images.trailer),
        (0, &images.header),
    ];
    let mut written = Ok(());
    for (at, bytes) in parts.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        written = written.and(stream.write_at(disk.base + at, bytes, WriteUnit::Bytes));
    }
    written.and(stream.size().and_then(|now| stream.truncate(size.min(now))))
}

/// Moves bytes back. A segment that cannot be moved does not prevent the others. Returns the first error.
fn move_back(stream: &IoStream, back: Move) -> Result<()> {
    with_copy_buffer(back.len, |buffer| {
        let (mut done, mut restored) = (0, Ok(()));
        while done < back.len {
            let (at, len) = back.next_segment(done, buffer.len() as u64);
            let segment = &mut buffer[..len as usize];
            let read = stream.read_exact_at(back.from + at, segment);
            restored =
                restored.and(read.and_then(|()| stream.write_at(back.to + at, segment, WriteUnit::Bytes)));
            done += len;
        }
        restored
    })
}

impl Move {
    /// Returns the segment that is moved after `done` bytes: its offset from the start of the moved range, and its
    /// length, in bytes, which is at most `max_len`.
    fn next_segment(&self, done: u64, max_len: u64) -> (u64, u64) {
        let len = (self.len - done).min(max_len);
        let is_upwards = self.to > self.from;
        (if is_upwards { self.len - done - len } else { done }, len)
    }

    /// Returns the move that brings the first `done` moved bytes back to their old place.
    fn reversed(&self, done: u64) -> Move {
        let at = if self.to > self.from { self.len - done } else { 0 };
        Move { from: self.to + at, to: self.from + at, len: done }
    }
}
