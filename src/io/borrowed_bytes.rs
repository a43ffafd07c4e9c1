//! Bytes borrowed from a back-end.

use parking_lot::{MappedRwLockReadGuard, RwLockReadGuard};
use std::ops::Deref;

/// Bytes in the memory of a back-end. Changes through the back-end wait until they are dropped.
pub(crate) struct BorrowedBytes<'a> {
    bytes: &'a [u8],
    /// Blocks changes of the bytes; `None` inside a change by the same thread.
    _guard: Option<MappedRwLockReadGuard<'a, ()>>,
}

impl<'a> BorrowedBytes<'a> {
    /// Returns bytes that do not change while `guard` lives.
    pub(super) fn new<T>(bytes: &'a [u8], guard: Option<RwLockReadGuard<'a, T>>) -> Self {
        BorrowedBytes { bytes, _guard: guard.map(|guard| RwLockReadGuard::map(guard, |_| &())) }
    }
}

impl Deref for BorrowedBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}
