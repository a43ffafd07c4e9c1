//! Chunks with variable-length blocks (`chunk.md` 1.16): the checked table of their blocks.

use super::{ChunkHeader, dictionary, read_i32};
use crate::err;
use crate::error::{Result, ensure};
use crate::fallible;
use std::ops::Range;

/// Size, in bytes, of the field before a block's payload, which holds its uncompressed size.
pub(crate) const SIZE_FIELD_LEN: usize = 4;

/// The location of a variable-length block in its chunk, and its uncompressed size. All in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VarBlock {
    /// The range of the block in the chunk: the size field, then the payload.
    pub span: Range<usize>,
    /// Offset of the block in the uncompressed content of the chunk.
    pub offset: usize,
    /// Uncompressed size.
    pub nbytes: usize,
}

impl VarBlock {
    /// Returns the payload: uncompressed if it is `nbytes` long, otherwise the stream of a codec.
    pub(crate) fn payload<'a>(&self, chunk: &'a [u8]) -> &'a [u8] {
        &chunk[self.span.start + SIZE_FIELD_LEN..self.span.end]
    }
}

/// Returns the number of blocks, from a parsed header.
pub(crate) fn nblocks(header: &ChunkHeader) -> usize {
    usize::try_from(header.blocksize).unwrap_or(0)
}

/// Returns the byte ranges of the blocks in the chunk, from its block starts. The starts must increase, begin behind
/// the tables, and be less than `cbytes`, where the last block ends.
///
/// # Errors
/// `ReadBuffer` when the chunk ends inside the block starts, `InvalidHeader` for invalid starts, `MemoryAlloc`.
pub(crate) fn block_spans(header: &ChunkHeader, chunk: &[u8]) -> Result<Vec<Range<usize>>> {
    let count = nblocks(header);
    let tables = header.len() + 4 * count;
    let Some(starts) = chunk.get(header.len()..tables) else {
        return Err(err!(ReadBuffer, "the chunk has {} bytes, expected {count} block starts", chunk.len()));
    };
    let mut first = tables;
    if header.has_dictionary() && !header.is_lazy() {
        first += dictionary::SIZE_FIELD_LEN + dictionary::read(chunk, tables)?.len();
    }
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    let mut spans = fallible::vec_with_capacity(count)?;
    for at in (0..starts.len()).step_by(4) {
        let start = read_i32(starts, at).and_then(|v| usize::try_from(v).ok()).unwrap_or(0);
        let end = match read_i32(starts, at + 4) {
            Some(next) => usize::try_from(next).unwrap_or(0),
            None => cbytes,
        };
        ensure!(
            start >= first && end > start && end <= cbytes,
            InvalidHeader,
            "block {} has the bytes {start}..{end}, expected a range inside {first}..{cbytes}",
            at / 4,
        );
        first = end;
        spans.push(start..end);
    }
    Ok(spans)
}

/// Returns the table of all blocks of a chunk that is completely in memory.
pub(crate) fn block_table(header: &ChunkHeader, chunk: &[u8]) -> Result<Vec<VarBlock>> {
    let spans = block_spans(header, chunk)?;
    let mut blocks = fallible::vec_with_capacity(spans.len())?;
    let mut offset = 0usize;
    for span in spans {
        let size = read_i32(chunk, span.start).unwrap_or(0);
        let nbytes = usize::try_from(size).unwrap_or(0);
        ensure!(
            span.end <= chunk.len(),
            ReadBuffer,
            "a block ends at byte {}, expected at most {}",
            span.end,
            chunk.len(),
        );
        ensure!(
            nbytes != 0 && nbytes <= header.nbytes() - offset && span.len() > SIZE_FIELD_LEN,
            InvalidHeader,
            "the block at {offset} has {size} bytes, expected 1 or more, inside {} bytes",
            header.nbytes,
        );
        blocks.push(VarBlock { span, offset, nbytes });
        offset += nbytes;
    }
    ensure!(
        offset == header.nbytes(),
        InvalidHeader,
        "the blocks have {offset} bytes, expected `nbytes` {}",
        header.nbytes,
    );
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V14: [u8; 92] = *b"\x06\x01\x15\x01\x24\0\0\0\x03\0\0\0\x5c\0\0\0\
        \0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x01\0\
        \x2c\0\0\0\x34\0\0\0\x44\0\0\0\
        \x04\0\0\0red\0\x0c\0\0\0green-green\0\x14\0\0\0blue-blue-blue-blue\0";

    #[test]
    fn table_of_a_valid_chunk_has_all_blocks() {
        let header = ChunkHeader::parse(&V14).unwrap();
        let blocks = block_table(&header, &V14).unwrap();
        let texts: Vec<_> = blocks.iter().map(|b| b.payload(&V14)).collect();
        assert_eq!(texts, [&b"red\0"[..], b"green-green\0", b"blue-blue-blue-blue\0"]);
    }

    #[test]
    fn bad_starts_and_sizes_are_refused() {
        for (pos, byte) in [(32, 0x2b), (36, 0x2c), (40, 0x5d), (40, 0x34), (44, 5), (44, 0), (44, 0xff)] {
            let mut bad = V14;
            bad[pos] = byte;
            let header = ChunkHeader::parse(&bad).unwrap();
            assert!(block_table(&header, &bad).is_err(), "{pos} {byte}");
        }
        let header = ChunkHeader::parse(&V14).unwrap();
        assert!(block_table(&header, &V14[..43]).is_err());
    }
}
