//! One cell of 16, 64 or 256 values, from values to bits and back (`codecs.md` 10.3 and 10.7).
//!
//! Owns the order of the steps. The position of the cell in the block is handled by the caller.

use super::bits::{Reader, Writer};
use super::integer::Integer;
use super::limits::Limits;
use super::matrix::{FromPlanes, GROUP, Planes, ToPlanes};
use super::value::Value;
use super::{planes, transform};

/// Returns the number of bit planes of a cell of `4^ndim` values with that exponent (`codecs.md` 10.3, step 2).
#[inline(always)]
pub(super) fn planes_of(limits: &Limits, ndim: u32, exponent: i32) -> u32 {
    limits.precision.min((exponent - limits.min_exponent + 2 * ndim as i32 + 2).max(0) as u32)
}

/// Writes a cell, whose planes have `W` words.
#[inline(always)]
pub(super) fn encode<T: Value, M: ToPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &Limits,
    values: &[T; N],
    bits: &mut Writer<'_>,
) {
    let exponent = T::exponent(values);
    let planes = planes_of(limits, N.ilog2() / 2, exponent);
    let biased = if planes > 0 { exponent + T::BIAS } else { 0 };
    if biased == 0 {
        bits.put(0, 1);
        bits.pad(limits.min_bits.saturating_sub(1));
        return;
    }
    bits.put(2 * biased as u64 + 1, T::HEADER_BITS);
    let mut numbers = T::quantise(values, exponent);
    transform::forward(&mut numbers);
    let matrix = M::of(&numbers);
    let budget = limits.max_bits - T::HEADER_BITS;
    let used = planes::encode::<N, W>(|group| matrix.group(group), planes.min(T::WIDTH), budget, bits);
    bits.pad(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
}

/// A buffer for the planes of a cell, reused from cell to cell.
pub(super) type Room<T, const W: usize> = <<T as Value>::Int as Integer>::Bytes<Planes<W>>;

/// Returns the buffer that [`decode`] needs.
pub(super) fn room<T: Value, const W: usize>() -> Room<T, W> {
    T::Int::bytes([[0; W]; GROUP])
}

/// Reads a cell.
#[inline(always)]
pub(super) fn decode<T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &Limits,
    bits: &mut Reader<'_>,
    room: &mut Room<T, W>,
) -> [T; N] {
    bits.need(T::HEADER_BITS);
    let header = bits.ahead() & ((1 << T::HEADER_BITS) - 1);
    if header & 1 == 0 {
        bits.skip(limits.min_bits.max(1));
        return [T::default(); N];
    }
    bits.drop(T::HEADER_BITS);
    let exponent = (header >> 1) as i32 - T::BIAS;
    let planes = planes_of(limits, N.ilog2() / 2, exponent).min(T::WIDTH);
    let budget = limits.max_bits - T::HEADER_BITS;
    let (groups, significant, used) = planes::decode::<N, W>(room.as_mut(), planes, budget, bits);
    bits.skip(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
    let mut numbers = M::place(&room.as_ref()[..groups], significant);
    transform::inverse(&mut numbers);
    T::restore(&numbers, exponent)
}
