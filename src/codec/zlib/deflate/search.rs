//! The search for the longest match at a position of a stream.
//!
//! Owns the tables of earlier positions and the search in them; never decides which matches are used. The match is the
//! longest one, the closest of several, among as many candidates as zlib-ng, the C library's encoder, compares. So
//! streams are as long as the C library's. Three things are faster: runs of one byte are one entry each
//! ([`runs`](super::runs)), candidates are those of the rarest word of a longer match, with four bytes or more
//! ([`long_words`](super::long_words)), and only the part of the tables that a stream uses is cleared.

use std::ops::Range;

use super::chain_walk::{ChainCandidate, ChainWalk, SearchLimits};
use super::hash_chain::{HashChain, Heads, WINDOW, WORD_LEN, hash, max_distance_at};
use super::long_words::LongWords;
use super::matches::{MAX_MATCH, MAX_SEARCH_DISTANCE, MIN_MATCH, Match, is_run, match_length_up_to, read32};
use super::runs::{RunHistory, RunMatch};
use crate::tuning::tunable;

/// log2 of the number of hash values of four bytes: the largest (zlib-ng's), the smallest, and the increment over log2
/// of the length of a stream. With an increment of 1 instead of 2, streams of 10 to 20 KB with few repetitions take 15
/// % longer: two words with the same hash value cost a comparison that finds no match.
const HEADS_LOG2: u32 = 16;
const LEAST_HEADS_LOG2: u32 = 10;
tunable! {
    const HEADS_PER_BYTE_LOG2: u32 = 2;
}
/// log2 of the number of hash values of three bytes.
const HEADS3_LOG2: u32 = 16;
/// A search with at most this many candidates compares earlier runs one by one, at most this many of them.
const MAX_CANDIDATES_FOR_ALL_RUNS: u32 = 128;
tunable! {
    /// The number of earlier runs that a search with more candidates compares, before it searches for the word behind the
    /// run.
    const FIRST_RUNS: u32 = 4;
    /// The number of candidates that are compared, beyond [`LAST_WORD_STEPS`] for each search, before one more position
    /// is inserted into the chains of long words.
    const STEPS_PER_POSITION: usize = 3;
    /// Whether positions whose words are frequent are found by longer words (docs/tuning.md).
    const HAS_LONG_WORDS: bool = true;
    /// The number of candidates of a level from which on long words are searched for (docs/tuning.md).
    const MIN_CANDIDATES_FOR_LONG_WORDS: u32 = 1024;
}
/// The number of candidates of a level from which on rare words are searched for: from level 7 on. With 128, at level 6,
/// 9 of 91 streams are slower than with zlib-ng instead of 2 (cells of `cargo bench --bench drawn -- --codecs zlib`).
const MIN_CANDIDATES_FOR_RARE_WORDS: u32 = 256;
/// The number of candidates with the last word of a longer match that are compared before all its words are examined.
/// With 8 and 32 the speed is the same.
const LAST_WORD_STEPS: u32 = 16;

/// The number of positions that are inserted together: few enough that their numbers are larger than
/// [`MAX_SEARCH_DISTANCE`], so that number 0, which stands for no position, is out of reach.
const MAX_INSERT_BATCH: usize = WINDOW - MAX_SEARCH_DISTANCE - 4;

/// The search effort of a level.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// The greatest number of candidates that are compared.
    pub candidates: u32,
    /// The number of candidates with the same first four bytes that are compared before rarer words are searched for.
    pub first_candidates: u32,
    /// If the match to beat has this length in bytes, or more, only a quarter of the candidates are compared.
    pub good_len: usize,
    /// A match of this length in bytes, or more, ends the search.
    pub nice_len: usize,
    /// Whether the search for a match of a run that is longer than a given one passes any number of positions that match
    /// less.
    pub has_unlimited_positions: bool,
}

impl Effort {
    /// Returns the effort with this number of candidates, and with these lengths of good and of nice matches.
    pub(super) fn new(candidates: u32, good_len: usize, nice_len: usize) -> Effort {
        let first_candidates = if candidates >= MIN_CANDIDATES_FOR_RARE_WORDS { 4 } else { candidates };
        Effort { candidates, first_candidates, good_len, nice_len, has_unlimited_positions: false }
    }
}

/// The tables of a thread. A stream does not depend on the content that earlier streams left in them.
pub(super) struct SearchTables {
    word_chain: HashChain<{ 1 << HEADS_LOG2 }>,
    /// The last position of each hash of three bytes.
    heads3: Heads<{ 1 << HEADS3_LOG2 }>,
    /// The first position that has not been inserted into `heads3`.
    next_heads3: usize,
    runs: RunHistory,
    long_words: LongWords,
}

/// The search in one stream. If `RUNS`, runs are held separately from words; if `THREES`, a match of three bytes is
/// searched for where there is no longer one. Positions are inserted, or searched for, in ascending order, each once.
pub(super) struct DeflateSearch<'a, const RUNS: bool, const THREES: bool> {
    tables: &'a mut SearchTables,
    src: &'a [u8],
    /// The first position where fewer than eight bytes are left.
    near_end: usize,
    effort: Effort,
    /// The number of bits by which hashes of four bytes are shifted to the right.
    shift: u32,
    /// The position whose number in the tables is [`WINDOW`]; at first `WINDOW` - 1, so that position 0 has the number
    /// 1.
    origin: usize,
    /// The number of candidates that were compared beyond [`LAST_WORD_STEPS`] since long words were last searched for.
    extra_steps: usize,
}

impl<'a, const RUNS: bool, const THREES: bool> DeflateSearch<'a, RUNS, THREES> {
    pub(super) fn new(tables: &'a mut SearchTables, src: &'a [u8], effort: Effort) -> Self {
        let heads_log2 =
            (src.len().max(1).ilog2() + HEADS_PER_BYTE_LOG2.get()).clamp(LEAST_HEADS_LOG2, HEADS_LOG2);
        tables.word_chain.heads.clear(1 << heads_log2);
        if THREES {
            tables.heads3.clear(1 << HEADS3_LOG2);
            tables.next_heads3 = 1;
        }
        if RUNS {
            tables.runs.clear();
        }
        tables.long_words.clear();
        DeflateSearch {
            tables,
            src,
            near_end: src.len().saturating_sub(7),
            effort,
            shift: u32::BITS - heads_log2,
            origin: WINDOW - 1,
            extra_steps: 0,
        }
    }

    pub(super) fn src(&self) -> &'a [u8] {
        self.src
    }

    /// Returns the number of the position `at` in the tables. `at` must not be greater than in the last call of
    /// [`relative_position_after_slide`](Self::relative_position_after_slide).
    #[inline(always)]
    fn relative_position(&self, at: usize) -> u16 {
        (at + WINDOW - self.origin) as u16
    }

    /// Returns the number of the position `at` in the tables, and moves their origin if necessary.
    #[inline(always)]
    fn relative_position_after_slide(&mut self, at: usize) -> u16 {
        if at + WINDOW - self.origin > usize::from(u16::MAX) {
            self.slide(at);
        }
        self.relative_position(at)
    }

    /// Moves the origin so that the number of `at` fits into 16 bits.
    #[cold]
    #[inline(never)]
    fn slide(&mut self, at: usize) {
        let by = (at - self.origin) / WINDOW * WINDOW;
        self.tables.word_chain.heads.slide(by);
        self.tables.long_words.slide(by);
        if THREES {
            self.tables.heads3.slide(by);
        }
        self.origin += by;
    }

    /// Inserts positions, except the first one of the stream.
    #[inline(always)]
    pub(super) fn insert(&mut self, positions: Range<usize>) {
        let end = positions.end.min((self.src.len() + 1).saturating_sub(WORD_LEN));
        let mut at = positions.start.max(1);
        while at < end {
            // If the origin moves, it moves before the first position of a part, so that all numbers are at least
            // `WINDOW` - `MAX_INSERT_BATCH`.
            let part_end = end.min(at + MAX_INSERT_BATCH);
            self.relative_position_after_slide(part_end - 1);
            while at < part_end {
                at = self.tables.word_chain.insert_words::<RUNS>(
                    self.src,
                    at..part_end,
                    self.origin,
                    self.shift,
                );
                if at < part_end {
                    at = self.tables.runs.insert(self.src, at, part_end);
                }
            }
        }
    }

    /// Excludes positions at which no match is searched for, except those of a run at their beginning: the run is one
    /// entry, and its positions count as candidates.
    #[inline(never)]
    pub(super) fn skip(&mut self, positions: Range<usize>) {
        let Range { mut start, end } = positions;
        if RUNS && is_run(read32(self.src, start)) {
            start = self.tables.runs.insert(self.src, start, end);
        }
        self.skip_3_bytes(start..end);
        self.tables.long_words.skip(start..end);
        self.mark_not_inserted(start.max(end.saturating_sub(WINDOW))..end);
    }

    /// Excludes positions, behind the first one of the stream, from the chain of three bytes.
    #[inline(always)]
    fn skip_3_bytes(&mut self, positions: Range<usize>) {
        if THREES {
            if self.tables.next_heads3 < positions.start {
                self.insert_3_bytes_up_to(positions.start - 1);
            }
            self.tables.next_heads3 = positions.end;
        }
    }

    /// Excludes positions: the source of no later match will begin at one of them.
    #[inline(always)]
    pub(super) fn mark_not_inserted(&mut self, positions: Range<usize>) {
        self.skip_3_bytes(positions.clone());
        if self.effort.candidates > self.effort.first_candidates {
            self.tables.word_chain.mark_not_inserted(positions);
        }
    }

    /// Inserts `at`, and returns the longest match there of more than `longer_than` bytes; a match of length 0 if there
    /// is none.
    #[inline(always)]
    pub(super) fn find_longest(&mut self, at: usize, longer_than: usize) -> Match {
        if at >= self.near_end {
            return self.find_longest_near_end(at, longer_than);
        }
        let word = read32(self.src, at);
        if RUNS && is_run(word) {
            return self.find_longest_at_run(at, longer_than);
        }
        let relative = self.relative_position_after_slide(at);
        let distance = usize::from(self.tables.word_chain.insert(hash(word, self.shift), at, relative));
        let is_in_reach = distance <= max_distance_at(at);
        if !is_in_reach && (!THREES || longer_than >= MIN_MATCH) {
            return Match::default();
        }
        let limits = self.limits(at, longer_than);
        let mut found = Match { len: longer_than.max(MIN_MATCH - 1), distance: 0 };
        if is_in_reach && found.len < limits.max_len {
            found =
                self.search_chain(at, ChainCandidate { position: at - distance, offset: 0 }, found, &limits);
        }
        if THREES && found.len < MIN_MATCH {
            found = self.find_3_byte_match_or(at, found, &limits);
        }
        if found.distance == 0 { Match::default() } else { found }
    }

    #[inline(always)]
    fn limits(&self, at: usize, longer_than: usize) -> SearchLimits {
        let Effort { candidates, good_len: good, nice_len: nice, .. } = self.effort;
        let most = (self.src.len() - at).min(MAX_MATCH);
        let candidates = if longer_than >= good { candidates / 4 } else { candidates };
        // At level 9, zlib-ng searches for a match that is longer than a given one by the rarest word of the given one,
        // and so skips positions that match less: the number of positions is unlimited. For the first match it is
        // limited: without this limit, chunks of sparse numbers are 5 % longer.
        let is_unlimited = self.effort.has_unlimited_positions && longer_than >= MIN_MATCH;
        let positions = if is_unlimited { u32::MAX / 2 } else { candidates };
        SearchLimits { candidates, positions, nice_len: nice.min(most), max_len: most }
    }

    /// Returns the closest match of three bytes; if there is none, `found`, which is shorter than three bytes.
    #[inline(always)]
    fn find_3_byte_match_or(&mut self, at: usize, found: Match, limits: &SearchLimits) -> Match {
        if limits.max_len < MIN_MATCH {
            return found;
        }
        let distance = if self.tables.next_heads3 == at {
            self.insert_3_bytes(at)
        } else {
            self.insert_3_bytes_up_to(at)
        };
        let is_match = distance <= max_distance_at(at)
            && (read32(self.src, at - distance) ^ read32(self.src, at)) << 8 == 0;
        if is_match { Match { len: MIN_MATCH, distance } } else { found }
    }

    /// Inserts the three bytes at `at`. Returns the distance to the last position with the same hash; more than
    /// [`max_distance_at`] if there is none in reach.
    #[inline(always)]
    fn insert_3_bytes(&mut self, at: usize) -> usize {
        let relative = self.relative_position_after_slide(at);
        self.tables.next_heads3 = at + 1;
        usize::from(self.tables.heads3.replace(hash_3_bytes(read32(self.src, at)), relative))
    }

    /// As [`insert_3_bytes`](Self::insert_3_bytes), for all positions up to `at`: positions in long matches are
    /// inserted only when a match of three bytes is searched for.
    #[inline(never)]
    fn insert_3_bytes_up_to(&mut self, at: usize) -> usize {
        self.relative_position_after_slide(at);
        let SearchTables { heads3, next_heads3, .. } = &mut *self.tables;
        // Earlier positions are out of reach, or no longer have a number.
        let first = (*next_heads3).max(at.max(self.origin + 1).saturating_sub(WINDOW));
        for position in first..at {
            let relative = (position + WINDOW - self.origin) as u16;
            heads3.replace(hash_3_bytes(read32(self.src, position)), relative);
        }
        self.insert_3_bytes(at)
    }

    /// As [`find_longest`](Self::find_longest), for a position with four equal bytes.
    #[inline(never)]
    fn find_longest_at_run(&mut self, at: usize, longer_than: usize) -> Match {
        let limits = self.limits(at, longer_than);
        let mut found = Match { len: longer_than.max(MIN_MATCH - 1), distance: 0 };
        if found.len < limits.max_len {
            found = self.search_run(at, found, &limits);
        } else {
            self.tables.runs.insert(self.src, at, at + 1);
        }
        if THREES && found.len < MIN_MATCH {
            found = self.find_3_byte_match_or(at, found, &limits);
        }
        if found.distance == 0 { Match::default() } else { found }
    }

    /// Inserts `at`, a position with four equal bytes, and returns the longest match there, or `found` if there is no
    /// longer one.
    #[inline(always)]
    fn search_run(&mut self, at: usize, found: Match, limits: &SearchLimits) -> Match {
        let most_runs = if limits.candidates <= MAX_CANDIDATES_FOR_ALL_RUNS {
            MAX_CANDIDATES_FOR_ALL_RUNS
        } else {
            FIRST_RUNS.get()
        };
        let runs = &mut self.tables.runs;
        let RunMatch { mut longest, run_len: len, is_complete } =
            runs.find_longest(self.src, at, found, limits, most_runs);
        runs.insert(self.src, at, at + 1);
        if is_complete || longest.len < len || longest.len >= limits.nice_len {
            // Without an earlier run that is as long, no match extends beyond the run.
            return longest;
        }
        // A longer match contains the last three bytes of the run and the byte behind it.
        let before = len - (WORD_LEN - 1);
        let behind = at + before;
        if behind < self.near_end {
            self.relative_position_after_slide(behind);
            let hash = hash(read32(self.src, behind), self.shift);
            let relative = self.relative_position(behind);
            let distance = usize::from(self.tables.word_chain.heads.get(hash, relative));
            if distance < at && distance <= MAX_SEARCH_DISTANCE {
                let first = ChainCandidate { position: at - distance, offset: before };
                longest = self.search_chain(at, first, longest, limits);
            }
        }
        longest
    }

    /// Compares the candidates from `first` on, then those of rarer words, and returns the longest match.
    #[inline(always)]
    fn search_chain(
        &mut self,
        at: usize,
        first: ChainCandidate,
        mut found: Match,
        limits: &SearchLimits,
    ) -> Match {
        let candidates = limits.candidates;
        let lowest = at.saturating_sub(MAX_SEARCH_DISTANCE).max(1);
        let walk = ChainWalk { src: self.src, at, lowest, limits };
        let first_candidates = self.effort.first_candidates.min(candidates);
        let mut left = first_candidates;
        let mut candidate = first;
        while left > 0 {
            let prev_distances = &self.tables.word_chain.prev_distances;
            match walk.find_longer(prev_distances, candidate, &mut left, &mut found) {
                Some(next) => candidate = next,
                None => return found,
            }
        }
        if first_candidates == candidates {
            return found;
        }
        // Candidates with rarer words match longer: with 3/4 of their number streams are as long.
        self.search_rare_words(walk, candidate, found, (candidates - first_candidates) / 4 * 3)
    }

    /// Compares up to `steps` candidates from `candidate` on, but those of rarer words instead if there are any, and
    /// returns the longest match.
    #[inline(never)]
    fn search_rare_words(
        &mut self,
        walk: ChainWalk<'_>,
        mut candidate: ChainCandidate,
        mut found: Match,
        steps: u32,
    ) -> Match {
        // All words of a match have a number.
        self.relative_position_after_slide(walk.at + MAX_MATCH);
        let first_steps =
            if HAS_LONG_WORDS.get() && self.effort.candidates >= MIN_CANDIDATES_FOR_LONG_WORDS.get() {
                let missing_steps = STEPS_PER_POSITION.get() * self.tables.long_words.missing_count(walk.at);
                steps.min(LAST_WORD_STEPS + missing_steps.saturating_sub(self.extra_steps) as u32)
            } else {
                steps
            };
        let mut left = first_steps;
        let is_complete = self.search_words(&walk, &mut candidate, &mut left, &mut found);
        let compared = first_steps - left;
        self.extra_steps += compared.saturating_sub(LAST_WORD_STEPS) as usize;
        left = steps - compared;
        if is_complete || left == 0 {
            return found;
        }
        self.extra_steps = 0;
        let SearchTables { word_chain, long_words, .. } = &mut *self.tables;
        long_words.insert_missing(self.src, walk.at, self.origin, word_chain);
        while let Some(is_complete) = long_words.find_longer(&walk, self.origin, &mut left, &mut found) {
            if is_complete {
                return found;
            }
        }
        self.search_words(&walk, &mut candidate, &mut left, &mut found);
        found
    }

    /// Compares up to `steps` candidates, those of the words of a longer match than `found` with the farthest
    /// last position, and subtracts their number from `steps`. Returns whether the search is complete.
    fn search_words(
        &self,
        walk: &ChainWalk<'_>,
        candidate: &mut ChainCandidate,
        steps: &mut u32,
        found: &mut Match,
    ) -> bool {
        let prev_distances = &self.tables.word_chain.prev_distances;
        while *steps > 0 {
            // A longer match contains each word that ends at most one byte behind `found`. The last one is often the
            // rarest: a byte that differs from the period of a stream ends most matches.
            let words = (found.len + 2).saturating_sub(WORD_LEN).max(1);
            if !self.is_word_in_reach(walk, words - 1, candidate) {
                return true;
            }
            let known = found.len;
            let mut part = LAST_WORD_STEPS.min(*steps);
            while part > 0 && found.len == known {
                *steps -= part;
                let next = walk.find_longer_far(prev_distances, *candidate, &mut part, found);
                *steps += part;
                let Some(next) = next else { return true };
                *candidate = next;
                if found.len == known && !(0..words).all(|nth| self.is_word_in_reach(walk, nth, candidate)) {
                    return true;
                }
                part = *steps;
            }
        }
        false
    }

    /// Returns whether the word `offset` bytes behind the position of `walk` occurred in reach. If its last position is
    /// farther than `candidate`, that one replaces `candidate`, since no longer match is nearer.
    #[inline(always)]
    fn is_word_in_reach(&self, walk: &ChainWalk<'_>, offset: usize, candidate: &mut ChainCandidate) -> bool {
        let word = read32(self.src, walk.at + offset);
        if RUNS && is_run(word) {
            return true;
        }
        let relative = self.relative_position(walk.at + offset);
        let distance = self.tables.word_chain.heads.get(hash(word, self.shift), relative);
        let position = walk.at as isize - distance as isize;
        let is_in_reach = position >= walk.lowest as isize;
        if is_in_reach && position < candidate.position as isize {
            *candidate = ChainCandidate { position: position as usize, offset };
        }
        is_in_reach
    }

    /// As [`find_longest`](Self::find_longest), for a position with fewer than eight bytes left.
    #[inline(never)]
    fn find_longest_near_end(&mut self, at: usize, longer_than: usize) -> Match {
        let most = (self.src.len() - at).min(MAX_MATCH);
        if at + WORD_LEN > self.src.len() || most < WORD_LEN {
            return Match::default();
        }
        let word = read32(self.src, at);
        let mut found = Match { len: longer_than.max(MIN_MATCH - 1), distance: 0 };
        if RUNS && is_run(word) {
            if found.len < most {
                found = self.search_run(at, found, &self.limits(at, longer_than));
            }
        } else {
            let relative = self.relative_position_after_slide(at);
            let mut distance =
                usize::from(self.tables.word_chain.insert(hash(word, self.shift), at, relative));
            for _ in 0..self.effort.candidates {
                if distance > max_distance_at(at) {
                    break;
                }
                let len = match_length_up_to(self.src, at, distance, at + most);
                if len > found.len {
                    found = Match { len, distance };
                }
                distance += usize::from(self.tables.word_chain.prev_distances.get(at - distance));
            }
        }
        if found.distance == 0 { Match::default() } else { found }
    }
}

#[inline(always)]
fn hash_3_bytes(word: u32) -> usize {
    ((word << 8).wrapping_mul(0x9e37_79b1) >> (u32::BITS - HEADS3_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn new_tables() -> Box<SearchTables> {
        // SAFETY: `SearchTables` consists of integers and booleans, for which zeros are valid.
        unsafe { Box::<SearchTables>::new_zeroed().assume_init() }
    }

    /// Searches at all positions twice, among all candidates: with rare words after `first` candidates, and without.
    /// Returns the position and both matches of each search.
    fn search_with_and_without_rare_words(src: &[u8], first: u32) -> Vec<(usize, [Match; 2])> {
        let effort = |first_candidates| Effort {
            candidates: 1 << 20,
            first_candidates,
            good_len: 8,
            nice_len: 128,
            has_unlimited_positions: false,
        };
        let [with, without] = &mut [new_tables(), new_tables()];
        let mut with = DeflateSearch::<true, false>::new(with, src, effort(first));
        let mut without = DeflateSearch::<true, false>::new(without, src, effort(1 << 20));
        (1..src.len()).map(|at| (at, [with.find_longest(at, 0), without.find_longest(at, 0)])).collect()
    }

    #[test]
    fn searches_with_and_without_rare_words_find_the_same_matches() {
        let random = &mut Random(1);
        let len = if cfg!(miri) { 200 } else { 20_000 };
        for (values, period) in [(2, 1), (3, 1), (4, 1), (8, 1), (200, 12), (200, 51), (50, 100)] {
            // Few values, or a period with one change in `values` bytes.
            let src: Vec<u8> = if period == 1 {
                (0..len).map(|_| random.below(values) as u8).collect()
            } else {
                (0..len)
                    .map(|at| (7 * (at % period) + usize::from(random.below(values) == 0)) as u8)
                    .collect()
            };
            for first in [4, 32] {
                for (at, [with, without]) in search_with_and_without_rare_words(&src, first) {
                    assert_eq!(with, without, "{values} values, period {period}, {first} first, at {at}");
                }
            }
        }
    }

    #[test]
    fn positions_of_skipped_runs_count_as_candidates() {
        let run = |len| vec![0; len];
        let src = [
            &[1, 2][..],
            &run(300),
            &[7, 3, 4],
            &run(10_000),
            &[5],
            &run(100),
            &[7, 8, 9, 10, 11, 12, 13, 14],
        ];
        let starts = src.iter().scan(0, |start, part| Some(std::mem::replace(start, *start + part.len())));
        let starts = starts.collect::<Vec<_>>();
        let src = src.concat();
        let effort = |candidates| Effort {
            candidates,
            first_candidates: 4,
            good_len: usize::MAX,
            nice_len: MAX_MATCH,
            has_unlimited_positions: true,
        };
        let search_behind = |candidates, skipped: Range<usize>| {
            let mut tables = new_tables();
            let mut search = DeflateSearch::<true, false>::new(&mut tables, &src, effort(candidates));
            search.insert(1..skipped.start);
            search.skip(skipped.clone());
            search.insert(skipped.end..starts[5]);
            search.find_longest(starts[5], 0)
        };
        let skipped = starts[3] + 500..starts[4] - 600;
        for (candidates, len) in [(4096, 100), (16_384, 101)] {
            let found = search_behind(candidates, skipped.clone());
            assert_eq!(found.len, len);
            assert_eq!(found, search_behind(candidates, starts[3]..starts[3]), "as if none were skipped");
        }
    }
}
