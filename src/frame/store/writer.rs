//! Execution of a [`FramePlan`] in place: the parts of a frame are overwritten where they are (`frame.md` 2).
//!
//! The layout is that of the reference (C-Blosc2 3.3.5). On native files (plain files of the operating system, without
//! mapping and callbacks), adjacent parts are written in one call and the header is written last; after a failed write
//! the overwritten bytes are restored ([`super::undo_log`]). Other back-ends receive the same writes as from the reference,
//! in the same order.

use super::disk::Disk;
use super::undo_log::{FileState, UndoLog};
use crate::error::{Result, err};
use crate::frame::FrameKind;
use crate::frame::format::header::FRAME_LEN_POSITION;
use crate::frame::format::plan::{FrameLayout, FramePlan, Move, RemovalTime};
use crate::io::{IoStream, OpenMode, WriteUnit};
use crate::malloc::MallocVec;

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

/// Executes a plan on disk. `before` is the state of the frame before the change. On native files, what reverts the
/// change is added to `log`.
///
/// # Errors
/// `FileOpen`, `FileRead`, `FileWrite`, `FileTruncate`, `MemoryAlloc`; `FileWrite` also if other data follow the frame in
/// its file. Native files are restored to their state before the change.
pub(in crate::frame) fn write_on_disk(
    plan: &FramePlan<'_>,
    disk: &Disk,
    before: &FileState,
    log: &mut UndoLog,
) -> Result<()> {
    let (old, header) = (&before.layout, &before.images.header);
    if !disk.backend.is_native() {
        // A back-end of the program may give no size: C-Blosc2 does not request that of a contiguous frame.
        if let Ok(size) = disk.reader().and_then(|reader| reader.size()) {
            disk.check_end_of_file(old, header, size)?;
        }
        return write_by_callbacks(plan, disk);
    }
    let stream = disk.backend.open(disk.path(), OpenMode::Update)?;
    let size = stream.size()?;
    if !log.has_deferred_cut() {
        disk.check_end_of_file(old, header, size)?;
    }
    let mark = log.begin_change(before, size)?;
    let written = save_overwritten(plan, disk, &stream, old, size, log)
        .and_then(|()| write_native(plan, disk, &stream, size, log));
    match &written {
        Ok(()) => log.complete_change(mark, disk),
        Err(_) => log.undo_change(mark, disk, &stream, before, size),
    }
    written
}

/// Adds the bytes that a plan overwrites to `log`, except those of the images. `size` is the length of the file in
/// bytes.
fn save_overwritten(
    plan: &FramePlan<'_>,
    disk: &Disk,
    stream: &IoStream,
    old: &FrameLayout,
    size: u64,
    log: &mut UndoLog,
) -> Result<()> {
    let bytes_in_file = size.saturating_sub(disk.base);
    let end_mark = plan.end_mark(bytes_in_file).filter(|_| log.has_transaction());
    let moved = plan.moved.map(|moved| (moved.to, moved.len));
    let parts = plan.parts_behind_header().into_iter().chain([end_mark]).flatten();
    let writes = moved.into_iter().chain(parts.map(|(at, bytes)| (at, bytes.len() as u64)));
    // Moved bytes can be read at their new place, so they are not saved. The bytes behind the frame may be chunks of
    // the state before the transaction.
    let chunks_end = plan.moved.map_or(old.index_offset(), |moved| moved.from);
    for (at, len) in writes {
        // At most the bytes that the file has: a damaged header may claim more.
        let end = (at + len).min(bytes_in_file);
        for (from, to) in [(at, end.min(chunks_end)), (at.max(old.frame_len), end)] {
            if from < to {
                log.save(stream, disk.base + from, to - from)?;
            }
        }
    }
    Ok(())
}

/// Writes the parts of a plan to native files. `size` is the length of the file before, in bytes.
fn write_native(
    plan: &FramePlan<'_>,
    disk: &Disk,
    stream: &IoStream,
    mut size: u64,
    log: &mut UndoLog,
) -> Result<()> {
    if let Some(file) = plan.chunk_file {
        log.write_chunk_file(disk.chunk_files()?, file)?;
    }
    if let Some((number, _)) = plan.removed_file {
        log.defer_removal(number)?;
    }
    if let Some(moved) = plan.moved.map(|moved| moved.behind(disk.base)) {
        log.move_bytes(stream, moved)?;
        size = size.max(moved.to + moved.len);
    }
    let mut parts = plan.parts_behind_header().into_iter().flatten().peekable();
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
    let len = size.saturating_sub(disk.base);
    if let Some((at, mark)) = plan.end_mark(len) {
        if log.has_transaction() {
            log.defer_cut();
            stream.write_at(disk.base + at, mark, WriteUnit::Bytes)?;
        } else {
            stream.truncate(disk.base + plan.layout.frame_len)?;
        }
    }
    log.cut_chunk_file()
}

/// Executes a plan with the same sequence of open and write callbacks as the reference (`frame.md` 5.2).
fn write_by_callbacks(plan: &FramePlan<'_>, disk: &Disk) -> Result<()> {
    let open = || disk.backend.open(disk.path(), OpenMode::Update);
    if let Some(file) = plan.chunk_file {
        disk.chunk_files()?.write(file.number, file.bytes)?;
    }
    if let Some((number, RemovalTime::BeforeIndex)) = plan.removed_file {
        disk.chunk_files()?.remove(number);
    }
    if let Some((at, bytes)) = &plan.index {
        let stream = open()?;
        if let Some(moved) = plan.moved {
            // Nothing reverts a change by callbacks.
            UndoLog::default().move_bytes(&stream, moved.behind(disk.base))?;
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
        disk.chunk_files()?.remove(number);
    }
    Ok(())
}
