//! Arrays: sparse and orthogonal selections of items, and views (`abi.md` 2.7).

use super::b2nd::store_new_array;
use super::ffi::result_code;
use super::pointers::{
    ArrayDims, CArray, Coords, DestBuffer, Dims, Handle, Len, Out, Output, Pointer, Size, SourceBuffer,
    typed_slice,
};
use crate::abi::{CBool, b2nd_array_t};
use crate::b2nd::array::Array;
use crate::b2nd::selection::Selection;
use crate::error::{Result, ensure, err};
use crate::fallible;
use std::ffi::{c_int, c_void};

/// Decompresses `ncoords` single items of `array`, and stores them one after another in `buffer`. `coords` holds
/// the position of each item, counted in C order from 0; the positions may be in any order and may repeat.
/// `buffersize` is the size of `buffer` in bytes.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for a position outside the array, for a `buffersize` below
/// `ncoords` times the item size, for a negative `ncoords`, and for an array without dimensions; another negative
/// code when a chunk cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_get_sparse_cbuffer(
    array: Handle<*const b2nd_array_t>,
    ncoords: Size<i64, Coords>,
    coords: CArray<*const i64, Coords>,
    buffer: DestBuffer<*mut c_void>,
    buffersize: Size<i64, Output>,
) -> c_int {
    result_code(|| {
        let array = array.get()?;
        array.refresh()?;
        let number = ncoords.number();
        let count =
            ncoords.len().ok_or_else(|| err!(InvalidParam, "`ncoords` is {number}, expected 0 or more"))?;
        if count.get() == 0 {
            return Ok(0);
        }
        let coords = coords.items(count)?;
        ensure!(!buffer.is_null(), NullPointer, "`buffer` is NULL");
        let needed = number.checked_mul(array.geometry().typesize().into());
        let needed = needed.and_then(|needed| usize::try_from(needed).ok());
        let len = buffersize.len().zip(needed).filter(|(space, needed)| *needed <= space.get());
        let (space, needed) = len.ok_or_else(|| {
            let buffersize = buffersize.number();
            err!(InvalidParam, "`buffersize` is {buffersize}, too small for {number} items")
        })?;
        array.get_sparse(coords, buffer.buffer(space.min(needed))?).map(|()| 0)
    })
}

/// The arguments of an orthogonal selection.
struct SelectionArguments<'call, P> {
    array: Handle<'call, P>,
    selection: CArray<'call, *mut *mut i64, ArrayDims>,
    selection_size: CArray<'call, *mut i64, ArrayDims>,
    has_buffer: bool,
    buffershape: CArray<'call, *mut i64, ArrayDims>,
    buffersize: i64,
}

/// Checks the arguments of an orthogonal selection. If any item is selected, passes the array and the selection to
/// `then`.
fn with_selection<P: Pointer<Target = b2nd_array_t>>(
    arguments: &SelectionArguments<'_, P>,
    then: impl FnOnce(&Array, &Selection<'_>) -> Result<()>,
) -> Result<usize> {
    let array = arguments.array.get()?;
    if arguments.selection.is_null() || arguments.selection_size.is_null() {
        return Err(err!(NullPointer, "`selection` or `selection_size` is NULL"));
    }
    array.refresh()?;
    let dims = arguments.array.dims()?;
    let (pointers, sizes) = (arguments.selection.items(dims)?, arguments.selection_size.items(dims)?);
    let mut lists = fallible::vec_with_capacity(dims.get())?;
    for (&list, &size) in pointers.iter().zip(sizes) {
        ensure!(!list.is_null(), NullPointer, "a list of coordinates in `selection` is NULL");
        let len = usize::try_from(size).map_err(|_| {
            err!(InvalidParam, "an element of `selection_size` is {size}, expected 0 or more")
        })?;
        // SAFETY: not NULL, and list `i` has `selection_size[i]` numbers.
        lists.push(unsafe { typed_slice(list, len) }?);
    }
    let buffershape = arguments.buffershape.items(dims)?;
    let selection = Selection::new(array.geometry(), &lists, buffershape, arguments.buffersize)?;
    if selection.is_empty() {
        return Ok(0);
    }
    ensure!(arguments.has_buffer, NullPointer, "`buffer` is NULL");
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
    array: Handle<*const b2nd_array_t>,
    selection: CArray<*mut *mut i64, ArrayDims>,
    selection_size: CArray<*mut i64, ArrayDims>,
    buffer: DestBuffer<*mut c_void>,
    buffershape: CArray<*mut i64, ArrayDims>,
    buffersize: i64,
) -> c_int {
    let has_buffer = !buffer.is_null();
    let arguments =
        SelectionArguments { array, selection, selection_size, has_buffer, buffershape, buffersize };
    result_code(|| {
        let get = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: the caller provides space up to the last selected item.
            let dest = unsafe { buffer.first_bytes(selection.min_buffer_len()) }?;
            array.get_orthogonal(selection, dest)
        };
        with_selection(&arguments, get)
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
    array: Handle<*mut b2nd_array_t>,
    selection: CArray<*mut *mut i64, ArrayDims>,
    selection_size: CArray<*mut i64, ArrayDims>,
    buffer: SourceBuffer<*const c_void>,
    buffershape: CArray<*mut i64, ArrayDims>,
    buffersize: i64,
) -> c_int {
    let has_buffer = !buffer.is_null();
    let arguments =
        SelectionArguments { array, selection, selection_size, has_buffer, buffershape, buffersize };
    result_code(|| {
        let set = |array: &Array, selection: &Selection<'_>| {
            // SAFETY: the caller provides a buffer that extends at least to the last selected item.
            let src = unsafe { buffer.first_bytes(selection.min_buffer_len()) }?;
            array.set_orthogonal(selection, src)
        };
        with_selection(&arguments, set)
    })
}

/// Returns flags; every byte except 0 means true.
fn read_flags<'call, R>(flags: &CArray<'call, *const CBool, R>, len: Len<'call, R>) -> Result<Vec<bool>> {
    fallible::collect(flags.items(len)?.iter().map(|flag| flag.get()))
}

/// Creates a view of `array` without its dimensions of extent 1, and stores it in `*view`. A view shares the items
/// of its array, for reading and writing, and cannot be resized. The caller frees the view with `b2nd_free`,
/// before or after the array. After the array has been freed, reads and writes of the view return an error.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for an array that has metalayers other than `b2nd`, or whose
/// chunks or blocks have more than one item along a dimension of extent 1; or a code of `b2nd_refresh`. `*view` is
/// NULL then.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_squeeze(array: Handle<*mut b2nd_array_t>, view: Out<*mut *mut b2nd_array_t>) -> c_int {
    // SAFETY: the caller frees an array when no call uses a view of it.
    store_new_array(view, || unsafe { array.get()?.squeeze() })
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
    array: Handle<*mut b2nd_array_t>,
    view: Out<*mut *mut b2nd_array_t>,
    index: CArray<*const CBool, ArrayDims>,
) -> c_int {
    store_new_array(view, || {
        let index = read_flags(&index, array.dims()?)?;
        // SAFETY: the caller frees an array when no call uses a view of it.
        unsafe { array.get()?.squeeze_index(&index) }
    })
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
    array: Handle<*const b2nd_array_t>,
    view: Out<*mut *mut b2nd_array_t>,
    axis: CArray<*const CBool, Dims>,
    final_dims: Size<u8, Dims>,
) -> c_int {
    store_new_array(view, || {
        let array = array.get()?;
        let axis = read_flags(&axis, final_dims.len_or_zero())?;
        // SAFETY: the caller frees an array when no call uses a view of it.
        unsafe { array.expand_dims(&axis) }
    })
}
