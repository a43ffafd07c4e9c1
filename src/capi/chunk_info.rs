//! What a chunk's header tells, from its first 16 bytes (`chunk.md` 4.7).

use super::ffi::{code, guard, source, store};
use super::process::builtin_library;
use crate::chunk::ChunkHeader;
use crate::chunk::format::{MAX_BUFFERSIZE, MIN_HEADER_LENGTH};
use crate::err;
use crate::error::Result;
use crate::registry;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// The header at `cbuffer`.
///
/// # Safety
/// `cbuffer` is NULL or points at 16 bytes.
unsafe fn header(cbuffer: *const c_void) -> Result<ChunkHeader> {
    // SAFETY: by the caller's word.
    ChunkHeader::parse_basic(unsafe { source(cbuffer, MIN_HEADER_LENGTH) }?)
}

/// Stores the sizes of a chunk in bytes: of its content in `*nbytes`, of itself in `*cbytes`, of its blocks
/// in `*blocksize`. All 0 for a header that makes no sense. Any of the results may be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut usize,
    cbytes: *mut usize,
    blocksize: *mut usize,
) {
    guard(
        |_| (),
        || {
            // SAFETY: by the function's own rules.
            let header = unsafe { header(cbuffer) }.unwrap_or_default();
            // SAFETY: by the rules of the module.
            unsafe {
                store(nbytes, header.nbytes as usize);
                store(cbytes, header.cbytes as usize);
                store(blocksize, header.blocksize as usize);
            }
            Ok(())
        },
    );
}

/// Stores the sizes of a chunk in bytes: of its content in `*nbytes`, of itself in `*cbytes`, of its blocks
/// in `*blocksize`. Any of the results may be NULL. Reads 16 bytes.
///
/// Returns 0; a negative code for a header that makes no sense, and stores 0 in all three.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: *const c_void,
    nbytes: *mut i32,
    cbytes: *mut i32,
    blocksize: *mut i32,
) -> c_int {
    code(|| {
        // SAFETY: by the function's own rules.
        let parsed = unsafe { header(cbuffer) };
        let header = parsed.as_ref().copied().unwrap_or_default();
        // SAFETY: by the rules of the module.
        unsafe {
            store(nbytes, header.nbytes);
            store(cbytes, header.cbytes);
            store(blocksize, header.blocksize);
        }
        parsed.map(|_| 0)
    })
}

/// Tells whether the `cbytes` bytes at `cbuffer` may be a chunk: its header makes sense and names that size.
/// Reads 16 bytes. Stores the size of the content in `*nbytes`, 0 for an error.
///
/// Returns 0; -6 for less than 16 bytes, -11 for a bad header or another size, -4 for a content above the
/// limit.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_validate(
    cbuffer: *const c_void,
    cbytes: usize,
    nbytes: *mut usize,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        unsafe { store(nbytes, 0) };
        if cbytes < MIN_HEADER_LENGTH {
            return Err(err!(WriteBuffer, "{cbytes} bytes are less than a header"));
        }
        // SAFETY: there are 16 bytes.
        let header = unsafe { header(cbuffer) }?;
        if header.cbytes != cbytes as i32 {
            return Err(err!(InvalidHeader, "a chunk of {} bytes in {cbytes}", header.cbytes));
        }
        if usize::try_from(header.nbytes).map_or(true, |nbytes| nbytes > MAX_BUFFERSIZE) {
            return Err(err!(MemoryAlloc, "a content of {} bytes", header.nbytes));
        }
        // SAFETY: by the rules of the module.
        unsafe { store(nbytes, header.nbytes()) };
        Ok(0)
    })
}

/// Stores the item size of a chunk, in bytes, in `*typesize` and its flags byte in `*flags`; both 0 for a
/// header that makes no sense. Either result may be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_metainfo(
    cbuffer: *const c_void,
    typesize: *mut usize,
    flags: *mut c_int,
) {
    guard(
        |_| (),
        || {
            // SAFETY: by the function's own rules.
            let header = unsafe { header(cbuffer) }.unwrap_or_default();
            // SAFETY: by the rules of the module.
            unsafe {
                store(typesize, usize::from(header.typesize));
                store(flags, c_int::from(header.flags));
            }
            Ok(())
        },
    );
}

/// Stores the version of the chunk format in `*version` and that of the codec's format in `*versionlz`; both
/// 0 for a header that makes no sense. Either result may be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_versions(
    cbuffer: *const c_void,
    version: *mut c_int,
    versionlz: *mut c_int,
) {
    guard(
        |_| (),
        || {
            // SAFETY: by the function's own rules.
            let header = unsafe { header(cbuffer) }.unwrap_or_default();
            // SAFETY: by the rules of the module.
            unsafe {
                store(version, c_int::from(header.version));
                store(versionlz, c_int::from(header.versionlz));
            }
            Ok(())
        },
    );
}

/// Returns the name of the library that made a chunk: a static string, NULL for an unknown one or a header
/// that makes no sense. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: *const c_void) -> *const c_char {
    guard(
        |_| ptr::null(),
        || {
            // SAFETY: by the function's own rules.
            let format = unsafe { header(cbuffer) }?.codec_format();
            let name: Option<&CStr> = match builtin_library(format).map(|codec| codec.library_name()) {
                Some("BloscLZ") => Some(c"BloscLZ"),
                Some("LZ4") => Some(c"LZ4"),
                Some("Zlib") => Some(c"Zlib"),
                Some(_) => Some(c"Zstd"),
                None => registry::codec_by_complib(c_int::from(format)).and_then(|codec| codec.name),
            };
            Ok(name.map_or(ptr::null(), CStr::as_ptr))
        },
    )
}
