//! What is left of a damaged frame: its header, its metalayers, and the list of its chunks.

use super::header::{RecoveredHeader, recover_header};
use super::index::read_credible_index;
use super::metadata::{self, TrailerHints, recover_metalayers, recover_vlmetalayers};
use super::numbers::{Findable, checksums_of_found, entries_by_checksum, uncertain_numbers};
use super::scan::{Findings, FoundChunk, ScanRules, scan};
use super::sections::{FileWindow, header_len_from_section};
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::checksums::{ChecksumTable, checksum};
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::Offsets;
use crate::frame::format::metalayers::{self, OwnedMetalayer};
use crate::frame::recovery::check::chunks::ChunkChecker;
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::parts::{self, StoredPart};
use crate::frame::recovery::check::report::{DamagePlace, FramePart, Reporter, damage_of, if_whole};
use crate::frame::recovery::check::table::{
    CheckedParts, ChunkChecksums, find_table, report_checksums, search_table, stated_index_end,
};
use crate::frame::recovery::check::verify::{
    CheckOptions, report_header, report_other_data, report_short_file,
};
use crate::frame::store::load;
use std::ops::Range;

impl Default for ChunkList {
    fn default() -> ChunkList {
        ChunkList::Indexed(Offsets::default())
    }
}

pub(super) enum ChunkList {
    /// The entries of an index. The chunks are not checked yet.
    Indexed(Offsets),
    /// Chunks that were found by their headers, in the order of their places. They are whole.
    Found(Vec<FoundChunk>),
}

/// What is left of a frame.
pub(super) struct Survey {
    /// The header that the chunks are read with.
    pub header: FrameHeader,
    /// Whether the header is made of defaults.
    pub is_header_lost: bool,
    /// Whether no damage of the header was found.
    pub is_header_whole: bool,
    pub chunks: ChunkList,
    /// Whether the order of the chunks is that of their places, because the index is lost.
    pub is_order_guessed: bool,
    pub metalayers: Vec<OwnedMetalayer>,
    pub vlmetalayers: Vec<OwnedMetalayer>,
    pub checksums: ChunkChecksums,
}

/// The list of chunks while the other parts are being read.
#[derive(Default)]
struct FoundList {
    chunks: ChunkList,
    is_order_guessed: bool,
    /// The chunks that a scan has found; empty without a scan.
    found: Vec<FoundChunk>,
    /// The index, if there is one.
    index: Option<StoredPart>,
    /// Whether the index was found where the header says.
    is_index_stated: bool,
    /// The result of a scan for the trailer.
    scanned: Option<Option<Range<u64>>>,
}

impl FoundList {
    /// Returns whether the index was found where the header says, and the table has its checksum and one for each of its
    /// entries.
    fn is_whole(&self, table: &ChecksumTable) -> bool {
        match (&self.index, &self.chunks) {
            (Some(index), ChunkList::Indexed(offsets)) => {
                self.is_index_stated
                    && offsets.len() == table.nchunks
                    && table.check_index(index.at, checksum(&index.bytes)).is_ok()
            }
            _ => false,
        }
    }
}

impl Survey {
    /// Examines a frame and reports the damaged parts, except the chunks of an index.
    ///
    /// # Errors
    /// The error of the header if neither a header nor chunks are found; those of reading the file and of the report.
    pub(super) fn make(options: &CheckOptions<'_>, reporter: &mut Reporter<'_>) -> Result<Survey> {
        let RecoveredHeader { mut header, damage, is_lost } = recover_header(reporter.files)?;
        if let Some(error) = &damage {
            report_header(error, reporter)?;
        }
        let indexed = if is_lost {
            Err(err!(InvalidHeader, "the place of the index is not known"))
        } else {
            report_short_file(&header, reporter)?;
            list_by_header(&mut header, reporter)?
        };
        let table = match is_lost {
            true => search_table(reporter.files, &header)?,
            false => find_table(&header, stated_trailer(reporter.files, &header)?.as_ref(), reporter)?,
        };
        let checksums = checksums_of_any(table.as_ref())?;
        let metalayers = match is_lost {
            true => Vec::new(),
            false => recover_metalayers(&header, options, reporter)?,
        };
        let source = FrameSources {
            files: reporter.files,
            is_header_lost: is_lost,
            metalayers: &metalayers,
            checksums: &checksums,
            options,
        };
        let mut list = match indexed {
            Ok(list) => list,
            Err(error) => {
                let has_checksums = table.as_ref().is_some_and(|table| table.nchunks > 0);
                source.list_without_index(&mut header, &error, has_checksums, reporter)?
            }
        };
        let is_empty = match &list.chunks {
            ChunkList::Indexed(offsets) => offsets.len() == 0 && list.found.is_empty(),
            ChunkList::Found(found) => found.is_empty(),
        };
        if let (true, true, Some(error)) = (is_lost, is_empty, &damage) {
            return Err(Error::new(error.kind(), format_args!("{error}")));
        }
        let hints = TrailerHints {
            header: (!is_lost).then_some(&header),
            index_end: if list.is_index_stated { stated_index_end(reporter.files, &header) } else { None },
            scanned: list.scanned.take(),
        };
        let vlmetalayers = recover_vlmetalayers(&hints, reporter)?;
        if let Some(table) = &table {
            report_differences(&header, table, &list, reporter)?;
            if !list.is_whole(table) && table.nchunks > 0 {
                list.chunks = source.number_by_checksums(&mut header, table, &list)?;
                list.is_order_guessed = false;
            }
        }
        let checksums = match table {
            Some(table) => ChunkChecksums::ByNumber(table.chunks()?),
            None => ChunkChecksums::Unknown,
        };
        if reporter.count() == 0 {
            report_other_data(&header, reporter)?;
        }
        // Chunks are read wherever the file has them, whatever length the header gives.
        header.frame_len = reporter.files.len();
        Ok(Survey {
            header,
            is_header_lost: is_lost,
            is_header_whole: damage.is_none(),
            chunks: list.chunks,
            is_order_guessed: list.is_order_guessed,
            metalayers,
            vlmetalayers,
            checksums,
        })
    }
}

/// Returns the chunks of the index that is where the header says. If none is there, the length of the header is computed
/// from its metalayers, and corrected if the index is found with it. Reports a wrong length, and an index that does not
/// agree with the header. The inner result is the error of the index.
fn list_by_header(
    header: &mut FrameHeader,
    reporter: &mut Reporter<'_>,
) -> Result<std::result::Result<FoundList, Error>> {
    let mut error = damage_of(check_index(reporter.files, header))?.err();
    let mut list = damage_of(try_list_by_header(reporter.files, header))?;
    if list.is_err() {
        let (stated, header_len) = (header.header_len, computed_header_len(reporter.files, header)?);
        let frame_len = header.frame_len.max(header_len as u64);
        let corrected = FrameHeader { header_len, frame_len, ..header.clone() };
        if let Ok(found) = damage_of(try_list_by_header(reporter.files, &corrected))? {
            let wrong =
                err!(InvalidHeader, "the header has {stated} bytes, expected {header_len} by its metalayers");
            report_header(&wrong, reporter)?;
            error = damage_of(check_index(reporter.files, &corrected))?.err();
            (*header, list) = (corrected, Ok(found));
        }
    }
    match (list, error) {
        (Ok(list), Some(error)) => {
            let place = reporter.place(load::index_offset(header), None);
            reporter.report_part(FramePart::Index, place, &error)?;
            Ok(Ok(list))
        }
        (Ok(list), None) => Ok(Ok(list)),
        (Err(_), Some(error)) | (Err(error), None) => Ok(Err(error)),
    }
}

/// Makes the checks of the index that opening a frame makes.
fn check_index(files: &FrameFiles, header: &FrameHeader) -> Result<()> {
    if header.nbytes <= 0 {
        return Ok(());
    }
    let (_, offsets) = parts::read_index(files, header, header.frame_len)?;
    load::check_offsets(header, &offsets)
}

/// Returns the length of the header as its metalayers give it, or the stated one if they are damaged.
fn computed_header_len(files: &FrameFiles, header: &FrameHeader) -> Result<usize> {
    let computed = if_whole(header_len_from_section(&mut FileWindow::new(files)))?;
    Ok(computed.flatten().unwrap_or(header.header_len))
}

fn try_list_by_header(files: &FrameFiles, header: &FrameHeader) -> Result<FoundList> {
    if header.nbytes <= 0 {
        // A frame without chunks has no index. The trailer shows that no chunk was being added, and that the number of
        // bytes in the header is right.
        parts::read_trailer(files, header).and_then(metadata::check_section)?;
        return Ok(FoundList { scanned: Some(None), ..FoundList::default() });
    }
    let (index, offsets) = read_credible_index(files, header)?;
    let chunks = ChunkList::Indexed(offsets);
    Ok(FoundList { chunks, index: Some(index), is_index_stated: true, ..FoundList::default() })
}

/// Returns the trailer that is where the header says.
fn stated_trailer(files: &FrameFiles, header: &FrameHeader) -> Result<Option<StoredPart>> {
    if_whole(parts::read_trailer(files, header).and_then(metadata::check_section))
}

/// Returns the checksums of all chunks in ascending order.
fn checksums_of_any(table: Option<&ChecksumTable>) -> Result<ChunkChecksums> {
    let Some(table) = table else { return Ok(ChunkChecksums::Unknown) };
    let mut all = table.chunks()?;
    all.sort_unstable();
    Ok(ChunkChecksums::AnyOf(all))
}

/// Reports the header, the trailer and the index that have other checksums than the table.
fn report_differences(
    header: &FrameHeader,
    table: &ChecksumTable,
    list: &FoundList,
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let image = if_whole(parts::read_header_image(reporter.files, header))?;
    let trailer = stated_trailer(reporter.files, header)?;
    let index = match (&list.index, &list.chunks) {
        (Some(index), ChunkList::Indexed(offsets)) => Some((index, offsets)),
        _ => None,
    };
    let parts = CheckedParts { header: image.as_ref(), index, trailer: trailer.as_ref() };
    report_checksums(header, table, &parts, reporter)
}

/// A frame, and what is known of it without its index.
struct FrameSources<'a> {
    files: &'a FrameFiles,
    is_header_lost: bool,
    metalayers: &'a [OwnedMetalayer],
    checksums: &'a ChunkChecksums,
    options: &'a CheckOptions<'a>,
}

impl FrameSources<'_> {
    /// Finds all parts of the frame by their own bytes, from the end of the header on.
    fn scan(&self, header: &FrameHeader) -> Result<Findings> {
        let start = self.header_lens(header)?.into_iter().min().unwrap_or(0) as u64;
        let borrowed = metalayers::borrow(self.metalayers)?;
        let checker = ChunkChecker::new(
            self.files,
            header,
            &borrowed,
            self.checksums,
            self.options.nthreads,
            self.options.progress,
        );
        scan(self.files, &checker, start..self.files.len(), ScanRules::of_frame(header))
    }

    /// Returns the lengths of the header that it states and that follow from its metalayers; none for a lost header.
    fn header_lens(&self, header: &FrameHeader) -> Result<Vec<usize>> {
        Ok(match self.is_header_lost {
            true => Vec::new(),
            false => vec![header.header_len, computed_header_len(self.files, header)?],
        })
    }

    /// Finds the chunks by their headers, or by the names of their files. Reports the `error` of the index, and bytes that
    /// belong to no chunk. With checksums, which give the numbers, the list of a contiguous frame stays empty.
    fn list_without_index(
        &self,
        header: &mut FrameHeader,
        error: &Error,
        has_checksums: bool,
        reporter: &mut Reporter<'_>,
    ) -> Result<FoundList> {
        let files = self.files;
        let place = match self.is_header_lost {
            true => DamagePlace::unknown(),
            false => DamagePlace::new(files.file_offset(load::index_offset(header)), None),
        };
        let Findings { chunks, index, trailer, gaps } = self.scan(header)?;
        let scanned = Some(trailer);
        if let Some(index) = index {
            let found = Findable { index: &index, chunks: &chunks, gaps: &gaps };
            let entries = found.entries(header, &self.header_lens(header)?)?;
            let part = StoredPart { at: index.at, bytes: files.read_vec(index.at, index.len)? };
            if let Some((header_len, offsets)) = entries {
                reporter.report_part(FramePart::Index, place, error)?;
                header.header_len = header_len;
                header.cbytes = i64::try_from(index.at.saturating_sub(header_len as u64)).unwrap_or(i64::MAX);
                let (chunks, found) = (ChunkList::Indexed(offsets), chunks);
                return Ok(FoundList { chunks, found, index: Some(part), scanned, ..FoundList::default() });
            }
        }
        if has_checksums {
            reporter.report_part(FramePart::Index, place, error)?;
        } else {
            reporter.report_part(FramePart::Index, place, &uncertain_numbers(error))?;
        }
        if files.kind() == FrameKind::Sparse {
            let mut numbers = files.chunk_file_numbers()?;
            // Files without bytes belong to no chunk: releases before 3.3.4 left them behind.
            numbers.retain(|&number| files.chunk_file_len(u64::from(number)).is_ok_and(|len| len > 0));
            let numbers = fallible::collect(numbers.into_iter().map(i64::from))?;
            let chunks = ChunkList::Indexed(Offsets::List(numbers));
            return Ok(FoundList { chunks, is_order_guessed: true, scanned, ..FoundList::default() });
        }
        report_gaps(&gaps, reporter)?;
        if has_checksums {
            return Ok(FoundList { found: chunks, scanned, ..FoundList::default() });
        }
        let chunks = match self.is_header_lost {
            true => chunks,
            false => without_incomplete(header, chunks, reporter)?,
        };
        let chunks = ChunkList::Found(without_old_states(chunks, ScanRules::of_frame(header).chunksize));
        Ok(FoundList { chunks, is_order_guessed: true, scanned, ..FoundList::default() })
    }

    /// Returns the entries of an index for the chunks with the checksums of the table, wherever they are in the file.
    fn number_by_checksums(
        &self,
        header: &mut FrameHeader,
        table: &ChecksumTable,
        list: &FoundList,
    ) -> Result<ChunkList> {
        let scanned = match list.found.is_empty() && header.kind == FrameKind::Contiguous {
            true => self.scan(header)?.chunks,
            false => Vec::new(),
        };
        let chunks = if scanned.is_empty() { &list.found } else { &scanned };
        let index = match &list.chunks {
            ChunkList::Indexed(offsets) if list.index.is_some() => Some(offsets),
            _ => None,
        };
        if header.kind == FrameKind::Contiguous {
            // Offsets count from the start of the file.
            (header.header_len, header.cbytes) = (0, i64::try_from(self.files.len()).unwrap_or(i64::MAX));
        }
        let found = checksums_of_found(self.files, chunks)?;
        Ok(ChunkList::Indexed(entries_by_checksum(&table.chunks()?, &found, index)?))
    }
}

/// Reports the bytes that belong to no chunk.
fn report_gaps(gaps: &[Range<u64>], reporter: &mut Reporter<'_>) -> Result<()> {
    gaps.iter().try_for_each(|gap| {
        let len = gap.end - gap.start;
        let error = err!(Data, "{len} bytes at offset {} are no chunk, index or trailer", gap.start);
        reporter.report_part(FramePart::Chunk, reporter.place(gap.start, Some(len)), &error)
    })
}

/// Removes the chunk of an append that was interrupted, unless it is proven to be complete. It begins where the index was,
/// and the old bytes behind the new ones may belong to its content; but if the file has grown, all bytes up to its end
/// are new. Reports the chunk.
fn without_incomplete(
    header: &FrameHeader,
    mut chunks: Vec<FoundChunk>,
    reporter: &mut Reporter<'_>,
) -> Result<Vec<FoundChunk>> {
    if reporter.files.len() > header.frame_len {
        return Ok(chunks);
    }
    let data_end = load::index_offset(header);
    let complete = chunks.partition_point(|chunk| chunk.at < data_end);
    for chunk in chunks.drain(complete..) {
        let error =
            err!(Data, "the chunk at offset {} is behind the data section and may be incomplete", chunk.at);
        let place = reporter.place(chunk.at, Some(u64::from(chunk.cbytes)));
        reporter.report_part(FramePart::Chunk, place, &error)?;
    }
    Ok(chunks)
}

/// Removes all chunks but the last one of those that are shorter than the others: they are earlier states of it.
fn without_old_states(mut chunks: Vec<FoundChunk>, chunksize: Option<i32>) -> Vec<FoundChunk> {
    let Some(chunksize) = chunksize else { return chunks };
    let last_short = chunks.iter().rposition(|chunk| chunk.nbytes != chunksize);
    let mut position = 0;
    chunks.retain(|chunk| {
        position += 1;
        chunk.nbytes == chunksize || last_short == Some(position - 1)
    });
    chunks
}
