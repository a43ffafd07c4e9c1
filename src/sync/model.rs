//! Types that loom does not have, made of its types.

use std::ptr;

use loom::sync::Mutex;
use loom::sync::atomic::AtomicPtr;
use loom::sync::atomic::Ordering::{Acquire, Release};

/// `std::sync::OnceLock`.
pub(crate) struct OnceLock<T> {
    /// A box, or null.
    value: AtomicPtr<T>,
    /// Held while the value is made.
    lock: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// Returns a cell without a value.
    pub(crate) fn new() -> Self {
        OnceLock { value: AtomicPtr::new(ptr::null_mut()), lock: Mutex::new(()) }
    }

    /// Returns the value if there is one.
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: the pointer is null or was released by `get_or_init`, which stores a box once; only `drop` frees it.
        unsafe { self.value.load(Acquire).as_ref() }
    }

    /// Returns the value, which `make` makes if there is none.
    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _guard = self.lock.lock();
        if self.get().is_none() {
            self.value.store(Box::into_raw(Box::new(make())), Release);
        }
        self.get().expect("it was stored under the lock that is held")
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        let value = self.value.with_mut(|value| *value);
        if !value.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw` in `get_or_init`, and nothing else owns the box.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}
