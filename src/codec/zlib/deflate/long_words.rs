//! Hash chains of long words, for matches at positions whose first four bytes are frequent.
//!
//! In shuffled numbers thousands of positions can have the same four bytes, but few of them the same 6 or 12. A match
//! of 6 or 12 bytes is in the chain of words of that length.
//!
//! Positions are inserted once searches have compared enough candidates to repay it: many streams need none.

use std::ops::Range;

use super::chain_walk::{ChainCandidate, ChainWalk};
use super::hash_chain::{HashChain, NOT_INSERTED, WINDOW};
use super::matches::{MIN_RUN_LEN, Match, is_run, read32, read64, run_length};

/// The word length, in bytes, of each chain.
const WORD_LENGTHS: [usize; 2] = [6, 12];
const MAX_WORD_LEN: usize = WORD_LENGTHS[1];
const HEADS_LOG2: u32 = 14;

/// Chains of words of two lengths.
pub(super) struct LongWords {
    chains: [HashChain<{ 1 << HEADS_LOG2 }>; WORD_LENGTHS.len()],
    /// Whether the chains contain positions.
    is_used: bool,
    /// The first position that has not been inserted.
    next: usize,
}

impl LongWords {
    /// Removes all positions.
    pub(super) fn clear(&mut self) {
        // The first byte is in no chain.
        (self.is_used, self.next) = (false, 1);
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
        // Earlier positions are out of reach, or no longer have a number.
        let mut position = self.next.max(at.max(origin + 1).saturating_sub(WINDOW));
        let end = at.min((src.len() + 1).saturating_sub(MAX_WORD_LEN));
        while position < end {
            if is_run(read32(src, position)) {
                position += run_length(src, position, src.len()) - MIN_RUN_LEN + 1;
                continue;
            }
            if word_chain.prev_distances.get(position) != NOT_INSERTED {
                let relative = (position + WINDOW - origin) as u16;
                for (chain, hash) in self.chains.iter_mut().zip(hashes(src, position)) {
                    chain.insert_earlier(hash, position, relative);
                }
            }
            position += 1;
        }
        self.next = self.next.max(position.min(end));
    }

    /// Compares up to `steps` candidates, up to the first one that matches longer than `found`, and subtracts their
    /// number from `steps`. That match replaces `found`. Returns whether the search is complete; `None` if no word in the
    /// chains can be used for it.
    #[inline(always)]
    pub(super) fn find_longer(
        &self,
        walk: &ChainWalk<'_>,
        origin: usize,
        steps: &mut u32,
        found: &mut Match,
    ) -> Option<bool> {
        let &ChainWalk { src, at, lowest, .. } = walk;
        let nth = (0..WORD_LENGTHS.len()).rev().find(|&nth| WORD_LENGTHS[nth] <= found.len + 1)?;
        let bytes = WORD_LENGTHS[nth];
        // A longer match contains each word that ends at most one byte behind `found`. The last one is the rarest;
        // words that begin with a run are not in the chains.
        let offset = (0..=found.len + 1 - bytes)
            .rev()
            .find(|&offset| at + offset + MAX_WORD_LEN <= src.len() && !is_run(read32(src, at + offset)))?;
        let word = at + offset;
        let chain = &self.chains[nth];
        let distance = usize::from(chain.heads.get(hashes(src, word)[nth], (word + WINDOW - origin) as u16));
        if *steps == 0 || distance > at - lowest {
            return Some(true);
        }
        let known = found.len;
        let first = ChainCandidate { position: at - distance, offset };
        let next = walk.find_longer_far(&chain.prev_distances, first, steps, found);
        Some(next.is_none() || found.len == known)
    }
}

/// Returns the hashes of the words at `at`, a position with at least [`MAX_WORD_LEN`] bytes left.
#[inline(always)]
fn hashes(src: &[u8], at: usize) -> [usize; WORD_LENGTHS.len()] {
    const FACTOR: u64 = 0x9e37_79b1_85eb_ca87;
    let [first, fifth] = [0, 4].map(|offset| read64(src, at + offset));
    let hash = |word: u64| (word.wrapping_mul(FACTOR) >> (u64::BITS - HEADS_LOG2)) as usize;
    [hash(first << 16), hash(first ^ fifth.wrapping_mul(FACTOR) >> 7)]
}
