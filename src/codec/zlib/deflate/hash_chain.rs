//! Hash chains: for each position of the last 32 KiB, the position before it whose bytes have the same hash.

use std::ops::Range;

use super::matches::{MAX_DISTANCE, MAX_SEARCH_DISTANCE, MIN_RUN_LEN, is_run};

/// The word length, in bytes, of the chain that has all positions except those of runs.
pub(super) const WORD_LEN: usize = MIN_RUN_LEN;
/// The least number of positions that are inserted four at a time.
const MIN_BATCH_POSITIONS: usize = 24;
/// The number of positions that a chain holds.
pub(super) const WINDOW: usize = MAX_DISTANCE;
const MASK: usize = WINDOW - 1;

/// A ring buffer with a value for each position of the window.
pub(super) struct Ring([u16; WINDOW]);

impl Ring {
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> u16 {
        self.0[at & MASK]
    }

    /// Sets the values of `positions`, at most [`WINDOW`] of them.
    pub(super) fn fill(&mut self, positions: Range<usize>, value: u16) {
        let first = positions.start & MASK;
        let (before, behind) = self.0.split_at_mut(first);
        let whole = positions.len().min(behind.len());
        behind[..whole].fill(value);
        before[..positions.len() - whole].fill(value);
    }

    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, value: u16) {
        self.0[at & MASK] = value;
    }
}

/// The last position of each hash, as a number relative to an origin that the owner of the table moves. 0 stands for no
/// position: it is farther away than the start of the stream, or than `MAX_SEARCH_DISTANCE`.
pub(super) struct Heads<const N: usize> {
    heads: [u16; N],
    /// The number of hash values in use.
    used: usize,
}

impl<const N: usize> Heads<N> {
    /// Removes all positions. The next positions will use the first `used` hash values, at most `N`.
    pub(super) fn clear(&mut self, used: usize) {
        self.used = used.min(N);
        self.heads[..self.used].fill(0);
    }

    /// Inserts a position, and returns the distance to the last one with the same hash; more than [`max_distance_at`]
    /// if there is none in reach.
    #[inline(always)]
    pub(super) fn replace(&mut self, hash: usize, relative: u16) -> u16 {
        relative.wrapping_sub(std::mem::replace(&mut self.heads[hash % N], relative))
    }

    /// Returns the distance of a position to the last one with that hash; more than [`max_distance_at`] if there is
    /// none in reach.
    #[inline(always)]
    pub(super) fn get(&self, hash: usize, relative: u16) -> u16 {
        relative.wrapping_sub(self.heads[hash % N])
    }

    /// Moves the origin forward by `by` positions.
    pub(super) fn slide(&mut self, by: usize) {
        let by = u16::try_from(by).unwrap_or(u16::MAX);
        self.heads[..self.used].iter_mut().for_each(|head| *head = head.saturating_sub(by));
    }
}

/// Returns the largest distance of a match at `at` in bytes.
#[inline(always)]
pub(super) fn max_distance_at(at: usize) -> usize {
    at.min(MAX_SEARCH_DISTANCE)
}

/// A hash chain: the positions of each hash, linked backwards from the last one.
pub(super) struct HashChain<const N: usize> {
    pub heads: Heads<N>,
    /// The distance of each position to the one before it with the same hash, or [`NOT_INSERTED`]; more than
    /// [`max_distance_at`] if there is none in reach.
    pub prev_distances: Ring,
}

impl<const N: usize> HashChain<N> {
    /// Inserts a position, and returns the distance to the last one with the same hash; more than [`max_distance_at`]
    /// if there is none in reach.
    #[inline(always)]
    pub(super) fn insert(&mut self, hash: usize, at: usize, relative: u16) -> u16 {
        let distance = self.heads.replace(hash, relative);
        self.prev_distances.set(at, distance);
        distance
    }

    /// As [`insert`](Self::insert), for a position whose number is positive but may be less than `MAX_SEARCH_DISTANCE`.
    #[inline(always)]
    pub(super) fn insert_earlier(&mut self, hash: usize, at: usize, relative: u16) -> u16 {
        let distance = self.heads.replace(hash, relative);
        // If the distance equals the number, the previous entry was 0, which stands for no position.
        let distance = if distance == relative { NOT_INSERTED } else { distance };
        self.prev_distances.set(at, distance);
        distance
    }

    /// Inserts positions, up to the first run if `UP_TO_RUN`. Returns the position behind the last one that was
    /// inserted.
    ///
    /// `origin` is the position whose number is [`WINDOW`], and `shift` the number of bits by which hashes are shifted
    /// to the right.
    #[inline]
    pub(super) fn insert_words<const UP_TO_RUN: bool>(
        &mut self,
        src: &[u8],
        positions: Range<usize>,
        origin: usize,
        shift: u32,
    ) -> usize {
        let mut at = positions.start;
        if positions.len() >= MIN_BATCH_POSITIONS {
            let is_at_run;
            (at, is_at_run) = self.insert_many_words::<UP_TO_RUN>(src, positions.clone(), origin, shift);
            if is_at_run {
                return at;
            }
        }
        let words = src[at..positions.end + WORD_LEN - 1].windows(WORD_LEN);
        for word in words {
            let word = u32::from_le_bytes(word.try_into().expect("a slice of WORD bytes"));
            if UP_TO_RUN && is_run(word) {
                break;
            }
            self.insert(hash(word, shift), at, (at + WINDOW - origin) as u16);
            at += 1;
        }
        at
    }

    /// As [`insert_words`](Self::insert_words), for all but the last few positions. Also returns whether a run begins
    /// at the returned position.
    #[inline(never)]
    fn insert_many_words<const UP_TO_RUN: bool>(
        &mut self,
        src: &[u8],
        positions: Range<usize>,
        origin: usize,
        shift: u32,
    ) -> (usize, bool) {
        let mut at = positions.start;
        // Four words are read from eight bytes.
        while at + 4 <= positions.end
            && let Some(bytes) = src[at..].first_chunk()
        {
            let bytes = u64::from_le_bytes(*bytes);
            let word = |nth: usize| (bytes >> (8 * nth)) as u32;
            // If one of the four words is a run, byte 3 equals byte 2 or byte 4.
            let differ = bytes ^ bytes >> 8;
            let has_pair = differ >> 16 & 0xff == 0 || differ >> 24 & 0xff == 0;
            let run = if UP_TO_RUN && has_pair { (0..4).find(|&nth| is_run(word(nth))) } else { None };
            for nth in 0..run.unwrap_or(4) {
                self.insert(hash(word(nth), shift), at + nth, (at + nth + WINDOW - origin) as u16);
            }
            at += run.unwrap_or(4);
            if run.is_some() {
                return (at, true);
            }
        }
        (at, false)
    }

    /// Marks `positions`, at most [`WINDOW`] of them, as not inserted.
    pub(super) fn mark_not_inserted(&mut self, positions: Range<usize>) {
        self.prev_distances.fill(positions, NOT_INSERTED);
    }
}

/// Returns the hash of four bytes; the highest `shift` bits are 0.
#[inline(always)]
pub(super) fn hash(word: u32, shift: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> shift) as usize
}

/// The value in [`HashChain::prev_distances`] of positions that were not inserted: more than any distance.
pub(super) const NOT_INSERTED: u16 = u16::MAX;
