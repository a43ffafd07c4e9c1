//! Recognising headers and trailers by their own bytes, whatever the lengths stored elsewhere say.

use crate::error::Result;
use crate::frame::format::checksums::{TABLE_HEAD_LEN, stated_table_len};
use crate::frame::format::header::FIXED_HEADER_LEN;
use crate::frame::format::metalayers::MAX_READ_VLMETALAYERS;
use crate::frame::format::msgpack::{Marker, i32_at, u16_at, u32_at};
use crate::frame::recovery::check::files::FrameFiles;

/// Number of bytes that are read at once.
const WINDOW_LEN: u64 = 256 << 10;
/// Number of bytes before the requested ones that are read with them: the marker and the length of a content.
const LOOK_BACK: u64 = 8;

/// The bytes of a file around the current position.
pub(super) struct FileWindow<'a> {
    files: &'a FrameFiles,
    /// Offset in the frame of the first byte of `bytes`.
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> FileWindow<'a> {
    /// Creates a window without bytes.
    pub(super) fn new(files: &'a FrameFiles) -> FileWindow<'a> {
        FileWindow { files, start: 0, bytes: Vec::new() }
    }

    pub(super) fn file_len(&self) -> u64 {
        self.files.len()
    }

    /// Returns the `len` bytes at `at`, fewer at the end of the file.
    pub(super) fn slice(&mut self, at: u64, len: u64) -> Result<&[u8]> {
        let available = self.files.len().saturating_sub(at);
        let len = len.min(available);
        if len == 0 {
            return Ok(&[]);
        }
        let is_inside = at >= self.start && at + len <= self.start + self.bytes.len() as u64;
        if !is_inside {
            let start = at.saturating_sub(LOOK_BACK);
            let end = at + len.max(WINDOW_LEN).min(available);
            self.files.read_into(start, end - start, &mut self.bytes)?;
            self.start = start;
        }
        let from = (at - self.start) as usize;
        Ok(&self.bytes[from..from + len as usize])
    }
}

/// Returns the end of the section of metalayers that begins at `at`, if there is a well-formed one: the contents follow
/// the map and each other without gaps, as all writers write them.
pub(super) fn section_end(window: &mut FileWindow<'_>, at: u64) -> Result<Option<u64>> {
    let head = window.slice(at, 7)?;
    let count = match (head, u16_at(head, 5)) {
        ([0x93, 0xcd, _, _, 0xde, ..], Some(count)) if usize::from(count) <= MAX_READ_VLMETALAYERS => count,
        _ => return Ok(None),
    };
    let mut pos = at + 7;
    for _ in 0..count {
        let entry = window.slice(pos, 1 + 31 + 5)?;
        let Some(Marker::FixStr(len)) = entry.first().map(|&head| Marker::from_u8(head)) else {
            return Ok(None);
        };
        let name_end = 1 + usize::from(len);
        if entry.get(name_end) != Some(&Marker::I32.to_u8()) || i32_at(entry, name_end + 1).is_none() {
            return Ok(None);
        }
        pos += name_end as u64 + 5;
    }
    let head = window.slice(pos, 3)?;
    if head.first() != Some(&Marker::Array16.to_u8()) || u16_at(head, 1) != Some(count) {
        return Ok(None);
    }
    pos += 3;
    for _ in 0..count {
        let head = window.slice(pos, 5)?;
        let len = i32_at(head, 1).and_then(|len| u64::try_from(len).ok());
        let (Some(Marker::Bin32), Some(len)) = (head.first().map(|&head| Marker::from_u8(head)), len) else {
            return Ok(None);
        };
        pos += 5 + len;
    }
    Ok((pos <= window.file_len()).then_some(pos))
}

/// Returns the end of the trailer that begins at `at`, if there is a well-formed one.
pub(super) fn trailer_end(window: &mut FileWindow<'_>, at: u64) -> Result<Option<u64>> {
    if window.slice(at, 2)? != [0x94, 0x01] {
        return Ok(None);
    }
    let Some(section_end) = section_end(window, at + 2)? else { return Ok(None) };
    const END_LEN: u64 = 23;
    let end = window.slice(section_end, END_LEN)?;
    let len = section_end + END_LEN - at;
    let is_end = end.len() as u64 == END_LEN
        && end[0] == Marker::U32.to_u8()
        && u32_at(end, 1).map(u64::from) == Some(len)
        && end[5] == Marker::FixExt16.to_u8();
    Ok(is_end.then_some(at + len))
}

/// Returns the length of the table of checksums that begins at `at`, if a well-formed trailer follows it; 0 if the
/// trailer begins at `at`, `None` without a trailer.
pub(super) fn table_len_before_trailer(window: &mut FileWindow<'_>, at: u64) -> Result<Option<u64>> {
    let len = stated_table_len(window.slice(at, TABLE_HEAD_LEN as u64)?).unwrap_or(0);
    Ok(trailer_end(window, at.saturating_add(len))?.map(|_| len))
}

/// Returns the length of the header, from its section of metalayers.
pub(super) fn header_len_from_section(window: &mut FileWindow<'_>) -> Result<Option<usize>> {
    let end = section_end(window, FIXED_HEADER_LEN as u64)?;
    Ok(end.and_then(|end| i32::try_from(end).ok()).and_then(|end| usize::try_from(end).ok()))
}
