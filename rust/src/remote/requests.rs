//! Which ranges of a file are requested.

use super::pages::PAGE;
use std::ops::Range;

/// The longest request in bytes: longer ranges are fetched by several at a time.
const MAX_REQUEST: u64 = 4 << 20;

/// Joins the ranges, rounded to pages of a file of `len` bytes, whose distance is at most `gap` bytes, and cuts long ones.
pub(super) fn merge(mut ranges: Vec<Range<u64>>, gap: u64, len: u64) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end.min(len));
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        let range =
            range.start / PAGE * PAGE..range.end.min(len).div_ceil(PAGE).saturating_mul(PAGE).min(len);
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged.into_iter().flat_map(cut).collect()
}

/// Cuts a range into requests of about the same length.
fn cut(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let count = (range.end - range.start).div_ceil(MAX_REQUEST).max(1);
    let step = (range.end - range.start).div_ceil(count).div_ceil(PAGE) * PAGE;
    (0..count)
        .map(move |n| range.start + n * step..(range.start + (n + 1) * step).min(range.end))
        .filter(|part| part.start < part.end)
}

/// The time that requests take, from which follows how many bytes cost as much as a request.
#[derive(Default)]
pub(super) struct Pace {
    /// The shortest time of a request in seconds.
    latency: Option<f64>,
    /// The highest throughput of a request in bytes per second.
    bandwidth: f64,
}

impl Pace {
    /// Notes that a request for `nbytes` bytes took `seconds`.
    pub(super) fn note(&mut self, nbytes: u64, seconds: f64) {
        let seconds = seconds.max(1e-6);
        self.latency = Some(self.latency.map_or(seconds, |latency| latency.min(seconds)));
        self.bandwidth = self.bandwidth.max(nbytes as f64 / seconds);
    }

    /// Returns the number of bytes between two ranges that are fetched rather than requesting the ranges separately.
    pub(super) fn gap(&self) -> u64 {
        const MAX_GAP: f64 = 256.0 * 1024.0;
        // Requests are made at the same time: the latency of one of 16 counts.
        self.latency.map_or(0.0, |latency| (latency * self.bandwidth / 16.0).min(MAX_GAP)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_bytes_are_requested_once(
            starts in prop::collection::vec((0..40_000_000_u64, 0..9_000_000_u64), 0..20),
            gap in 0..100_000_u64,
            len in 1..50_000_000_u64,
        ) {
            let ranges: Vec<_> = starts.iter().map(|&(start, len)| start..start + len).collect();
            let merged = merge(ranges.clone(), gap, len);
            for part in &merged {
                prop_assert!(part.start < part.end && part.end <= len && part.end - part.start <= MAX_REQUEST + PAGE);
                prop_assert!(part.start % PAGE == 0 && (part.end % PAGE == 0 || part.end == len));
            }
            for pair in merged.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            for range in ranges {
                let end = range.end.min(len);
                let covered: u64 = merged
                    .iter()
                    .map(|part| part.end.min(end).saturating_sub(part.start.max(range.start)))
                    .sum();
                prop_assert_eq!(covered, end.saturating_sub(range.start));
            }
        }
    }

    #[test]
    fn the_gap_follows_from_latency_and_bandwidth() {
        let mut pace = Pace::default();
        assert_eq!(pace.gap(), 0);
        pace.note(1 << 20, 0.1);
        pace.note(4096, 0.03);
        assert_eq!(pace.gap(), (0.03 * (1 << 20) as f64 / 0.1 / 16.0) as u64);
        pace.note(1 << 30, 1.0);
        assert_eq!(pace.gap(), 256 << 10);
    }
}
