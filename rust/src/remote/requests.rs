//! Which ranges of a file are requested.

use super::pages::PAGE;
use std::ops::Range;

/// Returns the ranges rounded to pages of a file of `len` bytes, in order; those that touch are joined.
pub(super) fn pages(mut ranges: Vec<Range<u64>>, len: u64) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end.min(len));
    ranges.sort_unstable_by_key(|range| range.start);
    let rounded = ranges.into_iter().map(|range| {
        range.start / PAGE * PAGE..range.end.min(len).div_ceil(PAGE).saturating_mul(PAGE).min(len)
    });
    join(rounded, 0)
}

/// Joins ranges, which are in order, whose distance is at most `gap` bytes.
fn join(ranges: impl Iterator<Item = Range<u64>>, gap: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the requests for ranges of files, which are in order: as long as there are more than `parallel`, those with the shortest
/// distance are joined, up to `max_gap` bytes each and, in all, a quarter of the needed bytes or `parallel` times `max_gap`; those of more
/// than `max_request` bytes are cut.
pub(super) fn requests<F: Clone>(
    files: Vec<(F, Vec<Range<u64>>)>,
    parallel: usize,
    (max_gap, max_request): (u64, u64),
) -> Vec<(F, Range<u64>)> {
    let gaps_of = |ranges: &Vec<Range<u64>>| -> Vec<u64> {
        ranges.windows(2).map(|pair| pair[1].start - pair[0].end).filter(|&gap| gap <= max_gap).collect()
    };
    let count: usize = files.iter().map(|(_, ranges)| ranges.len()).sum();
    let needed: u64 = files.iter().flat_map(|(_, ranges)| ranges).map(|range| range.end - range.start).sum();
    let mut gaps: Vec<u64> = files.iter().flat_map(|(_, ranges)| gaps_of(ranges)).collect();
    gaps.sort_unstable();
    let budget = (needed / 4).max(max_gap.saturating_mul(parallel as u64));
    let (mut gap, mut rest, mut unneeded) = (0, count, 0);
    // All ranges of a distance are joined, or none.
    for same in gaps.chunk_by(|a, b| a == b) {
        unneeded += same.iter().sum::<u64>();
        if rest <= parallel || unneeded > budget {
            break;
        }
        rest -= same.len();
        gap = same[0];
    }
    let joined = files.into_iter().map(|(file, ranges)| (file, join(ranges.into_iter(), gap)));
    let cut = |(file, ranges): (F, Vec<Range<u64>>)| {
        ranges
            .into_iter()
            .flat_map(move |range| cut(range, max_request))
            .map(move |range| (file.clone(), range))
    };
    joined.flat_map(cut).collect()
}

/// Cuts a range into requests of about the same length.
fn cut(range: Range<u64>, max_request: u64) -> impl Iterator<Item = Range<u64>> {
    let count = (range.end - range.start).div_ceil(max_request).max(1);
    let step = (range.end - range.start).div_ceil(count).div_ceil(PAGE) * PAGE;
    (0..count)
        .map(move |n| range.start + n * step..(range.start + (n + 1) * step).min(range.end))
        .filter(|part| part.start < part.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_bytes_are_requested_once(
            starts in prop::collection::vec((0..40_000_000_u64, 0..9_000_000_u64), 0..20),
            parallel in 1..20_usize,
            (max_gap, max_request) in (0..100_000_u64, PAGE..5_000_000),
            len in 1..50_000_000_u64,
        ) {
            let ranges: Vec<_> = starts.iter().map(|&(start, len)| start..start + len).collect();
            let parts = requests(vec![((), pages(ranges.clone(), len))], parallel, (max_gap, max_request));
            for (_, part) in &parts {
                prop_assert!(part.start < part.end && part.end <= len && part.end - part.start <= max_request + PAGE);
                prop_assert!(part.start % PAGE == 0 && (part.end % PAGE == 0 || part.end == len));
            }
            for pair in parts.windows(2) {
                prop_assert!(pair[0].1.end <= pair[1].1.start);
            }
            for range in ranges {
                let end = range.end.min(len);
                let covered: u64 = parts
                    .iter()
                    .map(|(_, part)| part.end.min(end).saturating_sub(part.start.max(range.start)))
                    .sum();
                prop_assert_eq!(covered, end.saturating_sub(range.start));
            }
        }
    }

    #[test]
    fn the_closest_ranges_are_joined_until_all_are_requested_at_the_same_time() {
        let joined = |ranges: &[Range<u64>], parallel, max_gap| {
            let ranges: Vec<_> = ranges.iter().map(|range| range.start * PAGE..range.end * PAGE).collect();
            let parts = requests(vec![('a', ranges.clone()), ('b', ranges)], parallel, (max_gap, 1 << 30));
            let of_a = parts.into_iter().filter(|(file, _)| *file == 'a');
            of_a.map(|(_, range)| range.start / PAGE..range.end / PAGE).collect::<Vec<_>>()
        };
        let ranges = [0..40, 41..81, 100..140];
        assert_eq!(joined(&ranges, 6, u64::MAX), ranges);
        assert_eq!(joined(&ranges, 4, u64::MAX), [0..81, 100..140]);
        assert_eq!(joined(&ranges, 1, PAGE), [0..81, 100..140]);
        assert_eq!(joined(&ranges, 1, u64::MAX), [0..140; 1]);
        // With 84 pages, at most 21 may be fetched in addition.
        assert_eq!(joined(&[0..20, 21..41, 60..62], 1, 19 * PAGE), [0..41, 60..62]);
    }
}
