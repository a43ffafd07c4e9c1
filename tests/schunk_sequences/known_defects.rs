//! The one list of what the reference is known to get wrong with super-chunks and frames, by name and section of
//! the spec. A step that would meet one of these is left out and counted under its name; nothing else is. The
//! defects of single chunks are in `support::known_defects`.

use crate::support::known_defects::KnownDefect as ChunkDefect;

/// A defect of the reference that no library has to reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownDefect {
    /// frame.md 9, schunk.md 11.3: a chunk without payload in a frame of variable chunk sizes is unreadable.
    SpecialInVariableFrame,
    /// frame.md 1.4, schunk.md 15: the size of a chunk without payload is derived from its position.
    SpecialMoved,
    /// frame.md 9, schunk.md 15: a frame whose chunks are not ceil(nbytes/chunksize) many, or all empty.
    FrameCount,
    /// frame.md 4.6, schunk.md 15: a disk frame whose first chunk is empty cannot be opened.
    EmptyFirstChunk,
    /// frame.md 9, schunk.md 25: a refused frame write leaves the counters changed.
    FailedWriteState,
    /// schunk.md 10.1: the refused first chunk has set `flags2` already.
    FlagsOfRefusedChunk,
    /// frame.md 9: `meta_add` to a frame with data breaks the frame.
    MetaAddAfterData,
    /// frame.md 9, schunk.md 25: chunk numbers of a directory are checked against its compressed size at open.
    SframeNumbers,
    /// schunk.md 25: copies, also those under `to_buffer`, `to_file` and `append_file`, lose typesizes over 255.
    CopyOfLargeTypesize,
    /// schunk.md 25: a copy that recompresses takes every chunk for a full one, or fails.
    RecompressingCopy,
    /// schunk.md 25: slices of variable-size chunks divide by zero.
    VariableSlice,
    /// schunk.md 25: a write that ends at the size of the last chunk inside another one truncates that one.
    ShortSliceShortcut,
    /// schunk.md 12.2, 14: a partial write over a chunk without contents stores whatever was in memory.
    UninitOverlay,
    /// schunk.md 25: `from_buffer(copy=true)` leaves `data_len` 0, and reorder copies nothing.
    DataLenOfCopiedFrame,
    /// schunk.md 12.1 (not in the spec yet): over the end of a short chunk without contents a slice goes on, and may write
    /// behind the destination.
    UninitOverEnd,
    /// schunk.md 13: blocks are located with the super-chunk's blocksize, right for the chunk or not.
    SparseBlocksize,
    /// schunk.md 13 (not in the spec yet): gathering from a chunk without contents gives whatever was in memory.
    SparseUninit,
    /// frame.md 4.6, chunk.md 1.14: a chunk without payload is given the blocksize of the frame, and one of
    /// not-a-numbers cannot be decoded where that is no multiple of the typesize.
    SyntheticBlocksize,
    /// schunk.md 4 and 25: a slice written to a super-chunk without chunks fails, but leaves a blocksize of 1.
    EmptySetSlice,
    /// schunk.md 4: a buffer of less than an item leaves a blocksize of 1 in the context, and nothing is compressed
    /// any more.
    BlocksizeOfOne,
    /// schunk.md 12.1, 15: a chunk of variable-length blocks on disk is in no slice, whole or not.
    VlSlice,
    /// chunk.md 1.14: bytes of a repeated value that is wider than the chunk's typesize byte tells.
    WideValue,
    /// schunk.md 25: `frame_get_offsets` of an empty memory frame crashes.
    OffsetsOfEmptyFrame,
    /// frame.md 9 (mmap): lazy blocks of chunks with a dictionary or of variable length free a pointer into the
    /// back-end's memory.
    LazyBlocksOfPointers,
    /// schunk.md 15, 11.4: an empty chunk has no lazy form on disk, on which partial reads rest.
    EmptyLazyChunk,
    /// frame.md 9: a handle that another one overtook is refreshed by length only, and never its chunksize and `flags2`.
    StaleHandle,
    /// schunk.md 19: two locking handles of one thread block each other for ever.
    SelfDeadlock,
    /// chunk.md 10 and filters.md 16, see `support::known_defects`.
    Chunk(ChunkDefect),
}

/// Whether the reference overwrites its heap when it reads such a chunk from disk block by block (not in the spec
/// yet): it grew beyond the overhead that `blosc2_compress_ctx` needs at most, because the destination was roomy.
pub fn oversized(chunk: &[u8], nbytes: usize) -> bool {
    chunk.len() > nbytes + 32
}
