//! One cell of 16, 64 or 256 values, from values to bits and back (`codecs.md` 10.3 and 10.7).
//!
//! Owns the order of the steps. The position of the cell in the block is handled by the caller.

use super::bit_transpose::{FromPlanes, PLANES_PER_GROUP, PlaneGroup, ToPlanes};
use super::bits::{ZfpBitReader, ZfpBitWriter};
use super::integer::Integer;
use super::limits::CellLimits;
use super::value::Value;
use super::{plane_coder, transform};

/// Returns the number of bit planes of a cell of `4^ndim` values with that exponent (`codecs.md` 10.3, step 2).
#[inline(always)]
pub(super) fn plane_count(limits: &CellLimits, ndim: u32, exponent: i32) -> u32 {
    limits.precision.min((exponent - limits.min_exponent + 2 * ndim as i32 + 2).max(0) as u32)
}

/// Writes a cell, whose planes have `W` words.
#[inline(always)]
pub(super) fn encode<T: Value, M: ToPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &CellLimits,
    values: &[T; N],
    bits: &mut ZfpBitWriter<'_>,
) {
    let exponent = T::exponent(values);
    let planes = plane_count(limits, N.ilog2() / 2, exponent);
    let biased = if planes > 0 { exponent + T::BIAS } else { 0 };
    if biased == 0 {
        bits.write_bits(0, 1);
        bits.pad(limits.min_bits.saturating_sub(1));
        return;
    }
    bits.write_bits(2 * biased as u64 + 1, T::HEADER_BITS);
    let mut numbers = T::quantise(values, exponent);
    transform::forward(&mut numbers);
    let matrix = M::from_cell(&numbers);
    let budget = limits.max_bits - T::HEADER_BITS;
    let used = plane_coder::encode::<N, W>(|group| matrix.group(group), planes.min(T::WIDTH), budget, bits);
    bits.pad(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
}

/// A buffer for the planes of a cell, reused from cell to cell.
pub(super) type PlaneBuffer<T, const W: usize> = <<T as Value>::Int as Integer>::Bytes<PlaneGroup<W>>;

/// Returns the buffer that [`decode`] needs.
pub(super) fn new_plane_buffer<T: Value, const W: usize>() -> PlaneBuffer<T, W> {
    T::Int::bytes([[0; W]; PLANES_PER_GROUP])
}

#[inline(always)]
pub(super) fn decode<T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &CellLimits,
    bits: &mut ZfpBitReader<'_>,
    plane_buffer: &mut PlaneBuffer<T, W>,
) -> [T; N] {
    bits.ensure_bits(T::HEADER_BITS);
    let header = bits.peek() & ((1 << T::HEADER_BITS) - 1);
    if header & 1 == 0 {
        bits.skip(limits.min_bits.max(1));
        return [T::default(); N];
    }
    bits.consume(T::HEADER_BITS);
    let exponent = (header >> 1) as i32 - T::BIAS;
    let planes = plane_count(limits, N.ilog2() / 2, exponent).min(T::WIDTH);
    let budget = limits.max_bits - T::HEADER_BITS;
    let (groups, significant, used) =
        plane_coder::decode::<N, W>(plane_buffer.as_mut(), planes, budget, bits);
    bits.skip(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
    let mut numbers = M::to_cell(&plane_buffer.as_ref()[..groups], significant);
    transform::inverse(&mut numbers);
    T::dequantise(&numbers, exponent)
}
