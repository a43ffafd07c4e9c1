//! The metalayers of a damaged frame, and its trailer.

use super::super::check::files::FrameFiles;
use super::super::check::parts::{self, StoredPart};
use super::super::check::report::{FramePart, Place, Reporter};
use super::super::check::verify::{
    CheckOptions, named_error, read_trailer_at_end, report_metalayers, report_vlmetalayer,
};
use super::super::header::{FIXED_HEADER_LEN, FrameHeader};
use super::super::metalayers::{self, MAX_METALAYERS, Metalayer};
use super::super::msgpack::u16_at;
use super::sections::{FileWindow, table_len_before_trailer, trailer_end};
use crate::err;
use crate::error::{Error, Result};
use std::ops::Range;

/// Offset, in a section of metalayers, of their number, a big-endian `u16`.
const COUNT_OFFSET: usize = 5;

/// The name and the content of a metalayer.
pub(super) type OwnedMetalayer = (Vec<u8>, Vec<u8>);

/// Returns the metalayers in borrowed form.
pub(super) fn borrow(metalayers: &[OwnedMetalayer]) -> Vec<Metalayer<'_>> {
    metalayers.iter().map(|(name, content)| Metalayer { name, content }).collect()
}

fn to_owned(metalayer: &Metalayer<'_>) -> OwnedMetalayer {
    (metalayer.name.to_vec(), metalayer.content.to_vec())
}

/// Returns the metalayers in the header, as many as are whole, and reports the damaged ones.
///
/// # Errors
/// Those of the report.
pub(super) fn recover_metalayers(
    files: &FrameFiles,
    header: &FrameHeader,
    options: &CheckOptions<'_>,
    reporter: &mut Reporter<'_, '_>,
) -> Result<Vec<OwnedMetalayer>> {
    let section_at = FIXED_HEADER_LEN as u64;
    let place = Place::new(files.file_offset(section_at), (header.header_len as u64).checked_sub(section_at));
    // The section may be whole although the file ends before the end that the header states.
    let len = (header.header_len as u64).min(files.len());
    let mut image = match files.read_vec(0, len) {
        Ok(bytes) => StoredPart { at: 0, bytes },
        Err(error) => {
            reporter.report_part(FramePart::Metalayer, place, &error)?;
            return Ok(Vec::new());
        }
    };
    if let Err(error) = metalayers::parse_header_section(&image.bytes) {
        reporter.report_part(FramePart::Metalayer, place, &error)?;
        shorten_section(&mut image.bytes, FIXED_HEADER_LEN, MAX_METALAYERS, |bytes| {
            metalayers::parse_header_section(bytes).is_ok()
        });
    }
    let metalayers = metalayers::parse_header_section(&image.bytes).unwrap_or_default();
    let check = |metalayer: &Metalayer<'_>| (options.check_metalayer)(metalayer, header.typesize.max(1));
    report_metalayers(files, &image, &metalayers, &check, reporter)?;
    Ok(metalayers.iter().map(to_owned).collect())
}

/// Lowers the number of metalayers in a section until the remaining ones can be parsed.
fn shorten_section(bytes: &mut [u8], section: usize, limit: usize, is_valid: impl Fn(&[u8]) -> bool) {
    let Some(count) = u16_at(bytes, section + COUNT_OFFSET) else { return };
    for count in (0..usize::from(count).min(limit + 1)).rev() {
        if let Some(place) = bytes.get_mut(section + COUNT_OFFSET..section + COUNT_OFFSET + 2) {
            place.copy_from_slice(&(count as u16).to_be_bytes());
        }
        if is_valid(bytes) {
            return;
        }
    }
}

/// Where the trailer may be.
pub(super) struct TrailerHints<'a> {
    /// The header, unless it is lost.
    pub header: Option<&'a FrameHeader>,
    /// The end of the index, if the index was found where the header says.
    pub index_end: Option<u64>,
    /// The trailer that a scan has found, if there was a scan.
    pub scanned: Option<Option<Range<u64>>>,
}

/// Returns the whole metalayers of variable length, and reports a lost trailer and the damaged metalayers.
///
/// # Errors
/// Those of the report.
pub(super) fn recover_vlmetalayers(
    files: &FrameFiles,
    hints: &TrailerHints<'_>,
    reporter: &mut Reporter<'_, '_>,
) -> Result<Vec<OwnedMetalayer>> {
    let trailer = match find_trailer(files, hints, reporter)? {
        Some(trailer) => trailer,
        None => return Ok(Vec::new()),
    };
    let mut whole = Vec::new();
    for metalayer in metalayers::parse_trailer_section(&trailer.bytes).unwrap_or_default() {
        if !report_vlmetalayer(files, &trailer, &metalayer, reporter)? {
            continue;
        }
        if whole.len() < MAX_METALAYERS {
            whole.push(to_owned(&metalayer));
        } else {
            let error =
                err!(Failure, "the frame has more than {MAX_METALAYERS} metalayers of variable length");
            let place = trailer.place_of(files, metalayer.content);
            reporter.report_part(FramePart::Vlmetalayer, place, &named_error(&metalayer, error))?;
        }
    }
    Ok(whole)
}

/// Finds the trailer, and reports it if it is not where the header says.
fn find_trailer(
    files: &FrameFiles,
    hints: &TrailerHints<'_>,
    reporter: &mut Reporter<'_, '_>,
) -> Result<Option<StoredPart>> {
    let stated = match hints.header {
        Some(header) => parts::read_trailer(files, header).and_then(check_section),
        None => Err(err!(Data, "no trailer was found")),
    };
    let error = match stated {
        Ok(trailer) => return Ok(Some(trailer)),
        Err(error) => error,
    };
    let found = trailer_elsewhere(files, hints);
    if hints.header.is_some() || found.is_none() {
        let place = found.as_ref().map_or(Place::unknown(), |trailer| trailer.place(files));
        reporter.report_part(FramePart::Trailer, place, &error)?;
    }
    Ok(found)
}

/// Looks for the trailer behind the index, where a scan has found it, and at the end of the file.
fn trailer_elsewhere(files: &FrameFiles, hints: &TrailerHints<'_>) -> Option<StoredPart> {
    let read = |range: Range<u64>| -> Result<StoredPart> {
        let bytes = files.read_vec(range.start, range.end - range.start)?;
        check_section(StoredPart { at: range.start, bytes })
    };
    if let Some(at) = hints.index_end {
        let window = &mut FileWindow::new(files);
        let at = at + table_len_before_trailer(window, at).ok().flatten()?;
        let end = trailer_end(window, at).ok().flatten()?;
        return read(at..end).ok();
    }
    match &hints.scanned {
        Some(found) => read(found.clone()?).ok(),
        None => read_trailer_at_end(files).ok(),
    }
}

/// Returns the trailer if its section of metalayers can be parsed.
///
/// # Errors
/// Those of the section.
pub(super) fn check_section(trailer: StoredPart) -> std::result::Result<StoredPart, Error> {
    metalayers::parse_trailer_section(&trailer.bytes)?;
    Ok(trailer)
}
