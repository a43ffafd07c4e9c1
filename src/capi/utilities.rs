//! Shuffles of single blocks, index arithmetic and timestamps (`abi.md` 2.9, `filters.md` 12).

use super::ffi::{Out, catch_errors, dest_buffer, non_negative_len, result_code, source_slice};
use crate::abi::blosc_timestamp_t;
use crate::err;
use crate::error::Result;
use crate::filter::{bitshuffle, shuffle};
use std::ffi::c_void;
use std::slice;

/// The largest item size of the shuffles, in bytes.
const MAX_SHUFFLE_TYPESIZE: i32 = 256;

/// Runs the shuffle `kernel` on a block.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn run_shuffle_kernel(
    kernel: fn(usize, &[u8], &mut [u8]),
    typesize: i32,
    max_typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> Result<usize> {
    if !(1..=max_typesize).contains(&typesize) {
        return Err(err!(InvalidParam, "`typesize` is {typesize}, expected 1 to {max_typesize}"));
    }
    let len = non_negative_len(blocksize)?;
    // SAFETY: by the rules of the module.
    let (src, dest) = unsafe { (source_slice(src, len)?, dest_buffer(dest, len)?) };
    // SAFETY: the shuffles write the whole destination and do not read it.
    kernel(typesize as usize, src, unsafe { dest.into_bytes() });
    Ok(len)
}

/// Byte-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`: first the first
/// bytes of all items, then the second bytes, and so on. `dest` must have room for `blocksize` bytes and must not
/// overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_shuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    // SAFETY: by the rules of the module.
    result_code(|| unsafe {
        run_shuffle_kernel(shuffle::shuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest)
    })
}

/// Reverses `blosc2_shuffle`: reads the `blocksize` shuffled bytes at `src` and writes the items of `typesize`
/// bytes (1 to 256) to `dest`. `dest` must have room for `blocksize` bytes and must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_unshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    // SAFETY: by the rules of the module.
    result_code(|| unsafe {
        run_shuffle_kernel(shuffle::unshuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest)
    })
}

/// Bit-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`: first the lowest
/// bits of all items, then the next bits, and so on. The items after the last multiple of 8 items are copied
/// unchanged. `dest` must have room for `blocksize` bytes and must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    // SAFETY: by the rules of the module.
    result_code(|| unsafe {
        run_shuffle_kernel(bitshuffle::bitshuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest)
    })
}

/// Reverses `blosc2_bitshuffle`: reads the `blocksize` bit-shuffled bytes at `src` and writes the items of
/// `typesize` bytes (1 or more, without an upper limit) to `dest`. `dest` must have room for `blocksize` bytes and
/// must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_bitunshuffle(
    typesize: i32,
    blocksize: i32,
    src: *const c_void,
    dest: *mut c_void,
) -> i32 {
    // SAFETY: by the rules of the module.
    result_code(|| unsafe {
        run_shuffle_kernel(bitshuffle::bitunshuffle, typesize, i32::MAX, blocksize, src, dest)
    })
}

/// Computes the coordinates of the item at the flat position `i` of a C-order array with `ndim` dimensions and the
/// given `shape`, and stores them in `index`. `shape` and `index` are arrays of `ndim` numbers, in items.
/// `index[0]` is not reduced modulo `shape[0]`. Does nothing if `ndim` is 0; stores zeros if `shape` is NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_unidim_to_multidim(ndim: u8, shape: *mut i64, i: i64, index: *mut i64) {
    catch_errors(
        |_| (),
        || {
            let ndim = usize::from(ndim);
            if ndim == 0 {
                return Ok(());
            }
            // SAFETY: by the rules of the module, `index` is NULL or has `ndim` items.
            let index = unsafe { Out::cleared_array(index, ndim) };
            if shape.is_null() || index.is_null() {
                return Err(err!(NullPointer, "`shape` or `index` is NULL"));
            }
            // SAFETY: not NULL, and by the rules it has `ndim` items.
            let shape = unsafe { slice::from_raw_parts(shape, ndim) };
            // From the last dimension to the first. A dimension of extent 0 makes a stride 0, by which nothing can be
            // divided.
            let mut stride = 1i64;
            let mut strides = [1i64; u8::MAX as usize];
            for dim in (0..ndim).rev() {
                strides[dim] = stride;
                stride = stride.wrapping_mul(shape[dim]);
            }
            for dim in 0..ndim {
                let within = match dim {
                    0 => i,
                    _ => i.checked_rem(strides[dim - 1]).unwrap_or(0),
                };
                index.store_at(dim, within.checked_div(strides[dim]).unwrap_or(0));
            }
            Ok(())
        },
    );
}

/// Computes the flat position, in items, of the item with the coordinates `index`: stores the sum of `index[j] *
/// strides[j]` over the `ndim` dimensions in `*i`; 0 if `ndim` is 0 or less, or if a pointer is NULL. `index` and
/// `strides` are arrays of `ndim` numbers.
///
/// # Safety
/// The rules of the module `capi`; `index` and `strides` have `ndim` items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_multidim_to_unidim(
    index: *const i64,
    ndim: i8,
    strides: *const i64,
    i: *mut i64,
) {
    catch_errors(
        |_| (),
        || {
            let ndim = usize::try_from(ndim).unwrap_or(0);
            // SAFETY: by the rules of the module.
            let i = unsafe { Out::cleared(i) };
            let mut sum = 0i64;
            if ndim > 0 {
                if index.is_null() || strides.is_null() {
                    return Err(err!(NullPointer, "`index` or `strides` is NULL"));
                }
                // SAFETY: neither is NULL, and by the rules both have `ndim` items.
                let (index, strides) =
                    unsafe { (slice::from_raw_parts(index, ndim), slice::from_raw_parts(strides, ndim)) };
                for (index, stride) in index.iter().zip(strides) {
                    sum = sum.wrapping_add(index.wrapping_mul(*stride));
                }
            }
            i.store(sum);
            Ok(())
        },
    );
}

/// Stores the current time of a monotonic clock in `*timestamp`. Does nothing for NULL.
///
/// # Safety
/// The rules of the module `capi`; `*timestamp` need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_timestamp(timestamp: *mut blosc_timestamp_t) {
    if !timestamp.is_null() {
        // SAFETY: not NULL, and writable by the rules of the module.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, timestamp) };
    }
}

/// Returns the time from `start_time` to `end_time` in nanoseconds; negative if `end_time` is earlier.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_elapsed_nsecs(start_time: blosc_timestamp_t, end_time: blosc_timestamp_t) -> f64 {
    let seconds = (end_time.tv_sec - start_time.tv_sec) as f64;
    let nanoseconds = (end_time.tv_nsec - start_time.tv_nsec) as f64;
    1e9 * seconds + nanoseconds
}

/// Returns the time from `start_time` to `end_time` in seconds; negative if `end_time` is earlier.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_elapsed_secs(start_time: blosc_timestamp_t, end_time: blosc_timestamp_t) -> f64 {
    1e-9 * blosc_elapsed_nsecs(start_time, end_time)
}
