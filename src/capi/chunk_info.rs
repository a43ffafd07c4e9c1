//! Functions that read the first 16 bytes of a chunk, its header (`chunk.md` 4.7).

use super::ffi::{result_code, returned_value, value_or};
use super::pointers::{ChunkStart, Input, Out, Size, SourceBuffer};
use crate::chunk::ChunkHeader;
use crate::chunk::format::{MAX_BUFFERSIZE, MIN_HEADER_LENGTH};
use crate::codec::BuiltInCodec;
use crate::error::{Error, ensure, err};
use crate::panics::catch_panics_of_short_call;
use crate::registry;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// Reads the sizes in the header of the chunk at `cbuffer`, in bytes: stores the size of its uncompressed content
/// in `*nbytes`, the size of the chunk in `*cbytes` and the size of its blocks in `*blocksize`. Stores 0 in all
/// three for an invalid header. Each of the three pointers may be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_sizes(
    cbuffer: ChunkStart<*const c_void>,
    nbytes: Out<*mut usize>,
    cbytes: Out<*mut usize>,
    blocksize: Out<*mut usize>,
) {
    let (nbytes, cbytes, blocksize) = (nbytes.cleared(), cbytes.cleared(), blocksize.cleared());
    let stored = catch_panics_of_short_call(|| {
        let sizes = cbuffer.sizes()?;
        nbytes.store(sizes[0] as usize);
        blocksize.store(sizes[1] as usize);
        cbytes.store(sizes[2] as usize);
        Ok(())
    });
    returned_value(|_| (), stored);
}

/// Reads the sizes in the header of the chunk at `cbuffer`, in bytes: stores the size of its uncompressed content
/// in `*nbytes`, the size of the chunk in `*cbytes` and the size of its blocks in `*blocksize`. Each of the three
/// pointers may be NULL. Reads 16 bytes.
///
/// Returns 0, or a negative code for an invalid header; then 0 is stored in all three.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_sizes(
    cbuffer: ChunkStart<*const c_void>,
    nbytes: Out<*mut i32>,
    cbytes: Out<*mut i32>,
    blocksize: Out<*mut i32>,
) -> c_int {
    let (nbytes, cbytes, blocksize) = (nbytes.cleared(), cbytes.cleared(), blocksize.cleared());
    let stored = catch_panics_of_short_call(|| {
        let sizes = cbuffer.sizes()?;
        nbytes.store(sizes[0]);
        blocksize.store(sizes[1]);
        cbytes.store(sizes[2]);
        Ok(0)
    });
    returned_value(Error::code, stored)
}

/// Checks whether the `cbytes` bytes at `cbuffer` can be a chunk: whether the header is valid and has `cbytes` as
/// the size of the chunk. The rest of the chunk is not checked. Stores the size of its uncompressed content, in
/// bytes, in `*nbytes`, and 0 after an error; `nbytes` may be NULL. Reads 16 bytes.
///
/// Returns 0. Errors: -6 when `cbytes` is less than 16, -11 for an invalid header or another size of the chunk, -4
/// for a content above `BLOSC2_MAX_BUFFERSIZE`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc1_cbuffer_validate(
    cbuffer: SourceBuffer<*const c_void>,
    cbytes: Size<usize, Input>,
    nbytes: Out<*mut usize>,
) -> c_int {
    result_code(|| {
        let nbytes = nbytes.cleared();
        let len = cbytes.len_or_zero();
        let cbytes = len.get();
        if cbytes < MIN_HEADER_LENGTH {
            return Err(err!(WriteBuffer, "`cbytes` is {cbytes}, expected at least {MIN_HEADER_LENGTH}"));
        }
        let header = ChunkHeader::parse_basic(cbuffer.bytes(len.min(MIN_HEADER_LENGTH))?)?;
        if usize::try_from(header.cbytes) != Ok(cbytes) {
            return Err(err!(InvalidHeader, "`cbytes` is {cbytes}, but {} in the header", header.cbytes));
        }
        ensure!(
            usize::try_from(header.nbytes).is_ok_and(|nbytes| nbytes <= MAX_BUFFERSIZE),
            MemoryAlloc,
            "`nbytes` of the header is {}, expected 0 to {MAX_BUFFERSIZE}",
            header.nbytes,
        );
        nbytes.store(header.nbytes());
        Ok(0)
    })
}

/// Reads the header of the chunk at `cbuffer`: stores the item size, in bytes, in `*typesize` and the flags byte
/// (`BLOSC_DOSHUFFLE` and so on) in `*flags`. Stores 0 in both for an invalid header. Each of the two pointers may
/// be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc1_cbuffer_metainfo(
    cbuffer: ChunkStart<*const c_void>,
    typesize: Out<*mut usize>,
    flags: Out<*mut c_int>,
) {
    value_or((), || {
        let (typesize, flags) = (typesize.cleared(), flags.cleared());
        let header = cbuffer.header()?;
        typesize.store(usize::from(header.typesize));
        flags.store(c_int::from(header.flags));
        Ok(())
    });
}

/// Reads the header of the chunk at `cbuffer`: stores the version of the chunk format in `*version` and the
/// version of the codec's stream format in `*versionlz`. Stores 0 in both for an invalid header. Each of the two
/// pointers may be NULL. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_versions(
    cbuffer: ChunkStart<*const c_void>,
    version: Out<*mut c_int>,
    versionlz: Out<*mut c_int>,
) {
    value_or((), || {
        let (version, versionlz) = (version.cleared(), versionlz.cleared());
        let header = cbuffer.header()?;
        version.store(c_int::from(header.version));
        versionlz.store(c_int::from(header.versionlz));
        Ok(())
    });
}

/// Returns the name of the library that compressed the chunk at `cbuffer`, for example `"LZ4"`: a static string,
/// not to be freed; NULL for an unknown library or an invalid header. Reads 16 bytes.
///
/// # Safety
/// The rules of the module `capi`; `cbuffer` points at 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_cbuffer_complib(cbuffer: ChunkStart<*const c_void>) -> *const c_char {
    value_or(ptr::null(), || {
        let format = cbuffer.header()?.codec_format();
        let name = match BuiltInCodec::from_format(format) {
            Some(codec) => Some(codec.library_name()),
            None => registry::codec_by_complib(c_int::from(format)).and_then(|codec| codec.name),
        };
        let name = name.ok_or_else(|| err!(NotFound, "the library code {format} has no name"))?;
        Ok(name.as_ptr())
    })
}
