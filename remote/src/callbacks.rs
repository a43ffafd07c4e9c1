//! The functions of the I/O back-end, which libblosc2 calls with the pointers of their contracts: `params` is NULL or a
//! [`BackendParams`], a stream is NULL or came from [`open`] and is not closed.

use crate::client::{BackendParams, check_process};
use crate::failure::{Failure, Result, code, value_or};
use blosc2_core::abi::{BLOSC2_ERROR_FILE_WRITE, CBool, blosc2_io_cb, blosc2x_io_range};
use blosc2_core::rust_api::schunk::{FilePart, SourceFile};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The id of the back-end: `BLOSC2X_REMOTE_ID` of the header.
pub(crate) const ID: u8 = 245;

/// Returns the functions of the back-end.
pub(crate) fn table() -> blosc2_io_cb {
    blosc2_io_cb {
        id: ID,
        name: c"blosc2x_remote".as_ptr().cast_mut(),
        is_allocation_necessary: CBool::TRUE,
        open: Some(open),
        close: Some(close),
        size: Some(size),
        write: Some(write),
        read: Some(read),
        truncate: Some(truncate),
        destroy: Some(destroy),
    }
}

/// An open file.
struct Stream {
    file: Arc<dyn SourceFile>,
    process: u32,
}

/// Returns the string at `text`.
///
/// # Safety
/// NULL, or a string that ends with NUL and lives as long as the result.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(Failure::param(format!("`{name}` is NULL")));
    }
    // SAFETY: not NULL, and by the contract a string.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::param(format!("`{name}` is not UTF-8: {text:?}")))
}

/// Returns the parameters at `params`.
///
/// # Safety
/// NULL, or parameters that live as long as the result.
pub(crate) unsafe fn params<'a>(params: *const c_void) -> Result<&'a BackendParams> {
    // SAFETY: by the contract NULL or parameters.
    let params = unsafe { params.cast::<BackendParams>().as_ref() };
    params.ok_or_else(|| Failure::param("the client is NULL"))
}

/// Returns the file of a stream.
///
/// # Safety
/// NULL, or a stream that is not closed while the result lives.
unsafe fn file<'a>(stream: *const c_void) -> Result<&'a dyn SourceFile> {
    // SAFETY: by the contract NULL or a stream.
    let stream = unsafe { stream.cast::<Stream>().as_ref() };
    let stream = stream.ok_or_else(|| Failure::param("the stream is NULL"))?;
    check_process(stream.process)?;
    Ok(&*stream.file)
}

unsafe extern "C" fn open(name: *const c_char, mode: *const c_char, io: *mut c_void) -> *mut c_void {
    let failed = |_| null_mut();
    value_or(failed, || {
        // SAFETY: the pointers of the contract.
        let (name, mode, params) = unsafe { (text(name, "urlpath")?, text(mode, "mode")?, params(io)?) };
        if mode != "rb" {
            return Err(read_only());
        }
        let file = params.open(name)?;
        Ok(Box::into_raw(Box::new(Stream { file, process: std::process::id() })).cast())
    })
}

unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    code(|| {
        if stream.is_null() {
            return Err(Failure::param("the stream is NULL"));
        }
        // SAFETY: a stream that is not closed, and that is not used again.
        drop(unsafe { Box::from_raw(stream.cast::<Stream>()) });
        Ok(())
    })
}

unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: the pointer of the contract.
    value_or(i64::from, || Ok(unsafe { file(stream) }?.len() as i64))
}

unsafe extern "C" fn read(
    place: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    value_or(i64::from, || {
        // SAFETY: the pointers of the contract: `place` is NULL or the address of a pointer.
        let (file, dest) = unsafe { (file(stream)?, place.as_ref().copied().unwrap_or(null_mut())) };
        let len = size.checked_mul(nitems).filter(|_| size > 0).map(u64::try_from);
        let (Some(Ok(len)), Ok(position)) = (len, u64::try_from(position)) else {
            let text = format!("`size` is {size}, `nitems` {nitems}, `position` {position}");
            return Err(Failure::param(text));
        };
        // A back-end returns the items that the file has.
        let len = len.min(file.len().saturating_sub(position));
        let len = usize::try_from(len).map_err(|_| Failure::param(format!("`nitems` is {nitems}")))?;
        if len == 0 {
            return Ok(0);
        }
        if dest.is_null() {
            return Err(Failure::param("the destination is NULL"));
        }
        // SAFETY: not NULL, and by the contract there is space for the items, which the caller initialises with this call.
        let dest = unsafe {
            dest.cast::<u8>().write_bytes(0, len);
            std::slice::from_raw_parts_mut(dest.cast::<u8>(), len)
        };
        file.read_exact_at(position, dest).map_err(Failure::of_read)?;
        Ok(len as i64 / size)
    })
}

fn read_only() -> Failure {
    Failure::new(BLOSC2_ERROR_FILE_WRITE, "remote files can only be read")
}

unsafe extern "C" fn write(_: *const c_void, _: i64, _: i64, _: i64, _: *mut c_void) -> i64 {
    value_or(i64::from, || Err(read_only()))
}

unsafe extern "C" fn truncate(_: *mut c_void, _: i64) -> c_int {
    code(|| Err(read_only()))
}

/// Frees the parameters of a super-chunk that this library has opened. A client belongs to the program.
unsafe extern "C" fn destroy(io: *mut c_void) -> c_int {
    code(|| {
        // SAFETY: the pointer of the contract.
        let params = unsafe { params(io) }?;
        if params.are_of_super_chunk() && !params.is_destroyed.swap(true, Ordering::AcqRel) {
            // SAFETY: `opening` made the pointer by `Arc::into_raw`, and `is_destroyed` ensures that this is the only call. No
            // function uses the parameters afterwards.
            drop(unsafe { Arc::from_raw(io.cast::<BackendParams>()) });
        }
        Ok(())
    })
}

/// The pages that a read holds.
type Held = Box<dyn Send>;

/// The `blosc2x_io_fetch` of the back-end.
pub(crate) unsafe extern "C" fn fetch(
    ranges: *const blosc2x_io_range,
    nranges: i64,
    io: *mut c_void,
) -> *mut c_void {
    let failed = |_| null_mut();
    value_or(failed, || {
        let count = usize::try_from(nranges).unwrap_or(0);
        if ranges.is_null() || count == 0 {
            return Err(Failure::param("there are no ranges"));
        }
        // SAFETY: not NULL, and by the contract that many ranges.
        let (params, ranges) = unsafe { (params(io)?, std::slice::from_raw_parts(ranges, count)) };
        let mut source = None;
        let mut parts = Vec::with_capacity(count);
        for range in ranges {
            // SAFETY: by the contract a string.
            let (store, name) = params.locate(unsafe { text(range.urlpath, "urlpath") }?)?;
            let [start, stop] = [range.start, range.stop].map(|at| u64::try_from(at).unwrap_or(0));
            parts.push(FilePart { file: name.into(), range: start..stop });
            // The files of a frame are in one directory.
            source = Some(store);
        }
        let held = source.map_or(Ok(Box::new(()) as Held), |source| source.fetch(parts));
        Ok(Box::into_raw(Box::new(held.map_err(Failure::of_read)?)).cast())
    })
}

/// The `blosc2x_io_release` of the back-end.
pub(crate) unsafe extern "C" fn release(held: *mut c_void, _: *mut c_void) {
    code(|| {
        if !held.is_null() {
            // SAFETY: `fetch` returned the pointer, which is not used again.
            drop(unsafe { Box::from_raw(held.cast::<Held>()) });
        }
        Ok(())
    });
}
