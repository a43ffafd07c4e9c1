//! Finding the chunks of a contiguous frame whose index is lost: every byte of the file may begin a chunk, an index or a
//! trailer.

use super::sections::{FileWindow, table_len_before_trailer, trailer_end};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, codec_format, flag2, offset, version};
use crate::chunk::{ChunkHeader, SpecialValue};
use crate::codec::BuiltInCodec;
use crate::error::Result;
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::{FrameHeader, has_magic};
use crate::frame::format::index::{self, Offsets, decode_entry};
use crate::frame::format::units::record_of;
use crate::frame::recovery::check::chunks::{ChunkChecker, cbytes_of};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::report::damage_of;
use crate::registry;
use std::ops::Range;

/// Limit for the bytes that are read and decoded for what turns out to be no chunk: 64 MiB, and 4096 bytes for each byte
/// of the file. Bytes that look like chunks again and again would otherwise take hours.
const WASTE_LIMIT_BASE: u64 = 64 << 20;
/// Factor of the limit at [`WASTE_LIMIT_BASE`].
const WASTE_LIMIT_FACTOR: u64 = 4096;

/// Length of the marker and the length before the content of a metalayer, in bytes.
const CONTENT_HEAD_LEN: u64 = 5;

/// A whole chunk in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundChunk {
    /// Offset in the frame in bytes.
    pub at: u64,
    /// Compressed size in bytes.
    pub cbytes: u32,
    /// Length of the record behind the chunk, in bytes; 0 without one.
    pub record_len: u32,
    /// Uncompressed size in bytes.
    pub nbytes: i32,
}

impl FoundChunk {
    /// Returns the offset behind the chunk and its record.
    fn end(&self) -> u64 {
        self.at + u64::from(self.cbytes) + u64::from(self.record_len)
    }
}

/// An index chunk in the file.
pub(super) struct FoundIndex {
    /// Offset in the frame in bytes.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    pub offsets: Offsets,
}

/// The properties of the chunks that are looked for.
#[derive(Clone, Copy)]
pub(super) struct ScanRules {
    /// The item size in their headers; `None` for that of the first chunk.
    pub typesize: Option<u8>,
    /// Their uncompressed size, which one chunk may fall short of; `None` for any size.
    pub chunksize: Option<i32>,
    /// Whether the file has chunks; the index file of a directory has none.
    pub has_chunks: bool,
}

impl ScanRules {
    pub(super) fn of_frame(header: &FrameHeader) -> ScanRules {
        ScanRules {
            // Chunks store larger item sizes as 1.
            typesize: (header.typesize > 0).then(|| u8::try_from(header.typesize).unwrap_or(1)),
            chunksize: (header.chunksize > 0).then_some(header.chunksize),
            has_chunks: header.kind == FrameKind::Contiguous,
        }
    }
}

/// The parts that were found.
#[derive(Default)]
pub(super) struct Findings {
    /// The chunks, in the order of their places.
    pub chunks: Vec<FoundChunk>,
    /// The index behind the last chunk.
    pub index: Option<FoundIndex>,
    /// The trailer behind the last chunk.
    pub trailer: Option<Range<u64>>,
    /// The bytes that belong to no part.
    pub gaps: Vec<Range<u64>>,
}

/// A part at the current position.
enum FoundPart {
    Chunk(FoundChunk),
    Index(FoundIndex),
    /// A table of checksums of that length.
    Table(u64),
    Trailer(u64),
    /// The header of the next frame in the same file.
    NextFrame,
}

/// Finds the parts of the frame from `range.start` to `range.end`, or to the next frame in the file.
pub(super) fn scan(
    files: &FrameFiles,
    checker: &ChunkChecker<'_>,
    range: Range<u64>,
    rules: ScanRules,
) -> Result<Findings> {
    let waste_left = WASTE_LIMIT_BASE.saturating_add(files.len().saturating_mul(WASTE_LIMIT_FACTOR));
    let mut scanner = Scanner {
        window: FileWindow::new(files),
        checker,
        end: range.end.min(files.len()),
        start: range.start,
        rules,
        waste_left,
        found: Findings::default(),
    };
    scanner.run()?;
    Ok(scanner.found)
}

struct Scanner<'a> {
    window: FileWindow<'a>,
    checker: &'a ChunkChecker<'a>,
    start: u64,
    end: u64,
    rules: ScanRules,
    /// See [`WASTE_LIMIT_BASE`].
    waste_left: u64,
    found: Findings,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<()> {
        let (mut at, mut gap_start) = (self.start, self.start);
        let mut ahead = None;
        while at < self.end && self.waste_left > 0 {
            let part = match ahead.take() {
                Some(part) => Some(part),
                None => self.part_at(at)?,
            };
            let Some(part) = part else {
                at += 1;
                continue;
            };
            if let FoundPart::Chunk(chunk) = &part {
                ahead = self.part_at(chunk.end())?;
                if ahead.is_none()
                    && let Some(torn_end) = self.end_of_torn_chunk(chunk)?
                {
                    at = torn_end;
                    continue;
                }
            }
            if gap_start < at {
                fallible::push(&mut self.found.gaps, gap_start..at)?;
            }
            let Some(end) = self.record(at, part)? else { return Ok(()) };
            (at, gap_start) = (end, end);
        }
        if gap_start < self.end {
            fallible::push(&mut self.found.gaps, gap_start..self.end)?;
        }
        Ok(())
    }

    /// Records the part at `at`. Returns its end; `None` for the header of the next frame.
    fn record(&mut self, at: u64, part: FoundPart) -> Result<Option<u64>> {
        Ok(match part {
            FoundPart::NextFrame => None,
            FoundPart::Table(len) => Some(at + len),
            FoundPart::Trailer(end) => {
                self.found.trailer = Some(at..end);
                Some(end)
            }
            FoundPart::Index(index) => {
                let end = at + index.len;
                self.found.index = Some(index);
                Some(end)
            }
            FoundPart::Chunk(chunk) => {
                // An index and a trailer before a chunk are those of an earlier state.
                (self.found.index, self.found.trailer) = (None, None);
                fallible::push(&mut self.found.chunks, chunk)?;
                Some(chunk.end())
            }
        })
    }

    /// Returns the place of a chunk that begins inside `chunk` and ends behind it. That chunk was written later, so
    /// `chunk` is torn, although it can be decoded: an update that moves chunks was interrupted.
    fn end_of_torn_chunk(&mut self, chunk: &FoundChunk) -> Result<Option<u64>> {
        if chunk.end() >= self.end {
            return Ok(None);
        }
        for at in chunk.at + 1..chunk.end() {
            if let Some(FoundPart::Chunk(inner)) = self.part_at(at)?
                && inner.end() > chunk.end()
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn part_at(&mut self, at: u64) -> Result<Option<FoundPart>> {
        let head = self.window.slice(at, EXTENDED_HEADER_LENGTH as u64)?;
        match head.first() {
            Some(0x94) => Ok(trailer_end(&mut self.window, at)?.map(FoundPart::Trailer)),
            Some(b'b') => {
                let len = table_len_before_trailer(&mut self.window, at)?;
                Ok(len.filter(|&len| len > 0).map(FoundPart::Table))
            }
            Some(0x9e) if at > self.start && has_magic(head) => Ok(Some(FoundPart::NextFrame)),
            Some(&first) if (version::BLOSC1..=version::VL_BLOCKS).contains(&first) => {
                let Ok(head) = <[u8; EXTENDED_HEADER_LENGTH]>::try_from(head) else { return Ok(None) };
                self.chunk_at(at, &head)
            }
            _ => Ok(None),
        }
    }

    /// Returns the chunk or the index at `at`, whose first bytes are `head`.
    fn chunk_at(&mut self, at: u64, head: &[u8; EXTENDED_HEADER_LENGTH]) -> Result<Option<FoundPart>> {
        let cbytes = cbytes_of(head);
        let Ok(header) = ChunkHeader::parse(head) else { return Ok(None) };
        if !is_storable(&header) || cbytes > self.end - at {
            return Ok(None);
        }
        let is_data = self.is_data(&header);
        let is_index = header.is_extended() && header.nbytes > 0 && index::stored_nbytes(&header).is_ok();
        if !(is_data || is_index) || self.is_metalayer(at, cbytes)? {
            return Ok(None);
        }
        if is_index {
            let has_trailer = table_len_before_trailer(&mut self.window, at + cbytes)?.is_some();
            // A chunk of the frame is an index only if a trailer proves it.
            if has_trailer || !is_data {
                let index = self.index_at(at, &header, cbytes)?;
                if let Some(index) = index
                    && (has_trailer || self.lists_the_chunks(&index.offsets)?)
                {
                    return Ok(Some(FoundPart::Index(index)));
                }
            }
        }
        if is_data { self.data_at(at, &header, cbytes) } else { Ok(None) }
    }

    /// Returns whether a chunk with that header may belong to the frame.
    fn is_data(&self, header: &ChunkHeader) -> bool {
        let has_size = match self.rules.chunksize {
            Some(chunksize) => (1..=chunksize).contains(&header.nbytes),
            None => header.nbytes > 0,
        };
        // The 16 bytes of a header of Blosc 1 are too little evidence without a known size.
        let is_evident = header.is_extended() || self.rules.chunksize == Some(header.nbytes);
        self.rules.has_chunks
            && has_size
            && is_evident
            && self.rules.typesize.is_none_or(|typesize| typesize == header.typesize)
    }

    /// Returns whether the chunk is the content of a metalayer of variable length.
    fn is_metalayer(&mut self, at: u64, cbytes: u64) -> Result<bool> {
        let Some(before) = at.checked_sub(CONTENT_HEAD_LEN) else { return Ok(false) };
        let head = self.window.slice(before, CONTENT_HEAD_LEN)?;
        let [0xc6, len @ ..] = head else { return Ok(false) };
        Ok(<[u8; 4]>::try_from(len).is_ok_and(|len| u64::from(u32::from_be_bytes(len)) == cbytes))
    }

    fn index_at(&mut self, at: u64, header: &ChunkHeader, cbytes: u64) -> Result<Option<FoundIndex>> {
        let bytes = self.window.slice(at, cbytes)?;
        let decoded = damage_of(index::decode(bytes, header.nbytes() / index::ENTRY_LEN))?;
        let wasted = if decoded.is_ok() { 0 } else { cbytes + header.nbytes() as u64 };
        self.waste_left = self.waste_left.saturating_sub(wasted);
        Ok(decoded.ok().map(|offsets| FoundIndex { at, len: cbytes, offsets }))
    }

    /// Returns whether the index has different entries, each of which is a chunk that was found or has no bytes, and the
    /// last chunk that was found is among them.
    fn lists_the_chunks(&self, offsets: &Offsets) -> Result<bool> {
        let (Offsets::List(list), Some(last)) = (offsets, self.found.chunks.last()) else {
            return Ok(false);
        };
        if list.iter().any(|&code| decode_entry(code).is_err()) {
            return Ok(false);
        }
        let locations = list.iter().filter_map(|&code| u64::try_from(code).ok());
        let mut stored = fallible::collect(locations.map(|location| self.start.saturating_add(location)))?;
        stored.sort_unstable();
        let is_found = |at: &u64| self.found.chunks.binary_search_by_key(at, |chunk| chunk.at).is_ok();
        Ok(stored.last() == Some(&last.at)
            && stored.windows(2).all(|pair| pair[0] != pair[1])
            && stored.iter().all(is_found))
    }

    /// Returns whether the chunk is the index of the chunks before it, of which the beginning was overwritten by that of a
    /// new chunk: the first bytes of two chunks often differ in the item size only.
    fn is_overwritten_index(&mut self, at: u64, header: &ChunkHeader, cbytes: u64) -> Result<bool> {
        let entries = header.nbytes() / index::ENTRY_LEN;
        if !header.nbytes().is_multiple_of(index::ENTRY_LEN) || entries < self.found.chunks.len() {
            return Ok(false);
        }
        let mut bytes = fallible::copy_of(self.window.slice(at, cbytes)?)?;
        bytes[offset::TYPESIZE] = index::ENTRY_LEN as u8;
        match damage_of(index::decode(&bytes, entries))? {
            Ok(offsets) => self.lists_the_chunks(&offsets),
            Err(_) => Ok(false),
        }
    }

    fn data_at(&mut self, at: u64, header: &ChunkHeader, cbytes: u64) -> Result<Option<FoundPart>> {
        let bytes = self.window.slice(at, cbytes)?;
        if damage_of(self.checker.check_found(bytes))?.is_err() {
            self.waste_left = self.waste_left.saturating_sub(cbytes + header.nbytes() as u64);
            return Ok(None);
        }
        if self.is_overwritten_index(at, header, cbytes)? {
            return Ok(None);
        }
        self.rules.typesize.get_or_insert(header.typesize);
        let record = record_of(self.window.slice(at, cbytes)?)?;
        let has_record = self.window.slice(at + cbytes, record.len() as u64)? == record;
        let record_len = if has_record { record.len() as u32 } else { 0 };
        Ok(Some(FoundPart::Chunk(FoundChunk {
            at,
            cbytes: cbytes as u32,
            record_len,
            nbytes: header.nbytes,
        })))
    }
}

/// Returns whether a frame can have a chunk with that header in its data section or as its index. Fields that readers
/// ignore must have the values that writers give them: a torn header is often that of two chunks.
fn is_storable(header: &ChunkHeader) -> bool {
    header.cbytes >= EXTENDED_HEADER_LENGTH as i32
        && matches!(header.special(), Ok(None | Some(SpecialValue::Value)))
        && (!header.is_memcpyed() || header.len() + header.nbytes() == header.cbytes as usize)
        && if header.is_extended() {
            has_written_extension(header)
        } else {
            header.version == version::BLOSC1
        }
}

/// Returns whether the second half of the header has values that writers write.
fn has_written_extension(header: &ChunkHeader) -> bool {
    let known_flags2 = if header.version == version::VL_BLOCKS { flag2::VL_BLOCKS } else { 0 };
    let special = flag2::SPECIAL_MASK << flag2::SPECIAL_SHIFT;
    let known_flags = flag2::USEDICT | flag2::BIGENDIAN | special;
    let slots = header.filters.iter().zip(header.filters_meta);
    let codec = BuiltInCodec::from_compcode(i32::from(header.udcompcode));
    (version::ALPHA..=version::VL_BLOCKS).contains(&header.version)
        && header.blosc2_flags2 & !known_flags2 == 0
        && header.blosc2_flags & !known_flags == 0
        && slots.into_iter().all(|(&id, meta)| registry::is_valid_filter_id(id) && (id != 0 || meta == 0))
        // Built-in codecs are named twice; some writers leave the second name 0.
        && (header.udcompcode == 0
            || header.codec_format() == codec_format::UDCODEC
            || codec.is_some_and(|codec| codec.format() == header.codec_format()))
}
