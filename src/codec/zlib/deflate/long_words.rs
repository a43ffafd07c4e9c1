//! Hash chains of long words, for matches at positions whose first four bytes are frequent.
//!
//! In shuffled numbers thousands of positions can have the same four bytes, but few of them the same 6 or 12. A match
//! of 6 or 12 bytes is in the chain of words of that length. zlib compares only a limited number of positions with the
//! same four bytes; each position has a number within its chain of four bytes, so that the positions that zlib does not
//! compare are excluded here.
//!
//! Positions are inserted once searches have compared enough candidates to repay it: many streams need none.

use std::ops::Range;

use super::chain_walk::{ChainWalk, SearchLimits, Verdict};
use super::hash_chain::{HashChain, NOT_INSERTED, Ring, WINDOW, max_distance_at};
use super::matches::{MIN_RUN_LEN, Match, is_run, read32, read64, run_length};

/// The word length, in bytes, of each chain.
const WORD_LENGTHS: [usize; 2] = [6, 12];
const MAX_WORD_LEN: usize = WORD_LENGTHS[1];
const HEADS_LOG2: u32 = 14;

/// The number of candidates of a chain that are compared before the search restarts with the words of a longer match.
const RESTART_INTERVAL: u32 = 128;

/// Chains of words of two lengths.
pub(super) struct LongWords {
    chains: [HashChain<{ 1 << HEADS_LOG2 }>; WORD_LENGTHS.len()],
    /// The number of each position within its chain of four bytes, modulo 2^16.
    ordinals: Ring,
    /// Whether the chains contain positions.
    is_used: bool,
    /// The first position that has not been inserted.
    next: usize,
    /// The position from which on no position was skipped.
    contiguous_from: usize,
}

impl LongWords {
    /// Removes all positions.
    pub(super) fn clear(&mut self) {
        // The first byte is in no chain.
        (self.is_used, self.next, self.contiguous_from) = (false, 1, 1);
    }

    /// Moves the origin of the position numbers forward by `by` positions.
    pub(super) fn slide(&mut self, by: usize) {
        if self.is_used {
            self.chains.iter_mut().for_each(|chain| chain.heads.slide(by));
        }
    }

    /// Returns the number of positions that a search at `at` would have to insert first.
    #[inline(always)]
    pub(super) fn missing_count(&self, at: usize) -> usize {
        (at - self.next.min(at)).min(WINDOW)
    }

    /// Excludes positions.
    pub(super) fn skip(&mut self, positions: Range<usize>) {
        if self.next >= positions.start {
            self.next = self.next.max(positions.end);
        }
    }

    /// Inserts the positions before `at` that are in `word_chain`, the chain of four bytes.
    #[inline(never)]
    pub(super) fn insert_missing<const N: usize>(
        &mut self,
        src: &[u8],
        at: usize,
        origin: usize,
        word_chain: &HashChain<N>,
    ) {
        if !self.is_used {
            self.is_used = true;
            self.chains.iter_mut().for_each(|chain| chain.heads.clear(usize::MAX));
        }
        let mut position = self.next;
        if position + WINDOW < at {
            position = at - WINDOW;
            self.contiguous_from = position;
        }
        let end = at.min((src.len() + 1).saturating_sub(MAX_WORD_LEN));
        while position < end {
            if is_run(read32(src, position)) {
                position += run_length(src, position, src.len()) - MIN_RUN_LEN + 1;
                continue;
            }
            let distance = word_chain.prev_distances.get(position);
            if distance != NOT_INSERTED {
                let before = (usize::from(distance) <= max_distance_at(position))
                    .then(|| position - usize::from(distance));
                let before = before.filter(|&before| before >= self.contiguous_from);
                let ordinal = before.map_or(0, |before| self.ordinals.get(before).wrapping_add(1));
                self.ordinals.set(position, ordinal);
                // Positions that were numbered before the origin moved are out of reach, or nearly so.
                if position + WINDOW > origin {
                    let relative = (position + WINDOW - origin) as u16;
                    for (chain, hash) in self.chains.iter_mut().zip(hashes(src, position)) {
                        chain.insert_earlier(hash, position, relative);
                    }
                }
            }
            position += 1;
        }
        self.next = self.next.max(position.min(end));
    }

    /// Returns the number of the chain of the longest words that fit into `len` bytes, and the length of these words in
    /// bytes.
    #[inline(always)]
    fn longest_word_chain(len: usize) -> Option<(usize, usize)> {
        (0..WORD_LENGTHS.len()).rev().map(|nth| (nth, WORD_LENGTHS[nth])).find(|&(_, bytes)| bytes <= len)
    }

    /// Searches for longer matches than `found` of the bytes at `target.at`, at distances of `from` or more. Returns
    /// the longest match so far, and whether there are no longer ones; `None` if no word in the chains can be used for
    /// the search.
    pub(super) fn find_longer(
        &self,
        target: &SearchPosition<'_>,
        from: usize,
        found: Match,
        limits: &SearchLimits,
        steps: &mut u32,
        judge: impl Fn(usize) -> Verdict + Copy,
    ) -> Option<(Match, bool)> {
        let &SearchPosition { src, at, relative, first_candidate: first } = target;
        let (nth, bytes) = Self::longest_word_chain(found.len + 1)?;
        // A longer match contains each word that ends at most one byte behind `found`. The last one is the rarest;
        // words that begin with a run are not in the chains.
        let last = (found.len + 1 - bytes).min(from);
        let offset = (0..=last)
            .rev()
            .find(|&offset| at + offset + MAX_WORD_LEN <= src.len() && !is_run(read32(src, at + offset)))?;
        let word = at + offset;
        let relative = relative.checked_add(offset as u16)?;
        let chain = &self.chains[nth];
        let distance = usize::from(chain.heads.get(hashes(src, word)[nth], relative));
        if distance > max_distance_at(word) {
            return Some((found, true));
        }
        // Candidates count from `first`, which has the number 1, to exclude those that zlib does not compare.
        let ordinal = self.ordinals.get(first).wrapping_add(1);
        let before_word = if offset >= 8 { read64(src, word - 8) } else { 0 };
        let judge = |position: usize| {
            let start = position.checked_sub(offset).filter(|&start| start > 0 && word - position >= from);
            let Some(start) = start else {
                return Verdict::Skip;
            };
            if offset >= 8 && read64(src, position - 8) != before_word
                || src[start..position] != src[at..word]
            {
                return Verdict::Skip;
            }
            let number = ordinal.wrapping_sub(self.ordinals.get(start));
            if u32::from(number) <= limits.positions { judge(start) } else { Verdict::Stop }
        };
        let mut longer = Match { len: found.len - offset, distance: 0 };
        let limits =
            SearchLimits { max_len: limits.max_len - offset, nice_len: limits.nice_len - offset, ..*limits };
        let walk = ChainWalk { src, at: word, limits: &limits };
        let mut next = Some(word - distance);
        // A longer match has rarer words: after each part, a restart with them is worthwhile.
        while let Some(position) = next.filter(|_| longer.distance == 0 && *steps > 0) {
            let mut part = RESTART_INTERVAL.min(*steps);
            *steps -= part;
            next = walk.compare_candidates(&chain.prev_distances, position, &mut part, &mut longer, judge);
            *steps += part;
        }
        let found = if longer.distance > 0 { Match { len: longer.len + offset, ..longer } } else { found };
        Some((found, next.is_none() || *steps == 0))
    }
}

/// A position that is searched for.
pub(super) struct SearchPosition<'a> {
    pub src: &'a [u8],
    pub at: usize,
    /// The number of `at` in the tables.
    pub relative: u16,
    /// The last position with the same four bytes.
    pub first_candidate: usize,
}

/// Returns the hashes of the words at `at`, a position with at least [`MAX_WORD_LEN`] bytes left.
#[inline(always)]
fn hashes(src: &[u8], at: usize) -> [usize; WORD_LENGTHS.len()] {
    const FACTOR: u64 = 0x9e37_79b1_85eb_ca87;
    let [first, fifth] = [0, 4].map(|offset| read64(src, at + offset));
    let hash = |word: u64| (word.wrapping_mul(FACTOR) >> (u64::BITS - HEADS_LOG2)) as usize;
    [hash(first << 16), hash(first ^ fifth.wrapping_mul(FACTOR) >> 7)]
}
