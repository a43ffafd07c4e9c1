//! Decodes some bytes of a block: streams are decoded only as far as these bytes need, and only these are unshuffled.

use super::super::scratch::{BlockScratch, ScratchBuffer};
use super::chunk_decoder::{ChunkDecoder, built_in_codec};
use super::plan::DecodePlan;
use super::ranges::{self, ByteRanges};
use super::streams::{MAX_PLANES, decode_planes};
use crate::chunk::class::{BlockCoding, ChunkClass, may_predate_dont_split};
use crate::chunk::format::codec_format;
use crate::chunk::stream::{self, Stream};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::codec::{BuiltInCodec, DECODE_SLACK, PluginCodec};
use crate::error::{Result, ensure};
use crate::filter::copy::copy;
use crate::filter::shuffle::unshuffle;
use std::ops::Range;

/// Upper limit, in bytes, for gathering single bytes instead of unshuffling the items that hold them.
const MAX_BYTEWISE_GATHER: usize = 64;

/// Returns whether decoding only `wanted` of a `len`-byte block is cheaper than decoding all of it: at least 1/8 must
/// be skipped.
pub(crate) fn is_partial_decode_worthwhile(wanted: &Range<usize>, len: usize) -> bool {
    !wanted.is_empty() && wanted.end <= len - len / 8
}

/// How some bytes of a block are decoded for less than the whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartDecoding {
    /// Not at all: the block is decoded whole.
    WholeBlock,
    /// By the partial decoder of a plugin codec (ZFP, fixed rate), from blocks of one stream.
    ByCodec,
    /// From the streams, which are in memory and at most shuffled.
    Streams {
        /// The codec, if it decodes prefixes of streams.
        prefix_codec: Option<BuiltInCodec>,
        /// Item size of the shuffle in bytes, 1 without shuffle.
        unit: usize,
    },
}

impl PartDecoding {
    /// Returns how parts of blocks of a chunk with that parsed header and class are decoded if no postfilter is set.
    /// With a postfilter, blocks are always decoded whole.
    pub(super) fn for_chunk(header: &ChunkHeader, class: ChunkClass) -> PartDecoding {
        let unit = match class {
            ChunkClass::Blocks(BlockCoding::Direct) => 1,
            ChunkClass::Blocks(BlockCoding::Shuffled { unit }) => unit,
            _ => return PartDecoding::WholeBlock,
        };
        // Only whole streams show whether a block of these chunks has several.
        if may_predate_dont_split(header) {
            return PartDecoding::WholeBlock;
        }
        let format = header.codec_format();
        let codec = built_in_codec(header);
        if codec.is_none() && unit == 1 && format == codec_format::UDCODEC {
            let plugin = PluginCodec::from_compcode(i32::from(header.udcompcode));
            return match plugin {
                Some(codec) if codec.can_decode_parts() => PartDecoding::ByCodec,
                _ => PartDecoding::WholeBlock,
            };
        }
        if header.is_lazy() {
            return PartDecoding::WholeBlock;
        }
        // Decoders of prefixes do not support dictionaries.
        let prefix_codec = codec.filter(|codec| codec.decodes_prefixes() && !header.has_dictionary());
        PartDecoding::Streams { prefix_codec, unit }
    }

    /// Returns the codec that decodes prefixes of streams, and the item size of the shuffle in bytes.
    pub(super) fn prefix_codec_and_unit(self) -> Option<(BuiltInCodec, usize)> {
        match self {
            PartDecoding::Streams { prefix_codec: Some(codec), unit } => Some((codec, unit)),
            _ => None,
        }
    }

    /// Returns the item size in bytes, at most [`MAX_PLANES`], if items can be gathered from decoded streams.
    fn gather_unit(self) -> Option<usize> {
        match self {
            PartDecoding::Streams { unit: unit @ 2..=MAX_PLANES, .. } => Some(unit),
            _ => None,
        }
    }
}

/// Returns whether decoding a few bytes of a block of `chunk` is cheaper than decoding the whole block, without
/// postfilter.
pub(crate) fn can_decode_prefixes(chunk: &ParsedChunk<'_>) -> bool {
    chunk
        .class()
        .is_ok_and(|class| PartDecoding::for_chunk(chunk.header(), class).prefix_codec_and_unit().is_some())
}

/// Returns whether reading a part of the chunk costs more than a copy or a fill, so that decoded blocks are worth
/// keeping.
pub(crate) fn is_worth_caching(chunk: &ParsedChunk<'_>) -> bool {
    match chunk.class() {
        Ok(ChunkClass::Memcpyed) => chunk.header().is_lazy(),
        Ok(class) => class.coding().is_some(),
        Err(_) => false,
    }
}

/// A block whose streams are decoded as far as a read needs them.
struct DecodedPlanes<'a> {
    /// Byte `b` of item `i` is byte `b * nitems + i`.
    bytes: &'a [u8],
    /// Item size in bytes.
    unit: usize,
    nitems: usize,
}

impl<'a> DecodedPlanes<'a> {
    /// Decodes the streams of block `nblock` into `front` up to the item with byte `last`, which is in the block.
    /// Returns `None` if only the whole block can be decoded; `front` is not used then.
    fn decode(
        plan: &DecodePlan<'_>,
        (codec, unit): (BuiltInCodec, usize),
        nblock: usize,
        last: usize,
        front: &'a mut ScratchBuffer,
    ) -> Result<Option<DecodedPlanes<'a>>> {
        let len = plan.block_range(nblock).len();
        let nstreams = plan.nstreams(nblock);
        let Some(encoded) = plan.encoded_block(nblock).filter(|_| len.is_multiple_of(unit)) else {
            return Ok(None);
        };
        let decoded = front.get(len)?;
        let (count, last) = (len / unit, last / unit);
        let neblock = len / nstreams;
        let mut rest = encoded;
        for (n, part) in decoded.chunks_exact_mut(neblock).enumerate() {
            // Up to the byte of the last wanted item in the last plane of this stream.
            let start = n * neblock;
            let last_plane = (start + neblock - 1) / count;
            let needed = (last_plane * count + last + 1).min(start + neblock).saturating_sub(start);
            match stream::read(&mut rest, neblock)? {
                Stream::Run(value) => part.fill(value),
                Stream::Raw(raw) => copy(&raw[..needed], &mut part[..needed]),
                Stream::Coded(bytes) => {
                    let there = codec.decode_prefix(bytes, part, needed).unwrap_or(0);
                    ensure!(
                        there >= needed,
                        Data,
                        "the stream of {} bytes decodes to {there} bytes, expected {needed}",
                        bytes.len(),
                    );
                }
            }
        }
        Ok(Some(DecodedPlanes { bytes: decoded, unit, nitems: count }))
    }
}

impl DecodePlan<'_> {
    /// Returns how parts of blocks are decoded.
    pub(super) fn part_decoding(&self) -> PartDecoding {
        if self.has_postfilter() {
            PartDecoding::WholeBlock
        } else {
            PartDecoding::for_chunk(self.header, self.class)
        }
    }

    /// Decodes the bytes `wanted` of block `nblock`, a part of the block that is not empty, into `dest` (same length),
    /// by decoding a prefix of each stream. Returns `false` if only the whole block can be decoded; the content of
    /// `dest` is undefined then.
    pub(super) fn decode_prefixes(
        &self,
        how: PartDecoding,
        nblock: usize,
        wanted: Range<usize>,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let BlockScratch { front, back, stream, .. } = scratch;
        let Some(prefix) = how.prefix_codec_and_unit() else { return Ok(false) };
        let Some(planes) = DecodedPlanes::decode(self, prefix, nblock, wanted.end - 1, front)? else {
            return Ok(false);
        };
        let DecodedPlanes { bytes: decoded, unit, nitems: count } = planes;
        if unit == 1 {
            copy(&decoded[wanted], dest);
            return Ok(true);
        }
        if dest.len() <= MAX_BYTEWISE_GATHER {
            for (at, byte) in wanted.zip(dest.iter_mut()) {
                *byte = decoded[at % unit * count + at / unit];
            }
            return Ok(true);
        }
        // The parts of the planes that hold the wanted items are copied next to each other, then unshuffled.
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

    /// Decodes `part` of block `nblock` into `dest` (same length) with the codec's partial decoder (ZFP, fixed rate).
    /// Returns `false`, and leaves `dest` alone, if the codec, a filter or a postfilter prevents this.
    pub(super) fn decode_part_by_codec(
        &self,
        how: PartDecoding,
        nblock: usize,
        part: Range<usize>,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        if how != PartDecoding::ByCodec || self.nstreams(nblock) != 1 {
            return Ok(false);
        }
        let ChunkDecoder::Plugin(decoder) = self.decoder() else { return Ok(false) };
        let mut bytes = match &self.lazy {
            None => self.bytes_from_block_start(nblock)?,
            Some(blocks) => self.read_lazy_block(nblock, blocks, &mut scratch.stream)?,
        };
        let nbytes = self.block_range(nblock).len();
        match stream::read(&mut bytes, nbytes)? {
            Stream::Coded(coded) => decoder.decode_byte_range(coded, nbytes, part, dest),
            Stream::Run(_) | Stream::Raw(_) => Ok(false),
        }
    }

    /// Decodes the bytes `ranges` of block `nblock`, all of which lie in `wanted`, to their places in `dest`, which has
    /// the block's length; other bytes of `dest` are undefined then. Returns `false` if decoding the whole block is the
    /// only way or costs less, or there is no block `nblock` of that length; the content of `dest` is undefined then,
    /// too.
    pub(super) fn decode_ranges(
        &self,
        how: PartDecoding,
        nblock: usize,
        wanted: &Range<usize>,
        ranges: &dyn ByteRanges,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let len = dest.len();
        let Some(unit) = how.gather_unit() else { return Ok(false) };
        let is_block = nblock < self.nblocks() && self.block_range(nblock).len() == len;
        if !is_block || !len.is_multiple_of(unit) || wanted.end > len {
            return Ok(false);
        }
        if !is_partial_decode_worthwhile(wanted, len) {
            return self.gather_from_streams(nblock, unit, ranges, scratch, dest);
        }
        if !ranges::is_gather_worthwhile(ranges, unit, wanted.len()) {
            return Ok(false);
        }
        let Some(prefix) = how.prefix_codec_and_unit() else { return Ok(false) };
        let Some(decoded) = DecodedPlanes::decode(self, prefix, nblock, wanted.end - 1, &mut scratch.front)?
        else {
            return Ok(false);
        };
        let mut planes = [&[][..]; MAX_PLANES];
        for (plane, bytes) in planes.iter_mut().zip(decoded.bytes.chunks_exact(decoded.nitems)) {
            *plane = bytes;
        }
        ranges::gather_items(&planes[..unit], ranges, dest);
        Ok(true)
    }

    /// Does the same as [`decode_ranges`](Self::decode_ranges) for a block that is shuffled by items of `unit` bytes,
    /// at most [`MAX_PLANES`]: the streams are decoded whole.
    fn gather_from_streams(
        &self,
        nblock: usize,
        unit: usize,
        ranges: &dyn ByteRanges,
        scratch: &mut BlockScratch,
        dest: &mut [u8],
    ) -> Result<bool> {
        let len = dest.len();
        let Some(bytes) = self
            .bytes_from_block_start(nblock)
            .ok()
            .filter(|_| ranges::is_gather_worthwhile(ranges, unit, len))
        else {
            return Ok(false);
        };
        let BlockScratch { front, workspace, .. } = scratch;
        let front = front.get(len + DECODE_SLACK)?;
        let streams = (self.nstreams(nblock), unit);
        let planes = decode_planes(|| self.decoder(), streams, bytes, workspace, front, len)?;
        ranges::gather_items(&planes[..unit], ranges, dest);
        Ok(true)
    }
}
