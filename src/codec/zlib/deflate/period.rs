//! Bytes that repeat with a period for long enough that many matches of the greatest length follow each other.
//!
//! Owns the distance of these matches, and the choice of their positions that are inserted. zlib searches for each of
//! these matches: at levels that do not insert all their positions it finds increasing multiples of the period, which
//! take more bits; at the other levels the insertion takes nearly all the time.

use std::ops::Range;

use super::matches::{MOST, Match, REACH, matching_up_to};
use super::output::Output;
use super::search::Search;

/// The number of matches of a period that are written before the next one is searched for: there may be a nearer one.
const FOLLOWING: usize = 7;
/// The number of misses after which the least distance is replaced.
const MOST_MISSES: u32 = 16;

/// A match of the greatest length at a distance of `FAR` bytes or more is likely to be part of a longer repetition.
/// zlib inserts none of its positions, so it depends on chance whether the repetition is found when it recurs; here one
/// in `SPARSE` is inserted. Levels with fewer candidates than `SPARSE_FROM` insert none: these positions would displace
/// better candidates.
const FAR: usize = 1024;
const SPARSE: usize = 64;
const SPARSE_FROM: u32 = 128;

/// The positions of matches that are inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    All,
    /// All positions of matches up to this length in bytes, few of longer matches.
    UpTo(usize),
}

impl Entered {
    /// Inserts positions of the match `found`.
    #[inline(always)]
    pub(super) fn enter<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        positions: Range<usize>,
        found: Match,
    ) {
        match self {
            Entered::UpTo(longest) if found.len > longest => enter_few(search, positions, found),
            _ => search.enter(positions),
        }
    }
}

/// Inserts few of the positions of the match `found`.
#[inline(always)]
fn enter_few<const RUNS: bool, const THREES: bool>(
    search: &mut Search<'_, RUNS, THREES>,
    positions: Range<usize>,
    found: Match,
) {
    if positions.is_empty() {
        return;
    }
    let last = positions.end - 1;
    search.leave_out(positions.start..last);
    if search.candidates() >= SPARSE_FROM && found.len == MOST && found.distance >= FAR {
        search.enter_every(SPARSE, positions.start..last);
    }
    search.enter(last..positions.end);
}

/// The period of consecutive matches of the greatest length.
#[derive(Default)]
pub(super) struct Period {
    /// The distance of the last match of the greatest length; 0 if there was none.
    last: usize,
    /// The position behind that match.
    end: usize,
    /// The number of bytes of consecutive matches with the distance `last` that end at `end`.
    repeated: usize,
    /// The least distance of matches of the greatest length: the bytes behind an interruption sooner or later repeat at
    /// this distance again.
    least: usize,
    /// The number of consecutive matches of the greatest length at greater distances than that.
    misses: u32,
}

impl Period {
    /// Processes the match `found` at `at`, which has the greatest length, with its own distance or that of the period.
    /// Writes the matches of the greatest length that follow each other, except the last one, and returns the last one
    /// with its position. That position has been inserted, and positions before it according to `entered`. Returns
    /// `None` if there is no room.
    #[cold]
    #[inline(never)]
    pub(super) fn follow<const RUNS: bool, const THREES: bool>(
        &mut self,
        search: &mut Search<'_, RUNS, THREES>,
        at: usize,
        found: Match,
        out: &mut Output<'_, '_>,
        entered: Entered,
    ) -> Option<(usize, Match)> {
        let src = search.src();
        let repeats = |at, distance| matching_up_to(src, at, distance, at + MOST) == MOST;
        let is_nearer =
            |&distance: &usize| distance > 0 && distance < found.distance && repeats(at, distance);
        let distance = [self.least, self.last].into_iter().find(is_nearer).unwrap_or(found.distance);
        self.note(at, distance);
        let found = Match { distance, ..found };
        // Once all bytes of a period have been searched for, no nearer match is expected.
        let is_certain = self.repeated >= distance + MOST;
        let following = if is_certain {
            matching_up_to(src, at, distance, search.end()) / MOST - 1
        } else {
            // Behind a first match, there can be a nearer one: a run can begin with a match of an earlier run.
            let is_confirmed = self.repeated > MOST;
            let most = if is_confirmed && entered != Entered::All { FOLLOWING } else { 0 };
            (1..=most)
                .take_while(|nth| search.end() - at >= (nth + 1) * MOST && repeats(at + nth * MOST, distance))
                .count()
        };
        let end = at + following * MOST;
        // Later bytes match at the last positions as long as at all positions, and at smaller distances.
        let kept = if entered == Entered::All { distance + 2 * MOST } else { REACH };
        let needed = if is_certain { end.saturating_sub(kept).max(at) } else { at };
        let first_entered = at + (needed - at) / MOST * MOST;
        for at in (at..end).step_by(MOST) {
            out.repetition(at, found)?;
        }
        if first_entered > at {
            search.skip(at + 1..first_entered + 1);
        }
        for at in (first_entered..end).step_by(MOST) {
            entered.enter(search, at + 1..at + MOST, found);
            search.enter(at + MOST..at + MOST + 1);
        }
        (self.end, self.repeated) = (end + MOST, self.repeated + following * MOST);
        Some((end, found))
    }

    /// Records the distance of a match of the greatest length at `at`.
    fn note(&mut self, at: usize, distance: usize) {
        let goes_on = at == self.end && distance == self.last;
        self.repeated = MOST + if goes_on { self.repeated } else { 0 };
        self.last = distance;
        self.misses += 1;
        if self.least == 0 || distance <= self.least || self.misses > MOST_MISSES {
            (self.least, self.misses) = (distance, 0);
        }
    }
}
