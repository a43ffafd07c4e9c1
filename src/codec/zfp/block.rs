//! Blocks of two to four dimensions, cell by cell (`codecs.md` 10.2): the values that make a cell, also at the edges
//! of the block.
//!
//! Owns the conversion between the bytes of a block and cells.

use super::bit_transpose::{FromPlanes, ToPlanes};
use super::bits::{ZfpBitReader, ZfpBitWriter};
use super::cell;
use super::limits::CellLimits;
use super::shape::{MAX_DIM, SIDE, Shape};
use super::simd_dispatch::dispatch_simd;
use super::value::Value;

/// For cells that extend beyond the block: the index of the existing value that each value is copied from, by the
/// number of existing values.
const PADDING: [[usize; SIDE]; SIDE] = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 1, 2, 3]];

/// The position of a cell: its first byte in the block, and the number of its values along each axis that are in the
/// block, fastest axis first.
struct CellPosition {
    start: usize,
    counts: [usize; MAX_DIM],
}

impl CellPosition {
    /// Returns whether all `N` values of the cell are in the block.
    #[inline(always)]
    fn is_whole<const N: usize>(&self) -> bool {
        self.counts.into_iter().product::<usize>() == N
    }
}

/// The layout of a block. Axes are counted from the fastest one.
struct Grid {
    ndim: usize,
    extents: [usize; MAX_DIM],
    /// The distance from one value to the next along each axis, in bytes.
    strides: [usize; MAX_DIM],
}

impl Grid {
    fn new(shape: &Shape, size: usize) -> Grid {
        let mut grid = Grid { ndim: shape.ndim, extents: [1; MAX_DIM], strides: [0; MAX_DIM] };
        let mut stride = size;
        for (axis, &extent) in shape.extents().iter().rev().enumerate() {
            (grid.extents[axis], grid.strides[axis]) = (extent, stride);
            stride *= extent;
        }
        grid
    }

    /// Returns the distance in bytes from the first row of a cell to row `row`, whose coordinates along the slower
    /// axes are its digits in base 4 and are mapped by `coordinates`.
    fn row_offset(&self, row: usize, coordinates: &[[usize; SIDE]; MAX_DIM]) -> usize {
        (1..self.ndim).map(|axis| coordinates[axis][row >> (2 * (axis - 1)) & 3] * self.strides[axis]).sum()
    }

    /// Returns the positions of all cells in their order.
    #[inline(always)]
    fn cells(&self) -> impl Iterator<Item = CellPosition> {
        let mut corner = [0; MAX_DIM];
        std::iter::from_fn(move || {
            if corner[MAX_DIM - 1] >= self.extents[MAX_DIM - 1] {
                return None;
            }
            let start = corner.iter().zip(self.strides).map(|(at, stride)| at * stride).sum();
            let counts = std::array::from_fn(|axis| (self.extents[axis] - corner[axis]).min(SIDE));
            let last = MAX_DIM - 1;
            for (axis, at) in corner.iter_mut().enumerate() {
                *at += SIDE;
                if *at < self.extents[axis] || axis == last {
                    break;
                }
                *at = 0;
            }
            Some(CellPosition { start, counts })
        })
    }
}

/// The largest number of rows of a cell.
const MAX_ROWS: usize = SIDE.pow(MAX_DIM as u32 - 1);

dispatch_simd! {
    /// Compresses the block `src` of that shape. Returns the length of the stream in bytes, `None` if it does not fit
    /// into `dest`.
    pub(super) fn encode<[T: Value, M: ToPlanes<T::Int, N, W>, const N: usize, const W: usize], [T, M, N, W]>(
        limits: &CellLimits,
        shape: &Shape,
        src: &[u8],
        dest: &mut [u8],
    ) -> Option<usize> = encode_cells
}

#[inline(always)]
fn encode_cells<T: Value, M: ToPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &CellLimits,
    shape: &Shape,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    let grid = Grid::new(shape, T::SIZE);
    let whole: [usize; MAX_ROWS] = std::array::from_fn(|row| grid.row_offset(row, &[[0, 1, 2, 3]; MAX_DIM]));
    let mut bits = ZfpBitWriter::new(dest);
    let mut values = [T::default(); N];
    for position in grid.cells() {
        let cell = &src[position.start..];
        if position.is_whole::<N>() {
            for (row, &offset) in values.chunks_exact_mut(SIDE).zip(&whole) {
                read_row(row, &cell[offset..][..SIDE * T::SIZE]);
            }
        } else {
            let sources = position.counts.map(|count| PADDING[count - 1]);
            for (number, row) in values.chunks_exact_mut(SIDE).enumerate() {
                let values = &cell[grid.row_offset(number, &sources)..];
                for (value, &source) in row.iter_mut().zip(&sources[0]) {
                    *value = T::read(&values[source * T::SIZE..]);
                }
            }
        }
        cell::encode::<T, M, N, W>(limits, &values, &mut bits);
        if bits.is_full() {
            return None;
        }
    }
    bits.finish()
}

dispatch_simd! {
    /// Decompresses into the block `dest` of that shape. Returns `false` if the stream ends too early.
    pub(super) fn decode<[T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize], [T, M, N, W]>(
        limits: &CellLimits,
        shape: &Shape,
        src: &[u8],
        dest: &mut [u8],
    ) -> bool = decode_cells
}

#[inline(always)]
fn decode_cells<T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &CellLimits,
    shape: &Shape,
    src: &[u8],
    dest: &mut [u8],
) -> bool {
    let grid = Grid::new(shape, T::SIZE);
    let whole: [usize; MAX_ROWS] = std::array::from_fn(|row| grid.row_offset(row, &[[0, 1, 2, 3]; MAX_DIM]));
    let (mut bits, mut plane_buffer) = (ZfpBitReader::new(src), cell::new_plane_buffer::<T, W>());
    for position in grid.cells() {
        let values = cell::decode::<T, M, N, W>(limits, &mut bits, &mut plane_buffer);
        let cell = &mut dest[position.start..];
        if position.is_whole::<N>() {
            for (row, &offset) in values.chunks_exact(SIDE).zip(&whole) {
                write_row(row, &mut cell[offset..][..SIDE * T::SIZE]);
            }
        } else {
            for (number, row) in values.chunks_exact(SIDE).enumerate() {
                let is_there =
                    (1..grid.ndim).all(|axis| number >> (2 * (axis - 1)) & 3 < position.counts[axis]);
                if is_there {
                    write_row(&row[..position.counts[0]], &mut cell[whole[number]..]);
                }
            }
        }
        if bits.is_past_end() {
            return false;
        }
    }
    true
}

#[inline(always)]
fn read_row<T: Value>(values: &mut [T], bytes: &[u8]) {
    for (value, bytes) in values.iter_mut().zip(bytes.chunks_exact(T::SIZE)) {
        *value = T::read(bytes);
    }
}

#[inline(always)]
fn write_row<T: Value>(values: &[T], bytes: &mut [u8]) {
    for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(T::SIZE)) {
        value.write(bytes);
    }
}
