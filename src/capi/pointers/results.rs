//! Places of results.

use super::buffers::Len;
use super::raw::{Pointer, impl_is_null};
use crate::b2nd::MAX_DIM;
use std::marker::PhantomData;

impl_is_null! { Out<> OutArray<R> }

/// The place of a result, which overlaps no other memory of the call and may be uninitialised; or NULL.
///
/// [`Out::cleared`] is called before the first check of a function, so that each of its results is NULL, false or 0
/// when the function fails.
#[repr(transparent)]
pub struct Out<'call, P>(P, PhantomData<&'call mut ()>);

impl<'call, T> Out<'call, *mut T> {
    /// Sets the result to NULL, false or 0, unless the caller passed NULL, and returns its place.
    #[inline]
    pub(in crate::capi) fn cleared(self) -> ResultPlace<'call, T> {
        // A place is an array of one item.
        OutArray::<_, ()>(self.0, PhantomData).cleared(Len::new(1))
    }
}

/// The places of an array of results, which overlap no other memory of the call and may be uninitialised; or NULL. The
/// length of the array in items is that of its role.
#[repr(transparent)]
pub struct OutArray<'call, P, R>(P, PhantomData<(&'call mut (), R)>);

impl<'call, T, R> OutArray<'call, *mut T, R> {
    /// Sets the results to NULL, false or 0, unless the caller passed NULL, and returns their places.
    #[inline]
    pub(in crate::capi) fn cleared(self, len: Len<'call, R>) -> ResultPlace<'call, T> {
        // SAFETY: by the rule of this type NULL or places that no other code uses; the array has that length, because
        // both have the same role in the signature of this call.
        unsafe { ResultPlace::cleared(self.0, len.get()) }
    }

    /// Returns the first `len` places, without changing them.
    ///
    /// # Safety
    /// The contract of the function with this parameter gives the array at least `len` items.
    #[inline]
    pub(in crate::capi) unsafe fn first_places(self, len: usize) -> ResultPlace<'call, T> {
        // By the rule of this type NULL, or places that no other code uses; by the contract of this function enough.
        ResultPlace { start: self.0, len: if self.0.is_null() { 0 } else { len }, call: PhantomData }
    }
}

/// The places of one number for each dimension, which overlap no other memory of the call: of 16 numbers, the highest
/// number of dimensions. Or NULL.
#[repr(transparent)]
pub struct OutDims<'call, P>(P, PhantomData<&'call mut ()>);

impl<T: Copy> OutDims<'_, *mut T> {
    /// Returns whether the caller passed NULL.
    #[inline]
    pub(in crate::capi) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Stores the numbers, unless the caller passed NULL.
    ///
    /// # Panics
    /// For more than 16 numbers.
    #[inline]
    pub(in crate::capi) fn store(&self, numbers: &[T]) {
        assert!(numbers.len() <= MAX_DIM, "{} dimensions", numbers.len());
        if !self.0.is_null() {
            // SAFETY: by the rule of this type space for 16 numbers that overlaps no other memory.
            unsafe { self.0.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len()) };
        }
    }
}

/// The place of a result, or the places of an array of results, after they were cleared; or NULL.
#[derive(Clone, Copy)]
pub(in crate::capi) struct ResultPlace<'call, T> {
    start: *mut T,
    len: usize,
    call: PhantomData<&'call mut ()>,
}

impl<T> ResultPlace<'_, T> {
    /// Sets the `len` elements at `start` to NULL, false or 0, unless `start` is NULL.
    ///
    /// # Safety
    /// `start` is NULL, or aligned and points at writable memory for `len` elements that no other code uses as long as
    /// the result exists.
    #[inline]
    unsafe fn cleared(start: *mut T, len: usize) -> Self {
        if start.is_null() {
            return ResultPlace { start, len: 0, call: PhantomData };
        }
        // SAFETY: not NULL, and writable by the contract of this function. The library never reads the elements, so
        // zero bytes need not be a valid `T`.
        unsafe { start.write_bytes(0, len) };
        ResultPlace { start, len, call: PhantomData }
    }

    /// Returns whether the caller passed NULL.
    #[inline]
    pub(in crate::capi) fn is_null(&self) -> bool {
        self.start.is_null()
    }

    /// Stores the result, unless the caller passed NULL.
    #[inline]
    pub(in crate::capi) fn store(&self, value: T) {
        self.store_at(0, value);
    }

    /// Stores element `index` of an array of results, unless the caller passed NULL or the array is shorter.
    #[inline]
    pub(in crate::capi) fn store_at(&self, index: usize, value: T) {
        if index < self.len {
            // SAFETY: an element of the array, which is writable by the contract of `cleared`.
            unsafe { self.start.add(index).write(value) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffers::Dims;
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn results_are_cleared_first_and_stored_within_their_array() {
        let (mut number, mut array) = (7, [7; 4]);
        let one = Out(&raw mut number, PhantomData).cleared();
        let some = OutArray::<_, Dims>(array.as_mut_ptr(), PhantomData).cleared(Len::new(3));
        let none = OutArray::<_, Dims>(null_mut::<i32>(), PhantomData).cleared(Len::new(3));
        assert!(none.is_null() && !one.is_null() && !some.is_null());
        none.store(1);
        some.store_at(2, 5);
        some.store_at(3, 5);
        assert_eq!((number, array), (0, [0, 0, 5, 7]));
        one.store(9);
        assert_eq!(number, 9);
    }

    #[test]
    fn the_first_dimensions_are_stored() {
        let mut shape = [7; MAX_DIM];
        OutDims(shape.as_mut_ptr(), PhantomData).store(&[1, 2]);
        assert_eq!(shape[..3], [1, 2, 7]);
        OutDims(null_mut(), PhantomData).store(&[1]);
    }
}
