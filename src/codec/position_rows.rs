//! The last positions of each hash, in rows: the search table of the fastest level of zlib.
//!
//! Owns the layout of a row; never reads the bytes at a position. A row holds a tag with each position, further bits of
//! its hash: the positions with the same bytes are found without reading their bytes, and without a branch for each. In a
//! hash chain, each link is read only after the one before. An insertion is a shift.
//!
//! A position is stored as its lowest 16 bits. Positions less than 64 KiB apart differ in them. An older one stands for
//! another position within the last 64 KiB, whose bytes the caller compares like those of any candidate: rows need no
//! upkeep as a stream goes on. So do the zeros of an empty row.

/// The lowest 16 bits of four positions and their tags, the last position in the lowest bits.
#[derive(Clone, Copy, Default)]
pub(super) struct PositionRow {
    positions: u64,
    tags: u64,
}

/// The lowest and the highest bit of each of four 16-bit numbers.
const LOWEST_BITS: u64 = 0x0001_0001_0001_0001;
const HIGHEST_BITS: u64 = LOWEST_BITS << 15;

/// The rows of all hash values.
pub(super) struct PositionRows<'a> {
    rows: &'a mut [PositionRow],
    /// The number of bits by which 32-bit hashes are shifted to the right.
    shift: u32,
}

impl<'a> PositionRows<'a> {
    /// Returns `rows`, whose number is a power of two, at least 2 and at most 65536, as empty rows.
    pub(super) fn new(rows: &'a mut [PositionRow]) -> Self {
        rows.fill(PositionRow::default());
        let shift = u32::BITS - rows.len().ilog2();
        PositionRows { rows, shift }
    }

    /// Inserts a position of `word`, in place of the first one in its row. Returns the candidates in the row before.
    #[inline(always)]
    pub(super) fn push(&mut self, word: u32, at: usize) -> Candidates {
        // The product of an odd number is different for each word: row and tag are equal for few other words.
        let hash = word.wrapping_mul(0x9e37_79b1);
        let tag = u64::from(hash >> (self.shift - 16) & 0xffff);
        let row = &mut self.rows[(hash >> self.shift) as usize];
        let PositionRow { positions, tags } = *row;
        *row = PositionRow { positions: positions << 16 | at as u64 & 0xffff, tags: tags << 16 | tag };
        // A number that is 0 becomes one with its highest bit set. So may a number above it, which is harmless.
        let differ = tags ^ (tag * LOWEST_BITS);
        let hits = differ.wrapping_sub(LOWEST_BITS) & !differ & HIGHEST_BITS;
        Candidates { hits, positions, at: at as u16 }
    }
}

/// The positions of a row whose tag is that of the position searched for: nearly all have the same four bytes.
pub(super) struct Candidates {
    hits: u64,
    positions: u64,
    at: u16,
}

impl Candidates {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.hits == 0
    }
}

/// Iterates over the distances of the candidates, the least one first. A distance of 0 stands for 64 KiB.
impl Iterator for Candidates {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.hits == 0 {
            return None;
        }
        let position = (self.positions >> (self.hits.trailing_zeros() / 16 * 16)) as u16;
        self.hits &= self.hits - 1;
        Some(distance_to(self.at, position))
    }
}

/// Returns the distance back from a position to another one, both given as their lowest 16 bits; 0 if it is 64 KiB.
#[inline(always)]
pub(super) fn distance_to(at: u16, position: u16) -> usize {
    usize::from(at.wrapping_sub(position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn candidates_are_the_last_positions_of_a_word() {
        let mut memory = [PositionRow { positions: u64::MAX, tags: u64::MAX }; 64];
        let mut rows = PositionRows::new(&mut memory[..32]);
        // Each of these words has a row of its own. Each is inserted more often than a row has places.
        let words = [1u32, 0x6162_6364, u32::MAX];
        let mut last: [Vec<usize>; 3] = Default::default();
        let random = &mut Random(1);
        for at in (1..300_000).step_by(997) {
            let nth = random.below(words.len());
            let candidates = rows.push(words[nth], at);
            assert_eq!(candidates.is_empty(), last[nth].is_empty());
            let distances = candidates.collect::<Vec<_>>();
            let expected = last[nth].iter().rev().take(4).map(|before| (at - before) % 65536);
            assert!(distances.iter().copied().eq(expected), "{at}: {distances:?}, {:?}", last[nth]);
            last[nth].push(at);
        }
        assert!(memory[32..].iter().all(|row| row.positions == u64::MAX && row.tags == u64::MAX));
    }

    #[test]
    fn positions_of_other_words_in_a_row_are_no_candidates() {
        let mut memory = [PositionRow::default(); 2];
        let mut rows = PositionRows::new(&mut memory);
        for at in 1..1000u32 {
            // All words are different.
            assert!(rows.push(at.wrapping_mul(0x0101_0101), at as usize).is_empty(), "{at}");
        }
    }
}
