//! The dictionary section (`chunk.md` 1.11), between the block starts and the blocks.

use super::format::MAX_DICT_SIZE;
use super::read_i32;
use crate::err;
use crate::error::Result;

/// Size, in bytes, of the field before the dictionary, which holds its size.
pub(crate) const SIZE_FIELD_LEN: usize = 4;

/// Returns the dictionary whose section begins at byte `pos` of the chunk.
///
/// # Errors
/// `ReadBuffer` when the chunk ends inside the section, `CodecDict` for a size out of 1..=32768.
pub(crate) fn read(chunk: &[u8], pos: usize) -> Result<&[u8]> {
    let Some(size) = read_i32(chunk, pos) else {
        return Err(err!(
            ReadBuffer,
            "the chunk has {} bytes, expected a dictionary size at {pos}",
            chunk.len()
        ));
    };
    let size = checked_size(size)?;
    chunk.get(pos + SIZE_FIELD_LEN..).and_then(|rest| rest.get(..size)).ok_or_else(|| {
        err!(
            ReadBuffer,
            "the chunk has {} bytes, expected a dictionary of {size} bytes at {pos}",
            chunk.len()
        )
    })
}

/// Checks the stored size of a dictionary, in bytes.
pub(crate) fn checked_size(size: i32) -> Result<usize> {
    match usize::try_from(size) {
        Ok(size @ 1..=MAX_DICT_SIZE) => Ok(size),
        _ => Err(err!(CodecDict, "the dictionary has {size} bytes, expected 1 to {MAX_DICT_SIZE}")),
    }
}
