//! Decodes single items of a fixed-rate stream (`codecs.md` 11): where every cell has the same number of bits, a cell
//! can be decoded alone.
//!
//! Determines which cells hold a run of items, and whether decoding them alone is worthwhile.

use std::ops::Range;

use super::bit_transpose::{FromPlanes, LargeCellFromPlanes, SmallCellFromPlanes};
use super::bits::ZfpBitReader;
use super::limits::CellLimits;
use super::shape::{SIDE, Scalar, Shape};
use super::simd_dispatch::dispatch_simd;
use super::value::Value;
use super::{Mode, Zfp, ZfpGeometry, cell, cell_1d};
use crate::error::{Result, err};

/// The whole block is decoded if more than one in this number of its cells would have to be decoded one by one.
const WHOLE_BLOCK_DIVISOR: usize = 2;

struct CellDecoder<'a> {
    limits: CellLimits,
    shape: Shape,
    cell_bits: usize,
    src: &'a [u8],
}

impl Zfp {
    /// Decodes the items `items` of the block whose stream is `src` into `dest`, which has their size, in the order
    /// of the block. Returns `false`, with `dest` unchanged, if decoding the whole block is faster or necessary (the
    /// rate is not fixed). The items are equal to those of [`Zfp::decode`].
    ///
    /// # Errors
    /// As the module says; `Failure` also if `dest` has another size. `dest` may have been written to.
    pub fn decode_items(
        self,
        geometry: ZfpGeometry<'_>,
        src: &[u8],
        items: Range<usize>,
        dest: &mut [u8],
    ) -> Result<bool> {
        let shape = Shape::from_blockshape(geometry.blockshape)?;
        let scalar = Scalar::from_typesize(geometry.typesize)?;
        if items.end > shape.nitems || items.len().checked_mul(scalar.size()) != Some(dest.len()) {
            let (len, extents) = (dest.len(), shape.extents());
            return Err(err!(
                Failure,
                "ZFP: items {items:?} of blocks of shape {extents:?} do not exist or do not have {len} bytes"
            ));
        }
        let worth = shape.ncells().div_ceil(WHOLE_BLOCK_DIVISOR);
        if self.mode != Mode::Rate
            || items.len().div_ceil(SIDE) > worth
            || cell_rows(&shape, items.clone()).nth(worth).is_some()
        {
            return Ok(false);
        }
        let bits = self.cell_bits(&shape, scalar) as usize;
        let decoder = CellDecoder { limits: self.limits(&shape, scalar), shape, cell_bits: bits, src };
        match scalar {
            Scalar::Float => decoder.decode::<f32>(items, dest)?,
            Scalar::Double => decoder.decode::<f64>(items, dest)?,
        }
        Ok(true)
    }
}

/// Consecutive values in one row of one cell.
struct CellRow {
    cell: usize,
    /// The index of the first value in the cell.
    start: usize,
    len: usize,
}

/// Returns the rows of cells that consecutive items of a block consist of, in their order.
fn cell_rows(shape: &Shape, mut items: Range<usize>) -> impl Iterator<Item = CellRow> {
    std::iter::from_fn(move || {
        if items.is_empty() {
            return None;
        }
        let (mut rest, mut row) = (items.start, CellRow { cell: 0, start: 0, len: 0 });
        let (mut cells, mut values) = (1, 1);
        for (axis, &extent) in shape.extents().iter().enumerate().rev() {
            let coordinate = rest % extent;
            rest /= extent;
            row.cell += coordinate / SIDE * cells;
            row.start += coordinate % SIDE * values;
            cells *= extent.div_ceil(SIDE);
            values *= SIDE;
            if axis + 1 == shape.ndim {
                row.len = (SIDE - coordinate % SIDE).min(extent - coordinate).min(items.len());
            }
        }
        items.start += row.len;
        Some(row)
    })
}

impl CellDecoder<'_> {
    fn decode<T: Value>(&self, items: Range<usize>, dest: &mut [u8]) -> Result<()> {
        match self.shape.ndim {
            1 => {
                self.decode_rows(items, dest, (), |limits, bits, ()| cell_1d::decode_cell::<T>(limits, bits))
            }
            2 => decode_cells::<T, SmallCellFromPlanes, 16, 1>(self, items, dest),
            3 => decode_cells::<T, LargeCellFromPlanes, 64, 1>(self, items, dest),
            _ => decode_cells::<T, LargeCellFromPlanes, 256, 4>(self, items, dest),
        }
    }

    #[inline(always)]
    fn decode_rows<T: Value, R, const N: usize>(
        &self,
        items: Range<usize>,
        mut dest: &mut [u8],
        mut plane_buffer: R,
        decode: impl Fn(&CellLimits, &mut ZfpBitReader<'_>, &mut R) -> [T; N],
    ) -> Result<()> {
        let ncells = self.src.len().saturating_mul(8) / self.cell_bits;
        for row in cell_rows(&self.shape, items) {
            if row.cell >= ncells {
                let (cell, bits, len) = (row.cell, self.cell_bits, self.src.len());
                return Err(err!(Data, "cell {cell} of {bits} bits is behind a ZFP stream of {len} bytes"));
            }
            let bits = &mut ZfpBitReader::from_bit(self.src, row.cell * self.cell_bits);
            let values = decode(&self.limits, bits, &mut plane_buffer);
            let (out, rest) = dest.split_at_mut(row.len * T::SIZE);
            for (value, bytes) in values[row.start..][..row.len].iter().zip(out.chunks_exact_mut(T::SIZE)) {
                value.write(bytes);
            }
            dest = rest;
        }
        Ok(())
    }
}

dispatch_simd! {
    fn decode_cells<[T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize], [T, M, N, W]>(
        decoder: &CellDecoder<'_>,
        items: Range<usize>,
        dest: &mut [u8],
    ) -> Result<()> = decode_cells_inline
}

#[inline(always)]
fn decode_cells_inline<T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    decoder: &CellDecoder<'_>,
    items: Range<usize>,
    dest: &mut [u8],
) -> Result<()> {
    decoder.decode_rows(items, dest, cell::new_plane_buffer::<T, W>(), cell::decode::<T, M, N, W>)
}
