//! Gathers some bytes of a shuffled block from its decoded streams, without unshuffling the rest.

use crate::filter::shuffle::{self, SeparatePlane};
use std::ops::Range;

/// Ranges of bytes inside a block.
pub(crate) trait ByteRanges {
    /// Returns the number of ranges, and the sum of their lengths in bytes.
    fn count_and_nbytes(&self) -> (usize, usize);

    /// Calls `then` with each range. All lie in the block.
    fn for_each(&self, then: &mut dyn FnMut(Range<usize>));
}

/// Costs of gathering: one for each range and one for each byte. The unit is the cost of unshuffling one byte of a
/// whole block, so gathering is worthwhile for `count * 160 + nbytes * 12 <= len`. The first pair is for short ranges,
/// which are copied item by item, the second for ranges of [`MIN_LONG_RANGE_ITEMS`] items and more, which the
/// vector kernels unshuffle (`cargo bench --bench side_by_side -- --group schunk`).
const COST_PER_RANGE: usize = 160;
const COST_PER_BYTE: usize = 12;
const COST_PER_LONG_RANGE: usize = 320;
const COST_PER_LONG_RANGE_BYTE: usize = 2;

/// Shortest range, in items, for the vector kernels.
const MIN_LONG_RANGE_ITEMS: usize = 64;

/// Returns whether gathering the items of `ranges` costs less than unshuffling a block of `len` bytes, in items of
/// `unit` bytes.
pub(super) fn is_gather_worthwhile(ranges: &dyn ByteRanges, unit: usize, len: usize) -> bool {
    let (count, nbytes) = ranges.count_and_nbytes();
    let cost =
        |per_range, per_byte| count.saturating_mul(per_range).saturating_add(nbytes.saturating_mul(per_byte));
    let is_long = nbytes >= count.saturating_mul(MIN_LONG_RANGE_ITEMS * unit);
    cost(COST_PER_RANGE, COST_PER_BYTE) <= len
        || (is_long
            && cost(COST_PER_LONG_RANGE, COST_PER_LONG_RANGE_BYTE) <= len
            && shuffle::can_unshuffle_planes(unit, MIN_LONG_RANGE_ITEMS * unit))
}

/// Writes the items that have bytes in one of `ranges` to their places in `dest`, a block: byte `j` of item `i` is byte
/// `i` of `planes[j]`.
///
/// # Panics
/// If a range extends beyond the block, or the length of a plane differs from the number of items.
pub(super) fn gather_items(planes: &[&[u8]], ranges: &dyn ByteRanges, dest: &mut [u8]) {
    let unit = planes.len();
    ranges.for_each(&mut |range| {
        let items = range.start / unit..range.end.div_ceil(unit);
        let dest = &mut dest[items.start * unit..items.end * unit];
        match *planes {
            [a, b] => gather_fixed(&[a, b], items, dest),
            [a, b, c, d] => gather_fixed(&[a, b, c, d], items, dest),
            [a, b, c, d, e, f, g, h] => gather_fixed(&[a, b, c, d, e, f, g, h], items, dest),
            _ => {
                for (item, n) in dest.chunks_exact_mut(unit).zip(items) {
                    for (byte, plane) in item.iter_mut().zip(planes) {
                        *byte = plane[n];
                    }
                }
            }
        }
    });
}

/// Writes the items `items`, of `N` bytes, to `dest`.
fn gather_fixed<const N: usize>(planes: &[&[u8]; N], items: Range<usize>, dest: &mut [u8]) {
    let planes = planes.map(|plane| &plane[items.clone()]);
    if shuffle::can_unshuffle_planes(N, dest.len()) {
        return shuffle::unshuffle_planes(&planes.map(SeparatePlane::Bytes), dest);
    }
    for (n, item) in dest.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        *item = planes.map(|plane| plane[n]);
    }
}
