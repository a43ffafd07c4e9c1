//! The checked shape of a block, and the type of its values.

use crate::error::{Result, err};

/// The largest number of dimensions that ZFP supports.
pub const MAX_DIM: usize = 4;
/// The number of values along each side of a cell, the unit of values that ZFP codes together (called a block in
/// ZFP).
pub(super) const SIDE: usize = 4;

/// Checked extents: 1 to 4 of them, each at least 1, and their product does not overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) ndim: usize,
    /// The extents, slowest dimension first as in the array; unused ones are 1.
    pub(super) extents: [usize; MAX_DIM],
    pub(super) nitems: usize,
}

/// The type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Float,
    Double,
}

impl Scalar {
    pub(super) fn from_typesize(typesize: i32) -> Result<Scalar> {
        match typesize {
            4 => Ok(Scalar::Float),
            8 => Ok(Scalar::Double),
            _ => Err(err!(Failure, "ZFP: `typesize` is {typesize}, expected 4 or 8")),
        }
    }

    pub(super) fn size(self) -> usize {
        match self {
            Scalar::Float => 4,
            Scalar::Double => 8,
        }
    }

    /// Returns the number of bits at the start of every cell with a value other than 0: a flag and the exponent.
    pub(super) fn header_bits(self) -> u32 {
        match self {
            Scalar::Float => 1 + 8,
            Scalar::Double => 1 + 11,
        }
    }
}

impl Shape {
    pub(super) fn from_blockshape(blockshape: &[i32]) -> Result<Shape> {
        let ndim = blockshape.len();
        if !(1..=MAX_DIM).contains(&ndim) {
            return Err(err!(Failure, "ZFP: the block has {ndim} dimensions, expected 1 to {MAX_DIM}"));
        }
        let mut shape = Shape { ndim, extents: [1; MAX_DIM], nitems: 1 };
        for (extent, &given) in shape.extents.iter_mut().zip(blockshape) {
            let size = usize::try_from(given).ok().filter(|&size| size > 0);
            let product = size.and_then(|size| shape.nitems.checked_mul(size));
            let (Some(size), Some(nitems)) = (size, product) else {
                return Err(err!(
                    Failure,
                    "ZFP: the block shape is {blockshape:?}, expected positive extents without overflow"
                ));
            };
            (*extent, shape.nitems) = (size, nitems);
        }
        Ok(shape)
    }

    pub(super) fn extents(&self) -> &[usize] {
        &self.extents[..self.ndim]
    }

    /// Returns the size of a block in bytes; `None` on overflow.
    pub(super) fn nbytes(&self, typesize: i32) -> Option<usize> {
        self.nitems.checked_mul(usize::try_from(typesize).ok()?)
    }

    pub(super) fn cell_len(&self) -> usize {
        SIDE.pow(self.ndim as u32)
    }

    /// Returns the number of cells of a block.
    pub(super) fn ncells(&self) -> usize {
        self.extents().iter().map(|extent| extent.div_ceil(SIDE)).product()
    }
}
