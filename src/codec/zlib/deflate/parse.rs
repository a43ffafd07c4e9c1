//! The choice of the literals and matches of a stream, at levels 2 to 9.
//!
//! Owns the three strategies of zlib-ng, the C library's encoder, for choosing among the matches that [`Search`] finds,
//! with its limits.

use std::ops::Range;

use super::matches::{LEAST, MOST, Match};
use super::output::Output;
use super::period::{Entered, Period};
use super::search::{Effort, Search};

/// The shortest match, in bytes, of the strategies that do not compare a match with the next one.
const WORD: usize = 4;
/// The number of bytes at the end of a part in which [`Ahead`] does not look ahead: zlib's `MIN_LOOKAHEAD`.
const NEAR_THE_END: usize = MOST + WORD;

/// The parameters of a level.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub way: Way,
    pub effort: Effort,
    /// Whether a match of three bytes is searched for where there is no longer one.
    pub threes: bool,
}

/// The strategy by which a level chooses matches.
#[derive(Clone, Copy)]
pub(super) enum Way {
    First(First),
    Ahead(Ahead),
    Lazy(Lazy),
}

/// Greedy: takes the match at each position.
#[derive(Clone, Copy)]
pub(super) struct First {
    entered: Entered,
}

/// As [`First`], except that, if `is_ahead`, a match is dropped if the next one can be extended backwards until at most
/// one byte of the first match remains.
#[derive(Clone, Copy)]
pub(super) struct Ahead {
    entered: Entered,
    is_ahead: bool,
}

/// Lazy: takes a match of up to `longest_lazy` bytes unless there is a longer one at the next position.
#[derive(Clone, Copy)]
pub(super) struct Lazy {
    longest_lazy: usize,
}

/// A strategy for choosing matches.
pub(super) trait Choose: Copy {
    /// Writes the part of a stream at `range`, which must not contain the first byte. Returns `None` if it does not
    /// fit.
    fn choose<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut Output<'_, '_>,
    ) -> Option<()>;
}

impl Level {
    /// Returns the parameters of `clevel`, 2 to 9. The values are zlib-ng's, except [`Effort::first`].
    pub(super) fn of(clevel: i32) -> Level {
        let level = |way, (candidates, first), good, nice| Level {
            way,
            effort: Effort { candidates, first, good, nice },
            threes: false,
        };
        let first = |longest| Way::First(First { entered: Entered::UpTo(longest) });
        let ahead = |longest, is_ahead| Way::Ahead(Ahead { entered: Entered::UpTo(longest), is_ahead });
        let lazy = |longest_lazy| Way::Lazy(Lazy { longest_lazy });
        // These strategies have no match to beat, so all their searches have all candidates.
        const NONE: usize = usize::MAX;
        match clevel {
            ..=2 => level(first(4), (4, 4), NONE, 8),
            3 => level(ahead(16 * 6, false), (6, 6), NONE, 16),
            4 => level(ahead(16 * 12, false), (24, 24), NONE, 32),
            5 => level(ahead(16 * 16, true), (32, 32), NONE, 32),
            6 => level(ahead(16 * 16, true), (128, 32), NONE, 128),
            7 => level(lazy(32), (256, 4), 8, 128),
            8 => level(lazy(128), (1024, 4), 32, MOST),
            _ => Level { threes: true, ..level(lazy(MOST), (4096, 4), 32, MOST) },
        }
    }
}

/// Writes the part of a stream at `range`. Returns `None` if it does not fit.
#[inline(always)]
pub(super) fn parse<const RUNS: bool, const THREES: bool>(
    way: impl Choose,
    search: &mut Search<'_, RUNS, THREES>,
    range: Range<usize>,
    out: &mut Output<'_, '_>,
) -> Option<()> {
    search.set_end(range.end);
    let mut range = range;
    if range.start == 0 && range.end > 0 {
        // zlib never matches the first byte of a stream, since 0 stands for no position in its tables. A match with
        // that byte would change all later matches.
        out.literal(0)?;
        range.start = 1;
    }
    way.choose(search, range, out)
}

impl Choose for First {
    #[inline(always)]
    fn choose<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut Output<'_, '_>,
    ) -> Option<()> {
        let First { entered } = self;
        let mut at = range.start;
        while at < range.end {
            let found = search.longest(at, 0);
            if found.len < WORD {
                out.literal(at)?;
                at += 1;
                continue;
            }
            out.repetition(at, found)?;
            entered.enter(search, at + 1..at + found.len, found);
            at += found.len;
        }
        Some(())
    }
}

impl Choose for Ahead {
    #[inline(always)]
    fn choose<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut Output<'_, '_>,
    ) -> Option<()> {
        let Ahead { entered, is_ahead } = self;
        let src = search.src();
        let mut period = Period::default();
        let mut at = range.start;
        while at < range.end {
            let mut found = search.longest(at, 0);
            if found.len < WORD {
                out.literal(at)?;
                at += 1;
                continue;
            }
            // The first position that has not been inserted.
            let mut next = at + 1;
            // One match after another, until there is a literal.
            loop {
                if found.len == MOST {
                    (at, found) = period.follow(search, at, found, out, entered)?;
                    next = at + 1;
                }
                let end = at + found.len;
                if src.len() - at > found.len + WORD {
                    entered.enter(search, next.max(at + 1).min(end)..end, found);
                }
                if !is_ahead || range.end - at <= NEAR_THE_END {
                    out.repetition(at, found)?;
                    at = end;
                    break;
                }
                let behind = search.longest(end, 0);
                let is_match = behind.len >= WORD;
                let earlier = if is_match { earlier(src, found.len, end, behind) } else { 0 };
                if earlier == 0 {
                    out.repetition(at, found)?;
                } else if earlier < found.len {
                    out.literal(at)?;
                }
                at = end - earlier;
                next = end + 1;
                if !is_match {
                    out.literal(at)?;
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
fn earlier(src: &[u8], len: usize, at: usize, found: Match) -> usize {
    let is_same = |back: usize| src[at - back] == src[at - found.distance - back];
    let before = at - found.distance;
    if before < len || !is_same(len - 1) {
        return 0;
    }
    let most = len.min((MOST - 2).saturating_sub(found.len)).min(before - 1);
    let earlier = (1..=most).take_while(|&back| is_same(back)).count();
    if len - earlier <= 1 { earlier } else { 0 }
}

impl Choose for Lazy {
    #[inline(always)]
    fn choose<const RUNS: bool, const THREES: bool>(
        self,
        search: &mut Search<'_, RUNS, THREES>,
        range: Range<usize>,
        out: &mut Output<'_, '_>,
    ) -> Option<()> {
        let Lazy { longest_lazy } = self;
        let mut period = Period::default();
        let mut at = range.start;
        // The match at the previous position, and whether that position has not been written yet.
        let mut previous = Match::default();
        let mut is_waiting = false;
        while at < range.end {
            let found = if previous.len < longest_lazy {
                search.longest(at, previous.len)
            } else {
                search.enter(at..at + 1);
                Match::default()
            };
            if previous.len >= LEAST && found.len <= previous.len {
                let mut start = at - 1;
                if previous.len == MOST {
                    (start, previous) = period.follow(search, start, previous, out, Entered::All)?;
                }
                out.repetition(start, previous)?;
                let end = start + previous.len;
                search.enter((start + 1).max(at + 1)..end);
                (at, previous, is_waiting) = (end, Match::default(), false);
                continue;
            }
            if is_waiting {
                out.literal(at - 1)?;
            }
            (previous, is_waiting) = (found, true);
            at += 1;
        }
        if is_waiting {
            out.literal(at - 1)?;
        }
        Some(())
    }
}
