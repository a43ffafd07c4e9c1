//! Contexts: creating and freeing them, compressing and decompressing with them (`abi.md` 2.4).

use super::ffi::{result_code, result_code_of_short_call, value_or};
use super::pointers::{
    DestBuffer, Handle, Input, Out, Output, Parameters, Size, SourceBuffer, Taken, Variable,
};
use crate::abi::{CBool, blosc2_context, blosc2_cparams, blosc2_dparams};
use crate::chunk::format::{LONGER_CONTENT, MAX_BUFFERSIZE};
use crate::error::{Error, ensure, err};
use crate::fallible;
use crate::pipeline::compress;
use crate::pipeline::decompress::ItemRange;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Creates a context for compression. `cparams` is copied, and so is the struct at its `preparams`; the memory
/// that its other pointers refer to must stay valid as long as the context. Environment variables such as
/// `BLOSC_CLEVEL` override some parameters (`abi.md` 10.2).
///
/// Returns the context, which the caller frees with `blosc2_free_ctx`. Returns NULL for a filter id that does not
/// exist, for an unknown tuner or one whose `init` fails, and for a prefilter without `preparams`. Other invalid
/// parameters are reported when the context compresses.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_create_cctx(cparams: Parameters<blosc2_cparams>) -> *mut blosc2_context {
    value_or(ptr::null_mut(), || Ok(cparams.context()?.into_c()))
}

/// Creates a context for decompression. `dparams` is copied, and so is the struct at its `postparams`; the memory
/// that its other pointers refer to must stay valid as long as the context.
///
/// Returns the context, which the caller frees with `blosc2_free_ctx`. Returns NULL for a postfilter without
/// `postparams`.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_create_dctx(dparams: Parameters<blosc2_dparams>) -> *mut blosc2_context {
    value_or(ptr::null_mut(), || Ok(dparams.context()?.into_c()))
}

/// Frees `context`, a compression or decompression context. Does nothing for NULL. May be called after
/// `blosc2_destroy`.
///
/// # Safety
/// The rules of the module `capi`; the context is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: Taken<*mut blosc2_context>) {
    value_or((), || {
        drop(context.take());
        Ok(())
    });
}

/// Copies the parameters of `ctx` to `*cparams`. The fields `tuner_params` and `filter_params` of `*cparams` keep
/// their values. After a compression, `blocksize` is the block size that was used, in bytes. `preparams` points at
/// the context's own copy.
///
/// Returns 0, or -32 when an argument is NULL; `*cparams` is unchanged then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_ctx_get_cparams(
    ctx: Handle<*mut blosc2_context>,
    mut cparams: Variable<*mut blosc2_cparams>,
) -> c_int {
    result_code(|| {
        let (context, cparams) = (ctx.get()?, cparams.get_mut());
        context.store_cparams(cparams.ok_or_else(|| err!(NullPointer, "`cparams` is NULL"))?);
        Ok(0)
    })
}

/// Copies the parameters of `ctx` to `*dparams`. `typesize` is the item size, in bytes, of the last chunk that was
/// decompressed; 0 before the first. `postparams` points at the context's own copy.
///
/// Returns 0, or -32 when an argument is NULL; all fields are NULL or 0 then.
///
/// # Safety
/// The rules of the module `capi`; `*dparams` need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_dparams(
    ctx: Handle<*mut blosc2_context>,
    dparams: Out<*mut blosc2_dparams>,
) -> c_int {
    result_code(|| {
        let dparams = dparams.cleared();
        let context = ctx.get()?;
        ensure!(!dparams.is_null(), NullPointer, "`dparams` is NULL");
        dparams.store(context.dparams());
        Ok(0)
    })
}

/// Sets which blocks the next `blosc2_decompress_ctx` with `ctx` skips: `maskout` is an array of `nblocks` flags,
/// and block `i` is skipped if `maskout[i]` is true. The array is copied. The mask applies to one call, even if
/// that call fails. Skipped blocks count as decompressed; their part of the destination is not written.
///
/// Returns 0. Errors: -12 for a negative `nblocks`, -32 when a pointer is NULL, -4 when memory cannot be
/// allocated.
///
/// # Safety
/// The rules of the module `capi`; `maskout` has `nblocks` items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_maskout(
    ctx: Handle<*mut blosc2_context>,
    maskout: SourceBuffer<*mut CBool>,
    nblocks: Size<c_int, Input>,
) -> c_int {
    result_code(|| {
        let (context, mask) = (ctx.get()?, maskout.bytes(nblocks.non_negative_len()?)?);
        context.set_mask(fallible::copy_of(mask)?);
        Ok(0)
    })
}

/// Compresses the `srcsize` bytes at `src` into a chunk at `dest`, with the parameters of `context`, a compression
/// context. `src` may be NULL when a prefilter supplies the data.
///
/// `destsize` is the size of the destination in bytes; `srcsize + BLOSC2_MAX_OVERHEAD` bytes are always enough.
/// The bytes of the chunk do not depend on the number of threads.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors: -12 for a
/// decompression context or invalid sizes, -8 for an invalid level or for a dictionary with a codec that has none,
/// -35 for a source above `BLOSC2_MAX_BUFFERSIZE` or a destination below 32 bytes, -7 for an unknown codec, -18
/// when a filter or the prefilter fails, -36 when the tuner fails.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_compress_ctx(
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let context = context.get()?;
        let len = srcsize.non_negative_len()?;
        let nbytes = len.get();
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "`srcsize` is {nbytes}, expected at most {MAX_BUFFERSIZE}; {LONGER_CONTENT}"
            ));
        }
        let dest = dest.buffer(destsize.len_or_zero())?;
        let has_prefilter = context.head().prefilter().is_some();
        let source = if src.is_null() && has_prefilter {
            compress::ContentSource::SizeOnly(nbytes)
        } else {
            compress::ContentSource::Buffer(src.bytes(len)?)
        };
        context.compress(source, dest)
    })
}

/// Decompresses the chunk at `src` into `dest`, with the parameters of `context`, a decompression context.
/// `srcsize` is the number of readable bytes at `src`: at least the size of the chunk. `destsize` is the size of
/// `dest` in bytes.
///
/// Returns the number of bytes of content. Errors: -12 for a compression context, -6 when the content does not fit
/// into `destsize` bytes, -3 when a mask (`blosc2_set_maskout`) has another length than the number of blocks, -27
/// when the postfilter fails, another negative code for a damaged chunk; the content of `dest` is undefined after
/// an error.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_decompress_ctx(
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let (handle, context) = (&context, context.get()?);
        let chunk = src.bytes(srcsize.len_or_zero())?;
        let dest = dest.buffer(destsize.len_or_zero())?;
        let blocks = handle.block_source(chunk);
        context.decompress(chunk, blocks.as_ref().map(|blocks| blocks as _), dest)
    })
}

/// Decompresses `nitems` items of the chunk at `src`, from item `start` on, into `dest`, as `blosc2_getitem`, with
/// the parameters of `context`, which may be a compression or a decompression context. `srcsize` is the number of
/// readable bytes at `src`; `destsize` is the size of `dest` in bytes.
///
/// Returns the number of bytes written to `dest`, or a negative error code.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_getitem_ctx(
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    start: c_int,
    nitems: c_int,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code_of_short_call(|| {
        read_items(context, src, srcsize, ItemRange::Items { start, nitems }, dest, destsize)
    })
}

/// Decompresses `nbytes` bytes of the chunk at `src`, from byte `start` of its content on, into `dest`. Both
/// `start` and `nbytes` must be multiples of the item size of the chunk. `context` may be a compression or a
/// decompression context. `srcsize` is the number of readable bytes at `src`; `destsize` is the size of `dest` in
/// bytes.
///
/// Returns the number of bytes written to `dest`. Errors: -12 for bytes outside the chunk or a number that is no
/// multiple of the item size, or another negative code.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_getitem_bytes_ctx(
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    start: i32,
    nbytes: i32,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code_of_short_call(|| {
        read_items(context, src, srcsize, ItemRange::Bytes { start, nbytes }, dest, destsize)
    })
}

/// Decompresses a part of a chunk.
#[inline(always)]
fn read_items(
    context: Handle<'_, *mut blosc2_context>,
    src: SourceBuffer<'_, *const c_void>,
    srcsize: Size<'_, i32, Input>,
    wanted: ItemRange,
    dest: DestBuffer<'_, *mut c_void>,
    destsize: Size<'_, i32, Output>,
) -> Result<usize, Error> {
    let (handle, context) = (&context, context.get()?);
    let chunk = src.bytes(srcsize.len_or_zero())?;
    let dest = dest.buffer(destsize.len_or_zero())?;
    let blocks = handle.block_source(chunk);
    context.getitem(chunk, blocks.as_ref().map(|blocks| blocks as _), wanted, dest)
}
