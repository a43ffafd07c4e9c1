//! Single items of a fixed-rate stream (`codecs.md` 11): where every cell has the same number of bits, a cell can be
//! decoded alone.
//!
//! Owns which cells a run of items lies in, and when decoding them alone is worth it.

use std::ops::Range;

use zfp_rs::codec::block::decode_block;
use zfp_rs::{ZfpBitStreamRef, ZfpConfig, ZfpDimensionality, ZfpScalar};

use super::memory::Words;
use super::{Array, MAX_DIM, Mode, SIDE, Scalar, Scratch, Shape, Zfp};
use crate::err;
use crate::error::Result;

/// Values of the largest cell.
const MAX_CELL: usize = SIDE.pow(MAX_DIM as u32);
/// Decoding the whole block is taken to cost less than that part of its cells one by one.
const WORTH_PART: usize = 2;

/// The decoder of the cells of one stream.
struct Cells<'a> {
    config: ZfpConfig,
    dimensionality: ZfpDimensionality,
    shape: Shape,
    /// Of each cell.
    bits: usize,
    src: &'a [u8],
}

impl Zfp {
    /// Decodes the items `items` of the block whose stream is `src` into `dest`, which is as large as they are, in
    /// the order of the block. `false` if decoding the whole block is the better way, or the only one (the rate is not
    /// fixed): `dest` is untouched then. The items are those that [`Zfp::decode`] gives.
    ///
    /// # Errors
    /// As the module says; `Failure` also if `dest` has another size. `dest` may have been written to.
    pub fn decode_items(
        self,
        array: Array<'_>,
        scratch: &mut Scratch,
        src: &[u8],
        items: Range<usize>,
        dest: &mut [u8],
    ) -> Result<bool> {
        let shape = Shape::of(array.blockshape)?;
        let scalar = Scalar::of(array.typesize)?;
        if items.end > shape.nitems || items.len().checked_mul(scalar.size()) != Some(dest.len()) {
            let (len, extents) = (dest.len(), shape.extents());
            return Err(err!(Failure, "items {items:?} of blocks of shape {extents:?} in {len} bytes"));
        }
        let worth = shape.ncells().div_ceil(WORTH_PART);
        if self.mode != Mode::Rate
            || items.len().div_ceil(SIDE) > worth
            || rows(&shape, items.clone()).nth(worth).is_some()
        {
            return Ok(false);
        }
        let dimensionality = ZfpDimensionality::try_from(shape.ndim as u32)
            .map_err(|error| err!(Failure, "ZFP of {} dimensions: {error}", shape.ndim))?;
        let bits = self.cell_bits(&shape, scalar) as usize;
        let cells = Cells { config: self.limits(&shape, scalar).config()?, dimensionality, shape, bits, src };
        match scalar {
            Scalar::Float => cells.decode::<f32>(&mut scratch.stream, items, dest)?,
            Scalar::Double => cells.decode::<f64>(&mut scratch.stream, items, dest)?,
        }
        Ok(true)
    }
}

/// Neighbours in one row of one cell.
struct Row {
    /// Number of the cell in the stream.
    cell: usize,
    /// The first of them in the cell.
    start: usize,
    len: usize,
}

/// The rows of cells that consecutive items of a block make, in their order.
fn rows(shape: &Shape, mut items: Range<usize>) -> impl Iterator<Item = Row> {
    std::iter::from_fn(move || {
        if items.is_empty() {
            return None;
        }
        let (mut rest, mut row) = (items.start, Row { cell: 0, start: 0, len: 0 });
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

impl Cells<'_> {
    fn decode<T: ZfpScalar>(
        &self,
        stream: &mut Words,
        items: Range<usize>,
        mut dest: &mut [u8],
    ) -> Result<()> {
        let mut values = [T::default(); MAX_CELL];
        let values = &mut values[..self.shape.cell_len()];
        for row in rows(&self.shape, items) {
            self.decode_cell(stream, row.cell, values)?;
            let bytes: &[u8] = bytemuck::cast_slice(&values[row.start..row.start + row.len]);
            let (out, rest) = dest.split_at_mut(bytes.len());
            out.copy_from_slice(bytes);
            dest = rest;
        }
        Ok(())
    }

    fn decode_cell<T: ZfpScalar>(&self, stream: &mut Words, cell: usize, values: &mut [T]) -> Result<()> {
        if cell >= self.src.len().saturating_mul(8) / self.bits {
            let len = self.src.len();
            return Err(err!(Data, "cell {cell} of {} bits in a ZFP stream of {len} bytes", self.bits));
        }
        let (first, end) = (cell * self.bits, (cell + 1) * self.bits);
        // Whole words, so that the place in the first one stays what it is; the last may be cut short.
        let bytes = first / 64 * 8..(end.div_ceil(64) * 8).min(self.src.len());
        let mut bits = ZfpBitStreamRef::from_words(stream.aligned::<u64>(&self.src[bytes])?);
        bits.seek_read((first % 64) as u64);
        decode_block(&mut bits, &self.config, values, self.dimensionality)
            .map_err(|error| err!(Failure, "ZFP cell {cell}: {error}"))?;
        Ok(())
    }
}
