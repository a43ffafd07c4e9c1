//! Reading few bytes here and there in a block that is shuffled: its streams are decoded, but only those bytes are put
//! together.

use super::super::params::DecompressParams;
use super::super::scratch::{self, Buffers};
use super::part;
use super::reader::ChunkReader;
use crate::chunk::format::{MAX_FILTERS, filter_id};
use crate::chunk::{Blocks, ChunkHeader};
use crate::codec::Workspace;
use crate::error::Result;
use crate::filter::shuffle;
use std::ops::Range;

/// Runs of bytes of a block.
pub(crate) trait Runs {
    /// How many they are, and how many bytes they have together.
    fn count(&self) -> (usize, usize);

    /// Hands each run to `then`. All lie in the block.
    fn each(&self, then: &mut dyn FnMut(Range<usize>));
}

/// The largest items that are put together from streams, in bytes.
pub(super) const MOST_PLANES: usize = 16;

/// What it costs to put items together, in parts of what a byte costs when a whole block is unshuffled: a run by itself, and
/// a byte of short runs; of long ones, where vectors help.
const PER_RUN: usize = 160;
const PER_BYTE: usize = 12;
const PER_RUN_OF_MANY: usize = 320;
const PER_BYTE_OF_MANY: usize = 2;

/// Items of a run from which on vectors may help.
const MANY: usize = 64;

/// Whether it takes less to put together the items of `runs` than all of a block of `len` bytes, in items of `unit` bytes.
pub(super) fn pays(runs: &dyn Runs, unit: usize, len: usize) -> bool {
    let (count, nbytes) = runs.count();
    let short = count.saturating_mul(PER_RUN).saturating_add(nbytes.saturating_mul(PER_BYTE));
    let long = count.saturating_mul(PER_RUN_OF_MANY).saturating_add(nbytes.saturating_mul(PER_BYTE_OF_MANY));
    let is_many = nbytes >= count.saturating_mul(MANY * unit);
    short <= len || (is_many && long <= len && shuffle::takes_planes(unit, MANY * unit))
}

/// Puts together the items of `dest` that have bytes in one of `runs`: stream `j` of the block is `planes[j]`.
///
/// # Panics
/// If a run leaves the block, or the planes are of another length than its items.
pub(super) fn put_together(planes: &[&[u8]], runs: &dyn Runs, dest: &mut [u8]) {
    match *planes {
        [a, b] => items(&[a, b], runs, dest),
        [a, b, c, d] => items(&[a, b, c, d], runs, dest),
        [a, b, c, d, e, f, g, h] => items(&[a, b, c, d, e, f, g, h], runs, dest),
        _ => runs.each(&mut |run| {
            let unit = planes.len();
            for n in run.start / unit..run.end.div_ceil(unit) {
                for (byte, plane) in dest[n * unit..][..unit].iter_mut().zip(planes) {
                    *byte = plane[n];
                }
            }
        }),
    }
}

/// [`put_together`] for items of the usual sizes.
fn items<const N: usize>(planes: &[&[u8]; N], runs: &dyn Runs, dest: &mut [u8]) {
    runs.each(&mut |run| {
        let run = run.start / N..run.end.div_ceil(N);
        let planes = planes.map(|plane| &plane[run.clone()]);
        let dest = &mut dest[run.start * N..run.end * N];
        if run.len() >= MANY && shuffle::takes_planes(N, dest.len()) {
            return shuffle::unshuffle_planes(&planes, dest);
        }
        for (n, item) in dest.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            *item = planes.map(|plane| plane[n]);
        }
    });
}

/// Reads the bytes `runs` of block `nblock` into `dest`, which is as long as the block; all of them are in `wanted`. The rest
/// of `dest` means nothing afterwards. `false` where that is not possible or would not pay.
///
/// # Errors
/// Those of decompression.
pub(super) fn decode_runs(
    reader: &ChunkReader<'_>,
    nblock: usize,
    wanted: &Range<usize>,
    runs: &dyn Runs,
    (buffers, workspace): (&mut Buffers<'_>, &mut Workspace),
    dest: &mut [u8],
) -> Result<bool> {
    if super::pays(wanted, dest.len()) {
        part::decode_runs(reader, nblock, wanted, runs, buffers, dest)
    } else {
        reader.decode_runs(nblock, runs, buffers, workspace, dest)
    }
}

/// As [`decode_runs`], of block `nblock` of `chunk`, whose parsed header is `header`.
///
/// # Errors
/// Those of decompression.
pub(crate) fn read_runs(
    params: &DecompressParams<'_>,
    header: &ChunkHeader,
    chunk: &[u8],
    nblock: usize,
    wanted: &Range<usize>,
    runs: &dyn Runs,
    dest: &mut [u8],
) -> Result<bool> {
    let [others @ .., last] = header.filters;
    let is_shuffled = others == [filter_id::NONE; MAX_FILTERS - 1] && last == filter_id::SHUFFLE;
    // A dictionary is not made ready for a try.
    let is_simple = is_shuffled && !header.has_dictionary() && !header.has_varlen_blocks();
    if !is_simple || nblock >= Blocks::of(header).count() {
        return Ok(false);
    }
    let params = DecompressParams { mask: None, ..*params };
    ChunkReader::open(header, chunk, &params, |reader| {
        if reader.range(nblock).len() != dest.len() {
            return Ok(false);
        }
        scratch::with(|scratch| {
            let (mut buffers, workspace) = reader.buffers(scratch)?;
            decode_runs(reader, nblock, wanted, runs, (&mut buffers, workspace), dest)
        })
    })
}
