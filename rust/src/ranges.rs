//! Boxes in arrays: one range for each dimension.

use crate::error::{Error, Result};
use blosc2_core::rust_api::array::MAX_DIM;
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
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        Axes::new([self as &dyn AxisRange].into_iter(), shape)
    }
}

/// The coordinates in each dimension of an array that [`Ranges`] select.
#[derive(Clone, Debug)]
pub struct Axes {
    ndim: usize,
    // Arrays, because reading an item must not allocate.
    ranges: [Range<u64>; MAX_DIM],
    steps: [u64; MAX_DIM],
}

impl Axes {
    /// Returns the coordinates of one range for each dimension of an array of that shape.
    ///
    /// # Errors
    /// `InvalidParam` for another number of ranges than dimensions, for a range outside the shape, and for a step of 0.
    pub fn new<'a>(axes: impl ExactSizeIterator<Item = &'a dyn AxisRange>, shape: &[u64]) -> Result<Axes> {
        let ndim = shape.len();
        if axes.len() != ndim || ndim > MAX_DIM {
            return Err(Error::param(format!("{} ranges for {ndim} dimensions", axes.len())));
        }
        let mut all = Axes { ndim, ranges: [const { 0..0 }; MAX_DIM], steps: [1; MAX_DIM] };
        let mut fits = true;
        for (dim, axis) in axes.enumerate() {
            let range = axis.to_range(shape[dim]);
            fits &= range.start <= range.end && range.end <= shape[dim];
            (all.ranges[dim], all.steps[dim]) = (range, axis.step());
        }
        if !fits {
            return Err(Error::param(format!(
                "the ranges {:?} are not in the shape {shape:?}",
                all.ranges()
            )));
        }
        if all.steps().contains(&0) {
            return Err(Error::param(format!("the steps {:?}, expected at least 1", all.steps())));
        }
        Ok(all)
    }

    pub(crate) fn ranges(&self) -> &[Range<u64>] {
        &self.ranges[..self.ndim]
    }

    fn steps(&self) -> &[u64] {
        &self.steps[..self.ndim]
    }

    /// Returns the coordinates in each dimension; `None` if they are a box.
    pub(crate) fn lists(&self) -> Option<Vec<Vec<u64>>> {
        if self.steps().iter().all(|&step| step == 1) {
            return None;
        }
        let list = |(range, &by): (&Range<u64>, &u64)| {
            range.clone().step_by(usize::try_from(by).unwrap_or(usize::MAX)).collect()
        };
        Some(self.ranges().iter().zip(self.steps()).map(list).collect())
    }
}

/// Returns the box of ranges without steps in an array of that shape.
pub(crate) fn to_box(ranges: &impl Ranges, shape: &[u64]) -> Result<Vec<Range<u64>>> {
    let axes = ranges.axes(shape)?;
    if axes.lists().is_some() {
        return Err(Error::param("ranges with steps, expected a box".to_owned()));
    }
    Ok(axes.ranges().to_vec())
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
                fn axes(&self, shape: &[u64]) -> Result<Axes> {
                    Axes::new([self as &dyn AxisRange].into_iter(), shape)
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
    /// Those of [`Axes::new`].
    fn axes(&self, shape: &[u64]) -> Result<Axes>;
}

impl Ranges for RangeFull {
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        Axes::new(shape.iter().map(|_| &RangeFull as &dyn AxisRange), shape)
    }
}

impl<R: AxisRange> Ranges for [R] {
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        Axes::new(self.iter().map(|range| range as &dyn AxisRange), shape)
    }
}

impl<R: AxisRange, const N: usize> Ranges for [R; N] {
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        self.as_slice().axes(shape)
    }
}

impl<R: AxisRange> Ranges for Vec<R> {
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        self.as_slice().axes(shape)
    }
}

impl<R: Ranges + ?Sized> Ranges for &R {
    fn axes(&self, shape: &[u64]) -> Result<Axes> {
        (*self).axes(shape)
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {
        $(
            impl<$($name: AxisRange),*> Ranges for ($($name,)*) {
                fn axes(&self, shape: &[u64]) -> Result<Axes> {
                    #[allow(non_snake_case, reason = "one name for a type and its value")]
                    let ($($name,)*) = self;
                    Axes::new([$($name as &dyn AxisRange),*].into_iter(), shape)
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
