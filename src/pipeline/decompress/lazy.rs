//! Lazy chunks: reads blocks, dictionary and sizes from the frame that holds them (`chunk.md` 1.17, 2.3).

use crate::chunk::varlen::{self, VarBlock};
use crate::chunk::{ChunkHeader, LazyBlocks, dictionary};
use crate::err;
use crate::error::{Result, ensure};
use crate::fallible;
use crate::malloc::MallocBytes;

/// Reads the streams of block `nblock`, which begin `start` bytes into the stored chunk, into `buffer`. They are at
/// most `limit` bytes long.
pub(super) fn read_streams<'b>(
    blocks: &LazyBlocks<'_>,
    nblock: usize,
    start: usize,
    limit: usize,
    buffer: &'b mut [u8],
) -> Result<&'b [u8]> {
    let len = blocks.trailer.block_length(nblock).unwrap_or(0);
    let buffer = match usize::try_from(len) {
        Ok(len) if len > 0 && len <= limit => buffer.get_mut(..len),
        _ => None,
    };
    let Some(buffer) = buffer else {
        return Err(err!(InvalidHeader, "the length of lazy block {nblock} is {len}, expected 1 to {limit}"));
    };
    blocks.read(start, buffer)?;
    Ok(buffer)
}

/// Reads the dictionary, whose section begins `position` bytes into the stored chunk.
///
/// # Errors
/// `InvalidHeader` for a dictionary beyond the chunk, `CodecDict` for a bad size, those of the source.
pub(super) fn read_dictionary(
    header: &ChunkHeader,
    blocks: &LazyBlocks<'_>,
    position: usize,
) -> Result<Vec<u8>> {
    let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
    let start = position + dictionary::SIZE_FIELD_LEN;
    if cbytes < start {
        return Err(err!(InvalidHeader, "`cbytes` is {cbytes}, expected at least {start} for a dictionary"));
    }
    let mut size = [0; dictionary::SIZE_FIELD_LEN];
    blocks.read(position, &mut size)?;
    let size = dictionary::checked_size(i32::from_le_bytes(size))?;
    ensure!(
        cbytes >= start + size,
        InvalidHeader,
        "`cbytes` is {cbytes}, expected a dictionary of {size} bytes at {start}",
    );
    let mut bytes = fallible::filled(0, size)?;
    blocks.read(start, &mut bytes)?;
    Ok(bytes)
}

/// Returns the table of variable-length blocks; their sizes are read from the frame.
pub(super) fn read_varlen_table(
    header: &ChunkHeader,
    chunk: &[u8],
    blocks: &LazyBlocks<'_>,
) -> Result<Vec<VarBlock>> {
    let mut offset = 0;
    let mut table = Vec::new();
    for span in varlen::block_spans(header, chunk)? {
        let mut size = [0; varlen::SIZE_FIELD_LEN];
        ensure!(
            span.len() > size.len(),
            InvalidHeader,
            "a lazy block has the bytes {span:?}, expected more than {} bytes",
            size.len(),
        );
        blocks.read(span.start, &mut size)?;
        let size = i32::from_le_bytes(size);
        match usize::try_from(size) {
            Ok(nbytes) if nbytes > 0 && nbytes <= header.nbytes() - offset => {
                fallible::push(&mut table, VarBlock { span, offset, nbytes })?;
                offset += nbytes;
            }
            _ => {
                return Err(err!(
                    InvalidHeader,
                    "the lazy block at {offset} has {size} bytes, expected 1 or more, inside {} bytes",
                    header.nbytes
                ));
            }
        }
    }
    ensure!(
        offset == header.nbytes(),
        InvalidHeader,
        "the blocks have {offset} bytes, expected `nbytes` {}",
        header.nbytes,
    );
    Ok(table)
}

/// Reads the payload of variable-length block `nblock` of the chunk whose `table` lists its blocks.
///
/// # Errors
/// `InvalidHeader` for a length in the trailer that is out of range, `MemoryAlloc`, those of the source.
pub(super) fn read_varlen_payload(
    blocks: &LazyBlocks<'_>,
    table: &[VarBlock],
    nblock: usize,
) -> Result<MallocBytes> {
    let block = &table[nblock];
    // As in the reference, whose buffer has space for the longest span or for this block, and for its prefix. Bytes
    // after the span, which belong to the next block, are read too: it is an error if there are none.
    let longest = table.iter().map(|block| block.span.len()).max().unwrap_or(0);
    let limit = longest.max(block.nbytes) + varlen::SIZE_FIELD_LEN;
    let stored = blocks.trailer.block_length(nblock).unwrap_or(0);
    let Some(stored) =
        usize::try_from(stored).ok().filter(|&len| len > varlen::SIZE_FIELD_LEN && len <= limit)
    else {
        return Err(err!(
            InvalidHeader,
            "the length of lazy block {nblock} is {stored}, expected more than {} and at most {limit}",
            varlen::SIZE_FIELD_LEN
        ));
    };
    let len = stored - varlen::SIZE_FIELD_LEN;
    // The length is an unchecked claim: memory that the system zeroes occupies no pages before it is written.
    let mut payload = MallocBytes::zeroed(len)?;
    blocks.read(block.span.start + varlen::SIZE_FIELD_LEN, &mut payload)?;
    payload.shorten(block.span.len() - varlen::SIZE_FIELD_LEN);
    Ok(payload)
}
