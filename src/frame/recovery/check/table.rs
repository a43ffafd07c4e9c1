//! The checksums with which the parts of a frame are compared (`frame.md` 2.14).

use super::files::FrameFiles;
use super::parts::StoredPart;
use super::report::{DamagePlace, FramePart, Reporter, if_whole};
use crate::chunk::ChunkHeader;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::frame::format::checksums::{
    ChecksumMode, ChecksumTable, Root, TABLE_HEAD_LEN, checksum, expect, has_table, stated_frame_len,
};
use crate::frame::format::header::{FrameHeader, HEADER_START_LEN, is_header_start};
use crate::frame::format::index::Offsets;
use crate::frame::format::trailer::FINGERPRINT_LEN;
use crate::frame::format::units::chunk_checksum;
use crate::frame::store::load;

/// The parts of a frame that have a checksum each; `None` for a part that could not be read.
pub(crate) struct CheckedParts<'a> {
    pub header: Option<&'a StoredPart>,
    /// The index chunk and its entries; `None` also without chunks.
    pub index: Option<(&'a StoredPart, &'a Offsets)>,
    pub trailer: Option<&'a StoredPart>,
}

/// Finds the table of checksums of a frame with that header; `None` if it has none, or `BLOSC2_CHECKSUMS` is `off`.
/// Whether it has one is decided as by a reader. `trailer` is the trailer, if it could be parsed. Reports a damaged
/// table as a part of the trailer.
pub(crate) fn find_table(
    header: &FrameHeader,
    trailer: Option<&StoredPart>,
    reporter: &mut Reporter<'_>,
) -> Result<Option<ChecksumTable>> {
    if !header.has_checksums {
        return Ok(None);
    }
    if let Some(trailer) = trailer {
        if !has_table(header, &trailer.bytes, ChecksumMode::from_environment(ChecksumMode::Verify)) {
            return Ok(None);
        }
        let trailer_at = header.frame_len - trailer.bytes.len() as u64;
        let read = load::read_table(reporter.files, header.header_len as u64, trailer_at, &trailer.bytes);
        let place = place_of_table(reporter.files, header, trailer_at, &trailer.bytes);
        if let Some((_, table)) = reporter.value_or_report(read, FramePart::Trailer, place)? {
            return Ok(Some(table));
        }
    }
    search_table(reporter.files, header)
}

/// Returns the place of the table, or that of the root if the root does not give it.
fn place_of_table(files: &FrameFiles, header: &FrameHeader, trailer_at: u64, trailer: &[u8]) -> DamagePlace {
    let table = Root::parse(trailer).and_then(|root| {
        let at = ChecksumTable::offset(root, header.header_len as u64, trailer_at, trailer.len() as u64)?;
        Ok((at, u64::from(root.table_len)))
    });
    let root = (header.frame_len - FINGERPRINT_LEN as u64, FINGERPRINT_LEN as u64);
    let (at, len) = table.unwrap_or(root);
    DamagePlace::new(files.file_offset(at), Some(len))
}

/// Looks for the table of a frame with a damaged header or trailer: behind the index, and before a trailer at the end
/// of the frame or of the file. Returns `None` if `BLOSC2_CHECKSUMS` is `off`.
pub(crate) fn search_table(files: &FrameFiles, header: &FrameHeader) -> Result<Option<ChecksumTable>> {
    if ChecksumMode::from_environment(ChecksumMode::Verify) == ChecksumMode::Off {
        return Ok(None);
    }
    let index_end = stated_index_end(files, header);
    let by_table = index_end.and_then(|at| {
        let mut head = [0; TABLE_HEAD_LEN];
        files.read_exact(at, &mut head).ok()?;
        stated_frame_len(&head)
    });
    for end in [Some(header.frame_len), Some(files.len()), by_table].into_iter().flatten() {
        let Some(root) = root_before(files, end) else { continue };
        let table_len = u64::from(root.table_len);
        let trailer_len = load::read_trailer_len(files, end).ok();
        let before_trailer = trailer_len.and_then(|len| end.checked_sub(len + table_len));
        for at in [before_trailer, index_end].into_iter().flatten() {
            let table = files.read_vec(at, table_len).and_then(|bytes| {
                let mut table = ChecksumTable::parse(&bytes, root, at)?;
                table.read_pages(|at, dest| files.read_exact(at, dest))?;
                Ok(table)
            });
            let Some(table) = if_whole(table)? else { continue };
            if table.frame_len == end || is_moved_table(files, header, &table)? {
                return Ok(Some(table));
            }
        }
    }
    Ok(None)
}

/// Returns whether the table belongs to the frame with that header although it is at another place, because bytes were
/// inserted or are missing before it: it has the checksum of the header, and no other frame begins where the frame ends.
fn is_moved_table(files: &FrameFiles, header: &FrameHeader, table: &ChecksumTable) -> Result<bool> {
    let image = if_whole(files.read_vec(0, header.header_len as u64))?;
    let mut behind = [0; HEADER_START_LEN];
    let is_other = files.read_exact(header.frame_len, &mut behind).is_ok() && is_header_start(&behind);
    Ok(!is_other && image.is_some_and(|image| table.check_header(&image).is_ok()))
}

/// Returns the root of the checksums of a frame that ends at byte `end`.
fn root_before(files: &FrameFiles, end: u64) -> Option<Root> {
    let mut fingerprint = [0; FINGERPRINT_LEN];
    files.read_exact(end.checked_sub(FINGERPRINT_LEN as u64)?, &mut fingerprint).ok()?;
    Root::parse(&fingerprint).ok()
}

/// Returns the end of the index, in bytes, by its header.
pub(crate) fn stated_index_end(files: &FrameFiles, header: &FrameHeader) -> Option<u64> {
    let at = load::index_offset(header);
    let mut head = [0; EXTENDED_HEADER_LENGTH];
    files.read_exact(at, &mut head).ok()?;
    let cbytes = ChunkHeader::parse(&head).ok()?.cbytes;
    at.checked_add(u64::try_from(cbytes).ok()?)
}

/// Reports the parts whose checksums differ from those of the table, unless they are reported already, and a table
/// that belongs to another frame. The header and its metalayers have one checksum, and so have the trailer and its
/// metalayers.
pub(crate) fn report_checksums(
    header: &FrameHeader,
    table: &ChecksumTable,
    parts: &CheckedParts<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let of_header = [FramePart::Header, FramePart::Metalayer];
    let of_trailer = [FramePart::Trailer, FramePart::Vlmetalayer];
    let of_index = [FramePart::Index];
    if let Some(image) = parts.header.filter(|_| !reporter.has_reported(&of_header)) {
        let place = image.place(reporter.files);
        reporter.value_or_report(table.check_header(&image.bytes), FramePart::Header, place)?;
    }
    if let Some(trailer) = parts.trailer.filter(|_| !reporter.has_reported(&of_trailer)) {
        let (place, checked) =
            (trailer.place(reporter.files), table.check_trailer(trailer.at, &trailer.bytes));
        reporter.value_or_report(checked, FramePart::Trailer, place)?;
    }
    if let Some((index, _)) = parts.index.filter(|_| !reporter.has_reported(&of_index)) {
        let (place, checked) =
            (index.place(reporter.files), table.check_index(index.at, checksum(&index.bytes)));
        reporter.value_or_report(checked, FramePart::Index, place)?;
    }
    if [&of_header[..], &of_index, &of_trailer].into_iter().any(|parts| reporter.has_reported(parts)) {
        return Ok(());
    }
    let (index_end, nchunks) = match parts.index {
        Some((index, offsets)) => (index.end(), offsets.len()),
        None => (0, 0),
    };
    let fits = table.check_frame(header.frame_len, nchunks).and_then(|()| check_place(table, index_end));
    let place = reporter.place(table.at, Some(table.end() - table.at));
    reporter.value_or_report(fits, FramePart::Trailer, place).map(drop)
}

/// Checks that the table begins behind the index.
fn check_place(table: &ChecksumTable, index_end: u64) -> Result<()> {
    ensure!(
        table.at >= index_end,
        Data,
        "the checksum table begins at offset {}, expected {index_end} or more, where the index ends",
        table.at,
    );
    Ok(())
}

/// The checksums with which the stored chunks of a frame are compared.
pub(crate) enum ChunkChecksums {
    /// There are none.
    Unknown,
    /// One checksum for each chunk, in the order of their numbers.
    ByNumber(Vec<u32>),
    /// The checksums of all chunks in ascending order, for a frame whose index is damaged.
    AnyOf(Vec<u32>),
}

impl ChunkChecksums {
    /// Returns the checksum of chunk `nchunk`, if it is known.
    pub(super) fn expected(&self, nchunk: u32) -> Option<u32> {
        match self {
            ChunkChecksums::ByNumber(checksums) => checksums.get(nchunk as usize).copied(),
            ChunkChecksums::Unknown | ChunkChecksums::AnyOf(_) => None,
        }
    }

    /// Returns whether all chunks have the same checksum, or none is known.
    pub(super) fn is_uniform(&self) -> bool {
        match self {
            ChunkChecksums::ByNumber(checksums) => checksums.windows(2).all(|pair| pair[0] == pair[1]),
            ChunkChecksums::Unknown | ChunkChecksums::AnyOf(_) => true,
        }
    }

    /// Checks the bytes of chunk `nchunk` as it is stored.
    pub(super) fn check(&self, nchunk: u32, chunk: &[u8]) -> Result<()> {
        match self.expected(nchunk) {
            Some(expected) => expect(format_args!("the chunk"), expected, chunk_checksum(chunk)),
            None => self.check_any(chunk),
        }
    }

    /// Checks the bytes of a chunk whose number is not known.
    pub(super) fn check_any(&self, chunk: &[u8]) -> Result<()> {
        let ChunkChecksums::AnyOf(checksums) = self else { return Ok(()) };
        let found = chunk_checksum(chunk);
        match checksums.binary_search(&found) {
            Ok(_) => Ok(()),
            Err(_) => Err(err!(
                Data,
                "the checksum of the chunk is {found:08x}, expected one of the {} in the checksum table",
                checksums.len()
            )),
        }
    }
}
