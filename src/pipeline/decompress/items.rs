//! Reading some items of a chunk (`chunk.md` 4.5): only the blocks that hold them are decoded.

use super::super::params::DecompressParams;
use super::super::scratch::{self, Scratch};
use super::outcome::Decompressed;
use super::plan::DecodePlan;
use crate::chunk::{ChunkHeader, StoredChunk};
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use std::ops::Range;

/// Which part of a chunk is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemRange {
    /// In items of the size that the chunk stores.
    Items {
        /// The first item.
        start: i32,
        /// How many.
        nitems: i32,
    },
    /// In bytes, both multiples of the stored item size.
    Bytes {
        /// The first byte.
        start: i32,
        /// How many.
        nbytes: i32,
    },
}

impl ItemRange {
    /// The range in bytes, checked against the chunk and the destination in the order of the reference.
    fn resolve(self, header: &ChunkHeader, destsize: usize) -> Result<Range<usize>> {
        let typesize = i64::from(header.typesize);
        let (start, nitems) = match self {
            ItemRange::Items { start, nitems } => (i64::from(start), i64::from(nitems)),
            ItemRange::Bytes { start, nbytes } => (i64::from(start) / typesize, i64::from(nbytes) / typesize),
        };
        if nitems == 0 {
            return Ok(0..0);
        }
        if nitems < 0 {
            return Err(err!(InvalidParam, "{nitems} items"));
        }
        let nbytes = nitems * typesize;
        if nbytes > i64::from(i32::MAX) || nbytes > destsize as i64 {
            return Err(err!(WriteBuffer, "{nbytes} bytes do not fit into {destsize}"));
        }
        let end = (start + nitems) * typesize;
        if start < 0 || end > i64::from(header.nbytes) {
            return Err(err!(InvalidParam, "items {start}+{nitems} of {} bytes", header.nbytes));
        }
        Ok((end - nbytes) as usize..end as usize)
    }

    fn check_alignment(self, header: &ChunkHeader) -> Result<()> {
        if let ItemRange::Bytes { start, nbytes } = self {
            let typesize = i32::from(header.typesize);
            if start < 0 || nbytes < 0 || start % typesize != 0 || nbytes % typesize != 0 {
                return Err(err!(InvalidParam, "bytes {start}+{nbytes} of items of {typesize} bytes"));
            }
        }
        Ok(())
    }
}

/// Reads a part of `chunk` into the start of `dest`.
///
/// # Errors
/// `InvalidParam` for a part that is not there or a chunk of variable-length blocks, `WriteBuffer` when `dest` is
/// too short, and those of decompression.
pub(crate) fn getitem(
    params: &DecompressParams<'_>,
    chunk: &StoredChunk<'_>,
    wanted: ItemRange,
    dest: &mut [u8],
) -> Result<Decompressed> {
    let header = chunk.header();
    if header.has_varlen_blocks() {
        return Err(err!(InvalidParam, "items of variable-length blocks"));
    }
    wanted.check_alignment(header)?;
    chunk.check_len()?;
    let range = wanted.resolve(header, dest.len())?;
    let nbytes = range.len();
    if nbytes == 0 {
        return Ok(Decompressed { nbytes, used_dictionary: false });
    }
    if chunk.class().is_err() {
        return Err(err!(SchunkSpecial, "a special value that is not defined"));
    }
    // A mask is for whole chunks (chunk.md 10.18).
    let params = DecompressParams { mask: None, ..*params };
    let dest = &mut dest[..nbytes];
    DecodePlan::with(chunk, &params, |plan| {
        match plan.uncoded() {
            Some(content) => content.read(range.start, dest)?,
            None => decode_range(plan, range, dest)?,
        }
        Ok(Decompressed { nbytes, used_dictionary: plan.has_dictionary() })
    })
}

/// Decodes the blocks that touch `range` and keeps what lies in it.
fn decode_range(plan: &DecodePlan<'_>, range: Range<usize>, dest: &mut [u8]) -> Result<()> {
    let blocksize = plan.blocks().blocksize();
    let touched = range.start / blocksize..range.end.div_ceil(blocksize);
    let reference =
        if plan.needs_first_block() && touched.end > 1 { Some(plan.reference_block()?) } else { None };
    scratch::with(|scratch| {
        for nblock in touched {
            let block = plan.range(nblock);
            let part = block.start.max(range.start)..block.end.min(range.end);
            let place = &mut dest[part.start - range.start..part.end - range.start];
            let reference = reference.as_deref().filter(|_| nblock > 0);
            if part == block {
                plan.decode_block(nblock, 0, &mut scratch.coding, place, reference)?;
            } else {
                let inside = part.start - block.start..part.end - block.start;
                decode_inside(plan, nblock, inside, scratch, place, reference)?;
            }
        }
        Ok(())
    })
}

/// Decodes the bytes `inside`, a proper part of block `nblock`, into `dest` (same length).
fn decode_inside(
    plan: &DecodePlan<'_>,
    nblock: usize,
    inside: Range<usize>,
    scratch: &mut Scratch,
    dest: &mut [u8],
    reference: Option<&[u8]>,
) -> Result<()> {
    let Scratch { coding, decoded } = scratch;
    if plan.decode_part_by_codec(nblock, inside.clone(), coding, dest)? {
        return Ok(());
    }
    let len = plan.range(nblock).len();
    // Copying planes of a longer part costs as much as decoding less saves.
    if 2 * inside.len() <= len && plan.decode_prefixes(nblock, inside.clone(), coding, dest)? {
        return Ok(());
    }
    let block = decoded.get(len)?;
    plan.decode_block(nblock, 0, coding, block, reference)?;
    copy(&block[inside], dest);
    Ok(())
}
