//! Arrays: creating, opening, copying and freeing them (`abi.md` 2.7).

use super::b2nd_context::{read_creation_context, set_context_shape};
use super::b2nd_meta::typed_slice;
use super::ffi::{self, Out, c_str, check_not_null, result_code, source_slice};
use super::schunk::result_code_i64;
use crate::abi::{b2nd_array_t, b2nd_context_t, blosc2_schunk};
use crate::b2nd::MAX_DIM;
use crate::b2nd::array::{Array, ArrayBuilder};
use crate::chunk::SpecialValue;
use crate::err;
use crate::error::{ErrorKind, Result, to_kind};
use crate::malloc::MallocVec;
use crate::schunk::OwnedSuperChunk;
use crate::schunk::copy::FrameBytes;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};

/// Returns the array at `ptr`; NULL is an error.
///
/// # Safety
/// The rules of the module `capi`.
pub(super) unsafe fn array_ref<'a>(ptr: *const b2nd_array_t) -> Result<&'a Array> {
    // SAFETY: NULL or an array of this library that is not freed.
    unsafe { Array::from_ptr(ptr) }.ok_or_else(|| err!(NullPointer, "the array is NULL"))
}

/// Creates an array of special chunks.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn create_special(ctx: *mut b2nd_context_t, special: SpecialValue) -> Result<Box<Array>> {
    // SAFETY: by the contract of this function.
    unsafe { Array::create(&read_creation_context(ctx)?.array_params(), special) }
}

/// Stores the array that `body` creates in `*result`; NULL after an error.
///
/// # Safety
/// `result` is NULL or writable.
pub(super) unsafe fn store_new_array(
    result: *mut *mut b2nd_array_t,
    body: impl FnOnce() -> Result<Box<Array>>,
) -> c_int {
    result_code(|| {
        check_not_null(result)?;
        // SAFETY: writable by the contract of this function.
        let result = unsafe { Out::cleared(result) };
        result.store(body()?.into_raw()?);
        Ok(0)
    })
}

/// Creates an array with the parameters `ctx`, whose items have unspecified values, and stores it in `*array`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -12 for an invalid shape or item size, -35 for chunks above
/// `BLOSC2_MAX_BUFFERSIZE`, -1 when the super-chunk cannot be created; `*array` is NULL then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_uninit(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { store_new_array(array, || create_special(ctx, SpecialValue::Uninit)) }
}

/// Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The same as `b2nd_zeros`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_empty(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { store_new_array(array, || create_special(ctx, SpecialValue::Zero)) }
}

/// Creates an array of zeros with the parameters `ctx`, and stores it in `*array`. The caller frees it with
/// `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_zeros(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { store_new_array(array, || create_special(ctx, SpecialValue::Zero)) }
}

/// Creates an array of NaNs with the parameters `ctx`, and stores it in `*array`. The items must have 4 or 8
/// bytes. The caller frees it with `b2nd_free`.
///
/// Returns 0. Errors: -3 for items of another size, for which the array is created nevertheless and must be freed;
/// otherwise as `b2nd_uninit`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_nans(ctx: *mut b2nd_context_t, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    let made = unsafe { store_new_array(array, || create_special(ctx, SpecialValue::Nan)) };
    result_code(|| {
        if made < 0 {
            return Ok(0);
        }
        // SAFETY: `store_new_array` has stored a valid array there.
        let typesize = unsafe { self::array_ref(*array) }?.geometry().typesize();
        if typesize != 4 && typesize != 8 {
            return Err(err!(Data, "`typesize` is {typesize}, expected 4 or 8 for NaNs"));
        }
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
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    fill_value: *const c_void,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            let given = read_creation_context(ctx)?;
            let typesize = usize::try_from(given.array_params().storage.cparams.typesize).unwrap_or(0);
            let value = source_slice(fill_value, typesize)?;
            let mut made = Array::create(&given.array_params(), SpecialValue::Zero)?;
            made.fill(value)?;
            Ok(made)
        })
    }
}

/// Creates an array with the parameters `ctx` from the `buffersize` bytes at `buffer`, which holds the items in C
/// order, and stores it in `*array`. The items are copied. The caller frees the array with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_uninit`. Returns -12 also when `buffersize` is less than the size of all
/// items; an array of zeros is created nevertheless, and the caller must free it.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_cbuffer(
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    buffer: *const c_void,
    buffersize: i64,
) -> c_int {
    result_code(|| {
        check_not_null(array)?;
        // SAFETY: writable by the rules of the module.
        let array = unsafe { Out::cleared(array) };
        if ctx.is_null() || buffer.is_null() {
            return Err(err!(NullPointer, "`ctx` or `buffer` is NULL"));
        }
        // SAFETY: by the rules of the module.
        let (made, items) = unsafe {
            let made = create_special(ctx, SpecialValue::Zero)?;
            (made, source_slice(buffer, usize::try_from(buffersize).unwrap_or(0)))
        };
        let written = items.and_then(|items| made.write(items));
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
pub unsafe extern "C" fn b2nd_free(array: *mut b2nd_array_t) -> c_int {
    result_code(|| {
        check_not_null(array)?;
        // SAFETY: an object of this library, which is not used after this call.
        drop(unsafe { Box::from_raw(array.cast::<Array>()) });
        Ok(0)
    })
}

/// Creates an array from `schunk`, a super-chunk with a `b2nd` metalayer, and stores it in `*array`. The array
/// takes the ownership of the super-chunk, unless an error is returned. The caller frees the array with
/// `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -34 when there is no `b2nd` metalayer, -1 for an invalid one,
/// -12 for an invalid shape; `*array` is NULL then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_from_schunk(
    schunk: *mut blosc2_schunk,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            let borrowed = ffi::schunk_ref(schunk)?;
            let builder = ArrayBuilder::read(borrowed)?;
            // The caller owns the super-chunk and passes it on: from here on nothing fails.
            Ok(builder.into_array(OwnedSuperChunk::from_raw(NonNull::from(borrowed).cast())))
        })
    }
}

/// Stores the address of `array` as one contiguous frame in `*cframe`, and the length of the frame in bytes in
/// `*cframe_len`. If `*needs_free` is set to true, the frame is a copy, which the caller frees with `free()`; if
/// false, the frame belongs to the array and is valid until that changes.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the frame cannot be made; `*cframe` is NULL, `*cframe_len`
/// 0 and `*needs_free` false then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_to_cframe(
    array: *const b2nd_array_t,
    cframe: *mut *mut u8,
    cframe_len: *mut i64,
    needs_free: *mut bool,
) -> c_int {
    result_code(|| {
        // SAFETY: writable by the rules of the module.
        let (cframe, cframe_len, needs_free) =
            unsafe { (Out::cleared(cframe), Out::cleared(cframe_len), Out::cleared(needs_free)) };
        if cframe.is_null() || cframe_len.is_null() || needs_free.is_null() {
            return Err(err!(NullPointer, "`cframe`, `cframe_len` or `needs_free` is NULL"));
        }
        // SAFETY: by the rules of the module.
        let bytes = unsafe { self::array_ref(array) }?.schunk()?.to_buffer();
        let (start, len, copied) = match bytes.map_err(to_kind(ErrorKind::Failure))? {
            FrameBytes::Borrowed(start, len) => (start, len, false),
            FrameBytes::Owned(start, len) => (start, len, true),
        };
        cframe.store(start);
        cframe_len.store(len as i64);
        needs_free.store(copied);
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
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            let start = NonNull::new(cframe).ok_or_else(|| err!(NullPointer, "`cframe` is NULL"))?;
            let len = usize::try_from(cframe_len)
                .map_err(|_| err!(Failure, "`cframe_len` is {cframe_len}, expected 0 or more"))?;
            Array::from_cframe(MallocVec::from_program_block(start, len), copy)
        })
    }
}

/// Opens the array in the file or directory `urlpath`, and stores it in `*array`. The caller frees it with
/// `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL or there is no readable frame, or a code of `b2nd_from_schunk`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open(urlpath: *const c_char, array: *mut *mut b2nd_array_t) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe { b2nd_open_offset(urlpath, array, 0) }
}

/// Opens the array in the frame that begins at byte `offset` of the file `urlpath`, and stores it in `*array`. The
/// caller frees it with `b2nd_free`.
///
/// Returns 0, or an error code as `b2nd_open`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_open_offset(
    urlpath: *const c_char,
    array: *mut *mut b2nd_array_t,
    offset: i64,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            if urlpath.is_null() {
                return Err(err!(NullPointer, "`urlpath` is NULL"));
            }
            Array::open(CStr::from_ptr(urlpath), offset)
        })
    }
}

/// Writes `array` with all its metalayers to the path `urlpath`: to a directory if the array is stored as separate
/// chunks, else to a file. Nothing must exist at that path yet.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be written.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save(array: *const b2nd_array_t, urlpath: *mut c_char) -> c_int {
    result_code(|| {
        check_not_null(urlpath)?;
        // SAFETY: by the rules of the module.
        unsafe { self::array_ref(array)?.save(CStr::from_ptr(urlpath)) }.map(|()| 0)
    })
}

/// Appends `array` as one contiguous frame to the file `urlpath`. The file is created if it does not exist.
///
/// Returns the byte offset of the frame in the file (0 in a new file), which `b2nd_open_offset` takes. Errors: -32
/// when `array` is NULL, -12 when `urlpath` is NULL, or a code of `blosc2_schunk_append_file`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_save_append(array: *const b2nd_array_t, urlpath: *const c_char) -> i64 {
    // SAFETY: by the rules of the module.
    result_code_i64(|| unsafe {
        self::array_ref(array)?.schunk()?.append_file(c_str(urlpath)?).map(|at| at as i64)
    })
}

/// Copies `src` to a new array with the parameters `ctx`, and stores it in `*array`. The shape in `ctx` is
/// replaced by the shape of `src`. The caller frees the copy with `b2nd_free`.
///
/// Returns 0. Errors: -32 when a pointer is NULL, -1 when the array cannot be copied, or a code of `b2nd_uninit`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_copy(
    ctx: *mut b2nd_context_t,
    src: *const b2nd_array_t,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            let src = self::array_ref(src)?;
            check_not_null(ctx)?;
            src.refresh()?;
            set_context_shape(ctx, src.geometry().shape());
            let given = read_creation_context(ctx)?;
            src.copy(&given.array_params(), given.copy_destination())
        })
    }
}

/// Concatenates the arrays `src1` and `src2` along the dimension `axis` (counted from 0). If `copy` is true, a new
/// array is created with the parameters `ctx` and stored in `*array`; the caller frees it with `b2nd_free`. If
/// `copy` is false, `src1` itself is extended, and `*array` is set to `src1`; `ctx` is not used.
///
/// Returns 0. Errors: -32 when a pointer is NULL; -12 for an invalid axis, for different item sizes, and for
/// shapes that differ in a dimension other than `axis`; or a code of `b2nd_copy`, `b2nd_resize` or
/// `b2nd_set_slice_cbuffer`. `*array` is NULL then, unless it was `src1` before the call: `array` may be the
/// address of the caller's only pointer to `src1`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn b2nd_concatenate(
    ctx: *mut b2nd_context_t,
    src1: *const b2nd_array_t,
    src2: *const b2nd_array_t,
    axis: i8,
    copy: bool,
    array: *mut *mut b2nd_array_t,
) -> c_int {
    let result = result_code(|| {
        check_not_null(array)?;
        // SAFETY: by the rules of the module.
        let (first, second) = unsafe { (self::array_ref(src1)?, self::array_ref(src2)?) };
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        if !copy {
            // SAFETY: no array is created.
            unsafe { first.concatenate(second, axis, None) }?;
            // SAFETY: not NULL, and writable by the rules.
            unsafe { array.write(src1.cast_mut()) };
            return Ok(0);
        }
        check_not_null(ctx)?;
        first.refresh()?;
        // SAFETY: by the rules of the module.
        let made = unsafe {
            let before = ((*ctx).ndim, (*ctx).shape);
            set_context_shape(ctx, first.geometry().shape());
            let given = read_creation_context(ctx)?;
            first
                .concatenate(second, axis, Some((&given.array_params(), given.copy_destination())))
                .inspect_err(|_| {
                    ((*ctx).ndim, (*ctx).shape) = before;
                })?
        };
        let made = made.map_or(Ok(ptr::null_mut()), |made| made.into_raw())?;
        // SAFETY: as above.
        unsafe { array.write(made) };
        Ok(0)
    });
    // SAFETY: by the rules of the module, a variable of the caller; every value is a valid pointer.
    if result < 0 && !array.is_null() && !ptr::eq(unsafe { array.read() }, src1) {
        // SAFETY: as above.
        unsafe { array.write(ptr::null_mut()) };
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
    ctx: *mut b2nd_context_t,
    array: *mut *mut b2nd_array_t,
    src: *const b2nd_array_t,
    start: *const i64,
    stop: *const i64,
) -> c_int {
    // SAFETY: by the rules of the module.
    unsafe {
        store_new_array(array, || {
            let src = self::array_ref(src)?;
            check_not_null(ctx)?;
            if start.is_null() || stop.is_null() {
                return Err(err!(NullPointer, "`start` or `stop` is NULL"));
            }
            src.refresh()?;
            let ndim = src.geometry().ndim();
            let (start, stop) = (typed_slice(start, ndim)?, typed_slice(stop, ndim)?);
            let mut shape = [0; MAX_DIM];
            for dim in 0..ndim {
                shape[dim] = stop[dim].saturating_sub(start[dim]);
            }
            set_context_shape(ctx, &shape[..ndim]);
            let given = read_creation_context(ctx)?;
            src.slice(&given.array_params(), start, stop)
        })
    }
}
