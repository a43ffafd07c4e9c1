//! Execution of a [`FramePlan`] in place: the parts of a frame are overwritten where they are (`frame.md` 2).
//!
//! The layout is that of the reference (C-Blosc2 3.3.5). On native files (plain files of the operating system, without
//! mapping and callbacks), adjacent parts are written in one call and the header is written last; after a failed write
//! the overwritten bytes are restored ([`super::undo`]). Other back-ends receive the same writes as from the reference,
//! in the same order.

use super::disk::Disk;
use super::undo::{self, FileUndo, Restoration};
use super::undo_log::{ChangeUndo, OldChunkFile, UndoLog};
use crate::err;
use crate::error::Result;
use crate::frame::FrameKind;
use crate::frame::format::header::FRAME_LEN_POSITION;
use crate::frame::format::plan::{FrameLayout, FramePlan, Images, Move, RemovalTime};
use crate::io::{IoStream, OpenMode, WriteUnit};
use crate::malloc::MallocVec;
use crate::trace;

/// Executes a plan in memory.
///
/// # Errors
/// `MemoryAlloc`; the frame is unchanged then.
pub(crate) fn write_in_memory(plan: &FramePlan<'_>, frame: &mut MallocVec) -> Result<()> {
    let to_usize = |at: u64| usize::try_from(at).map_err(|_| err!(MemoryAlloc, "a frame of {at} bytes"));
    let end_of_move = plan.moved.map_or(0, |moved| moved.to + moved.len);
    let needed = to_usize(plan.layout.frame_len.max(end_of_move))?.max(frame.bytes().len());
    frame.reserve(needed)?;
    if let Some(Move { from, to, len }) = plan.moved {
        let (from, to, len) = (to_usize(from)?, to_usize(to)?, to_usize(len)?);
        // The capacity behind the end was reserved above.
        let end = to + len;
        let missing = end.saturating_sub(frame.bytes().len());
        if missing > 0 {
            frame.write_at(end, &[])?;
        }
        frame.bytes_mut()?.copy_within(from..from + len, to);
    }
    let payload = plan.payload.iter().map(|&(at, bytes)| (at, bytes));
    let index = plan.index.iter().map(|(at, bytes)| (*at, &bytes[..]));
    let trailer = plan.trailer.iter().map(|(at, bytes)| (*at, &bytes[..]));
    for (at, bytes) in payload.chain(index).chain([(0, &plan.header[..])]).chain(trailer) {
        frame.write_at(to_usize(at)?, bytes)?;
    }
    frame.truncate(to_usize(plan.layout.frame_len)?);
    Ok(())
}

/// Executes a plan on disk. `old` and `before` are the layout and the contents of the file before the change. Files of
/// removed chunks are added to `log`, if there is one, and are not removed; neither are files cut off. Returns what
/// reverts the change; `None` for other back-ends than native files.
///
/// # Errors
/// `FileOpen`, `FileRead`, `FileWrite`, `FileTruncate`, `MemoryAlloc`; `FileWrite` also if other data follow the frame in
/// its file. Native files are restored to their state before the change.
pub(in crate::frame) fn write_on_disk(
    plan: &FramePlan<'_>,
    disk: &Disk,
    old: &FrameLayout,
    before: &Images,
    mut log: Option<&mut UndoLog>,
) -> Result<Option<ChangeUndo>> {
    if !disk.backend.is_native() {
        // A back-end of the program may give no size: C-Blosc2 does not request that of a contiguous frame.
        if let Ok(size) = disk.with_reader(IoStream::size) {
            disk.check_end_of_file(old, &before.header, size)?;
        }
        return write_by_callbacks(plan, disk).map(|()| None);
    }
    let number = plan.chunk_file.map(|file| file.number);
    // A file whose removal is deferred is overwritten.
    let reused =
        log.as_mut().and_then(|log| log.deferred_removals().iter().position(|&other| Some(other) == number));
    let chunk_file = plan.chunk_file.map(|file| {
        disk.write_chunk_file_guarded(file.number, file.bytes, file.is_replacement || reused.is_some())
    });
    let chunk_file = chunk_file.transpose()?;
    let stream = disk.backend.open(&disk.path, OpenMode::Update)?;
    let is_cut = log.is_none();
    if let Some(log) = &mut log {
        log.reserve_files()?;
    }
    let mut undo = FileUndo::read(plan, disk, &stream, old, is_cut)?;
    if log.as_ref().is_none_or(|log| !log.has_deferred_cut()) {
        disk.check_end_of_file(old, &before.header, undo.size())?;
    }
    let end_of_file = write_native(plan, disk, &stream, &mut undo);
    let written = end_of_file.and_then(|len| {
        let len = len.saturating_sub(disk.base);
        match (&mut log, plan.end_mark(len)) {
            (Some(log), Some((at, mark))) => {
                log.defer_cut();
                stream.write_at(disk.base + at, mark, WriteUnit::Bytes)
            }
            (None, _) if plan.is_cutting(len) => stream.truncate(disk.base + plan.layout.frame_len),
            _ => Ok(()),
        }
    });
    let committed = written.and_then(|()| chunk_file.map(|file| file.commit(is_cut)).transpose());
    let old_chunk = match committed {
        Ok(old_chunk) => old_chunk,
        Err(error) => {
            let (mut restoration, size) = (Restoration::default(), undo.size());
            undo.restore(disk, &stream, &mut restoration);
            restoration.write_images(disk, &stream, old, before, size);
            restoration.finish();
            return Err(error);
        }
    };
    let removed = plan.removed_file.map(|(number, _)| number);
    if let (Some(log), Some(file), Some(Some(old))) = (&mut log, plan.chunk_file, &old_chunk)
        && old.len_in_memory() > file.bytes.len()
    {
        log.defer_cut_of_chunk_file(file.number);
    }
    match log.map(UndoLog::deferred_removals) {
        Some(deferred) => {
            if let Some(reused) = reused {
                deferred.swap_remove(reused);
            }
            deferred.extend(removed);
        }
        None => removed.into_iter().for_each(|number| remove_superseded(disk, number)),
    }
    let was_deferred = reused.is_some();
    let chunk_file =
        number.zip(old_chunk).map(|(number, chunk)| OldChunkFile { number, chunk, was_deferred });
    Ok(Some(ChangeUndo { file: undo, chunk_file, removed }))
}

/// Writes the parts of a plan. Returns the length of the file afterwards, in bytes.
fn write_native(plan: &FramePlan<'_>, disk: &Disk, stream: &IoStream, undo: &mut FileUndo) -> Result<u64> {
    let mut size = undo.size();
    undo.move_bytes(stream, disk.base)?;
    if let Some(moved) = plan.moved {
        size = size.max(disk.base + moved.to + moved.len);
    }
    // Readers do not read the index of a frame without chunks, and the trailer is written in its place.
    let has_index = plan.index.as_ref().zip(plan.trailer.as_ref()).is_none_or(|(i, t)| i.0 < t.0);
    let index = plan.index.as_ref().filter(|_| has_index).map(|(at, bytes)| (*at, &bytes[..]));
    let trailer = plan.trailer.as_ref().map(|(at, bytes)| (*at, &bytes[..]));
    let mut parts = [plan.payload, index, trailer].into_iter().flatten().peekable();
    while let Some((at, bytes)) = parts.next() {
        // Parts that follow each other are written in one call. No memory is allocated between the writes.
        let (mut run, mut len) = ([bytes, &[], &[]], 1);
        let mut end = at + bytes.len() as u64;
        while let Some((_, bytes)) = parts.next_if(|part| part.0 == end) {
            run[len] = bytes;
            len += 1;
            end += bytes.len() as u64;
        }
        stream.write_vectored_at(disk.base + at, &run[..len])?;
        size = size.max(disk.base + end);
    }
    stream.write_at(disk.base, &plan.header, WriteUnit::Item)?;
    Ok(size)
}

/// Executes a plan with the same sequence of open and write callbacks as the reference (`frame.md` 5.2).
fn write_by_callbacks(plan: &FramePlan<'_>, disk: &Disk) -> Result<()> {
    let open = || disk.backend.open(&disk.path, OpenMode::Update);
    if let Some(file) = plan.chunk_file {
        disk.write_chunk_file(file.number, file.bytes)?;
    }
    if let Some((number, RemovalTime::BeforeIndex)) = plan.removed_file {
        remove_superseded(disk, number);
    }
    if let Some((at, bytes)) = &plan.index {
        let stream = open()?;
        if let Some(moved) = plan.moved {
            undo::move_bytes(&stream, disk.base, moved, &mut undo::MoveProgress::default())?;
        }
        match plan.payload {
            Some((at, bytes)) => stream.write_at(disk.base + at, bytes, WriteUnit::Bytes)?,
            None if plan.layout.kind == FrameKind::Contiguous => {
                stream.write_at(disk.base + at, &[], WriteUnit::Bytes)?;
            }
            None => {}
        }
        stream.write_at(disk.base + at, bytes, WriteUnit::Bytes)?;
    }
    open()?.write_at(disk.base, &plan.header, WriteUnit::Item)?;
    if let Some((at, bytes)) = &plan.trailer {
        {
            let stream = open()?;
            stream.write_at(disk.base + at, bytes, WriteUnit::Bytes)?;
            stream.truncate(disk.base + plan.layout.frame_len)?;
        }
        let frame_len = plan.layout.frame_len.to_be_bytes();
        open()?.write_at(disk.base + FRAME_LEN_POSITION, &frame_len, WriteUnit::Bytes)?;
    }
    if let Some((number, RemovalTime::AtEnd)) = plan.removed_file {
        remove_superseded(disk, number);
    }
    Ok(())
}

/// Removes a chunk file that is no longer referenced. A file that cannot be removed stays as an orphan, without an
/// error.
pub(in crate::frame) fn remove_superseded(disk: &Disk, number: u64) {
    if let Err(error) = disk.remove_chunk_file(number) {
        trace::warning(|| format!("chunk file {number} could not be removed: {error}"));
    }
}
