//! The items and the shape of arrays (`abi.md` 2.7).

use super::ffi::{check_not_null, result_code};
use super::pointers::{ArrayDims, CArray, DestBuffer, Handle, Input, Len, Output, Size, SourceBuffer};
use crate::abi::b2nd_array_t;
use crate::b2nd::array::read_array_meta;
use crate::error::{Result, ensure, err};
use std::ffi::{c_int, c_void};

/// Returns a size in bytes, which must not be negative.
fn check_buffersize<'call, R>(buffersize: &Size<'call, i64, R>) -> Result<Len<'call, R>> {
    let number = buffersize.number();
    buffersize.len().ok_or_else(|| err!(InvalidParam, "`buffersize` is {number}, expected 0 or more"))
}

/// Returns the number of a dimension, which must not be negative.
fn check_axis(axis: i8) -> Result<usize> {
    usize::try_from(axis).map_err(|_| err!(InvalidParam, "`axis` is {axis}, expected 0 or more"))
}

/// Decompresses all items of `array` into `buffer`, in C order. `buffersize` is the size of `buffer` in bytes. The
/// bytes of `buffer` after the last item are set to zero.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 when the items do not fit into `buffersize` bytes, -37 when
/// the lock cannot be acquired, -3 when another handle has changed the shape, -1 when a chunk cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_to_cbuffer(
    array: Handle<*const b2nd_array_t>,
    buffer: DestBuffer<*mut c_void>,
    buffersize: Size<i64, Output>,
) -> c_int {
    result_code(|| {
        check_not_null(buffer.is_null())?;
        let array = array.get()?;
        let dest = buffer.buffer(check_buffersize(&buffersize)?)?;
        array.read(dest).map(|()| 0)
    })
}

/// Decompresses the box from `start` to `stop` (exclusive) of `array` into `buffer`. `buffer` is a C-order array
/// of the shape `buffershape`, in items, and its size is `buffersize` bytes. Its items that do not belong to the
/// box, and those of the box that are outside the shape of `array`, are set to zero. `start`, `stop` and
/// `buffershape` have one number for each dimension.
///
/// Returns 0, also for a box without items or one that begins beyond the end of the shape. Errors: -32 when a
/// pointer is NULL; -12 for a box that does not fit into the buffer; -37 when the lock cannot be acquired; -3 when
/// another handle has changed the shape; -1 when a chunk cannot be read, for a negative `start`, and for a box that
/// extends too far beyond the shape. A box extends too far if one of its chunks, numbered as if the grid of chunks
/// continued beyond the shape, has a number that no chunk of the array has.
///
/// # Safety
/// The rules of the module `capi`; `start`, `stop` and `buffershape` have one number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice_cbuffer(
    array: Handle<*const b2nd_array_t>,
    start: CArray<*const i64, ArrayDims>,
    stop: CArray<*const i64, ArrayDims>,
    buffer: DestBuffer<*mut c_void>,
    buffershape: CArray<*const i64, ArrayDims>,
    buffersize: Size<i64, Output>,
) -> c_int {
    result_code(|| {
        let (handle, array) = (&array, array.get()?);
        if start.is_null() || stop.is_null() || buffershape.is_null() || buffer.is_null() {
            return Err(err!(NullPointer, "`start`, `stop`, `buffershape` or `buffer` is NULL"));
        }
        let dims = handle.dims()?;
        let dest = buffer.buffer(check_buffersize(&buffersize)?)?;
        array.get_box(start.items(dims)?, stop.items(dims)?, buffershape.items(dims)?, dest, true).map(|()| 0)
    })
}

/// Overwrites the box from `start` to `stop` (exclusive) of `array` with the items in `buffer`. `buffer` is a
/// C-order array of the shape `buffershape`, in items, and its size is `buffersize` bytes. Items of the box that
/// are outside the shape of `array` are ignored. `start`, `stop` and `buffershape` have one number for each
/// dimension.
///
/// Returns 0, also for a box without items or one that begins beyond the end of the shape. Errors: -32 when a
/// pointer is NULL; -12 for a box that is not inside the buffer; -1 when a chunk cannot be read or stored, and for
/// a box for which `b2nd_get_slice_cbuffer` returns -1; -37 when the lock cannot be acquired. In plain
/// files nothing has changed then, except for a box beyond the end; elsewhere, and for such a box, the chunks
/// before the one that failed have been written.
///
/// # Safety
/// The rules of the module `capi`; `start`, `stop` and `buffershape` have one number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_slice_cbuffer(
    buffer: SourceBuffer<*const c_void>,
    buffershape: CArray<*const i64, ArrayDims>,
    buffersize: Size<i64, Input>,
    start: CArray<*const i64, ArrayDims>,
    stop: CArray<*const i64, ArrayDims>,
    array: Handle<*mut b2nd_array_t>,
) -> c_int {
    result_code(|| {
        if buffer.is_null() || start.is_null() || stop.is_null() {
            return Err(err!(NullPointer, "`buffer`, `start` or `stop` is NULL"));
        }
        let (handle, array) = (&array, array.get()?);
        let dims = handle.dims()?;
        let src = buffer.bytes(check_buffersize(&buffersize)?)?;
        array.set_box(start.items(dims)?, stop.items(dims)?, buffershape.items(dims)?, src).map(|()| 0)
    })
}

/// Changes the shape of `array` to `new_shape`, in items. If `start` is NULL, items are added or removed at the
/// end of each dimension. Otherwise they are added or removed from item `start[i]` of dimension `i` on; unless
/// that is at the end, `start[i]` and the change must be multiples of the chunk shape. New chunks are zero; items
/// that an earlier shrink cut off inside a chunk that stayed have their old values again.
/// `new_shape` and `start` have one number for each dimension.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid shape or an invalid `start`, -1 when the
/// chunks cannot be changed, -37 when the lock cannot be acquired.
///
/// # Safety
/// The rules of the module `capi`; `new_shape` and `start` have one number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_resize(
    array: Handle<*mut b2nd_array_t>,
    new_shape: CArray<*const i64, ArrayDims>,
    start: CArray<*const i64, ArrayDims>,
) -> c_int {
    result_code(|| {
        let (handle, array) = (&array, array.get()?);
        ensure!(!new_shape.is_null(), NullPointer, "`new_shape` is NULL");
        array.refresh()?;
        let dims = handle.dims()?;
        let new_shape = new_shape.items(dims)?;
        let start = if start.is_null() { None } else { Some(start.items(dims)?) };
        array.resize(new_shape, start).map(|()| 0)
    })
}

/// Inserts the items in the `buffersize` bytes at `buffer`, in C order, into `array` along the dimension `axis`,
/// before position `insert_start`. The array grows along `axis`; unless `insert_start` is at the end, it and the
/// number of inserted rows must be multiples of the chunk shape. The other dimensions of the inserted items are
/// those of `array`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid axis or position and for a `buffersize` that
/// is no whole number of rows, or a code of `b2nd_resize` or `b2nd_set_slice_cbuffer`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_insert(
    array: Handle<*mut b2nd_array_t>,
    buffer: SourceBuffer<*const c_void>,
    buffersize: Size<i64, Input>,
    axis: i8,
    insert_start: i64,
) -> c_int {
    result_code(|| {
        check_not_null(buffer.is_null())?;
        let array = array.get()?;
        let src = buffer.bytes(check_buffersize(&buffersize)?)?;
        array.insert(src, self::check_axis(axis)?, Some(insert_start)).map(|()| 0)
    })
}

/// Appends the items in the `buffersize` bytes at `buffer`, in C order, to `array` along the dimension `axis`. The
/// other dimensions of the appended items are those of `array`.
///
/// Returns 0, or an error code as `b2nd_insert`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_append(
    array: Handle<*mut b2nd_array_t>,
    buffer: SourceBuffer<*const c_void>,
    buffersize: Size<i64, Input>,
    axis: i8,
) -> c_int {
    result_code(|| {
        check_not_null(buffer.is_null())?;
        let array = array.get()?;
        let src = buffer.bytes(check_buffersize(&buffersize)?)?;
        array.append(src, self::check_axis(axis)?).map(|()| 0)
    })
}

/// Deletes `delete_len` rows of `array` along the dimension `axis`, from position `delete_start` on. Unless they
/// are at the end, both numbers must be multiples of the chunk shape.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid axis or rows that do not exist, or a code of
/// `b2nd_resize`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_delete(
    array: Handle<*mut b2nd_array_t>,
    axis: i8,
    delete_start: i64,
    delete_len: i64,
) -> c_int {
    result_code(|| {
        let array = array.get()?;
        array.delete(self::check_axis(axis)?, delete_start, delete_len).map(|()| 0)
    })
}

/// Updates the shape of `array` if another handle or process has changed it.
///
/// Returns 1 if the array was changed, 0 if not. Errors: -32 for NULL, -3 when the chunk shape, the block shape or
/// the number of dimensions has changed, -37 when the lock cannot be acquired.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_refresh(array: Handle<*mut b2nd_array_t>) -> c_int {
    result_code(|| array.get()?.refresh().map(usize::from))
}

/// Prints the shape, the chunk shape, the block shape and the data type of `array` to the standard output.
///
/// Returns 0. Errors: -32 for NULL, -34 when there is no `b2nd` metalayer, -1 for an invalid one.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_print_meta(array: Handle<*const b2nd_array_t>) -> c_int {
    result_code(|| {
        let meta = read_array_meta(array.get()?.schunk()?)?;
        let list = |numbers: &[i64]| {
            let shown = &numbers[..meta.ndim.max(1)];
            shown.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
        };
        let widened = |numbers: &[i32; crate::b2nd::MAX_DIM]| numbers.map(i64::from);
        let mut text = format!(
            "b2nd metalayer parameters:\n Ndim:       {}\n shape:      {}\n chunkshape: {}\n",
            meta.ndim,
            list(&meta.shape),
            list(&widened(&meta.chunkshape))
        );
        if let Some(dtype) = &meta.dtype {
            text.push_str(&format!(" dtype: {}\n", String::from_utf8_lossy(dtype)));
        }
        text.push_str(&format!(" blockshape: {}\n", list(&widened(&meta.blockshape))));
        let text = std::ffi::CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: a format and its string. `printf` is used so that the text has the right order among the output of a
        // C program.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
        Ok(0)
    })
}
