//! Bytes in the memory of a back-end.

use parking_lot::RwLockReadGuard;
use std::ops::Deref;

/// Keeps a mapping from being changed.
pub(super) type MappingGuard<'a> = RwLockReadGuard<'a, bool>;

/// Bytes that a back-end lends.
pub(crate) struct LentBytes<'a> {
    bytes: &'a [u8],
    /// Keeps a mapping from being changed.
    _mapping: Option<MappingGuard<'a>>,
}

impl<'a> LentBytes<'a> {
    /// Returns bytes of a program's back-end.
    pub(super) fn of_stream(bytes: &'a [u8]) -> Self {
        LentBytes { bytes, _mapping: None }
    }

    /// Returns bytes of a mapping that `guard` keeps from being changed.
    pub(super) fn of_mapping(bytes: &'a [u8], guard: MappingGuard<'a>) -> Self {
        LentBytes { bytes, _mapping: Some(guard) }
    }
}

impl Deref for LentBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}
