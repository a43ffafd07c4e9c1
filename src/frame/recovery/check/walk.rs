//! The check of all chunks of a frame: each chunk, their order in the file, and the sum of their sizes.

use super::array::ArrayCheck;
use super::chunks::{CheckedChunk, ChunkChecker};
use super::overlap::OverlapCheck;
use super::parts;
use super::report::{DamagePlace, FramePart, Reporter};
use crate::chunk::ChunkHeader;
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::frame::FrameKind;
use crate::frame::format::header::FrameHeader;
use crate::frame::format::index::Offsets;

/// The number of checked entries without bytes whose results are kept.
const MAX_KNOWN_SPECIALS: usize = 16;

/// The check of all chunks of a frame.
pub(super) struct ChunkWalk<'a> {
    header: &'a FrameHeader,
    offsets: &'a Offsets,
    /// Whether the sizes of the chunks are compared with those in the header: not if it has another checksum.
    is_header_whole: bool,
    array: ArrayCheck,
    /// Sum of the uncompressed sizes of the chunks so far, in bytes; `None` after a damaged chunk.
    nbytes: Option<i64>,
    overlaps: OverlapCheck,
    /// Whether a stored chunk has another size than its number requires.
    has_unexpected_size: bool,
}

impl<'a> ChunkWalk<'a> {
    /// Prepares the check of the chunks with these entries in the index.
    pub(super) fn new(
        header: &'a FrameHeader,
        offsets: &'a Offsets,
        is_header_whole: bool,
        array: ArrayCheck,
    ) -> ChunkWalk<'a> {
        ChunkWalk {
            header,
            offsets,
            is_header_whole,
            array,
            nbytes: Some(0),
            overlaps: OverlapCheck::default(),
            has_unexpected_size: false,
        }
    }

    fn nchunks(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// Checks all chunks and reports the damaged ones.
    pub(super) fn run(mut self, checker: &ChunkChecker<'_>, reporter: &mut Reporter<'_>) -> Result<()> {
        self.check_specials(reporter)?;
        checker.for_each_stored(self.offsets, &mut |chunk| self.check_stored(chunk, reporter))?;
        match self.nbytes {
            Some(nbytes) if self.is_header_whole && nbytes != self.header.nbytes => {
                self.report_sizes(nbytes, checker, reporter)
            }
            _ => Ok(()),
        }
    }

    fn add_nbytes(&mut self, nbytes: i32, count: u64) {
        let added = i64::try_from(count).ok().and_then(|count| count.checked_mul(i64::from(nbytes)));
        self.nbytes = self.nbytes.zip(added).and_then(|(sum, added)| sum.checked_add(added));
    }

    /// Checks the chunks without bytes.
    fn check_specials(&mut self, reporter: &mut Reporter<'_>) -> Result<()> {
        let list = match self.offsets {
            Offsets::Uniform { code, len } if *code < 0 && *len > 0 => {
                return self.check_uniform_specials(*code, reporter);
            }
            Offsets::Uniform { .. } => return Ok(()),
            Offsets::List(list) => list,
        };
        // A frame has few different entries of this kind, and each needs the same check.
        let mut known: Vec<((i64, bool), Result<i32>)> = fallible::vec_with_capacity(MAX_KNOWN_SPECIALS)?;
        for (n, &code) in (0u64..).zip(list).filter(|&(_, &code)| code < 0) {
            let is_last = n + 1 == self.nchunks();
            let at = match known.iter().position(|(key, _)| *key == (code, is_last)) {
                Some(at) => at,
                None => {
                    if known.len() == MAX_KNOWN_SPECIALS {
                        known.clear();
                    }
                    known.push(((code, is_last), parts::check_special(self.header, code, is_last)));
                    known.len() - 1
                }
            };
            match &known[at].1 {
                Ok(nbytes) => {
                    self.add_nbytes(*nbytes, 1);
                    if let Err(error) = self.array.check_special(n, *nbytes) {
                        reporter.report_chunk(n, DamagePlace::unknown(), &error)?;
                    }
                }
                Err(error) => {
                    self.nbytes = None;
                    reporter.report_chunk(n, DamagePlace::unknown(), error)?;
                }
            }
        }
        Ok(())
    }

    /// Checks an index of equal entries without bytes. A damaged one is reported as one damaged part: a few bytes can
    /// describe 250 million chunks.
    fn check_uniform_specials(&mut self, code: i64, reporter: &mut Reporter<'_>) -> Result<()> {
        let count = self.nchunks();
        let last = parts::check_special(self.header, code, true);
        let full = if count > 1 { parts::check_special(self.header, code, false) } else { Ok(0) };
        let sizes = full.and_then(|full| Ok((full, last?)));
        match sizes
            .and_then(|(full, last)| self.array.check_uniform(count, full, last).map(|()| (full, last)))
        {
            Ok((full, last)) => {
                self.add_nbytes(full, count - 1);
                self.add_nbytes(last, 1);
                Ok(())
            }
            Err(error) => {
                self.nbytes = None;
                let error = Error::new(error.kind(), format_args!("all {count} chunks: {error}"));
                reporter.report_part(FramePart::Index, DamagePlace::unknown(), &error)
            }
        }
    }

    /// Records a stored chunk, and reports it if it is damaged.
    fn check_stored(&mut self, chunk: &CheckedChunk<'_>, reporter: &mut Reporter<'_>) -> Result<()> {
        let (header, bytes) = match &chunk.content {
            Ok(content) => content,
            Err(error) => return self.report_stored(chunk, error, reporter),
        };
        if let Err(error) = self.check_size(header) {
            return self.report_stored(chunk, &error, reporter);
        }
        let count = chunk.numbers.len();
        self.add_nbytes(header.nbytes, count);
        for n in chunk.numbers.iter() {
            if let Err(error) = self.array.check(n, header) {
                reporter.report_chunk(n, chunk.place, &error)?;
            }
        }
        let is_expected =
            |n| parts::is_possible_nbytes(self.header, n, self.offsets.len() as u64, header.nbytes);
        self.has_unexpected_size |= self.header.chunksize > 0 && !chunk.numbers.iter().all(is_expected);
        if self.header.kind == FrameKind::Contiguous && self.overlaps.add(chunk, bytes.len(), reporter)? {
            self.nbytes = None;
        }
        Ok(())
    }

    /// Checks that the chunk is not larger than the frame's chunks are.
    fn check_size(&self, header: &ChunkHeader) -> Result<()> {
        let chunksize = self.header.chunksize;
        if self.is_header_whole && chunksize > 0 && header.nbytes > chunksize {
            let nbytes = header.nbytes;
            return Err(err!(
                Data,
                "the chunk has {nbytes} uncompressed bytes, expected at most {chunksize}"
            ));
        }
        Ok(())
    }

    fn report_stored(
        &mut self,
        chunk: &CheckedChunk<'_>,
        error: &Error,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        self.nbytes = None;
        chunk.numbers.iter().try_for_each(|n| reporter.report_chunk(n, chunk.place, error))
    }

    /// Reports the chunks whose sizes do not add up to that in the header, or the header if no single chunk has an
    /// unexpected size. Chunks of a frame that was reordered may have unexpected sizes with the right sum.
    fn report_sizes(
        &self,
        nbytes: i64,
        checker: &ChunkChecker<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Result<()> {
        if !self.has_unexpected_size {
            let expected = self.header.nbytes;
            let error =
                err!(Data, "the chunks have {nbytes} uncompressed bytes, expected {expected} by the header");
            return reporter.report_part(FramePart::Header, DamagePlace::unknown(), &error);
        }
        let mut buffer = Vec::new();
        for (n, code) in (0u64..).zip(self.offsets.iter()) {
            let Ok(location) = u64::try_from(code) else { continue };
            checker.read(location, &mut buffer)?;
            let found = ChunkHeader::parse(&buffer)?.nbytes;
            if !parts::is_possible_nbytes(self.header, n, self.nchunks(), found) {
                let expected = self.header.chunksize;
                let error = err!(Data, "the chunk has {found} uncompressed bytes, expected {expected}");
                let place = DamagePlace::new(checker.file_offset(location), Some(buffer.len() as u64));
                reporter.report_chunk(n, place, &error)?;
            }
        }
        Ok(())
    }
}
