//! Coefficients of a cell <-> planes of their bits: matrices of bits that are turned over, eight by eight bits at a time
//! in every byte of a word.
//!
//! Owns the order of the coefficients, too. A group is eight planes, counted from the highest; plane 0 is the highest of
//! its group. In a plane, bit 0 of word 0 is the first coefficient.

use super::integer::Integer;
use super::order::order;

/// Planes of a group.
pub const GROUP: usize = 8;

/// A group of planes of `W` words each.
pub type Planes<const W: usize> = [[u64; W]; GROUP];

/// The bits of the `N` coefficients of a cell, by planes of `W` words.
pub trait ToPlanes<I: Integer, const N: usize, const W: usize> {
    /// The bits of the coefficients at their places.
    fn of(cell: &[I; N]) -> Self;

    /// A group of planes.
    fn group(&self, group: usize) -> Planes<W>;
}

/// The inverse of [`ToPlanes`].
pub trait FromPlanes<I: Integer, const N: usize, const W: usize> {
    /// All bits 0.
    fn zeros() -> Self;

    /// Sets the bits of a group that are still 0; only the first `significant` coefficients have any.
    fn set(&mut self, group: usize, planes: Planes<W>, significant: usize);

    /// The coefficients at their places, of which only the first `significant` are not 0.
    fn place(self, significant: usize) -> [I; N];
}

/// Swaps the numbers of rows and of bits in every byte.
#[inline(always)]
fn turn<const W: usize>(rows: &mut [[u64; W]; 8]) {
    for word in 0..W {
        for (step, low) in
            [(4, 0x0f0f_0f0f_0f0f_0f0f), (2, 0x3333_3333_3333_3333), (1, 0x5555_5555_5555_5555)]
        {
            for at in (0..8).filter(|at| at & step == 0) {
                let swapped = (rows[at][word] >> step ^ rows[at + step][word]) & low;
                rows[at + step][word] ^= swapped;
                rows[at][word] ^= swapped << step;
            }
        }
    }
}

/// To planes of 16 coefficients: all planes at once.
///
/// Before the turn, row `r` has the coefficients `r` and `8 + r`; afterwards the planes `7 - r` of all groups. Each takes
/// half of the `V` words: of its bytes, the highest belongs to the first group.
pub struct Square<const V: usize>([[u64; V]; 8]);

impl<I: Integer, const V: usize> ToPlanes<I, 16, 1> for Square<V> {
    #[inline(always)]
    fn of(cell: &[I; 16]) -> Self {
        let mut rows = [[0; V]; 8];
        for (at, row) in rows.iter_mut().enumerate() {
            let [first, second] =
                [at, 8 + at].map(|at| cell[usize::from(order::<16>()[at])].to_negabinary().to_top());
            if V == 1 {
                row[0] = first >> 32 | second;
            } else {
                (row[0], row[1]) = (first, second);
            }
        }
        turn(&mut rows);
        Square(rows)
    }

    #[inline(always)]
    fn group(&self, group: usize) -> Planes<1> {
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

/// From planes of 16 coefficients: all coefficients at the same time, at their places.
pub struct Lanes<I>([I; 16]);

/// Which bit of a plane belongs to a place.
const BITS: [u16; 16] = {
    let (mut bits, mut at) = ([0; 16], 0);
    while at < 16 {
        bits[order::<16>()[at] as usize] = 1 << at;
        at += 1;
    }
    bits
};

impl<I: Integer> FromPlanes<I, 16, 1> for Lanes<I> {
    #[inline(always)]
    fn zeros() -> Self {
        Lanes([I::default(); 16])
    }

    #[inline(always)]
    fn set(&mut self, group: usize, planes: Planes<1>, _: usize) {
        // The lanes are the outer loop: so the compiler sees vectors.
        let bytes = BITS.map(|bit| {
            planes.iter().fold(0, |byte, [plane]| byte << 1 | u16::from(*plane as u16 & bit != 0))
        });
        for (number, byte) in self.0.iter_mut().zip(bytes) {
            *number = number.or(I::of_byte(byte as u8, group));
        }
    }

    #[inline(always)]
    fn place(self, _: usize) -> [I; 16] {
        self.0.map(I::from_negabinary)
    }
}

/// Where coefficients of cells of 64 and more stand while they are coded: a turned row is a run of bytes.
///
/// Coefficient `64 w + 8 j + r` stands at `64 w + 8 r + j`, and this is which place it has in the cell.
const fn places<const N: usize>() -> [u8; N] {
    let (mut places, mut at) = ([0; N], 0);
    while at < N {
        places[at] = order::<N>()[at / 64 * 64 + at % 8 * 8 + at / 8 % 8];
        at += 1;
    }
    places
}

/// To planes of 64 and more coefficients: one group after the other.
pub struct LargeNumbers<I, const N: usize>([I; N]);

impl<I: Integer, const N: usize, const W: usize> ToPlanes<I, N, W> for LargeNumbers<I, N> {
    #[inline(always)]
    fn of(cell: &[I; N]) -> Self {
        LargeNumbers(const { places::<N>() }.map(|place| cell[usize::from(place) % N].to_negabinary()))
    }

    #[inline(always)]
    fn group(&self, group: usize) -> Planes<W> {
        let bytes = self.0.map(|number| number.byte(group));
        let mut rows = [[0; W]; GROUP];
        for (word, bytes) in bytes.as_chunks::<64>().0.iter().enumerate() {
            for (row, bytes) in rows.iter_mut().zip(bytes.as_chunks().0) {
                row[word] = u64::from_le_bytes(*bytes);
            }
        }
        turn(&mut rows);
        rows.reverse();
        rows
    }
}

/// From planes of 64 and more coefficients: their bytes, one group after the other.
pub struct LargeBytes<I: Integer, const N: usize> {
    bytes: I::Bytes<[u8; N]>,
    /// Groups that there are.
    groups: usize,
}

/// Groups that are put together at once, to 32 bits.
const QUAD: usize = 4;

impl<I: Integer, const N: usize, const W: usize> FromPlanes<I, N, W> for LargeBytes<I, N> {
    #[inline(always)]
    fn zeros() -> Self {
        LargeBytes { bytes: I::bytes([0; N]), groups: 0 }
    }

    #[inline(always)]
    fn set(&mut self, group: usize, planes: Planes<W>, significant: usize) {
        let mut rows = planes;
        rows.reverse();
        turn(&mut rows);
        self.groups = group + 1;
        let words = self.bytes.as_mut()[group].as_chunks_mut::<64>().0.iter_mut().enumerate();
        for (word, bytes) in words.take(significant.div_ceil(64)) {
            for (row, bytes) in rows.iter().zip(bytes.as_chunks_mut().0) {
                *bytes = row[word].to_le_bytes();
            }
        }
    }

    #[inline(always)]
    fn place(self, significant: usize) -> [I; N] {
        let mut cell = [I::default(); N];
        let places = const { places::<N>() };
        let words = significant.div_ceil(64);
        for (word, places) in places.as_chunks::<64>().0.iter().enumerate().take(words) {
            let quad = |first: usize| -> [u32; 64] {
                let groups: [&[u8]; QUAD] =
                    std::array::from_fn(|group| &self.bytes.as_ref()[first + group][64 * word..][..64]);
                std::array::from_fn(|at| u32::from_be_bytes(groups.map(|bytes| bytes[at])))
            };
            let high = quad(0);
            let numbers: [I; 64] = if self.groups > QUAD {
                let low = quad(QUAD);
                std::array::from_fn(|at| I::from_top(u64::from(high[at]) << 32 | u64::from(low[at])))
            } else {
                high.map(|high| I::from_top(u64::from(high) << 32))
            };
            let numbers = numbers.map(I::from_negabinary);
            for (place, number) in places.iter().zip(numbers) {
                cell[usize::from(*place) % N] = number;
            }
        }
        cell
    }
}
