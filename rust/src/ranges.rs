//! Boxes in arrays: one range for each dimension.

use crate::error::{Error, Result};
use blosc2_core::rust_api::array::MAX_DIM;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// The range of one dimension: a range of coordinates, or a single coordinate.
///
/// ```
/// use blosc2::{Array, AxisRange};
///
/// /// The last coordinates of a dimension.
/// struct Last(u64);
///
/// impl AxisRange for Last {
///     fn to_range(&self, extent: u64) -> std::ops::Range<u64> {
///         extent.saturating_sub(self.0)..extent
///     }
/// }
///
/// let array = Array::<i32>::builder([2, 3]).in_memory_from(&[0, 1, 2, 10, 11, 12])?;
/// assert_eq!(array.read((1.., Last(2)))?, [11, 12]);
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait AxisRange {
    /// Returns the range in a dimension of that extent, which may exceed it.
    fn to_range(&self, extent: u64) -> Range<u64>;

    /// Returns the distance between two coordinates; 1 unless [`step`] has set another one.
    fn step(&self) -> u64 {
        1
    }
}

/// A range with a step, from [`step`].
///
/// ```
/// use blosc2::{AxisRange, Step, step};
///
/// let third: Step<std::ops::RangeFrom<u64>> = step(1.., 3);
/// assert_eq!((third.to_range(10), third.step()), (1..10, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        axes.push(self);
    }
}

/// The coordinates in each dimension of an array that [`Ranges`] select.
///
/// ```
/// use blosc2::{Array, Axes, Ranges};
///
/// /// A row of an array of two dimensions.
/// struct Row(u64);
///
/// impl Ranges for Row {
///     fn add_to(&self, axes: &mut Axes<'_>) {
///         axes.push(&self.0);
///         axes.push(&..);
///     }
/// }
///
/// let array = Array::<i32>::builder([2, 3]).in_memory_from(&[0, 1, 2, 10, 11, 12])?;
/// assert_eq!(array.read(Row(1))?, [10, 11, 12]);
/// # Ok::<(), blosc2::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Axes<'a> {
    shape: &'a [u64],
    /// Number of ranges; those beyond [`MAX_DIM`] are not stored.
    count: usize,
    // Arrays, because reading an item must not allocate.
    ranges: [Range<u64>; MAX_DIM],
    steps: [u64; MAX_DIM],
}

impl<'a> Axes<'a> {
    /// Returns no ranges, for an array of that shape.
    #[inline]
    pub(crate) fn new(shape: &'a [u64]) -> Axes<'a> {
        Axes { shape, count: 0, ranges: [const { 0..0 }; MAX_DIM], steps: [1; MAX_DIM] }
    }

    /// Adds the range of the next dimension. One for which there is no dimension is an error of the call that reads or writes
    /// the array.
    ///
    /// ```
    /// use blosc2::{Array, Axes, Ranges};
    ///
    /// /// The same range in each dimension of a cube.
    /// struct Cube(std::ops::Range<u64>);
    ///
    /// impl Ranges for Cube {
    ///     fn add_to(&self, axes: &mut Axes<'_>) {
    ///         (0..3).for_each(|_| axes.push(&self.0));
    ///     }
    /// }
    ///
    /// let array = Array::<u8>::builder([4, 4, 4]).fill(7).in_memory()?;
    /// assert_eq!(array.read(Cube(1..3))?, [7; 8]);
    /// assert!(array.read(Cube(1..5)).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    #[inline]
    pub fn push(&mut self, axis: &(impl AxisRange + ?Sized)) {
        if let (true, Some(&extent)) = (self.count < MAX_DIM, self.shape.get(self.count)) {
            (self.ranges[self.count], self.steps[self.count]) = (axis.to_range(extent), axis.step());
        }
        self.count += 1;
    }

    /// Adds the ranges.
    ///
    /// # Errors
    /// `InvalidParam` for another number of ranges than dimensions, for a range outside the shape, and for a step of 0.
    #[inline]
    pub(crate) fn select(&mut self, ranges: &(impl Ranges + ?Sized)) -> Result<()> {
        ranges.add_to(self);
        let fits = |(range, &extent): (&Range<u64>, &u64)| range.start <= range.end && range.end <= extent;
        let is_right = self.count == self.shape.len()
            && self.ranges().iter().zip(self.shape).all(fits)
            && !self.steps().contains(&0);
        if is_right { Ok(()) } else { Err(self.error()) }
    }

    #[cold]
    fn error(&self) -> Error {
        let (shape, ndim) = (self.shape, self.shape.len());
        Error::param(if self.count != ndim {
            format!("{} ranges for {ndim} dimensions", self.count)
        } else if self.steps().contains(&0) {
            format!("the steps {:?}, expected at least 1", self.steps())
        } else {
            format!("the ranges {:?} are not in the shape {shape:?}", self.ranges())
        })
    }

    pub(crate) fn ranges(&self) -> &[Range<u64>] {
        &self.ranges[..self.count]
    }

    fn steps(&self) -> &[u64] {
        &self.steps[..self.count]
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
    let mut axes = Axes::new(shape);
    axes.select(ranges)?;
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
                #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
                    axes.push(self);
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
    /// Adds the range of each dimension.
    fn add_to(&self, axes: &mut Axes<'_>);
}

impl Ranges for RangeFull {
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        axes.shape.iter().for_each(|_| axes.push(&RangeFull));
    }
}

impl<R: AxisRange> Ranges for [R] {
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        self.iter().for_each(|range| axes.push(range));
    }
}

impl<R: AxisRange, const N: usize> Ranges for [R; N] {
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        self.as_slice().add_to(axes);
    }
}

impl<R: AxisRange> Ranges for Vec<R> {
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        self.as_slice().add_to(axes);
    }
}

impl<R: Ranges + ?Sized> Ranges for &R {
    #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
        (*self).add_to(axes);
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {
        $(
            impl<$($name: AxisRange),*> Ranges for ($($name,)*) {
                #[inline]
    fn add_to(&self, axes: &mut Axes<'_>) {
                    #[allow(non_snake_case, reason = "one name for a type and its value")]
                    let ($($name,)*) = self;
                    $(axes.push($name);)*
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
