//! The list of the known defects of the reference in super-chunk and frame functions, by name and section of the
//! specification. A step that would trigger one of them is skipped and counted under its name; no other step is
//! skipped. The defects of single chunks are in `support::known_defects`.

use crate::support::known_defects::KnownDefect as ChunkDefect;

/// A defect of the reference that no library has to reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchunkDefect {
    /// frame.md 9, schunk.md 11.3: a chunk without payload in a frame of variable chunk sizes is unreadable.
    SpecialInVariableFrame,
    /// frame.md 1.4, schunk.md 15: the size of a chunk without payload is derived from its position.
    SpecialMoved,
    /// frame.md 9, schunk.md 15: a frame in which the number of chunks is not ceil(nbytes/chunksize), or all chunks
    /// are empty.
    FrameCount,
    /// frame.md 4.6, schunk.md 15: a disk frame whose first chunk is empty cannot be opened.
    EmptyFirstChunk,
    /// frame.md 9, schunk.md 25: a rejected frame write leaves the counters changed.
    FailedWriteState,
    /// schunk.md 10.1: the rejected first chunk has set `flags2` already.
    FlagsOfRefusedChunk,
    /// frame.md 9: `meta_add` to a frame with data breaks the frame.
    MetaAddAfterData,
    /// frame.md 9, schunk.md 25: chunk numbers of a directory are checked against its compressed size at open.
    SframeNumbers,
    /// schunk.md 25: copies, also those under `to_buffer`, `to_file` and `append_file`, lose typesizes over 255.
    CopyOfLargeTypesize,
    /// schunk.md 25: a copy that recompresses treats every chunk as a full one, or fails.
    RecompressingCopy,
    /// schunk.md 25: slices of variable-size chunks divide by zero.
    VariableSlice,
    /// schunk.md 25: a write into another chunk that ends at the size of the last chunk truncates that other chunk.
    ShortSliceShortcut,
    /// schunk.md 12.2, 14: a partial write over a chunk without contents stores uninitialised memory.
    UninitOverlay,
    /// schunk.md 25: `from_buffer(copy=true)` leaves `data_len` 0, and reorder copies nothing.
    DataLenOfCopiedFrame,
    /// schunk.md 12.1 (not in the spec yet): a slice continues past the end of a short chunk without contents, and
    /// may write behind the destination.
    UninitOverEnd,
    /// schunk.md 13: blocks are located with the super-chunk's blocksize, even if the chunk has another one.
    SparseBlocksize,
    /// schunk.md 13 (not in the spec yet): gathering from a chunk without contents returns uninitialised memory.
    SparseUninit,
    /// frame.md 4.6, chunk.md 1.14: a chunk without payload gets the blocksize of the frame, and a chunk of NaNs
    /// cannot be decoded if that is no multiple of the typesize.
    SyntheticBlocksize,
    /// schunk.md 4 and 25: a slice written to a super-chunk without chunks fails, but leaves a blocksize of 1.
    EmptySetSlice,
    /// schunk.md 4: a buffer of less than an item leaves a blocksize of 1 in the context, and later chunks are not
    /// compressed any more.
    BlocksizeOfOne,
    /// schunk.md 12.1, 15: slices cannot read a chunk of variable-length blocks on disk, whole or in part.
    VlSlice,
    /// chunk.md 1.14: bytes of a repeated value that is wider than the chunk's typesize byte states.
    WideValue,
    /// schunk.md 25: `frame_get_offsets` of an empty memory frame crashes.
    OffsetsOfEmptyFrame,
    /// frame.md 9 (mmap): lazy blocks of chunks with a dictionary or of variable length free a pointer into the
    /// back-end's memory.
    LazyBlocksOfPointers,
    /// schunk.md 15, 11.4: an empty chunk has no lazy form on disk, which partial reads require.
    EmptyLazyChunk,
    /// frame.md 9: a handle whose frame another handle changed is refreshed by length only, and its chunksize and
    /// `flags2` never are.
    StaleHandle,
    /// schunk.md 19: two locking handles of one thread deadlock.
    SelfDeadlock,
    /// chunk.md 10 and filters.md 16, see `support::known_defects`.
    Chunk(ChunkDefect),
}

/// Whether the reference overwrites its heap when it reads this chunk from disk block by block (not in the spec yet):
/// the chunk is longer than its data plus the maximum overhead of `blosc2_compress_ctx`, because the destination was
/// large.
pub fn is_oversized(chunk: &[u8], nbytes: usize) -> bool {
    chunk.len() > nbytes + 32
}
