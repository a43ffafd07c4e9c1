//! Boxes of arrays.

use crate::array::Array;
use crate::element::Element;
use crate::error::Result;
use crate::ranges::{self, Ranges};
use std::fmt;
use std::ops::Range;

/// A box of an [`Array`], which is read when its items are requested.
///
/// ```
/// use blosc2::Array;
///
/// let array = Array::<u16>::builder([4, 4]).in_memory_from(&(0..16).collect::<Vec<u16>>())?;
/// let view = array.view((1..3, ..2))?;
/// assert_eq!((view.shape(), view.to_vec()?), (vec![2, 2], vec![4, 5, 8, 9]));
/// assert_eq!(view.view((1, ..))?.to_vec()?, [8, 9]);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone)]
pub struct ArrayView<'a, T> {
    array: &'a Array<T>,
    /// A range inside the array for each dimension.
    ranges: Vec<Range<u64>>,
}

impl<T: Element> fmt::Debug for ArrayView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayView").field("array", self.array).field("ranges", &self.ranges).finish()
    }
}

impl<'a, T: Element> ArrayView<'a, T> {
    /// Returns the array.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([4, 4]).in_memory()?;
    /// let view = array.view((1..3, ..2))?;
    /// assert_eq!(view.array().shape(), [4, 4]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn array(&self) -> &'a Array<T> {
        self.array
    }

    /// Returns the ranges in the array.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([4, 4]).in_memory()?;
    /// let view = array.view((1..3, ..2))?;
    /// assert_eq!(view.ranges(), [1..3, 0..2]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Returns the extents in items.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([4, 4]).in_memory()?;
    /// assert_eq!(array.view((1.., 2))?.shape(), [3, 1]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn shape(&self) -> Vec<u64> {
        self.ranges.iter().map(|range| range.end - range.start).collect()
    }

    /// Returns a box of this box.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([4, 4]).in_memory()?;
    /// let view = array.view((1.., ..))?;
    /// assert_eq!(view.view((1.., 2))?.ranges(), [2..4, 2..3]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit, and for steps.
    pub fn view(&self, ranges: impl Ranges) -> Result<ArrayView<'a, T>> {
        let inner = ranges::to_box(&ranges, &self.shape())?;
        let ranges = inner.iter().zip(&self.ranges);
        let ranges = ranges.map(|(inner, outer)| outer.start + inner.start..outer.start + inner.end);
        Ok(ArrayView { array: self.array, ranges: ranges.collect() })
    }

    /// Returns the items, in C order.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// assert_eq!(array.view((.., 1..))?.to_vec()?, [2, 3, 5, 6]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::read_bytes`](crate::AnyArray::read_bytes).
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.array.read_ranges(&self.ranges)
    }
}

impl<T: Element> Array<T> {
    /// Returns a box of the array, which is read when its items are requested.
    ///
    /// ```
    /// let array = blosc2::Array::<u8>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// let row = array.view((1, ..))?;
    /// assert_eq!(row.to_vec()?, [4, 5, 6]);
    /// assert!(array.view((2, ..)).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for ranges that do not fit, and for steps.
    pub fn view(&self, ranges: impl Ranges) -> Result<ArrayView<'_, T>> {
        Ok(ArrayView { array: self, ranges: ranges::to_box(&ranges, self.shape())? })
    }
}
