//! Shuffles of single blocks, index arithmetic and timestamps (`abi.md` 2.9, `filters.md` 12).

use super::ffi::{result_code, value_or};
use super::pointers::{CArray, DestBuffer, Dims, InputAndOutput, Out, OutArray, Size, SourceBuffer};
use crate::abi::blosc_timestamp_t;
use crate::error::{Result, ensure, err};
use crate::filter::{bitshuffle, shuffle};
use crate::os;
use std::ffi::c_void;

/// The largest item size of the shuffles, in bytes.
const MAX_SHUFFLE_TYPESIZE: i32 = 256;

/// A shuffle, which writes the whole destination and does not read it.
type Shuffle = fn(usize, &[u8], &mut [u8]);

/// Runs a shuffle on a block.
fn run_shuffle(
    shuffle: Shuffle,
    typesize: i32,
    max_typesize: i32,
    blocksize: Size<'_, i32, InputAndOutput>,
    src: SourceBuffer<'_, *const c_void>,
    dest: DestBuffer<'_, *mut c_void>,
) -> Result<usize> {
    if !(1..=max_typesize).contains(&typesize) {
        return Err(err!(InvalidParam, "`typesize` is {typesize}, expected 1 to {max_typesize}"));
    }
    let len = blocksize.non_negative_len()?;
    let (src_len, dest_len) = len.both();
    let (src, dest) = (src.bytes(src_len)?, dest.buffer(dest_len)?);
    // SAFETY: the shuffles write the whole destination and do not read it.
    shuffle(typesize as usize, src, unsafe { dest.into_bytes() });
    Ok(len.get())
}

/// Byte-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`: first the first
/// bytes of all items, then the second bytes, and so on. `dest` must have room for `blocksize` bytes and must not
/// overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_shuffle(
    typesize: i32,
    blocksize: Size<i32, InputAndOutput>,
    src: SourceBuffer<*const c_void>,
    dest: DestBuffer<*mut c_void>,
) -> i32 {
    result_code(|| run_shuffle(shuffle::shuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest))
}

/// Reverses `blosc2_shuffle`: reads the `blocksize` shuffled bytes at `src` and writes the items of `typesize`
/// bytes (1 to 256) to `dest`. `dest` must have room for `blocksize` bytes and must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_unshuffle(
    typesize: i32,
    blocksize: Size<i32, InputAndOutput>,
    src: SourceBuffer<*const c_void>,
    dest: DestBuffer<*mut c_void>,
) -> i32 {
    result_code(|| run_shuffle(shuffle::unshuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest))
}

/// Bit-shuffles the `blocksize` bytes at `src`, items of `typesize` bytes (1 to 256), to `dest`: first the lowest
/// bits of all items, then the next bits, and so on. The items after the last multiple of 8 items are copied
/// unchanged. `dest` must have room for `blocksize` bytes and must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_bitshuffle(
    typesize: i32,
    blocksize: Size<i32, InputAndOutput>,
    src: SourceBuffer<*const c_void>,
    dest: DestBuffer<*mut c_void>,
) -> i32 {
    result_code(|| run_shuffle(bitshuffle::bitshuffle, typesize, MAX_SHUFFLE_TYPESIZE, blocksize, src, dest))
}

/// Reverses `blosc2_bitshuffle`: reads the `blocksize` bit-shuffled bytes at `src` and writes the items of
/// `typesize` bytes (1 or more, without an upper limit) to `dest`. `dest` must have room for `blocksize` bytes and
/// must not overlap `src`.
///
/// Returns `blocksize`. Errors: -12 for a size that is out of range, -32 when a buffer is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_bitunshuffle(
    typesize: i32,
    blocksize: Size<i32, InputAndOutput>,
    src: SourceBuffer<*const c_void>,
    dest: DestBuffer<*mut c_void>,
) -> i32 {
    result_code(|| run_shuffle(bitshuffle::bitunshuffle, typesize, i32::MAX, blocksize, src, dest))
}

/// Computes the coordinates of the item at the flat position `i` of a C-order array with `ndim` dimensions and the
/// given `shape`, and stores them in `index`. `shape` and `index` are arrays of `ndim` numbers, in items.
/// `index[0]` is not reduced modulo `shape[0]`. Does nothing if `ndim` is 0; stores zeros if `shape` is NULL.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_unidim_to_multidim(
    ndim: Size<u8, Dims>,
    shape: CArray<*mut i64, Dims>,
    i: i64,
    index: OutArray<*mut i64, Dims>,
) {
    value_or((), || {
        let dims = ndim.len_or_zero();
        let ndim = dims.get();
        if ndim == 0 {
            return Ok(());
        }
        let index = index.cleared(dims);
        ensure!(!shape.is_null() && !index.is_null(), NullPointer, "`shape` or `index` is NULL");
        let shape = shape.items(dims)?;
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
    });
}

/// Computes the flat position, in items, of the item with the coordinates `index`: stores the sum of `index[j] *
/// strides[j]` over the `ndim` dimensions in `*i`; 0 if `ndim` is 0 or less, or if a pointer is NULL. `index` and
/// `strides` are arrays of `ndim` numbers.
///
/// # Safety
/// The rules of the module `capi`; `index` and `strides` have `ndim` items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_multidim_to_unidim(
    index: CArray<*const i64, Dims>,
    ndim: Size<i8, Dims>,
    strides: CArray<*const i64, Dims>,
    i: Out<*mut i64>,
) {
    value_or((), || {
        let dims = ndim.len_or_zero();
        let i = i.cleared();
        let mut sum = 0i64;
        if dims.get() > 0 {
            ensure!(!index.is_null() && !strides.is_null(), NullPointer, "`index` or `strides` is NULL");
            for (index, stride) in index.items(dims)?.iter().zip(strides.items(dims)?) {
                sum = sum.wrapping_add(index.wrapping_mul(*stride));
            }
        }
        i.store(sum);
        Ok(())
    });
}

/// Stores the current time of a monotonic clock in `*timestamp`. Does nothing for NULL.
///
/// # Safety
/// The rules of the module `capi`; `*timestamp` need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc_set_timestamp(timestamp: *mut blosc_timestamp_t) {
    if !timestamp.is_null() {
        // SAFETY: not NULL, and the caller provides space for one timestamp.
        unsafe { timestamp.write(os::monotonic_now()) };
    }
}

/// Returns the time from `start_time` to `end_time` in nanoseconds; negative if `end_time` is earlier.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_elapsed_nsecs(start_time: blosc_timestamp_t, end_time: blosc_timestamp_t) -> f64 {
    os::elapsed_nanoseconds(start_time, end_time)
}

/// Returns the time from `start_time` to `end_time` in seconds; negative if `end_time` is earlier.
#[unsafe(no_mangle)]
pub extern "C" fn blosc_elapsed_secs(start_time: blosc_timestamp_t, end_time: blosc_timestamp_t) -> f64 {
    1e-9 * blosc_elapsed_nsecs(start_time, end_time)
}
