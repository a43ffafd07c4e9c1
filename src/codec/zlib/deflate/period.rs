//! What repeats with a period for so long that many matches of the greatest length follow each other.
//!
//! Owns the distance of these matches, and which of their positions are put in. zlib searches for each of them: at levels that do not
//! put all their positions in it finds greater and greater multiples of the period, which take more bits; at the others putting
//! them in takes nearly all the time.

use std::ops::Range;

use super::matches::{MOST, Match, REACH, matching_up_to};
use super::output::Output;
use super::search::Search;

/// The number of matches of a period that are written before the next one is searched for: there may be a nearer one.
const FOLLOWING: usize = 7;
/// The number of misses after which the least distance is forgotten.
const MOST_MISSES: u32 = 16;

/// A match of the greatest length at this distance in bytes, or more, is likely to be part of a longer repetition. zlib puts none of its
/// positions in, so that it depends on chance whether the repetition is found when it comes again; here one of 64 is put in. Levels with
/// few candidates cannot afford it: these positions would take the place of better ones.
const FAR: usize = 1024;
const SPARSE: usize = 64;
const SPARSE_FROM: u32 = 128;

/// Which positions of matches are put in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    All,
    /// All of matches up to this length in bytes, few of longer ones.
    UpTo(usize),
}

impl Entered {
    /// Puts positions of the match `found` in.
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

/// Puts few positions of the match `found` in.
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

/// The period that the longest matches repeat, one after another.
#[derive(Default)]
pub(super) struct Period {
    /// The distance of the last of the longest matches; 0 if there was none.
    last: usize,
    /// The position behind it.
    end: usize,
    /// Bytes of the matches with this distance that follow each other up to there.
    repeated: usize,
    /// The least distance of the longest matches, with which what comes behind an interruption repeats again sooner or later.
    least: usize,
    /// How often in succession there was no repetition at that distance.
    misses: u32,
}

impl Period {
    /// Takes the match `found` at `at`, which is as long as a match can be, with its own distance or that of the period. Writes matches as
    /// long as it can, but for the last one, which it returns with its position. That is put in, and positions before it as `entered` says.
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
        // Once all bytes of a period have been searched for, no nearer match is to be expected.
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
        // What comes later has the same matches with the last positions as with all: there they are as long, and nearer.
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

    /// Notes a match.
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
