//! The filters that put the items of each cell of an array's block next to each other (`filters.md` 10 and 11):
//! ndcell without change, ndmean with each item replaced by the mean of its cell.
//!
//! Owns the geometry of cells and the iteration over them. The shape of the block comes from the caller.

#![forbid(unsafe_code)]

use crate::chunk::Container;
use crate::err;
use crate::error::{ErrorKind, Result, to_kind};
use std::mem;

/// The largest number of dimensions of cells.
const MAX_CELL_DIM: usize = 8;

/// The checked geometry of a block and its cells.
struct CellGrid {
    ndim: usize,
    /// The number of items along each dimension of the block.
    extents: [usize; MAX_CELL_DIM],
    /// The number of items along each dimension of a whole cell.
    sides: [usize; MAX_CELL_DIM],
    /// The distance of neighbours along each dimension, in bytes.
    strides: [usize; MAX_CELL_DIM],
    typesize: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellFilter {
    /// The items do not change.
    NdCell,
    /// Each item is replaced by the mean of its cell: floats for items of 4 bytes, doubles for 8. Cells are no longer
    /// than the block along any dimension.
    NdMean,
}

impl CellFilter {
    /// Puts the cells of `src`, an array's block of items of `typesize` bytes, one after another into `dest`; the cells
    /// have `side` items along each dimension.
    ///
    /// # Errors
    /// `FilterPipeline` where the array, its block or the cells do not fit together (`filters.md` 10), and for other
    /// item sizes of [`NdMean`](Self::NdMean) than 4 and 8.
    pub(crate) fn encode(
        self,
        side: u8,
        typesize: usize,
        container: Option<&Container>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<()> {
        let cells =
            self.grid(side, typesize, container, src.len()).map_err(to_kind(ErrorKind::FilterPipeline))?;
        match (self, typesize) {
            (CellFilter::NdCell, _) => cells.gather(src, dest),
            (CellFilter::NdMean, 4) => {
                cells.gather_means(src, dest, add_f32, |sum| f32::from_ne_bytes(sum).is_nan(), divide_f32)
            }
            (CellFilter::NdMean, 8) => {
                cells.gather_means(src, dest, add_f64, |sum| f64::from_ne_bytes(sum).is_nan(), divide_f64)
            }
            _ => return Err(err!(FilterPipeline, "{self:?}: `typesize` is {typesize}, expected 4 or 8")),
        }
        Ok(())
    }

    /// Puts the items of a block from [`encode`](Self::encode) back to their positions, for the array that `container`
    /// describes, item size included.
    ///
    /// # Errors
    /// `Failure` where the array, its block or the cells do not fit together.
    pub(crate) fn decode(
        self,
        side: u8,
        container: Option<&Container>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<()> {
        let typesize = container.and_then(|container| match self {
            CellFilter::NdCell => usize::try_from(container.typesize).ok(),
            // The reference converts the item size to a signed byte here.
            CellFilter::NdMean => usize::try_from(container.typesize as i8).ok(),
        });
        self.grid(side, typesize.unwrap_or(0), container, src.len())?.scatter(src, dest);
        Ok(())
    }

    /// Returns the cells of a block of `nbytes` bytes.
    fn grid(
        self,
        side: u8,
        typesize: usize,
        container: Option<&Container>,
        nbytes: usize,
    ) -> Result<CellGrid> {
        let cells = match self {
            CellFilter::NdCell => CellGrid::for_ndcell(side, typesize, container, nbytes),
            CellFilter::NdMean => CellGrid::for_ndmean(side, typesize, container, nbytes),
        };
        cells.ok_or_else(|| {
            err!(Failure, "{self:?}: cells of side {side} in a block of {nbytes} bytes of {container:?}")
        })
    }
}

impl CellGrid {
    /// Returns the cells of ndcell. They may be longer than the block along one dimension, but have no more items
    /// than the block.
    fn for_ndcell(
        side: u8,
        typesize: usize,
        container: Option<&Container>,
        nbytes: usize,
    ) -> Option<CellGrid> {
        let side = usize::from(side);
        let cells = CellGrid::new(side, typesize, container, nbytes)?;
        let volume = i64::try_from(side).ok()?.checked_pow(cells.ndim as u32)?;
        (volume <= (nbytes / typesize) as i64).then_some(cells)
    }

    /// Returns the cells of ndmean. The reference uses the side along the first dimension also for the other
    /// dimensions when it computes the position of the next cell. Where that makes a difference, it writes blocks
    /// that no reader can decode (`filters.md` D7); `None` then.
    fn for_ndmean(
        side: u8,
        typesize: usize,
        container: Option<&Container>,
        nbytes: usize,
    ) -> Option<CellGrid> {
        let side = usize::try_from(side as i8).ok()?;
        let mut cells = CellGrid::new(side, typesize, container, nbytes)?;
        for (side, &extent) in cells.sides.iter_mut().zip(&cells.extents) {
            *side = extent.min(*side);
        }
        let reached = cells.sides[0] == side;
        let mut others = cells.extents.iter().zip(&cells.sides).skip(1);
        (reached || others.all(|(extent, side)| extent <= side)).then_some(cells)
    }

    /// Returns cells of `side` items along each dimension, in a block of exactly `nbytes` bytes.
    fn new(side: usize, typesize: usize, container: Option<&Container>, nbytes: usize) -> Option<CellGrid> {
        let shape = container?.blockshape?;
        let ndim = shape.extents().len();
        if !(1..=MAX_CELL_DIM).contains(&ndim) || side == 0 || typesize == 0 {
            return None;
        }
        let (there, given) = shape.checked_extents(typesize, nbytes)?;
        if there != nbytes {
            return None;
        }
        let mut cells = CellGrid {
            ndim,
            extents: [1; MAX_CELL_DIM],
            sides: [1; MAX_CELL_DIM],
            strides: [0; MAX_CELL_DIM],
            typesize,
        };
        let mut stride = typesize;
        for dim in (0..ndim).rev() {
            cells.extents[dim] = given[dim];
            cells.sides[dim] = side;
            cells.strides[dim] = stride;
            stride *= given[dim];
        }
        Some(cells)
    }

    /// Calls `visit` for the cells in row-major order, with the offset of the cell in the block, in bytes, and its
    /// number of items along each dimension.
    #[inline(always)]
    fn for_each_cell(&self, mut visit: impl FnMut(usize, &[usize; MAX_CELL_DIM])) {
        let last = self.ndim - 1;
        // The start of the cell along each dimension but the last one, in items.
        let mut place = [0; MAX_CELL_DIM];
        loop {
            let mut origin = 0;
            let mut items = [1; MAX_CELL_DIM];
            for dim in 0..last {
                origin += place[dim] * self.strides[dim];
                items[dim] = self.sides[dim].min(self.extents[dim] - place[dim]);
            }
            for at in (0..self.extents[last]).step_by(self.sides[last]) {
                items[last] = self.sides[last].min(self.extents[last] - at);
                visit(origin + at * self.typesize, &items);
            }
            let mut dim = last;
            loop {
                if dim == 0 {
                    return;
                }
                dim -= 1;
                place[dim] += self.sides[dim];
                if place[dim] < self.extents[dim] {
                    break;
                }
                place[dim] = 0;
            }
        }
    }

    /// Calls `visit` for the rows of a cell along the last dimension, with the offset of each row in the block, in
    /// bytes.
    #[inline(always)]
    fn for_each_row(&self, origin: usize, items: &[usize; MAX_CELL_DIM], mut visit: impl FnMut(usize)) {
        let last = self.ndim - 1;
        if last == 0 {
            visit(origin);
            return;
        }
        let (rows, stride) = (items[last - 1], self.strides[last - 1]);
        let mut place = [0; MAX_CELL_DIM];
        let mut start = origin;
        loop {
            for row in 0..rows {
                visit(start + row * stride);
            }
            let mut dim = last - 1;
            loop {
                if dim == 0 {
                    return;
                }
                dim -= 1;
                place[dim] += 1;
                start += self.strides[dim];
                if place[dim] < items[dim] {
                    break;
                }
                start -= place[dim] * self.strides[dim];
                place[dim] = 0;
            }
        }
    }

    // Not inlined, so that its code does not depend on that of its caller.
    #[inline(never)]
    fn gather(&self, src: &[u8], dest: &mut [u8]) {
        let mut rest = dest;
        self.for_each_cell(|origin, items| {
            let cell = Cell { cells: self, origin, items };
            match items[self.ndim - 1] * self.typesize {
                4 => cell.gather_rows_of::<4>(src, &mut rest),
                8 => cell.gather_rows_of::<8>(src, &mut rest),
                16 => cell.gather_rows_of::<16>(src, &mut rest),
                32 => cell.gather_rows_of::<32>(src, &mut rest),
                64 => cell.gather_rows_of::<64>(src, &mut rest),
                len => self.for_each_row(origin, items, |start| {
                    let (row, behind) = mem::take(&mut rest).split_at_mut(len);
                    row.copy_from_slice(&src[start..start + len]);
                    rest = behind;
                }),
            }
        });
    }

    #[inline(never)]
    fn scatter(&self, src: &[u8], dest: &mut [u8]) {
        let mut rest = src;
        self.for_each_cell(|origin, items| {
            let cell = Cell { cells: self, origin, items };
            match items[self.ndim - 1] * self.typesize {
                4 => cell.scatter_rows_of::<4>(&mut rest, dest),
                8 => cell.scatter_rows_of::<8>(&mut rest, dest),
                16 => cell.scatter_rows_of::<16>(&mut rest, dest),
                32 => cell.scatter_rows_of::<32>(&mut rest, dest),
                64 => cell.scatter_rows_of::<64>(&mut rest, dest),
                len => self.for_each_row(origin, items, |start| {
                    let (row, behind) = rest.split_at(len);
                    dest[start..start + len].copy_from_slice(row);
                    rest = behind;
                }),
            }
        });
    }

    /// Adds the items of a cell of `src` one by one, from 0 on.
    #[inline(always)]
    fn sum_of_cell<const T: usize>(
        &self,
        origin: usize,
        items: &[usize; MAX_CELL_DIM],
        src: &[u8],
        add: impl Fn([u8; T], [u8; T]) -> [u8; T],
    ) -> [u8; T] {
        let len = items[self.ndim - 1] * T;
        let mut sum = [0; T];
        self.for_each_row(origin, items, |start| {
            for item in src[start..start + len].as_chunks::<T>().0 {
                sum = add(sum, *item);
            }
        });
        sum
    }

    fn gather_means<const T: usize>(
        &self,
        src: &[u8],
        dest: &mut [u8],
        add: impl Fn([u8; T], [u8; T]) -> [u8; T],
        is_nan: impl Fn([u8; T]) -> bool,
        divide: impl Fn([u8; T], usize) -> [u8; T],
    ) {
        let (mut rest, _) = dest.as_chunks_mut::<T>();
        self.for_each_cell(|origin, items| {
            let mut sum = self.sum_of_cell(origin, items, src, &add);
            if is_nan(sum) {
                // As in the reference, the first NaN stays: `+` returns either of two NaNs, as the compiler orders them.
                let add = |sum, item| if is_nan(sum) { sum } else { add(sum, item) };
                sum = self.sum_of_cell(origin, items, src, add);
            }
            let count = items.iter().product();
            let (cell, behind) = mem::take(&mut rest).split_at_mut(count);
            cell.fill(divide(sum, count));
            rest = behind;
        });
    }
}

/// One cell of a block. Rows of a common length, `N` bytes, are copied with that length as a constant.
struct Cell<'a> {
    cells: &'a CellGrid,
    /// The offset of the cell in the block, in bytes.
    origin: usize,
    /// The number of items along each dimension.
    items: &'a [usize; MAX_CELL_DIM],
}

impl Cell<'_> {
    /// Copies the rows from the block `src` to the start of `rest`, and moves `rest` behind them.
    #[inline(always)]
    fn gather_rows_of<const N: usize>(&self, src: &[u8], rest: &mut &mut [u8]) {
        self.cells.for_each_row(self.origin, self.items, |start| {
            let (row, behind) = mem::take(rest).split_first_chunk_mut::<N>().expect(IN_BLOCK);
            *row = *src[start..].first_chunk::<N>().expect(IN_BLOCK);
            *rest = behind;
        });
    }

    /// Copies the rows from the start of `rest` to the block `dest`, and moves `rest` behind them.
    #[inline(always)]
    fn scatter_rows_of<const N: usize>(&self, rest: &mut &[u8], dest: &mut [u8]) {
        self.cells.for_each_row(self.origin, self.items, |start| {
            let (row, behind) = rest.split_first_chunk::<N>().expect(IN_BLOCK);
            *dest[start..].first_chunk_mut::<N>().expect(IN_BLOCK) = *row;
            *rest = behind;
        });
    }
}

const IN_BLOCK: &str = "the rows of all cells have as many bytes as the block";

/// Adds floats. The items are added one by one, so that the sum is the same on every machine.
fn add_f32(a: [u8; 4], b: [u8; 4]) -> [u8; 4] {
    (f32::from_ne_bytes(a) + f32::from_ne_bytes(b)).to_ne_bytes()
}

fn divide_f32(sum: [u8; 4], count: usize) -> [u8; 4] {
    (f32::from_ne_bytes(sum) / count as f32).to_ne_bytes()
}

fn add_f64(a: [u8; 8], b: [u8; 8]) -> [u8; 8] {
    (f64::from_ne_bytes(a) + f64::from_ne_bytes(b)).to_ne_bytes()
}

fn divide_f64(sum: [u8; 8], count: usize) -> [u8; 8] {
    (f64::from_ne_bytes(sum) / count as f64).to_ne_bytes()
}

#[cfg(test)]
mod tests;
