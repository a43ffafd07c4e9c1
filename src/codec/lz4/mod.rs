//! LZ4 and LZ4HC streams (`codecs.md` 4 and 7): encoders and a decoder of our own, and thin safe wrappers round the bundled
//! C library for what they leave out, which is dictionaries.
//!
//! Owns the calls into LZ4, the working states and the prepared dictionaries. Never decides which codec
//! runs, and never sees a chunk. A stream is one raw LZ4 block: no frame, no size prefix.

mod decode;
mod encode;

use std::ffi::{c_char, c_int};
use std::ptr::NonNull;
use std::sync::OnceLock;

// Linked for the functions below.
use lz4_sys as _;

use crate::err;
use crate::error::Result;

/// What the library embeds; a test compares it with what the library says of itself.
pub(super) const VERSION: &str = "1.10.0";

/// The library's level for "no level given".
const HC_DEFAULT_LEVEL: c_int = 9;
/// From this level on LZ4HC searches hash chains; below it uses two hash tables, whose contents mean
/// something else. A prepared dictionary serves one of the two.
const HC_FIRST_CHAIN_LEVEL: c_int = 3;

/// `LZ4_stream_t`, opaque.
#[repr(C)]
struct RawStream {
    _private: [u8; 0],
}

/// `LZ4_streamHC_t`, opaque.
#[repr(C)]
struct RawStreamHc {
    _private: [u8; 0],
}

// What `lz4-sys` compiles but does not declare.
unsafe extern "C" {
    #[cfg(test)]
    fn LZ4_versionString() -> *const c_char;
    fn LZ4_createStream() -> *mut RawStream;
    fn LZ4_freeStream(stream: *mut RawStream) -> c_int;
    fn LZ4_resetStream(stream: *mut RawStream);
    fn LZ4_resetStream_fast(stream: *mut RawStream);
    fn LZ4_loadDict(stream: *mut RawStream, dictionary: *const c_char, size: c_int) -> c_int;
    fn LZ4_attach_dictionary(working: *mut RawStream, dictionary: *const RawStream);
    fn LZ4_compress_fast_continue(
        stream: *mut RawStream,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    fn LZ4_createStreamHC() -> *mut RawStreamHc;
    fn LZ4_freeStreamHC(stream: *mut RawStreamHc) -> c_int;
    fn LZ4_resetStreamHC_fast(stream: *mut RawStreamHc, level: c_int);
    fn LZ4_loadDictHC(stream: *mut RawStreamHc, dictionary: *const c_char, size: c_int) -> c_int;
    fn LZ4_attach_HC_dictionary(working: *mut RawStreamHc, dictionary: *const RawStreamHc);
    fn LZ4_compress_HC_continue(
        stream: *mut RawStreamHc,
        src: *const c_char,
        dest: *mut c_char,
        src_size: c_int,
        dest_capacity: c_int,
    ) -> c_int;
}

/// A working or a prepared state of the fast encoder.
struct Stream(NonNull<RawStream>);

// SAFETY: the state is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for Stream {}
// SAFETY: through `&Stream` the state is only attached as a dictionary, which the library reads and never writes.
unsafe impl Sync for Stream {}

impl Stream {
    fn new() -> Result<Self> {
        // SAFETY: takes nothing and returns an initialised state or NULL.
        let raw = unsafe { LZ4_createStream() };
        NonNull::new(raw).map(Stream).ok_or_else(|| err!(MemoryAlloc, "no memory for the LZ4 state"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `LZ4_createStream` and is freed once, here.
        unsafe { LZ4_freeStream(self.0.as_ptr()) };
    }
}

/// A working or a prepared state of the high-compression encoder.
struct StreamHc(NonNull<RawStreamHc>);

// SAFETY: the state is plain memory owned by this value alone; nothing in it belongs to a thread.
unsafe impl Send for StreamHc {}
// SAFETY: through `&StreamHc` the state is only attached as a dictionary, which the library reads and never writes.
unsafe impl Sync for StreamHc {}

impl StreamHc {
    fn new() -> Result<Self> {
        // SAFETY: takes nothing and returns an initialised state or NULL.
        let raw = unsafe { LZ4_createStreamHC() };
        NonNull::new(raw).map(StreamHc).ok_or_else(|| err!(MemoryAlloc, "no memory for the LZ4HC state"))
    }
}

impl Drop for StreamHc {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `LZ4_createStreamHC` and is freed once, here.
        unsafe { LZ4_freeStreamHC(self.0.as_ptr()) };
    }
}

/// The working states of one thread.
#[derive(Default)]
pub(super) struct State {
    fast_tables: encode::fast::Tables,
    mid_tables: Option<encode::mid::Tables>,
    high_tables: Option<encode::high::Tables>,
    fast: Option<Stream>,
    hc: Option<StreamHc>,
}

fn get_or_try_new<T>(slot: &mut Option<T>, new: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    match slot {
        Some(state) => Ok(state),
        None => Ok(slot.insert(new()?)),
    }
}

/// A dictionary prepared for the fast encoder: its bytes and the state that has them loaded.
pub(super) struct FastDictionary {
    template: Stream,
    _bytes: Box<[u8]>,
}

impl FastDictionary {
    /// Loads `bytes`, which must be fewer than 2^31.
    pub(super) fn new(bytes: Box<[u8]>) -> Result<Self> {
        let template = Stream::new()?;
        let size = c_int_len(&bytes).ok_or_else(|| err!(CodecDict, "dictionary of {} bytes", bytes.len()))?;
        // SAFETY: `bytes` holds `size` readable bytes on the heap that live and stay in place as long as the template.
        unsafe { LZ4_loadDict(template.0.as_ptr(), bytes.as_ptr().cast(), size) };
        Ok(FastDictionary { template, _bytes: bytes })
    }
}

/// A dictionary prepared for the high-compression encoder, for either family of levels on its first use.
pub(super) struct HcDictionary {
    two_tables: OnceLock<Option<StreamHc>>,
    chains: OnceLock<Option<StreamHc>>,
    bytes: Box<[u8]>,
}

impl HcDictionary {
    pub(super) fn new(bytes: Box<[u8]>) -> Self {
        HcDictionary { two_tables: OnceLock::new(), chains: OnceLock::new(), bytes }
    }

    fn template(&self, level: c_int) -> Result<&StreamHc> {
        let slot = if level < HC_FIRST_CHAIN_LEVEL { &self.two_tables } else { &self.chains };
        slot.get_or_init(|| {
            let template = StreamHc::new().ok()?;
            let size = c_int_len(&self.bytes)?;
            // SAFETY: the state is fresh; `bytes` holds `size` readable bytes on the heap that live and stay
            // in place as long as the template.
            unsafe {
                LZ4_resetStreamHC_fast(template.0.as_ptr(), level);
                LZ4_loadDictHC(template.0.as_ptr(), self.bytes.as_ptr().cast(), size);
            }
            Some(template)
        })
        .as_ref()
        .ok_or_else(|| err!(CodecDict, "the LZ4HC dictionary of {} bytes cannot be loaded", self.bytes.len()))
    }
}

/// Decompresses the first `wanted` bytes at least of what `src` stands for into `dest`, which has room for all of it; how
/// many are there, fewer for a bad stream.
pub(super) fn decode_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    decode::prefix(src, dest, wanted.min(dest.len())).unwrap_or(0)
}

/// Compresses with the fast encoder at `clevel` 0..=9; 0 if the result does not fit.
pub(super) fn compress_fast(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> usize {
    if c_int_len(src).is_none() {
        return 0;
    }
    encode::fast::compress(&mut state.fast_tables, src, dest, acceleration(clevel)).unwrap_or(0)
}

/// As [`compress_fast`], with a dictionary.
pub(super) fn compress_fast_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: &FastDictionary,
) -> Result<usize> {
    let Some(src_len) = c_int_len(src) else { return Ok(0) };
    let stream = get_or_try_new(&mut state.fast, Stream::new)?.0.as_ptr();
    // SAFETY: `stream` is a valid state used by this thread alone; the template outlives the call, and
    // the next call begins with a reset, so it is never reached through `stream` again. `src` and `dest` are
    // valid for the lengths given.
    let written = unsafe {
        LZ4_resetStream_fast(stream);
        LZ4_attach_dictionary(stream, dictionary.template.0.as_ptr());
        let written = LZ4_compress_fast_continue(
            stream,
            src.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            src_len,
            capacity(dest),
            acceleration(clevel) as c_int,
        );
        if written <= 0 {
            // A failed call leaves the state undefined: only the full reset may follow.
            LZ4_resetStream(stream);
        }
        written
    };
    Ok(usize::try_from(written).unwrap_or(0))
}

/// Compresses with the high-compression encoder at `clevel` 0..=9 (0: the library's default); 0 if the result does not fit.
pub(super) fn compress_hc(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> usize {
    if c_int_len(src).is_none() {
        return 0;
    }
    let level = hc_level(clevel);
    if level < HC_FIRST_CHAIN_LEVEL {
        encode::mid::compress(state.mid_tables.get_or_insert_default(), src, dest)
    } else {
        let attempts = 1 << (level - 1);
        encode::high::compress(state.high_tables.get_or_insert_default(), src, dest, attempts)
    }
    .unwrap_or(0)
}

/// As [`compress_hc`], with a dictionary.
pub(super) fn compress_hc_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: &HcDictionary,
) -> Result<usize> {
    let Some(src_len) = c_int_len(src) else { return Ok(0) };
    let level = hc_level(clevel);
    let template = dictionary.template(level)?;
    let stream = get_or_try_new(&mut state.hc, StreamHc::new)?.0.as_ptr();
    // SAFETY: `stream` is a valid state used by this thread alone; the template is of the level's family and
    // outlives the call, and the next call begins with a reset, so it is never reached through `stream`
    // again. `src` and `dest` are valid for the lengths given.
    let written = unsafe {
        LZ4_resetStreamHC_fast(stream, level);
        LZ4_attach_HC_dictionary(stream, template.0.as_ptr());
        LZ4_compress_HC_continue(
            stream,
            src.as_ptr().cast(),
            dest.as_mut_ptr().cast(),
            src_len,
            capacity(dest),
        )
    };
    Ok(usize::try_from(written).unwrap_or(0))
}

/// Decompresses the first `src_len` bytes of `src`, which were made with `dictionary`, into the first `dest_len` of
/// `dest`; 0 if they are bad or need more. What lies behind is room to read and write ahead: the bytes of `dest` there
/// are garbage afterwards.
///
/// # Panics
/// If the buffers are shorter than that.
pub(super) fn decompress(
    src: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> usize {
    decode::block(decode::Source { ahead: src, len: src_len }, dest, dest_len, dictionary).unwrap_or(0)
}

fn c_int_len(bytes: &[u8]) -> Option<c_int> {
    c_int::try_from(bytes.len()).ok()
}

/// The room in `dest`, as much of it as the library can be told of.
fn capacity(dest: &[u8]) -> c_int {
    c_int::try_from(dest.len()).unwrap_or(c_int::MAX)
}

/// How hastily the fast encoder goes about it.
fn acceleration(clevel: i32) -> usize {
    (10 - clevel.clamp(0, 9)) as usize
}

fn hc_level(clevel: i32) -> c_int {
    if clevel < 1 { HC_DEFAULT_LEVEL } else { clevel }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn the_version_is_the_library_s_own() {
        // SAFETY: returns a constant C string.
        let version = unsafe { CStr::from_ptr(LZ4_versionString()) };
        assert_eq!(version.to_str(), Ok(VERSION));
    }
}
