//! Carrying out a [`Plan`] in place: the parts of a frame are overwritten where they are (`frame.md` 2).
//!
//! The layout is the reference's. On native files the parts that touch are written at once and the header last, and
//! what a failed write has hit is put back. Other back-ends see the writes of the reference, in its order.

use super::FrameKind;
use super::disk::Disk;
use super::header::FRAME_LEN_POSITION;
use super::plan::{Layout, Move, Plan};
use crate::err;
use crate::error::Result;
use crate::io::{OpenMode, Stream, WriteShape};
use crate::malloc::Growing;
use crate::trace;

/// Bytes that are moved at a time.
const SEGMENT: u64 = 1 << 20;

/// What a frame file held before a change, besides chunks: enough to put it back as long as no chunk was moved or
/// overwritten.
#[derive(Default)]
pub struct Images {
    /// The header.
    pub header: Vec<u8>,
    /// The index chunk; empty without chunks.
    pub index: Vec<u8>,
    /// The trailer.
    pub trailer: Vec<u8>,
}

/// Carries out a plan in memory.
///
/// # Errors
/// `MemoryAlloc`; nothing has changed then.
pub fn in_memory(plan: &Plan<'_>, frame: &mut Growing) -> Result<()> {
    let to_usize = |at: u64| usize::try_from(at).map_err(|_| err!(MemoryAlloc, "a frame of {at} bytes"));
    let end_of_move = plan.moved.map_or(0, |moved| moved.to + moved.len);
    let needed = to_usize(plan.layout.frame_len.max(end_of_move))?.max(frame.bytes().len());
    frame.reserve(needed)?;
    if let Some(Move { from, to, len }) = plan.moved {
        let (from, to, len) = (to_usize(from)?, to_usize(to)?, to_usize(len)?);
        // Room behind the end is there by now.
        let end = to + len;
        let missing = end.saturating_sub(frame.bytes().len());
        if missing > 0 {
            frame.write_at(end - missing, &vec![0; missing])?;
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

/// Carries out a plan on disk. `before` is what the file held.
///
/// # Errors
/// `FileOpen`, `FileRead`, `FileWrite`, `FileTruncate`. Header, index and
/// trailer of native files are as before then, unless bytes had to be moved; a chunk that was being updated may be lost.
pub fn on_disk(plan: &Plan<'_>, disk: &Disk, old: &Layout, before: &Images) -> Result<()> {
    if !disk.backend.is_native() {
        return by_callbacks(plan, disk);
    }
    if let Some((number, bytes)) = plan.chunk_file {
        disk.write_chunk_file(number, bytes)?;
    }
    let stream = disk.backend.open(&disk.path, OpenMode::Update)?;
    if let Err(error) = natively(plan, disk, &stream) {
        if plan.moved.is_none() {
            restore(disk, &stream, old, before);
        }
        return Err(error);
    }
    remove_superseded(plan, disk, |_| true);
    Ok(())
}

fn natively(plan: &Plan<'_>, disk: &Disk, stream: &Stream) -> Result<()> {
    if let Some(moved) = plan.moved {
        move_bytes(stream, disk.base, moved)?;
    }
    let mut parts: Vec<(u64, &[u8])> = Vec::new();
    parts.extend(plan.payload);
    // Without chunks nobody reads an index, and the trailer takes its place.
    let has_index = plan.index.as_ref().zip(plan.trailer.as_ref()).is_none_or(|(i, t)| i.0 < t.0);
    if let Some((at, bytes)) = plan.index.as_ref().filter(|_| has_index) {
        parts.push((*at, bytes));
    }
    if let Some((at, bytes)) = &plan.trailer {
        parts.push((*at, bytes));
    }
    let mut rest = &parts[..];
    while let Some(&(at, _)) = rest.first() {
        let mut end = at;
        let touching = rest.iter().take_while(|part| {
            let touches = part.0 == end;
            end += part.1.len() as u64;
            touches
        });
        let run: Vec<&[u8]> = touching.map(|part| part.1).collect();
        stream.write_vectored_at(disk.base + at, &run)?;
        rest = &rest[run.len()..];
    }
    stream.write_at(disk.base, &plan.header, WriteShape::Item)?;
    let end = disk.base + plan.layout.frame_len;
    if plan.trailer.is_some() && stream.size()? > end {
        stream.truncate(end)?;
    }
    Ok(())
}

/// Puts the parts back that a failed change may have hit. They were there before, so they fit.
fn restore(disk: &Disk, stream: &Stream, old: &Layout, before: &Images) {
    let parts = [
        (old.index_at(), &before.index),
        (old.frame_len - old.trailer_len, &before.trailer),
        (0, &before.header),
    ];
    let put_back = |(at, bytes): (u64, &Vec<u8>)| {
        if bytes.is_empty() { Ok(()) } else { stream.write_at(disk.base + at, bytes, WriteShape::Bytes) }
    };
    let restored =
        parts.into_iter().try_for_each(put_back).and_then(|()| stream.truncate(disk.base + old.frame_len));
    if let Err(error) = restored {
        trace::warning(|| format!("a frame that could not be written could not be restored either: {error}"));
    }
}

/// Carries out a plan with the opens and writes of the reference (`frame.md` 5.2).
fn by_callbacks(plan: &Plan<'_>, disk: &Disk) -> Result<()> {
    let open = || disk.backend.open(&disk.path, OpenMode::Update);
    if let Some((number, bytes)) = plan.chunk_file {
        disk.write_chunk_file(number, bytes)?;
    }
    remove_superseded(plan, disk, |before_index| before_index);
    if let Some((at, bytes)) = &plan.index {
        let stream = open()?;
        if let Some(moved) = plan.moved {
            move_bytes(&stream, disk.base, moved)?;
        }
        match plan.payload {
            Some((at, bytes)) => stream.write_at(disk.base + at, bytes, WriteShape::Bytes)?,
            None if plan.layout.kind == FrameKind::Contiguous => {
                stream.write_at(disk.base + at, &[], WriteShape::Bytes)?;
            }
            None => {}
        }
        stream.write_at(disk.base + at, bytes, WriteShape::Bytes)?;
    }
    open()?.write_at(disk.base, &plan.header, WriteShape::Item)?;
    if let Some((at, bytes)) = &plan.trailer {
        {
            let stream = open()?;
            stream.write_at(disk.base + at, bytes, WriteShape::Bytes)?;
            stream.truncate(disk.base + plan.layout.frame_len)?;
        }
        let frame_len = plan.layout.frame_len.to_be_bytes();
        open()?.write_at(disk.base + FRAME_LEN_POSITION, &frame_len, WriteShape::Bytes)?;
    }
    remove_superseded(plan, disk, |before_index| !before_index);
    Ok(())
}

/// Removes the chunk file that nothing refers to, if its time has come. A file that stays is but an orphan.
fn remove_superseded(plan: &Plan<'_>, disk: &Disk, now: impl FnOnce(bool) -> bool) {
    if let Some((number, before_index)) = plan.removed_file
        && now(before_index)
        && let Err(error) = disk.remove_chunk_file(number)
    {
        trace::warning(|| format!("chunk file {number} stays behind: {error}"));
    }
}

/// Moves bytes inside a file, segment by segment, so that none is overwritten before it was read.
fn move_bytes(stream: &Stream, base: u64, moved: Move) -> Result<()> {
    let mut buffer = vec![0; usize::try_from(moved.len.min(SEGMENT)).unwrap_or(0)];
    let upwards = moved.to > moved.from;
    let mut done = 0;
    while done < moved.len {
        let len = (moved.len - done).min(SEGMENT);
        let at = if upwards { moved.len - done - len } else { done };
        let segment = &mut buffer[..len as usize];
        stream.read_exact_at(base + moved.from + at, segment)?;
        stream.write_at(base + moved.to + at, segment, WriteShape::Bytes)?;
        done += len;
    }
    Ok(())
}
