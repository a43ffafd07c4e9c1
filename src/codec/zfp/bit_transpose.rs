//! Conversion between the coefficients of a cell and the planes of their bits: bit matrices that are transposed,
//! eight by eight bits at a time in every byte of a word.
//!
//! Also owns the order of the coefficients. A group is eight planes, counted from the highest; plane 0 is the highest
//! of its group. In a plane, bit 0 of word 0 is the first coefficient.

use super::integer::Integer;
use super::order::coefficient_order;

pub(super) const PLANES_PER_GROUP: usize = 8;

pub(super) type PlaneGroup<const W: usize> = [[u64; W]; PLANES_PER_GROUP];

/// The bits of the `N` coefficients of a cell, by planes of `W` words.
pub(super) trait ToPlanes<I: Integer, const N: usize, const W: usize> {
    /// Returns the bits of the coefficients of `cell`.
    fn from_cell(cell: &[I; N]) -> Self;

    fn group(&self, group: usize) -> PlaneGroup<W>;
}

/// The inverse of [`ToPlanes`].
pub(super) trait FromPlanes<I: Integer, const N: usize, const W: usize> {
    /// Returns the coefficients in the order of the cell, from the first groups. Only the first `significant`
    /// coefficients in coding order are not 0.
    fn to_cell(groups: &[PlaneGroup<W>], significant: usize) -> [I; N];
}

/// Transposes rows and bits in every byte.
#[inline(always)]
fn transpose_bits<const W: usize>(rows: &mut [[u64; W]; 8]) {
    for (step, low) in [(4, 0x0f0f_0f0f_0f0f_0f0f), (2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555)] {
        for first in (0..8).filter(|row| row & step == 0) {
            let (some, others) = rows.split_at_mut(first + step);
            for (row, other) in some[first].iter_mut().zip(&mut others[0]) {
                let swapped = (*row >> step ^ *other) & low;
                *other ^= swapped;
                *row ^= swapped << step;
            }
        }
    }
}

/// Converts 16 coefficients to planes: all planes at once.
///
/// Before the transposition, row `r` has the coefficients `r` and `8 + r`; afterwards the planes `7 - r` of all
/// groups. Each of the two fills half of the `V` words: of its bytes, the highest belongs to the first group.
pub(super) struct SmallCellToPlanes<const V: usize>([[u64; V]; 8]);

impl<I: Integer, const V: usize> ToPlanes<I, 16, 1> for SmallCellToPlanes<V> {
    #[inline(always)]
    fn from_cell(cell: &[I; 16]) -> Self {
        let mut rows = [[0; V]; 8];
        for (at, row) in rows.iter_mut().enumerate() {
            let [first, second] = [at, 8 + at]
                .map(|at| cell[usize::from(coefficient_order::<16>()[at])].to_negabinary().to_top());
            if V == 1 {
                row[0] = first >> 32 | second;
            } else {
                (row[0], row[1]) = (first, second);
            }
        }
        transpose_bits(&mut rows);
        SmallCellToPlanes(rows)
    }

    #[inline(always)]
    fn group(&self, group: usize) -> PlaneGroup<1> {
        let shift = 32 * V - 8 - 8 * group;
        std::array::from_fn(|plane| {
            let row = &self.0[7 - plane];
            let (low, high) = if V == 1 {
                (row[0] >> shift, row[0] >> (32 + shift))
            } else {
                (row[0] >> shift, row[1] >> shift)
            };
            [low & 0xff | (high & 0xff) << 8]
        })
    }
}

/// Converts planes to 16 coefficients: all coefficients at the same time, in the order of the cell.
pub(super) struct SmallCellFromPlanes;

/// The bit of a plane that belongs to each position in the cell.
const COEFFICIENT_BITS: [u16; 16] = {
    let (mut bits, mut at) = ([0; 16], 0);
    while at < 16 {
        bits[coefficient_order::<16>()[at] as usize] = 1 << at;
        at += 1;
    }
    bits
};

impl<I: Integer> FromPlanes<I, 16, 1> for SmallCellFromPlanes {
    #[inline(always)]
    fn to_cell(groups: &[PlaneGroup<1>], _: usize) -> [I; 16] {
        let mut numbers = [I::default(); 16];
        for (group, planes) in groups.iter().enumerate() {
            // The lanes are the outer loop, so that the compiler vectorises it.
            let bytes = COEFFICIENT_BITS.map(|bit| {
                planes.iter().fold(0, |byte, [plane]| byte << 1 | u16::from(*plane as u16 & bit != 0))
            });
            for (number, byte) in numbers.iter_mut().zip(bytes) {
                *number = number.or(I::of_byte(byte as u8, group));
            }
        }
        numbers.map(I::of_negabinary)
    }
}

/// The order of the coefficients of cells of 64 and more values during coding: a transposed row is a run of bytes.
///
/// Coefficient `64 w + 8 j + r` is at index `64 w + 8 r + j`. The result has the position in the cell for each index.
const fn coefficient_positions<const N: usize>() -> [u8; N] {
    let (mut places, mut at) = ([0; N], 0);
    while at < N {
        places[at] = coefficient_order::<N>()[at / 64 * 64 + at % 8 * 8 + at / 8 % 8];
        at += 1;
    }
    places
}

/// Converts 64 and more coefficients to planes: one group after the other.
pub(super) struct LargeCellToPlanes<I, const N: usize>([I; N]);

impl<I: Integer, const N: usize, const W: usize> ToPlanes<I, N, W> for LargeCellToPlanes<I, N> {
    #[inline(always)]
    fn from_cell(cell: &[I; N]) -> Self {
        LargeCellToPlanes(
            const { coefficient_positions::<N>() }.map(|place| cell[usize::from(place) % N].to_negabinary()),
        )
    }

    #[inline(always)]
    fn group(&self, group: usize) -> PlaneGroup<W> {
        let bytes = self.0.map(|number| number.byte(group));
        let mut rows = [[0; W]; PLANES_PER_GROUP];
        for (word, bytes) in bytes.as_chunks::<64>().0.iter().enumerate() {
            for (row, bytes) in rows.iter_mut().zip(bytes.as_chunks().0) {
                row[word] = u64::from_le_bytes(*bytes);
            }
        }
        transpose_bits(&mut rows);
        rows.reverse();
        rows
    }
}

/// Converts planes to 64 and more coefficients.
pub(super) struct LargeCellFromPlanes;

/// Up to this number of significant coefficients are assembled separately.
const MAX_SPARSE: usize = 16;
/// The number of groups that are combined at once, to 32 bits.
const GROUPS_PER_WORD: usize = 4;

impl<I: Integer, const N: usize, const W: usize> FromPlanes<I, N, W> for LargeCellFromPlanes {
    #[inline(always)]
    fn to_cell(groups: &[PlaneGroup<W>], significant: usize) -> [I; N] {
        let mut cell = [I::default(); N];
        if significant <= MAX_SPARSE {
            for (column, places) in coefficient_order::<N>()[..MAX_SPARSE].chunks_exact(8).enumerate() {
                if significant <= 8 * column {
                    break;
                }
                let numbers = sparse_coefficients::<I, W>(groups, column);
                for (place, number) in places.iter().zip(numbers) {
                    cell[usize::from(*place) % N] = number.of_negabinary();
                }
            }
            return cell;
        }
        let mut bytes = I::bytes([[0; 64]; W]);
        for (bytes, planes) in bytes.as_mut().iter_mut().zip(groups) {
            let mut rows = *planes;
            rows.reverse();
            transpose_bits(&mut rows);
            for (word, bytes) in bytes.iter_mut().enumerate() {
                for (row, bytes) in rows.iter().zip(bytes.as_chunks_mut().0) {
                    *bytes = row[word].to_le_bytes();
                }
            }
        }
        let places = const { coefficient_positions::<N>() };
        for (word, places) in places.as_chunks::<64>().0.iter().enumerate().take(significant.div_ceil(64)) {
            let quad = |first: usize| -> [u32; 64] {
                let groups: [&[u8; 64]; GROUPS_PER_WORD] =
                    std::array::from_fn(|group| &bytes.as_ref()[first + group][word]);
                std::array::from_fn(|at| u32::from_be_bytes(groups.map(|bytes| bytes[at])))
            };
            let high = quad(0);
            let numbers: [I; 64] = if groups.len() > GROUPS_PER_WORD {
                let low = quad(GROUPS_PER_WORD);
                std::array::from_fn(|at| I::from_top(u64::from(high[at]) << 32 | u64::from(low[at])))
            } else {
                high.map(|high| I::from_top(u64::from(high) << 32))
            };
            let numbers = numbers.map(I::of_negabinary);
            for (place, number) in places.iter().zip(numbers) {
                cell[usize::from(*place) % N] = number;
            }
        }
        cell
    }
}

/// Returns eight coefficients, from `8 * column` on, which are in the first word of the planes.
#[inline(always)]
fn sparse_coefficients<I: Integer, const W: usize>(groups: &[PlaneGroup<W>], column: usize) -> [I; 8] {
    let mut numbers = [I::default(); 8];
    for (group, planes) in groups.iter().enumerate() {
        let bits = planes.iter().fold(0, |bits, plane| bits << 8 | plane[0] >> (8 * column) & 0xff);
        for (number, byte) in numbers.iter_mut().zip(transpose_word(bits).to_le_bytes()) {
            *number = number.or(I::of_byte(byte, group));
        }
    }
    numbers
}

/// Transposes the bytes and the bits of a word.
#[inline(always)]
fn transpose_word(mut word: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (word ^ word >> shift) & mask;
        word ^= swapped ^ swapped << shift;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Converts cells of which only the first coefficients are not 0 to planes, checks each bit, and converts back.
    fn check_round_trip<I, M, F, const N: usize, const W: usize>(random: &mut impl FnMut() -> u64)
    where
        I: Integer + PartialEq + std::fmt::Debug,
        M: ToPlanes<I, N, W>,
        F: FromPlanes<I, N, W>,
    {
        let step = if cfg!(miri) { N / 2 } else { 1 + N / 64 };
        for significant in (0..=N).step_by(step) {
            let mut cell = [I::default(); N];
            for &place in &coefficient_order::<N>()[..significant] {
                cell[usize::from(place)] = I::from_top(random());
            }
            let matrix = M::from_cell(&cell);
            let groups: Vec<PlaneGroup<W>> =
                (0..I::bytes(()).as_ref().len()).map(|group| matrix.group(group)).collect();
            for (number, place) in coefficient_order::<N>().iter().enumerate() {
                let bits = cell[usize::from(*place)].to_negabinary().to_top();
                for (plane, words) in groups.iter().flatten().enumerate() {
                    let bit = words[number / 64] >> (number % 64) & 1;
                    assert_eq!(bit, bits >> (63 - plane) & 1, "plane {plane} of coefficient {number} of {N}");
                }
            }
            assert_eq!(F::to_cell(&groups, significant), cell, "{significant} of {N}");
        }
    }

    #[test]
    fn coefficients_round_trip_through_bit_planes() {
        let mut numbers = Random(1);
        let random = &mut || numbers.next();
        check_round_trip::<i32, SmallCellToPlanes<1>, SmallCellFromPlanes, 16, 1>(random);
        check_round_trip::<i64, SmallCellToPlanes<2>, SmallCellFromPlanes, 16, 1>(random);
        check_round_trip::<i32, LargeCellToPlanes<i32, 64>, LargeCellFromPlanes, 64, 1>(random);
        check_round_trip::<i64, LargeCellToPlanes<i64, 64>, LargeCellFromPlanes, 64, 1>(random);
        check_round_trip::<i32, LargeCellToPlanes<i32, 256>, LargeCellFromPlanes, 256, 4>(random);
        check_round_trip::<i64, LargeCellToPlanes<i64, 256>, LargeCellFromPlanes, 256, 4>(random);
    }
}
