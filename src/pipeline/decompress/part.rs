//! Decoding some bytes of a block: streams are decoded only as far as these bytes need, and only these are unshuffled.

use super::super::scratch::BlockScratch;
use super::class::{BlockCoding, ChunkClass, prefix_codec};
use super::plan::DecodePlan;
use super::ranges::{self, ByteRanges, MAX_PLANES};
use super::streams::{each_stream, neblock};
use crate::chunk::stream::{self, Stream};
use crate::codec::WRITE_AHEAD;
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use crate::filter::shuffle::unshuffle;
use std::ops::Range;

/// Upper limit, in bytes, for gathering single bytes instead of unshuffling the items that hold them.
const MAX_SINGLE_BYTES: usize = 64;

/// Returns whether decoding only `wanted` of a `len`-byte block is cheaper than decoding all of it: at least 1/8 of the block
/// must be behind it.
pub(crate) fn skips_enough(wanted: &Range<usize>, len: usize) -> bool {
    !wanted.is_empty() && wanted.end <= len - len / 8
}

/// A block whose streams are decoded as far as a read needs them.
struct Planes<'a> {
    /// Byte `b` of item `i` is byte `b * count + i`.
    decoded: &'a [u8],
    /// Bytes of an item.
    unit: usize,
    /// Number of items.
    count: usize,
}

impl<'a> Planes<'a> {
    /// Decodes the streams of block `nblock` into `front` up to the item with byte `last`, which is in the block. `None` where
    /// the codec or the filters take the whole block.
    fn decode(
        plan: &DecodePlan<'_>,
        nblock: usize,
        last: usize,
        front: &'a mut [u8],
    ) -> Result<Option<Planes<'a>>> {
        let (Some(codec), Some(unit)) = (prefix_codec(plan.header), plan.unit_of_parts()) else {
            return Ok(None);
        };
        let len = plan.range(nblock).len();
        let nstreams = plan.nstreams(nblock);
        let Some(encoded) = plan.encoded(nblock).filter(|_| len.is_multiple_of(unit)) else {
            return Ok(None);
        };
        let decoded = &mut front[..len];
        let (count, last) = (len / unit, last / unit);
        let neblock = len / nstreams;
        let mut rest = encoded;
        for (n, part) in decoded.chunks_exact_mut(neblock).enumerate() {
            // As far as the last of the items whose bytes are in this stream.
            let start = n * neblock;
            let last_plane = (start + neblock - 1) / count;
            let needed = (last_plane * count + last + 1).min(start + neblock).saturating_sub(start);
            match stream::read(&mut rest, neblock)? {
                Stream::Run(value) => part.fill(value),
                Stream::Raw(raw) => copy(&raw[..needed], &mut part[..needed]),
                Stream::Coded(bytes) => {
                    let there = codec.decode_prefix(bytes, part, needed).unwrap_or(0);
                    if there < needed {
                        return Err(err!(Data, "a stream of {} bytes gave {there} of {needed}", bytes.len()));
                    }
                }
            }
        }
        Ok(Some(Planes { decoded, unit, count }))
    }
}

impl DecodePlan<'_> {
    /// Bytes that shuffling has moved apart (1 without it), for equal blocks in memory whose parts can be decoded alone as far as
    /// the filters go.
    fn unit_of_parts(&self) -> Option<usize> {
        if self.lazy.is_some() || self.params.postfilter.is_some() || self.has_dictionary() {
            return None;
        }
        match self.class {
            ChunkClass::Blocks(BlockCoding::Direct) => Some(1),
            ChunkClass::Blocks(BlockCoding::Shuffled { unit }) => Some(unit),
            _ => None,
        }
    }

    /// Decodes the bytes `wanted` of block `nblock`, which are in the block and not empty, into `dest`, which is as long, by
    /// decoding each stream only as far as it takes. `false` where that takes the whole block; the content of `dest` is
    /// undefined then.
    ///
    /// # Errors
    /// Those of decompression.
    pub(super) fn decode_prefixes(
        &self,
        nblock: usize,
        wanted: Range<usize>,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let BlockScratch { front, back, stream, .. } = scratch;
        let front = front.get(self.range(nblock).len())?;
        let Some(planes) = Planes::decode(self, nblock, wanted.end - 1, front)? else {
            return Ok(false);
        };
        let Planes { decoded, unit, count } = planes;
        if unit == 1 {
            copy(&decoded[wanted], dest);
            return Ok(true);
        }
        if dest.len() <= MAX_SINGLE_BYTES {
            for (at, byte) in wanted.zip(dest.iter_mut()) {
                *byte = decoded[at % unit * count + at / unit];
            }
            return Ok(true);
        }
        // The parts of the planes that hold the wanted items, one behind the other, and then these items.
        let (first, last) = (wanted.start / unit, (wanted.end - 1) / unit);
        let items = last + 1 - first;
        let parts = back.get(items * unit)?;
        for (n, part) in parts.chunks_exact_mut(items).enumerate() {
            copy(&decoded[n * count + first..][..items], part);
        }
        let skipped = wanted.start - first * unit;
        if skipped == 0 && dest.len() == parts.len() {
            unshuffle(unit, parts, dest);
        } else {
            let unshuffled = stream.get(parts.len())?;
            unshuffle(unit, parts, unshuffled);
            copy(&unshuffled[skipped..][..dest.len()], dest);
        }
        Ok(true)
    }

    /// Decodes the bytes `part` of block `nblock` into `dest`, which is as long, where a codec that decodes any part by itself
    /// (ZFP) has coded it and nothing else changes the block. `false` if not; `dest` is untouched then.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    pub(super) fn decode_part_by_codec(
        &self,
        nblock: usize,
        part: Range<usize>,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let is_direct = self.class == ChunkClass::Blocks(BlockCoding::Direct);
        if !is_direct || self.params.postfilter.is_some() || self.nstreams(nblock) != 1 {
            return Ok(false);
        }
        let decoder = self.decoder();
        let Some(decoder) = decoder.of_parts() else { return Ok(false) };
        let mut bytes = match &self.lazy {
            None => self.block_bytes(nblock)?,
            Some(blocks) => self.lazy_block_bytes(nblock, blocks, &mut scratch.stream)?,
        };
        let nbytes = self.range(nblock).len();
        match stream::read(&mut bytes, nbytes)? {
            Stream::Coded(coded) => decoder.decode_part(coded, nbytes, part, dest),
            Stream::Run(_) | Stream::Raw(_) => Ok(false),
        }
    }

    /// Decodes the bytes `ranges` of block `nblock`, all of which lie in `wanted`, to their places in `dest`, which has the
    /// block's length; other bytes of `dest` are undefined then. `false` where decoding the whole block is the only way or
    /// costs less; the content of `dest` is undefined then, too.
    ///
    /// # Errors
    /// Those of decompression.
    pub(super) fn decode_ranges(
        &self,
        nblock: usize,
        wanted: &Range<usize>,
        ranges: &dyn ByteRanges,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let len = dest.len();
        let is_shuffled = |coding| matches!(coding, BlockCoding::Shuffled { unit } if unit <= MAX_PLANES);
        let unit = match self.class {
            ChunkClass::Blocks(coding @ BlockCoding::Shuffled { unit }) if is_shuffled(coding) => unit,
            _ => return Ok(false),
        };
        if self.lazy.is_some() || self.params.postfilter.is_some() || !len.is_multiple_of(unit) || len == 0 {
            return Ok(false);
        }
        if !skips_enough(wanted, len) {
            return self.gather_from_streams(nblock, unit, ranges, scratch, dest);
        }
        if !ranges::is_worthwhile(ranges, unit, wanted.len()) {
            return Ok(false);
        }
        let front = scratch.front.get(len)?;
        let Some(decoded) = Planes::decode(self, nblock, wanted.end - 1, front)? else {
            return Ok(false);
        };
        let mut planes = [&[][..]; MAX_PLANES];
        for (plane, bytes) in planes.iter_mut().zip(decoded.decoded.chunks_exact(decoded.count)) {
            *plane = bytes;
        }
        ranges::gather_items(&planes[..unit], ranges, dest);
        Ok(true)
    }

    /// As [`decode_ranges`](Self::decode_ranges), of a block that is shuffled by items of `unit` bytes, at most [`MAX_PLANES`]:
    /// the streams are decoded whole.
    fn gather_from_streams(
        &self,
        nblock: usize,
        unit: usize,
        ranges: &dyn ByteRanges,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let len = dest.len();
        let Some(bytes) = self.block_bytes(nblock).ok().filter(|_| ranges::is_worthwhile(ranges, unit, len))
        else {
            return Ok(false);
        };
        let nstreams = self.nstreams(nblock);
        let neblock = neblock(len, nstreams);
        let mut raws = [None; MAX_PLANES];
        let BlockScratch { front, workspace, .. } = scratch;
        let front = front.get(len + WRITE_AHEAD)?;
        each_stream(
            || self.decoder(),
            nstreams,
            bytes,
            workspace,
            front,
            len,
            |nstream, raw, dest| {
                if nstreams == unit {
                    raws[nstream] = Some(&raw[..neblock]);
                } else {
                    copy(&raw[..neblock], &mut dest[..neblock]);
                }
            },
        )?;
        let mut planes = [&[][..]; MAX_PLANES];
        for (nstream, decoded) in front[..len].chunks_exact(len / unit).enumerate() {
            planes[nstream] = raws[nstream].unwrap_or(decoded);
        }
        ranges::gather_items(&planes[..unit], ranges, dest);
        Ok(true)
    }
}
