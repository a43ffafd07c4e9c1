//! ZFP streams of one dimension (`codecs.md` 10): a cell is four values, a bit plane four bits, whose code is a table
//! lookup.
//!
//! Owns the coding of cells of one dimension from values to bits and back. The limits come from the caller.

mod planes;

use super::bits::{ZfpBitReader, ZfpBitWriter};
use super::integer::Integer;
use super::limits::CellLimits;
use super::simd_dispatch::dispatch_simd;
use super::transform;
use super::value::Value;
use planes::VALUES_PER_CELL;

/// Returns the number of bit planes of a cell with that exponent.
#[inline(always)]
fn plane_count(limits: &CellLimits, exponent: i32) -> u32 {
    super::cell::plane_count(limits, 1, exponent)
}

dispatch_simd! {
    /// Compresses the values at `src`. Returns the length of the stream in bytes, `None` if it does not fit into
    /// `dest`.
    pub(super) fn encode<[T: Value], [T]>(limits: &CellLimits, src: &[u8], dest: &mut [u8]) -> Option<usize> = encode_cells
}

#[inline(always)]
fn encode_cells<T: Value>(limits: &CellLimits, src: &[u8], dest: &mut [u8]) -> Option<usize> {
    let mut bits = ZfpBitWriter::new(dest);
    let cells = src.chunks_exact(VALUES_PER_CELL * T::SIZE);
    let rest = cells.remainder();
    for cell in cells {
        encode_cell::<T>(limits, &std::array::from_fn(|at| T::read(&cell[at * T::SIZE..])), &mut bits);
        if bits.is_full() {
            return None;
        }
    }
    if !rest.is_empty() {
        // Missing values repeat the existing ones, from the first on (`codecs.md` 10.2).
        let count = rest.len() / T::SIZE;
        let source = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0]][count.clamp(1, 3) - 1];
        let cell = source.map(|at| T::read(&rest[at * T::SIZE..]));
        encode_cell::<T>(limits, &cell, &mut bits);
    }
    bits.finish()
}

#[inline(always)]
fn encode_cell<T: Value>(limits: &CellLimits, values: &[T; VALUES_PER_CELL], bits: &mut ZfpBitWriter<'_>) {
    let exponent = T::exponent(values);
    let planes = plane_count(limits, exponent);
    let biased = if planes > 0 { exponent + T::BIAS } else { 0 };
    if biased == 0 {
        bits.write_bits(0, 1);
        bits.pad(limits.min_bits.saturating_sub(1));
        return;
    }
    bits.write_bits(2 * biased as u64 + 1, T::HEADER_BITS);
    let budget = limits.max_bits - T::HEADER_BITS;
    let mut numbers = T::quantise(values, exponent);
    transform::forward(&mut numbers);
    let coded = numbers.map(|number| number.to_negabinary().to_top());
    let used = planes::encode(&coded, planes.min(T::WIDTH), budget, bits);
    bits.pad(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
}

dispatch_simd! {
    /// Decompresses into the values of `dest`. Returns `false` if the stream ends too early.
    pub(super) fn decode<[T: Value], [T]>(limits: &CellLimits, src: &[u8], dest: &mut [u8]) -> bool = decode_cells
}

#[inline(always)]
fn decode_cells<T: Value>(limits: &CellLimits, src: &[u8], dest: &mut [u8]) -> bool {
    let mut bits = ZfpBitReader::new(src);
    for cell in dest.chunks_mut(VALUES_PER_CELL * T::SIZE) {
        let values = decode_cell::<T>(limits, &mut bits);
        for (out, value) in cell.chunks_exact_mut(T::SIZE).zip(values) {
            value.write(out);
        }
        if bits.is_past_end() {
            return false;
        }
    }
    true
}

#[inline(always)]
pub(super) fn decode_cell<T: Value>(
    limits: &CellLimits,
    bits: &mut ZfpBitReader<'_>,
) -> [T; VALUES_PER_CELL] {
    bits.ensure_bits(T::HEADER_BITS);
    let header = bits.peek() & ((1 << T::HEADER_BITS) - 1);
    if header & 1 == 0 {
        bits.skip(limits.min_bits.max(1));
        return [T::default(); VALUES_PER_CELL];
    }
    bits.consume(T::HEADER_BITS);
    let exponent = (header >> 1) as i32 - T::BIAS;
    let planes = plane_count(limits, exponent).min(T::WIDTH);
    let (values, used) = planes::decode(planes, limits.max_bits - T::HEADER_BITS, bits);
    bits.skip(limits.min_bits.saturating_sub(T::HEADER_BITS + used));
    let mut numbers = values.map(|bits| T::Int::from_top(bits).of_negabinary());
    transform::inverse(&mut numbers);
    T::dequantise(&numbers, exponent)
}
