//! Copying the whole chunks of a damaged frame, and filling the places of the others.

use super::blocks::{PatchedChunk, without_damaged_blocks};
use super::header::complete_header;
use super::index::LOST;
use super::numbers::not_found;
use super::orphans::find_orphans;
use super::output::NewFrame;
use super::scan::FoundChunk;
use super::sizes::{UNKNOWN, UncompressedSizes};
use super::survey::{ChunkList, Survey};
use crate::chunk::ChunkHeader;
use crate::chunk::container::B2ND_METALAYER;
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::{Offsets, decode_entry, encode_entry};
use crate::frame::format::metalayers;
use crate::frame::recovery::check::chunks::{CheckedChunk, ChunkChecker, ChunkNumbers};
use crate::frame::recovery::check::files::FrameFiles;
use crate::frame::recovery::check::overlap::OverlapCheck;
use crate::frame::recovery::check::parts;
use crate::frame::recovery::check::report::{DamagePlace, FramePart, Reporter};
use crate::frame::recovery::check::table::ChunkChecksums;
use crate::frame::recovery::check::verify::CheckOptions;

pub(super) struct CopiedChunks {
    /// The header of the new frame, except its lengths.
    pub header: FrameHeader,
    pub offsets: Offsets,
    /// Number of chunks that were copied, or that are whole without bytes.
    pub saved: u64,
}

/// Copies all whole chunks to `frame` and determines the sizes of the others. Reports damaged chunks.
pub(super) fn copy_chunks(
    survey: &Survey,
    options: &CheckOptions<'_>,
    frame: &mut NewFrame,
    reporter: &mut Reporter<'_>,
) -> Result<CopiedChunks> {
    let mut copy = match &survey.chunks {
        ChunkList::Indexed(offsets) => copy_indexed(survey, offsets, options, frame, reporter)?,
        ChunkList::Found(found) => copy_found(reporter.files, survey, found, options, frame)?,
    };
    complete_header(&mut copy.header, survey.is_header_lost, copy.first.as_ref());
    if survey.is_order_guessed {
        copy.move_short_chunk_last(&survey.header);
        let is_array = survey.metalayers.iter().any(|(name, _)| name == B2ND_METALAYER.to_bytes());
        if survey.is_header_whole || is_array {
            copy.add_missing(&survey.header, reporter)?;
        }
    }
    copy.drop_contradictions(&survey.header, reporter)?;
    copy.set_sizes(&survey.header, frame, reporter)?;
    let (stated, found) = (sizes_of(&survey.header), sizes_of(&copy.header));
    if reporter.count() == 0 && stated != found && copy.offsets.len() > 0 {
        let error = err!(
            Data,
            "the chunks have {} uncompressed bytes in chunks of {}, expected {} in chunks of {} by the header",
            found.0,
            found.1,
            stated.0,
            stated.1
        );
        reporter.report_part(FramePart::Header, DamagePlace::unknown(), &error)?;
    }
    let blocksize = survey.header.blocksize;
    if reporter.count() == 0 && blocksize != copy.header.blocksize && copy.offsets.iter().any(|code| code < 0)
    {
        let error =
            err!(InvalidHeader, "`blocksize` is {blocksize}, with which chunks without bytes cannot be read");
        reporter.report_part(FramePart::Header, DamagePlace::unknown(), &error)?;
    }
    // A frame of 0 bytes has no chunks for readers.
    let saved = if copy.header.nbytes > 0 { copy.saved } else { 0 };
    Ok(CopiedChunks { header: copy.header, offsets: copy.offsets, saved })
}

/// Returns the sum of the sizes and the common size of the chunks.
fn sizes_of(header: &FrameHeader) -> (i64, i32) {
    (header.nbytes, header.chunksize)
}

pub(super) struct ChunkCopy {
    pub header: FrameHeader,
    /// The entries of the new index; [`LOST`] for lost chunks.
    pub offsets: Offsets,
    pub sizes: UncompressedSizes,
    /// The sizes that the headers of lost chunks give: number of the chunk, size in bytes.
    pub claimed: Vec<(u64, i32)>,
    /// The header of the first chunk in the order of the places.
    first: Option<ChunkHeader>,
    overlaps: OverlapCheck,
    /// Number of chunks that were copied, or that are whole without bytes.
    pub saved: u64,
}

fn copy_indexed(
    survey: &Survey,
    offsets: &Offsets,
    options: &CheckOptions<'_>,
    frame: &mut NewFrame,
    reporter: &mut Reporter<'_>,
) -> Result<ChunkCopy> {
    let metalayers = metalayers::borrow(&survey.metalayers)?;
    let checker = ChunkChecker::new(
        reporter.files,
        &survey.header,
        &metalayers,
        &survey.checksums,
        options.nthreads,
        options.progress,
    );
    let sizes = match offsets {
        Offsets::Uniform { len, .. } => {
            UncompressedSizes::All(UNKNOWN, u32::try_from(*len).unwrap_or(u32::MAX))
        }
        Offsets::List(list) => UncompressedSizes::List(fallible::filled(UNKNOWN, list.len())?),
    };
    let mut copy = ChunkCopy {
        header: survey.header.clone(),
        offsets: crate::frame::format::plan::copy_offsets(offsets)?,
        sizes,
        claimed: Vec::new(),
        first: None,
        overlaps: OverlapCheck::default(),
        saved: 0,
    };
    checker.for_each_stored(offsets, &mut |chunk| copy.copy_stored(chunk, &checker, frame, reporter))?;
    for (n, _) in (0u64..).zip(offsets.iter()).filter(|&(_, code)| code == LOST) {
        reporter.report_chunk(n, DamagePlace::unknown(), &not_found())?;
    }
    if !matches!(survey.checksums, ChunkChecksums::ByNumber(_)) {
        // No entry of an index with its checksum is damaged.
        copy.adopt_orphans(&checker, offsets, frame, reporter)?;
    }
    copy.correct_special_entries(reporter)?;
    Ok(copy)
}

fn copy_found(
    files: &FrameFiles,
    survey: &Survey,
    found: &[FoundChunk],
    options: &CheckOptions<'_>,
    frame: &mut NewFrame,
) -> Result<ChunkCopy> {
    let (mut codes, mut sizes) =
        (fallible::filled(LOST, found.len())?, fallible::filled(UNKNOWN, found.len())?);
    let mut first = None;
    let mut bytes = Vec::new();
    for (chunk, (code, size)) in found.iter().zip(codes.iter_mut().zip(&mut sizes)) {
        files.read_into(chunk.at, u64::from(chunk.cbytes), &mut bytes)?;
        if first.is_none() {
            first = ChunkHeader::parse(&bytes).ok();
        }
        *code = frame.append(&bytes)?;
        *size = chunk.nbytes;
        (options.progress)(u64::from(chunk.cbytes));
    }
    Ok(ChunkCopy {
        header: survey.header.clone(),
        offsets: Offsets::List(codes),
        sizes: UncompressedSizes::List(sizes),
        claimed: Vec::new(),
        first,
        overlaps: OverlapCheck::default(),
        saved: found.len() as u64,
    })
}

impl ChunkCopy {
    /// Copies a whole chunk. Reports a damaged chunk; its whole blocks are copied if its record gives them, otherwise its
    /// numbers are marked as lost.
    fn copy_stored(
        &mut self,
        chunk: &CheckedChunk<'_>,
        checker: &ChunkChecker<'_>,
        frame: &mut NewFrame,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        match &chunk.content {
            Ok((header, bytes)) => {
                // All bytes of a chunk file: if the length in the chunk header is too small, they are still decoded.
                let code = frame.append(bytes)?;
                self.set_codes(chunk.numbers, code)?;
                self.sizes.set(chunk.numbers, header.nbytes);
                self.first.get_or_insert(*header);
                self.saved += chunk.numbers.len();
                if self.header.kind == FrameKind::Contiguous {
                    self.overlaps.add(chunk, bytes.len(), reporter)?;
                }
                Ok(())
            }
            Err(error) => {
                if let Some((bytes, units)) = &chunk.units
                    && let Some(patched) = without_damaged_blocks(bytes, units)?
                    && let Ok(header) = checker.check(&patched.bytes)
                {
                    let code = frame.append(&patched.bytes)?;
                    self.set_codes(chunk.numbers, code)?;
                    self.sizes.set(chunk.numbers, header.nbytes);
                    self.first.get_or_insert(header);
                    let PatchedChunk { lost, nblocks, .. } = patched;
                    let error = err!(Data, "{error}; zeros replace the blocks {lost:?} of {nblocks}");
                    return chunk
                        .numbers
                        .iter()
                        .try_for_each(|n| reporter.report_chunk(n, chunk.place, &error));
                }
                self.set_codes(chunk.numbers, LOST)?;
                if let (ChunkNumbers::List(list), Some(nbytes)) = (chunk.numbers, chunk.claimed_nbytes) {
                    list.iter()
                        .try_for_each(|&n| fallible::push(&mut self.claimed, (u64::from(n), nbytes)))?;
                }
                chunk.numbers.iter().try_for_each(|n| reporter.report_chunk(n, chunk.place, error))
            }
        }
    }

    /// Copies whole chunks to which no valid entry refers into the places of the lost ones, if there are as many: entries
    /// that cannot be those of a chunk, and entries of chunks without bytes that no writer writes.
    fn adopt_orphans(
        &mut self,
        checker: &ChunkChecker<'_>,
        offsets: &Offsets,
        frame: &mut NewFrame,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        let (Offsets::List(source), Offsets::List(codes)) = (offsets, &self.offsets) else { return Ok(()) };
        let positions = |is_wanted: fn(i64) -> bool| -> Result<Vec<usize>> {
            let all = codes.iter().enumerate();
            fallible::collect(all.filter(|&(_, &code)| is_wanted(code)).map(|(n, _)| n))
        };
        let lost = positions(|code| code == LOST)?;
        let unusual = positions(|code| code < 0 && parts::special_kind(code).is_err())?;
        if unusual.is_empty() {
            return Ok(());
        }
        let stored = source.iter().zip(codes).filter(|&(_, &code)| code >= 0);
        let mut known = fallible::collect(stored.filter_map(|(&location, _)| u64::try_from(location).ok()))?;
        known.sort_unstable();
        let orphans = find_orphans(reporter.files, checker, &self.header, &known)?.unwrap_or_default();
        let Some(places) = [unusual, lost].into_iter().find(|places| places.len() == orphans.len()) else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        for (n, chunk) in places.into_iter().zip(orphans) {
            if let Some(error) = self.offsets.get(n).filter(|&code| code != LOST).and_then(special_error) {
                reporter.report_chunk(n as u64, DamagePlace::unknown(), &error)?;
            }
            reporter.files.read_into(chunk.at, u64::from(chunk.cbytes), &mut bytes)?;
            let code = frame.append(&bytes)?;
            let number = [n as u32];
            self.set_codes(ChunkNumbers::List(&number), code)?;
            self.sizes.set(ChunkNumbers::List(&number), chunk.nbytes);
            self.claimed.retain(|&(claimed, _)| claimed != n as u64);
            self.saved += 1;
        }
        Ok(())
    }

    /// Replaces entries of chunks without bytes that have other bits than writers write by those that readers read, and
    /// reports these chunks.
    fn correct_special_entries(&mut self, reporter: &mut Reporter<'_>) -> Result<()> {
        let corrected = |code: i64| decode_entry(code).map_or(LOST, encode_entry);
        match &mut self.offsets {
            Offsets::Uniform { code, .. } => {
                if let Some(error) =
                    Some(*code).filter(|&code| code < 0 && code != LOST).and_then(special_error)
                {
                    *code = corrected(*code);
                    reporter.report_part(FramePart::Index, DamagePlace::unknown(), &error)?;
                }
            }
            Offsets::List(list) => {
                for (n, code) in (0u64..).zip(list).filter(|(_, code)| **code < 0 && **code != LOST) {
                    if let Some(error) = special_error(*code) {
                        *code = corrected(*code);
                        reporter.report_chunk(n, DamagePlace::unknown(), &error)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn set_codes(&mut self, numbers: ChunkNumbers<'_>, code: i64) -> Result<()> {
        match numbers {
            ChunkNumbers::All(count) => {
                self.offsets = Offsets::Uniform { code, len: count as usize };
                Ok(())
            }
            ChunkNumbers::List(list) => list.iter().try_for_each(|&n| self.offsets.set(n as usize, code)),
        }
    }
}

/// Returns the error of an entry that is not that of a chunk without bytes.
fn special_error(code: i64) -> Option<Error> {
    parts::special_kind(code).err()
}
