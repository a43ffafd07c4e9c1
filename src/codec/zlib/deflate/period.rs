//! Bytes that repeat with a period for long enough that many matches of the greatest length follow each other.
//!
//! Owns the distance of these matches, and the choice of their positions that are inserted. zlib searches for each of
//! these matches: at levels that do not insert all their positions it finds increasing multiples of the period, which
//! take more bits; at the other levels the insertion takes nearly all the time.

use std::ops::Range;

use super::block_writer::BlockWriter;
use super::matches::{MAX_DISTANCE, MAX_MATCH, Match, match_length_up_to};
use super::search::DeflateSearch;
use crate::tuning::tunable;

tunable! {
    /// Whether periods are recognized (docs/tuning.md).
    pub(super) const HAS_PERIOD: bool = true;
}

/// The number of misses after which the least distance is replaced.
const MAX_MISSES: u32 = 16;

/// The positions of matches that are inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertPolicy {
    All,
    /// All positions of matches up to this length in bytes, the last one of longer matches.
    UpTo(usize),
}

impl InsertPolicy {
    #[inline(always)]
    pub(super) fn insert<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut DeflateSearch<'_, RUNS, THREES>,
        positions: Range<usize>,
        found: Match,
    ) {
        match self {
            InsertPolicy::UpTo(longest) if found.len > longest => insert_last(search, positions),
            _ => search.insert(positions),
        }
    }
}

/// Inserts the last one of `positions`.
#[inline(always)]
fn insert_last<const RUNS: bool, const THREES: bool>(
    search: &mut DeflateSearch<'_, RUNS, THREES>,
    positions: Range<usize>,
) {
    if positions.is_empty() {
        return;
    }
    let last = positions.end - 1;
    search.mark_not_inserted(positions.start..last);
    search.insert(last..positions.end);
}

/// The period of consecutive matches of the greatest length.
#[derive(Default)]
pub(super) struct Period {
    /// The distance of the last match of the greatest length; 0 if there was none.
    last_distance: usize,
    /// The position behind that match.
    end: usize,
    /// The number of bytes of consecutive matches with the distance `last_distance` that end at `end`.
    repeated_len: usize,
    /// The least distance of matches of the greatest length: the bytes behind an interruption sooner or later repeat at
    /// this distance again.
    min_distance: usize,
    /// The number of consecutive matches of the greatest length at greater distances than that.
    misses: u32,
}

impl Period {
    /// Processes the match `found` at `at`, which has the greatest length, with its own distance or that of the period.
    /// Writes the matches of the greatest length that follow each other, except the last one, and returns the last one
    /// with its position. That position has been inserted, and positions before it according to `insert_policy`.
    /// Returns `None` if there is no room.
    #[cold]
    #[inline(never)]
    pub(super) fn write_repeated_matches<const RUNS: bool, const THREES: bool>(
        &mut self,
        search: &mut DeflateSearch<'_, RUNS, THREES>,
        at: usize,
        found: Match,
        out: &mut BlockWriter<'_, '_>,
        insert_policy: InsertPolicy,
    ) -> Option<(usize, Match)> {
        let src = search.src();
        let repeats = |at, distance| match_length_up_to(src, at, distance, at + MAX_MATCH) == MAX_MATCH;
        let is_nearer =
            |&distance: &usize| distance > 0 && distance < found.distance && repeats(at, distance);
        let distance =
            [self.min_distance, self.last_distance].into_iter().find(is_nearer).unwrap_or(found.distance);
        self.record_distance(at, distance);
        let found = Match { distance, ..found };
        // Once all bytes of a period have been searched for, no nearer match is expected.
        let is_certain = self.repeated_len >= distance + MAX_MATCH;
        let following =
            if is_certain { match_length_up_to(src, at, distance, src.len()) / MAX_MATCH - 1 } else { 0 };
        let end = at + following * MAX_MATCH;
        // Later bytes match at the last positions as long as at all positions, and at smaller distances.
        let kept = if insert_policy == InsertPolicy::All { distance + 2 * MAX_MATCH } else { MAX_DISTANCE };
        let needed = if is_certain { end.saturating_sub(kept).max(at) } else { at };
        let first_inserted = at + (needed - at) / MAX_MATCH * MAX_MATCH;
        for at in (at..end).step_by(MAX_MATCH) {
            out.write_match(at, found)?;
        }
        if first_inserted > at {
            search.skip(at + 1..first_inserted + 1);
        }
        for at in (first_inserted..end).step_by(MAX_MATCH) {
            insert_policy.insert(search, at + 1..at + MAX_MATCH, found);
            search.insert(at + MAX_MATCH..at + MAX_MATCH + 1);
        }
        (self.end, self.repeated_len) = (end + MAX_MATCH, self.repeated_len + following * MAX_MATCH);
        Some((end, found))
    }

    /// Records the distance of a match of the greatest length at `at`.
    fn record_distance(&mut self, at: usize, distance: usize) {
        let goes_on = at == self.end && distance == self.last_distance;
        self.repeated_len = MAX_MATCH + if goes_on { self.repeated_len } else { 0 };
        self.last_distance = distance;
        self.misses += 1;
        if self.min_distance == 0 || distance <= self.min_distance || self.misses > MAX_MISSES {
            (self.min_distance, self.misses) = (distance, 0);
        }
    }
}
