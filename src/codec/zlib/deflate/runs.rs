//! Runs of one byte, and the longest match of a run.
//!
//! Shuffled numbers contain many runs, most of them of zeros. A hash chain would hold each position of a run, and a
//! search would compare thousands of positions with matches of equal length. Here one entry stands for a whole run. At
//! most one position of each earlier run can match longer than the run that is searched for: the one with as many bytes
//! of its run left. The result is that of a search through a hash chain with all these positions.

use super::chain_walk::SearchLimits;
use super::matches::{MAX_SEARCH_DISTANCE, MIN_RUN_LEN, Match, match_length_up_to, read32, run_length};

/// The number of runs that are held. The window has at most `MAX_SEARCH_DISTANCE` / 5 whole runs, and runs that were
/// inserted in parts.
const MAX_RUNS: usize = 1 << 13;

/// The inserted positions of one run.
#[derive(Clone, Copy, Default)]
struct Run {
    /// The first and the last position that were inserted; all positions between them were inserted, too.
    first: u32,
    last: u32,
    /// The position behind the last byte of the run.
    end: u32,
    /// The number of the previous entry with the same byte; 0 if there is none.
    prev: u32,
    /// The number of the last earlier entry with the same byte and a longer run; 0 if there is none.
    prev_longer: u32,
}

impl Run {
    /// Returns the number of bytes of the run that are left at the first position.
    #[inline(always)]
    fn len_at_first(&self) -> u32 {
        self.end - self.first
    }
}

/// The result of [`RunHistory::find_longest`].
pub(super) struct RunMatch {
    pub longest: Match,
    /// The length, in bytes, of the run that is searched for.
    pub run_len: usize,
    /// Whether no further run could match longer than `longest`.
    pub is_complete: bool,
}

pub(super) struct RunHistory {
    /// The entry with the number n has the index n modulo `MAX_RUNS`.
    entries: [Run; MAX_RUNS],
    /// The number of the last entry of each byte; 0 if there is none.
    last_entries: [u32; 256],
    next: u32,
}

impl RunHistory {
    pub(super) fn clear(&mut self) {
        self.last_entries.fill(0);
        self.next = 1;
    }

    /// Returns the entry with that number; `None` for 0, and if newer entries have replaced it.
    #[inline(always)]
    fn get(&self, number: u32) -> Option<&Run> {
        (number > 0 && self.next - number <= MAX_RUNS as u32)
            .then(|| &self.entries[number as usize % MAX_RUNS])
    }

    /// Inserts positions of the run at `at`, a position with four equal bytes: those before `to` at which four or more
    /// bytes of the run are left. Returns the position behind the last one inserted.
    #[inline]
    pub(super) fn insert(&mut self, src: &[u8], at: usize, to: usize) -> usize {
        let byte = usize::from(src[at]);
        let number = self.last_entries[byte];
        let known = self.get(number).copied();
        let same = known.filter(|run| run.end as usize >= at + MIN_RUN_LEN);
        let end = same.map_or_else(|| at + run_length(src, at, src.len()), |run| run.end as usize);
        let last = (end - MIN_RUN_LEN).min(to - 1);
        if same.is_some_and(|run| run.last as usize + 1 == at) {
            self.entries[number as usize % MAX_RUNS].last = last as u32;
        } else {
            let before = if known.is_some() { number } else { 0 };
            let mut before_longer = before;
            while let Some(run) =
                self.get(before_longer).filter(|run| run.len_at_first() as usize <= end - at)
            {
                before_longer = run.prev_longer;
            }
            let run = Run {
                first: at as u32,
                last: last as u32,
                end: end as u32,
                prev: before,
                prev_longer: before_longer,
            };
            self.entries[self.next as usize % MAX_RUNS] = run;
            self.last_entries[byte] = self.next;
            self.next += 1;
        }
        last + 1
    }

    /// Returns the longest match of the run at `at`, a position with four equal bytes, or `found` if there is no longer
    /// one. In runs after the first `most_runs` ones, only bytes of the run itself are matched, not those behind it.
    pub(super) fn find_longest(
        &self,
        src: &[u8],
        at: usize,
        found: Match,
        limits: &SearchLimits,
        most_runs: u32,
    ) -> RunMatch {
        let mut number = self.last_entries[usize::from(src[at])];
        let mut budget = limits.positions as usize;
        let len = match self.get(number) {
            Some(run) if run.end as usize > at => (run.end as usize - at).min(limits.max_len),
            _ => run_length(src, at, at + limits.max_len),
        };
        let mut result = RunMatch { longest: found, run_len: len, is_complete: true };
        for _ in 0..most_runs {
            let Some(run) = self.get(number) else { return result };
            let candidates = (run.last - run.first) as usize + 1;
            let known = result.longest.len;
            let Some((longer, is_last)) = longest_match_in_run(src, at, run, len, known, limits, budget)
            else {
                return result;
            };
            result.longest = longer.unwrap_or(result.longest);
            if is_last || budget <= candidates || result.longest.len >= limits.nice_len {
                return result;
            }
            budget -= candidates;
            number = run.prev;
        }
        result.is_complete = self.get(number).is_none_or(|run| at - run.last as usize > MAX_SEARCH_DISTANCE);
        while let Some(run) = self.get(number).filter(|run| at - run.last as usize <= MAX_SEARCH_DISTANCE) {
            let (shortest, longest) = ((run.end - run.last) as usize, run.len_at_first() as usize);
            let left = len.clamp(shortest, longest).min(run.end as usize + MAX_SEARCH_DISTANCE - at);
            if len.min(left) > result.longest.len {
                result.longest = Match { len: len.min(left), distance: at + left - run.end as usize };
            }
            number = run.prev_longer;
        }
        result
    }
}

/// Returns the longest match at `at`, where `len` bytes of a run are left, at a position of `run`, if it is longer than
/// `known`, which must be less than `limits.max_len`. Also returns whether the limits end the search there. Returns
/// `None` if the run is out of reach.
#[inline(always)]
fn longest_match_in_run(
    src: &[u8],
    at: usize,
    run: &Run,
    len: usize,
    known: usize,
    limits: &SearchLimits,
    budget: usize,
) -> Option<(Option<Match>, bool)> {
    let (first, last, end) = (run.first as usize, run.last as usize, run.end as usize);
    if at - last > MAX_SEARCH_DISTANCE {
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
    let reach = (shortest - 1 + budget).min(end + MAX_SEARCH_DISTANCE - at);
    let wanted = if len >= limits.nice_len { limits.nice_len.max(shortest) } else { len };
    let left = wanted.clamp(shortest, longest);
    let is_last = left > reach;
    let left = left.min(reach);
    let distance = at + left - end;
    let longer = if left != len {
        len.min(left)
    } else if known < len || is_end_equal(src, at, distance, known) {
        len + match_length_up_to(src, at + len, distance, at + limits.max_len)
    } else {
        0
    };
    Some(((longer > known).then_some(Match { len: longer, distance }), is_last))
}

/// Returns whether the last four bytes of a match of `known` + 1 bytes are equal. `known` must be at least
/// [`MIN_RUN_LEN`].
#[inline(always)]
fn is_end_equal(src: &[u8], at: usize, distance: usize, known: usize) -> bool {
    let end = at + known + 1 - MIN_RUN_LEN;
    read32(src, end) == read32(src, end - distance)
}
