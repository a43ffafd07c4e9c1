//! Types of the extensions (`abi.md` 2.11).

use super::size::size_on_target;
use std::ffi::{c_char, c_int, c_void};

/// Options of `blosc2x_verify`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2x_verify_options {
    /// `sizeof(blosc2x_verify_options)`. Later versions of the library may have more fields behind the present ones.
    pub size: u32,
    /// Number of threads that decompress; 0 = that of `blosc2_get_nthreads`.
    pub nthreads: i16,
    /// Offset in bytes at which the frame begins in its file.
    pub offset: i64,
}
const _: () = assert!(size_of::<blosc2x_verify_options>() == 16);

/// Bytes of a file that are read soon.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2x_io_range {
    /// The name that the function `open` of the I/O back-end gets. Valid during the call of the `blosc2x_io_fetch`.
    pub urlpath: *const c_char,
    /// Position of the first byte in the file.
    pub start: i64,
    /// Position behind the last byte; it may be behind the end of the file.
    pub stop: i64,
}
const _: () = assert!(size_of::<blosc2x_io_range>() == size_on_target(24, 24, 20));

/// Makes `nranges` ranges of files available to the functions `open` and `read` of an I/O back-end, all at once where
/// reading them one by one takes longer. Ranges may overlap. `params` is the pointer of the `blosc2_io`. Returns a
/// pointer to what is held in memory until the `blosc2x_io_release` gets it, for example the ranges; NULL for an error.
pub type blosc2x_io_fetch = Option<
    unsafe extern "C" fn(ranges: *const blosc2x_io_range, nranges: i64, params: *mut c_void) -> *mut c_void,
>;

/// Releases `held`, which a `blosc2x_io_fetch` returned. `params` is the pointer of the `blosc2_io`.
pub type blosc2x_io_release = Option<unsafe extern "C" fn(held: *mut c_void, params: *mut c_void)>;

/// A damaged part of a frame.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2x_damage {
    /// The part: `BLOSC2X_PART_*`.
    pub part: i32,
    /// The error that reading the part gives: `BLOSC2_ERROR_*`; 0 for `BLOSC2X_PART_OTHER_DATA`.
    pub cause: i32,
    /// Number of the chunk; -1 for other parts.
    pub nchunk: i64,
    /// Position of the part in the file in bytes; for a chunk of a directory, in the file of the chunk. -1 if it is
    /// unknown.
    pub offset: i64,
    /// Length of the part in bytes; -1 if it is unknown.
    pub length: i64,
    /// What was expected and what was found. Valid during the call of the `blosc2x_report`.
    pub message: *const c_char,
}
const _: () = assert!(size_of::<blosc2x_damage>() == size_on_target(40, 40, 36));

/// Receives one damaged part. `damage` is valid during the call; `user_data` is the pointer that the program passed
/// together with this function. Returns 0 to go on, another value to stop.
pub type blosc2x_report =
    Option<unsafe extern "C" fn(damage: *const blosc2x_damage, user_data: *mut c_void) -> c_int>;

/// Parameters of the automatic tuner, which maximises `tradeoff * ln(ratio) + (1 - tradeoff) * ln(speed)`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct blosc2x_tuner_params {
    /// `sizeof(blosc2x_tuner_params)`. Another size is an error.
    pub size: u32,
    /// The speed that counts: `BLOSC2X_TUNER_BALANCED`, `_COMPRESSION` or `_DECOMPRESSION`.
    pub mode: i32,
    /// From 0 (speed) to 1 (ratio).
    pub tradeoff: f64,
}
const _: () = assert!(size_of::<blosc2x_tuner_params>() == 16);
