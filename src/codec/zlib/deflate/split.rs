//! Where a block should end: where what follows is so unlike it that codes of its own pay. Shuffled numbers change their
//! nature from one byte of the item to the next.

use super::block::STORED_WEIGHT;
use super::parse::Sequence;

/// Symbols that are looked at together.
const PORTION: u32 = 1024;
/// Bits that telling the codes of a block takes, about.
const HEADER_BITS: f32 = 450.0;
/// Bits that a stored block takes before its bytes, about.
const STORED_BITS: f32 = 40.0;
/// Bits of a literal, of a length and of a distance in the codes that every decoder knows, about.
const FIXED_LITERAL_BITS: f32 = 8.4;
const FIXED_MATCH_BITS: f32 = 12.5;

/// Kinds of symbols: of literals, of the lengths of repetitions, of distances.
const LITERALS: usize = 64;
const LENGTHS: usize = 8;
const DISTANCES: usize = 8;
/// Bits that tell the literals of a kind from each other.
const LITERAL_BITS: f32 = 2.0;

/// How often symbols of each kind occur, in two codes.
#[derive(Clone, Copy)]
struct Kinds {
    symbols: [u32; LITERALS + LENGTHS],
    distances: [u32; DISTANCES],
    literals: u32,
    matches: u32,
    /// Bits that tell lengths and distances of a kind from each other, about.
    extra: u32,
    /// What all of it stands for.
    bytes: u32,
}

impl Kinds {
    const NONE: Kinds = Kinds {
        symbols: [0; LITERALS + LENGTHS],
        distances: [0; DISTANCES],
        literals: 0,
        matches: 0,
        extra: 0,
        bytes: 0,
    };

    #[inline(always)]
    fn add(&mut self, s: &Sequence, literals: &[u8]) {
        for &byte in literals {
            self.symbols[usize::from(byte / 4)] += 1;
        }
        self.literals += s.literals;
        self.bytes += s.literals + u32::from(s.len);
        if s.len > 0 {
            self.symbols[LITERALS + (s.len.ilog2() as usize - 1)] += 1;
            self.distances[s.distance.ilog2() as usize / 2] += 1;
            self.matches += 1;
            self.extra += s.len.ilog2() + s.distance.ilog2();
        }
    }

    fn with(&self, other: &Kinds) -> Kinds {
        let mut sum = *self;
        sum.symbols.iter_mut().zip(&other.symbols).for_each(|(a, b)| *a += b);
        sum.distances.iter_mut().zip(&other.distances).for_each(|(a, b)| *a += b);
        sum.literals += other.literals;
        sum.matches += other.matches;
        sum.extra += other.extra;
        sum.bytes += other.bytes;
        sum
    }

    /// Bits of a block of these symbols, in the best codes for them, in those that every decoder knows, or stored.
    fn bits(&self) -> f32 {
        let of = |counts: &[u32]| {
            let total: u32 = counts.iter().sum();
            weight(total) - counts.iter().map(|&count| weight(count)).sum::<f32>()
        };
        let (literals, matches, extra) = (self.literals as f32, self.matches as f32, self.extra as f32);
        let own = HEADER_BITS + of(&self.symbols) + of(&self.distances) + literals * LITERAL_BITS + extra;
        let fixed = literals * FIXED_LITERAL_BITS + matches * FIXED_MATCH_BITS + extra;
        own.min(fixed).min(self.bytes as f32 * 8.0 * STORED_WEIGHT + STORED_BITS)
    }
}

/// `n` times its logarithm.
fn weight(n: u32) -> f32 {
    if n == 0 { 0.0 } else { n as f32 * (n as f32).log2() }
}

/// Calls `block` for each part of the sequences, which stand for all of `src`, that should be a block: its sequences, what
/// they stand for, and whether it is the last. Stops at the first `None`.
pub fn blocks(
    sequences: &[Sequence],
    src: &[u8],
    mut block: impl FnMut(&[Sequence], &[u8], bool) -> Option<()>,
) -> Option<()> {
    // The first sequence of the block, and where it begins; the same of the portion.
    let (mut first, mut start) = (0, 0);
    let (mut next, mut at) = (0, 0);
    let (mut kinds, mut bits) = (Kinds::NONE, 0.0);
    while next < sequences.len() {
        let (portion_first, portion_start) = (next, at);
        let mut portion = Kinds::NONE;
        let mut symbols = 0;
        // Where nothing comes again for long, nothing else belongs to the portion.
        let is_bare = sequences[next].len == 0;
        while symbols < PORTION && next < sequences.len() && (sequences[next].len == 0) == is_bare {
            let s = &sequences[next];
            portion.add(s, &src[at..at + s.literals as usize]);
            symbols += s.literals + 1;
            at += s.literals as usize + usize::from(s.len);
            next += 1;
        }
        let (own, both) = (portion.bits(), kinds.with(&portion));
        let together = both.bits();
        if portion_first > first && together > bits + own {
            block(&sequences[first..portion_first], &src[start..portion_start], false)?;
            (first, start) = (portion_first, portion_start);
            (kinds, bits) = (portion, own);
        } else {
            (kinds, bits) = (both, together);
        }
    }
    block(&sequences[first..], &src[start..], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_all_of_it_and_end_where_the_data_change() {
        let mut src = vec![];
        let mut sequences = vec![];
        for i in 0..40_000u32 {
            let noise = i.wrapping_mul(2_654_435_761) >> 24;
            src.push(if i < 20_000 { noise % 64 } else { 192 + noise % 64 } as u8);
            if i % 100 == 99 {
                sequences.push(Sequence { literals: 100, len: 0, distance: 0 });
            }
        }
        let mut ends = vec![];
        let mut seen = (0, 0);
        blocks(&sequences, &src, |part, bytes, is_last| {
            seen = (seen.0 + part.len(), seen.1 + bytes.len());
            assert_eq!(is_last, seen.1 == src.len());
            ends.push(seen.1);
            Some(())
        });
        assert_eq!(seen, (sequences.len(), src.len()));
        assert!(ends.len() == 2 && ends[0].abs_diff(20_000) <= PORTION as usize + 100, "{ends:?}");
        assert_eq!(blocks(&sequences, &src, |_, _, _| None), None);
        let mut calls = 0;
        blocks(&[Sequence { literals: 0, len: 0, distance: 0 }], &[], |_, bytes, is_last| {
            calls += usize::from(is_last && bytes.is_empty());
            Some(())
        });
        assert_eq!(calls, 1);
    }

    #[test]
    fn noise_is_a_block_of_its_own() {
        let mut x = 1u32;
        let mut noise = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        };
        let bare = Sequence { literals: 512, len: 0, distance: 0 };
        let repetition = Sequence { literals: 0, len: 16, distance: 2 };
        // Noise at the beginning, in the middle, and at the end; between, next to nothing and a lot.
        let sequences =
            [vec![bare; 8], vec![repetition; 3], vec![bare; 4], vec![repetition; 700], vec![bare; 5]];
        let mut src = vec![];
        for part in &sequences {
            for s in part {
                src.extend((0..s.literals).map(|_| noise()));
                src.extend(std::iter::repeat_n([0, 7], usize::from(s.len) / 2).flatten());
            }
        }
        let mut lens = vec![];
        blocks(&sequences.concat(), &src, |_, bytes, _| {
            lens.push(bytes.len());
            Some(())
        });
        assert_eq!(lens, [8 * 512, 3 * 16, 4 * 512, 700 * 16, 5 * 512]);
    }
}
