//! Runs of one byte, and the longest match of a run.
//!
//! Shuffled numbers contain many runs, most of them of zeros. A hash chain would hold each position of a run, and a
//! search would compare thousands of positions with matches of equal length. Here one entry stands for a whole run. At
//! most one position of each earlier run can match longer than the run that is searched for: the one with as many bytes
//! of its run left. The result is that of a search through a hash chain with all these positions.

use super::matches::{FARTHEST, LEAST_RUN, Match, matching_up_to, read32, run_length};
use super::walk::Limits;

/// The number of runs that are held. The window has at most `FARTHEST` / 5 whole runs, and runs that were inserted in
/// parts.
const KEPT: usize = 1 << 13;

/// The inserted positions of one run.
#[derive(Clone, Copy, Default)]
struct Run {
    /// The first and the last position that were inserted; all positions between them were inserted, too.
    first: u32,
    last: u32,
    /// The position behind the last byte of the run.
    end: u32,
    /// The number of the previous entry with the same byte; 0 if there is none.
    before: u32,
    /// The number of the last earlier entry with the same byte and a longer run; 0 if there is none.
    before_longer: u32,
}

impl Run {
    /// Returns the number of bytes of the run that are left at the first position.
    #[inline(always)]
    fn longest(&self) -> u32 {
        self.end - self.first
    }
}

/// The result of [`RunHistory::longest`].
pub(super) struct Found {
    pub longest: Match,
    /// The length, in bytes, of the run that is searched for.
    pub len: usize,
    /// Whether no further run could match longer than `longest`.
    pub is_complete: bool,
}

/// The runs of a stream.
pub(super) struct RunHistory {
    /// The entry with the number n has the index n modulo `KEPT`.
    entries: [Run; KEPT],
    /// The number of the last entry of each byte; 0 if there is none.
    last: [u32; 256],
    /// The number of the next entry.
    next: u32,
}

impl RunHistory {
    /// Removes all runs.
    pub(super) fn clear(&mut self) {
        self.last.fill(0);
        self.next = 1;
    }

    /// Returns the entry with that number; `None` for 0, and if newer entries have replaced it.
    #[inline(always)]
    fn get(&self, number: u32) -> Option<&Run> {
        (number > 0 && self.next - number <= KEPT as u32).then(|| &self.entries[number as usize % KEPT])
    }

    /// Inserts positions of the run at `at`, a position with four equal bytes: those before `to` at which four or more
    /// bytes of the run are left. Returns the position behind the last one inserted.
    #[inline]
    pub(super) fn enter(&mut self, src: &[u8], at: usize, to: usize) -> usize {
        let byte = usize::from(src[at]);
        let number = self.last[byte];
        let known = self.get(number).copied();
        let same = known.filter(|run| run.end as usize >= at + LEAST_RUN);
        let end = same.map_or_else(|| at + run_length(src, at, src.len()), |run| run.end as usize);
        let last = (end - LEAST_RUN).min(to - 1);
        if same.is_some_and(|run| run.last as usize + 1 == at) {
            self.entries[number as usize % KEPT].last = last as u32;
        } else {
            let before = if known.is_some() { number } else { 0 };
            let mut before_longer = before;
            while let Some(run) = self.get(before_longer).filter(|run| run.longest() as usize <= end - at) {
                before_longer = run.before_longer;
            }
            let run = Run { first: at as u32, last: last as u32, end: end as u32, before, before_longer };
            self.entries[self.next as usize % KEPT] = run;
            self.last[byte] = self.next;
            self.next += 1;
        }
        last + 1
    }

    /// Returns the longest match of the run at `at`, a position with four equal bytes, or `found` if there is no longer
    /// one. In runs after the first `most_runs` ones, only bytes of the run itself are matched, not those behind it.
    pub(super) fn longest(
        &self,
        src: &[u8],
        at: usize,
        found: Match,
        limits: &Limits,
        most_runs: u32,
    ) -> Found {
        let mut number = self.last[usize::from(src[at])];
        let mut budget = limits.positions as usize;
        let len = match self.get(number) {
            Some(run) if run.end as usize > at => (run.end as usize - at).min(limits.most),
            _ => run_length(src, at, at + limits.most),
        };
        let mut result = Found { longest: found, len, is_complete: true };
        for _ in 0..most_runs {
            let Some(run) = self.get(number) else { return result };
            let candidates = (run.last - run.first) as usize + 1;
            let known = result.longest.len;
            let Some((longer, is_last)) = longest_of_run(src, at, run, len, known, limits, budget) else {
                return result;
            };
            result.longest = longer.unwrap_or(result.longest);
            if is_last || budget <= candidates || result.longest.len >= limits.nice {
                return result;
            }
            budget -= candidates;
            number = run.before;
        }
        result.is_complete = self.get(number).is_none_or(|run| at - run.last as usize > FARTHEST);
        while let Some(run) = self.get(number).filter(|run| at - run.last as usize <= FARTHEST) {
            let (shortest, longest) = ((run.end - run.last) as usize, run.longest() as usize);
            let left = len.clamp(shortest, longest).min(run.end as usize + FARTHEST - at);
            if len.min(left) > result.longest.len {
                result.longest = Match { len: len.min(left), distance: at + left - run.end as usize };
            }
            number = run.before_longer;
        }
        result
    }
}

/// Returns the longest match at `at`, where `len` bytes of a run are left, at a position of `run`, if it is longer than
/// `known`, which must be less than `limits.most`. Also returns whether the limits end the search there. Returns `None`
/// if the run is out of reach.
#[inline(always)]
fn longest_of_run(
    src: &[u8],
    at: usize,
    run: &Run,
    len: usize,
    known: usize,
    limits: &Limits,
    budget: usize,
) -> Option<(Option<Match>, bool)> {
    let (first, last, end) = (run.first as usize, run.last as usize, run.end as usize);
    if at - last > FARTHEST {
        return None;
    }
    if end > at {
        // The run that contains `at`: all its positions match up to its end.
        let found = Match { len, distance: at - last };
        return Some(((len > known).then_some(found), false));
    }
    // The number of bytes of the run that are left at its last position, at its first position, and at the farthest one
    // within the limits.
    let (shortest, longest) = (end - last, end - first);
    let reach = (shortest - 1 + budget).min(end + FARTHEST - at);
    let wanted = if len >= limits.nice { limits.nice.max(shortest) } else { len };
    let left = wanted.clamp(shortest, longest);
    let is_last = left > reach;
    let left = left.min(reach);
    let distance = at + left - end;
    let longer = if left != len {
        len.min(left)
    } else if known < len || has_end(src, at, distance, known) {
        len + matching_up_to(src, at + len, distance, at + limits.most)
    } else {
        0
    };
    Some(((longer > known).then_some(Match { len: longer, distance }), is_last))
}

/// Returns whether the last four bytes of a match of `known` + 1 bytes are equal. `known` must be at least
/// [`LEAST_RUN`].
#[inline(always)]
fn has_end(src: &[u8], at: usize, distance: usize, known: usize) -> bool {
    let end = at + known + 1 - LEAST_RUN;
    read32(src, end) == read32(src, end - distance)
}
