//! The section of metalayers that header and trailer have in common (`frame.md` 1.3, 1.5, 4.5). Contents are bytes
//! here: compressed ones are not looked into.
//!
//! ```text
//! 93 | cd idx | de n | n x { a0+len, name, d2 offset } | dc n | n x { c6 length, content }
//! ```

#![forbid(unsafe_code)]

use super::msgpack::{Marker, Writer, i32_at, u16_at};
use crate::abi::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS, BLOSC2_METALAYER_NAME_MAXLEN};
use crate::err;
use crate::error::Result;

/// The longest name, in bytes.
pub(crate) const MAX_NAME_LEN: usize = BLOSC2_METALAYER_NAME_MAXLEN as usize;
/// The most metalayers that a header holds, and that a trailer is written with.
pub(crate) const MAX_WRITTEN: usize = BLOSC2_MAX_METALAYERS as usize;
/// The most metalayers that a trailer is read with.
pub(crate) const MAX_IN_TRAILER: usize = BLOSC2_MAX_VLMETALAYERS as usize;

/// Where the section of a header begins, in bytes: behind the fixed part.
pub(crate) const HEADER_SECTION: usize = 87;
/// Where the section begins in a trailer, in bytes.
pub(crate) const TRAILER_SECTION: usize = 2;
/// From the start of a section to its first entry, in bytes.
const FIRST_ENTRY: usize = 7;
/// From the start of a section to the marker of the map.
const MAP: usize = 4;
/// What an entry of the map takes besides the name: the name's marker, the offset's, the offset.
const ENTRY_OVERHEAD: usize = 6;
/// What a content takes besides its bytes: the marker and the length.
const CONTENT_OVERHEAD: usize = 5;
/// The number of contents after the map, with its marker.
const CONTENTS_HEAD: usize = 3;

/// A metalayer in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metalayer<'a> {
    /// Up to 31 bytes, without a NUL at the end.
    pub name: &'a [u8],
    /// The content; a whole chunk for one of variable length.
    pub content: &'a [u8],
}

/// The metalayers of a header, `header` being all of its bytes.
///
/// # Errors
/// `ReadBuffer` when the header ends too early, `Data` for what is no metalayer or more than 16 of them.
pub(crate) fn parse_header_section(header: &[u8]) -> Result<Vec<Metalayer<'_>>> {
    parse(header, HEADER_SECTION, MAX_WRITTEN)
}

/// The variable-length metalayers of a trailer, `trailer` being all of its bytes.
///
/// # Errors
/// `ReadBuffer` when the trailer ends too early, `Data` for what is no metalayer, more than 8192 of them, or contents
/// that overlap so much that they have 16 times the trailer's length.
pub(crate) fn parse_trailer_section(trailer: &[u8]) -> Result<Vec<Metalayer<'_>>> {
    parse(trailer, TRAILER_SECTION, MAX_IN_TRAILER)
}

/// Reads the section at `start` of `bytes`, from whose beginning offsets count, in the order of the reference's checks.
fn parse(bytes: &[u8], start: usize, max: usize) -> Result<Vec<Metalayer<'_>>> {
    let Some(&map) = bytes.get(start + MAP) else {
        return Err(err!(ReadBuffer, "no room for metalayers in {} bytes", bytes.len()));
    };
    if Marker::from_u8(map) != Marker::Map16 {
        return Err(err!(Data, "{map:#04x} where the map of metalayers is expected"));
    }
    let Some(count) = u16_at(bytes, start + MAP + 1).map(usize::from) else {
        return Err(err!(ReadBuffer, "no number of metalayers in {} bytes", bytes.len()));
    };
    if count > max {
        return Err(err!(Data, "{count} metalayers; {max} is the limit"));
    }
    let mut metalayers = Vec::new();
    metalayers.try_reserve_exact(count).map_err(|_| err!(MemoryAlloc, "{count} metalayers"))?;
    let mut pos = start + FIRST_ENTRY;
    let mut total = 0usize;
    for n in 0..count {
        let (metalayer, next) = parse_entry(bytes, pos, n)?;
        // Contents overlap in no frame that was ever written. Where thousands do, a small frame asks for a lot of memory.
        total = total.saturating_add(metalayer.content.len());
        if total > bytes.len().saturating_mul(MAX_WRITTEN) {
            return Err(err!(Data, "the contents of {} metalayers overlap", n + 1));
        }
        metalayers.push(metalayer);
        pos = next;
    }
    Ok(metalayers)
}

/// Reads the entry at `pos`, and its content; also where the next entry is.
fn parse_entry(bytes: &[u8], pos: usize, n: usize) -> Result<(Metalayer<'_>, usize)> {
    let ends = |what: &str| err!(ReadBuffer, "metalayer {n}: {what} beyond {} bytes", bytes.len());
    let &head = bytes.get(pos).ok_or_else(|| ends("the name"))?;
    let Marker::FixStr(name_len) = Marker::from_u8(head) else {
        return Err(err!(Data, "metalayer {n}: {head:#04x} where a name is expected"));
    };
    let name_end = pos + 1 + usize::from(name_len);
    let name = bytes.get(pos + 1..name_end).ok_or_else(|| ends("the name"))?;
    let &mark = bytes.get(name_end).ok_or_else(|| ends("the offset"))?;
    if Marker::from_u8(mark) != Marker::I32 {
        return Err(err!(Data, "metalayer {n}: {mark:#04x} where an offset is expected"));
    }
    let offset = i32_at(bytes, name_end + 1).ok_or_else(|| ends("the offset"))?;
    let at = match usize::try_from(offset) {
        Ok(at) if at < bytes.len() => at,
        _ => return Err(err!(Data, "metalayer {n}: offset {offset} of {} bytes", bytes.len())),
    };
    let len = i32_at(bytes, at + 1).ok_or_else(|| ends("the length"))?;
    if Marker::from_u8(bytes[at]) != Marker::Bin32 {
        return Err(err!(Data, "metalayer {n}: {:#04x} where a content is expected", bytes[at]));
    }
    let Ok(len) = usize::try_from(len) else {
        return Err(err!(Data, "metalayer {n}: a content of {len} bytes"));
    };
    let content = bytes[at + CONTENT_OVERHEAD..].get(..len).ok_or_else(|| ends("the content"))?;
    Ok((Metalayer { name, content }, name_end + ENTRY_OVERHEAD - 1))
}

/// What a section of these metalayers takes, in bytes.
///
/// # Errors
/// `InvalidParam` for a name of more than 31 bytes, or contents of more than 2 GB in all.
pub(crate) fn section_len(metalayers: &[Metalayer<'_>]) -> Result<usize> {
    let mut len = FIRST_ENTRY + CONTENTS_HEAD;
    for metalayer in metalayers {
        if metalayer.name.len() > MAX_NAME_LEN {
            let len = metalayer.name.len();
            return Err(err!(InvalidParam, "a name of {len} bytes; {MAX_NAME_LEN} is the limit"));
        }
        len = len
            .saturating_add(ENTRY_OVERHEAD + CONTENT_OVERHEAD + metalayer.name.len())
            .saturating_add(metalayer.content.len());
    }
    if i32::try_from(len).is_err() {
        return Err(err!(InvalidParam, "metalayers of {len} bytes"));
    }
    Ok(len)
}

/// Appends a section. Offsets count from the start of `out`; `idx_base` is how much of the section the size of the
/// map leaves out: 0 in a header, 1 in a trailer. There are at most [`MAX_WRITTEN`] metalayers, and their
/// [`section_len`] was asked for.
pub(super) fn write(out: &mut Writer, metalayers: &[Metalayer<'_>], idx_base: usize) {
    let map: usize = metalayers.iter().map(|m| ENTRY_OVERHEAD + m.name.len()).sum();
    let count = metalayers.len() as u16;
    let idx = (FIRST_ENTRY + map - idx_base) as u16;
    let mut offset = out.len() + FIRST_ENTRY + map + CONTENTS_HEAD;
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
