//! Chunks of variable-length blocks (`chunk.md` 3.11, 4.6).

use super::ffi::{malloc, non_negative_len, result_code};
use super::pointers::{
    Blocks, CArray, DestBuffer, Handle, Input, Out, OutArray, Output, Size, SourceBuffer, source_slice,
};
use crate::abi::blosc2_context;
use crate::chunk::format::{LONGER_CONTENT, MAX_BUFFERSIZE};
use crate::chunk::{ChunkHeader, varlen};
use crate::error::{ensure, err};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress;
use std::ffi::{c_int, c_void};

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
    context: Handle<*mut blosc2_context>,
    srcs: CArray<*const *const c_void, Blocks>,
    srcsizes: CArray<*const i32, Blocks>,
    nblocks: Size<i32, Blocks>,
    dest: DestBuffer<*mut c_void>,
    destsize: Size<i32, Output>,
) -> c_int {
    result_code(|| {
        let context = context.get()?;
        if context.head().do_compress() == 0 {
            return Err(err!(InvalidParam, "`context` is for decompression, expected one for compression"));
        }
        ensure!(
            !srcs.is_null() && !srcsizes.is_null() && nblocks.number() > 0,
            InvalidParam,
            "`nblocks` is {}, expected at least 1, or `srcs` or `srcsizes` is NULL",
            nblocks.number(),
        );
        let len = nblocks.non_negative_len()?;
        let (count, srcs, sizes) = (len.get(), srcs.items(len)?, srcsizes.items(len)?);
        let mut sources = fallible::vec_with_capacity(count)?;
        let mut total = 0usize;
        for (&src, &size) in srcs.iter().zip(sizes) {
            if src.is_null() || size <= 0 {
                return Err(err!(InvalidParam, "a block has {size} bytes, expected at least 1, or is NULL"));
            }
            // With pointers of 32 bits, the sum can overflow: blocks may be the same memory.
            total = total.saturating_add(non_negative_len(size)?);
            // SAFETY: buffer `i` has `srcsizes[i]` bytes.
            sources.push(unsafe { source_slice(src, non_negative_len(size)?) }?);
        }
        ensure!(
            total <= MAX_BUFFERSIZE,
            MaxBufsizeExceeded,
            "the blocks have {total} bytes, expected at most {MAX_BUFFERSIZE}; {LONGER_CONTENT}",
        );
        let dest = dest.buffer(destsize.len_or_zero())?;
        context.compress(compress::ContentSource::VarlenBlocks(&sources), dest)
    })
}

/// Reads the number of blocks of the chunk at `src`, which must have variable-length blocks, and stores it in
/// `*nblocks`. `srcsize` is the number of readable bytes at `src`; the 32 bytes of the header are enough.
///
/// Returns 0. Errors: -12 when a pointer is NULL and for a chunk without variable-length blocks, or the code for
/// an invalid header; 0 is stored then.
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vlchunk_get_nblocks(
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    nblocks: Out<*mut i32>,
) -> c_int {
    result_code(|| {
        let nblocks = nblocks.cleared();
        ensure!(!src.is_null() && !nblocks.is_null(), InvalidParam, "`src` or `nblocks` is NULL");
        let header = ChunkHeader::parse(src.bytes(srcsize.len_or_zero())?)?;
        ensure!(header.has_varlen_blocks(), InvalidParam, "the chunk has no variable-length blocks");
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
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    dests: OutArray<*mut *mut c_void, Blocks>,
    destsizes: OutArray<*mut i32, Blocks>,
    maxblocks: Size<i32, Blocks>,
) -> c_int {
    result_code(|| {
        let space = maxblocks.len_or_zero();
        let (dests, destsizes) = (dests.cleared(space), destsizes.cleared(space));
        let (handle, context) = (&context, context.get()?);
        let chunk = src.bytes(srcsize.len_or_zero())?;
        if context.head().do_compress() != 0 {
            return Err(err!(InvalidParam, "`context` is for compression, expected one for decompression"));
        }
        ensure!(
            !dests.is_null() && !destsizes.is_null() && space.get() != 0,
            InvalidParam,
            "`maxblocks` is {}, expected at least 1, or `dests` or `destsizes` is NULL",
            maxblocks.number(),
        );
        // The number of blocks is checked first, so that no table is allocated for a chunk with too many blocks.
        let header = ChunkHeader::parse(chunk)?;
        ensure!(
            !header.has_varlen_blocks() || varlen::nblocks(&header) <= space.get(),
            InvalidParam,
            "the chunk has {} blocks, expected at most `maxblocks` = {}",
            header.blocksize,
            space.get(),
        );
        let blocks = handle.block_source(chunk);
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
#[unsafe(no_mangle)]
pub extern "C" fn blosc2_vldecompress_block_ctx(
    context: Handle<*mut blosc2_context>,
    src: SourceBuffer<*const c_void>,
    srcsize: Size<i32, Input>,
    nblock: i32,
    dest: Out<*mut *mut u8>,
    destsize: Out<*mut i32>,
) -> c_int {
    result_code(|| {
        let (dest, destsize) = (dest.cleared(), destsize.cleared());
        let (handle, context) = (&context, context.get()?);
        let chunk = src.bytes(srcsize.len_or_zero())?;
        ensure!(!dest.is_null() && !destsize.is_null(), InvalidParam, "`dest` or `destsize` is NULL");
        let blocks = handle.block_source(chunk);
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
