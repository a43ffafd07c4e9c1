//! Changes of a frame, from which [`plan`](super::plan) computes the new bytes.

use crate::chunk::SpecialValue;

#[derive(Clone, Copy)]
pub(crate) enum FrameChunk<'a> {
    /// The bytes of the chunk, stored unchanged.
    Bytes(&'a [u8]),
    /// A special chunk, which is stored in its index entry only.
    Special(SpecialValue),
}

impl FrameChunk<'_> {
    /// Returns the number of bytes in the data section or the chunk file.
    pub(crate) fn len(&self) -> u64 {
        match self {
            FrameChunk::Bytes(bytes) => bytes.len() as u64,
            FrameChunk::Special(_) => 0,
        }
    }
}

pub(crate) enum Change<'a> {
    /// Inserts a chunk before the current chunk `at`, or at the end.
    Insert {
        /// Index of the new chunk.
        at: usize,
        chunk: FrameChunk<'a>,
    },
    /// Replaces a chunk.
    Update {
        /// Index of the chunk.
        at: usize,
        chunk: FrameChunk<'a>,
        /// Size of the old chunk in the data section, in bytes.
        old_len: u64,
    },
    Delete {
        /// Index of the chunk.
        at: usize,
        /// Size of the chunk in the data section, in bytes.
        old_len: u64,
    },
    /// Reorders the chunks: old chunk `order[i]` becomes chunk `i`.
    Reorder {
        /// A permutation of all chunk indexes.
        order: &'a [i64],
    },
    /// Fills a frame without chunks with special chunks.
    Fill {
        /// The kind of all chunks.
        special: SpecialValue,
        nchunks: usize,
    },
    /// Replaces the metalayers of variable length.
    ReplaceVlmetalayers,
    /// Replaces the contents of metalayers by contents of the same lengths.
    ReplaceMetalayerContents,
    /// Adds a metalayer to a frame without chunks.
    AddMetalayer,
}
