//! Blocks of two to four dimensions, cell by cell (`codecs.md` 10.2): which values make a cell, at the edges of the
//! block, too.
//!
//! Owns the way between the bytes of a block and cells.

use super::bits::{Reader, Writer};
use super::matrix::{FromPlanes, ToPlanes};
use super::value::Value;
use super::{Limits, MAX_DIM, SIDE, Shape, cell};

/// For cells that the block ends in: from which of the values that are there the missing ones are taken.
const PADDING: [[usize; SIDE]; SIDE] = [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 2, 0], [0, 1, 2, 3]];

/// Where a cell lies: its first byte in the block, and how many of its values along each axis are in the block, fastest
/// axis first.
struct Place {
    start: usize,
    counts: [usize; MAX_DIM],
}

impl Place {
    fn is_whole(&self, ndim: usize) -> bool {
        self.counts[..ndim] == [SIDE; MAX_DIM][..ndim]
    }
}

/// A block as bytes. Axes are counted from the fastest one.
struct Grid {
    ndim: usize,
    extents: [usize; MAX_DIM],
    /// Bytes from one value to the next.
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

    /// Bytes from the first row of a cell to row `row`, whose coordinates along the slower axes are its digits to the
    /// base of 4, and are looked up in `coordinates`.
    fn row(&self, row: usize, coordinates: &[[usize; SIDE]; MAX_DIM]) -> usize {
        (1..self.ndim).map(|axis| coordinates[axis][row >> (2 * (axis - 1)) & 3] * self.strides[axis]).sum()
    }

    /// Visits all cells; `false` as soon as `visit` gives that.
    #[inline(always)]
    fn cells(&self, mut visit: impl FnMut(Place) -> bool) -> bool {
        let [nx, ny, nz, nw] = self.extents;
        let [sx, sy, sz, sw] = self.strides;
        for w in (0..nw).step_by(SIDE) {
            for z in (0..nz).step_by(SIDE) {
                for y in (0..ny).step_by(SIDE) {
                    for x in (0..nx).step_by(SIDE) {
                        let counts = [nx - x, ny - y, nz - z, nw - w].map(|count| count.min(SIDE));
                        if !visit(Place { start: x * sx + y * sy + z * sz + w * sw, counts }) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }
}

/// Most rows of a cell.
const MAX_ROWS: usize = SIDE.pow(MAX_DIM as u32 - 1);

/// Compresses the block `src` of that shape; the length of the stream in bytes, `None` if it does not fit into `dest`.
pub fn encode<T: Value, M: ToPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &Limits,
    shape: &Shape,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    let grid = Grid::new(shape, T::SIZE);
    let whole: [usize; MAX_ROWS] = std::array::from_fn(|row| grid.row(row, &[[0, 1, 2, 3]; MAX_DIM]));
    let mut bits = Writer::new(dest);
    let mut values = [T::default(); N];
    grid.cells(|place| {
        let cell = &src[place.start..];
        if place.is_whole(grid.ndim) {
            for (row, &offset) in values.chunks_exact_mut(SIDE).zip(&whole) {
                read_row(row, &cell[offset..][..SIDE * T::SIZE]);
            }
        } else {
            let sources = place.counts.map(|count| PADDING[count - 1]);
            for (number, row) in values.chunks_exact_mut(SIDE).enumerate() {
                let values = &cell[grid.row(number, &sources)..];
                for (value, &source) in row.iter_mut().zip(&sources[0]) {
                    *value = T::read(&values[source * T::SIZE..]);
                }
            }
        }
        cell::encode::<T, M, N, W>(limits, &values, &mut bits);
        !bits.is_full()
    });
    bits.finish()
}

/// Decompresses into the block `dest` of that shape; `false` if the stream ends too early.
pub fn decode<T: Value, M: FromPlanes<T::Int, N, W>, const N: usize, const W: usize>(
    limits: &Limits,
    shape: &Shape,
    src: &[u8],
    dest: &mut [u8],
) -> bool {
    let grid = Grid::new(shape, T::SIZE);
    let whole: [usize; MAX_ROWS] = std::array::from_fn(|row| grid.row(row, &[[0, 1, 2, 3]; MAX_DIM]));
    let mut bits = Reader::new(src);
    grid.cells(|place| {
        let values = cell::decode::<T, M, N, W>(limits, &mut bits);
        let cell = &mut dest[place.start..];
        if place.is_whole(grid.ndim) {
            for (row, &offset) in values.chunks_exact(SIDE).zip(&whole) {
                write_row(row, &mut cell[offset..][..SIDE * T::SIZE]);
            }
        } else {
            for (number, row) in values.chunks_exact(SIDE).enumerate() {
                let is_there = (1..grid.ndim).all(|axis| number >> (2 * (axis - 1)) & 3 < place.counts[axis]);
                if is_there {
                    write_row(&row[..place.counts[0]], &mut cell[whole[number]..]);
                }
            }
        }
        !bits.is_past_end()
    })
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
