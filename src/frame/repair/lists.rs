//! Lists that are allocated fallibly: their lengths come from the damaged frame. The index entry of lost chunks.

use crate::err;
use crate::error::Result;

/// Index entry of a lost chunk, which no reader accepts.
pub(super) const LOST: i64 = i64::MIN;

/// Appends an element to a list.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn try_push<T>(list: &mut Vec<T>, element: T) -> Result<()> {
    list.try_reserve(1).map_err(|_| err!(MemoryAlloc, "a list of {} elements", list.len() + 1))?;
    list.push(element);
    Ok(())
}

/// Returns a list of the elements.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn try_collect<T>(elements: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    elements.into_iter().try_for_each(|element| try_push(&mut list, element))?;
    Ok(list)
}

/// Returns a list of `len` times the same value.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn list_of<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| err!(MemoryAlloc, "a list of {len} chunks"))?;
    list.resize(len, value);
    Ok(list)
}
