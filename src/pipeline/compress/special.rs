//! Chunks that consist of a header alone, or a header and a value (`chunk.md` 3.12).

use super::super::params::CompressParams;
use super::plan::stored_typesize;
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag, flag2, version};
use crate::chunk::{ChunkHeader, SpecialValue};
use crate::error::{Result, err};

/// Writes a special chunk that represents `nbytes` bytes into `dest`, and returns its length in bytes. The block size
/// of `params` is effective. `value` is one item for [`SpecialValue::Value`], empty for other kinds.
pub(crate) fn encode_special_chunk(
    params: &CompressParams,
    kind: SpecialValue,
    nbytes: usize,
    value: &[u8],
    dest: &mut [u8],
) -> Result<usize> {
    let cbytes = EXTENDED_HEADER_LENGTH + value.len();
    let Some(dest) = dest.get_mut(..cbytes) else {
        return Err(err!(Data, "the special chunk of {cbytes} bytes does not fit into `dest`"));
    };
    // Readers fill block by block, each with whole values: the block size must be a multiple of the item size.
    let mut blocksize = params.blocksize.max(1);
    if kind == SpecialValue::Value && blocksize % params.typesize != 0 {
        blocksize = params.typesize;
    }
    let header = ChunkHeader {
        version: version::STABLE,
        versionlz: 1,
        flags: flag::EXTENDED,
        typesize: stored_typesize(params.typesize) as u8,
        nbytes: i32::try_from(nbytes).unwrap_or(i32::MAX),
        blocksize,
        cbytes: cbytes as i32,
        blosc2_flags: kind.id() << flag2::SPECIAL_SHIFT,
        ..ChunkHeader::default()
    };
    header.write(dest);
    dest[EXTENDED_HEADER_LENGTH..].copy_from_slice(value);
    Ok(cbytes)
}
