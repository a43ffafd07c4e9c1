//! The C functions with buffers of exactly the lengths that they may use, and destinations that are not initialised:
//! `scripts/check-miri.sh` runs these tests under Miri, which detects every other access. (Miri cannot call the C code of
//! Zstandard.)

use crate::capi::*;
use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr;

const CODECS: [&CStr; 5] = [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib"];

fn source(bytes: &[u8]) -> *const c_void {
    bytes.as_ptr().cast()
}

fn uninitialised(len: usize) -> Box<[MaybeUninit<u8>]> {
    Box::new_uninit_slice(len)
}

/// Returns the first `len` bytes, which a call has written.
///
/// # Safety
/// They are initialised.
unsafe fn written(dest: &[MaybeUninit<u8>], len: i32) -> Vec<u8> {
    let len = usize::try_from(len).expect("a length");
    // SAFETY: the condition of this function.
    dest[..len].iter().map(|byte| unsafe { byte.assume_init() }).collect()
}

/// Compresses into a destination of `destsize` bytes.
fn compress(arguments: (i32, i32, usize), src: &[u8], destsize: usize, codec: &CStr) -> Vec<u8> {
    let (clevel, doshuffle, typesize) = arguments;
    let mut dest = uninitialised(destsize);
    let place = dest.as_mut_ptr().cast();
    // SAFETY: buffers of these lengths; the chunk is initialised.
    unsafe {
        let len = blosc_compress_ctx(
            clevel,
            doshuffle,
            typesize,
            src.len(),
            source(src),
            place,
            destsize,
            codec.as_ptr(),
            256,
            1,
        );
        written(&dest, len)
    }
}

fn decompress(chunk: &[u8], len: usize) -> Result<Vec<u8>, i32> {
    let mut dest = uninitialised(len);
    // SAFETY: a chunk as long as its header says, and a buffer of that length; the content is initialised.
    unsafe {
        let code = blosc_decompress_ctx(source(chunk), dest.as_mut_ptr().cast(), len, 1);
        if code < 0 { Err(code) } else { Ok(written(&dest, code)) }
    }
}

fn read_items(chunk: &[u8], start: i32, nitems: i32, len: usize) -> Result<Vec<u8>, i32> {
    let mut dest = uninitialised(len);
    // SAFETY: as above.
    unsafe {
        let code = blosc_getitem(source(chunk), start, nitems, dest.as_mut_ptr().cast());
        if code < 0 { Err(code) } else { Ok(written(&dest, code)) }
    }
}

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 4 % 40) as u8).collect()
}

#[test]
fn chunks_are_written_into_uninitialised_memory_and_read() {
    let content = content(700);
    for codec in CODECS {
        for (doshuffle, typesize) in [(0, 1), (1, 4), (2, 2), (1, 300)] {
            let chunk = compress((5, doshuffle, typesize), &content, 716, codec);
            assert!(decompress(&chunk, 700) == Ok(content.clone()), "{codec:?}");
            let item = usize::from(chunk[3]);
            let items = read_items(&chunk, 20, 30, 30 * item);
            assert!(items.as_deref() == Ok(&content[20 * item..50 * item]), "{codec:?}");
            // The chunk fits exactly, or into one byte less only in another form.
            assert_eq!(compress((5, doshuffle, typesize), &content, chunk.len(), codec), chunk, "{codec:?}");
            let shorter = compress((5, doshuffle, typesize), &content, chunk.len() - 1, codec);
            assert!(shorter.len() < chunk.len(), "{codec:?}");
        }
    }
    assert_eq!(decompress(&compress((0, 1, 8), &content, 716, c"lz4"), 700), Ok(content));
}

#[test]
fn destinations_of_16_to_19_bytes_are_not_exceeded() {
    for destsize in 0..24 {
        for codec in CODECS {
            let chunk = compress((5, 1, 4), &[0; 600], destsize, codec);
            assert!(chunk.len() <= destsize);
        }
    }
}

#[test]
fn headers_are_read_before_anything_behind_them() {
    let chunk = compress((5, 1, 4), &content(700), 716, c"lz4");
    let header = &chunk[..16];
    for (at, values) in [(0, [0, 1, 3, 5]), (2, [0x38, 0xA0, 0xFF, 0x08]), (3, [0, 0, 0, 0])] {
        for value in values {
            let mut damaged = header.to_vec();
            damaged[at] = value;
            assert!(decompress(&damaged, 700).is_err());
        }
    }
    for (at, value) in
        [(4, -1), (4, 701), (4, i32::MIN), (8, 0), (8, -1), (8, i32::MAX), (12, 15), (12, i32::MIN)]
    {
        let mut damaged = header.to_vec();
        damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
        assert!(decompress(&damaged, 700).is_err(), "{value} at {at}");
    }
    // A chunk that ends behind its header.
    let mut short = header.to_vec();
    short[12..16].copy_from_slice(&16_i32.to_le_bytes());
    assert_eq!(decompress(&short, 700), Err(-1));
    assert_eq!(read_items(&short, 0, 4, 16), Err(-1));
    assert_eq!(decompress(&[0; 16], 0), Ok(Vec::new()));
}

#[test]
fn truncated_and_changed_chunks_are_read_inside_their_length() {
    for codec in CODECS {
        let chunk = compress((5, 1, 4), &content(700), 716, codec);
        for len in (16..chunk.len()).step_by(11) {
            let mut short = chunk[..len].to_vec();
            short[12..16].copy_from_slice(&(len as i32).to_le_bytes());
            assert!(decompress(&short, 700).is_err(), "{codec:?}, {len} bytes");
            let _ = read_items(&short, 5, 90, 360);
        }
        for at in (16..chunk.len()).step_by(7) {
            let mut damaged = chunk.clone();
            damaged[at] ^= 0x55;
            let _ = decompress(&damaged, 700);
            let _ = read_items(&damaged, 5, 90, 360);
        }
    }
}

#[test]
fn places_for_results_may_be_null() {
    let chunk = compress((5, 1, 4), &content(700), 716, c"lz4");
    let none = ptr::null_mut();
    let (mut nbytes, mut versions, mut complib) = (0, [0; 2], ptr::null_mut());
    // SAFETY: a chunk, a name, and places that are NULL or writable; `complib` is memory from `malloc`.
    unsafe {
        blosc_cbuffer_sizes(source(&chunk), &mut nbytes, ptr::null_mut(), ptr::null_mut());
        blosc_cbuffer_metainfo(source(&chunk), ptr::null_mut(), ptr::null_mut());
        blosc_cbuffer_versions(source(&chunk), &mut versions[0], &mut versions[1]);
        assert_eq!(blosc_cbuffer_validate(source(&chunk), chunk.len(), ptr::null_mut()), 0);
        assert_eq!(blosc_cbuffer_validate(source(&chunk), chunk.len() - 1, &mut nbytes), -1);
        assert_eq!(CStr::from_ptr(blosc_cbuffer_complib(source(&chunk))), c"LZ4");
        assert_eq!(blosc_get_complib_info(c"zlib".as_ptr(), &mut complib, none), 3);
        assert_eq!(CStr::from_ptr(complib), c"Zlib");
        libc::free(complib.cast());
    }
    assert_eq!((nbytes, versions), (700, [2, 1]));
}
