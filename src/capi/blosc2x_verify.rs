//! Checking and repairing frames on disk: functions that C-Blosc2 does not have.

use super::pointers::CText;
use super::schunk::result_code_i64;
use crate::abi::{blosc2x_damage, blosc2x_report, blosc2x_verify_options};
use crate::b2nd::metalayer::check_array_metalayer;
use crate::error::{Error, ErrorKind, Result, Text, err};
use crate::frame::recovery::check::report::{Damage, FramePart};
use crate::frame::recovery::check::verify::{CheckOptions, verify};
use crate::frame::recovery::repair::repair;
use crate::pipeline::library;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::mem::offset_of;

/// Checks everything in the frame at `urlpath`, a file or a directory: header, metalayers, index, trailer, metalayers
/// of variable length, and every chunk, which is decompressed completely. Changes nothing, and needs memory for one
/// compressed chunk, one block per thread, the index, and the checksums. `options` gives the offset of the frame in its
/// file in bytes and the number of threads; NULL stands for zeros.
///
/// Calls `report(damage, user_data)`, unless it is NULL, for each damaged part. The struct belongs to the library and
/// is valid during the call. Chunks are reported in the order of their places. A frame that cannot be opened has a
/// damaged part, too. Data that follow a whole frame in its file, for example another frame, are reported as the part
/// `BLOSC2X_PART_OTHER_DATA` with the cause 0; they are no damage and are not counted. Bytes that interrupted changes of
/// the frame have left behind it are not reported. Codecs and filters of the program run without a super-chunk; a chunk whose codec is not
/// registered is damaged with the cause -7.
///
/// The parts of a frame with checksums (`BLOSC2_CHECKSUMS`) are compared with them, unless the variable is `off`. A
/// part with another checksum has the cause -3, and `message` gives both values. The header and its metalayers have one
/// checksum, and are reported as the header; the trailer and its metalayers of variable length also have one, and are
/// reported as the trailer, as is the table of checksums. A frame that was changed by a library without checksums has
/// none. Without checksums, bytes that were replaced by others that can be decompressed are no damage.
///
/// Returns the number of damaged parts; 0 for a frame without damage. Errors: -4 if memory runs out; -12 for NULL, a negative offset or
/// number of threads, or a wrong `options->size`; -15 when nothing exists at `urlpath` or it cannot be opened; -37 when
/// the lock between processes cannot be acquired; the code of the header, for example -11 or -13, for a file that holds
/// no frame. If `report` returns another value than 0, that value if it is negative, otherwise -1.
///
/// # Safety
/// The rules of the module `capi`; `report` is NULL or obeys the contract of its typedef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_verify(
    urlpath: CText<*const c_char>,
    options: VerifyOptions<*const blosc2x_verify_options>,
    report: blosc2x_report,
    user_data: *mut c_void,
) -> i64 {
    result_code_i64(|| {
        let path = urlpath.get()?;
        let given = options.read()?;
        let nthreads = match given.nthreads {
            0 => library::nthreads(),
            nthreads => nthreads,
        };
        let nthreads = usize::try_from(nthreads)
            .map_err(|_| err!(InvalidParam, "`nthreads` is {nthreads}, expected 0 or more"))?;
        let options = CheckOptions {
            offset: given.offset,
            nthreads: nthreads.max(1),
            check_metalayer: &check_array_metalayer,
            progress: &|_| {},
        };
        // SAFETY: the caller passes a function that obeys the contract of its typedef for its `user_data`.
        let count = verify(path, &options, &mut |damage| unsafe { call_report(report, user_data, damage) })?;
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    })
}

/// Saves everything that is whole in the frame at `source`, a file or a directory, into a new frame of the same kind at
/// `destination`, which must not exist. The source is not changed. `blosc2x_verify` finds no damage in the new frame.
///
/// If the index is whole, all chunks keep their numbers: a lost chunk is replaced by zeros of its size. Whole metalayers
/// are kept, so that an array stays an array; damaged ones are left out. If the index is lost, after a write that was
/// interrupted or in a file that was cut off, the chunks are found by their headers. They are saved in the order of
/// their places, so their numbers are uncertain; the message of the damaged index says so. Chunks without bytes (zeros,
/// NaNs, uninitialised) are lost then, and chunks that were deleted or replaced may come back. If the header is whole,
/// zeros take the places of the chunks that it counts and that were not found. If the header is lost, the metalayers are
/// lost, too.
///
/// In a frame with checksums (`BLOSC2_CHECKSUMS`), a chunk with another checksum is damaged, also if it can be
/// decompressed. If the file has the checksums of parts of the chunk, zeros replace only its damaged blocks, and the
/// message names them. If header or index are damaged, the checksums give the numbers of the chunks. Metalayers are kept
/// although the checksum of the header or of the trailer differs. The new frame has checksums unless `BLOSC2_CHECKSUMS`
/// is `off` or `verify`.
///
/// Calls `report(damage, user_data)`, unless it is NULL, for each damaged part, as `blosc2x_verify` does, and for each
/// chunk that was replaced by zeros. For bytes between chunks, the number of the chunk is -1.
///
/// Returns the number of chunks that were saved, without those that were replaced. Errors: -1 if the whole parts do not
/// make a frame without damage; -4 if memory runs out; -12 for NULL; -15 when
/// nothing exists at `source`, or something at `destination`, or `destination` cannot be created; -14 for a failed
/// write; the code of the header, for example -11 or -13, for a file that holds no frame and no chunk; the value of
/// `report`, as for `blosc2x_verify`. After an error, `destination` does not exist.
///
/// # Safety
/// The rules of the module `capi`; `report` is NULL or obeys the contract of its typedef.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2x_repair(
    source: CText<*const c_char>,
    destination: CText<*const c_char>,
    report: blosc2x_report,
    user_data: *mut c_void,
) -> i64 {
    result_code_i64(|| {
        let (source, destination) = (source.get()?, destination.get()?);
        let nthreads = usize::try_from(library::nthreads()).unwrap_or(1).max(1);
        let options =
            CheckOptions { offset: 0, nthreads, check_metalayer: &check_array_metalayer, progress: &|_| {} };
        // SAFETY: the caller passes a function that obeys the contract of its typedef for its `user_data`.
        let count = repair(source, destination, &options, &mut |damage| unsafe {
            call_report(report, user_data, damage)
        })?;
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    })
}

/// A struct that is as long as its field `size` says; or NULL.
#[repr(transparent)]
pub struct VerifyOptions<'call, P>(P, PhantomData<&'call ()>);

impl VerifyOptions<'_, *const blosc2x_verify_options> {
    /// Returns a copy of the options; zeros for NULL.
    fn read(&self) -> Result<blosc2x_verify_options> {
        let options = self.0;
        let expected = size_of::<blosc2x_verify_options>();
        if options.is_null() {
            return Ok(blosc2x_verify_options { size: expected as u32, nthreads: 0, offset: 0 });
        }
        const { assert!(offset_of!(blosc2x_verify_options, size) == 0) };
        // SAFETY: not NULL; the first field is there in every version of the struct.
        let size = unsafe { options.cast::<u32>().read() };
        if usize::try_from(size).is_ok_and(|size| size < expected) {
            return Err(err!(InvalidParam, "`options->size` is {size}, expected {expected} or more"));
        }
        // SAFETY: the struct is at least as long as this version of it.
        Ok(unsafe { options.read() })
    }
}

/// Calls the function of the program.
///
/// # Safety
/// `report` obeys the contract of its typedef, for this `user_data`.
unsafe fn call_report(report: blosc2x_report, user_data: *mut c_void, damage: &Damage<'_>) -> Result<()> {
    let Some(report) = report else { return Ok(()) };
    let signed = |number: Option<u64>| number.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
    let text = Text::new(format_args!("{:#}\0", damage.error));
    let message = CStr::from_bytes_until_nul(text.as_str().as_bytes()).unwrap_or(c"");
    let damage = blosc2x_damage {
        part: damage.part as i32,
        cause: if damage.part == FramePart::OtherData { 0 } else { damage.error.code() },
        nchunk: signed(damage.nchunk),
        offset: signed(damage.place.offset),
        length: signed(damage.place.len),
        message: message.as_ptr(),
    };
    // SAFETY: by the contract of this function `report` may be called; the struct and its text live during the call.
    match unsafe { report(&raw const damage, user_data) } {
        0 => Ok(()),
        code => Err(Error::new(
            ErrorKind::Callback(if code < 0 { code } else { -1 }),
            format_args!("the report function returned {code}"),
        )),
    }
}
