//! Reading the blocks of a variable-length-block chunk one by one (`chunk.md` 4.6).

use super::super::jobs;
use super::super::params::DecompressParams;
use super::super::shared_out::SharedOut;
use super::reader::ChunkReader;
use crate::chunk::ChunkHeader;
use crate::err;
use crate::error::Result;

/// A chunk of variable-length blocks, opened for reading. Masks are for whole chunks and ignored here
/// (`chunk.md` 10.10).
pub(crate) struct VarlenReader<'a> {
    reader: &'a ChunkReader<'a>,
    nthreads: usize,
}

impl VarlenReader<'_> {
    /// Opens `chunk` and hands the reader to `then`.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk of equal blocks, those of decompression, or what `then` returns.
    pub(crate) fn open<R>(
        params: &DecompressParams<'_>,
        chunk: &[u8],
        then: impl FnOnce(&VarlenReader<'_>) -> Result<R>,
    ) -> Result<R> {
        let header = ChunkHeader::parse(chunk)?;
        if !header.has_varlen_blocks() {
            return Err(err!(InvalidParam, "the chunk has no variable-length blocks"));
        }
        let params = DecompressParams { mask: None, ..*params };
        ChunkReader::open(&header, chunk, &params, |reader| {
            then(&VarlenReader { nthreads: params.nthreads, reader })
        })
    }

    /// The header of the chunk.
    pub(crate) fn header(&self) -> &ChunkHeader {
        self.reader.header()
    }

    /// Number of blocks.
    pub(crate) fn nblocks(&self) -> usize {
        self.reader.nblocks()
    }

    /// Uncompressed size of block `nblock`, in bytes.
    ///
    /// # Panics
    /// If there is no such block.
    pub(crate) fn nbytes(&self, nblock: usize) -> usize {
        self.reader.range(nblock).len()
    }

    /// Decodes block `nblock` into `dest`, which has its size.
    ///
    /// # Errors
    /// Those of decompression.
    pub(crate) fn decode(&self, nblock: usize, dest: &mut [u8]) -> Result<()> {
        super::scratch::with(|scratch| {
            let (mut buffers, workspace) = self.reader.buffers(scratch)?;
            self.reader.decode(nblock, 0, &mut buffers, workspace, dest, None)
        })
    }

    /// Decodes every block, each into its own buffer, which has its size.
    ///
    /// # Errors
    /// Those of decompression.
    pub(crate) fn decode_all(&self, dests: &mut [&mut [u8]]) -> Result<()> {
        let outs: Vec<SharedOut<'_>> = dests.iter_mut().map(|d| SharedOut::new(d)).collect();
        let nthreads =
            jobs::nthreads_for(self.nthreads, self.reader.header().nbytes(), self.reader.largest());
        jobs::for_each_block(nthreads, 0..outs.len(), |nblock, worker| {
            let (mut buffers, workspace) = self.reader.buffers(worker.scratch)?;
            // SAFETY: each block has a buffer of its own and is decoded once.
            let dest = unsafe { outs[nblock].range(0..outs[nblock].len()) };
            self.reader.decode(nblock, worker.tid, &mut buffers, workspace, dest, None)
        })
    }
}
