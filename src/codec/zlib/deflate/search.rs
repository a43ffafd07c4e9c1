//! The search for the longest match at a position of a stream.
//!
//! Owns the tables of earlier positions and the search in them; never decides which matches are used. The match is the
//! one that zlib-ng, the C library's encoder, finds with the same limits: the longest one, the closest of several,
//! among the last positions with the same four bytes. So streams are as long as the C library's. Three things are
//! faster: runs of one byte are one entry each ([`runs`](super::runs)), positions whose first four bytes are frequent
//! are found by longer words ([`long_words`](super::long_words)), and only the part of the tables that a stream uses is
//! cleared.

use std::ops::Range;

use super::chain_walk::{ChainWalk, SearchLimits, Verdict};
use super::hash_chain::{HashChain, WINDOW, WORD_LEN, hash, max_distance_at};
use super::long_words::{LongWords, SearchPosition};
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
const CHAIN3_HEADS_LOG2: u32 = 15;
/// The greatest number of candidates with the same hash of three bytes that are compared.
const MAX_CHAIN3_CANDIDATES: u32 = 16;
/// A search with at most this many candidates compares earlier runs one by one, at most this many of them.
const MAX_CANDIDATES_FOR_ALL_RUNS: u32 = 128;
tunable! {
    /// The number of earlier runs that a search with more candidates compares, before it searches for the word behind the
    /// run.
    const FIRST_RUNS: u32 = 4;
    /// The number of candidates that are compared, beyond [`Effort::word_chain_candidates`] for each search, before one
    /// more position is inserted into the chains of long words.
    const STEPS_PER_POSITION: usize = 3;
    /// Whether positions whose first four bytes are frequent are found by longer words (docs/tuning.md).
    const HAS_LONG_WORDS: bool = true;
    /// The number of candidates of a level from which on long words are searched for (docs/tuning.md).
    const MIN_CANDIDATES_FOR_LONG_WORDS: u32 = 1024;
}

/// The number of positions that are inserted together: few enough that their numbers are larger than
/// [`MAX_SEARCH_DISTANCE`], so that number 0, which stands for no position, is out of reach.
const MAX_INSERT_BATCH: usize = WINDOW - MAX_SEARCH_DISTANCE - 4;

/// The search effort of a level.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// The greatest number of candidates that are compared.
    pub candidates: u32,
    /// The number of candidates of the chain of four bytes that are compared before long words are searched for.
    pub word_chain_candidates: u32,
    /// If the match to beat has this length in bytes, or more, only a quarter of the candidates are compared.
    pub good_len: usize,
    /// A match of this length in bytes, or more, ends the search.
    pub nice_len: usize,
    /// Whether the search for a match that is longer than a given one passes any number of positions that match less.
    pub has_unlimited_positions: bool,
}

impl Effort {
    /// Returns the effort with this number of candidates, and with these lengths of good and of nice matches.
    pub(super) fn new(candidates: u32, good_len: usize, nice_len: usize) -> Effort {
        let has_long_words = HAS_LONG_WORDS.get() && candidates >= MIN_CANDIDATES_FOR_LONG_WORDS.get();
        let word_chain_candidates = if has_long_words { 4 } else { candidates };
        Effort { candidates, word_chain_candidates, good_len, nice_len, has_unlimited_positions: false }
    }
}

/// The tables of a thread. A stream does not depend on the content that earlier streams left in them.
pub(super) struct SearchTables {
    word_chain: HashChain<{ 1 << HEADS_LOG2 }>,
    /// The chain for matches of three bytes.
    chain3: HashChain<{ 1 << CHAIN3_HEADS_LOG2 }>,
    /// The first position that has not been inserted into `chain3`.
    next_chain3: usize,
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
    /// The number of candidates that were compared beyond [`Effort::word_chain_candidates`] since long words were last
    /// searched for.
    extra_steps: usize,
}

/// The position that candidates are compared with.
#[derive(Clone, Copy)]
struct Target {
    at: usize,
    /// The number of bytes before `at` that belong to the match as well.
    before: usize,
}

impl Target {
    /// Accepts a candidate if the `before` bytes before it equal those before the target.
    #[inline(always)]
    fn check_candidate(self, src: &[u8], position: usize) -> Verdict {
        let start = self.at - self.before;
        let is_match = self.before == 0
            || (position >= self.before && src[position - self.before..position] == src[start..self.at]);
        if is_match { Verdict::Take } else { Verdict::Skip }
    }
}

impl<'a, const RUNS: bool, const THREES: bool> DeflateSearch<'a, RUNS, THREES> {
    /// Returns a search in `src` with empty tables.
    pub(super) fn new(tables: &'a mut SearchTables, src: &'a [u8], effort: Effort) -> Self {
        let heads_log2 =
            (src.len().max(1).ilog2() + HEADS_PER_BYTE_LOG2.get()).clamp(LEAST_HEADS_LOG2, HEADS_LOG2);
        tables.word_chain.heads.clear(1 << heads_log2);
        if THREES {
            tables.chain3.heads.clear(1 << CHAIN3_HEADS_LOG2);
            tables.next_chain3 = 1;
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

    /// Returns the bytes that are searched.
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
            self.tables.chain3.heads.slide(by);
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
            if self.tables.next_chain3 < positions.start {
                self.insert_3_bytes_up_to(positions.start - 1);
            }
            self.tables.next_chain3 = positions.end;
        }
    }

    /// Excludes positions: the source of no later match will begin at one of them.
    #[inline(always)]
    pub(super) fn mark_not_inserted(&mut self, positions: Range<usize>) {
        self.skip_3_bytes(positions.clone());
        if self.effort.candidates > self.effort.word_chain_candidates {
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
            found = self.search_chain(Target { at, before: 0 }, at - distance, found, &limits);
        }
        if THREES && found.len < MIN_MATCH {
            found = self.find_3_byte_match_or(at, found, &limits);
        }
        if found.distance == 0 { Match::default() } else { found }
    }

    /// Returns the limits of a search at `at`.
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
        let distance = if self.tables.next_chain3 == at {
            self.insert_3_bytes(at)
        } else {
            self.insert_3_bytes_up_to(at)
        };
        if distance <= max_distance_at(at) {
            self.find_3_byte_match(at, distance).unwrap_or(found)
        } else {
            found
        }
    }

    /// Inserts the three bytes at `at`. Returns the distance to the last position with the same hash; more than
    /// [`max_distance_at`] if there is none in reach.
    #[inline(always)]
    fn insert_3_bytes(&mut self, at: usize) -> usize {
        let relative = self.relative_position_after_slide(at);
        self.tables.next_chain3 = at + 1;
        usize::from(self.tables.chain3.insert(hash_3_bytes(read32(self.src, at)), at, relative))
    }

    /// As [`insert_3_bytes`](Self::insert_3_bytes), for all positions up to `at`: positions in long matches are
    /// inserted only when a match of three bytes is searched for.
    #[inline(never)]
    fn insert_3_bytes_up_to(&mut self, at: usize) -> usize {
        self.relative_position_after_slide(at);
        let SearchTables { chain3, next_chain3, .. } = &mut *self.tables;
        // Earlier positions no longer have a number.
        let first = (*next_chain3).max((self.origin + 1).saturating_sub(WINDOW));
        for position in first..at {
            let relative = (position + WINDOW - self.origin) as u16;
            chain3.insert_earlier(hash_3_bytes(read32(self.src, position)), position, relative);
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
            let distance =
                usize::from(self.tables.word_chain.heads.get(hash, self.relative_position(behind)));
            if distance <= max_distance_at(behind) {
                let limits = SearchLimits {
                    max_len: limits.max_len - before,
                    nice_len: limits.nice_len - before,
                    ..*limits
                };
                let known = Match { len: longest.len - before, distance: 0 };
                let found =
                    self.search_chain(Target { at: behind, before }, behind - distance, known, &limits);
                if found.distance > 0 {
                    longest = Match { len: found.len + before, ..found };
                }
            }
        }
        longest
    }

    /// Compares the candidates from `first` on, and returns the longest match.
    #[inline(always)]
    fn search_chain(
        &mut self,
        target: Target,
        first: usize,
        mut found: Match,
        limits: &SearchLimits,
    ) -> Match {
        let SearchTables { word_chain, long_words, .. } = &mut *self.tables;
        let word_start = target.at - target.before;
        let first_steps = self.effort.word_chain_candidates;
        let patience = if limits.candidates <= first_steps {
            first_steps
        } else {
            (first_steps as usize
                + (STEPS_PER_POSITION.get() * long_words.missing_count(word_start))
                    .saturating_sub(self.extra_steps)) as u32
        };
        let steps = patience.min(limits.candidates);
        let mut left = steps;
        let walk = ChainWalk { src: self.src, at: target.at, limits };
        let judge = |position| target.check_candidate(self.src, position);
        let next = walk.compare_candidates(&word_chain.prev_distances, first, &mut left, &mut found, judge);
        self.extra_steps += (steps - left).saturating_sub(first_steps) as usize;
        let Some(next) = next.filter(|_| steps < limits.candidates) else { return found };
        self.extra_steps = 0;
        self.search_long_words(target, first, next, steps, found, limits)
    }

    /// Compares the candidates from `next` on, those with the same long words first, and returns the longest match.
    #[inline(never)]
    fn search_long_words(
        &mut self,
        target: Target,
        first: usize,
        next: usize,
        steps: u32,
        found: Match,
        limits: &SearchLimits,
    ) -> Match {
        let relative = self.relative_position(target.at);
        let SearchTables { word_chain, long_words, .. } = &mut *self.tables;
        long_words.insert_missing(self.src, target.at - target.before, self.origin, word_chain);
        let position = SearchPosition { src: self.src, at: target.at, relative, first_candidate: first };
        let judge = |position| target.check_candidate(self.src, position);
        let mut found = found;
        let mut left = limits.candidates;
        let mut from = target.at - next;
        while let Some(longer) = long_words.find_longer(&position, from, found, limits, &mut left, judge) {
            let (longer, is_complete) = longer;
            found = longer;
            if is_complete || found.len >= limits.nice_len {
                return found;
            }
            from = found.distance;
        }
        let mut left = limits.candidates - steps;
        let walk = ChainWalk { src: self.src, at: target.at, limits };
        walk.compare_candidates(&word_chain.prev_distances, next, &mut left, &mut found, judge);
        found
    }

    /// Returns the closest match of three bytes; the first candidate is `distance` before `at`.
    #[inline(never)]
    fn find_3_byte_match(&self, at: usize, mut distance: usize) -> Option<Match> {
        let word = read32(self.src, at);
        for _ in 0..MAX_CHAIN3_CANDIDATES.min(self.effort.candidates / 2) {
            if (read32(self.src, at - distance) ^ word) << 8 == 0 {
                return Some(Match { len: MIN_MATCH, distance });
            }
            distance += usize::from(self.tables.chain3.prev_distances.get(at - distance));
            if distance > max_distance_at(at) {
                break;
            }
        }
        None
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
    ((word << 8).wrapping_mul(0x9e37_79b1) >> (u32::BITS - CHAIN3_HEADS_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_tables() -> Box<SearchTables> {
        // SAFETY: `SearchTables` consists of integers and booleans, for which zeros are valid.
        unsafe { Box::<SearchTables>::new_zeroed().assume_init() }
    }

    /// Searches at all positions twice, with the same matches to beat: with long words after `first` candidates, and
    /// without long words. Returns the position and both matches of each search.
    fn search_with_and_without_long_words(
        src: &[u8],
        first: u32,
        random: &mut impl FnMut(usize) -> usize,
    ) -> Vec<(usize, [Match; 2])> {
        let effort = |first| Effort {
            candidates: 256,
            word_chain_candidates: first,
            good_len: 8,
            nice_len: 128,
            has_unlimited_positions: false,
        };
        let [with, without] = &mut [new_tables(), new_tables()];
        let mut with = DeflateSearch::<true, false>::new(with, src, effort(first));
        let mut without = DeflateSearch::<true, false>::new(without, src, effort(256));
        (1..src.len())
            .map(|at| {
                let longer_than = if random(2) == 0 { 0 } else { 4 + random(10) };
                (at, [with.find_longest(at, longer_than), without.find_longest(at, longer_than)])
            })
            .collect()
    }

    #[test]
    fn searches_with_and_without_long_words_find_the_same_matches() {
        let mut x = 1u64;
        let mut random = move |bound: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % bound
        };
        for values in [2, 3, 4, 8] {
            for first in [4, 32] {
                let len = if cfg!(miri) { 200 } else { 50_000 };
                let src: Vec<u8> = (0..len).map(|_| random(values) as u8).collect();
                for (at, [with, without]) in search_with_and_without_long_words(&src, first, &mut random) {
                    assert_eq!(with, without, "{values} values, {first} first, at {at}");
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
            word_chain_candidates: 4,
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
