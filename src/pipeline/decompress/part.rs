//! Reading some bytes of a block without decoding what comes behind them: each stream is decoded as far as they need it,
//! and nothing is unshuffled but them.

use super::super::params::DecompressParams;
use super::super::scratch::{self, Buffers};
use super::Decompressed;
use super::reader::ChunkReader;
use super::runs::{self, MOST_PLANES, Runs};
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::chunk::stream::{self, Stream};
use crate::chunk::{Blocks, ChunkHeader};
use crate::codec::BuiltIn;
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use crate::filter::shuffle::unshuffle;
use std::ops::Range;

/// So many bytes are picked one by one.
const FEW: usize = 64;

/// Reads the bytes `range` of `chunk`, whose parsed header is `header`, into `dest`, which is as long. `None` where that
/// takes whole blocks: because of the codec, the filters or the kind of chunk, or since the bytes are of several blocks.
///
/// # Errors
/// Those of decompression.
pub(crate) fn read_item(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    range: Range<usize>,
    dest: &mut [u8],
) -> Result<Option<Decompressed>> {
    let blocks = Blocks::of(header);
    let nblock = range.start / blocks.blocksize();
    let block = blocks.range(nblock);
    if codec_of(header).is_none()
        || header.has_varlen_blocks()
        || range.is_empty()
        || range.end > block.end
        || range.len() != dest.len()
    {
        return Ok(None);
    }
    let params = DecompressParams { mask: None, ..*params };
    ChunkReader::open(header, chunk, &params, |reader| {
        let wanted = range.start - block.start..range.end - block.start;
        scratch::with(|scratch| {
            let (mut buffers, _) = reader.buffers(scratch)?;
            let done = Decompressed { nbytes: dest.len(), used_dictionary: false };
            Ok(decode_part(reader, nblock, wanted, &mut buffers, dest)?.then_some(done))
        })
    })
}

/// Whether parts of the blocks of a chunk, whose parsed header is `header`, take less than whole blocks.
pub(crate) fn stops_early(header: &ChunkHeader) -> bool {
    let [others @ .., last] = header.filters;
    codec_of(header).is_some()
        && !header.is_lazy()
        && others == [filter_id::NONE; MAX_FILTERS - 1]
        && matches!(last, filter_id::NONE | filter_id::SHUFFLE)
}

/// The codec of a chunk, if it can stop early.
fn codec_of(header: &ChunkHeader) -> Option<BuiltIn> {
    BuiltIn::from_format(header.codec_format())
        .filter(|codec| matches!(codec, BuiltIn::BloscLz | BuiltIn::Lz4 | BuiltIn::Lz4Hc))
}

/// A block whose streams are decoded as far as somebody needs them.
struct Columns<'a> {
    /// Byte `b` of unit `i` is byte `b * count + i`.
    coded: &'a [u8],
    /// Bytes of a unit.
    unit: usize,
    count: usize,
}

impl<'a> Columns<'a> {
    /// Decodes the streams of block `nblock` into `coded` up to the unit with byte `last`, which is in the block. `None` where
    /// that takes the whole block.
    fn decode(
        reader: &ChunkReader<'_>,
        nblock: usize,
        last: usize,
        coded: &'a mut [u8],
    ) -> Result<Option<Columns<'a>>> {
        let Some(codec) = codec_of(reader.header()) else { return Ok(None) };
        let Some((unit, encoded, nstreams)) = reader.plain_streams(nblock) else { return Ok(None) };
        let len = reader.range(nblock).len();
        if !len.is_multiple_of(unit) {
            return Ok(None);
        }
        let coded = &mut coded[..len];
        let (count, last) = (len / unit, last / unit);
        let neblock = len / nstreams;
        let mut rest = encoded;
        for (n, part) in coded.chunks_exact_mut(neblock).enumerate() {
            // As far as the last of the units whose bytes are in this stream.
            let start = n * neblock;
            let last_column = (start + neblock - 1) / count;
            let needed = (last_column * count + last + 1).min(start + neblock).saturating_sub(start);
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
        Ok(Some(Columns { coded, unit, count }))
    }
}

/// Decodes the bytes `wanted` of block `nblock`, which are in there and some, into `dest`, which is as long; whether that
/// was possible without decoding the whole block.
///
/// # Errors
/// Those of decompression.
pub(super) fn decode_part(
    reader: &ChunkReader<'_>,
    nblock: usize,
    wanted: Range<usize>,
    buffers: &mut Buffers<'_>,
    dest: &mut [u8],
) -> Result<bool> {
    let Some(columns) = Columns::decode(reader, nblock, wanted.end - 1, buffers.front)? else {
        return Ok(false);
    };
    let Columns { coded, unit, count } = columns;
    if unit == 1 {
        copy(&coded[wanted], dest);
        return Ok(true);
    }
    if dest.len() <= FEW {
        for (at, byte) in wanted.zip(dest.iter_mut()) {
            *byte = coded[at % unit * count + at / unit];
        }
        return Ok(true);
    }
    // The columns of the units that are wanted, and then these.
    let (first, last) = (wanted.start / unit, (wanted.end - 1) / unit);
    let units = last + 1 - first;
    let columns = &mut buffers.back[..units * unit];
    for (n, column) in columns.chunks_exact_mut(units).enumerate() {
        copy(&coded[n * count + first..][..units], column);
    }
    let skipped = wanted.start - first * unit;
    if skipped == 0 && dest.len() == columns.len() {
        unshuffle(unit, columns, dest);
    } else {
        let whole = &mut buffers.stream[..columns.len()];
        unshuffle(unit, columns, whole);
        copy(&whole[skipped..][..dest.len()], dest);
    }
    Ok(true)
}

/// As [`decode_part`], of which only `runs` are put together, if that takes less; `dest` is as long as the block.
///
/// # Errors
/// Those of decompression.
pub(super) fn decode_runs(
    reader: &ChunkReader<'_>,
    nblock: usize,
    wanted: &Range<usize>,
    runs: &dyn Runs,
    buffers: &mut Buffers<'_>,
    dest: &mut [u8],
) -> Result<bool> {
    let is_some = |unit| (2..=MOST_PLANES).contains(&unit) && runs::pays(runs, unit, wanted.len());
    if !reader.plain_streams(nblock).is_some_and(|(unit, ..)| is_some(unit)) {
        return Ok(false);
    }
    let Some(columns) = Columns::decode(reader, nblock, wanted.end - 1, buffers.front)? else {
        return Ok(false);
    };
    let mut planes = [&[][..]; MOST_PLANES];
    for (plane, column) in planes.iter_mut().zip(columns.coded.chunks_exact(columns.count)) {
        *plane = column;
    }
    runs::put_together(&planes[..columns.unit], runs, dest);
    Ok(true)
}
