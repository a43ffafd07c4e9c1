//! A value on the heap to which C code has a pointer.

use crate::error::Result;
use crate::fallible;
use std::ptr::NonNull;

/// Owns a value that C code may read and write through its own pointer. Each move of a `Box` asserts that no other
/// pointer to the value is used again; moving a `RawBox` asserts nothing.
pub(crate) struct RawBox<T>(NonNull<T>);

impl<T> RawBox<T> {
    /// Moves `value` to the heap.
    pub(crate) fn new(value: T) -> Result<RawBox<T>> {
        RawBox::new_with(|| value)
    }

    /// As [`new`](Self::new), with the result of `make`, which is not moved.
    #[inline(always)]
    pub(crate) fn new_with(make: impl FnOnce() -> T) -> Result<RawBox<T>> {
        Ok(RawBox(NonNull::from(Box::leak(fallible::try_box_with(make)?))))
    }

    /// Returns the pointer for C code. It is valid until the value is dropped.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }

    /// Transfers ownership of the value to the holder of the pointer; [`from_raw`](Self::from_raw) takes it back.
    pub(crate) fn into_raw(self) -> *mut T {
        let pointer = self.as_ptr();
        std::mem::forget(self);
        pointer
    }

    /// Takes back a value that [`into_raw`](Self::into_raw) released.
    ///
    /// # Safety
    /// `pointer` came from `into_raw`, and was not taken back before.
    pub(crate) unsafe fn from_raw(pointer: NonNull<T>) -> RawBox<T> {
        RawBox(pointer)
    }
}

impl<T: Copy> RawBox<T> {
    /// Returns a copy of the value, which C code may have changed.
    pub(crate) fn get(&self) -> T {
        // SAFETY: initialised in `new`. C code writes it between calls only, and `RawBox` is neither `Send` nor `Sync`.
        unsafe { self.0.as_ptr().read() }
    }
}

impl<T> Drop for RawBox<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer of a leaked box, which no other `RawBox` has.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
