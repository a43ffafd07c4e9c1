//! Contexts: making and freeing them, compressing and decompressing with them (`abi.md` 2.4).

use super::ffi::{block_source, code, context, destination, guard, length, room, source};
use crate::abi::{CBool, blosc2_context, blosc2_cparams, blosc2_dparams};
use crate::chunk::format::MAX_BUFFERSIZE;
use crate::err;
use crate::error::Error;
use crate::pipeline::compress::Source;
use crate::pipeline::context::{Context, OwnedContext};
use crate::pipeline::decompress::ItemRange;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Makes a context for compression. `cparams` is copied, the parameters of a prefilter too; what their
/// pointers point at must stay valid. The environment overrides some (`abi.md` 10.2). Free it with
/// `blosc2_free_ctx`.
///
/// Returns the context; NULL for a filter id that does not exist, an unknown tuner or one that fails, or a
/// prefilter without parameters. Other bad parameters are reported when something is compressed.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_cctx(cparams: blosc2_cparams) -> *mut blosc2_context {
    // SAFETY: by the rules of the module.
    guard(|_| ptr::null_mut(), || Ok(unsafe { Context::for_compression(&cparams) }?.into_c()))
}

/// Makes a context for decompression. `dparams` is copied, the parameters of a postfilter too; what their
/// pointers point at must stay valid. Free it with `blosc2_free_ctx`.
///
/// Returns the context; NULL for a postfilter without parameters.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_create_dctx(dparams: blosc2_dparams) -> *mut blosc2_context {
    // SAFETY: by the rules of the module.
    guard(|_| ptr::null_mut(), || Ok(unsafe { Context::for_decompression(&dparams) }?.into_c()))
}

/// Frees `context`, of either kind; nothing happens for NULL. Works after `blosc2_destroy`, too.
///
/// # Safety
/// The rules of the module `capi`; the context is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_free_ctx(context: *mut blosc2_context) {
    guard(
        |_| (),
        || {
            // SAFETY: NULL or a context of ours, by the rules of the module, and this is its end.
            drop(unsafe { OwnedContext::from_c(context) });
            Ok(())
        },
    );
}

/// Copies the parameters of `ctx` into `*cparams`, except `tuner_params` and `filter_params`, which keep what
/// they hold. After a compression the block size is the one that was used.
///
/// Returns 0, or -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_cparams(
    ctx: *mut blosc2_context,
    cparams: *mut blosc2_cparams,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let (context, cparams) = unsafe { (context(ctx)?, cparams.as_mut()) };
        context.store_cparams(cparams.ok_or_else(|| err!(NullPointer, "no place for the parameters"))?);
        Ok(0)
    })
}

/// Copies the parameters of `ctx` into `*dparams`; `typesize` is that of the last chunk, 0 before the first.
///
/// Returns 0, or -32 for NULL.
///
/// # Safety
/// The rules of the module `capi`; `*dparams` need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_ctx_get_dparams(
    ctx: *mut blosc2_context,
    dparams: *mut blosc2_dparams,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let (context, dparams) = unsafe { (context(ctx)?, dparams.as_mut()) };
        context.store_dparams(dparams.ok_or_else(|| err!(NullPointer, "no place for the parameters"))?);
        Ok(0)
    })
}

/// Sets the blocks that the next `blosc2_decompress_ctx` with `ctx` leaves out: `maskout[i]` is true for a
/// block that is not wanted. The mask is copied and used once, even if that call fails. Blocks that are left
/// out count as decompressed; their part of the destination is not touched.
///
/// Returns 0; -12 for a negative number of blocks, -32 for NULL, -4 without memory.
///
/// # Safety
/// The rules of the module `capi`; `maskout` has `nblocks` items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_set_maskout(
    ctx: *mut blosc2_context,
    maskout: *mut CBool,
    nblocks: c_int,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let (context, mask) = unsafe { (context(ctx)?, source(maskout.cast(), length(nblocks)?)?) };
        let mut copy = Vec::new();
        copy.try_reserve_exact(mask.len()).map_err(|_| err!(MemoryAlloc, "a mask of {nblocks} blocks"))?;
        copy.extend_from_slice(mask);
        context.set_mask(copy);
        Ok(0)
    })
}

/// Compresses the `srcsize` bytes at `src` into a chunk at `dest`, as the parameters of `context` say. `src`
/// may be NULL when a prefilter supplies the data.
///
/// A destination of `srcsize + BLOSC2_MAX_OVERHEAD` bytes is always large enough. The chunk does not depend
/// on the number of threads.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. -12 for a
/// decompression context or bad sizes, -8 for a bad level or a dictionary with a codec that has none, -35 for
/// a source above `BLOSC2_MAX_BUFFERSIZE` or a destination below 32 bytes, -7 for an unknown codec, -18 for a
/// filter that fails.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_compress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let context = unsafe { self::context(context) }?;
        let nbytes = length(srcsize)?;
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "a source of {nbytes} bytes; {MAX_BUFFERSIZE} is the limit"
            ));
        }
        // SAFETY: by the rules of the module.
        let dest = unsafe { destination(dest, room(destsize)) }?;
        let has_prefilter = context.head().prefilter().is_some();
        let source = if src.is_null() && has_prefilter {
            Source::Absent(nbytes)
        } else {
            // SAFETY: by the rules of the module.
            Source::Buffer(unsafe { source(src, nbytes) }?)
        };
        context.compress(source, dest)
    })
}

/// Decompresses the chunk at `src`, of at most `srcsize` bytes, into `dest`, as the parameters of `context`
/// say.
///
/// Returns the bytes of content. -12 for a compression context, -6 when they do not fit into `destsize`
/// bytes, -3 for a mask of another length, another negative code for a chunk that is damaged; then the
/// content of `dest` is undefined.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_decompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    code(|| {
        // SAFETY: by the rules of the module.
        let (context, chunk, dest) = unsafe {
            (self::context(context)?, source(src, room(srcsize))?, destination(dest, room(destsize))?)
        };
        // SAFETY: by the rules of the module.
        let blocks = unsafe { block_source(context, chunk) };
        context.decompress(chunk, blocks.as_ref().map(|blocks| blocks as _), dest)
    })
}

/// Reads `nitems` items of the chunk at `src`, of at most `srcsize` bytes, from item `start` on into the
/// `destsize` bytes at `dest`, as `blosc2_getitem`; `context` is of either kind.
///
/// Returns the bytes read, or a negative error code.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: c_int,
    nitems: c_int,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { read_items(context, src, srcsize, ItemRange::Items { start, nitems }, dest, destsize) })
}

/// Reads `nbytes` bytes of the chunk at `src`, of at most `srcsize` bytes, from byte `start` on into the
/// `destsize` bytes at `dest`. `nbytes` and `start` are multiples of the item size; `context` is of either
/// kind.
///
/// Returns the bytes read; -12 for a part that is not there or no multiple, or another negative error code.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_getitem_bytes_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    start: i32,
    nbytes: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    // SAFETY: by the rules of the module.
    code(|| unsafe { read_items(context, src, srcsize, ItemRange::Bytes { start, nbytes }, dest, destsize) })
}

/// Reads a part of a chunk.
///
/// # Safety
/// The rules of the module `capi`.
unsafe fn read_items(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    wanted: ItemRange,
    dest: *mut c_void,
    destsize: i32,
) -> Result<usize, Error> {
    // SAFETY: by the rules of the module.
    let (context, chunk, dest) =
        unsafe { (self::context(context)?, source(src, room(srcsize))?, destination(dest, room(destsize))?) };
    // SAFETY: by the rules of the module.
    let blocks = unsafe { block_source(context, chunk) };
    context.getitem(chunk, blocks.as_ref().map(|blocks| blocks as _), wanted, dest)
}
