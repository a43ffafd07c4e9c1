//! Reads of files that a back-end fetches over a network: the bytes that a read needs are fetched before it, those of all chunks
//! together, in two rounds.

use super::SuperChunk;
use super::slice::Span;
use crate::error::Result;
use crate::frame::store::DiskFrame;
use crate::io::source::FilePart;

/// The parts of files that a back-end holds while they are read, of each round. One pointer, because every read returns it.
pub(crate) type Fetched = Option<Box<[Box<dyn Send>; 2]>>;

/// Chunks by number, each with the numbers of some blocks, or whole.
pub(crate) type ChunkBlocks = (i64, Option<Vec<usize>>);

impl SuperChunk {
    /// Fetches the bytes that reading some blocks of `chunks` needs: first the heads of all chunks, then the blocks. Without
    /// blocks, a chunk is fetched whole. The result is kept while they are read. What cannot be planned is fetched when it is
    /// read, which reports the errors. Does nothing for files that are not fetched.
    ///
    /// # Errors
    /// `FileRead`, those of `chunks`.
    #[inline(always)]
    pub(crate) fn fetch<C: Iterator<Item = ChunkBlocks> + Clone>(
        &self,
        chunks: impl FnOnce() -> Result<C>,
    ) -> Result<Fetched> {
        match self.disk_frame() {
            Some(frame) if frame.fetching_backend().is_some() => self.fetch_from(frame, chunks),
            _ => Ok(None),
        }
    }

    #[cold]
    #[inline(never)]
    fn fetch_from<C: Iterator<Item = ChunkBlocks> + Clone>(
        &self,
        frame: &DiskFrame,
        chunks: impl FnOnce() -> Result<C>,
    ) -> Result<Fetched> {
        let Some(backend) = frame.fetching_backend() else { return Ok(None) };
        let chunks = chunks()?;
        let [chunksize, blocksize] = [self.chunksize(), self.blocksize()].map(|size| size.max(0) as usize);
        let nblocks = if blocksize == 0 { 0 } else { chunksize.div_ceil(blocksize) };
        let number = |nchunk: i64| usize::try_from(nchunk).unwrap_or(usize::MAX);
        let head = |(nchunk, blocks): ChunkBlocks| {
            frame.head_of_chunk(number(nchunk), blocks.map(|_| nblocks)).ok().flatten()
        };
        let heads: Vec<FilePart> = chunks.clone().filter_map(head).collect();
        let heads = backend.fetch(heads)?;
        let parts = |(nchunk, blocks): ChunkBlocks| {
            blocks.and_then(|blocks| frame.parts_of_blocks(number(nchunk), &blocks).ok()).unwrap_or_default()
        };
        let parts = backend.fetch(chunks.flat_map(parts).collect())?;
        Ok(Some(Box::new([heads, parts])))
    }

    /// Fetches chunk `nchunk`, as [`fetch`](Self::fetch).
    pub(crate) fn fetch_chunk(&self, nchunk: i64) -> Result<Fetched> {
        self.fetch(|| Ok(std::iter::once((nchunk, None))))
    }

    /// Fetches the blocks of a span, as [`fetch`](Self::fetch).
    pub(super) fn fetch_span(&self, span: &Span) -> Result<Fetched> {
        self.fetch(|| {
            let blocksize = self.blocksize().max(0) as usize;
            Ok(span.ranges_in_chunks().map(move |(nchunk, range)| {
                let blocks = (blocksize > 0).then(|| range.start / blocksize..range.end.div_ceil(blocksize));
                (nchunk, blocks.map(Iterator::collect))
            }))
        })
    }
}
