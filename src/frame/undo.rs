//! Taking back a change in place that could not be carried out to its end: what it is about to destroy is read first,
//! and how far bytes were moved is remembered.
//!
//! Header, index and trailer are known anyway ([`Images`]), so an append reads nothing here. An update reads the chunk
//! that it replaces. Chunks that are moved are not read: they still are in the file, and are moved back.

use super::disk::Disk;
use super::plan::{Images, Layout, Move, Plan};
use crate::err;
use crate::error::{Error, Result};
use crate::io::{IoStream, WriteShape, resize};
use crate::trace;

/// Bytes that are moved at a time.
const SEGMENT: u64 = 1 << 20;

/// What a native file held before a change, as far as the change overwrites it.
pub(crate) struct Undo<'a> {
    old: &'a Layout,
    images: &'a Images,
    /// Pieces that no image has, by their places in the frame.
    pieces: Vec<(u64, Vec<u8>)>,
    /// Length of the file.
    size: u64,
    moved: Progress,
}

/// How far a [`Move`] has come.
#[derive(Default)]
pub(crate) struct Progress {
    /// Bytes that are at their new place, counted from the end that is moved first.
    done: u64,
    /// Where the segment begins that is being moved, counted from the start of what is moved.
    at: u64,
    /// That segment.
    segment: Vec<u8>,
}

impl<'a> Undo<'a> {
    /// Reads what `plan` will overwrite. Nothing was written yet.
    ///
    /// # Errors
    /// `FileRead`, `MemoryAlloc`.
    pub(crate) fn read(
        plan: &Plan<'_>,
        disk: &Disk,
        stream: &IoStream,
        old: &'a Layout,
        images: &'a Images,
    ) -> Result<Self> {
        let size = stream.size()?;
        // Without chunks no index is written (see the writer).
        let index = plan.index.as_ref().filter(|index| plan.trailer.as_ref().is_none_or(|t| index.0 < t.0));
        let writes = [
            plan.moved.map(|moved| (moved.to, moved.len)),
            plan.payload.map(|(at, bytes)| (at, bytes.len() as u64)),
            index.map(|(at, bytes)| (*at, bytes.len() as u64)),
            plan.trailer.as_ref().map(|(at, bytes)| (*at, bytes.len() as u64)),
        ];
        // Bytes that are moved away are found again; what is behind the frame is somebody else's.
        let chunks_end = plan.moved.map_or(old.index_at(), |moved| moved.from);
        let after_all = size.saturating_sub(disk.base);
        let mut pieces = Vec::new();
        for (at, len) in writes.into_iter().flatten() {
            // No more than there is, whatever a header claims.
            let end = (at + len).min(after_all);
            for (from, to) in [(at, end.min(chunks_end)), (at.max(old.frame_len), end)] {
                if from < to {
                    pieces.push((from, stream.read_vec_at(disk.base + from, to - from)?));
                }
            }
        }
        Ok(Undo { old, images, pieces, size, moved: Progress::default() })
    }

    /// Length of the file before the change.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Moves bytes, so that they can be moved back.
    ///
    /// # Errors
    /// `FileRead`, `FileWrite`, `MemoryAlloc`.
    pub(crate) fn move_bytes(&mut self, stream: &IoStream, base: u64, moved: Move) -> Result<()> {
        move_bytes(stream, base, moved, &mut self.moved)
    }

    /// Puts everything back. It was there before, so it fits; what cannot be written was not overwritten either, and
    /// keeps nothing else from being put back.
    pub(crate) fn put_back(self, plan: &Plan<'_>, disk: &Disk, stream: &IoStream) {
        let Undo { old, images, pieces, size, moved } = self;
        let mut first_error = None;
        let mut note = |result: Result<()>| {
            if let Err(error) = result {
                first_error.get_or_insert(error);
            }
        };
        if let Some(there) = plan.moved {
            move_back(stream, disk.base, there, moved, &mut note);
        }
        let parts = [
            (old.index_at(), &images.index),
            (old.frame_len - old.trailer_len, &images.trailer),
            (0, &images.header),
        ];
        let pieces = pieces.iter().map(|(at, bytes)| (*at, bytes));
        for (at, bytes) in pieces.chain(parts).filter(|(_, bytes)| !bytes.is_empty()) {
            note(stream.write_at(disk.base + at, bytes, WriteShape::Bytes));
        }
        note(stream.truncate(size));
        if let Some(error) = first_error {
            trace::warning(|| {
                format!("a frame that could not be written could not be restored either: {error}")
            });
        }
    }
}

/// Moves bytes inside a file, segment by segment, so that none is overwritten before it was read.
///
/// # Errors
/// `FileRead`, `FileWrite`, `MemoryAlloc`; `progress` tells how far it came.
pub(crate) fn move_bytes(stream: &IoStream, base: u64, moved: Move, progress: &mut Progress) -> Result<()> {
    let mut spare = Vec::new();
    while progress.done < moved.len {
        let (at, len) = moved.segment(progress.done);
        resize(&mut spare, len)?;
        stream.read_exact_at(base + moved.from + at, &mut spare)?;
        progress.at = at;
        std::mem::swap(&mut spare, &mut progress.segment);
        stream.write_at(base + moved.to + at, &progress.segment, WriteShape::Bytes)?;
        progress.done += len;
    }
    progress.segment = Vec::new();
    Ok(())
}

impl Move {
    /// The segment that comes after `done` bytes: where it begins, counted from the start, and its length.
    fn segment(&self, done: u64) -> (u64, u64) {
        let len = (self.len - done).min(SEGMENT);
        let is_upwards = self.to > self.from;
        (if is_upwards { self.len - done - len } else { done }, len)
    }

    /// What brings the first `done` bytes that were moved back to their place.
    fn reversed(&self, done: u64) -> Move {
        let at = if self.to > self.from { self.len - done } else { 0 };
        Move { from: self.to + at, to: self.from + at, len: done }
    }
}

/// Moves back what [`move_bytes`] has moved.
fn move_back(
    stream: &IoStream,
    base: u64,
    moved: Move,
    progress: Progress,
    note: &mut dyn FnMut(Result<()>),
) {
    // Perhaps a part of it was overwritten by itself.
    if progress.done < moved.len && !progress.segment.is_empty() {
        let at = base + moved.from + progress.at;
        note(stream.write_at(at, &progress.segment, WriteShape::Bytes));
    }
    let back = moved.reversed(progress.done);
    let mut done = 0;
    while done < back.len {
        let (at, len) = back.segment(done);
        let segment = stream.read_vec_at(base + back.from + at, len).and_then(|segment| {
            let complete = segment.len() as u64 == len;
            if complete {
                Ok(segment)
            } else {
                Err::<_, Error>(err!(FileRead, "{len} bytes that were moved"))
            }
        });
        note(segment.and_then(|bytes| stream.write_at(base + back.to + at, &bytes, WriteShape::Bytes)));
        done += len;
    }
}
