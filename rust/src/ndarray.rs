//! Conversion to and from arrays of the crate `ndarray`, of two of its versions.

use crate::array::Array;
use crate::array_builder::ArrayBuilder;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::view::ArrayView;
use std::borrow::Cow;
use std::path::Path;

/// An array or a view of the crate `ndarray`, with any number of dimensions: the feature `ndarray` is for its version 0.17,
/// `ndarray-0_16` for 0.16.
///
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use blosc2::NdArray;
///
/// let items = ndarray::array![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(items.extents(), [2, 3]);
/// assert_eq!(*items.t().items(), [1, 4, 2, 5, 3, 6]);
/// # }
/// ```
pub trait NdArray<T: Element> {
    /// Returns the extents.
    fn extents(&self) -> Vec<u64>;

    /// Returns the items in C order.
    fn items(&self) -> Cow<'_, [T]>;
}

/// An array of the crate `ndarray` that owns its items, of one of the versions of [`NdArray`].
///
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use blosc2::OwnedNdArray;
/// use ndarray::{Array1, Array2};
///
/// let items = Array2::from_items(&[2, 2], vec![1, 2, 3, 4])?;
/// assert_eq!(items, ndarray::array![[1, 2], [3, 4]]);
/// assert!(Array1::from_items(&[2, 2], vec![1, 2, 3, 4]).is_err());
/// # }
/// # Ok::<(), blosc2::Error>(())
/// ```
pub trait OwnedNdArray<T: Element>: Sized {
    /// Returns the items, which are in C order, as an array with these extents.
    ///
    /// # Errors
    /// `InvalidParam` for another number of dimensions than that of the type, and for another number of items.
    fn from_items(extents: &[u64], items: Vec<T>) -> Result<Self>;
}

macro_rules! conversions {
    ($ndarray:ident) => {
        impl<T: Element, S: $ndarray::Data<Elem = T>, D: $ndarray::Dimension> NdArray<T>
            for $ndarray::ArrayBase<S, D>
        {
            fn extents(&self) -> Vec<u64> {
                self.shape().iter().map(|&extent| extent as u64).collect()
            }

            fn items(&self) -> Cow<'_, [T]> {
                match self.as_slice() {
                    Some(items) => Cow::Borrowed(items),
                    None => Cow::Owned(self.iter().copied().collect()),
                }
            }
        }

        impl<T: Element, D: $ndarray::Dimension> OwnedNdArray<T> for $ndarray::Array<T, D> {
            fn from_items(extents: &[u64], items: Vec<T>) -> Result<Self> {
                let extents: Vec<usize> =
                    extents.iter().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect();
                $ndarray::ArrayD::from_shape_vec(extents, items)
                    .and_then(|array| array.into_dimensionality())
                    .map_err(|error| Error::param(error.to_string()))
            }
        }
    };
}

#[cfg(feature = "ndarray")]
conversions!(ndarray);
#[cfg(feature = "ndarray-0_16")]
conversions!(ndarray_0_16);

impl<T: Element> ArrayView<'_, T> {
    /// Reads the items.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// let array = blosc2::Array::<i32>::builder([2, 3]).in_memory_from(&[1, 2, 3, 4, 5, 6])?;
    /// let items: ndarray::Array2<i32> = array.view((.., 1..))?.to_ndarray()?;
    /// assert_eq!(items, ndarray::array![[2, 3], [5, 6]]);
    /// # }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ArrayView::to_vec`]; `InvalidParam` if `A` has another number of dimensions.
    pub fn to_ndarray<A: OwnedNdArray<T>>(&self) -> Result<A> {
        A::from_items(&self.shape(), self.to_vec()?)
    }
}

impl<T: Element> Array<T> {
    /// Reads all items.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// let array = blosc2::Array::<i32>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?;
    /// let items: ndarray::Array2<i32> = array.to_ndarray()?;
    /// assert_eq!(items, ndarray::array![[1, 2], [3, 4]]);
    /// # }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read`]; `InvalidParam` if `A` has another number of dimensions.
    pub fn to_ndarray<A: OwnedNdArray<T>>(&self) -> Result<A> {
        A::from_items(self.shape(), self.read(..)?)
    }

    /// Overwrites the items in a box, whose shape `items` has.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// let mut array = blosc2::Array::<i32>::builder([2, 3]).in_memory()?;
    /// array.write_ndarray((.., 1..), &ndarray::array![[1, 2], [3, 4]])?;
    /// assert_eq!(array.read(..)?, [0, 1, 2, 0, 3, 4]);
    /// # }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for another shape; those of [`Array::write`].
    pub fn write_ndarray(&mut self, ranges: impl crate::Ranges, items: &impl NdArray<T>) -> Result<()> {
        let ranges = crate::ranges::to_box(&ranges, self.shape())?;
        let expected: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        let found = items.extents();
        if found != expected {
            return Err(Error::param(format!("items of the shape {found:?}, expected {expected:?}")));
        }
        self.write(ranges, &items.items())
    }
}

impl<T: Element> ArrayBuilder<Array<T>> {
    /// Creates an array in memory with the shape and the items of `array`, whatever the shape of the builder.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// let items = ndarray::array![[1u8, 2], [3, 4]];
    /// let array = blosc2::Array::<u8>::builder([]).in_memory_from_ndarray(&items)?;
    /// assert_eq!((array.shape(), array.get(&[1, 0])?), (&[2, 2][..], 3));
    /// # }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ArrayBuilder::in_memory_from`].
    pub fn in_memory_from_ndarray(self, array: &impl NdArray<T>) -> Result<Array<T>> {
        self.with_shape(array.extents()).in_memory_from(&array.items())
    }

    /// Creates an array in the new file `path` with the shape and the items of `array`, whatever the shape of the
    /// builder.
    ///
    /// ```
    /// # #[cfg(feature = "ndarray")] {
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2nd");
    /// use blosc2::Array;
    ///
    /// Array::<u8>::builder([]).create_from_ndarray(&path, &ndarray::array![[1, 2], [3, 4]])?;
    /// assert_eq!(Array::<u8>::open(&path)?.read((1, ..))?, [3, 4]);
    /// # }
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ArrayBuilder::create_from`].
    pub fn create_from_ndarray(self, path: impl AsRef<Path>, array: &impl NdArray<T>) -> Result<Array<T>> {
        self.with_shape(array.extents()).create_from(path, &array.items())
    }
}
