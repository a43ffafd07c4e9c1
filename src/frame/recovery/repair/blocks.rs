//! The whole blocks of a damaged chunk: its record (`frame.md` 2.14) gives the units that are damaged.

use crate::abi::BLOSC_FILTER_BYTEDELTA;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, filter_id, offset};
use crate::chunk::{BlockGeometry, ChunkHeader, read_i32, write_i32};
use crate::error::Result;
use crate::fallible;
use crate::frame::format::units::UnitChecks;
use std::ops::Range;

/// The filters that decode zeros to zeros, and each block without another one.
const FILTERS_OF_ZEROS: [u8; 5] = [
    filter_id::NONE,
    filter_id::SHUFFLE,
    filter_id::BITSHUFFLE,
    filter_id::TRUNC_PREC,
    BLOSC_FILTER_BYTEDELTA as u8,
];

/// A chunk in which zeros replace the damaged blocks.
pub(super) struct PatchedChunk {
    pub(super) bytes: Vec<u8>,
    /// The numbers of the replaced blocks.
    pub(super) lost: Vec<usize>,
    pub(super) nblocks: usize,
}

/// Returns a damaged chunk without its damaged blocks; `None` if its header or its block starts are damaged, if its blocks
/// need each other, and if their zeros could be decoded to other values.
pub(super) fn without_damaged_blocks(chunk: &[u8], units: &UnitChecks) -> Result<Option<PatchedChunk>> {
    let damaged = units.damaged_ranges(chunk)?;
    // The damaged ranges are in ascending order.
    let is_whole = |range: Range<usize>| {
        let next = damaged.get(damaged.partition_point(|bad| bad.end <= range.start));
        range.end <= chunk.len() && next.is_none_or(|bad| range.end <= bad.start)
    };
    if !is_whole(0..EXTENDED_HEADER_LENGTH) {
        return Ok(None);
    }
    let Ok(header) = ChunkHeader::parse(chunk) else { return Ok(None) };
    let blocks = BlockGeometry::of(&header);
    let nblocks = blocks.count();
    let is_supported = header.is_extended()
        && !header.has_varlen_blocks()
        && header.special().is_ok_and(|special| special.is_none())
        && header.filters.iter().all(|id| FILTERS_OF_ZEROS.contains(id));
    if !is_supported {
        return Ok(None);
    }
    let mut lost = Vec::new();
    if header.is_memcpyed() {
        let mut bytes = fallible::copy_of(chunk)?;
        for nblock in 0..nblocks {
            let Range { start, end } = blocks.range(nblock);
            let range = header.len() + start..header.len() + end;
            if !is_whole(range.clone()) {
                bytes.get_mut(range).unwrap_or_default().fill(0);
                fallible::push(&mut lost, nblock)?;
            }
        }
        return Ok(Some(PatchedChunk { bytes, lost, nblocks }));
    }
    let tables = EXTENDED_HEADER_LENGTH + 4 * nblocks;
    if !is_whole(0..tables) {
        return Ok(None);
    }
    let start_of = |nblock: usize| read_i32(chunk, EXTENDED_HEADER_LENGTH + 4 * nblock).unwrap_or(0) as usize;
    let mut ends = fallible::collect((0..nblocks).map(start_of))?;
    ends.sort_unstable();
    let first = ends.first().copied().unwrap_or(0);
    // A dictionary is between the block starts and the blocks.
    if first < tables || !is_whole(0..first) {
        return Ok(None);
    }
    ends.push(chunk.len());
    let mut bytes = fallible::copy_of(&chunk[..first])?;
    for nblock in 0..nblocks {
        let start = start_of(nblock);
        let end = ends[ends.partition_point(|&end| end <= start)..].first().copied().unwrap_or(chunk.len());
        let at = bytes.len();
        write_i32(&mut bytes, EXTENDED_HEADER_LENGTH + 4 * nblock, at as i32);
        if start < end && is_whole(start..end) {
            fallible::extend(&mut bytes, &chunk[start..end])?;
        } else {
            // The length of a stream that is a run of zeros is 0.
            const NO_LENGTHS: [u8; 4 * u8::MAX as usize] = [0; 4 * u8::MAX as usize];
            let nstreams = blocks.nstreams(nblock, header.is_split(), usize::from(header.typesize));
            fallible::extend(&mut bytes, &NO_LENGTHS[..4 * nstreams])?;
            fallible::push(&mut lost, nblock)?;
        }
    }
    let len = bytes.len();
    write_i32(&mut bytes, offset::CBYTES, len as i32);
    Ok(Some(PatchedChunk { bytes, lost, nblocks }))
}
