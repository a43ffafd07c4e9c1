//! The choice of the literals and matches of a stream.
//!
//! Owns the three strategies of zlib-ng, the encoder of C-Blosc2, for choosing among the matches that [`Search`] finds,
//! with its limits and those of zlib, the encoder of C-Blosc 1.

use std::ops::Range;

use super::block_writer::BlockWriter;
use super::matches::{MAX_MATCH, MIN_MATCH, Match};
use super::period::{InsertPolicy, Period};
use super::search::{Effort, Search};

/// The shortest match, in bytes, of the strategies that do not compare a match with the next one, unless matches of three
/// bytes are searched for.
const MIN_GREEDY_MATCH: usize = 4;
/// The number of bytes at the end of a part in which [`GreedyLookahead`] does not look ahead: zlib's `MIN_LOOKAHEAD`.
const MIN_LOOKAHEAD: usize = MAX_MATCH + MIN_GREEDY_MATCH;

/// The parameters of a level.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub strategy: Strategy,
    pub effort: Effort,
    /// Whether a match of three bytes is searched for where there is no longer one.
    pub has_3_byte_matches: bool,
}

/// The strategy by which a level chooses matches.
#[derive(Clone, Copy)]
pub(super) enum Strategy {
    Greedy(Greedy),
    GreedyLookahead(GreedyLookahead),
    Lazy(Lazy),
}

/// Greedy: takes the match at each position.
#[derive(Clone, Copy)]
pub(super) struct Greedy {
    insert_policy: InsertPolicy,
}

/// As [`Greedy`], except that, if `has_lookahead`, a match is dropped if the next one can be extended backwards until
/// at most one byte of the first match remains.
#[derive(Clone, Copy)]
pub(super) struct GreedyLookahead {
    insert_policy: InsertPolicy,
    has_lookahead: bool,
}

/// Lazy: takes a match of up to `max_lazy` bytes unless there is a longer one at the next position.
#[derive(Clone, Copy)]
pub(super) struct Lazy {
    max_lazy: usize,
}

/// A strategy for choosing matches.
pub(super) trait Parser: Copy {
    /// Writes the part of a stream at `range`, which must not contain the first byte. Returns `None` if it does not
    /// fit.
    fn parse_range<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut BlockWriter<'_, '_>,
    ) -> Option<()>;
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
    pub(super) fn of(set: LevelSet, clevel: i32) -> Level {
        match set {
            LevelSet::ZlibNg => Level::of_zlib_ng(clevel),
            LevelSet::Zlib => Level::of_zlib(clevel),
        }
    }

    /// Returns the level with these numbers of candidates, lengths of good and of nice matches, as in [`Effort`].
    fn new(strategy: Strategy, (candidates, first): (u32, u32), good: usize, nice: usize) -> Level {
        Level {
            strategy,
            effort: Effort {
                candidates,
                word_chain_candidates: first,
                good_len: good,
                nice_len: nice,
                has_unlimited_positions: false,
            },
            has_3_byte_matches: false,
        }
    }

    fn with_3_byte_matches(self) -> Level {
        Level { has_3_byte_matches: true, ..self }
    }

    /// Returns the parameters of a level of zlib-ng: its own values, except [`Effort::word_chain_candidates`].
    fn of_zlib_ng(clevel: i32) -> Level {
        let lookahead = |longest, has_lookahead| {
            Strategy::GreedyLookahead(GreedyLookahead {
                insert_policy: InsertPolicy::UpTo(longest),
                has_lookahead,
            })
        };
        match clevel {
            ..=2 => Level::new(Strategy::greedy(4), (4, 4), NEVER_GOOD, 8),
            3 => Level::new(lookahead(16 * 6, false), (6, 6), NEVER_GOOD, 16),
            4 => Level::new(lookahead(16 * 12, false), (24, 24), NEVER_GOOD, 32),
            5 => Level::new(lookahead(16 * 16, true), (32, 32), NEVER_GOOD, 32),
            6 => Level::new(lookahead(16 * 16, true), (128, 32), NEVER_GOOD, 128),
            7 => Level::new(Strategy::lazy(32), (256, 4), 8, 128),
            8 => Level::new(Strategy::lazy(128), (1024, 4), 32, MAX_MATCH),
            _ => Level::last(),
        }
    }

    /// Returns the parameters of a level of zlib: its own values, except that level 3 has half as many candidates, and
    /// [`Effort::word_chain_candidates`]. Its encoder searches for matches of three bytes only where there is no longer
    /// one, so that streams are shorter than zlib's at levels 1 to 3: by 7, 6 and 4 %
    /// (`cargo bench --bench side_by_side -- --group blosc1-drawn --codecs zlib`).
    fn of_zlib(clevel: i32) -> Level {
        let level = match clevel {
            ..=1 => Level::new(Strategy::greedy(4), (4, 4), NEVER_GOOD, 8),
            2 => Level::new(Strategy::greedy(5), (8, 8), NEVER_GOOD, 16),
            3 => Level::new(Strategy::greedy(6), (16, 16), NEVER_GOOD, 32),
            4 => Level::new(Strategy::lazy(4), (16, 16), 4, 16),
            5 => Level::new(Strategy::lazy(16), (32, 8), 8, 32),
            6 => Level::new(Strategy::lazy(16), (128, 4), 8, 128),
            7 => Level::new(Strategy::lazy(32), (256, 4), 8, 128),
            8 => Level::new(Strategy::lazy(128), (1024, 4), 32, MAX_MATCH),
            _ => Level::last(),
        };
        level.with_3_byte_matches()
    }

    /// Returns the parameters of level 9.
    fn last() -> Level {
        let mut level = Level::new(Strategy::lazy(MAX_MATCH), (4096, 4), 32, MAX_MATCH).with_3_byte_matches();
        level.effort.has_unlimited_positions = true;
        level
    }
}

impl Strategy {
    /// Returns [`Strategy::Greedy`], which inserts all positions of matches of up to `longest` bytes.
    fn greedy(longest: usize) -> Strategy {
        Strategy::Greedy(Greedy { insert_policy: InsertPolicy::UpTo(longest) })
    }

    /// Returns [`Strategy::Lazy`], which does not search beyond matches of `max_lazy` bytes.
    fn lazy(max_lazy: usize) -> Strategy {
        Strategy::Lazy(Lazy { max_lazy })
    }
}

/// Writes the part of a stream at `range`. Returns `None` if it does not fit.
#[inline(always)]
pub(super) fn parse<const RUNS: bool, const THREES: bool>(
    parser: impl Parser,
    search: &mut Search<'_, RUNS, THREES>,
    range: Range<usize>,
    out: &mut BlockWriter<'_, '_>,
) -> Option<()> {
    search.set_end(range.end);
    let mut range = range;
    if range.start == 0 && range.end > 0 {
        // zlib never matches the first byte of a stream, since 0 stands for no position in its tables. A match with
        // that byte would change all later matches.
        out.write_literal(0)?;
        range.start = 1;
    }
    parser.parse_range(search, range, out)
}

impl Parser for Greedy {
    #[inline(always)]
    fn parse_range<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut BlockWriter<'_, '_>,
    ) -> Option<()> {
        let Greedy { insert_policy } = self;
        let mut at = range.start;
        while at < range.end {
            let found = search.find_longest(at, 0);
            if found.len < if THREES { MIN_MATCH } else { MIN_GREEDY_MATCH } {
                out.write_literal(at)?;
                at += 1;
                continue;
            }
            out.write_match(at, found)?;
            insert_policy.insert(search, at + 1..at + found.len, found);
            at += found.len;
        }
        Some(())
    }
}

impl Parser for GreedyLookahead {
    #[inline(always)]
    fn parse_range<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut BlockWriter<'_, '_>,
    ) -> Option<()> {
        let GreedyLookahead { insert_policy, has_lookahead } = self;
        let src = search.src();
        let mut period = Period::default();
        let mut at = range.start;
        while at < range.end {
            let mut found = search.find_longest(at, 0);
            if found.len < MIN_GREEDY_MATCH {
                out.write_literal(at)?;
                at += 1;
                continue;
            }
            // The first position that has not been inserted.
            let mut next = at + 1;
            // One match after another, until there is a literal.
            loop {
                if found.len == MAX_MATCH {
                    (at, found) = period.write_repeated_matches(search, at, found, out, insert_policy)?;
                    next = at + 1;
                }
                let end = at + found.len;
                if src.len() - at > found.len + MIN_GREEDY_MATCH {
                    insert_policy.insert(search, next.max(at + 1).min(end)..end, found);
                }
                if !has_lookahead || range.end - at <= MIN_LOOKAHEAD {
                    out.write_match(at, found)?;
                    at = end;
                    break;
                }
                let behind = search.find_longest(end, 0);
                let is_match = behind.len >= MIN_GREEDY_MATCH;
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

impl Parser for Lazy {
    #[inline(always)]
    fn parse_range<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut BlockWriter<'_, '_>,
    ) -> Option<()> {
        let Lazy { max_lazy } = self;
        let mut period = Period::default();
        let mut at = range.start;
        // The match at the previous position, and whether that position has not been written yet.
        let mut previous = Match::default();
        let mut is_waiting = false;
        while at < range.end {
            let found = if previous.len < max_lazy {
                search.find_longest(at, previous.len)
            } else {
                search.insert(at..at + 1);
                Match::default()
            };
            if previous.len >= MIN_MATCH && found.len <= previous.len {
                let mut start = at - 1;
                if previous.len == MAX_MATCH {
                    (start, previous) =
                        period.write_repeated_matches(search, start, previous, out, InsertPolicy::All)?;
                }
                out.write_match(start, previous)?;
                let end = start + previous.len;
                search.insert((start + 1).max(at + 1)..end);
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
