//! Arrays: creating, opening, copying and freeing them (`abi.md` 2.7).

use super::b2nd_context::ArrayContext;
use super::ffi::{check_not_null, result_code};
use super::pointers::{ArrayDims, CArray, CText, Handle, Input, Out, Size, SourceBuffer, Taken, Variable};
use super::schunk::result_code_i64;
use crate::abi::{b2nd_array_t, b2nd_context_t, blosc2_schunk};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::{Array, ArrayBuilder};
use crate::chunk::SpecialValue;
use crate::error::{ErrorKind, Result, ensure, err, to_kind};
use crate::malloc::MallocVec;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// Stores the array that `body` creates in `*result`; NULL after an error.
pub(super) fn store_new_array(
    result: Out<'_, *mut *mut b2nd_array_t>,
    body: impl FnOnce() -> Result<Box<Array>>,
) -> c_int {
    result_code(|| {
        check_not_null(result.is_null())?;
        let result = result.cleared();
        result.store(body()?.into_raw()?);
        Ok(0)
    })
}

/// Creates an array with the parameters `ctx`, whose items have unspecified values, and stores it in `*array`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid shape or item size, -35 for chunks above
/// `BLOSC2_MAX_BUFFERSIZE`, -1 when the super-chunk cannot be created; `*array` is NULL then.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_uninit(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || ctx.read()?.create(SpecialValue::Uninit))
}

/// Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The same as `b2nd_zeros`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_empty(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || ctx.read()?.create(SpecialValue::Zero))
}

/// Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The caller frees it with
/// `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_zeros(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || ctx.read()?.create(SpecialValue::Zero))
}

/// Creates an array of NaNs with the parameters `ctx`, and stores it in `*array`. The items must have 4 or 8
/// bytes. The caller frees it with `b2nd_free`.
///
/// Returns 0. Errors: -3 for items of another size, for which the array is created nevertheless and must be freed;
/// otherwise as `b2nd_uninit`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_nans(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    let mut typesize = 0;
    let made = store_new_array(array, || {
        let made = ctx.read()?.create(SpecialValue::Nan)?;
        typesize = made.geometry().typesize();
        Ok(made)
    });
    result_code(|| {
        if made < 0 {
            return Ok(0);
        }
        ensure!(typesize == 4 || typesize == 8, Data, "`typesize` is {typesize}, expected 4 or 8 for NaNs");
        Ok(0)
    })
    .min(made)
}

/// Creates an array with the parameters `ctx` in which every item equals the item at `fill_value`, and stores it
/// in `*array`. The caller frees it with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`.
///
/// # Safety
/// The rules of the module `capi`; `fill_value` points at one item.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_full(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
    fill_value: SourceBuffer<*const c_void>,
) -> c_int {
    store_new_array(array, || {
        let given = ctx.read()?;
        let typesize = usize::try_from(given.array_params().storage.cparams.typesize).unwrap_or(0);
        // SAFETY: the caller provides one item, which has `typesize` bytes.
        let value = unsafe { fill_value.first_bytes(typesize) }?;
        let mut made = given.create(SpecialValue::Zero)?;
        made.fill(value)?;
        Ok(made)
    })
}

/// Creates an array with the parameters `ctx` from the `buffersize` bytes at `buffer`, which holds the items in C
/// order, and stores it in `*array`. The items are copied. The caller frees the array with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`. Returns -12 also when `buffersize` is less than the size of all
/// items; an array of zeros is created nevertheless, and the caller must free it.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_from_cbuffer(
    ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
    buffer: SourceBuffer<*const c_void>,
    buffersize: Size<i64, Input>,
) -> c_int {
    result_code(|| {
        check_not_null(array.is_null())?;
        let array = array.cleared();
        ensure!(!ctx.is_null() && !buffer.is_null(), NullPointer, "`ctx` or `buffer` is NULL");
        let made = ctx.read()?.create(SpecialValue::Zero)?;
        let written = buffer.bytes(buffersize.len_or_zero()).and_then(|items| made.write(items));
        let keeps_array = written.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::InvalidParam);
        if keeps_array {
            array.store(made.into_raw()?);
        }
        written.map(|()| 0)
    })
}

/// Frees `array` with its super-chunk. If the caller has set `array->sc` to NULL, the super-chunk is not freed.
///
/// Returns 0, or -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; the array is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_free(array: Taken<*mut b2nd_array_t>) -> c_int {
    result_code(|| {
        check_not_null(array.is_null())?;
        drop(array.take());
        Ok(0)
    })
}

/// Creates an array from `schunk`, a super-chunk with a `b2nd` metalayer, and stores it in `*array`. The array
/// takes the ownership of the super-chunk, unless an error is returned. The caller frees the array with
/// `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -34 when there is no `b2nd` metalayer, -1 for an invalid one,
/// -12 for an invalid shape; `*array` is NULL then.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_from_schunk(
    schunk: Taken<*mut blosc2_schunk>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || {
        let builder = ArrayBuilder::read(schunk.get()?)?;
        // From here on nothing fails: `get` has returned an error for NULL.
        let schunk = schunk.take().ok_or_else(|| err!(NullPointer, "`schunk` is NULL"))?;
        Ok(builder.into_array(schunk))
    })
}

/// Stores the address of `array` as one contiguous frame in `*cframe`, and the length of the frame in bytes in
/// `*cframe_len`. If `*needs_free` is set to true, the frame is a copy, which the caller frees with `free()`; if
/// false, the frame belongs to the array and is valid until that changes.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the frame cannot be made; `*cframe` is NULL, `*cframe_len`
/// 0 and `*needs_free` false then.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_to_cframe(
    array: Handle<*const b2nd_array_t>,
    cframe: Out<*mut *mut u8>,
    cframe_len: Out<*mut i64>,
    needs_free: Out<*mut bool>,
) -> c_int {
    result_code(|| {
        let (cframe, cframe_len, needs_free) = (cframe.cleared(), cframe_len.cleared(), needs_free.cleared());
        if cframe.is_null() || cframe_len.is_null() || needs_free.is_null() {
            return Err(err!(NullPointer, "`cframe`, `cframe_len` or `needs_free` is NULL"));
        }
        let bytes = array.get()?.schunk()?.to_buffer().map_err(to_kind(ErrorKind::Failure))?;
        cframe.store(bytes.start);
        cframe_len.store(bytes.len as i64);
        needs_free.store(bytes.is_copy);
        Ok(0)
    })
}

/// Opens the array in the contiguous frame of `cframe_len` bytes at `cframe`, and stores it in `*array`. `copy`
/// has the same meaning as in `blosc2_schunk_from_buffer`: if false, the buffer must stay valid as long as the
/// array. The caller frees the array with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the bytes are no frame, or a code of `b2nd_from_schunk`.
///
/// # Safety
/// The rules of the module `capi`; if `copy` is false, the frame stays valid as long as the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cframe(
    cframe: *mut u8,
    cframe_len: i64,
    copy: bool,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || {
        let start = NonNull::new(cframe).ok_or_else(|| err!(NullPointer, "`cframe` is NULL"))?;
        let len = usize::try_from(cframe_len)
            .map_err(|_| err!(Failure, "`cframe_len` is {cframe_len}, expected 0 or more"))?;
        // SAFETY: the caller provides a buffer of `len` bytes, which without `copy` stays valid as long as the array.
        Array::from_cframe(unsafe { MallocVec::from_program_block(start, len) }, copy)
    })
}

/// Opens the array in the file or directory `urlpath`, and stores it in `*array`. The caller frees it with
/// `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL or there is no readable frame, or a code of `b2nd_from_schunk`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_open(urlpath: CText<*const c_char>, array: Out<*mut *mut b2nd_array_t>) -> c_int {
    open(urlpath, array, 0)
}

/// Opens the array in the frame that begins at byte `offset` of the file `urlpath`, and stores it in `*array`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_open`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_open_offset(
    urlpath: CText<*const c_char>,
    array: Out<*mut *mut b2nd_array_t>,
    offset: i64,
) -> c_int {
    open(urlpath, array, offset)
}

/// Opens the array in the frame at byte `offset` of a file, and stores it in `*array`.
fn open(urlpath: CText<'_, *const c_char>, array: Out<'_, *mut *mut b2nd_array_t>, offset: i64) -> c_int {
    store_new_array(array, || {
        let urlpath = urlpath.optional().ok_or_else(|| err!(NullPointer, "`urlpath` is NULL"))?;
        Array::open(urlpath, offset)
    })
}

/// Writes `array` with all its metalayers to the path `urlpath`: to a directory if the array is stored as separate
/// chunks, else to a file. Nothing must exist at that path yet.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be written.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_save(array: Handle<*const b2nd_array_t>, urlpath: CText<*mut c_char>) -> c_int {
    result_code(|| {
        check_not_null(urlpath.is_null())?;
        array.get()?.save(urlpath.get()?).map(|()| 0)
    })
}

/// Appends `array` as one contiguous frame to the file `urlpath`. The file is created if it does not exist.
///
/// Returns the byte offset of the frame in the file (0 in a new file), which `b2nd_open_offset` takes. Errors: -32
/// when `array` is NULL, -12 when `urlpath` is NULL, or a code of `blosc2_schunk_append_file`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_save_append(array: Handle<*const b2nd_array_t>, urlpath: CText<*const c_char>) -> i64 {
    result_code_i64(|| array.get()?.schunk()?.append_file(urlpath.get()?).map(|at| at as i64))
}

/// Copies `src` to a new array with the parameters `ctx`, and stores it in `*array`. The shape in `ctx` is
/// replaced by the shape of `src`. The caller frees the copy with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be copied, or a code of `b2nd_uninit`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_copy(
    mut ctx: ArrayContext<*mut b2nd_context_t>,
    src: Handle<*const b2nd_array_t>,
    array: Out<*mut *mut b2nd_array_t>,
) -> c_int {
    store_new_array(array, || {
        let src = src.get()?;
        check_not_null(ctx.is_null())?;
        src.refresh()?;
        ctx.set_shape(src.geometry().shape());
        ctx.read()?.copy(src)
    })
}

/// Concatenates the arrays `src1` and `src2` along the dimension `axis` (counted from 0). If `copy` is true, a new
/// array is created with the parameters `ctx` and stored in `*array`; the caller frees it with `b2nd_free`. If
/// `copy` is false, `src1` itself is extended, and `*array` is set to `src1`; `ctx` is not used.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for an invalid axis, for different item sizes, and for
/// shapes that differ in a dimension other than `axis`; or a code of `b2nd_copy`, `b2nd_resize` or
/// `b2nd_set_slice_cbuffer`. `*array` is NULL then, unless it was `src1` before the call: `array` may be the
/// address of the caller's only pointer to `src1`.
#[unsafe(no_mangle)]
pub extern "C" fn b2nd_concatenate(
    mut ctx: ArrayContext<*mut b2nd_context_t>,
    src1: Handle<*const b2nd_array_t>,
    src2: Handle<*const b2nd_array_t>,
    axis: i8,
    copy: bool,
    mut array: Variable<*mut *mut b2nd_array_t>,
) -> c_int {
    let result = result_code(|| {
        check_not_null(array.is_null())?;
        let (first, second) = (src1.get()?, src2.get()?);
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        if !copy {
            // SAFETY: no array is created.
            unsafe { first.concatenate(second, axis, None) }?;
            array.set(src1.as_ptr());
            return Ok(0);
        }
        check_not_null(ctx.is_null())?;
        first.refresh()?;
        let before = ctx.shape()?;
        ctx.set_shape(first.geometry().shape());
        let made = ctx.read()?.concatenate(first, second, axis).inspect_err(|_| ctx.restore_shape(before))?;
        array.set(made.map_or(Ok(ptr::null_mut()), |made| made.into_raw())?);
        Ok(0)
    });
    if result < 0 && array.get().is_some_and(|present| !ptr::eq(present, src1.as_ptr())) {
        array.set(ptr::null_mut());
    }
    result
}

/// Copies the box from `start` to `stop` (exclusive) of `src` to a new array with the parameters `ctx`, and stores
/// it in `*array`. `start` and `stop` have one number for each dimension, in items. The shape in `ctx` is replaced
/// by the shape of the box. Items of the box that are outside the shape of `src` are zero. The caller frees the
/// new array with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for a `stop` below `start`, or a code of `b2nd_uninit`. Each
/// chunk of the new array is read from `src` separately, with the error codes of `b2nd_get_slice_cbuffer`.
///
/// # Safety
/// The rules of the module `capi`; `start` and `stop` have one number for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_get_slice(
    mut ctx: ArrayContext<*mut b2nd_context_t>,
    array: Out<*mut *mut b2nd_array_t>,
    src: Handle<*const b2nd_array_t>,
    start: CArray<*const i64, ArrayDims>,
    stop: CArray<*const i64, ArrayDims>,
) -> c_int {
    store_new_array(array, || {
        let (handle, src) = (&src, src.get()?);
        check_not_null(ctx.is_null())?;
        ensure!(!start.is_null() && !stop.is_null(), NullPointer, "`start` or `stop` is NULL");
        src.refresh()?;
        let dims = handle.dims()?;
        let (start, stop) = (start.items(dims)?, stop.items(dims)?);
        let mut shape = [0; MAX_DIM];
        for dim in 0..dims.get() {
            shape[dim] = stop[dim].saturating_sub(start[dim]);
        }
        ctx.set_shape(&shape[..dims.get()]);
        ctx.read()?.slice(src, start, stop)
    })
}
