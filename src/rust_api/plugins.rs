//! Codecs and filters of the program, as Rust values behind the C functions of the registry.

use crate::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams, blosc2_filter};
use crate::chunk::ChunkHeader;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{ErrorKind, Result, ensure};
use crate::registry;
use once_cell::race::OnceBox;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

/// A codec of the program.
pub trait StreamCodec: Send + Sync {
    /// Compresses `stream` into `dest`. Returns the length in bytes; `None` if it does not fit.
    fn encode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> Option<usize>;

    /// Decompresses `stream` into `dest`. Returns whether it had exactly the bytes of `dest`.
    fn decode(&self, meta: u8, stream: &[u8], dest: &mut [u8]) -> bool;
}

/// A filter of the program.
pub trait BlockFilter: Send + Sync {
    /// Writes the filtered `block` to `dest`, which has the same length. Returns whether that was possible.
    fn forward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool;

    /// Reverses [`forward`](Self::forward).
    fn backward(&self, meta: u8, block: &[u8], dest: &mut [u8]) -> bool;
}

/// The registered values by id. They are never removed, because chunks refer to their ids.
type Table<T> = [OnceBox<Box<T>>; 256];

static CODECS: Table<dyn StreamCodec> = [const { OnceBox::new() }; 256];
static FILTERS: Table<dyn BlockFilter> = [const { OnceBox::new() }; 256];

fn store<T: ?Sized>(table: &Table<T>, id: u8, value: Box<T>) -> Result<()> {
    let is_new = table[usize::from(id)].set(Box::new(value)).is_ok();
    ensure!(is_new, InvalidParam, "the id {id} is registered already");
    Ok(())
}

/// Registers a codec under an id of 160 or more, and a name.
///
/// # Errors
/// `CodecParam` for another id or one that has another name, `CodecSupport` if the table is full, `InvalidParam` for an id that
/// is registered.
pub fn register_codec(id: u8, name: &str, codec: Box<dyn StreamCodec>) -> Result<()> {
    let entry = blosc2_codec {
        compcode: id,
        compname: ptr::null_mut(),
        complib: id,
        version: 1,
        encoder: Some(encode),
        decoder: Some(decode),
    };
    registry::register_codec(&entry, Some(&super::c_text(name)?))?;
    store(&CODECS, id, codec)
}

/// Registers a filter under an id of 160 or more, and a name.
///
/// # Errors
/// `Failure` for another id or one that has another name, `CodecSupport` if the table is full, `InvalidParam` for an id that is
/// registered.
pub fn register_filter(id: u8, name: &str, filter: Box<dyn BlockFilter>) -> Result<()> {
    let entry = blosc2_filter {
        id,
        name: ptr::null_mut(),
        version: 1,
        forward: Some(forward),
        backward: Some(backward),
    };
    registry::register_filter(&entry, Some(&super::c_text(name)?))?;
    store(&FILTERS, id, filter)
}

/// Calls a function of the program. Returns `failed` if there is no value of that id, or if the function panics, which the
/// panic hook of the program reports.
fn call<T: ?Sized>(table: &Table<T>, id: u8, failed: c_int, function: impl FnOnce(&T) -> c_int) -> c_int {
    let Some(value) = table[usize::from(id)].get() else { return failed };
    catch_unwind(AssertUnwindSafe(|| function(value))).unwrap_or(failed)
}

/// Lends the buffers of a call.
///
/// # Safety
/// `len` initialised bytes at `src` can be read, and `dest_len` initialised bytes at `dest` read and written, and nothing else
/// uses those meanwhile.
pub(super) unsafe fn lend_buffers<'a>(
    src: *const u8,
    len: i32,
    dest: *mut u8,
    dest_len: i32,
) -> (&'a [u8], &'a mut [u8]) {
    let length = |len: i32| usize::try_from(len).unwrap_or(0);
    // SAFETY: the contract of this function.
    unsafe { (slice::from_raw_parts(src, length(len)), slice::from_raw_parts_mut(dest, length(dest_len))) }
}

unsafe extern "C" fn encode(
    src: *const u8,
    len: i32,
    dest: *mut u8,
    dest_len: i32,
    meta: u8,
    cparams: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    // SAFETY: `UserCodec::run`, which alone calls the functions of the registry, passes slices and parameters.
    let ((stream, dest), id) = unsafe { (lend_buffers(src, len, dest, dest_len), (*cparams).compcode) };
    call(&CODECS, id, -1, |codec| match codec.encode(meta, stream, dest) {
        Some(len) if len <= dest.len() => len as c_int,
        Some(_) => -1,
        None => 0,
    })
}

unsafe extern "C" fn decode(
    src: *const u8,
    len: i32,
    dest: *mut u8,
    dest_len: i32,
    meta: u8,
    _: *mut blosc2_dparams,
    chunk: *const c_void,
) -> c_int {
    // SAFETY: `UserCodec::run`, which alone calls the functions of the registry, passes slices, and the start of the
    // compressed chunk. Only a chunk with an extended header, of that length, has a codec of the program.
    let ((stream, dest), header) = unsafe {
        (
            lend_buffers(src, len, dest, dest_len),
            slice::from_raw_parts(chunk.cast::<u8>(), EXTENDED_HEADER_LENGTH),
        )
    };
    let Ok(header) = ChunkHeader::parse(header) else { return -1 };
    call(&CODECS, header.udcompcode, -1, |codec| match codec.decode(meta, stream, dest) {
        true => dest_len,
        false => -1,
    })
}

/// Returns the code of a filter that fails: a positive one would end the pipeline of the block without an error.
fn failed() -> c_int {
    ErrorKind::FilterPipeline.code()
}

unsafe extern "C" fn forward(
    src: *const u8,
    dest: *mut u8,
    size: i32,
    meta: u8,
    _: *mut blosc2_cparams,
    id: u8,
) -> c_int {
    // SAFETY: `run_filter`, which alone calls the functions of the registry, passes slices.
    let (block, dest) = unsafe { lend_buffers(src, size, dest, size) };
    call(&FILTERS, id, failed(), |filter| if filter.forward(meta, block, dest) { 0 } else { failed() })
}

unsafe extern "C" fn backward(
    src: *const u8,
    dest: *mut u8,
    size: i32,
    meta: u8,
    _: *mut blosc2_dparams,
    id: u8,
) -> c_int {
    // SAFETY: `run_filter`, which alone calls the functions of the registry, passes slices.
    let (block, dest) = unsafe { lend_buffers(src, size, dest, size) };
    call(&FILTERS, id, failed(), |filter| if filter.backward(meta, block, dest) { 0 } else { failed() })
}
