//! Reads some items of a chunk (`chunk.md` 4.5): only the blocks that hold them are decoded.

use super::super::params::DecompressParams;
use super::super::scratch::{self, Scratch};
use super::outcome::DecompressOutcome;
use super::plan::DecodePlan;
use super::uncoded::read_uncoded;
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::err;
use crate::error::{Result, ensure};
use crate::filter::copy::copy;
use crate::out_buffer::OutBuffer;
use std::ops::Range;

/// The part of a chunk that is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemRange {
    /// In items of the size that the chunk stores.
    Items { start: i32, nitems: i32 },
    /// In bytes, both multiples of the stored item size.
    Bytes {
        /// The first byte.
        start: i32,
        nbytes: i32,
    },
}

impl ItemRange {
    /// Returns the range in bytes, checked against the chunk and the destination in the order of the reference.
    #[inline(always)]
    fn resolve(self, header: &ChunkHeader, destsize: usize) -> Result<Range<usize>> {
        let typesize = i64::from(header.typesize);
        let (start, nitems) = match self {
            ItemRange::Items { start, nitems } => (i64::from(start), i64::from(nitems)),
            ItemRange::Bytes { start, nbytes } => (i64::from(start) / typesize, i64::from(nbytes) / typesize),
        };
        if nitems == 0 {
            return Ok(0..0);
        }
        ensure!(nitems >= 0, InvalidParam, "`nitems` is {nitems}, expected 0 or more");
        let nbytes = nitems * typesize;
        if nbytes > i64::from(i32::MAX) || nbytes > destsize as i64 {
            return Err(err!(WriteBuffer, "`destsize` is {destsize}, expected {nbytes} or more"));
        }
        let end = (start + nitems) * typesize;
        ensure!(
            start >= 0 && end <= i64::from(header.nbytes),
            InvalidParam,
            "`start` is {start}, `nitems` {nitems}, expected items inside {} bytes",
            header.nbytes,
        );
        Ok((end - nbytes) as usize..end as usize)
    }

    fn check_alignment(self, header: &ChunkHeader) -> Result<()> {
        if let ItemRange::Bytes { start, nbytes } = self {
            let typesize = i32::from(header.typesize);
            ensure!(
                start >= 0 && nbytes >= 0 && start % typesize == 0 && nbytes % typesize == 0,
                InvalidParam,
                "the part begins at {start} and has {nbytes} bytes, expected multiples of {typesize}",
            );
        }
        Ok(())
    }
}

/// Reads a part of `chunk` into the start of `dest`.
///
/// # Errors
/// `InvalidParam` for a part outside the content or a chunk of variable-length blocks, `WriteBuffer` when `dest` is
/// too short, and those of decompression.
pub(crate) fn getitem(
    params: &DecompressParams<'_>,
    chunk: &ParsedChunk<'_>,
    wanted: ItemRange,
    dest: OutBuffer<'_>,
) -> Result<DecompressOutcome> {
    getitem_with(chunk, params.postfilter.is_some(), wanted, dest, |range, dest| {
        RangeReader::open(params, chunk, |reader| reader.read(range, dest))
    })
}

/// As [`getitem`], but calls `decode`, with the bytes and their destination, if the chunk needs a plan.
#[inline(always)]
pub(crate) fn getitem_with(
    chunk: &ParsedChunk<'_>,
    has_postfilter: bool,
    wanted: ItemRange,
    mut dest: OutBuffer<'_>,
    decode: impl FnOnce(Range<usize>, OutBuffer<'_>) -> Result<DecompressOutcome>,
) -> Result<DecompressOutcome> {
    let header = chunk.header();
    check_equal_blocks(header)?;
    wanted.check_alignment(header)?;
    chunk.check_len()?;
    let range = wanted.resolve(header, dest.len())?;
    if range.is_empty() {
        return Ok(DecompressOutcome { nbytes: 0, used_dictionary: false });
    }
    let mut dest = dest.range(0..range.len());
    if !has_postfilter && let Some(done) = read_uncoded(chunk, &range, &mut dest)? {
        return Ok(done);
    }
    decode(range, dest)
}

fn check_equal_blocks(header: &ChunkHeader) -> Result<()> {
    ensure!(
        !header.has_varlen_blocks(),
        InvalidParam,
        "the chunk has variable-length blocks, expected blocks of equal size",
    );
    Ok(())
}

/// Reads ranges of the content of one chunk with one plan.
pub(crate) struct RangeReader<'a> {
    plan: &'a DecodePlan<'a>,
}

impl RangeReader<'_> {
    /// Checks `chunk` as a whole and passes its reader to `then`. Masks are for whole chunks and ignored here
    /// (`chunk.md` 10.18).
    ///
    /// # Errors
    /// `InvalidParam` for a chunk of variable-length blocks, `SchunkSpecial` for an undefined special value, those of
    /// decompression and of `then`.
    #[inline]
    pub(crate) fn open<R>(
        params: &DecompressParams<'_>,
        chunk: &ParsedChunk<'_>,
        then: impl FnOnce(&RangeReader<'_>) -> Result<R>,
    ) -> Result<R> {
        check_equal_blocks(chunk.header())?;
        ensure!(chunk.class().is_ok(), SchunkSpecial, "the kind of special chunk is not defined");
        let params = DecompressParams { mask: None, ..*params };
        DecodePlan::open(chunk, &params, |plan| then(&RangeReader { plan }))
    }

    /// Decodes the bytes `range` of the content into `dest` (same length).
    pub(crate) fn read(&self, range: Range<usize>, dest: OutBuffer<'_>) -> Result<DecompressOutcome> {
        let (nbytes, content) = (dest.len(), self.plan.header().nbytes());
        ensure!(
            range.end <= content && range.len() == nbytes,
            InvalidParam,
            "bytes {range:?} into {nbytes} bytes, expected a range of this length inside 0..{content}",
        );
        match self.plan.uncoded_content() {
            Some(content) => content.read(range.start, dest)?,
            None => decode_range(self.plan, range, dest)?,
        }
        Ok(DecompressOutcome { nbytes, used_dictionary: self.plan.has_dictionary() })
    }
}

/// Decodes the bytes `range` of the content, from the blocks that hold them, into `dest` (same length).
fn decode_range(plan: &DecodePlan<'_>, range: Range<usize>, dest: OutBuffer<'_>) -> Result<()> {
    // SAFETY: decoders write each byte before they read it.
    let dest = unsafe { dest.into_bytes() };
    let blocksize = plan.blocks().blocksize();
    let touched = range.start / blocksize..range.end.div_ceil(blocksize);
    let reference =
        if plan.needs_first_block() && touched.end > 1 { Some(plan.decode_reference_block()?) } else { None };
    scratch::with_scratch(|scratch| {
        for nblock in touched {
            let block = plan.block_range(nblock);
            let part = block.start.max(range.start)..block.end.min(range.end);
            let place = &mut dest[part.start - range.start..part.end - range.start];
            let reference = reference.as_deref().filter(|_| nblock > 0);
            if part == block {
                plan.decode_block(nblock, 0, &mut scratch.block_scratch, place, reference)?;
            } else {
                let inside = part.start - block.start..part.end - block.start;
                decode_block_part(plan, nblock, inside, scratch, place, reference)?;
            }
        }
        Ok(())
    })
}

/// Decodes the bytes `inside`, a proper part of block `nblock`, into `dest` (same length).
fn decode_block_part(
    plan: &DecodePlan<'_>,
    nblock: usize,
    inside: Range<usize>,
    scratch: &mut Scratch,
    dest: &mut [u8],
    reference: Option<&[u8]>,
) -> Result<()> {
    let Scratch { block_scratch, decoded_block } = scratch;
    let how = plan.part_decoding();
    if plan.decode_part_by_codec(how, nblock, inside.clone(), block_scratch, dest)? {
        return Ok(());
    }
    let len = plan.block_range(nblock).len();
    // For a longer part, copying the planes costs as much as the partial decoding saves.
    if 2 * inside.len() <= len && plan.decode_prefixes(how, nblock, inside.clone(), block_scratch, dest)? {
        return Ok(());
    }
    let block = decoded_block.get(len)?;
    plan.decode_block(nblock, 0, block_scratch, block, reference)?;
    copy(&block[inside], dest);
    Ok(())
}
