//! The search of the fastest level: the last positions with the same hash.
//!
//! Owns the tables of earlier positions and the search in them; never decides which matches are used. The candidates are
//! those of a hash chain of as many entries.

use std::ops::Range;

use super::hash_chain::{hash, max_distance_at};
use super::matches::{MAX_MATCH, MIN_MATCH, Match, match_length_up_to, read64};
use crate::codec::position_rows::{Candidates, PositionRow, PositionRows, distance_to};

/// The least and the greatest number of rows. The greatest has room for twice the positions in reach: with half as many rows,
/// streams of noise with a period of 32,000 bytes are 4 % longer, because some rows overflow.
const MIN_ROWS: usize = 1 << 8;
const MAX_ROWS: usize = 1 << 14;
/// log2 of the number of hash values of three bytes.
const THREES_LOG2: u32 = 14;
/// The number of bytes that are compared at once. No match begins where fewer are left.
const COMPARED_LEN: usize = 8;

/// The tables of a thread. A stream does not depend on the content that earlier streams left in them.
pub(super) struct RecentTables {
    /// For each hash of four bytes, the last positions.
    rows: [PositionRow; MAX_ROWS],
    /// For each hash of three bytes, the lowest 16 bits of the last position.
    threes: [u16; 1 << THREES_LOG2],
}

/// The search in one stream among the last four positions of each hash. If `THREES`, matches of three bytes are
/// found, too. Positions are inserted, or searched for, in ascending order, each once.
pub(super) struct RecentSearch<'a, const THREES: bool> {
    rows: PositionRows<'a>,
    threes: &'a mut [u16; 1 << THREES_LOG2],
    src: &'a [u8],
    /// The length in bytes of a match that ends the search.
    nice_len: usize,
}

impl<'a, const THREES: bool> RecentSearch<'a, THREES> {
    /// Returns a search in `src` with empty tables. The first match of `nice_len` bytes or more ends a search.
    pub(super) fn new(tables: &'a mut RecentTables, src: &'a [u8], nice_len: usize) -> Self {
        let RecentTables { rows, threes } = tables;
        let count = (src.len() / 4).next_power_of_two().clamp(MIN_ROWS, MAX_ROWS);
        let rows = PositionRows::new(&mut rows[..count]);
        if THREES {
            threes.fill(0);
        }
        RecentSearch { rows, threes, src, nice_len }
    }

    pub(super) fn src(&self) -> &'a [u8] {
        self.src
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, positions: Range<usize>) {
        let end = positions.end.min((self.src.len() + 1).saturating_sub(COMPARED_LEN));
        for at in positions.start..end {
            self.push(at, read64(self.src, at));
        }
    }

    /// Inserts the position `at` of the bytes `here`. Returns the earlier positions with the same four bytes, and the
    /// lowest bits of the one with the same hash of three bytes.
    #[inline(always)]
    fn push(&mut self, at: usize, here: u64) -> (Candidates, u16) {
        let candidates = self.rows.push(here as u32, at);
        let three = if THREES {
            let slot = hash((here as u32) << 8, u32::BITS - THREES_LOG2) % (1 << THREES_LOG2);
            std::mem::replace(&mut self.threes[slot], at as u16)
        } else {
            0
        };
        (candidates, three)
    }

    /// Inserts `at`, which is not the first position, and returns the longest match there, the closest one of several; a
    /// match of less than [`MIN_MATCH`] bytes if there is none.
    #[inline(always)]
    pub(super) fn find_longest(&mut self, at: usize) -> Match {
        if at + COMPARED_LEN > self.src.len() {
            return Match::default();
        }
        let here = read64(self.src, at);
        let (candidates, three) = self.push(at, here);
        if !candidates.is_empty() {
            let longest = self.find_longest_of(candidates, at, here);
            if longest.distance > 0 {
                return longest;
            }
        }
        if THREES && let Some(MIN_MATCH..) = self.compare(distance_to(at as u16, three), at, here) {
            return Match {
                len: MIN_MATCH.min(self.src.len() - at),
                distance: distance_to(at as u16, three),
            };
        }
        Match::default()
    }

    /// Returns the longest match at `at`, of the bytes `here`, among the candidates. A function of its own: most positions
    /// have no candidate, and what its loop needs would be computed for them, too.
    #[inline(never)]
    fn find_longest_of(&self, candidates: Candidates, at: usize, here: u64) -> Match {
        let most = (self.src.len() - at).min(MAX_MATCH);
        let mut longest = Match { len: MIN_MATCH - 1, distance: 0 };
        for distance in candidates {
            let Some(mut len) = self.compare(distance, at, here) else { continue };
            if len == COMPARED_LEN {
                len = match_length_up_to(self.src, at, distance, at + most.max(COMPARED_LEN));
            }
            if len > longest.len {
                longest = Match { len, distance };
                if len >= self.nice_len {
                    break;
                }
            }
        }
        Match { len: longest.len.min(most), ..longest }
    }

    /// Returns the number of equal bytes, at most [`COMPARED_LEN`], at `at`, of the bytes `here`, and `distance` bytes
    /// before; `None` if that is out of reach.
    #[inline(always)]
    fn compare(&self, distance: usize, at: usize, here: u64) -> Option<usize> {
        if distance.wrapping_sub(1) >= max_distance_at(at) {
            return None;
        }
        debug_assert!(at + COMPARED_LEN <= self.src.len());
        // SAFETY: `distance` <= `at`, where the callers have read `COMPARED_LEN` bytes.
        let there =
            u64::from_le(unsafe { self.src.as_ptr().add(at - distance).cast::<u64>().read_unaligned() });
        Some((here ^ there).trailing_zeros() as usize / 8)
    }
}
