//! Finds earlier occurrences of the bytes at a position: hash chains through the last 64 KiB.
//!
//! Owns the tables and the search for the longest match. Never decides which matches are used. An input with a
//! dictionary begins with it, and the dictionary's positions stay in the tables from one input to the next.
//!
//! Long runs of one byte are stored separately: they are chained by their starts, so that one step passes over a
//! whole run, where hash chains would hold each of its positions. A match that extends beyond a run is searched with
//! the hash of the run's last three bytes and the byte behind them: that hash chain stays short where the input has
//! many runs.
//!
//! The finder also tries the distances of the last two matches that were used. In periodic data with a few changed
//! bytes, the match behind a changed byte usually has one of these distances.

use super::{
    LAST_LITERALS, MAX_DISTANCE, MIN_MATCH, NO_MATCH_TAIL, TablePosition, common_prefix_len,
    common_suffix_len, read32,
};
use crate::error::Result;
use crate::fallible::boxed_array;
use crate::tuning::tunable;

/// log2 of the largest and of the smallest number of heads.
const MAX_HASH_LOG: u32 = 16;
const MIN_HASH_LOG: u32 = 8;
/// The number of positions that the chains hold.
const WINDOW: usize = MAX_DISTANCE + 1;
/// Runs of at least this length, in bytes, are chained separately by their starts.
const MIN_RUN: usize = 8;
tunable! {
    /// The number of positions without a match behind which only the last candidate of a chain is compared: data with this
    /// many literals in a row hardly repeats anything, and the other candidates are mostly chance.
    const MAX_THOROUGH_LITERALS: usize = 16;
    /// Whether the distances of the last matches are tried.
    const HAS_RECENT_DISTANCES: bool = true;
    /// Whether matches that extend beyond a run are searched with the bytes at its end.
    const HAS_RUN_ENDS: bool = true;
    /// log2 of the number of heads for each byte of the input.
    const HEADS_PER_BYTE_LOG2: u32 = 2;
}
/// Minimum number of candidates for a match that extends beyond a run. With the 4 to 16 candidates of levels 3 to 5,
/// streams of records with a period of 51 (test `periods_of_records_behind_runs_compress_like_the_reference`) are up to
/// 2 % longer than the reference's; with 32 they are 5 % to 29 % shorter, and level 3 is 2 % slower.
const RUN_END_ATTEMPTS: u32 = 32;

type HashHeads<P> = [P; 1 << MAX_HASH_LOG];

/// The tables, reused from call to call. Only the positions of a dictionary are carried over.
pub(in crate::codec::lz4) struct ChainTables {
    /// The last position of each hash, plus one.
    heads: Box<HashHeads<u32>>,
    /// The same for inputs of up to 64 KiB without a dictionary: half as long, it displaces less from the caches.
    narrow_heads: Box<HashHeads<u16>>,
    /// The distance from a position back to the previous position with the same hash, indexed by the low 16 bits of
    /// the position. For the start of a long run: the distance back to the start of the previous long run of the same
    /// byte, and in the next element the run's length.
    chain: Box<[u16; WINDOW]>,
    /// The start of the last long run of each byte, plus one.
    last_runs: [u32; 256],
    /// The dictionary that the tables hold, if they hold the positions of one and no others.
    dictionary: Option<Box<LoadedDictionary>>,
}

impl ChainTables {
    pub(in crate::codec::lz4) fn new() -> Result<ChainTables> {
        Ok(ChainTables {
            heads: boxed_array()?,
            narrow_heads: boxed_array()?,
            chain: boxed_array()?,
            last_runs: [0; 256],
            dictionary: None,
        })
    }
}

struct LoadedDictionary {
    id: u64,
    /// log2 of the number of heads in use.
    log: u32,
    /// The first position of the dictionary that is not in the tables.
    next: usize,
    /// The `last_runs` of the tables with the dictionary alone.
    runs: [u32; 256],
}

/// A match: bytes that repeat earlier bytes.
#[derive(Clone, Copy)]
pub(super) struct Lz4Match {
    /// The position of the first byte.
    pub at: usize,
    /// The distance back to the earlier occurrence, in bytes.
    pub distance: usize,
    /// The number of bytes.
    pub length: usize,
}

impl Lz4Match {
    /// Returns the position behind the last byte.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.at + self.length
    }
}

/// Returns log2 of the number of heads for an input of `len` bytes. Two different words with the same head cost a useless
/// comparison, and emptying many heads costs time, too. With two heads for each byte instead of four, 6 of 160 drawn
/// chunks of up to 64 KiB are compressed at less than 0.9 of the C library's speed instead of 1; with eight, the mean
/// speed is 2 % lower.
fn hash_log(len: usize) -> u32 {
    (len.ilog2() + HEADS_PER_BYTE_LOG2.get()).clamp(MIN_HASH_LOG, MAX_HASH_LOG)
}

/// The tables in use for one input.
struct UsedTables<'a, P> {
    heads: &'a mut HashHeads<P>,
    chain: &'a mut [u16; WINDOW],
    last_runs: &'a mut [u32; 256],
    /// The dictionary that the tables hold when the input has been compressed.
    kept: &'a mut Option<Box<LoadedDictionary>>,
}

/// Searches for matches in one input.
pub(super) struct ChainFinder<'a, P> {
    src: &'a [u8],
    tables: UsedTables<'a, P>,
    /// The number of heads in use less one: the mask that reduces a hash to the index of a head.
    mask: usize,
    /// The first position that is not in the tables yet. All positions in them are at least 12 bytes before the end.
    next: usize,
    /// The last position where a match may end.
    end: usize,
    attempts: u32,
    /// The dictionary that `src` begins with.
    dictionary: Option<Box<LoadedDictionary>>,
    /// The last two different distances of matches that were used, the last one first. With four distances, streams
    /// would be 0.03 % shorter at level 3.
    recent_distances: [usize; 2],
}

impl<'a> ChainFinder<'a, u16> {
    /// Returns a finder for `src`, which is longer than 12 bytes and has at most
    /// [`MAX_NARROW_INPUT`](super::MAX_NARROW_INPUT) bytes. A search compares at most `attempts` candidates of a chain.
    pub(super) fn narrow(tables: &'a mut ChainTables, src: &'a [u8], attempts: u32) -> Self {
        let ChainTables { narrow_heads, chain, last_runs, dictionary, .. } = tables;
        let tables = UsedTables { heads: narrow_heads, chain, last_runs, kept: dictionary };
        ChainFinder::with_empty(tables, src, attempts)
    }
}

impl<'a> ChainFinder<'a, u32> {
    /// Returns a finder like [`narrow`](ChainFinder::narrow) for any `src` shorter than 4 GiB.
    pub(super) fn wide(tables: &'a mut ChainTables, src: &'a [u8], attempts: u32) -> Self {
        ChainFinder::with_empty(tables.wide(), src, attempts)
    }

    /// Returns a finder like [`wide`](Self::wide) for matches of `src[start..]`, where `src[..start]` is the dictionary
    /// with that `id`. [`reset_to_dictionary`](Self::reset_to_dictionary) leaves the dictionary in the tables.
    pub(super) fn with_dictionary(
        tables: &'a mut ChainTables,
        src: &'a [u8],
        start: usize,
        id: u64,
        attempts: u32,
    ) -> Self {
        let log = hash_log(src.len());
        let loaded = tables.dictionary.take().filter(|loaded| loaded.id == id && loaded.log == log);
        let loaded = loaded.unwrap_or_else(|| {
            let mut used = tables.wide();
            used.clear(log);
            let mut finder = ChainFinder::with_tables(used, &src[..start], attempts, log, None);
            // Putting a position in reads the eight bytes there.
            // SAFETY: 8 bytes follow each position before this one.
            unsafe { finder.insert_up_to((start + 1).saturating_sub(2 * MIN_MATCH)) };
            let next = finder.next;
            Box::new(LoadedDictionary { id, log, next, runs: tables.last_runs })
        });
        ChainFinder::with_tables(tables.wide(), src, attempts, log, Some(loaded))
    }

    /// Removes all positions behind the dictionary from the tables. For a short input, this is faster than loading
    /// the dictionary again for the next input.
    pub(super) fn reset_to_dictionary(&mut self) {
        // The chains of longer inputs have overwritten positions.
        let Some(loaded) = self.dictionary.take().filter(|_| self.src.len() < WINDOW) else { return };
        let mut here = loaded.next;
        while here < self.next {
            // SAFETY: the loop visits the positions that `insert_up_to` has put in; it has read the 8 bytes at each.
            let (word, next_word) = unsafe { (read32(self.src, here), read32(self.src, here + 4)) };
            if is_run(word) && next_word == word {
                here += usize::from(self.tables.chain[here + 1]) - (MIN_MATCH - 1);
            } else {
                let before = here + 1 - usize::from(self.tables.chain[here]);
                if before <= loaded.next {
                    self.tables.heads[slot(word, self.mask)] = before as u32;
                }
                here += 1;
            }
        }
        *self.tables.last_runs = loaded.runs;
        *self.tables.kept = Some(loaded);
    }
}

impl ChainTables {
    /// Returns the tables for inputs of any length.
    fn wide(&mut self) -> UsedTables<'_, u32> {
        let ChainTables { heads, chain, last_runs, dictionary, .. } = self;
        UsedTables { heads, chain, last_runs, kept: dictionary }
    }
}

impl<P: TablePosition> UsedTables<'_, P> {
    /// Empties the tables; of the heads, the first `1 << log`.
    fn clear(&mut self, log: u32) {
        self.heads[..1 << log].fill(P::default());
        self.last_runs.fill(0);
        *self.kept = None;
    }
}

impl<'a, P: TablePosition> ChainFinder<'a, P> {
    fn with_empty(mut tables: UsedTables<'a, P>, src: &'a [u8], attempts: u32) -> Self {
        let log = hash_log(src.len());
        tables.clear(log);
        ChainFinder::with_tables(tables, src, attempts, log, None)
    }

    fn with_tables(
        tables: UsedTables<'a, P>,
        src: &'a [u8],
        attempts: u32,
        log: u32,
        dictionary: Option<Box<LoadedDictionary>>,
    ) -> Self {
        ChainFinder {
            src,
            tables,
            mask: (1 << log) - 1,
            next: dictionary.as_ref().map_or(0, |loaded| loaded.next),
            end: src.len().saturating_sub(LAST_LITERALS),
            attempts,
            dictionary,
            recent_distances: [1; 2],
        }
    }

    /// Returns the longest match at the first position from `start` to `last` that has one, extended backwards, to `start`
    /// at most. Behind [`MAX_THOROUGH_LITERALS`] positions without a match, only positions are searched whose last
    /// candidate has the same four bytes.
    #[inline(always)]
    pub(super) fn find_first(&mut self, start: usize, last: usize) -> Option<Lz4Match> {
        // The precondition of all reads below.
        assert!(last + NO_MATCH_TAIL <= self.src.len());
        let mut at = start;
        while at <= last {
            if self.next < at {
                // SAFETY: 12 bytes can be read at `at`.
                unsafe { self.insert_up_to(at) };
            }
            if at - start >= MAX_THOROUGH_LITERALS.get() && self.next == at {
                // SAFETY: 12 bytes can be read at `last`.
                unsafe { self.insert_up_to_repetition(last) };
                at = self.next;
                if at > last {
                    return None;
                }
            }
            // SAFETY: 12 bytes can be read at `at`.
            let word = unsafe { read32(self.src, at) };
            let found = if self.next == at && !is_run(word) {
                self.insert_and_search(at, word)
            } else {
                self.search::<false>(at, at, MIN_MATCH - 1)
            };
            if let Some(Lz4Match { at, distance, length }) = found {
                // SAFETY: `start` <= `at`, and `distance` <= `at`.
                let before = unsafe { common_suffix_len(self.src, at, start, distance) };
                return Some(Lz4Match { at: at - before, distance, length: length + before });
            }
            at += 1;
        }
        None
    }

    /// Puts the next positions into the tables: those before the first one whose last candidate has the same four bytes, or
    /// whose four bytes are equal, and at most those up to `last`.
    ///
    /// A separate function: its variables stay in registers, and its only branches depend on repetitions.
    ///
    /// # Safety
    /// 4 bytes can be read at `last`.
    #[inline(never)]
    unsafe fn insert_up_to_repetition(&mut self, last: usize) {
        let (src, mask) = (self.src, self.mask);
        let (heads, chain) = (&mut *self.tables.heads, &mut *self.tables.chain);
        while self.next <= last {
            let here = self.next;
            // SAFETY: `here` <= `last`, where 4 bytes can be read by the contract.
            let word = unsafe { read32(src, here) };
            let head = &mut heads[slot(word, mask)];
            let before = head.position();
            // Without a candidate, the bytes at position 0 are compared: a search there finds nothing.
            // SAFETY: `before` <= `here`.
            if unsafe { read32(src, before.saturating_sub(1)) } == word || is_run(word) {
                return;
            }
            *head = P::new(here + 1);
            chain[here % WINDOW] = chain_delta(here + 1 - before);
            self.next = here + 1;
        }
    }

    /// Inserts `at`, which is the next position and has the four bytes `word`, not those of a run, and returns the longest
    /// match there.
    #[inline(always)]
    fn insert_and_search(&mut self, at: usize, word: u32) -> Option<Lz4Match> {
        assert!(at + NO_MATCH_TAIL <= self.src.len());
        let head = &mut self.tables.heads[slot(word, self.mask)];
        let before = head.position();
        *head = P::new(at + 1);
        let chain = &mut *self.tables.chain;
        chain[at % WINDOW] = chain_delta(at + 1 - before);
        self.next = at + 1;
        let candidate = before.checked_sub(1)?;
        let mut best = Lz4Match { at, distance: 0, length: MIN_MATCH - 1 };
        // SAFETY: `at` + 4 <= `end`, which is 5 bytes before the end. The candidate is compared in a function of its
        // own: with a loop here, levels 3 to 9 take up to 1.6 times as long where there are few matches.
        unsafe { self.search_chain::<false>(at, at, at, candidate, self.attempts, &mut best) };
        (best.length >= MIN_MATCH).then_some(best)
    }

    #[inline(always)]
    pub(super) fn record_distance(&mut self, distance: usize) {
        if self.recent_distances[0] != distance {
            self.recent_distances = [distance, self.recent_distances[0]];
        }
    }

    /// Returns the longest match that covers 4 bytes from `at` on and begins at `low` or later, if it is longer than
    /// `longer_than`. Without `WIDE`, `low` is `at`.
    #[inline(always)]
    pub(super) fn search<const WIDE: bool>(
        &mut self,
        at: usize,
        low: usize,
        longer_than: usize,
    ) -> Option<Lz4Match> {
        // The preconditions of all reads below.
        assert!(low <= at && at + NO_MATCH_TAIL <= self.src.len());
        assert!(at + 2 <= low + longer_than && low + longer_than <= self.end);
        // SAFETY: 12 bytes can be read at `at`.
        unsafe { self.insert_up_to(at) };
        // SAFETY: 12 bytes can be read at `at`.
        let word = unsafe { read32(self.src, at) };
        let mut best = Lz4Match { at, distance: 0, length: longer_than };
        if WIDE && HAS_RECENT_DISTANCES.get() {
            for distance in self.recent_distances {
                // SAFETY: the assertions above.
                unsafe { self.try_distance::<true>(at, low, distance, &mut best) };
            }
        }
        if is_run(word) {
            let run = 1 + common_prefix_len(self.src, at + 1, 1, self.end);
            // SAFETY: the assertions above; `best` only gets longer, and still ends at `end` or before. The run has 4
            // bytes or more, and ends there too.
            unsafe {
                self.search_runs::<WIDE>(at, low, run, &mut best);
                self.search_run_ends(at, low, run, &mut best);
            }
            // The hash chains hold shorter runs only.
            if best.length > longer_than && (run >= MIN_RUN || best.end() == self.end) {
                return Some(best);
            }
        }
        if let Some(head) = self.chain_head(word) {
            // SAFETY: `at` + 4 <= `end`, which is 5 bytes before the end.
            unsafe { self.search_chain::<WIDE>(at, low, at, head, self.attempts, &mut best) };
        }
        (best.length > longer_than).then_some(best)
    }

    /// Returns the last position in the tables with the hash of `word`.
    #[inline(always)]
    fn chain_head(&self, word: u32) -> Option<usize> {
        self.tables.heads[slot(word, self.mask)].position().checked_sub(1)
    }

    /// Puts the positions before `at` into the tables.
    ///
    /// # Safety
    /// 8 bytes can be read at each position before `at`.
    #[inline(always)]
    unsafe fn insert_up_to(&mut self, at: usize) {
        while self.next < at {
            // SAFETY: by the contract 8 bytes can be read at each position before `at`.
            unsafe { self.insert_up_to_run(at) };
            if self.next < at {
                self.insert_run();
            }
        }
    }

    /// Puts the positions before `at`, or before the next long run, into the tables.
    ///
    /// # Safety
    /// As for [`insert_up_to`](Self::insert_up_to).
    #[inline(always)]
    unsafe fn insert_up_to_run(&mut self, at: usize) {
        let (src, mask) = (self.src, self.mask);
        let (heads, chain) = (&mut *self.tables.heads, &mut *self.tables.chain);
        for here in self.next..at {
            // SAFETY: `here` < `at`, before which 8 bytes can be read by the caller.
            let (word, next_word) = unsafe { (read32(src, here), read32(src, here + 4)) };
            if is_run(word) && next_word == word {
                self.next = here;
                return;
            }
            let slot = slot(word, mask);
            // For the first position with its hash, the distance reaches before the start of the input, which ends
            // the chain.
            chain[here % WINDOW] = chain_delta(here + 1 - heads[slot].position());
            heads[slot] = P::new(here + 1);
        }
        self.next = at;
    }

    /// Puts the long run that begins at the next position into the tables.
    fn insert_run(&mut self) {
        let here = self.next;
        let length = 1 + common_prefix_len(self.src, here + 1, 1, self.src.len());
        let last = &mut self.tables.last_runs[usize::from(self.src[here])];
        let delta = if *last == 0 { MAX_DISTANCE } else { here + 1 - *last as usize };
        *last = here as u32 + 1;
        self.tables.chain[here % WINDOW] = delta.min(MAX_DISTANCE) as u16;
        self.tables.chain[(here + 1) % WINDOW] = length.min(MAX_DISTANCE) as u16;
        self.next = here + length - (MIN_MATCH - 1);
    }

    /// Searches the long runs of the byte at `at` for a match that is longer than `best`. A run of `run` bytes begins
    /// at `at`; the match covers bytes of the run and, if `WIDE`, bytes before it. For matches that extend beyond the
    /// run see [`search_run_ends`](Self::search_run_ends).
    ///
    /// # Safety
    /// As for [`try_distance`](Self::try_distance).
    #[inline(never)]
    unsafe fn search_runs<const WIDE: bool>(&self, at: usize, low: usize, run: usize, best: &mut Lz4Match) {
        let (src, chain) = (self.src, &*self.tables.chain);
        let Some(mut start) = (self.tables.last_runs[usize::from(src[at])] as usize).checked_sub(1) else {
            return;
        };
        // The first position of the run around `at` that a match may cover.
        // SAFETY: by the caller `low` <= `at`, which is inside `src`.
        let begin = if WIDE { at - unsafe { common_suffix_len(src, at + 1, low + 1, 1) } } else { at };
        for _ in 0..self.attempts {
            // `start` may be behind `at`, because searches may go back to earlier positions.
            if at.saturating_sub(start) > MAX_DISTANCE {
                break;
            }
            let end = start + usize::from(chain[(start + 1) % WINDOW]);
            let distance = if start < at && end > at {
                // The run around `at`.
                Some(1)
            } else if start >= begin {
                None
            } else if !WIDE && end - start >= run {
                // Both runs end at the same place.
                Some(at + run - end)
            } else {
                // Both runs begin at the same place: the bytes before them may be equal.
                Some(begin - start)
            };
            if let Some(distance) = distance {
                // SAFETY: by the contract, which is that of `try_distance`; `best` only gets longer, and still ends
                // at `end` or before.
                unsafe { self.try_distance::<WIDE>(at, low, distance, best) };
                if !WIDE && best.length >= run {
                    return;
                }
            }
            let delta = usize::from(chain[start % WINDOW]);
            if delta > start {
                break;
            }
            start -= delta;
        }
    }

    /// Searches for a match that is longer than `best` and extends beyond the run of `run` bytes at `at`.
    ///
    /// # Safety
    /// As for [`try_distance`](Self::try_distance); `run >= 4` and `at + run <= self.end`.
    #[inline(always)]
    unsafe fn search_run_ends(&self, at: usize, low: usize, run: usize, best: &mut Lz4Match) {
        if at + run == self.end || !HAS_RUN_ENDS.get() {
            return;
        }
        let last = at + run - (MIN_MATCH - 1);
        // SAFETY: `at` + `run` < `end`, so `last` + 4 <= `end`.
        let word = unsafe { read32(self.src, last) };
        if let Some(head) = self.chain_head(word) {
            // SAFETY: `last` + 4 <= `end`; `low` <= `at` < `last`, and `best` as the caller says.
            unsafe {
                self.search_chain::<true>(last, low, at, head, self.attempts.max(RUN_END_ATTEMPTS), best)
            };
        }
    }

    /// Replaces `best` by the match at `distance`, which may be any number, if that match is longer. Afterwards
    /// `best` still ends at `end` or before.
    ///
    /// # Safety
    /// `low <= at`, `at + 2 <= low + best.length` and `low + best.length <= self.end`, which is 5 bytes before the end
    /// of `src`.
    #[inline(always)]
    unsafe fn try_distance<const WIDE: bool>(
        &self,
        at: usize,
        low: usize,
        distance: usize,
        best: &mut Lz4Match,
    ) {
        let src = self.src;
        let tail = low + best.length - 2;
        // SAFETY: `distance` <= `at` <= `tail`, and `low` + `best.length` <= `end`, 5 bytes before that of `src`: by
        // the caller.
        let promises = (1..=at).contains(&distance)
            && unsafe { (read32(src, tail) ^ read32(src, tail - distance)) << 8 } == 0;
        if promises {
            let after = common_prefix_len(src, at, distance, self.end);
            // SAFETY: `distance` <= `at`, and `low` <= `at` <= `end`.
            let before = if WIDE { unsafe { common_suffix_len(src, at, low, distance) } } else { 0 };
            if after + before > best.length {
                *best = Lz4Match { at: at - before, distance, length: after + before };
            }
        }
    }

    /// Searches the chain of `candidate` for a match that is longer than `best`, covers the four bytes at `at`, and
    /// begins between `low` and `latest`, or at `at` if not `WIDE`. Compares at most `attempts` candidates.
    ///
    /// A separate function, so that its few variables stay in registers.
    ///
    /// # Safety
    /// `low <= at`, `at + 4 <= self.end`, `best.length >= 2` and `low + best.length <= self.end`, which is 5 bytes
    /// before the end of `src`. Any candidate will do.
    #[inline(never)]
    unsafe fn search_chain<const WIDE: bool>(
        &self,
        at: usize,
        low: usize,
        latest: usize,
        mut candidate: usize,
        attempts: u32,
        best: &mut Lz4Match,
    ) {
        let (src, end, chain) = (self.src, self.end, &*self.tables.chain);
        // SAFETY: 4 bytes follow each position that is read: `at` + 4 <= `end`, candidates are less than `at`, and
        // `tail` is read at `low` + `longest` - 2 <= `end` - 2, where `end` is 5 bytes before the end of `src`: for
        // the first `longest` by the caller, for later ones by `common_prefix_len` and `common_suffix_len`.
        let read = |at: usize| unsafe { read32(src, at) };
        let look_back = at - low;
        let lowest = at.saturating_sub(MAX_DISTANCE).max(look_back);
        let word = read(at);
        let mut longest = best.length;
        // A longer match has the byte at `low + longest` and the two before it in common with its candidate.
        let mut tail = read(low + longest - 2);
        for _ in 0..attempts {
            if candidate < lowest {
                break;
            }
            // A candidate may be behind `at`, because searches may go back to earlier positions.
            if candidate < at
                && (read(candidate - look_back + longest - 2) ^ tail) << 8 == 0
                && read(candidate) == word
            {
                let distance = at - candidate;
                let after = MIN_MATCH + common_prefix_len(src, at + MIN_MATCH, distance, end);
                // SAFETY: `candidate` < `at`, so `distance` <= `at`, and `low` <= `at` <= `end`.
                let before = if WIDE { unsafe { common_suffix_len(src, at, low, distance) } } else { 0 };
                if after + before > longest && (!WIDE || at - before <= latest) {
                    longest = after + before;
                    *best = Lz4Match { at: at - before, distance, length: longest };
                    if best.end() == end {
                        break;
                    }
                    tail = read(low + longest - 2);
                }
            }
            let delta = usize::from(chain[candidate % WINDOW]);
            if delta > candidate {
                break;
            }
            candidate -= delta;
        }
    }
}

/// Returns whether the four bytes of `word` are equal.
#[inline(always)]
fn is_run(word: u32) -> bool {
    word == word.rotate_left(8)
}

/// Returns `distance`, or [`MAX_DISTANCE`] if that is less. Which of them is less is random where nothing is repeated.
#[inline(always)]
fn chain_delta(distance: usize) -> u16 {
    std::hint::select_unpredictable(distance > MAX_DISTANCE, u16::MAX, distance as u16)
}

/// Returns the index of the head of `word`. A mask takes fewer instructions than a shift by a variable.
#[inline(always)]
fn slot(word: u32, mask: usize) -> usize {
    (u64::from(word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - MAX_HASH_LOG)) as usize & mask
}
