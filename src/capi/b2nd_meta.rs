//! The metalayer of arrays as bytes, and copies of boxes between buffers: what needs no array (`abi.md` 2.7).

use super::ffi::{code, guard, malloc_copy, store};
use crate::b2nd::MAX_DIM;
use crate::b2nd::boxes::{BoxCopy, Side, place_of};
use crate::b2nd::metalayer::{self, Fields};
use crate::err;
use crate::error::{Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::{ptr, slice};

/// A number of dimensions that arrays may have.
pub(super) fn dimensions(ndim: i8) -> Result<usize> {
    let dims = usize::try_from(ndim).ok().filter(|&dims| dims <= MAX_DIM);
    dims.ok_or_else(|| err!(InvalidParam, "{ndim} dimensions; {MAX_DIM} are the most"))
}

/// One number for each dimension; without dimensions the pointer may be NULL.
///
/// # Safety
/// `ptr` is NULL or points at `dims` numbers.
pub(super) unsafe fn extents<'a, T>(ptr: *const T, dims: usize) -> Result<&'a [T]> {
    if dims == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(err!(NullPointer, "{dims} numbers are NULL"));
    }
    // SAFETY: not NULL, and by the caller's word that many.
    Ok(unsafe { slice::from_raw_parts(ptr, dims) })
}

/// Makes the content of a `b2nd` metalayer: `*smeta`, for the caller to free. The `ndim` extents of `shape`,
/// `chunkshape` and `blockshape` are written as they are. A `dtype` of NULL is written as `|u1`.
///
/// Returns the length; -12 for `ndim` out of 0 to 16, -32 for NULL, -1 for a negative `dtype_format` or a
/// `dtype` of 2 GB, -4 without memory.
///
/// # Safety
/// The rules of the module `capi`; the shapes have `ndim` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_serialize_meta(
    ndim: i8,
    shape: *const i64,
    chunkshape: *const i32,
    blockshape: *const i32,
    dtype: *const c_char,
    dtype_format: i8,
    smeta: *mut *mut u8,
) -> c_int {
    code(|| {
        if smeta.is_null() {
            return Err(err!(NullPointer, "no place for the metalayer"));
        }
        let dims = dimensions(ndim)?;
        // SAFETY: by the rules of the module.
        let (shape, chunkshape, blockshape) =
            unsafe { (extents(shape, dims)?, extents(chunkshape, dims)?, extents(blockshape, dims)?) };
        // SAFETY: not NULL, and by the rules it ends with NUL.
        let dtype = (!dtype.is_null()).then(|| unsafe { CStr::from_ptr(dtype) }.to_bytes());
        let bytes = metalayer::serialize(shape, chunkshape, blockshape, dtype, dtype_format)?;
        let copy = malloc_copy(&bytes, false)?;
        // SAFETY: not NULL, and by the rules writable.
        unsafe { store(smeta, copy) };
        Ok(bytes.len())
    })
}

/// Reads the content of a `b2nd` metalayer (or of the older `caterva`), the `smeta_len` bytes at `smeta`,
/// without looking whether the extents make sense; the number of dimensions goes to `*ndim`. `*dtype`, NULL
/// in the older one, is for the caller to free. `dtype` or `dtype_format` may be NULL; then neither is read.
/// `shape`, `chunkshape` and `blockshape` need room for 16 numbers.
///
/// Returns the bytes that were read; -32 for NULL, -1 for a metalayer that ends too early, more than 16
/// dimensions or a data type that is no string, -4 without memory. What was read up to an error stays stored.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_deserialize_meta(
    smeta: *const u8,
    smeta_len: i32,
    ndim: *mut i8,
    shape: *mut i64,
    chunkshape: *mut i32,
    blockshape: *mut i32,
    dtype: *mut *mut c_char,
    dtype_format: *mut i8,
) -> c_int {
    code(|| {
        if smeta.is_null() || ndim.is_null() {
            return Err(err!(NullPointer, "no metalayer, or no place for its dimensions"));
        }
        if shape.is_null() || chunkshape.is_null() || blockshape.is_null() {
            return Err(err!(NullPointer, "no place for the shapes"));
        }
        // SAFETY: by the rules of the module.
        unsafe {
            store(dtype, ptr::null_mut());
            store(dtype_format, 0);
        }
        let len = usize::try_from(smeta_len).unwrap_or(0);
        // SAFETY: not NULL, and by the rules as long as it says.
        let bytes = if len == 0 { &[] } else { unsafe { slice::from_raw_parts(smeta, len) } };
        let mut fields = Fields::default();
        let with_dtype = !dtype.is_null() && !dtype_format.is_null();
        let consumed = fields.read(bytes, with_dtype);
        // SAFETY: by the rules of the module; the shapes have room for all the dimensions that `read` lets through.
        unsafe {
            if let Some(read) = fields.ndim {
                store(ndim, read);
            }
            let dims = fields.ndim.and_then(|ndim| dimensions(ndim).ok()).unwrap_or(0);
            if fields.shapes > 0 {
                shape.copy_from_nonoverlapping(fields.shape.as_ptr(), dims);
            }
            if fields.shapes > 1 {
                chunkshape.copy_from_nonoverlapping(fields.chunkshape.as_ptr(), dims);
            }
            if fields.shapes > 2 {
                blockshape.copy_from_nonoverlapping(fields.blockshape.as_ptr(), dims);
            }
            if with_dtype {
                store(dtype_format, fields.dtype_format);
            }
            if let (Ok(_), Some(text)) = (&consumed, fields.dtype) {
                store(dtype, malloc_copy(text, true)?.cast());
            }
        }
        consumed
    })
}

/// A box in a buffer, and the other box: see [`b2nd_copy_buffer2`].
struct BoxArguments {
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
}

/// Copies a box.
///
/// # Safety
/// The rules of the module `capi`; those of [`b2nd_copy_buffer2`].
unsafe fn copy_box(arguments: &BoxArguments) -> Result<()> {
    let a = arguments;
    let dims = dimensions(a.ndim)?;
    // SAFETY: by the caller's word.
    let (start, stop) = unsafe { (extents(a.src_start, dims)?, extents(a.src_stop, dims)?) };
    let mut shape = [0i64; MAX_DIM];
    for ((extent, &start), &stop) in shape.iter_mut().zip(start).zip(stop) {
        *extent =
            stop.checked_sub(start).ok_or_else(|| err!(InvalidParam, "a box from {start} to {stop}"))?;
    }
    let shape = &shape[..dims];
    if shape.contains(&0) || a.itemsize == 0 {
        return Ok(());
    }
    // SAFETY: by the caller's word.
    let (src_shape, dst_shape, dst_start) = unsafe {
        (extents(a.src_pad_shape, dims)?, extents(a.dst_pad_shape, dims)?, extents(a.dst_start, dims)?)
    };
    let is_item = shape.iter().all(|&extent| extent == 1);
    if is_item && a.itemsize > 0 && !a.src.is_null() && !a.dst.is_null() {
        let places = place_of(src_shape, start, a.itemsize).zip(place_of(dst_shape, dst_start, a.itemsize));
        if let Some((from, to)) = places {
            // SAFETY: by the caller's word both items lie in their buffers.
            unsafe {
                ptr::copy(a.src.byte_add(from).cast::<u8>(), a.dst.byte_add(to).cast(), a.itemsize as usize)
            };
            return Ok(());
        }
    }
    let (src_side, dst_side) = (Side::in_shape(src_shape, start)?, Side::in_shape(dst_shape, dst_start)?);
    let plan = BoxCopy::new(shape, a.itemsize, &src_side, &dst_side)?;
    if a.src.is_null() || a.dst.is_null() {
        return Err(err!(NullPointer, "a buffer is NULL"));
    }
    // SAFETY: by the caller's word both boxes lie in their buffers.
    unsafe { plan.rows().copy_between(a.src.cast(), a.dst.cast()) };
    Ok(())
}

/// What `b2nd_copy_buffer2` does with `ndim`, `src`, `src_pad_shape`, `src_start`, `src_stop`, `dst`,
/// `dst_pad_shape` and `dst_start`, with an `itemsize` of up to 255 bytes.
///
/// Returns 0; -12 and -32 as that function.
///
/// # Safety
/// The rules of the module `capi`; those of [`b2nd_copy_buffer2`].
#[deprecated(note = "b2nd_copy_buffer2 takes items of any size")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer(
    ndim: i8,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    // SAFETY: handed on.
    unsafe {
        b2nd_copy_buffer2(
            ndim,
            itemsize.into(),
            src,
            src_pad_shape,
            src_start,
            src_stop,
            dst,
            dst_pad_shape,
            dst_start,
        )
    }
}

/// Copies the box from `src_start` to `src_stop` (left out) of an array `src` of `src_pad_shape` items of
/// `itemsize` bytes to `dst_start` of an array `dst` of `dst_pad_shape`; both in C order. An empty box copies
/// nothing. Whether the boxes lie in the arrays is not looked at.
///
/// Returns 0; -12 for `ndim` out of 0 to 16, negative numbers, or places that do not fit; -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the buffers may overlap, though; the boxes lie in them, and the arrays of
/// numbers have `ndim` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: i8,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: *const i64,
    src_start: *const i64,
    src_stop: *const i64,
    dst: *mut c_void,
    dst_pad_shape: *const i64,
    dst_start: *const i64,
) -> c_int {
    let arguments = BoxArguments {
        ndim,
        itemsize,
        src,
        src_pad_shape,
        src_start,
        src_stop,
        dst,
        dst_pad_shape,
        dst_start,
    };
    // SAFETY: handed on.
    guard(Error::code, || unsafe { copy_box(&arguments) }.map(|()| 0))
}
