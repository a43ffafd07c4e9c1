//! Boxes in arrays: one range for each dimension.

use crate::error::{Error, Result};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// The range of one dimension: a range of coordinates, or a single coordinate.
pub trait AxisRange {
    /// Returns the range in a dimension of that extent, which may exceed it.
    fn to_range(&self, extent: u64) -> Range<u64>;

    /// Returns the distance between two coordinates; 1 unless [`step`] has set another one.
    fn step(&self) -> u64 {
        1
    }
}

/// A range with a step, from [`step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<R> {
    range: R,
    by: u64,
}

/// Returns every `by`-th coordinate of a range, from its first one on.
///
/// ```
/// use blosc2::{Array, step};
///
/// let mut array = Array::<i32>::builder([2, 5]).in_memory_from(&[0, 1, 2, 3, 4, 10, 11, 12, 13, 14])?;
/// assert_eq!(array.read((.., step(.., 2)))?, [0, 2, 4, 10, 12, 14]);
/// array.write((1, step(1.., 3)), &[-1, -2])?;
/// assert_eq!(array.read((1, ..))?, [10, -1, 12, 13, -2]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub fn step<R: AxisRange>(range: R, by: u64) -> Step<R> {
    Step { range, by }
}

impl<R: AxisRange> AxisRange for Step<R> {
    fn to_range(&self, extent: u64) -> Range<u64> {
        self.range.to_range(extent)
    }

    fn step(&self) -> u64 {
        self.by
    }
}

impl<R: AxisRange> Ranges for Step<R> {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        checked(&[self], shape)
    }

    fn steps(&self) -> Vec<u64> {
        vec![self.by]
    }
}

/// The items that [`Ranges`] select.
pub(crate) enum Selection {
    Box(Vec<Range<u64>>),
    /// The coordinates in each dimension.
    Lists(Vec<Vec<u64>>),
}

impl Selection {
    /// Returns the items of ranges in an array of that shape.
    pub(crate) fn new(ranges: &impl Ranges, shape: &[u64]) -> Result<Selection> {
        let (ranges, steps) = (ranges.to_ranges(shape)?, ranges.steps());
        if steps.iter().all(|&step| step == 1) {
            return Ok(Selection::Box(ranges));
        }
        let lists = ranges.into_iter().zip(&steps).map(|(range, &by)| {
            let by = usize::try_from(by).ok().filter(|&by| by > 0);
            let by = by.ok_or_else(|| Error::param(format!("the steps {steps:?}, expected at least 1")))?;
            Ok(range.step_by(by).collect())
        });
        Ok(Selection::Lists(lists.collect::<Result<_>>()?))
    }
}

/// Returns the box of ranges without steps in an array of that shape.
pub(crate) fn to_box(ranges: &impl Ranges, shape: &[u64]) -> Result<Vec<Range<u64>>> {
    match Selection::new(ranges, shape)? {
        Selection::Box(ranges) => Ok(ranges),
        Selection::Lists(_) => Err(Error::param("ranges with steps, expected a box".to_owned())),
    }
}

/// Implements the traits for coordinates of a type; one that is negative, or above `u64::MAX`, is outside every shape.
macro_rules! coordinates {
    ($($type:ty)*) => {
        $(
            impl AxisRange for $type {
                fn to_range(&self, _: u64) -> Range<u64> {
                    let at = coordinate(*self);
                    at..at.saturating_add(1)
                }
            }

            impl AxisRange for Range<$type> {
                fn to_range(&self, _: u64) -> Range<u64> {
                    coordinate(self.start)..coordinate(self.end)
                }
            }

            impl AxisRange for RangeFrom<$type> {
                fn to_range(&self, extent: u64) -> Range<u64> {
                    coordinate(self.start)..extent
                }
            }

            impl AxisRange for RangeTo<$type> {
                fn to_range(&self, _: u64) -> Range<u64> {
                    0..coordinate(self.end)
                }
            }

            impl AxisRange for RangeInclusive<$type> {
                fn to_range(&self, _: u64) -> Range<u64> {
                    coordinate(*self.start())..coordinate(*self.end()).saturating_add(1)
                }
            }

            impl AxisRange for RangeToInclusive<$type> {
                fn to_range(&self, _: u64) -> Range<u64> {
                    0..coordinate(self.end).saturating_add(1)
                }
            }

            axis_alone! { $type, Range<$type>, RangeFrom<$type>, RangeTo<$type>, RangeInclusive<$type>, RangeToInclusive<$type> }
        )*
    };
}

/// Implements [`Ranges`] for the range of an array of one dimension.
macro_rules! axis_alone {
    ($($type:ty),*) => {
        $(
            impl Ranges for $type {
                fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
                    checked(&[self], shape)
                }
            }
        )*
    };
}

// The type of a number in the source without a suffix is `i32`.
coordinates! { u64 usize u32 i64 i32 }

fn coordinate(at: impl TryInto<u64>) -> u64 {
    at.try_into().unwrap_or(u64::MAX)
}

impl AxisRange for RangeFull {
    fn to_range(&self, extent: u64) -> Range<u64> {
        0..extent
    }
}

/// One range for each dimension of an array: a tuple, an array or a slice of [`AxisRange`]s, or a range alone for an array of
/// one dimension; `..` alone is the whole array. A single coordinate is a range of one; the dimension stays. Coordinates
/// are of type `u64`, `usize`, `u32`, `i64` or `i32`. [`step`] selects every n-th coordinate.
///
/// ```
/// use blosc2::Array;
///
/// let array = Array::<i32>::builder([2, 3]).in_memory_from(&[0, 1, 2, 10, 11, 12])?;
/// assert_eq!(array.read((1, 1..))?, [11, 12]);
/// assert_eq!(array.read([0..2, 0..1])?, [0, 10]);
/// assert_eq!(array.read(..)?, [0, 1, 2, 10, 11, 12]);
///
/// let line = Array::<i32>::builder([4]).in_memory_from(&[0, 1, 2, 3])?;
/// let end = 3usize;
/// assert_eq!(line.read(1..end)?, [1, 2]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait Ranges {
    /// Returns the ranges in an array of that shape.
    ///
    /// # Errors
    /// `InvalidParam` for another number of ranges than dimensions, and for a range outside the shape.
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>>;

    /// Returns the steps of the ranges; nothing if all are 1.
    fn steps(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Returns the ranges, checked against the shape.
fn checked(ranges: &[&dyn AxisRange], shape: &[u64]) -> Result<Vec<Range<u64>>> {
    if ranges.len() != shape.len() {
        return Err(Error::param(format!("{} ranges for {} dimensions", ranges.len(), shape.len())));
    }
    let ranges: Vec<Range<u64>> =
        ranges.iter().zip(shape).map(|(range, &extent)| range.to_range(extent)).collect();
    if ranges.iter().zip(shape).any(|(range, &extent)| range.start > range.end || range.end > extent) {
        return Err(Error::param(format!("the ranges {ranges:?} are not in the shape {shape:?}")));
    }
    Ok(ranges)
}

impl Ranges for RangeFull {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        Ok(shape.iter().map(|&extent| 0..extent).collect())
    }
}

impl<R: AxisRange> Ranges for [R] {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        let ranges: Vec<&dyn AxisRange> = self.iter().map(|range| range as &dyn AxisRange).collect();
        checked(&ranges, shape)
    }

    fn steps(&self) -> Vec<u64> {
        self.iter().map(AxisRange::step).collect()
    }
}

impl<R: AxisRange, const N: usize> Ranges for [R; N] {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        self.as_slice().to_ranges(shape)
    }

    fn steps(&self) -> Vec<u64> {
        self.as_slice().steps()
    }
}

impl<R: AxisRange> Ranges for Vec<R> {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        self.as_slice().to_ranges(shape)
    }

    fn steps(&self) -> Vec<u64> {
        self.as_slice().steps()
    }
}

impl<R: Ranges + ?Sized> Ranges for &R {
    fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
        (*self).to_ranges(shape)
    }

    fn steps(&self) -> Vec<u64> {
        (*self).steps()
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {
        $(
            impl<$($name: AxisRange),*> Ranges for ($($name,)*) {
                fn to_ranges(&self, shape: &[u64]) -> Result<Vec<Range<u64>>> {
                    #[allow(non_snake_case, reason = "one name for a type and its value")]
                    let ($($name,)*) = self;
                    checked(&[$($name as &dyn AxisRange),*], shape)
                }

                fn steps(&self) -> Vec<u64> {
                    #[allow(non_snake_case, reason = "one name for a type and its value")]
                    let ($($name,)*) = self;
                    vec![$($name.step()),*]
                }
            }
        )*
    };
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}
