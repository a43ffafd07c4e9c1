//! Arrays: items here and there, orthogonal selections, views (`abi.md` 2.7).

use super::b2nd::{array, place};
use super::b2nd_meta::extents;
use super::ffi::code;
use crate::abi::{CBool, b2nd_array_t};
use crate::b2nd::array::Array;
use crate::b2nd::selection::Selection;
use crate::err;
use crate::error::Result;
use crate::out_buffer::OutBuffer;
use std::ffi::{c_int, c_void};
use std::{ptr, slice};

/// Copies items of `array` to `buffer`, one after another: those at the `ncoords` positions in `coords`, each
/// counted in C order from 0. They may come in any order and more than once.
///
/// Returns 0; -32 for NULL, -12 for a position that is not there, a `buffersize` in bytes that is less than
/// the items take, a negative `ncoords`, or an array without dimensions; those of reading.
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
    code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        array.refresh()?;
        let count = usize::try_from(ncoords).map_err(|_| err!(InvalidParam, "{ncoords} coordinates"))?;
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: by the rules of the module.
        let coords = unsafe { extents(coords, count) }?;
        if buffer.is_null() {
            return Err(err!(NullPointer, "the buffer is NULL"));
        }
        let needed = ncoords.checked_mul(array.geometry().typesize().into());
        let len =
            needed.filter(|&needed| needed <= buffersize).and_then(|needed| usize::try_from(needed).ok());
        let len = len.ok_or_else(|| err!(InvalidParam, "{ncoords} items in {buffersize} bytes"))?;
        // SAFETY: not NULL, by the rules as long as it says, and it overlaps no other buffer.
        let dest = unsafe { OutBuffer::from_raw(buffer.cast::<u8>(), len) };
        array.get_sparse(coords, dest).map(|()| 0)
    })
}

/// The arguments of an orthogonal selection.
struct Arguments {
    array: *const b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
}

/// Checks the arguments of an orthogonal selection, and hands array and selection to `then` if any item is selected.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn with_selection(
    arguments: &Arguments,
    then: impl FnOnce(&Array, &Selection<'_>) -> Result<()>,
) -> Result<usize> {
    // SAFETY: by the rules of the module.
    let array = unsafe { array(arguments.array) }?;
    if arguments.selection.is_null() || arguments.selection_size.is_null() {
        return Err(err!(NullPointer, "no selection"));
    }
    array.refresh()?;
    let ndim = array.geometry().ndim();
    // SAFETY: by the rules of the module.
    let (pointers, sizes) =
        unsafe { (extents(arguments.selection, ndim)?, extents(arguments.selection_size, ndim)?) };
    let mut lists = Vec::with_capacity(ndim);
    for (&list, &size) in pointers.iter().zip(sizes) {
        if list.is_null() {
            return Err(err!(NullPointer, "a list of coordinates is NULL"));
        }
        let len = usize::try_from(size).map_err(|_| err!(InvalidParam, "{size} coordinates"))?;
        // SAFETY: not NULL, and by the rules of the module as long as it says.
        lists.push(unsafe { extents(list, len) }?);
    }
    // SAFETY: by the rules of the module.
    let buffershape = unsafe { extents(arguments.buffershape, ndim) }?;
    let selection = Selection::new(array, &lists, buffershape, arguments.buffersize)?;
    if selection.is_empty() {
        return Ok(0);
    }
    if arguments.buffer.is_null() {
        return Err(err!(NullPointer, "the buffer is NULL"));
    }
    then(array, &selection).map(|()| 0)
}

/// Copies the items of `array` at the crossings of a selection to `buffer`, which has `buffershape` items.
/// `selection` has a list of coordinates for each dimension, in any order and with repetitions;
/// `selection_size` their lengths. Bytes of the buffer that belong to no selected item stay as they are.
///
/// `buffersize`, in bytes, may be less than the selected items take, and must not be more; the buffer reaches
/// to the last of them at least.
///
/// Returns 0; -32 for NULL, -33 for a coordinate that is not there, -12 for a `buffersize` that is too large,
/// -1 when a chunk cannot be read, -4 without memory.
///
/// # Safety
/// The rules of the module `capi`; the buffer reaches to the last selected item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_orthogonal_selection(
    array: *const b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *mut c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let arguments = Arguments { array, selection, selection_size, buffer, buffershape, buffersize };
    code(|| {
        let get = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: not NULL, and by the rules it reaches to the last selected item.
            let dest = unsafe { OutBuffer::from_raw(buffer.cast::<u8>(), selection.span()) };
            array.get_orthogonal(selection, dest)
        };
        // SAFETY: by the rules of the module.
        unsafe { with_selection(&arguments, get) }
    })
}

/// Copies items from `buffer` to the crossings of a selection in `array`; `selection`, `selection_size`,
/// `buffershape` and `buffersize` are those of `b2nd_get_orthogonal_selection`. Of equal coordinates in a
/// list the last one counts.
///
/// Returns 0; -32 for NULL, -33 for a coordinate that is not there, -12 for a `buffersize` that is too large,
/// -1 when a chunk cannot be read or stored, -37 when the lock cannot be had, -4 without memory. What was
/// stored before an error stays.
///
/// # Safety
/// The rules of the module `capi`; the buffer reaches to the last selected item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_orthogonal_selection(
    array: *mut b2nd_array_t,
    selection: *mut *mut i64,
    selection_size: *mut i64,
    buffer: *const c_void,
    buffershape: *mut i64,
    buffersize: i64,
) -> c_int {
    let arguments = Arguments { array, selection, selection_size, buffer, buffershape, buffersize };
    code(|| {
        let set = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: not NULL, and by the rules it reaches to the last selected item.
            let src = unsafe { slice::from_raw_parts(buffer.cast::<u8>(), selection.span()) };
            array.set_orthogonal(selection, src)
        };
        // SAFETY: by the rules of the module.
        unsafe { with_selection(&arguments, set) }
    })
}

/// Stores what `make` makes of the array into `*view`; NULL if it fails.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn store_view(
    array: *const b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    make: impl FnOnce(&Array) -> Result<Box<Array>>,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        place(view)?;
        let (pointer, result) = match make(array) {
            Ok(made) => (made.into_raw(), Ok(0)),
            Err(error) => (ptr::null_mut(), Err(error)),
        };
        // SAFETY: not NULL, and by the rules writable.
        unsafe { view.write(pointer) };
        result
    })
}

/// Flags, of which any byte but 0 means yes.
///
/// # Safety
/// `ptr` is NULL or points at so many flags.
unsafe fn flags(ptr: *const CBool, len: usize) -> Result<Vec<bool>> {
    // SAFETY: by the caller's word.
    Ok(unsafe { extents(ptr, len) }?.iter().map(|flag| flag.get()).collect())
}

/// Makes a view of `array` without its dimensions of extent 1. A view shows the items of its array, and sets
/// them, but cannot be resized; free it with `b2nd_free` before the array.
///
/// Returns 0; -32 for NULL, -12 for an array with metalayers besides its own or with chunks or blocks of more
/// than one item along such a dimension; those of a refresh. `*view` is NULL then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze(array: *mut b2nd_array_t, view: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module; by these an array is freed when no call uses a view of it.
    unsafe { store_view(array, view, |array| array.squeeze()) }
}

/// Makes a view of `array` in `*view` as `b2nd_squeeze` does, without the dimensions whose flag in `index` is
/// set.
///
/// Returns 0; -33 for a dimension of another extent than 1; others as `b2nd_squeeze`.
///
/// # Safety
/// The rules of the module `capi`; `index` has a flag for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_squeeze_index(
    array: *mut b2nd_array_t,
    view: *mut *mut b2nd_array_t,
    index: *const CBool,
) -> c_int {
    let make = |array: &Array| {
        // SAFETY: by the rules of the module.
        let index = unsafe { flags(index, array.geometry().ndim()) }?;
        // SAFETY: by the rules of the module an array is freed when no call uses a view of it.
        unsafe { array.squeeze_index(&index) }
    };
    // SAFETY: by the rules of the module.
    unsafe { store_view(array, view, make) }
}

/// Makes a view of `array` with `final_dims` dimensions: where the flag in `axis` is set a new one of extent
/// 1, else the next of the array. See `b2nd_squeeze` for what a view is.
///
/// Returns 0; -32 for NULL, -12 for an array with metalayers besides its own, more than 16 dimensions, or
/// flags that do not leave all dimensions of the array; those of a refresh. `*view` is NULL then.
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
        let axis = unsafe { flags(axis, final_dims.into()) }?;
        // SAFETY: by the rules of the module an array is freed when no call uses a view of it.
        unsafe { array.expand_dims(&axis) }
    };
    // SAFETY: by the rules of the module.
    unsafe { store_view(array, view, make) }
}
