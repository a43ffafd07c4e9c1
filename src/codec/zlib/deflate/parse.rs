//! The choice of the literals and matches of a stream.
//!
//! Owns the three strategies of zlib-ng, the encoder of C-Blosc2, for choosing among the matches that
//! [`DeflateSearch`] and [`RecentSearch`] find, with its limits and those of zlib, the encoder of C-Blosc 1.

use super::block_writer::BlockWriter;
use super::matches::{MAX_MATCH, MIN_MATCH, Match};
use super::period::{HAS_PERIOD, InsertPolicy, Period};
use super::recent::RecentSearch;
use super::search::{DeflateSearch, Effort};

/// The shortest match, in bytes, of the strategies that do not compare a match with the next one, unless matches of three
/// bytes are searched for.
const MIN_GREEDY_MATCH: usize = 4;
/// Returns the length in bytes of the shortest match of the strategies that do not compare a match with the next one.
const fn min_greedy_match(has_3_byte_matches: bool) -> usize {
    if has_3_byte_matches { MIN_MATCH } else { MIN_GREEDY_MATCH }
}

/// The number of bytes at the end of a stream in which [`Greedy`] does not look ahead: zlib's `MIN_LOOKAHEAD`.
const MIN_LOOKAHEAD: usize = MAX_MATCH + MIN_GREEDY_MATCH;

#[derive(Clone, Copy)]
pub(super) struct Level {
    pub strategy: Strategy,
    /// Whether a match of three bytes is searched for where there is no longer one.
    pub has_3_byte_matches: bool,
}

/// The strategy by which a level chooses matches.
#[derive(Clone, Copy)]
pub(super) enum Strategy {
    Fast(Fast),
    Greedy(Greedy, Effort),
    Lazy(Lazy, Effort),
}

/// Greedy among few candidates: takes the match that [`RecentSearch`] finds at each position.
#[derive(Clone, Copy)]
pub(super) struct Fast {
    /// All positions of matches of up to this length in bytes are inserted; of longer matches, the last one.
    max_inserted_len: usize,
    /// A match of this length in bytes, or more, ends the search.
    pub nice_len: usize,
}

/// Greedy: takes the match at each position. If `has_lookahead`, a match is dropped if the next one can be extended
/// backwards until at most one byte of the first match remains.
#[derive(Clone, Copy)]
pub(super) struct Greedy {
    insert_policy: InsertPolicy,
    has_lookahead: bool,
}

/// Lazy: takes a match of up to `max_lazy` bytes unless there is a longer one at the next position.
#[derive(Clone, Copy)]
pub(super) struct Lazy {
    max_lazy: usize,
}

/// A strategy for choosing matches, with its search in a stream.
pub(super) trait Parser {
    fn src(&self) -> &[u8];

    /// Writes the stream from its second byte on. Returns `None` if it does not fit.
    fn parse_rest(&mut self, out: &mut BlockWriter<'_, '_>) -> Option<()>;
}

/// The library whose levels are meant: with the same level, streams are as short as its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum LevelSet {
    /// zlib-ng, which C-Blosc2 uses. Only level 9 has matches of three bytes.
    ZlibNg,
    /// zlib, which C-Blosc 1 uses. All levels have matches of three bytes.
    Zlib,
}

/// The value of [`Effort::good_len`] for strategies that have no match to beat, so that all their searches have all
/// candidates.
const NEVER_GOOD: usize = usize::MAX;

impl Level {
    /// Returns the parameters of `clevel`: 1 to 9 of zlib, 2 to 9 of zlib-ng.
    /// Without `has_position_rows`, the first level that [`parse`] writes searches a hash chain of as many candidates.
    pub(super) fn of(set: LevelSet, clevel: i32, has_position_rows: bool) -> Level {
        match set {
            LevelSet::ZlibNg if clevel <= 2 && !has_position_rows => {
                Level::greedy(4, false, Effort::new(4, NEVER_GOOD, 8))
            }
            LevelSet::ZlibNg => Level::of_zlib_ng(clevel),
            LevelSet::Zlib => Level::of_zlib(clevel),
        }
    }

    /// Returns the level with this strategy, without matches of three bytes.
    fn new(strategy: Strategy) -> Level {
        Level { strategy, has_3_byte_matches: false }
    }

    /// Returns the level with the strategy [`Greedy`], which inserts all positions of matches of up to `longest` bytes.
    fn greedy(longest: usize, has_lookahead: bool, effort: Effort) -> Level {
        let insert_policy = InsertPolicy::UpTo(longest);
        Level::new(Strategy::Greedy(Greedy { insert_policy, has_lookahead }, effort))
    }

    /// Returns the level with the strategy [`Lazy`], which does not search beyond matches of `max_lazy` bytes.
    fn lazy(max_lazy: usize, effort: Effort) -> Level {
        Level::new(Strategy::Lazy(Lazy { max_lazy }, effort))
    }

    fn with_3_byte_matches(self) -> Level {
        Level { has_3_byte_matches: true, ..self }
    }

    /// Returns the parameters of a level of zlib-ng: its own values.
    fn of_zlib_ng(clevel: i32) -> Level {
        match clevel {
            ..=2 => Level::first(),
            3 => Level::greedy(16 * 6, false, Effort::new(6, NEVER_GOOD, 16)),
            4 => Level::greedy(16 * 12, false, Effort::new(24, NEVER_GOOD, 32)),
            5 => Level::greedy(16 * 16, true, Effort::new(32, NEVER_GOOD, 32)),
            6 => Level::greedy(16 * 16, true, Effort::new(128, NEVER_GOOD, 128)),
            7 => Level::lazy(32, Effort::new(256, 8, 128)),
            8 => Level::lazy(128, Effort::new(1024, 32, MAX_MATCH)),
            _ => Level::last(),
        }
    }

    /// Returns the parameters of a level of zlib: its own values, except that level 1 compares the candidates of
    /// [`RecentSearch`], and that level 3 has half as many. Matches of three bytes are
    /// searched for only where there is no longer one, which makes the streams of levels 1 to 3 shorter than zlib's
    /// (`cargo bench --bench side_by_side -- --group blosc1-drawn --codecs zlib`).
    fn of_zlib(clevel: i32) -> Level {
        let level = match clevel {
            ..=1 => Level::first(),
            2 => Level::greedy(5, false, Effort::new(8, NEVER_GOOD, 16)),
            3 => Level::greedy(6, false, Effort::new(16, NEVER_GOOD, 32)),
            4 => Level::lazy(4, Effort::new(16, 4, 16)),
            5 => Level::lazy(16, Effort::new(32, 8, 32)),
            6 => Level::lazy(16, Effort::new(128, 8, 128)),
            7 => Level::lazy(32, Effort::new(256, 8, 128)),
            8 => Level::lazy(128, Effort::new(1024, 32, MAX_MATCH)),
            _ => Level::last(),
        };
        level.with_3_byte_matches()
    }

    /// Returns the parameters of the first level that [`parse`] writes.
    fn first() -> Level {
        Level::new(Strategy::Fast(Fast { max_inserted_len: 4, nice_len: 8 }))
    }

    /// Returns the parameters of level 9.
    fn last() -> Level {
        let effort = Effort { has_unlimited_positions: true, ..Effort::new(4096, 32, MAX_MATCH) };
        Level::lazy(MAX_MATCH, effort).with_3_byte_matches()
    }
}

/// Writes a stream. Returns `None` if it does not fit.
#[inline(always)]
pub(super) fn parse(parser: &mut impl Parser, out: &mut BlockWriter<'_, '_>) -> Option<()> {
    if parser.src().is_empty() {
        return Some(());
    }
    // zlib never matches the first byte of a stream, since 0 stands for no position in its tables. A match with that
    // byte would change all later matches.
    out.write_literal(0)?;
    parser.parse_rest(out)
}

/// The strategy [`Fast`] in one stream.
pub(super) struct FastParser<'a, const THREES: bool> {
    pub strategy: Fast,
    pub search: RecentSearch<'a, THREES>,
}

impl<const THREES: bool> Parser for FastParser<'_, THREES> {
    fn src(&self) -> &[u8] {
        self.search.src()
    }

    #[inline(always)]
    fn parse_rest(&mut self, out: &mut BlockWriter<'_, '_>) -> Option<()> {
        let end_of_src = self.search.src().len();
        let mut at = 1;
        while at < end_of_src {
            let found = self.search.find_longest(at);
            if found.len < min_greedy_match(THREES) {
                out.write_literal(at)?;
                at += 1;
                continue;
            }
            out.write_match(at, found)?;
            let next = at + 1;
            at += found.len;
            self.search.insert(if found.len <= self.strategy.max_inserted_len { next } else { at - 1 }..at);
        }
        Some(())
    }
}

/// A strategy `S` in one stream, with a search by hash chains.
pub(super) struct ChainParser<'a, S, const RUNS: bool, const THREES: bool> {
    pub strategy: S,
    pub search: DeflateSearch<'a, RUNS, THREES>,
}

impl<const RUNS: bool, const THREES: bool> Parser for ChainParser<'_, Greedy, RUNS, THREES> {
    fn src(&self) -> &[u8] {
        self.search.src()
    }

    #[inline(always)]
    fn parse_rest(&mut self, out: &mut BlockWriter<'_, '_>) -> Option<()> {
        let end_of_src = self.search.src().len();
        let Greedy { insert_policy, has_lookahead } = self.strategy;
        let src = self.search.src();
        let mut period = Period::default();
        let mut at = 1;
        while at < end_of_src {
            let mut found = self.search.find_longest(at, 0);
            if found.len < min_greedy_match(THREES) {
                out.write_literal(at)?;
                at += 1;
                continue;
            }
            // The first position that has not been inserted.
            let mut next = at + 1;
            // One match after another, until there is a literal.
            loop {
                if found.len == MAX_MATCH && HAS_PERIOD.get() {
                    (at, found) =
                        period.write_repeated_matches(&mut self.search, at, found, out, insert_policy)?;
                    next = at + 1;
                }
                let end = at + found.len;
                if src.len() - at > found.len + MIN_GREEDY_MATCH {
                    insert_policy.insert(&mut self.search, next.max(at + 1).min(end)..end, found);
                }
                if !has_lookahead || end_of_src - at <= MIN_LOOKAHEAD {
                    out.write_match(at, found)?;
                    at = end;
                    break;
                }
                let behind = self.search.find_longest(end, 0);
                let is_match = behind.len >= min_greedy_match(THREES);
                let earlier = if is_match { backward_extension(src, found.len, end, behind) } else { 0 };
                if earlier == 0 {
                    out.write_match(at, found)?;
                } else if earlier < found.len {
                    out.write_literal(at)?;
                }
                at = end - earlier;
                next = end + 1;
                if !is_match {
                    out.write_literal(at)?;
                    at += 1;
                    break;
                }
                found = Match { len: behind.len + earlier, ..behind };
            }
        }
        Some(())
    }
}

/// Returns the number of bytes by which the match `found` at `at` can be extended backwards, so that at most one byte
/// remains of the match of `len` bytes before it; 0 if it cannot be extended that far.
#[inline(always)]
fn backward_extension(src: &[u8], len: usize, at: usize, found: Match) -> usize {
    let is_same = |back: usize| src[at - back] == src[at - found.distance - back];
    let before = at - found.distance;
    if before < len || !is_same(len - 1) {
        return 0;
    }
    let most = len.min((MAX_MATCH - 2).saturating_sub(found.len)).min(before - 1);
    let earlier = (1..=most).take_while(|&back| is_same(back)).count();
    if len - earlier <= 1 { earlier } else { 0 }
}

impl<const RUNS: bool, const THREES: bool> Parser for ChainParser<'_, Lazy, RUNS, THREES> {
    fn src(&self) -> &[u8] {
        self.search.src()
    }

    #[inline(always)]
    fn parse_rest(&mut self, out: &mut BlockWriter<'_, '_>) -> Option<()> {
        let end_of_src = self.search.src().len();
        let Lazy { max_lazy } = self.strategy;
        let mut period = Period::default();
        let mut at = 1;
        // The match at the previous position, and whether that position has not been written yet.
        let mut previous = Match::default();
        let mut is_waiting = false;
        while at < end_of_src {
            let found = if previous.len < max_lazy {
                self.search.find_longest(at, previous.len)
            } else {
                self.search.insert(at..at + 1);
                Match::default()
            };
            if previous.len >= MIN_MATCH && found.len <= previous.len {
                let mut start = at - 1;
                if previous.len == MAX_MATCH && HAS_PERIOD.get() {
                    (start, previous) = period.write_repeated_matches(
                        &mut self.search,
                        start,
                        previous,
                        out,
                        InsertPolicy::All,
                    )?;
                }
                out.write_match(start, previous)?;
                let end = start + previous.len;
                self.search.insert((start + 1).max(at + 1)..end);
                (at, previous, is_waiting) = (end, Match::default(), false);
                continue;
            }
            if is_waiting {
                out.write_literal(at - 1)?;
            }
            (previous, is_waiting) = (found, true);
            at += 1;
        }
        if is_waiting {
            out.write_literal(at - 1)?;
        }
        Some(())
    }
}
