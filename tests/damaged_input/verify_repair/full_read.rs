//! What a library reads from a frame: the measure for `blosc2x_verify` and `blosc2x_repair`.

use std::path::Path;

use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

/// The content of a chunk, or the error code of reading it.
pub type Content = Result<Vec<u8>, i32>;

/// The result of reading everything.
#[derive(Clone, Debug, PartialEq)]
pub struct FullRead {
    pub chunksize: i32,
    pub nbytes: i64,
    pub chunks: Vec<Content>,
    pub metalayers: Vec<(Vec<u8>, Vec<u8>)>,
    /// Names and decompressed contents, or the error codes.
    pub vlmetalayers: Vec<(Vec<u8>, Content)>,
}

impl FullRead {
    /// Reads the frame at `path`; `None` if it does not open.
    pub fn of(library: &'static Library, path: &Path) -> Option<FullRead> {
        let schunk = SuperChunk::open(library, path)?;
        let chunks = (0..schunk.nchunks()).map(|nchunk| schunk.decompress(nchunk)).collect();
        let names = schunk.vlmeta_names();
        let vlmetalayers =
            names.iter().map(|name| (name.to_bytes().to_vec(), schunk.vlmeta_get_c(name))).collect();
        Some(FullRead {
            chunksize: schunk.chunksize(),
            nbytes: schunk.nbytes(),
            chunks,
            metalayers: schunk.metalayers(),
            vlmetalayers,
        })
    }

    /// Returns the contents of all chunks, which are whole.
    pub fn contents(&self) -> Vec<&Vec<u8>> {
        self.chunks.iter().map(|chunk| chunk.as_ref().expect("a whole chunk")).collect()
    }

    /// Returns whether every read succeeded.
    pub fn is_whole(&self) -> bool {
        self.chunks.iter().all(Result::is_ok) && self.vlmetalayers.iter().all(|(_, content)| content.is_ok())
    }
}
