//! Converts boxes of items to [`Rows`] of bytes. Dimensions that are contiguous in source and destination are merged,
//! so that as few loops as possible remain. Every copy of items between arrays, chunks, blocks and buffers in `b2nd`
//! uses this module.

#![forbid(unsafe_code)]

use super::MAX_DIM;
use super::rows::{Loop, Rows};
use crate::error::{Result, ensure, err};

/// The layout of a box in the source or the destination of a copy: the strides of the array that contains the box, and
/// the offset of the box in that array, in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoxLayout {
    ndim: usize,
    strides: [i64; MAX_DIM],
    origin: i64,
}

impl BoxLayout {
    /// Returns the layout of a box that begins at `start` in an array of `shape` in C order. The first extent of the
    /// shape is ignored.
    pub(crate) fn in_shape(shape: &[i64], start: &[i64]) -> Result<BoxLayout> {
        ensure!(
            shape.len() <= MAX_DIM && shape.iter().skip(1).all(|&extent| extent >= 0),
            InvalidParam,
            "shape {shape:?}, expected at most {MAX_DIM} dimensions and no negative extent",
        );
        let mut strides = [1i64; MAX_DIM];
        for dim in (1..shape.len()).rev() {
            // A stride that overflows is saturated: it may be unused, and `plan_rows` rejects it if it is used.
            strides[dim - 1] = strides[dim].saturating_mul(shape[dim]);
        }
        BoxLayout::with_strides(&strides[..shape.len()], start)
    }

    /// Returns the layout of a box at the start of an array of `shape` in C order.
    #[cfg(test)]
    pub(crate) fn at_start(shape: &[i64]) -> Result<BoxLayout> {
        BoxLayout::in_shape(shape, &[0; MAX_DIM][..shape.len().min(MAX_DIM)])
    }

    /// Returns the layout of a box that begins at `start` in an array with these strides, in items.
    pub(crate) fn with_strides(strides: &[i64], start: &[i64]) -> Result<BoxLayout> {
        let wrong = || {
            err!(
                InvalidParam,
                "start {start:?} with strides {strides:?}, expected equal lengths of at most {MAX_DIM}, \
                 no negative number, and an offset below 2^63"
            )
        };
        let ndim = strides.len();
        if ndim > MAX_DIM || start.len() != ndim || strides.iter().chain(start).any(|&number| number < 0) {
            return Err(wrong());
        }
        let mut layout = BoxLayout { ndim, strides: [0; MAX_DIM], origin: 0 };
        layout.strides[..ndim].copy_from_slice(strides);
        for (stride, at) in strides.iter().zip(start) {
            let items = stride.checked_mul(*at).ok_or_else(wrong)?;
            layout.origin = layout.origin.checked_add(items).ok_or_else(wrong)?;
        }
        Ok(layout)
    }
}

/// Returns the offset, in bytes, of an item of `typesize` bytes in an array of `shape` in C order. `start` holds the
/// coordinates of the item, one per dimension. `None` where [`BoxLayout::in_shape`] fails.
pub(crate) fn item_byte_offset(shape: &[i64], start: &[i64], typesize: i32) -> Option<usize> {
    let mut items = 0i64;
    for (dim, (&extent, &at)) in shape.iter().zip(start).enumerate() {
        if at < 0 || (dim > 0 && extent < 0) {
            return None;
        }
        let before = if dim > 0 { items.checked_mul(extent)? } else { 0 };
        items = before.checked_add(at)?;
    }
    let bytes = items.checked_mul(typesize.into())?;
    // The offset of the item's end must not overflow either.
    isize::try_from(bytes.checked_add(typesize.into())?).ok()?;
    usize::try_from(bytes).ok()
}

/// Returns the rows of a box of items of `typesize` bytes, which is at least 1. Rows of the destination do not overlap
/// if its strides are those of an array that contains the box. For a fill, `src` and `dst` are the same layout.
pub(crate) fn plan_rows(shape: &[i64], typesize: i32, src: &BoxLayout, dst: &BoxLayout) -> Result<Rows> {
    let wrong = || {
        err!(
            InvalidParam,
            "a box of shape {shape:?} with items of {typesize} bytes from {src:?} to {dst:?}, expected equal \
             numbers of dimensions, at least 1 byte per item, no negative extent, and offsets below 2^63"
        )
    };
    let ndim = shape.len();
    if src.ndim != ndim || dst.ndim != ndim || typesize < 1 || shape.iter().any(|&extent| extent < 0) {
        return Err(wrong());
    }
    if shape.contains(&0) {
        return Ok(Rows::empty());
    }
    let typesize = i64::from(typesize);
    let bytes = |items: i64| items.checked_mul(typesize).and_then(|bytes| usize::try_from(bytes).ok());
    let mut run = 1i64;
    let mut loops = [Loop::default(); MAX_DIM];
    let mut depth = 0usize;
    for dim in (0..ndim).rev() {
        let (extent, src_step, dst_step) = (shape[dim], src.strides[dim], dst.strides[dim]);
        if extent == 1 {
            continue;
        }
        if depth == 0 && src_step == run && dst_step == run {
            run = run.checked_mul(extent).ok_or_else(wrong)?;
            continue;
        }
        let this = Loop {
            count: usize::try_from(extent).map_err(|_| wrong())?,
            src_step: bytes(src_step).ok_or_else(wrong)?,
            dst_step: bytes(dst_step).ok_or_else(wrong)?,
        };
        let inner = depth.checked_sub(1).map(|inner| &mut loops[inner]);
        match inner {
            // Each iteration of this loop continues where the inner loop ends, so that both are one loop.
            Some(inner)
                if inner.src_step.checked_mul(inner.count) == Some(this.src_step)
                    && inner.dst_step.checked_mul(inner.count) == Some(this.dst_step) =>
            {
                inner.count = inner.count.checked_mul(this.count).ok_or_else(wrong)?;
            }
            _ => {
                loops[depth] = this;
                depth += 1;
            }
        }
    }
    let len = bytes(run).ok_or_else(wrong)?;
    let (from, to) = bytes(src.origin).zip(bytes(dst.origin)).ok_or_else(wrong)?;
    Rows::new(len, &loops[..depth], from, to)
}

#[cfg(test)]
mod tests;
