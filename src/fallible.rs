//! Allocations that return the error `MemoryAlloc` instead of aborting the process. Every allocation whose size comes
//! from input or parameters, and every one of 64 KiB or more, is made by these functions, by
//! `MallocBytes`, or by the buffer pool.

use crate::error::{Error, Result, err};
use crate::os;
use std::alloc::{self, Layout};
use std::ffi::CString;
use std::path::PathBuf;

#[cold]
fn no_memory<T>(len: usize) -> Error {
    err!(MemoryAlloc, "cannot allocate {len} items of {} bytes", size_of::<T>())
}

/// Makes room for `additional` more items at the end of `items`.
///
/// # Errors
/// `MemoryAlloc`; nothing changes then.
#[inline]
pub(crate) fn reserve<T>(items: &mut Vec<T>, additional: usize) -> Result<()> {
    items.try_reserve(additional).map_err(|_| no_memory::<T>(items.len().saturating_add(additional)))
}

/// Returns an empty vector with room for exactly `len` items.
#[inline]
pub(crate) fn vec_with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| no_memory::<T>(len))?;
    Ok(items)
}

/// Returns a vector of `len` copies of `value`.
pub(crate) fn filled<T: Copy>(value: T, len: usize) -> Result<Vec<T>> {
    let mut items = vec_with_capacity(len)?;
    items.resize(if cfg!(miri) { len.min(1) } else { len }, value);
    // Miri takes a second for 30 000 items, one after the other: it copies those that are there.
    while cfg!(miri) && items.len() < len {
        items.extend_from_within(..items.len().min(len - items.len()));
    }
    Ok(items)
}

#[inline]
pub(crate) fn copy_of<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = vec_with_capacity(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// Returns `parts`, one after the other.
pub(crate) fn concat(parts: &[&[u8]]) -> Result<Vec<u8>> {
    let mut all = vec_with_capacity(parts.iter().map(|part| part.len()).sum())?;
    parts.iter().for_each(|part| all.extend_from_slice(part));
    Ok(all)
}

/// Appends `item` to `items`.
///
/// # Errors
/// `MemoryAlloc`; nothing changes then.
#[inline]
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    reserve(items, 1)?;
    items.push(item);
    Ok(())
}

/// Appends `more` to `items`.
///
/// # Errors
/// `MemoryAlloc`; nothing changes then.
#[inline]
pub(crate) fn extend<T: Copy>(items: &mut Vec<T>, more: &[T]) -> Result<()> {
    reserve(items, more.len())?;
    items.extend_from_slice(more);
    Ok(())
}

/// Returns the items of an iterator, or its first error.
#[inline]
pub(crate) fn try_collect<T>(items: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut all = vec_with_capacity(items.size_hint().0)?;
    for item in items {
        push(&mut all, item?)?;
    }
    Ok(all)
}

#[inline]
pub(crate) fn collect<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    try_collect(items.map(Ok))
}

/// Moves `value` to the heap.
#[inline]
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>> {
    try_box_with(|| value)
}

/// Returns the result of `make` on the heap. The memory is allocated first, so that the value can be made in its place.
#[inline(always)]
pub(crate) fn try_box_with<T>(make: impl FnOnce() -> T) -> Result<Box<T>> {
    let layout = Layout::new::<T>();
    // A type without a size has no memory.
    let start = match layout.size() {
        0 => std::ptr::dangling_mut(),
        // SAFETY: the size is not 0.
        _ => unsafe { alloc::alloc(layout) }.cast::<T>(),
    };
    if start.is_null() {
        return Err(no_memory::<T>(1));
    }
    // SAFETY: a new block of the global allocator with the layout of `T`, or none for a type without a size; the value
    // is written before the box is made.
    Ok(unsafe {
        start.write(make());
        Box::from_raw(start)
    })
}

/// Returns the value in `place`, which `make` makes if there is none.
#[inline(always)]
pub(crate) fn get_or_make<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match place {
        Some(value) => Ok(value),
        empty => Ok(empty.insert(make()?)),
    }
}

/// Returns an array of default values. It is never built on the stack, because the stack of the calling thread may be
/// small.
pub(crate) fn boxed_array<T: Copy + Default, const N: usize>() -> Result<Box<[T; N]>> {
    let items = filled(T::default(), N)?.into_boxed_slice();
    Ok(items.try_into().unwrap_or_else(|_| unreachable!("the array was made with `N` items")))
}

/// Returns a value of zeros. It is never built on the stack, because the stack of the calling thread may be small.
///
/// # Safety
/// Zeros are a valid `T`, and `T` has a size other than 0.
pub(crate) unsafe fn boxed_zeros<T>() -> Result<Box<T>> {
    // SAFETY: the size is not 0.
    let start = unsafe { alloc::alloc_zeroed(Layout::new::<T>()) }.cast::<T>();
    if start.is_null() {
        return Err(no_memory::<T>(1));
    }
    // SAFETY: a block of the global allocator with the layout of `T`, whose zeros are a valid `T`.
    Ok(unsafe { Box::from_raw(start) })
}

/// Returns `parts`, one after the other, as a path.
pub(crate) fn path(parts: &[&[u8]]) -> Result<PathBuf> {
    concat(parts).map(os::path_from_vec)
}

/// Returns `parts`, one after the other, as a C string.
///
/// # Errors
/// `MemoryAlloc`; `Data` if a part contains a NUL.
pub(crate) fn c_string(parts: &[&[u8]]) -> Result<CString> {
    let mut bytes = vec_with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + 1)?;
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes.push(0);
    CString::from_vec_with_nul(bytes).map_err(|_| err!(Data, "a text contains a NUL"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn values_are_copied_to_the_heap() {
        assert_eq!(*try_box([3u16; 5]).unwrap(), [3; 5]);
        try_box(()).unwrap();
        assert_eq!(*boxed_array::<u32, 7>().unwrap(), [0; 7]);
        // SAFETY: integers.
        assert_eq!(*unsafe { boxed_zeros::<[u64; 9]>() }.unwrap(), [0; 9]);
        assert_eq!(concat(&[b"ab", b"", b"c"]).unwrap(), b"abc");
        assert_eq!(c_string(&[b"ab", b"c"]).unwrap().as_bytes(), b"abc");
        assert_eq!(c_string(&[b"a\0", b"c"]).unwrap_err().kind(), ErrorKind::Data);
        assert_eq!(collect(1..4).unwrap(), [1, 2, 3]);
        assert_eq!(
            try_collect([Ok(1), Err(err!(Data, "two"))].into_iter()).unwrap_err().kind(),
            ErrorKind::Data
        );
    }

    #[test]
    fn lengths_beyond_the_address_space_are_errors() {
        assert_eq!(filled(0u64, usize::MAX / 2).unwrap_err().kind(), ErrorKind::MemoryAlloc);
        let mut bytes = vec![1];
        assert_eq!(reserve(&mut bytes, usize::MAX).unwrap_err().kind(), ErrorKind::MemoryAlloc);
        assert_eq!(bytes, [1]);
    }
}
