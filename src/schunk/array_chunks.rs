//! Super-chunks that hold an array: a new chunk has to fit its chunk shape (`b2nd.md` 8).

use super::SuperChunk;
use super::access_lock::LockProof;
use super::c_struct::metalayer_kind::MetalayerKind;
use crate::chunk::format::offset;
use crate::error::Result;
use crate::frame::format::array_meta::{ArrayChunks, B2ND_METALAYER, CATERVA_METALAYER, stored_typesize};
use crate::frame::format::chunk_info::ChunkInfo;
use std::sync::atomic::Ordering;

/// The values of `SuperChunk::array_chunk_nbytes` before the metalayer is parsed, and for a super-chunk that accepts all
/// chunks. The size is cached so that a change of a chunk does not parse the metalayer.
const UNKNOWN: i64 = -1;
const UNLIMITED: i64 = 0;

impl<'a> LockProof<'a, SuperChunk> {
    /// Returns the content of the metalayer that describes an array; `None` if the super-chunk holds no array.
    pub(super) fn find_array_meta(self) -> Option<&'a [u8]> {
        let find = |name| self.find_metalayer(MetalayerKind::Fixed, name);
        find(B2ND_METALAYER).or_else(|| find(CATERVA_METALAYER)).map(|(_, content)| content)
    }

    /// Checks that a new chunk fits the array that the super-chunk holds, if it holds one. `info` are header fields of
    /// `chunk`.
    #[inline(always)]
    pub(super) fn check_chunk_fits_array(self, chunk: &[u8], info: &ChunkInfo) -> Result<()> {
        match self.object().array_chunk_nbytes.load(Ordering::Relaxed) {
            UNLIMITED => Ok(()),
            known => self.check_array_chunk(chunk, info, known),
        }
    }

    fn check_array_chunk(self, chunk: &[u8], info: &ChunkInfo, known: i64) -> Result<()> {
        let schunk = self.object();
        let typesize = chunk.get(offset::TYPESIZE).copied().unwrap_or(0);
        if i64::from(info.nbytes) <= known && typesize == stored_typesize(schunk.typesize()) {
            return Ok(());
        }
        let chunks =
            self.find_array_meta().and_then(|content| ArrayChunks::parse(content, schunk.typesize()));
        let size = chunks.as_ref().map_or(UNLIMITED, ArrayChunks::chunk_nbytes);
        schunk.array_chunk_nbytes.store(size, Ordering::Relaxed);
        chunks.map_or(Ok(()), |chunks| chunks.check_chunk(info.nbytes, typesize))
    }
}

impl SuperChunk {
    /// Runs `change`, which may store chunks that do not fit the array: those of another super-chunk, as they are.
    pub(super) fn without_array_check<R>(&self, change: impl FnOnce() -> Result<R>) -> Result<R> {
        self.array_chunk_nbytes.store(UNLIMITED, Ordering::Relaxed);
        let done = change();
        self.array_chunk_nbytes.store(UNKNOWN, Ordering::Relaxed);
        done
    }
}
