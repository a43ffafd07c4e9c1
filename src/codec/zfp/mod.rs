//! ZFP streams (`codecs.md` 9 to 11): blocks of floats or doubles in 1 to 4 dimensions, compressed with loss.
//!
//! Owns the coding of the bytes of one block by the three codecs 33, 34 and 35, and of the items of a fixed-rate
//! stream. Codec ids, the registry and super-chunks belong to the callers: the array's block shape and the type size
//! are passed as a [`ZfpGeometry`].
//!
//! Streams are bit for bit those of the reference's zfp 1.0.1, with one exception. Cells of tiny magnitude, whose
//! values the reference destroys, are scaled in two steps (`codecs.md` 10.9); the reference reads the result
//! correctly.
//!
//! | file | owns |
//! |---|---|
//! | `block` | which values of a block make a cell |
//! | `cell` | the steps from a cell's values to bits and back |
//! | `value`, `integer`, `transform` | floats as whole numbers; the transform |
//! | `bit_transpose`, `order` | coefficients, their order, and the planes of their bits |
//! | `plane_coder` | the embedded coder of planes |
//! | `cell_1d` | planes and their coder for one-dimensional cells, with lookup tables |
//! | `bits` | streams of bits |
//! | `items` | single items at a fixed rate |
//! | `simd_dispatch` | the instruction sets that the coders are compiled for |
//!
//! # Results in special cases
//!
//! | case | [`Zfp::encode`] | [`Zfp::decode`] | [`Zfp::decode_items`] |
//! |---|---|---|---|
//! | not 1 to 4 dimensions | `Failure` | `Failure` | `Failure` |
//! | an extent of the block below 1 | `Failure` | `Failure` | `Failure` |
//! | an extent of the block below 4 | `Failure` | accepted | accepted |
//! | the block shape is not the buffer's size | 0, before the type size is checked | `Failure` | `Failure` if items lie outside |
//! | the type size is neither 4 nor 8 | `Failure` | `Failure` | `Failure` |
//! | the result is not smaller than the source, or does not fit | 0 | | |
//! | the stream ends too early | | `Data` | `Data` if it lacks bits of the items |
//!
//! If the last word of a stream is incomplete, the missing bytes count as zeros (`codecs.md` 10.8).
//!
//! A result of 0 means that the block has to be stored raw. Where no super-chunk or no metalayer `b2nd` gives a
//! [`ZfpGeometry`], the caller decides (`codecs.md` 9.2 and 9.3).

mod bit_transpose;
mod bits;
mod block;
mod cell;
mod cell_1d;
mod integer;
mod items;
mod limits;
mod order;
mod plane_coder;
mod shape;
mod simd_dispatch;
mod transform;
mod value;

use crate::error::{Result, ensure, err};
use bit_transpose::{
    LargeCellFromPlanes, LargeCellToPlanes, SmallCellFromPlanes, SmallCellToPlanes, ToPlanes,
};
use limits::CellLimits;
use shape::{SIDE, Scalar, Shape};
use value::Value;

pub use shape::MAX_DIM;

/// The smallest and the largest number of bits of a cell where the rate is not fixed.
const VARIABLE_RATE_BITS: (u32, u32) = (1, 16658);
/// The largest number of bit planes.
const MAX_PRECISION: u32 = 64;
/// The lowest bit plane that can be significant: that of the least subnormal double.
const MIN_EXPONENT: i32 = -1074;

/// The quantity that the codec fixes: the error, the precision or the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Codec 33: absolute errors are at most `10^meta`, `meta` as a signed byte.
    Accuracy,
    /// Codec 34: `meta` bits and a few more for each value, so that errors are relative to the cell.
    Precision,
    /// Codec 35: compressed cells have `meta` hundredths of their original size.
    Rate,
}

/// One of the three codecs with its meta byte (`codecs.md` 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zfp {
    /// The quantity that is fixed.
    pub mode: Mode,
    /// The value of that quantity: the codec's meta byte, from the compression parameters or from the chunk.
    pub meta: u8,
}

/// The layout of a block according to the array that it belongs to; untrusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZfpGeometry<'a> {
    /// The extents of a block in items, slowest dimension first.
    pub blockshape: &'a [i32],
    /// The size of an item in bytes: 4 means floats, 8 doubles.
    pub typesize: i32,
}

impl Zfp {
    /// Compresses the block `src` into `dest`. Returns the length of the stream, a multiple of 8, or 0 if the block
    /// has to be stored raw: the stream would not be smaller than `src`, would not fit, or `src` is not a whole
    /// block. The content of `dest` is unspecified after a 0.
    pub fn encode(self, geometry: ZfpGeometry<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let shape = Shape::from_blockshape(geometry.blockshape)?;
        ensure!(
            shape.extents().iter().all(|&extent| extent >= SIDE),
            Failure,
            "ZFP: the block shape is {:?}, expected extents of at least {SIDE}",
            geometry.blockshape,
        );
        if shape.nbytes(geometry.typesize) != Some(src.len()) {
            return Ok(0);
        }
        let scalar = Scalar::from_typesize(geometry.typesize)?;
        let room = dest.len().min(src.len().saturating_sub(1)) / 8 * 8;
        if self.mode == Mode::Rate && self.fixed_rate_bits(&shape, scalar).div_ceil(64) > room / 8 {
            return Ok(0);
        }
        let limits = self.limits(&shape, scalar);
        let dest = &mut dest[..room];
        let len = match scalar {
            Scalar::Float => encode_values::<f32, SmallCellToPlanes<1>>(&limits, &shape, src, dest),
            Scalar::Double => encode_values::<f64, SmallCellToPlanes<2>>(&limits, &shape, src, dest),
        };
        // It does not fit.
        Ok(len.unwrap_or(0))
    }

    /// Decompresses the stream `src` into the block `dest`, and returns the size of `dest`.
    ///
    /// # Errors
    /// As the module says. `dest` may have been written to.
    pub fn decode(self, geometry: ZfpGeometry<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let shape = Shape::from_blockshape(geometry.blockshape)?;
        let scalar = Scalar::from_typesize(geometry.typesize)?;
        let limits = self.limits(&shape, scalar);
        // A larger block, which only a damaged header states, would keep bytes of earlier calls behind the values.
        ensure!(
            shape.nbytes(geometry.typesize) == Some(dest.len()),
            Failure,
            "ZFP: the block has {} bytes, expected those of the shape {:?} with `typesize` {}",
            dest.len(),
            geometry.blockshape,
            geometry.typesize,
        );
        // The reference also checks the length here; in the other modes it decodes the bytes behind the stream.
        ensure!(
            self.mode != Mode::Rate || src.len() >= self.fixed_rate_bits(&shape, scalar).div_ceil(8),
            Data,
            "a ZFP stream of {} bytes is too short for blocks of shape {:?} with {self:?}",
            src.len(),
            shape.extents(),
        );
        let is_whole = match scalar {
            Scalar::Float => decode_values::<f32>(&limits, &shape, src, dest),
            Scalar::Double => decode_values::<f64>(&limits, &shape, src, dest),
        };
        if is_whole {
            Ok(dest.len())
        } else {
            Err(err!(Data, "a ZFP stream of {} bytes is truncated", src.len()))
        }
    }

    /// Returns the number of bits of a cell at a fixed rate.
    fn cell_bits(self, shape: &Shape, scalar: Scalar) -> u32 {
        let rate = f64::from(self.meta) / 100.0 * (scalar.size() * 8) as f64;
        let bits = (shape.cell_len() as f64 * rate + 0.5).floor();
        // At most 256 values of 64 bits, times 2.55.
        (bits as u32).max(scalar.header_bits())
    }

    /// Returns the number of bits of a block at a fixed rate (`codecs.md` 10.10). The stream is padded to whole
    /// words.
    fn fixed_rate_bits(self, shape: &Shape, scalar: Scalar) -> usize {
        shape.ncells().saturating_mul(self.cell_bits(shape, scalar) as usize)
    }

    /// Returns the limits of ZFP that the meta byte stands for (`codecs.md` 9.1).
    fn limits(self, shape: &Shape, scalar: Scalar) -> CellLimits {
        let (min_bits, max_bits) = VARIABLE_RATE_BITS;
        let free = CellLimits { min_bits, max_bits, precision: MAX_PRECISION, min_exponent: MIN_EXPONENT };
        match self.mode {
            Mode::Accuracy => CellLimits { min_exponent: self.min_exponent(), ..free },
            Mode::Precision => {
                let precision = u32::from(self.meta) + 3 + 2 * shape.ndim as u32;
                CellLimits { precision: precision.min(MAX_PRECISION), ..free }
            }
            Mode::Rate => {
                let bits = self.cell_bits(shape, scalar);
                CellLimits { min_bits: bits, max_bits: bits, ..free }
            }
        }
    }

    /// Returns the bit plane of the tolerance: the binary exponent of the largest power of 2 that is not above
    /// `10^meta`.
    fn min_exponent(self) -> i32 {
        let power = f64::from(self.meta as i8);
        // Exact for 0; every other power of 10 in the range is far from a power of 2.
        (power * std::f64::consts::LOG2_10).floor() as i32
    }
}

/// Compresses the block `src`. Returns the length of the stream in bytes, `None` if it does not fit into `dest`.
fn encode_values<T: Value, S: ToPlanes<T::Int, 16, 1>>(
    limits: &CellLimits,
    shape: &Shape,
    src: &[u8],
    dest: &mut [u8],
) -> Option<usize> {
    match shape.ndim {
        1 => cell_1d::encode::<T>(limits, src, dest),
        2 => block::encode::<T, S, 16, 1>(limits, shape, src, dest),
        3 => block::encode::<T, LargeCellToPlanes<T::Int, 64>, 64, 1>(limits, shape, src, dest),
        _ => block::encode::<T, LargeCellToPlanes<T::Int, 256>, 256, 4>(limits, shape, src, dest),
    }
}

/// Decompresses into the block `dest`. Returns `false` if the stream ends too early.
fn decode_values<T: Value>(limits: &CellLimits, shape: &Shape, src: &[u8], dest: &mut [u8]) -> bool {
    match shape.ndim {
        1 => cell_1d::decode::<T>(limits, src, dest),
        2 => block::decode::<T, SmallCellFromPlanes, 16, 1>(limits, shape, src, dest),
        3 => block::decode::<T, LargeCellFromPlanes, 64, 1>(limits, shape, src, dest),
        _ => block::decode::<T, LargeCellFromPlanes, 256, 4>(limits, shape, src, dest),
    }
}
