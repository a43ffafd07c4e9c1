//! The metalayers of a damaged frame, and its trailer.

use super::sections::{FileWindow, table_len_before_trailer, trailer_end};
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader};
use crate::frame::format::metalayers::{self, MAX_METALAYERS, OwnedMetalayer};
use crate::frame::format::msgpack::u16_at;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts::{self, StoredPart};
use crate::frame::recovery::check::report::{DamagePlace, FramePart, Reporter, damage_of, if_whole};
use crate::frame::recovery::check::verify::{
    CheckOptions, named_error, read_trailer_at_end, report_metalayer, report_vlmetalayer,
};
use std::ops::Range;

/// Offset, in a section of metalayers, of their number, a big-endian `u16`.
const COUNT_OFFSET: usize = 5;

/// Returns the metalayers in the header whose contents are whole, and reports the damaged ones.
pub(super) fn recover_metalayers(
    header: &FrameHeader,
    options: &CheckOptions<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<Vec<OwnedMetalayer>> {
    let section_at = FIXED_HEADER_LEN as u64;
    let place = reporter.place(section_at, (header.header_len as u64).checked_sub(section_at));
    // The section may be whole although the file ends before the end that the header states.
    let len = (header.header_len as u64).min(reporter.files.len());
    let bytes = reporter.value_or_report(reporter.files.read_vec(0, len), FramePart::Metalayer, place)?;
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    let mut image = StoredPart { at: 0, bytes };
    if let Err(error) = metalayers::parse_header_section(&image.bytes) {
        reporter.report_part(FramePart::Metalayer, place, &error)?;
        shorten_section(&mut image.bytes)?;
    }
    let parsed = if_whole(metalayers::parse_header_section(&image.bytes))?;
    let mut whole = Vec::new();
    for metalayer in parsed.unwrap_or_default() {
        let checked = (options.check_metalayer)(&metalayer, header.typesize.max(1));
        if report_metalayer(&image, &metalayer, checked, reporter)? {
            fallible::push(&mut whole, metalayer.to_owned()?)?;
        }
    }
    Ok(whole)
}

/// Lowers the number of metalayers in the section of a header until the remaining ones can be parsed.
fn shorten_section(header: &mut [u8]) -> Result<()> {
    let at = FIXED_HEADER_LEN + COUNT_OFFSET;
    let Some(count) = u16_at(header, at) else { return Ok(()) };
    for count in (0..usize::from(count).min(MAX_METALAYERS + 1)).rev() {
        if let Some(place) = header.get_mut(at..at + 2) {
            place.copy_from_slice(&(count as u16).to_be_bytes());
        }
        if if_whole(metalayers::parse_header_section(header))?.is_some() {
            break;
        }
    }
    Ok(())
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
pub(super) fn recover_vlmetalayers(
    hints: &TrailerHints<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<Vec<OwnedMetalayer>> {
    let trailer = match find_trailer(hints, reporter)? {
        Some(trailer) => trailer,
        None => return Ok(Vec::new()),
    };
    let mut whole = Vec::new();
    let parsed = if_whole(metalayers::parse_trailer_section(&trailer.bytes))?;
    for metalayer in parsed.unwrap_or_default() {
        if !report_vlmetalayer(&trailer, &metalayer, reporter)? {
            continue;
        }
        if whole.len() < MAX_METALAYERS {
            fallible::push(&mut whole, metalayer.to_owned()?)?;
        } else {
            let error =
                err!(Failure, "the frame has more than {MAX_METALAYERS} metalayers of variable length");
            let place = trailer.place_of(reporter.files, metalayer.content);
            reporter.report_part(FramePart::Vlmetalayer, place, &named_error(&metalayer, error))?;
        }
    }
    Ok(whole)
}

/// Finds the trailer, and reports it if it is not where the header says.
fn find_trailer(hints: &TrailerHints<'_>, reporter: &mut Reporter<'_>) -> Result<Option<StoredPart>> {
    let stated = match hints.header {
        Some(header) => parts::read_trailer(reporter.files, header).and_then(check_section),
        None => Err(err!(Data, "no trailer was found")),
    };
    let error = match damage_of(stated)? {
        Ok(trailer) => return Ok(Some(trailer)),
        Err(error) => error,
    };
    let found = trailer_elsewhere(reporter.files, hints)?;
    if hints.header.is_some() || found.is_none() {
        let place = found.as_ref().map_or(DamagePlace::unknown(), |trailer| trailer.place(reporter.files));
        reporter.report_part(FramePart::Trailer, place, &error)?;
    }
    Ok(found)
}

/// Looks for the trailer behind the index, where a scan has found it, and at the end of the file.
fn trailer_elsewhere(files: &FrameFiles, hints: &TrailerHints<'_>) -> Result<Option<StoredPart>> {
    let range = match (hints.index_end, &hints.scanned) {
        (Some(at), _) => if_whole(trailer_behind_index(files, at))?.flatten(),
        (None, Some(found)) => found.clone(),
        (None, None) => return if_whole(read_trailer_at_end(files)),
    };
    let Some(Range { start, end }) = range else { return Ok(None) };
    let read = files.read_vec(start, end.saturating_sub(start));
    if_whole(read.and_then(|bytes| check_section(StoredPart { at: start, bytes })))
}

/// Returns the place of the trailer of an index that ends at byte `index_end`.
fn trailer_behind_index(files: &FrameFiles, index_end: u64) -> Result<Option<Range<u64>>> {
    let window = &mut FileWindow::new(files);
    let Some(table_len) = table_len_before_trailer(window, index_end)? else { return Ok(None) };
    let start = index_end + table_len;
    Ok(trailer_end(window, start)?.map(|end| start..end))
}

/// Returns the trailer if its section of metalayers can be parsed.
pub(super) fn check_section(trailer: StoredPart) -> std::result::Result<StoredPart, Error> {
    metalayers::parse_trailer_section(&trailer.bytes)?;
    Ok(trailer)
}
