//! The metalayer section, which header and trailer have in common (`frame.md` 1.3, 1.5, 4.5). Contents are opaque bytes
//! here; compressed contents are not decoded.
//!
//! ```text
//! 93 | cd idx | de n | n x { a0+len, name, d2 offset } | dc n | n x { c6 length, content }
//! ```

#![forbid(unsafe_code)]

use super::msgpack::{Marker, MsgpackWriter, i32_at, u16_at};
use crate::abi::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS, BLOSC2_METALAYER_NAME_MAXLEN};
use crate::error::{Result, ensure, err};
use crate::fallible;

/// The maximum length of a name, in bytes.
pub(crate) const MAX_NAME_LEN: usize = BLOSC2_METALAYER_NAME_MAXLEN as usize;
/// The maximum number of metalayers in a header, and in a trailer that is written.
pub(crate) const MAX_METALAYERS: usize = BLOSC2_MAX_METALAYERS as usize;
/// The maximum number of metalayers in a trailer that is read.
pub(crate) const MAX_READ_VLMETALAYERS: usize = BLOSC2_MAX_VLMETALAYERS as usize;

/// Offset of the section in a header, in bytes: behind the fixed part.
pub(crate) const HEADER_SECTION_OFFSET: usize = 87;
/// Offset of the section in a trailer, in bytes.
pub(crate) const TRAILER_SECTION_OFFSET: usize = 2;
/// Offset of the first entry in a section, in bytes.
const FIRST_ENTRY_OFFSET: usize = 7;
/// Offset of the marker of the map in a section, in bytes.
const MAP_MARKER_OFFSET: usize = 4;
/// Size of an entry of the map without the name, in bytes: the marker of the name, the marker of the offset, the
/// offset.
const ENTRY_OVERHEAD: usize = 6;
/// Size of the marker and the length before a content, in bytes.
const CONTENT_OVERHEAD: usize = 5;
/// Size of the number of contents behind the map, with its marker, in bytes.
const CONTENTS_HEADER_LEN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metalayer<'a> {
    /// Up to 31 bytes, without a NUL at the end.
    pub name: &'a [u8],
    /// The content; a whole chunk for one of variable length.
    pub content: &'a [u8],
}

/// Parses the metalayers of a header. `header` is the whole header.
///
/// # Errors
/// `ReadBuffer` when the header ends inside the section, `Data` for an invalid marker, offset or length, and for more
/// than 16 metalayers.
pub(crate) fn parse_header_section(header: &[u8]) -> Result<Vec<Metalayer<'_>>> {
    parse(header, HEADER_SECTION_OFFSET, MAX_METALAYERS)
}

/// Parses the variable-length metalayers of a trailer. `trailer` is the whole trailer.
///
/// # Errors
/// `ReadBuffer` when the trailer ends inside the section, `Data` for an invalid marker, offset or length, for more than
/// 8192 metalayers, and for overlapping contents whose total length exceeds 16 times that of the trailer.
pub(crate) fn parse_trailer_section(trailer: &[u8]) -> Result<Vec<Metalayer<'_>>> {
    parse(trailer, TRAILER_SECTION_OFFSET, MAX_READ_VLMETALAYERS)
}

/// The name and the content of a metalayer.
pub(crate) type OwnedMetalayer = (Vec<u8>, Vec<u8>);

/// Returns copies of metalayers.
pub(crate) fn to_owned<'a>(
    metalayers: impl IntoIterator<Item = Metalayer<'a>>,
) -> Result<Vec<OwnedMetalayer>> {
    fallible::try_collect(metalayers.into_iter().map(Metalayer::to_owned))
}

/// Returns metalayers in borrowed form.
pub(crate) fn borrow(metalayers: &[OwnedMetalayer]) -> Result<Vec<Metalayer<'_>>> {
    fallible::collect(metalayers.iter().map(|(name, content)| Metalayer { name, content }))
}

impl Metalayer<'_> {
    pub(crate) fn to_owned(self) -> Result<OwnedMetalayer> {
        Ok((fallible::copy_of(self.name)?, fallible::copy_of(self.content)?))
    }
}

/// Parses the section at `start` of `bytes`, with the checks of the reference in their order. Offsets of the section
/// count from the start of `bytes`.
fn parse(bytes: &[u8], start: usize, max: usize) -> Result<Vec<Metalayer<'_>>> {
    let Some(&map) = bytes.get(start + MAP_MARKER_OFFSET) else {
        return Err(err!(ReadBuffer, "{} bytes end before the map of metalayers", bytes.len()));
    };
    if Marker::from_u8(map) != Marker::Map16 {
        return Err(err!(Data, "the marker of the map of metalayers is {map:#04x}, expected 0xde"));
    }
    let Some(count) = u16_at(bytes, start + MAP_MARKER_OFFSET + 1).map(usize::from) else {
        return Err(err!(ReadBuffer, "{} bytes end before the number of metalayers", bytes.len()));
    };
    ensure!(count <= max, Data, "{count} metalayers, expected at most {max}");
    let mut metalayers = fallible::vec_with_capacity(count)?;
    let mut pos = start + FIRST_ENTRY_OFFSET;
    let mut total = 0usize;
    for n in 0..count {
        let (metalayer, next) = parse_entry(bytes, pos, n)?;
        // No writer makes contents overlap. A crafted frame with thousands of overlapping contents would need much more
        // memory than its own size.
        total = total.saturating_add(metalayer.content.len());
        if total > bytes.len().saturating_mul(MAX_METALAYERS) {
            let len = bytes.len();
            return Err(err!(Data, "contents of {} metalayers overlap: {total} bytes within {len}", n + 1));
        }
        metalayers.push(metalayer);
        pos = next;
    }
    Ok(metalayers)
}

/// Parses the entry at `pos`, and its content. Also returns the offset of the next entry.
fn parse_entry(bytes: &[u8], pos: usize, n: usize) -> Result<(Metalayer<'_>, usize)> {
    let ends = |what: &str| err!(ReadBuffer, "metalayer {n}: {what} is not inside the {} bytes", bytes.len());
    let &head = bytes.get(pos).ok_or_else(|| ends("the name"))?;
    let Marker::FixStr(name_len) = Marker::from_u8(head) else {
        return Err(err!(
            Data,
            "metalayer {n}: the marker of the name is {head:#04x}, expected 0xa0 to 0xbf"
        ));
    };
    let name_end = pos + 1 + usize::from(name_len);
    let name = bytes.get(pos + 1..name_end).ok_or_else(|| ends("the name"))?;
    let &mark = bytes.get(name_end).ok_or_else(|| ends("the offset"))?;
    if Marker::from_u8(mark) != Marker::I32 {
        return Err(err!(Data, "metalayer {n}: the marker of the offset is {mark:#04x}, expected 0xd2"));
    }
    let offset = i32_at(bytes, name_end + 1).ok_or_else(|| ends("the offset"))?;
    let at = match usize::try_from(offset) {
        Ok(at) if at < bytes.len() => at,
        _ => {
            let len = bytes.len();
            return Err(err!(Data, "metalayer {n}: the content offset {offset} is outside {len} bytes"));
        }
    };
    let len = i32_at(bytes, at + 1).ok_or_else(|| ends("the length"))?;
    ensure!(
        Marker::from_u8(bytes[at]) == Marker::Bin32,
        Data,
        "metalayer {n}: the marker of the content is {:#04x}, expected 0xc6",
        bytes[at],
    );
    let Ok(len) = usize::try_from(len) else {
        return Err(err!(Data, "metalayer {n}: the content length is {len}, expected 0 or more"));
    };
    let content = bytes[at + CONTENT_OVERHEAD..].get(..len).ok_or_else(|| ends("the content"))?;
    Ok((Metalayer { name, content }, name_end + ENTRY_OVERHEAD - 1))
}

/// Returns the length of a section with these metalayers, in bytes.
pub(crate) fn section_len(metalayers: &[Metalayer<'_>]) -> Result<usize> {
    let mut len = FIRST_ENTRY_OFFSET + CONTENTS_HEADER_LEN;
    for metalayer in metalayers {
        if metalayer.name.len() > MAX_NAME_LEN {
            let len = metalayer.name.len();
            return Err(err!(InvalidParam, "the name has {len} bytes, expected at most {MAX_NAME_LEN}"));
        }
        len = len
            .saturating_add(ENTRY_OVERHEAD + CONTENT_OVERHEAD + metalayer.name.len())
            .saturating_add(metalayer.content.len());
    }
    if i32::try_from(len).is_err() {
        return Err(err!(InvalidParam, "the metalayers have {len} bytes, expected at most {}", i32::MAX));
    }
    Ok(len)
}

/// Appends a section. Offsets count from the start of `out`. `idx_base` is the number of bytes that the stored size of
/// the map omits: 0 in a header, 1 in a trailer. The caller has checked the metalayers with [`section_len`], and passes
/// at most [`MAX_METALAYERS`] of them.
pub(in crate::frame) fn write_section(
    out: &mut MsgpackWriter,
    metalayers: &[Metalayer<'_>],
    idx_base: usize,
) {
    let map: usize = metalayers.iter().map(|m| ENTRY_OVERHEAD + m.name.len()).sum();
    let count = metalayers.len() as u16;
    let idx = (FIRST_ENTRY_OFFSET + map - idx_base) as u16;
    let mut offset = out.len() + FIRST_ENTRY_OFFSET + map + CONTENTS_HEADER_LEN;
    out.fixarray(3).uint16(idx).map16(count);
    for metalayer in metalayers {
        out.fixstr(metalayer.name).int32(offset as i32);
        offset += CONTENT_OVERHEAD + metalayer.content.len();
    }
    out.array16(count);
    for metalayer in metalayers {
        out.bin32(metalayer.content);
    }
}
