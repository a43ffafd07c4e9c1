//! The items and the shape of arrays (`abi.md` 2.7).

use super::b2nd::{array, place};
use super::b2nd_meta::extents;
use super::ffi::{code, destination, source};
use crate::abi::b2nd_array_t;
use crate::b2nd::array::stored_meta;
use crate::err;
use crate::error::Result;
use std::ffi::{c_int, c_void};

/// A size in bytes, which must not be negative.
fn size(buffersize: i64) -> Result<usize> {
    usize::try_from(buffersize).map_err(|_| err!(InvalidParam, "a buffer of {buffersize} bytes"))
}

/// An axis of an array.
fn axis(axis: i8) -> Result<usize> {
    usize::try_from(axis).map_err(|_| err!(InvalidParam, "axis {axis}"))
}

/// Reads the whole `array` into `buffer`, in C order. Bytes behind the items become zero.
///
/// Returns 0; -32 for NULL, -12 when the items do not fit into `buffersize` bytes, -1 when a chunk cannot be
/// read.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cbuffer(
    array: *const b2nd_array_t,
    buffer: *mut c_void,
    buffersize: i64,
) -> c_int {
    code(|| {
        place(buffer)?;
        // SAFETY: by the rules of the module.
        let (array, dest) = unsafe { (self::array(array)?, destination(buffer, size(buffersize)?)?) };
        array.read(dest).map(|()| 0)
    })
}

/// Reads the box from `start` to `stop` (the latter left out) of `array` into `buffer`, an array of
/// `buffershape` items in C order that takes `buffersize` bytes; its other items become zero, and so do those of
/// the box that are outside the shape.
///
/// Returns 0, also for a box without items or one that begins behind the end of the shape; -32 for NULL, -12 for a
/// box that does not fit into the buffer, -1 when a chunk cannot be read, for a negative `start`, and for a box
/// that reaches so far beyond the shape that the numbers of its chunks, counted as if the grid of chunks went on, are
/// those of no chunk of the array.
///
/// # Safety
/// The rules of the module `capi`; `start`, `stop` and `buffershape` have a number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice_cbuffer(
    array: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
    buffer: *mut c_void,
    buffershape: *const i64,
    buffersize: i64,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        if start.is_null() || stop.is_null() || buffershape.is_null() || buffer.is_null() {
            return Err(err!(NullPointer, "no box, or no buffer"));
        }
        array.refresh()?;
        let ndim = array.geometry().ndim();
        // SAFETY: by the rules of the module.
        unsafe {
            let dest = destination(buffer, size(buffersize)?)?;
            array.get_box(extents(start, ndim)?, extents(stop, ndim)?, extents(buffershape, ndim)?, dest)
        }
        .map(|()| 0)
    })
}

/// Writes the box from `start` to `stop` (the latter left out) of `array` from `buffer`, an array of
/// `buffershape` items in C order that takes `buffersize` bytes.
///
/// Items of the box that are outside the shape are not stored.
///
/// Returns 0, also for a box without items or one that begins behind the end of the shape; -32 for NULL, -12 for a
/// box that is not in the buffer, -1 when a chunk cannot be read or stored and for a box that
/// `b2nd_get_slice_cbuffer` refuses with -1, -37 when the lock cannot be had. The chunks before the one that
/// failed have been written then.
///
/// # Safety
/// The rules of the module `capi`; `start`, `stop` and `buffershape` have a number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_set_slice_cbuffer(
    buffer: *const c_void,
    buffershape: *const i64,
    buffersize: i64,
    start: *const i64,
    stop: *const i64,
    array: *mut b2nd_array_t,
) -> c_int {
    code(|| {
        if buffer.is_null() || start.is_null() || stop.is_null() {
            return Err(err!(NullPointer, "no box, or no buffer"));
        }
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        array.refresh()?;
        let ndim = array.geometry().ndim();
        // SAFETY: by the rules of the module.
        unsafe {
            let src = source(buffer, size(buffersize)?)?;
            array.set_box(extents(start, ndim)?, extents(stop, ndim)?, extents(buffershape, ndim)?, src)
        }
        .map(|()| 0)
    })
}

/// Gives `array` another shape, `new_shape` items. With `start`, what is new or goes begins there in each
/// dimension, in whole chunks unless it is the end; new items are zero. Without, it is at the end.
///
/// Returns 0; -32 for NULL, -12 for a shape or start that cannot be, -1 when chunks cannot be changed, -37
/// when the lock cannot be had.
///
/// # Safety
/// The rules of the module `capi`; `new_shape` and `start` have a number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_resize(
    array: *mut b2nd_array_t,
    new_shape: *const i64,
    start: *const i64,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        if new_shape.is_null() {
            return Err(err!(NullPointer, "no shape"));
        }
        array.refresh()?;
        let ndim = array.geometry().ndim();
        // SAFETY: by the rules of the module.
        let (new_shape, start) = unsafe {
            (extents(new_shape, ndim)?, if start.is_null() { None } else { Some(extents(start, ndim)?) })
        };
        array.resize(new_shape, start).map(|()| 0)
    })
}

/// Puts the items in the `buffersize` bytes at `buffer` into `array`, which grows by them along `axis`, from
/// `insert_start` on.
///
/// Returns 0; -32 for NULL, -12 for an axis or place that is not there or bytes that are no whole number of
/// rows, the codes of `b2nd_resize` and `b2nd_set_slice_cbuffer`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_insert(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
    insert_start: i64,
) -> c_int {
    code(|| {
        place(buffer.cast_mut())?;
        // SAFETY: by the rules of the module.
        let (array, src) = unsafe { (self::array(array)?, source(buffer, size(buffersize)?)?) };
        array.insert(src, self::axis(axis)?, Some(insert_start)).map(|()| 0)
    })
}

/// Puts the items in the `buffersize` bytes at `buffer` at the end of `array` along `axis`.
///
/// Returns 0, or a code as `b2nd_insert`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_append(
    array: *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
    axis: i8,
) -> c_int {
    code(|| {
        place(buffer.cast_mut())?;
        // SAFETY: by the rules of the module.
        let (array, src) = unsafe { (self::array(array)?, source(buffer, size(buffersize)?)?) };
        array.append(src, self::axis(axis)?).map(|()| 0)
    })
}

/// Takes `delete_len` rows along `axis` out of `array`, from `delete_start` on: in whole chunks, unless they
/// are at the end.
///
/// Returns 0; -32 for NULL, -12 for an axis or rows that are not there, the codes of `b2nd_resize`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_delete(
    array: *mut b2nd_array_t,
    axis: i8,
    delete_start: i64,
    delete_len: i64,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let array = unsafe { self::array(array) }?;
        array.delete(self::axis(axis)?, delete_start, delete_len).map(|()| 0)
    })
}

/// Takes over into `array` a shape that another handle or process has changed.
///
/// Returns 1 if there was one, 0 if not; -32 for NULL, -3 when chunks or blocks have changed, -37 when the
/// lock cannot be had.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_refresh(array: *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { self::array(array) }?.refresh().map(usize::from))
}

/// Prints shape, chunks, blocks and data type of `array` to the standard output.
///
/// Returns 0; -32 for NULL, -34 without the metalayer, -1 for one that makes no sense.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_print_meta(array: *const b2nd_array_t) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let meta = stored_meta(unsafe { self::array(array) }?.schunk()?)?;
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
        // SAFETY: a format and its string; C programs expect the text among their own output.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
        Ok(0)
    })
}
