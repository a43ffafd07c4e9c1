//! Functions that need no array: the `b2nd` metalayer as bytes, and copies of boxes between buffers
//! (`abi.md` 2.7).

use super::ffi::{catch_errors, result_code};
use super::pointers::{CArray, CText, Dims, Input, Len, Out, OutDims, Size, SourceBuffer};
use crate::b2nd::MAX_DIM;
use crate::b2nd::boxes::{BoxLayout, item_byte_offset, plan_rows};
use crate::b2nd::metalayer;
use crate::error::{Error, Result, ensure, err};
use crate::frame::format::array_meta::MetaFields;
use crate::malloc::MallocBytes;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Returns a number of dimensions that arrays can have.
pub(super) fn check_ndim(ndim: i8) -> Result<usize> {
    let dims = usize::try_from(ndim).ok().filter(|&dims| dims <= MAX_DIM);
    dims.ok_or_else(|| err!(InvalidParam, "`ndim` is {ndim}, expected 0 to {MAX_DIM}"))
}

/// Returns the number of dimensions of a call, which arrays can have.
pub(super) fn check_dims<'call>(ndim: &Size<'call, i8, Dims>) -> Result<Len<'call, Dims>> {
    check_ndim(ndim.number())?;
    Ok(ndim.len_or_zero())
}

/// Creates the content of a `b2nd` metalayer in a buffer from `malloc`, and stores its address in `*smeta`; the
/// caller frees it with `free()`. `shape`, `chunkshape` and `blockshape` are arrays of `ndim` numbers, in items;
/// they are not checked. `dtype` is the data type of the items, a string in the format `dtype_format` (0 is
/// NumPy's); NULL means `|u1`.
///
/// Returns the length of the content in bytes. Errors: -12 for an `ndim` outside 0 to 16, -32 when a pointer is
/// NULL, -1 for a negative `dtype_format` or a `dtype` of 2 GB, -4 when memory cannot be allocated; `*smeta` is NULL
/// then.
///
/// # Safety
/// The rules of the module `capi`; the shapes have `ndim` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_serialize_meta(
    ndim: Size<i8, Dims>,
    shape: CArray<*const i64, Dims>,
    chunkshape: CArray<*const i32, Dims>,
    blockshape: CArray<*const i32, Dims>,
    dtype: CText<*const c_char>,
    dtype_format: i8,
    smeta: Out<*mut *mut u8>,
) -> c_int {
    result_code(|| {
        ensure!(!smeta.is_null(), NullPointer, "`smeta` is NULL");
        let smeta = smeta.cleared();
        let dims = check_dims(&ndim)?;
        let (shape, chunkshape, blockshape) =
            (shape.items(dims)?, chunkshape.items(dims)?, blockshape.items(dims)?);
        let dtype = dtype.optional().map(CStr::to_bytes);
        let bytes = metalayer::serialize(shape, chunkshape, blockshape, dtype, dtype_format)?;
        smeta.store(MallocBytes::copy_of(&bytes)?.into_raw());
        Ok(bytes.len())
    })
}

/// Parses the content of a `b2nd` metalayer (or of its predecessor `caterva`), the `smeta_len` bytes at `smeta`.
/// Stores the number of dimensions in `*ndim` and the shapes, in items, in the arrays `shape`, `chunkshape` and
/// `blockshape`, which must have room for 16 numbers each. The shapes are not checked. Stores the data type in
/// `*dtype`, a string that the caller frees with `free()` (NULL in a `caterva` metalayer), and its format in
/// `*dtype_format`. If `dtype` or `dtype_format` is NULL, the data type is not parsed.
///
/// Returns the number of bytes parsed. Errors: -32 when another pointer is NULL, -1 for a truncated metalayer, for
/// more than 16 dimensions and for a data type that is no string, -4 when memory cannot be allocated. The values
/// parsed before an error are stored; `*ndim` is 0 and `*dtype` NULL if they were not parsed.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_deserialize_meta(
    smeta: SourceBuffer<*const u8>,
    smeta_len: Size<i32, Input>,
    ndim: Out<*mut i8>,
    shape: OutDims<*mut i64>,
    chunkshape: OutDims<*mut i32>,
    blockshape: OutDims<*mut i32>,
    dtype: Out<*mut *mut c_char>,
    dtype_format: Out<*mut i8>,
) -> c_int {
    result_code(|| {
        let (ndim, dtype, dtype_format) = (ndim.cleared(), dtype.cleared(), dtype_format.cleared());
        ensure!(!smeta.is_null() && !ndim.is_null(), NullPointer, "`smeta` or `ndim` is NULL");
        if shape.is_null() || chunkshape.is_null() || blockshape.is_null() {
            return Err(err!(NullPointer, "`shape`, `chunkshape` or `blockshape` is NULL"));
        }
        let bytes = smeta.bytes(smeta_len.len_or_zero())?;
        let mut fields = MetaFields::default();
        let with_dtype = !dtype.is_null() && !dtype_format.is_null();
        let consumed = fields.read(bytes, with_dtype);
        if let Some(read) = fields.ndim {
            ndim.store(read);
        }
        let dims = fields.ndim.and_then(|ndim| check_ndim(ndim).ok()).unwrap_or(0);
        if fields.nshapes_begun > 0 {
            shape.store(&fields.shape[..dims]);
        }
        if fields.nshapes_begun > 1 {
            chunkshape.store(&fields.chunkshape[..dims]);
        }
        if fields.nshapes_begun > 2 {
            blockshape.store(&fields.blockshape[..dims]);
        }
        if with_dtype {
            dtype_format.store(fields.dtype_format);
        }
        if let (Ok(_), Some(text)) = (&consumed, fields.dtype) {
            dtype.store(MallocBytes::with_nul(text)?.into_raw().cast());
        }
        consumed
    })
}

/// Copies a box between two C-order arrays as `b2nd_copy_buffer2`, with the same arguments `ndim`, `src`,
/// `src_pad_shape`, `src_start`, `src_stop`, `dst`, `dst_pad_shape` and `dst_start`, but an `itemsize` of at most
/// 255 bytes.
///
/// Returns 0, or an error code as `b2nd_copy_buffer2`.
///
/// # Safety
/// The rules of the module `capi`; those of [`b2nd_copy_buffer2`].
#[deprecated(note = "b2nd_copy_buffer2 takes items of any size")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer(
    ndim: Size<i8, Dims>,
    itemsize: u8,
    src: *const c_void,
    src_pad_shape: CArray<*const i64, Dims>,
    src_start: CArray<*const i64, Dims>,
    src_stop: CArray<*const i64, Dims>,
    dst: *mut c_void,
    dst_pad_shape: CArray<*const i64, Dims>,
    dst_start: CArray<*const i64, Dims>,
) -> c_int {
    // SAFETY: the contract of this function is that of `b2nd_copy_buffer2`.
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

/// Copies the box from `src_start` to `src_stop` (exclusive) of the array `src` to the position `dst_start` of the
/// array `dst`. Both are arrays of `ndim` dimensions in C order, with items of `itemsize` bytes; `src_pad_shape`
/// and `dst_pad_shape` are their shapes. Shapes and positions are arrays of `ndim` numbers, in items. An empty box
/// copies nothing. Whether the box is inside both arrays is not checked.
///
/// Returns 0. Errors: -12 for an `ndim` outside 0 to 16, for negative numbers and for positions that overflow, -32
/// when a pointer is NULL.
///
/// # Safety
/// The rules of the module `capi`, but the buffers may overlap; the box is inside both arrays, and shapes and
/// positions have `ndim` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy_buffer2(
    ndim: Size<i8, Dims>,
    itemsize: i32,
    src: *const c_void,
    src_pad_shape: CArray<*const i64, Dims>,
    src_start: CArray<*const i64, Dims>,
    src_stop: CArray<*const i64, Dims>,
    dst: *mut c_void,
    dst_pad_shape: CArray<*const i64, Dims>,
    dst_start: CArray<*const i64, Dims>,
) -> c_int {
    catch_errors(Error::code, || {
        let dims = check_dims(&ndim)?;
        let (start, stop) = (src_start.items(dims)?, src_stop.items(dims)?);
        let mut shape = [0i64; MAX_DIM];
        for ((extent, &start), &stop) in shape.iter_mut().zip(start).zip(stop) {
            *extent = stop
                .checked_sub(start)
                .ok_or_else(|| err!(InvalidParam, "the extent from {start} to {stop} exceeds 64 bits"))?;
        }
        let shape = &shape[..dims.get()];
        if shape.contains(&0) || itemsize == 0 {
            return Ok(0);
        }
        let (src_shape, dst_shape, dst_start) =
            (src_pad_shape.items(dims)?, dst_pad_shape.items(dims)?, dst_start.items(dims)?);
        let is_item = shape.iter().all(|&extent| extent == 1);
        if is_item && itemsize > 0 && !src.is_null() && !dst.is_null() {
            let places = item_byte_offset(src_shape, start, itemsize)
                .zip(item_byte_offset(dst_shape, dst_start, itemsize));
            if let Some((from, to)) = places {
                // SAFETY: by the contract of this function both items are inside their buffers.
                unsafe {
                    ptr::copy(src.byte_add(from).cast::<u8>(), dst.byte_add(to).cast(), itemsize as usize)
                };
                return Ok(0);
            }
        }
        let (src_side, dst_side) =
            (BoxLayout::in_shape(src_shape, start)?, BoxLayout::in_shape(dst_shape, dst_start)?);
        let rows = plan_rows(shape, itemsize, &src_side, &dst_side)?;
        ensure!(!src.is_null() && !dst.is_null(), NullPointer, "`src` or `dst` is NULL");
        // SAFETY: by the contract of this function both boxes are inside their buffers.
        unsafe { rows.copy_between(src.cast(), dst.cast()) };
        Ok(0)
    })
}
