//! The chunk that is there already, for whoever makes the next one of some of its blocks.

use super::super::params::DecompressParams;
use super::super::scratch;
use super::reader::ChunkReader;
use super::{Decompressed, first_block};
use crate::chunk::ChunkHeader;
use crate::chunk::format::{flag, flag2};
use crate::error::Result;
use crate::malloc::Malloced;

/// A chunk whose blocks are decoded, or taken as they are, one by one and on any thread.
pub(crate) struct Previous<'a> {
    reader: &'a ChunkReader<'a>,
    mask: Option<&'a [u8]>,
    reference: Option<Malloced>,
}

impl Previous<'_> {
    /// Opens `chunk`, whose parsed header is `header` and whose blocks are of one length, and hands it to `then`.
    /// Returns what the read was, too.
    ///
    /// # Errors
    /// Those of decompression, or what `then` returns.
    pub(crate) fn open<R>(
        params: &DecompressParams<'_>,
        header: &ChunkHeader,
        chunk: &[u8],
        then: impl FnOnce(&Previous<'_>) -> Result<R>,
    ) -> Result<(R, Decompressed)> {
        ChunkReader::open(header, chunk, params, |reader| {
            let reference = if reader.needs_first_block() { Some(first_block(reader)?) } else { None };
            let done = Decompressed { nbytes: header.nbytes(), used_dictionary: reader.has_dictionary() };
            Ok((then(&Previous { reader, mask: params.mask, reference })?, done))
        })
    }

    /// Decodes block `nblock`, which is there, into `dest`, which has its length. One that is masked out is left alone.
    ///
    /// # Errors
    /// Those of decompression.
    pub(crate) fn decode(&self, nblock: usize, dest: &mut [u8]) -> Result<()> {
        if self.mask.and_then(|mask| mask.get(nblock)).is_some_and(|&out| out != 0) {
            return Ok(());
        }
        scratch::with(|scratch| {
            let (mut buffers, workspace) = self.reader.buffers(scratch)?;
            let reference = self.reference.as_deref().filter(|_| nblock > 0);
            self.reader.decode(nblock, 0, &mut buffers, workspace, dest, reference)
        })
    }

    /// The streams of block `nblock`, if a chunk with the header `next` would have them too: both are encoded in the same
    /// way, and without what depends on other blocks or a dictionary.
    pub(crate) fn encoded(&self, nblock: usize, next: &ChunkHeader) -> Option<&[u8]> {
        let header = self.reader.header();
        let is_same = header.version == next.version
            && header.versionlz == next.versionlz
            && header.flags == next.flags
            && header.typesize == next.typesize
            && header.nbytes == next.nbytes
            && header.blocksize == next.blocksize
            && header.filters == next.filters
            && header.filters_meta == next.filters_meta
            && header.udcompcode == next.udcompcode
            && header.compcode_meta == next.compcode_meta
            && header.blosc2_flags == next.blosc2_flags
            && header.blosc2_flags2 == next.blosc2_flags2;
        let is_alone = self.mask.is_none()
            && header.flags & flag::DELTA == 0
            && header.blosc2_flags & (flag2::USEDICT | flag2::INSTR) == 0;
        if is_same && is_alone { self.reader.encoded(nblock) } else { None }
    }
}
