//! Arrays: sparse and orthogonal selections of items, and views (`abi.md` 2.7).

use super::b2nd::{array_ref, store_new_array};
use super::b2nd_meta::typed_slice;
use super::ffi::result_code;
use crate::abi::{CBool, b2nd_array_t};
use crate::b2nd::array::Array;
use crate::b2nd::selection::Selection;
use crate::err;
use crate::error::Result;
use crate::fallible;
use crate::out_buffer::OutBuffer;
use std::ffi::{c_int, c_void};
use std::slice;

/// Decompresses `ncoords` single items of `array`, and stores them one after another in `buffer`. `coords` holds
/// the position of each item, counted in C order from 0; the positions may be in any order and may repeat.
/// `buffersize` is the size of `buffer` in bytes.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for a position outside the array, for a `buffersize` below
/// `ncoords` times the item size, for a negative `ncoords`, and for an array without dimensions; another negative
/// code when a chunk cannot be read.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_sparse_cbuffer(
    array: *const b2nd_array_t,
    ncoords: i64,
    coords: *const i64,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array_ref(array) }?;
        array.refresh()?;
        let count = usize::try_from(ncoords)
            .map_err(|_| err!(InvalidParam, "`ncoords` is {ncoords}, expected 0 or more"))?;
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: by the rules of the module.
        let coords = unsafe { typed_slice(coords, count) }?;
        if buffer.is_null() {
            return Err(err!(NullPointer, "`buffer` is NULL"));
        }
        let needed = ncoords.checked_mul(array.geometry().typesize().into());
        let len =
            needed.filter(|&needed| needed <= buffersize).and_then(|needed| usize::try_from(needed).ok());
        let len = len.ok_or_else(|| {
            err!(InvalidParam, "`buffersize` is {buffersize}, too small for {ncoords} items")
        })?;
        // SAFETY: not NULL, by the rules at least `len` bytes long, and it overlaps no other buffer.
        let dest = unsafe { OutBuffer::from_raw(buffer.cast::<u8>(), len) };
        array.get_sparse(coords, dest).map(|()| 0)
    })
}

/// The arguments of an orthogonal selection.
struct SelectionArguments {
    array: *const b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
}

/// Checks the arguments of an orthogonal selection. If any item is selected, passes the array and the selection to
/// `then`.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn with_selection(
    arguments: &SelectionArguments,
    then: impl FnOnce(&Array, &Selection<'_>) -> Result<()>,
) -> Result<usize> {
    // SAFETY: by the rules of the module.
    let array = unsafe { array_ref(arguments.array) }?;
    if arguments.selection.is_null() || arguments.selection_size.is_null() {
        return Err(err!(NullPointer, "`selection` or `selection_size` is NULL"));
    }
    array.refresh()?;
    let ndim = array.geometry().ndim();
    // SAFETY: by the rules of the module.
    let (pointers, sizes) =
        unsafe { (typed_slice(arguments.selection, ndim)?, typed_slice(arguments.selection_size, ndim)?) };
    let mut lists = fallible::vec_with_capacity(ndim)?;
    for (&list, &size) in pointers.iter().zip(sizes) {
        if list.is_null() {
            return Err(err!(NullPointer, "a list of coordinates in `selection` is NULL"));
        }
        let len = usize::try_from(size).map_err(|_| {
            err!(InvalidParam, "an element of `selection_size` is {size}, expected 0 or more")
        })?;
        // SAFETY: not NULL, and by the rules of the module `len` numbers long.
        lists.push(unsafe { typed_slice(list, len) }?);
    }
    // SAFETY: by the rules of the module.
    let buffershape = unsafe { typed_slice(arguments.buffershape, ndim) }?;
    let selection = Selection::new(array, &lists, buffershape, arguments.buffersize)?;
    if selection.is_empty() {
        return Ok(0);
    }
    if arguments.buffer.is_null() {
        return Err(err!(NullPointer, "`buffer` is NULL"));
    }
    then(array, &selection).map(|()| 0)
}

/// Decompresses an orthogonal selection of `array` into `buffer`, a C-order array of the shape `buffershape`, in
/// items. `selection` has one list of coordinates for each dimension, and `selection_size` the length of each
/// list; the items at all combinations of coordinates are selected. Coordinates may be in any order and may
/// repeat. Bytes of `buffer` that belong to no selected item are not written.
///
/// `buffersize` is a size in bytes. It may be less than the size of the selected items, but must not be greater;
/// `buffer` must have room up to the last selected item in any case.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -33 for a coordinate outside the shape, -12 for a `buffersize`
/// that is too large, -1 when a chunk cannot be read, -4 when memory cannot be allocated.
///
/// # Safety
/// The rules of the module `capi`; `buffer` has room up to the last selected item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_orthogonal_selection(
    array: *const b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *mut c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let arguments = SelectionArguments { array, selection, selection_size, buffer, buffershape, buffersize };
    result_code(|| {
        let get = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: not NULL, and by the rules it extends at least to the last selected item.
            let dest = unsafe { OutBuffer::from_raw(buffer.cast::<u8>(), selection.min_buffer_len()) };
            array.get_orthogonal(selection, dest)
        };
        // SAFETY: by the rules of the module.
        unsafe { with_selection(&arguments, get) }
    })
}

/// Overwrites an orthogonal selection of `array` with items from `buffer`. `selection`, `selection_size`,
/// `buffershape` and `buffersize` (in bytes) have the same meaning as in `b2nd_get_orthogonal_selection`. If a
/// list repeats a coordinate, the last occurrence is stored.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -33 for a coordinate outside the shape, -12 for a `buffersize`
/// that is too large, -1 when a chunk cannot be read or stored, -37 when the lock cannot be acquired, -4 when
/// memory cannot be allocated. The chunks that were stored before an error stay changed.
///
/// # Safety
/// The rules of the module `capi`; `buffer` extends at least to the last selected item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_orthogonal_selection(
    array: *mut b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let arguments = SelectionArguments { array, selection, selection_size, buffer, buffershape, buffersize };
    result_code(|| {
        let set = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: not NULL, and by the rules it extends at least to the last selected item.
            let src = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), selection.min_buffer_len()) };
            array.set_orthogonal(selection, src)
        };
        // SAFETY: by the rules of the module.
        unsafe { with_selection(&arguments, set) }
    })
}

/// Stores the view that `make` creates in `*view`; NULL after an error.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn store_view(
    array: *const b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    make: impl FnOnce(&Array) -> Result<Box<Array>>,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { store_new_array(view, || make(self::array_ref(array)?)) }
}

/// Returns flags; every byte except 0 means true.
///
/// # Safety
/// `ptr` is NULL or points at `len` flags.
unsafe fn read_flags(ptr: *const CBool, len: usize) -> Result<Vec<bool>> {
    // SAFETY: by the contract of this function.
    fallible::collect(unsafe { typed_slice(ptr, len) }?.iter().map(|flag| flag.get()))
}

/// Creates a view of `array` without its dimensions of extent 1, and stores it in `*view`. A view shares the items
/// of its array, for reading and writing, and cannot be resized. The caller frees the view with `b2nd_free`,
/// before or after the array. After the array has been freed, reads and writes of the view return an error.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for an array that has metalayers other than `b2nd`, or whose
/// chunks or blocks have more than one item along a dimension of extent 1; or a code of `b2nd_refresh`. `*view` is
/// NULL then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze(array: *mut b2nd_array_t, view: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module; by these an array is freed when no call uses a view of it.
    unsafe { store_view(array, view, |array| array.squeeze()) }
}

/// Creates a view of `array` without the dimensions whose flag in `index` is true, and stores it in `*view`.
/// `index` has one flag for each dimension; the flagged dimensions must have extent 1. The caller frees the view
/// with `b2nd_free`; see `b2nd_squeeze`.
///
/// Returns 0. Errors: -33 for a flagged dimension whose extent is not 1, otherwise as `b2nd_squeeze`.
///
/// # Safety
/// The rules of the module `capi`; `index` has one flag for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze_index(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    index: *const CBool,
) -> c_int {
    let make = |array: &Array| {
        // SAFETY: by the rules of the module.
        let index = unsafe { read_flags(index, array.geometry().ndim()) }?;
        // SAFETY: by the rules of the module an array is freed when no call uses a view of it.
        unsafe { array.squeeze_index(&index) }
    };
    // SAFETY: by the rules of the module.
    unsafe { store_view(array, view, make) }
}

/// Creates a view of `array` with `final_dims` dimensions, and stores it in `*view`. `axis` has one flag for each
/// dimension of the view: where the flag is true, the view has a new dimension of extent 1; the other dimensions
/// are those of `array`, in the same order. The caller frees the view with `b2nd_free`; see `b2nd_squeeze`.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for an array that has metalayers other than `b2nd`, for more
/// than 16 dimensions, and when the number of false flags is not the number of dimensions of `array`; or a code of
/// `b2nd_refresh`. `*view` is NULL then.
///
/// # Safety
/// The rules of the module `capi`; `axis` has `final_dims` flags.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_expand_dims(
    array: *const b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    axis: *const CBool,
    final_dims: u8,
) -> c_int {
    let make = |array: &Array| {
        // SAFETY: by the rules of the module.
        let axis = unsafe { read_flags(axis, final_dims.into()) }?;
        // SAFETY: by the rules of the module an array is freed when no call uses a view of it.
        unsafe { array.expand_dims(&axis) }
    };
    // SAFETY: by the rules of the module.
    unsafe { store_view(array, view, make) }
}
