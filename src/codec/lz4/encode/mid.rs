//! The encoder of the lowest high-compression levels: two candidates per position, one of which is likely to match longer.
//!
//! Owns the search and its tables.

use super::output::Output;
use super::{LAST_LITERALS, MAX_DISTANCE, MIN_MATCH, NO_MATCH_TAIL, common, common_before, has_avx2, read64};

const LOG: u32 = 14;
/// log2 of the literals in a row after which one more position is left out between those that are tried.
const STEP_LOG: u32 = 9;

/// Positions by a hash of what is there.
type Positions = [u32; 1 << LOG];

/// The encoder's hash tables, to be reused from call to call: they carry nothing over.
pub(in crate::codec::lz4) struct Tables {
    /// By seven bytes.
    long: Box<Positions>,
    /// By four.
    short: Box<Positions>,
}

impl Default for Tables {
    fn default() -> Self {
        Tables { long: Box::new([0; 1 << LOG]), short: Box::new([0; 1 << LOG]) }
    }
}

#[inline(always)]
fn long_slot(word: u64) -> usize {
    ((word << 8).wrapping_mul(0x9e37_79b1_85eb_ca87) >> (u64::BITS - LOG)) as usize
}

#[inline(always)]
fn short_slot(word: u64) -> usize {
    ((word as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - LOG)) as usize
}

/// Compresses `src`, of less than 4 GiB, into `dest`: how many bytes that are, `None` if they do not fit.
pub(in crate::codec::lz4) fn compress(tables: &mut Tables, src: &[u8], dest: &mut [u8]) -> Option<usize> {
    let out = Output::new(dest);
    if src.len() <= NO_MATCH_TAIL {
        return out.finish(src, 0);
    }
    // Position 0 is what empty tables say.
    tables.long.fill(0);
    tables.short.fill(0);
    let search = Search {
        long: &mut tables.long,
        short: &mut tables.short,
        src,
        last: src.len() - NO_MATCH_TAIL,
        end: src.len() - LAST_LITERALS,
    };
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the features have just been detected.
        return unsafe { encode_avx2(search, out) };
    }
    encode(search, out)
}

/// The same for processors with 32-byte registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn encode_avx2(search: Search<'_>, out: Output<'_>) -> Option<usize> {
    encode(search, out)
}

#[inline(always)]
fn encode(mut search: Search<'_>, mut out: Output<'_>) -> Option<usize> {
    let src = search.src;
    let (mut anchor, mut at) = (0, 1);
    while at <= search.last {
        let Some((found, back, length)) = search.find(at) else {
            at += 1 + ((at - anchor) >> STEP_LOG);
            continue;
        };
        let start = found - common_before(src, found, anchor, back);
        let end = found + length;
        out.sequence(src, anchor, start, back, end - start)?;
        search.put_match(start, end);
        anchor = end;
        at = end;
    }
    out.finish(src, anchor)
}

/// The tables of one input. All positions in them are before the one that is looked at, or the next, and up to `last`.
struct Search<'a> {
    long: &'a mut Positions,
    short: &'a mut Positions,
    src: &'a [u8],
    /// The last position where a match may begin.
    last: usize,
    /// Matches end here at the latest.
    end: usize,
}

impl Search<'_> {
    /// A match at `at` or the next position: where it is, how far before it the same bytes are, and how many.
    #[inline(always)]
    fn find(&mut self, at: usize) -> Option<(usize, usize, usize)> {
        let word = self.word(at);
        let (long_slot, short_slot) = (long_slot(word), short_slot(word));
        let long = std::mem::replace(&mut self.long[long_slot], at as u32) as usize;
        let short = std::mem::replace(&mut self.short[short_slot], at as u32) as usize;
        if let Some(length) = self.compare(at, word, long) {
            return Some((at, at - long, length));
        }
        let length = self.compare(at, word, short)?;
        // What this table finds is often short: look what the other one has for the next position.
        if at < self.last {
            let word = self.word(at + 1);
            let entry = &mut self.long[self::long_slot(word)];
            let long = *entry as usize;
            if let Some(longer) =
                compare(self.src, self.end, at + 1, word, long).filter(|&other| other > length)
            {
                *entry = at as u32 + 1;
                return Some((at + 1, at + 1 - long, longer));
            }
        }
        Some((at, at - short, length))
    }

    /// How many bytes at `at`, which begin with `word`, are the same as those at `candidate`, if they are enough.
    #[inline(always)]
    fn compare(&self, at: usize, word: u64, candidate: usize) -> Option<usize> {
        compare(self.src, self.end, at, word, candidate)
    }

    /// Puts a few of the positions in that a match covers.
    #[inline(always)]
    fn put_match(&mut self, start: usize, end: usize) {
        if start + 2 <= self.last {
            self.put_long(start + 1);
            self.put_short(start + 1);
            self.put_long(start + 2);
        }
        if end <= self.last {
            if end > 5 {
                self.put_long(end - 5);
            }
            self.put_long(end - 3);
            self.put_long(end - 2);
            self.put_short(end - 2);
            self.put_short(end - 1);
        }
    }

    #[inline(always)]
    fn put_long(&mut self, at: usize) {
        self.long[long_slot(self.word(at))] = at as u32;
    }

    #[inline(always)]
    fn put_short(&mut self, at: usize) {
        self.short[short_slot(self.word(at))] = at as u32;
    }

    /// The bytes at `at`, which is at most `last`.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        debug_assert!(at <= self.last);
        // SAFETY: all callers keep to `last`, 12 bytes before the end.
        unsafe { read64(self.src, at) }
    }
}

#[inline(always)]
fn compare(src: &[u8], end: usize, at: usize, word: u64, candidate: usize) -> Option<usize> {
    let back = at - candidate;
    // SAFETY: positions in the tables are up to `last`, 12 bytes before the end.
    if back > MAX_DISTANCE || unsafe { read64(src, candidate) } as u32 != word as u32 {
        return None;
    }
    Some(MIN_MATCH + common(src, at + MIN_MATCH, back, end))
}
