//! Conversion to and from arrays of the crate `ndarray`.

use crate::array::Array;
use crate::array_builder::ArrayBuilder;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::view::ArrayView;
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};
use std::path::Path;

/// Returns the items as an array of that shape.
fn to_array<T>(shape: &[u64], items: Vec<T>) -> Result<ArrayD<T>> {
    let shape: Vec<usize> =
        shape.iter().map(|&extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect();
    ArrayD::from_shape_vec(IxDyn(&shape), items).map_err(|error| Error::param(error.to_string()))
}

/// Returns the shape of an array.
fn shape_of<T>(array: &ArrayViewD<'_, T>) -> Vec<u64> {
    array.shape().iter().map(|&extent| extent as u64).collect()
}

impl<T: Element> ArrayView<'_, T> {
    /// Reads the items.
    ///
    /// # Errors
    /// As [`ArrayView::to_vec`].
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        to_array(&self.shape(), self.to_vec()?)
    }
}

impl<T: Element> Array<T> {
    /// Reads all items.
    ///
    /// ```
    /// let array = blosc2::Array::<i32>::builder([2, 2]).in_memory_from(&[1, 2, 3, 4])?;
    /// assert_eq!(array.to_ndarray()?, ndarray::array![[1, 2], [3, 4]].into_dyn());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        to_array(self.shape(), self.read(..)?)
    }

    /// Overwrites the items in a box, whose shape `items` has.
    ///
    /// # Errors
    /// `InvalidParam` for another shape; those of [`Array::write`].
    pub fn write_ndarray<S: Data<Elem = T>, D: Dimension>(
        &mut self,
        ranges: impl crate::Ranges,
        items: &ArrayBase<S, D>,
    ) -> Result<()> {
        let ranges = crate::ranges::to_box(&ranges, self.shape())?;
        let items = items.view().into_dyn();
        let expected: Vec<u64> = ranges.iter().map(|range| range.end - range.start).collect();
        if shape_of(&items) != expected {
            return Err(Error::param(format!(
                "items of the shape {:?}, expected {expected:?}",
                items.shape()
            )));
        }
        self.write(ranges, items.as_standard_layout().as_slice().unwrap_or_default())
    }
}

impl<T: Element> ArrayBuilder<Array<T>> {
    /// Creates an array in memory with the shape and the items of `array`, whatever the shape of the builder.
    ///
    /// # Errors
    /// As [`ArrayBuilder::in_memory_from`].
    pub fn in_memory_from_ndarray<S: Data<Elem = T>, D: Dimension>(
        self,
        array: &ArrayBase<S, D>,
    ) -> Result<Array<T>> {
        let array = array.view().into_dyn();
        let items = array.as_standard_layout();
        self.with_shape(shape_of(&array)).in_memory_from(items.as_slice().unwrap_or_default())
    }

    /// Creates an array in the new file `path` with the shape and the items of `array`, whatever the shape of the
    /// builder.
    ///
    /// # Errors
    /// As [`ArrayBuilder::create_from`].
    pub fn create_from_ndarray<S: Data<Elem = T>, D: Dimension>(
        self,
        path: impl AsRef<Path>,
        array: &ArrayBase<S, D>,
    ) -> Result<Array<T>> {
        let array = array.view().into_dyn();
        let items = array.as_standard_layout();
        self.with_shape(shape_of(&array)).create_from(path, items.as_slice().unwrap_or_default())
    }
}
