//! Boxes that cover a part of an array, each small enough for memory, and the contiguous runs of a box in a file.

use std::convert::Infallible;
use std::ops::Range;

/// Size of a box in bytes, so that the memory that a verb needs does not depend on the array. A box of one chunk may be
/// larger.
pub(crate) const BOX_NBYTES: u64 = 64 << 20;

/// The boxes that cover a part of an array, in C order.
pub(crate) struct Boxes {
    ranges: Vec<Range<u64>>,
    /// Boxes begin at multiples of these extents; at least 1.
    steps: Vec<u64>,
    /// Where the next box begins; `None` at the end.
    start: Option<Vec<u64>>,
}

impl Boxes {
    /// Returns boxes of whole chunks: as many as have up to `limit` bytes, at least one.
    pub(crate) fn of_chunks(ranges: &[Range<u64>], chunkshape: &[u32], typesize: usize, limit: u64) -> Boxes {
        let mut steps: Vec<u64> = chunkshape.iter().map(|&extent| u64::from(extent).max(1)).collect();
        for dim in (0..ranges.len()).rev() {
            let others = (0..ranges.len()).filter(|&other| other != dim);
            let row = others.fold(typesize as u64, |nbytes, other| {
                nbytes.saturating_mul(steps[other].min(extent(&ranges[other])))
            });
            let nchunks = (limit / row.max(1) / steps[dim]).max(1);
            steps[dim] = steps[dim].saturating_mul(nchunks);
            if steps[dim] < ranges[dim].end {
                break;
            }
        }
        Boxes::new(ranges, steps)
    }

    /// Returns boxes of up to `limit` bytes, at least one item, whose items one after the other are the part of the
    /// array in C order. They are whole rows of chunks, if these are within the limit.
    pub(crate) fn in_order(ranges: &[Range<u64>], chunkshape: &[u32], typesize: usize, limit: u64) -> Boxes {
        let mut steps = vec![1; ranges.len()];
        let mut row = (typesize as u64).max(1);
        for (dim, range) in ranges.iter().enumerate().rev() {
            let most = (limit / row).max(1);
            if most < extent(range) {
                let chunk = u64::from(chunkshape[dim]).max(1);
                steps[dim] = if most < chunk { most } else { most / chunk * chunk };
                break;
            }
            steps[dim] = range.end.max(1);
            row *= extent(range).max(1);
        }
        Boxes::new(ranges, steps)
    }

    fn new(ranges: &[Range<u64>], steps: Vec<u64>) -> Boxes {
        let is_empty = ranges.iter().any(Range::is_empty);
        let start = (!is_empty).then(|| ranges.iter().map(|range| range.start).collect());
        Boxes { ranges: ranges.to_vec(), steps, start }
    }

    /// Returns where the box after `current` begins.
    fn start_after(&self, current: &[Range<u64>]) -> Option<Vec<u64>> {
        // The last dimension in which there is a further box; those after it begin again.
        let dim = (0..current.len()).rev().find(|&dim| current[dim].end < self.ranges[dim].end)?;
        let mut start: Vec<u64> = current.iter().map(|range| range.start).collect();
        start[dim] = current[dim].end;
        for (start, range) in start.iter_mut().zip(&self.ranges).skip(dim + 1) {
            *start = range.start;
        }
        Some(start)
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Vec<Range<u64>>> {
        let start = self.start.take()?;
        let edges = start.iter().zip(&self.steps).zip(&self.ranges);
        let current: Vec<Range<u64>> = edges
            .map(|((&start, &step), range)| {
                let end = (start / step).saturating_add(1).saturating_mul(step);
                start..end.min(range.end)
            })
            .collect();
        self.start = self.start_after(&current);
        Some(current)
    }
}

fn extent(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// Returns the length of the items of an array in bytes; `None` for 2^64 or more.
pub(crate) fn nbytes(shape: &[u64], typesize: usize) -> Option<u64> {
    // With an extent of 0, the product of the others may be of any size.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(typesize as u64, |nbytes, &extent| nbytes.checked_mul(extent))
}

/// Returns the length of the items of a box in bytes.
pub(crate) fn box_nbytes(ranges: &[Range<u64>], typesize: usize) -> Result<usize, String> {
    let nitems =
        ranges.iter().try_fold(typesize, |n, range| n.checked_mul(usize::try_from(extent(range)).ok()?));
    nitems.ok_or_else(|| format!("the items of {ranges:?} do not fit into memory"))
}

/// Returns the box as a part of the part of an array that `ranges` selects.
pub(crate) fn relative_to(current: &[Range<u64>], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    current
        .iter()
        .zip(ranges)
        .map(|(inner, outer)| inner.start - outer.start..inner.end - outer.start)
        .collect()
}

/// Calls `f` for each run of the items of a box that are contiguous in an array of that shape, in C order: with the
/// offset in the array, and the range in the box, in bytes. The array has fewer than 2^64 bytes.
pub(crate) fn for_each_run<E>(
    shape: &[u64],
    current: &[Range<u64>],
    typesize: usize,
    mut f: impl FnMut(u64, Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    if current.iter().any(Range::is_empty) {
        return Ok(());
    }
    // Runs extend over this dimension and those after it, which are whole.
    let dim = (0..shape.len()).rev().find(|&dim| extent(&current[dim]) != shape[dim]).unwrap_or(0);
    let mut strides = vec![typesize as u64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    let run = current.get(dim).map_or(typesize as u64, |range| extent(range) * strides[dim]) as usize;
    let outer = current.get(..dim).unwrap_or(&[]);
    let first = current.iter().zip(&strides).map(|(range, stride)| range.start * stride).sum::<u64>();
    let mut within = 0;
    for_each_position(outer, |position| {
        let offset =
            position.iter().zip(outer).zip(&strides).map(|((at, range), stride)| (at - range.start) * stride);
        let at = within;
        within += run;
        f(first + offset.sum::<u64>(), at..at + run)
    })
}

/// Calls `f` for each position in a box that is not empty, in C order.
fn for_each_position<E>(ranges: &[Range<u64>], mut f: impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), E> {
    let mut position: Vec<u64> = ranges.iter().map(|range| range.start).collect();
    loop {
        f(&position)?;
        let Some(dim) = (0..ranges.len()).rev().find(|&dim| position[dim] + 1 < ranges[dim].end) else {
            return Ok(());
        };
        position[dim] += 1;
        for (at, range) in position.iter_mut().zip(ranges).skip(dim + 1) {
            *at = range.start;
        }
    }
}

/// Copies the items of a box in Fortran order to C order. `dest` has the length of `items`.
pub(crate) fn from_fortran_order(items: &[u8], current: &[Range<u64>], typesize: usize, dest: &mut [u8]) {
    let mut strides = Vec::with_capacity(current.len());
    let mut stride = typesize;
    for range in current {
        strides.push(stride);
        stride *= extent(range) as usize;
    }
    let (Some(last), Some(last_stride)) = (current.last(), strides.last()) else {
        return dest.copy_from_slice(items);
    };
    if current.iter().any(Range::is_empty) {
        return;
    }
    let outer = &current[..current.len() - 1];
    let mut rows = dest.chunks_exact_mut(extent(last) as usize * typesize);
    let Ok(()) = for_each_position::<Infallible>(outer, |position| {
        let offsets = position.iter().zip(outer).zip(&strides);
        let mut from: usize = offsets.map(|((at, range), stride)| (at - range.start) as usize * stride).sum();
        for item in rows.next().into_iter().flat_map(|row| row.chunks_exact_mut(typesize)) {
            item.copy_from_slice(&items[from..from + typesize]);
            from += last_stride;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a shape, ranges in it, and the shape of a chunk.
    fn parts() -> impl Strategy<Value = (Vec<u64>, Vec<Range<u64>>, Vec<u32>)> {
        let dimension = (0u64..9).prop_flat_map(|extent| (Just(extent), 0..=extent, 0..=extent, 0u32..6));
        prop::collection::vec(dimension, 0..5).prop_map(|dimensions| {
            let shape = dimensions.iter().map(|dimension| dimension.0).collect();
            let ranges = dimensions.iter().map(|&(_, a, b, _)| a.min(b)..a.max(b)).collect();
            (shape, ranges, dimensions.iter().map(|dimension| dimension.3).collect())
        })
    }

    /// Returns the C-order numbers of the items of a box.
    fn numbers(shape: &[u64], current: &[Range<u64>]) -> Vec<u64> {
        let mut numbers = vec![0];
        for (range, extent) in current.iter().zip(shape) {
            numbers = numbers.iter().flat_map(|n| range.clone().map(move |at| n * extent + at)).collect();
        }
        numbers
    }

    proptest! {
        #[test]
        fn boxes_of_chunks_cover_each_item_once((shape, ranges, chunks) in parts(), limit in 0u64..300) {
            let mut found = Vec::new();
            for current in Boxes::of_chunks(&ranges, &chunks, 2, limit) {
                let items = numbers(&shape, &current);
                let chunk: u64 = chunks.iter().map(|&extent| u64::from(extent).max(1)).product();
                prop_assert!(items.len() as u64 * 2 <= limit.max(2 * chunk));
                for ((inner, outer), &chunk) in current.iter().zip(&ranges).zip(&chunks) {
                    let chunk = u64::from(chunk.max(1));
                    prop_assert!(inner.start == outer.start || inner.start % chunk == 0);
                    prop_assert!(inner.end == outer.end || inner.end % chunk == 0);
                }
                found.extend(items);
            }
            found.sort_unstable();
            prop_assert_eq!(found, numbers(&shape, &ranges));
        }

        #[test]
        fn boxes_in_order_are_the_items_in_order((shape, ranges, chunks) in parts(), limit in 0u64..300) {
            let mut found = Vec::new();
            for current in Boxes::in_order(&ranges, &chunks, 2, limit) {
                let items = numbers(&shape, &current);
                prop_assert!(items.len() as u64 * 2 <= limit.max(2));
                found.extend(items);
            }
            prop_assert_eq!(found, numbers(&shape, &ranges));
        }

        #[test]
        fn runs_are_the_items_of_a_box((shape, ranges, _) in parts()) {
            let mut found = Vec::new();
            let mut end = 0;
            for_each_run(&shape, &ranges, 3, |offset, within| {
                assert_eq!((within.start, offset % 3, within.len() % 3), (end, 0, 0));
                end = within.end;
                found.extend(offset / 3..(offset + within.len() as u64) / 3);
                Ok::<(), ()>(())
            }).unwrap();
            prop_assert_eq!(found, numbers(&shape, &ranges));
        }

        #[test]
        fn fortran_order_is_converted((_, ranges, _) in parts()) {
            let extents: Vec<u64> = ranges.iter().map(extent).collect();
            let whole: Vec<Range<u64>> = extents.iter().map(|&extent| 0..extent).collect();
            // An item is its number in Fortran order.
            let nitems = box_nbytes(&ranges, 1).unwrap();
            let items: Vec<u8> = (0..nitems).flat_map(|n| (n as u16).to_le_bytes()).collect();
            let mut dest = vec![0; items.len()];
            from_fortran_order(&items, &ranges, 2, &mut dest);
            let mut expected = Vec::new();
            if nitems > 0 {
                for_each_position(&whole, |position| {
                    let number = position.iter().zip(&extents).rev().fold(0, |n, (at, extent)| n * extent + at);
                    expected.extend((number as u16).to_le_bytes());
                    Ok::<(), ()>(())
                }).unwrap();
            }
            prop_assert_eq!(dest, expected);
        }
    }

    #[test]
    fn boxes_of_extreme_extents_do_not_overflow() {
        let ranges = [u64::MAX - 3..u64::MAX, 0..1 << 40];
        let first = Boxes::of_chunks(&ranges, &[u32::MAX, u32::MAX], 8, 64 << 20).next().unwrap();
        assert_eq!(first[1], 0..u64::from(u32::MAX));
        let first = Boxes::in_order(&ranges, &[u32::MAX, 1], 8, 64 << 20).next().unwrap();
        assert_eq!(first, [u64::MAX - 3..u64::MAX - 2, 0..8 << 20]);
        assert_eq!(nbytes(&[0, 1 << 40, 1 << 40], 8), Some(0));
        assert_eq!(nbytes(&[1 << 40, 1 << 20], 8), Some(1 << 63));
        assert_eq!(nbytes(&[1 << 40, 1 << 21], 8), None);
        assert!(box_nbytes(&[0..1 << 40, 0..1 << 40], 8).is_err());
    }
}
