//! What a library reads from the files of a frame.

use std::path::Path;

use crate::support::array::Array;
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

/// The content of a chunk, or the error code of reading it.
type Content = Result<Vec<u8>, i32>;

/// The data that a library reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The shape of an array; empty for a super-chunk.
    shape: Vec<i64>,
    chunks: Vec<Content>,
    metalayers: Vec<(Vec<u8>, Vec<u8>)>,
    vlmetalayers: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Contents {
    /// Reads everything; `None` when the files cannot be opened.
    pub fn read(library: &'static Library, path: &Path, is_array: bool) -> Option<Contents> {
        let shape = if is_array { Array::open(library, path).1?.shape().to_vec() } else { Vec::new() };
        let schunk = SuperChunk::open(library, path)?;
        Some(Contents {
            shape,
            chunks: (0..schunk.nchunks()).map(|nchunk| schunk.decompress(nchunk)).collect(),
            metalayers: schunk.metalayers(),
            vlmetalayers: schunk.raw_vlmetalayers(),
        })
    }

    /// Returns whether a chunk is read with success that is in neither of the states at the same position.
    pub fn has_wrong_chunk(&self, states: [&Contents; 2]) -> bool {
        self.chunks.iter().enumerate().any(|(at, content)| {
            let is_known = |state: &&Contents| state.chunks.get(at).is_some_and(|known| known == content);
            content.is_ok() && !states.iter().any(is_known)
        })
    }
}
