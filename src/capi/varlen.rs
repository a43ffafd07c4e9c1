//! Chunks of variable-length blocks (`chunk.md` 3.11, 4.6).

use super::ffi::{
    Out, block_source, context_ref, dest_buffer, len_or_zero, malloc, non_negative_len, result_code,
    source_slice,
};
use crate::abi::blosc2_context;
use crate::chunk::format::MAX_BUFFERSIZE;
use crate::chunk::{ChunkHeader, varlen};
use crate::err;
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::Source;
use std::ffi::{c_int, c_void};
use std::slice;

/// Compresses `nblocks` buffers into one chunk at `dest`, with the parameters of `context`, a compression context.
/// Buffer `i` has `srcsizes[i]` bytes (at least 1) at `srcs[i]` and becomes block `i`, which can be decompressed
/// separately. `destsize` is the size of `dest` in bytes; `32 + 8 * nblocks` bytes plus the sum of `srcsizes` are
/// always enough. If the context has `use_dict` set and its codec has no dictionaries, the blocks are compressed
/// without one.
///
/// Returns the size of the chunk in bytes; 0 when it does not fit into `destsize` bytes. Errors: -12 for a
/// decompression context, for no blocks and for an empty block, or the codes of `blosc2_compress_ctx`.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlcompress_ctx(
    context: *mut blosc2_context,
    srcs: *const *const c_void,
    srcsizes: *const i32,
    nblocks: i32,
    dest: *mut c_void,
    destsize: i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let context = unsafe { self::context_ref(context) }?;
        if context.head().do_compress() == 0 {
            return Err(err!(InvalidParam, "`context` is for decompression, expected one for compression"));
        }
        if srcs.is_null() || srcsizes.is_null() || nblocks <= 0 {
            return Err(err!(
                InvalidParam,
                "`nblocks` is {nblocks}, expected at least 1, or `srcs` or `srcsizes` is NULL"
            ));
        }
        let count = non_negative_len(nblocks)?;
        // SAFETY: not NULL, and by the rules arrays of `nblocks` elements.
        let (srcs, sizes) =
            unsafe { (slice::from_raw_parts(srcs, count), slice::from_raw_parts(srcsizes, count)) };
        let mut sources = fallible::vec_with_capacity(count)?;
        let mut total = 0usize;
        for (&src, &size) in srcs.iter().zip(sizes) {
            if src.is_null() || size <= 0 {
                return Err(err!(InvalidParam, "a block has {size} bytes, expected at least 1, or is NULL"));
            }
            total += non_negative_len(size)?;
            // SAFETY: by the rules of the module.
            sources.push(unsafe { source_slice(src, non_negative_len(size)?) }?);
        }
        if total > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "the blocks have {total} bytes, expected at most {MAX_BUFFERSIZE}"
            ));
        }
        // SAFETY: by the rules of the module.
        let dest = unsafe { dest_buffer(dest, len_or_zero(destsize)) }?;
        context.compress(Source::VarlenBlocks(&sources), dest)
    })
}

/// Reads the number of blocks of the chunk at `src`, which must have variable-length blocks, and stores it in
/// `*nblocks`. `srcsize` is the number of readable bytes at `src`; the 32 bytes of the header are enough.
///
/// Returns 0. Errors: -12 when a pointer is NULL and for a chunk without variable-length blocks, or the code for
/// an invalid header; 0 is stored then.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vlchunk_get_nblocks(
    src: *const c_void,
    srcsize: i32,
    nblocks: *mut i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let nblocks = unsafe { Out::cleared(nblocks) };
        if src.is_null() || nblocks.is_null() {
            return Err(err!(InvalidParam, "`src` or `nblocks` is NULL"));
        }
        // SAFETY: by the rules of the module.
        let header = ChunkHeader::parse(unsafe { source_slice(src, len_or_zero(srcsize)) }?)?;
        if !header.has_varlen_blocks() {
            return Err(err!(InvalidParam, "the chunk has no variable-length blocks"));
        }
        nblocks.store(header.blocksize);
        Ok(0)
    })
}

/// Buffers from `malloc`, freed on drop unless they have been passed to the C caller.
struct MallocBuffers(Vec<(*mut u8, usize)>);

impl Drop for MallocBuffers {
    fn drop(&mut self) {
        for &(buffer, _) in &self.0 {
            // SAFETY: from `malloc`, and there is no other pointer to it in use.
            unsafe { libc::free(buffer.cast()) }
        }
    }
}

/// Decompresses all blocks of the chunk at `src`, which must have variable-length blocks, with the parameters of
/// `context`, a decompression context. Stores a buffer from `malloc` with the content of block `i` in `dests[i]`,
/// and its size in bytes in `destsizes[i]`; the caller frees each buffer with `free()`. `srcsize` is the number of
/// readable bytes at `src`. `maxblocks` is the number of elements of `dests` and of `destsizes`.
///
/// Returns the number of blocks. Errors: -12 for a compression context, for a chunk without variable-length blocks
/// and for more than `maxblocks` blocks, another negative code for a damaged chunk. After an error all elements of
/// `dests` are NULL and all elements of `destsizes` are 0; otherwise those after the last block are.
///
/// # Safety
/// The rules of the module `capi`; `dests` and `destsizes` have `maxblocks` items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vldecompress_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    dests: *mut *mut c_void,
    destsizes: *mut i32,
    maxblocks: i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module, and those of the function.
        let (dests, destsizes) = unsafe {
            let count = len_or_zero(maxblocks);
            (Out::cleared_array(dests, count), Out::cleared_array(destsizes, count))
        };
        // SAFETY: by the rules of the module.
        let (context, chunk) =
            unsafe { (self::context_ref(context)?, source_slice(src, len_or_zero(srcsize))?) };
        if context.head().do_compress() != 0 {
            return Err(err!(InvalidParam, "`context` is for compression, expected one for decompression"));
        }
        if dests.is_null() || destsizes.is_null() || maxblocks <= 0 {
            return Err(err!(
                InvalidParam,
                "`maxblocks` is {maxblocks}, expected at least 1, or `dests` or `destsizes` is NULL"
            ));
        }
        // The number of blocks is checked first, so that no table is allocated for a chunk with too many blocks.
        let header = ChunkHeader::parse(chunk)?;
        if header.has_varlen_blocks() && varlen::nblocks(&header) > len_or_zero(maxblocks) {
            return Err(err!(
                InvalidParam,
                "the chunk has {} blocks, expected at most `maxblocks` = {maxblocks}",
                header.blocksize
            ));
        }
        // SAFETY: by the rules of the module.
        let blocks = unsafe { block_source(context, chunk) };
        context.open_varlen(chunk, blocks.as_ref().map(|blocks| blocks as _), |reader| {
            let count = reader.nblocks();
            let mut buffers = MallocBuffers(fallible::vec_with_capacity(count)?);
            for nblock in 0..count {
                let nbytes = reader.block_nbytes(nblock);
                buffers.0.push((malloc(nbytes)?, nbytes));
            }
            let borrow = |&(buffer, nbytes): &(*mut u8, usize)| {
                // SAFETY: a buffer of that length that `buffers` owns.
                unsafe { OutBuffer::from_raw(buffer, nbytes) }
            };
            let outputs = fallible::collect(buffers.0.iter().map(borrow))?;
            reader.decode_all(outputs)?;
            // The C caller owns them from here on.
            for (nblock, (buffer, nbytes)) in buffers.0.drain(..).enumerate() {
                dests.store_at(nblock, buffer.cast());
                destsizes.store_at(nblock, nbytes as i32);
            }
            Ok(count)
        })
    })
}

/// Decompresses block `nblock` of the chunk at `src`, which must have variable-length blocks, with the parameters
/// of `context`, a decompression context. Stores a buffer from `malloc` in `*dest`, which the caller frees with
/// `free()`, and its size in bytes in `*destsize`. `srcsize` is the number of readable bytes at `src`.
///
/// Returns the size of the block in bytes. Errors: -12 for a compression context, for a chunk without
/// variable-length blocks and for a block that does not exist, another negative code for a damaged chunk. NULL and
/// 0 are stored after an error.
///
/// # Safety
/// The rules of the module `capi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_vldecompress_block_ctx(
    context: *mut blosc2_context,
    src: *const c_void,
    srcsize: i32,
    nblock: i32,
    dest: *mut *mut u8,
    destsize: *mut i32,
) -> c_int {
    result_code(|| {
        // SAFETY: by the rules of the module.
        let (dest, destsize) = unsafe { (Out::cleared(dest), Out::cleared(destsize)) };
        // SAFETY: by the rules of the module.
        let (context, chunk) =
            unsafe { (self::context_ref(context)?, source_slice(src, len_or_zero(srcsize))?) };
        if dest.is_null() || destsize.is_null() {
            return Err(err!(InvalidParam, "`dest` or `destsize` is NULL"));
        }
        // SAFETY: by the rules of the module.
        let blocks = unsafe { block_source(context, chunk) };
        context.open_varlen(chunk, blocks.as_ref().map(|blocks| blocks as _), |reader| {
            let Some(nblock) = usize::try_from(nblock).ok().filter(|&n| n < reader.nblocks()) else {
                return Err(err!(
                    InvalidParam,
                    "`nblock` is {nblock}, but the chunk has {} blocks",
                    reader.nblocks()
                ));
            };
            let nbytes = reader.block_nbytes(nblock);
            let mut buffers = MallocBuffers(vec![(malloc(nbytes)?, nbytes)]);
            let buffer = buffers.0[0].0;
            // SAFETY: a buffer of that length that `buffers` owns.
            reader.decode_block(nblock, unsafe { OutBuffer::from_raw(buffer, nbytes) })?;
            dest.store(buffer);
            destsize.store(nbytes as i32);
            // The C caller owns it now.
            buffers.0.clear();
            Ok(nbytes)
        })
    })
}
