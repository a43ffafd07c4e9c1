//! The check of a whole frame.

use super::array::ArrayCheck;
use super::chunks::ChunkChecker;
use super::files::FrameFiles;
use super::parts::{self, StoredPart};
use super::report::{DamagePlace, FramePart, ReportFn, Reporter, if_whole};
use super::table::{CheckedParts, ChunkChecksums, find_table, report_checksums};
use super::walk::ChunkWalk;
use crate::error::{Error, Result, err};
use crate::frame::format::array_meta::ArrayChunks;
use crate::frame::format::checksums::ChecksumTable;
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader, has_magic};
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers::{self, Metalayer};
use crate::frame::store::load;
use crate::frame::store::trailing::has_other_data_behind;
use std::ffi::CStr;

/// Checks the content of a metalayer, for items of the size in the second argument.
pub(crate) type MetalayerCheck<'a> = dyn Fn(&Metalayer<'_>, i32) -> Result<()> + 'a;

#[derive(Clone, Copy)]
pub(crate) struct CheckOptions<'a> {
    /// Offset of the frame in its file, in bytes.
    pub offset: i64,
    /// Number of threads that decode a chunk, at least 1.
    pub nthreads: usize,
    /// The check of metalayers whose format the library knows.
    pub check_metalayer: &'a MetalayerCheck<'a>,
    /// Receives the length, in bytes, of each stored chunk that was checked.
    pub progress: &'a dyn Fn(u64),
}

/// Checks all parts of the frame at `path`, and passes each damaged part to `report`. Returns their number.
///
/// # Errors
/// Those of [`FrameFiles::open`]; the error of the header if the file holds no frame; those of `report`.
pub(crate) fn verify(path: &CStr, options: &CheckOptions<'_>, report: &mut ReportFn<'_>) -> Result<u64> {
    let files = FrameFiles::open(path, options.offset)?;
    verify_files(options, &mut Reporter::new(&files, report))
}

/// Checks all parts of a frame, and returns the number of damaged parts.
pub(crate) fn verify_files(options: &CheckOptions<'_>, reporter: &mut Reporter<'_>) -> Result<u64> {
    let (bytes, header) = match parts::read_header(reporter.files) {
        Ok(header) => header,
        Err(error) if is_frame(reporter.files)? => {
            report_header(&error, reporter)?;
            return Ok(reporter.count());
        }
        Err(error) => return Err(error),
    };
    if let Err(error) = parts::check_header(&bytes, &header) {
        report_header(&error, reporter)?;
    }
    report_short_file(&header, reporter)?;
    let image = read_metalayers(&header, options.check_metalayer, reporter)?;
    let trailer = read_trailer(&header, reporter)?;
    if trailer.is_some() && reporter.count() == 0 {
        report_other_data(&header, reporter)?;
    }
    let parsed_trailer = trailer.as_ref().filter(|_| !reporter.has_reported(&[FramePart::Trailer]));
    let table = find_table(&header, parsed_trailer, reporter)?;
    // Without a valid number of chunks, the header is reported already.
    let mut index = None;
    if header.nbytes > 0 && header.nchunks(|| Ok(0)).is_ok() {
        let trailer_len = trailer.as_ref().map_or(0, |trailer| trailer.bytes.len() as u64);
        let limit = header.frame_len.saturating_sub(trailer_len);
        let limit = table.as_ref().map_or(limit, ChecksumTable::end);
        index = read_index(&header, limit, reporter)?;
    }
    let mut is_header_whole = true;
    if let Some(table) = &table {
        let parts = CheckedParts {
            header: image.as_ref(),
            index: index.as_ref().map(|(index, offsets)| (index, offsets)),
            trailer: trailer.as_ref(),
        };
        report_checksums(&header, table, &parts, reporter)?;
        is_header_whole = image.as_ref().is_some_and(|image| table.check_header(&image.bytes).is_ok());
    }
    let metalayers = image.as_ref().map(|image| metalayers::parse_header_section(&image.bytes));
    let metalayers = if_whole(metalayers.transpose())?.flatten().unwrap_or_default();
    // A damaged header, of which the metalayers are a part, is not compared with the chunks.
    let array = ArrayChunks::find(&metalayers, header.typesize).filter(|_| is_header_whole);
    let array = ArrayCheck(array);
    if header.nbytes == 0 {
        array.report_count(0, reporter)?;
    }
    if let Some((_, offsets)) = index {
        array.report_count(offsets.len() as u64, reporter)?;
        let checksums = match table {
            Some(table) => ChunkChecksums::ByNumber(table.chunks()?),
            None => ChunkChecksums::Unknown,
        };
        let checker = ChunkChecker::new(
            reporter.files,
            &header,
            &metalayers,
            &checksums,
            options.nthreads,
            options.progress,
        );
        ChunkWalk::new(&header, &offsets, is_header_whole, array).run(&checker, reporter)?;
    }
    Ok(reporter.count())
}

/// Returns whether a file whose header cannot be parsed holds a frame: it has the magic of a frame, or ends with a
/// trailer, or belongs to a directory with chunk files.
fn is_frame(files: &FrameFiles) -> Result<bool> {
    let mut head = [0; FIXED_HEADER_LEN];
    let len = head.len().min(usize::try_from(files.len()).unwrap_or(usize::MAX));
    let has_magic = files.read_exact(0, &mut head[..len]).is_ok() && has_magic(&head[..len]);
    Ok(has_magic
        || if_whole(read_trailer_at_end(files))?.is_some()
        || if_whole(files.chunk_file_numbers())?.is_some_and(|numbers| !numbers.is_empty()))
}

/// Returns the place of data behind the frame in its file that are not remains of changes of the frame.
pub(crate) fn other_data(files: &FrameFiles, header: &FrameHeader) -> Result<Option<DamagePlace>> {
    let base = files.file_offset(0);
    let mut read = |at: u64, dest: &mut [u8]| files.read_exact(at - base, dest);
    let is_other = has_other_data_behind(header, base, base.saturating_add(files.len()), &mut read)?;
    let len = files.len().saturating_sub(header.frame_len);
    Ok(is_other.then(|| DamagePlace::new(files.file_offset(header.frame_len), Some(len))))
}

pub(crate) fn report_other_data(header: &FrameHeader, reporter: &mut Reporter<'_>) -> Result<()> {
    let Some(place) = other_data(reporter.files, header)? else { return Ok(()) };
    reporter.report_other_data(place)
}

/// Reads the trailer at the end of the file, whatever the header says. Its position is returned with it.
pub(crate) fn read_trailer_at_end(files: &FrameFiles) -> Result<StoredPart> {
    let len = load::read_trailer_len(files, files.len())?;
    let at = files.len() - len;
    let bytes = files.read_vec(at, len)?;
    metalayers::parse_trailer_section(&bytes)?;
    Ok(StoredPart { at, bytes })
}

/// Reports a damaged header, or the missing file of a directory that has chunk files only.
pub(crate) fn report_header(error: &Error, reporter: &mut Reporter<'_>) -> Result<()> {
    if !reporter.files.has_main_file() {
        return reporter.report_part(FramePart::File, DamagePlace::unknown(), error);
    }
    let place = reporter.place(0, Some(FIXED_HEADER_LEN as u64));
    reporter.report_part(FramePart::Header, place, error)
}

/// Reports a file that ends before the end of the frame.
pub(crate) fn report_short_file(header: &FrameHeader, reporter: &mut Reporter<'_>) -> Result<()> {
    if reporter.files.len() >= header.frame_len {
        return Ok(());
    }
    let (len, frame_len) = (reporter.files.len(), header.frame_len);
    let error = err!(FileRead, "the file has {len} bytes of the frame, expected {frame_len}");
    reporter.report_part(FramePart::File, reporter.place(0, Some(len)), &error)
}

/// Reads the whole header and checks the metalayers. Returns the header if it could be read.
fn read_metalayers(
    header: &FrameHeader,
    check: &MetalayerCheck<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<Option<StoredPart>> {
    let section_at = FIXED_HEADER_LEN as u64;
    let place = reporter.place(section_at, Some(header.header_len as u64 - section_at));
    let image = parts::read_header_image(reporter.files, header);
    let Some(image) = reporter.value_or_report(image, FramePart::Metalayer, place)? else { return Ok(None) };
    let metalayers = metalayers::parse_header_section(&image.bytes);
    let metalayers = reporter.value_or_report(metalayers, FramePart::Metalayer, place)?;
    for metalayer in metalayers.iter().flatten() {
        report_metalayer(&image, metalayer, check(metalayer, header.typesize), reporter)?;
    }
    Ok(Some(image))
}

/// Reports a metalayer of the header if it was `checked` with an error. Returns whether it is whole.
pub(crate) fn report_metalayer(
    image: &StoredPart,
    metalayer: &Metalayer<'_>,
    checked: Result<()>,
    reporter: &mut Reporter<'_>,
) -> Result<bool> {
    let Err(error) = checked else { return Ok(true) };
    let place = image.place_of(reporter.files, metalayer.content);
    reporter.report_part(FramePart::Metalayer, place, &named_error(metalayer, error))?;
    Ok(false)
}

/// Adds the name of a metalayer to the text of an error.
pub(crate) fn named_error(metalayer: &Metalayer<'_>, error: Error) -> Error {
    let name = metalayer.name.escape_ascii();
    Error::new(error.kind(), format_args!("metalayer \"{name}\": {error}"))
}

/// Reads the trailer and checks the metalayers of variable length. Returns the trailer if it could be read.
fn read_trailer(header: &FrameHeader, reporter: &mut Reporter<'_>) -> Result<Option<StoredPart>> {
    let trailer = parts::read_trailer(reporter.files, header);
    let trailer = reporter.value_or_report(trailer, FramePart::Trailer, DamagePlace::unknown())?;
    let Some(trailer) = trailer else { return Ok(None) };
    let vlmetalayers = metalayers::parse_trailer_section(&trailer.bytes);
    let place = trailer.place(reporter.files);
    let vlmetalayers = reporter.value_or_report(vlmetalayers, FramePart::Trailer, place)?;
    for vlmetalayer in vlmetalayers.iter().flatten() {
        report_vlmetalayer(&trailer, vlmetalayer, reporter)?;
    }
    Ok(Some(trailer))
}

/// Checks a metalayer of variable length, and reports it if it is damaged. Returns whether it is whole.
pub(crate) fn report_vlmetalayer(
    trailer: &StoredPart,
    vlmetalayer: &Metalayer<'_>,
    reporter: &mut Reporter<'_>,
) -> Result<bool> {
    let Err(error) = parts::check_vlmetalayer(vlmetalayer) else { return Ok(true) };
    let place = trailer.place_of(reporter.files, vlmetalayer.content);
    reporter.report_part(FramePart::Vlmetalayer, place, &named_error(vlmetalayer, error))?;
    Ok(false)
}

/// Reads and checks the index. Returns it with its entries if they could be decoded.
fn read_index(
    header: &FrameHeader,
    limit: u64,
    reporter: &mut Reporter<'_>,
) -> Result<Option<(StoredPart, Offsets)>> {
    let read = parts::read_index(reporter.files, header, limit);
    let index =
        reporter.value_or_report(read, FramePart::Index, reporter.place(load::index_offset(header), None))?;
    if let Some((index, offsets)) = &index {
        let place = index.place(reporter.files);
        reporter.value_or_report(load::check_offsets(header, offsets), FramePart::Index, place)?;
    }
    Ok(index)
}
