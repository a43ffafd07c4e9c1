//! Reverting a change in place that failed: the bytes that the change will overwrite are read before, and the progress
//! of moving bytes is recorded. The file is cut off last, and after the last change of a transaction, so that restoring
//! needs no disk space.
//!
//! Header, index and trailer are in memory already ([`Images`]), so an append reads nothing for its undo. An update
//! reads the chunk that it replaces. Chunks that are moved are not read: they are still in the file, and are moved
//! back.

use super::disk::Disk;
use super::spill::{MAX_SEGMENT_LEN, SavedBytes, with_copy_buffer};
use crate::error::{Error, Result};
use crate::fallible;
use crate::frame::format::plan::{FrameLayout, FramePlan, Images, Move};
use crate::io::{IoStream, WriteUnit, try_resize};
use crate::trace;

/// The bytes that a change overwrites in a native file, except those of the [`Images`].
pub(in crate::frame) struct FileUndo {
    moved: Option<Move>,
    move_progress: MoveProgress,
    /// Overwritten pieces that are not part of an image, with their offsets in the frame in bytes.
    overwritten: Vec<(u64, SavedBytes)>,
    /// Length of the file before the change, in bytes.
    size: u64,
}

/// Writes that restore a file. A write that fails does not prevent the others: it concerns bytes that could not be
/// overwritten either. The first error is kept.
#[derive(Default)]
pub(in crate::frame) struct Restoration {
    first_error: Option<Error>,
}

/// The progress of a [`Move`].
#[derive(Default)]
pub(crate) struct MoveProgress {
    /// Number of bytes that are at their new place, counted from the end that is moved first.
    done: u64,
    /// Offset of the current segment, in bytes from the start of the moved range.
    segment_offset: u64,
    /// The bytes of the current segment; empty while no segment is being written.
    segment: Vec<u8>,
}

impl Restoration {
    /// Records the result of a write.
    pub(in crate::frame) fn record(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.first_error.get_or_insert(error);
        }
    }

    /// Writes header, index, table and trailer, and cuts the file to its old `size` in bytes, if it is longer.
    pub(in crate::frame) fn write_images(
        &mut self,
        disk: &Disk,
        stream: &IoStream,
        layout: &FrameLayout,
        images: &Images,
        size: u64,
    ) {
        let parts = [
            (layout.index_offset(), &images.index),
            (layout.frame_len - layout.trailer_len - layout.table_len, &images.table),
            (layout.frame_len - layout.trailer_len, &images.trailer),
            (0, &images.header),
        ];
        for (at, bytes) in parts.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
            self.record(stream.write_at(disk.base + at, bytes, WriteUnit::Bytes));
        }
        self.record(stream.size().and_then(|now| stream.truncate(size.min(now))));
    }

    /// Logs the first error. Returns whether there was none.
    pub(in crate::frame) fn finish(self) -> bool {
        let Some(error) = self.first_error else { return true };
        trace::warning(|| {
            format!("a write to a frame failed, and its old bytes could not be restored: {error}")
        });
        false
    }
}

impl FileUndo {
    /// Reads the bytes that `plan` will overwrite. `is_cut` states that the file will be cut off behind the frame. Must be called before the first write of the plan.
    ///
    /// # Errors
    /// `FileRead`, `MemoryAlloc`.
    pub(in crate::frame) fn read(
        plan: &FramePlan<'_>,
        disk: &Disk,
        stream: &IoStream,
        old: &FrameLayout,
        is_cut: bool,
    ) -> Result<Self> {
        let size = stream.size()?;
        // The index of a frame without chunks is not written (see the writer).
        let index = plan.index.as_ref().filter(|index| plan.trailer.as_ref().is_none_or(|t| index.0 < t.0));
        let bytes_in_file = size.saturating_sub(disk.base);
        let writes = [
            plan.moved.map(|moved| (moved.to, moved.len)),
            plan.payload.map(|(at, bytes)| (at, bytes.len() as u64)),
            index.map(|(at, bytes)| (*at, bytes.len() as u64)),
            plan.trailer.as_ref().map(|(at, bytes)| (*at, bytes.len() as u64)),
            plan.end_mark(bytes_in_file).filter(|_| !is_cut).map(|(at, bytes)| (at, bytes.len() as u64)),
        ];
        // Moved bytes can be read at their new place, so they are not saved. The bytes behind the frame may be chunks of
        // the state before the transaction.
        let chunks_end = plan.moved.map_or(old.index_offset(), |moved| moved.from);
        let mut overwritten = Vec::new();
        for (at, len) in writes.into_iter().flatten() {
            // At most the bytes that the file has: a damaged header may claim more.
            let end = (at + len).min(bytes_in_file);
            for (from, to) in [(at, end.min(chunks_end)), (at.max(old.frame_len), end)] {
                if from < to {
                    let bytes = SavedBytes::read_from(stream, disk.base + from, to - from)?;
                    fallible::push(&mut overwritten, (from, bytes))?;
                }
            }
        }
        Ok(FileUndo { moved: plan.moved, move_progress: MoveProgress::default(), overwritten, size })
    }

    /// Returns the length of the file before the change, in bytes.
    pub(in crate::frame) fn size(&self) -> u64 {
        self.size
    }

    /// Moves the bytes of the plan, if it moves any, and records the progress, so that they can be moved back.
    ///
    /// # Errors
    /// `FileRead`, `FileWrite`, `MemoryAlloc`.
    pub(in crate::frame) fn move_bytes(&mut self, stream: &IoStream, base: u64) -> Result<()> {
        self.moved.map_or(Ok(()), |moved| move_bytes(stream, base, moved, &mut self.move_progress))
    }

    /// Returns the overwritten pieces.
    pub(in crate::frame) fn saved_bytes(&mut self) -> impl Iterator<Item = &mut SavedBytes> {
        self.overwritten.iter_mut().map(|(_, bytes)| bytes)
    }

    /// Restores the data section and the bytes behind the frame. The restored bytes fit, because they were in the file
    /// before the change.
    pub(in crate::frame) fn restore(self, disk: &Disk, stream: &IoStream, restoration: &mut Restoration) {
        if let Some(moved) = self.moved {
            move_back(stream, disk.base, moved, self.move_progress, &mut |result| restoration.record(result));
        }
        for (at, bytes) in &self.overwritten {
            restoration.record(bytes.write_to(stream, disk.base + at, 0..bytes.len()));
        }
    }
}

/// Moves bytes inside a file, segment by segment, in the order in which no byte is overwritten before it is read.
///
/// # Errors
/// `FileRead`, `FileWrite`, `MemoryAlloc`; `progress` gives the number of bytes that were moved.
pub(crate) fn move_bytes(
    stream: &IoStream,
    base: u64,
    moved: Move,
    progress: &mut MoveProgress,
) -> Result<()> {
    let mut spare = Vec::new();
    while progress.done < moved.len {
        let (at, len) = moved.next_segment(progress.done, MAX_SEGMENT_LEN);
        try_resize(&mut spare, len)?;
        stream.read_exact_at(base + moved.from + at, &mut spare)?;
        progress.segment_offset = at;
        std::mem::swap(&mut spare, &mut progress.segment);
        stream.write_at(base + moved.to + at, &progress.segment, WriteUnit::Bytes)?;
        progress.done += len;
        progress.segment.clear();
    }
    Ok(())
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

/// Moves back the bytes that [`move_bytes`] has moved. Errors are passed to `record_error`.
fn move_back(
    stream: &IoStream,
    base: u64,
    moved: Move,
    progress: MoveProgress,
    record_error: &mut dyn FnMut(Result<()>),
) {
    // The write of the current segment may have overwritten a part of its own source range.
    if progress.done < moved.len && !progress.segment.is_empty() {
        let at = base + moved.from + progress.segment_offset;
        record_error(stream.write_at(at, &progress.segment, WriteUnit::Bytes));
    }
    let back = moved.reversed(progress.done);
    with_copy_buffer(back.len, |buffer| {
        let mut done = 0;
        while done < back.len {
            let (at, len) = back.next_segment(done, buffer.len() as u64);
            let segment = &mut buffer[..len as usize];
            let read = stream.read_exact_at(base + back.from + at, segment);
            record_error(read.and_then(|()| stream.write_at(base + back.to + at, segment, WriteUnit::Bytes)));
            done += len;
        }
    });
}
