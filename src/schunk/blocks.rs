//! Blocks of a chunk for those who know what is in them: array layers.

use super::SuperChunk;
use crate::chunk::{Blocks, ChunkHeader};
use crate::err;
use crate::error::Result;
use crate::pipeline::context::ReadSettings;
use crate::pipeline::decompress::{self, BlockSource, Content, ItemRange};

/// So many times more bytes a whole chunk may have than its blocks that are wanted, before these are read one by one.
const WHOLE: usize = 4;

/// What sees a block: its place in the list, and its content.
pub type Visitor<'v> = dyn Fn(usize, Content<'_>) -> Result<()> + Sync + 'v;

impl SuperChunk {
    /// Shows the blocks `blocks` of chunk `nchunk`, each `blocksize` bytes long, to `visit`; in no particular order, and
    /// on several threads if the decompression context says so. The chunk has to be `chunksize` bytes long. A single
    /// block is kept for the next time.
    ///
    /// # Errors
    /// `InvalidParam` for a chunk or block that is not there, `Data` for a chunk of another size, those of reading, and
    /// what `visit` returns.
    pub fn visit_blocks(
        &self,
        nchunk: i64,
        blocks: &[usize],
        blocksize: usize,
        chunksize: usize,
        visit: &Visitor<'_>,
    ) -> Result<()> {
        self.check_index(nchunk)?;
        let settings = self.read_settings(false);
        let session = self.reading()?;
        if let ([nblock], None) = (blocks, &settings.postfilter)
            && let Some(cache) = self.cache.try_lock()
            && let Some((bytes, typesize)) = cache.view(nchunk, nblock * blocksize..(nblock + 1) * blocksize)
        {
            visit(0, Content::Bytes(bytes))?;
            drop(cache);
            self.note_typesize(typesize);
            return Ok(());
        }
        let wanted = blocks.len().saturating_mul(blocksize);
        let lazily = wanted.saturating_mul(WHOLE) <= chunksize;
        self.with_chunk_in(session, nchunk, lazily, &settings, &mut |chunk, header, source| {
            let geometry = Blocks::of(header);
            let is_regular = header.nbytes() == chunksize && geometry.blocksize() == blocksize;
            if !is_regular || header.has_varlen_blocks() {
                let (nbytes, found) = (header.nbytes, geometry.blocksize());
                return Err(err!(Data, "a chunk of {nbytes} bytes in blocks of {found}"));
            }
            if let [nblock] = *blocks
                && settings.postfilter.is_none()
            {
                return self.visit_one(nchunk, nblock, chunk, header, source, &settings, visit);
            }
            let params = self.decompress_params(&settings, nchunk, source);
            let done = decompress::visit_blocks(&params, header, chunk, blocks, visit)?;
            self.note_read(header, &done);
            Ok(())
        })
    }

    /// Decodes one block, by way of the cache unless that is in use.
    #[allow(clippy::too_many_arguments, reason = "what a read is made of")]
    fn visit_one(
        &self,
        nchunk: i64,
        nblock: usize,
        chunk: &[u8],
        header: &ChunkHeader,
        source: Option<&dyn BlockSource>,
        settings: &ReadSettings,
        visit: &Visitor<'_>,
    ) -> Result<()> {
        let params = self.decompress_params(settings, nchunk, source);
        let range = Blocks::of(header).range(nblock);
        let is_coded = header.special_bits() == 0 && (!header.is_memcpyed() || header.is_lazy());
        let is_aligned = range.len().is_multiple_of(usize::from(header.typesize));
        if is_coded
            && is_aligned
            && range.end <= header.nbytes()
            && let Some(mut cache) = self.cache_to_fill()
            && let Some(room) = cache.room(range.len())
        {
            let wanted = ItemRange::Bytes { start: range.start as i32, nbytes: range.len() as i32 };
            let done = decompress::getitem(&params, header, chunk, wanted, room)?;
            visit(0, Content::Bytes(room))?;
            cache.keep(nchunk, range.start, header.typesize);
            self.note_read(header, &done);
            return Ok(());
        }
        let done = decompress::visit_blocks(&params, header, chunk, &[nblock], visit)?;
        self.note_read(header, &done);
        Ok(())
    }
}
