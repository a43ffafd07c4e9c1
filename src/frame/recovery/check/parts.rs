//! Reading and checking the parts of a frame other than stored chunks, with the checks of opening a frame (`frame.md` 4.1,
//! 4.4, 4.5).

use super::files::FrameFiles;
use super::report::DamagePlace;
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue};
use crate::error::{Result, err};
use crate::frame::format::chunk_info::build_special_chunk;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::index::{IndexEntry, Offsets, decode_entry, encode_entry};
use crate::frame::format::metalayers::Metalayer;
use crate::frame::store::load;
use crate::pipeline::decompress;
use crate::pipeline::params::DecompressParams;
use crate::registry;

/// A part with the offset in the frame at which it begins.
pub(crate) struct StoredPart {
    /// Offset in bytes.
    pub at: u64,
    pub bytes: Vec<u8>,
}

impl StoredPart {
    /// Returns the offset in the frame at which the part ends, in bytes.
    pub(crate) fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    pub(crate) fn place(&self, files: &FrameFiles) -> DamagePlace {
        DamagePlace::new(files.file_offset(self.at), Some(self.bytes.len() as u64))
    }

    pub(crate) fn place_of(&self, files: &FrameFiles, slice: &[u8]) -> DamagePlace {
        let offset = slice.as_ptr().addr().saturating_sub(self.bytes.as_ptr().addr());
        DamagePlace::new(files.file_offset(self.at + offset as u64), Some(slice.len() as u64))
    }
}

/// Reads and parses the fixed part of the header. The other checks are made by [`check_header`].
pub(crate) fn read_header(files: &FrameFiles) -> Result<([u8; FIXED_HEADER_LEN], FrameHeader)> {
    let mut bytes = [0; FIXED_HEADER_LEN];
    files.read_exact(0, &mut bytes)?;
    let header = FrameHeader::parse(&bytes, files.kind())?;
    Ok((bytes, header))
}

/// Makes those checks of opening a frame for which the fixed part of the header is enough.
///
/// # Errors
/// `InvalidHeader` for an item size, a number of filters or a chunk size out of range; `FileRead` for a frame length
/// below the minimum; `InvalidParam` for a filter id that is not defined.
pub(crate) fn check_header(bytes: &[u8], header: &FrameHeader) -> Result<()> {
    header.check_for_opening(bytes)?;
    load::check_file_len(header)?;
    if let Some(&id) = header.filters.iter().find(|&&id| !registry::is_valid_filter_id(id)) {
        return Err(err!(InvalidParam, "filter id {id} is not defined"));
    }
    header.nchunks(|| Ok(0)).map(|_| ())
}

pub(crate) fn read_header_image(files: &FrameFiles, header: &FrameHeader) -> Result<StoredPart> {
    Ok(StoredPart { at: 0, bytes: files.read_vec(0, header.header_len as u64)? })
}

/// Reads the trailer.
///
/// # Errors
/// `FileRead` when the file ends earlier, `Data` for bytes that are not the end of a trailer, `ReadBuffer` for a trailer
/// outside the frame, `MemoryAlloc`.
pub(crate) fn read_trailer(files: &FrameFiles, header: &FrameHeader) -> Result<StoredPart> {
    let len = load::read_trailer_len(files, header.frame_len)?;
    let at = load::trailer_offset(header, len)?;
    Ok(StoredPart { at, bytes: files.read_vec(at, len)? })
}

/// Reads and decodes the index, which ends before `limit`. The entries are checked by [`load::check_offsets`].
pub(crate) fn read_index(
    files: &FrameFiles,
    header: &FrameHeader,
    limit: u64,
) -> Result<(StoredPart, Offsets)> {
    let (bytes, offsets) = load::read_index(files, header, limit)?;
    Ok((StoredPart { at: load::index_offset(header), bytes }, offsets))
}

/// Checks a metalayer of variable length: its content is a whole chunk.
pub(crate) fn check_vlmetalayer(metalayer: &Metalayer<'_>) -> Result<()> {
    let content = metalayer.content;
    let mut header = ChunkHeader::default();
    let chunk =
        ParsedChunk::parse(&mut header, content).map_err(|error| err!(Data, "invalid chunk: {error}"))?;
    let cbytes = chunk.header().cbytes;
    if usize::try_from(cbytes) != Ok(content.len()) {
        return Err(err!(Data, "the chunk has {} bytes, expected {cbytes} by its header", content.len()));
    }
    decompress::check_content(&DecompressParams::default(), &chunk)
}

/// Returns the kind of a chunk without bytes, from its entry in the index.
///
/// # Errors
/// `Data` for an entry that no writer writes. Readers ignore some of its bits, which are damaged then.
pub(crate) fn special_kind(code: i64) -> Result<SpecialValue> {
    match decode_entry(code)? {
        entry @ IndexEntry::Special(kind) if encode_entry(entry) == code => Ok(kind),
        _ => Err(err!(Data, "index entry {code:#x} is not that of a chunk without bytes")),
    }
}

/// Checks a chunk that has no bytes, from its entry in the index. `is_last` tells whether it is the last chunk. Returns
/// its uncompressed size in bytes.
///
/// # Errors
/// Those of [`special_kind`]; `Data` for NaNs of another size than 4 or 8 bytes; `InvalidHeader` without a common chunk
/// size.
pub(crate) fn check_special(header: &FrameHeader, code: i64, is_last: bool) -> Result<i32> {
    let IndexEntry::Special(kind) = decode_entry(code)? else {
        return Err(err!(Data, "index entry {code:#x} is not that of a chunk without bytes"));
    };
    let bytes = build_special_chunk(kind, is_last, header)?;
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, &bytes)?;
    decompress::check_content(&DecompressParams::default(), &chunk)?;
    special_kind(code)?;
    Ok(chunk.header().nbytes)
}

/// Returns the uncompressed size, in bytes, that chunk `nchunk` of `nchunks` has in a frame with chunks of one size, if the
/// sum of the sizes in the header is right.
pub(crate) fn expected_nbytes(header: &FrameHeader, nchunk: u64, nchunks: u64) -> i32 {
    let rest = header.nbytes.checked_rem(i64::from(header.chunksize)).unwrap_or(0);
    if nchunk + 1 == nchunks && rest > 0 { rest as i32 } else { header.chunksize }
}

/// Returns whether chunk `nchunk` of `nchunks` may have `nbytes` bytes in a frame with chunks of one size. The last chunk
/// may be shorter: if that contradicts the sum of the sizes in the header, the sum is wrong.
pub(crate) fn is_possible_nbytes(header: &FrameHeader, nchunk: u64, nchunks: u64, nbytes: i32) -> bool {
    let is_last = nchunk + 1 == nchunks;
    nbytes == header.chunksize || (is_last && (0..header.chunksize).contains(&nbytes))
}
