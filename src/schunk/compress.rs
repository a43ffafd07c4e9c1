//! Compression of new chunks, with the context of the super-chunk. No access lock is needed.

use super::SuperChunk;
use super::change::InputChunk;
use crate::buffers;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, LONGER_CONTENT, MAX_BUFFERSIZE};
use crate::error::{Result, ensure, err};
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::ContentSource;
use crate::pipeline::context::Context;

/// Uncompressed size in bytes above which a chunk for memory is compressed into its own block, instead of into a buffer
/// of the pool from which it is copied, so that appending a large chunk needs no second copy in memory.
const LARGE_CHUNK: usize = 16 << 20;

impl SuperChunk {
    /// Compresses `src`, or without it the output of the prefilter, and appends the chunk. Returns the new number of
    /// chunks.
    pub(crate) fn append_buffer(&self, src: Option<&[u8]>, nbytes: usize) -> Result<i64> {
        if nbytes > MAX_BUFFERSIZE {
            return Err(err!(
                MaxBufsizeExceeded,
                "`nbytes` is {nbytes}, expected at most {MAX_BUFFERSIZE}; {LONGER_CONTENT}"
            ));
        }
        let at = self.nchunks();
        self.set_current_nchunk(at);
        if self.frame().is_none() && nbytes + EXTENDED_HEADER_LENGTH > LARGE_CHUNK {
            let mut block = MallocBytes::zeroed(nbytes + EXTENDED_HEADER_LENGTH)?;
            let cbytes = self.compress_into(at, src, nbytes, OutBuffer::from(&mut block[..]))?;
            block.truncate_and_shrink(cbytes);
            return self.append_chunk(InputChunk::Take(&mut Some(block)));
        }
        self.with_compressed(at, src, nbytes, |chunk| self.append_chunk(InputChunk::Copy(chunk)))
    }

    /// Compresses `content` and replaces chunk `at` by it.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk number out of range, those of compression, those of
    /// [`update_chunk`](Self::update_chunk).
    pub(crate) fn compress_and_update_chunk(&self, at: i64, content: &[u8]) -> Result<()> {
        self.check_nchunk(at)?;
        self.with_compressed(at, Some(content), content.len(), |chunk| {
            self.update_chunk(at, InputChunk::Copy(chunk)).map(|_| ())
        })
    }

    /// Compresses the content of the future chunk `nchunk` into a `malloc` block.
    pub(super) fn compress(&self, nchunk: i64, src: Option<&[u8]>, nbytes: usize) -> Result<MallocBytes> {
        self.with_compressed(nchunk, src, nbytes, MallocBytes::copy_of)
    }

    /// Compresses the content of the future chunk `nchunk` with the super-chunk's context and lends the chunk to
    /// `then`.
    pub(super) fn with_compressed<R>(
        &self,
        nchunk: i64,
        src: Option<&[u8]>,
        nbytes: usize,
        then: impl FnOnce(&[u8]) -> Result<R>,
    ) -> Result<R> {
        let room = nbytes + EXTENDED_HEADER_LENGTH;
        let mut buffer = buffers::take_buffer(room)?;
        let cbytes = self.compress_into(nchunk, src, nbytes, OutBuffer::from(&mut buffer[..room]))?;
        then(&buffer[..cbytes])
    }

    /// Compresses the content of the future chunk `nchunk` with the super-chunk's context into `dest`, which has room
    /// for the chunk. Returns the length of the chunk. The number is an argument, since other threads may overwrite
    /// `current_nchunk` in the public struct.
    fn compress_into(
        &self,
        nchunk: i64,
        src: Option<&[u8]>,
        nbytes: usize,
        mut dest: OutBuffer<'_>,
    ) -> Result<usize> {
        let cctx = self.cctx()?;
        let source = match src {
            Some(src) => ContentSource::Buffer(src),
            None => ContentSource::SizeOnly(nbytes),
        };
        let cbytes = if cctx.runs_callbacks() {
            let mut job = cctx.start_chunk(source, &mut dest, nchunk)?;
            // Functions of the program may use the context, and wait for other threads that use it.
            drop(cctx);
            // SAFETY: the super-chunk of a context of this super-chunk.
            job.set_container(|schunk| unsafe { self.container_for_schunk(schunk) });
            let header = job.compress(source, dest)?;
            self.cctx()?.finish_chunk(&job, &header, source)
        } else if cctx.schunk_for_container().is_some() {
            drop(cctx);
            let container = self.container_for_compression()?;
            self.cctx()?.compress_chunk(source, dest, nchunk, |_| container)
        } else {
            cctx.compress_chunk(source, dest, nchunk, |_| None)
        }?;
        ensure!(cbytes != 0, Failure, "{nbytes} bytes could not be compressed");
        Ok(cbytes)
    }

    /// Calls `then` with a new compression context, made with the parameters of the super-chunk.
    pub(crate) fn with_new_context<R>(&self, then: impl FnOnce(&Context) -> Result<R>) -> Result<R> {
        // SAFETY: the library's copy of the parameters, which `with_storage` has set, and from which the super-chunk's
        // own contexts were made. Its pointers are valid for as long as the super-chunk lives.
        let context = unsafe { Context::for_compression(&*self.storage().cparams) }?;
        then(&context)
    }
}
