//! The fields of a chunk header that super-chunks use, and the chunks that entries of the index represent.

use super::header::FrameHeader;
use crate::abi::{BLOSC_BLOSCLZ, BLOSC_FORWARD_COMPAT_SPLIT};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, flag, flag2, offset};
use crate::chunk::{ChunkHeader, SpecialValue, read_i32, write_i32};
use crate::error::{Result, ensure, err};
use crate::pipeline::block_size::DefaultTuner;
use crate::pipeline::compress::encode_special_chunk;
use crate::pipeline::params::CompressParams;

/// The fields of a chunk header that super-chunks use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkInfo {
    /// Uncompressed size in bytes.
    pub nbytes: i32,
    /// Compressed size in bytes.
    pub cbytes: i32,
    /// Block size in bytes.
    pub blocksize: i32,
    /// The second flags byte; 0 without an extended header.
    pub flags2: u8,
    /// The kind of a special chunk whose content is defined by the header alone; `None` for other chunks and repeated
    /// values.
    pub special: Option<SpecialValue>,
    /// Whether the chunk is lazy: its blocks are in a frame.
    pub is_lazy: bool,
}

impl ChunkInfo {
    /// Reads the header of a chunk; `chunk` may end behind the header (`schunk.md` 1).
    #[inline(always)]
    pub(crate) fn parse(chunk: &[u8]) -> Result<Self> {
        let sizes =
            ChunkHeader::sizes(chunk).map_err(|error| err!(InvalidHeader, "invalid chunk header: {error}"));
        let [nbytes, blocksize, cbytes] = sizes?;
        let mut info = ChunkInfo { nbytes, cbytes, blocksize, flags2: 0, special: None, is_lazy: false };
        if let Some(bytes) = chunk.first_chunk::<EXTENDED_HEADER_LENGTH>()
            && bytes[offset::FLAGS] & flag::EXTENDED == flag::EXTENDED
            && cbytes >= EXTENDED_HEADER_LENGTH as i32
        {
            let flags = bytes[offset::BLOSC2_FLAGS];
            let bits = (flags >> flag2::SPECIAL_SHIFT) & flag2::SPECIAL_MASK;
            info.is_lazy = flags & flag2::LAZY != 0;
            info.flags2 = bytes[offset::BLOSC2_FLAGS2];
            if bits != 0 {
                let special = SpecialValue::from_id(bits).ok().flatten();
                info.special = special.filter(|&kind| kind != SpecialValue::Value);
            }
        }
        Ok(info)
    }
}

/// Builds the chunk that a special entry of the index represents.
pub(in crate::frame) fn build_special_chunk(
    kind: SpecialValue,
    is_last: bool,
    header: &FrameHeader,
) -> Result<[u8; EXTENDED_HEADER_LENGTH]> {
    ensure!(
        header.chunksize > 0,
        InvalidHeader,
        "`chunksize` is {}, expected 1 or more for a special chunk",
        header.chunksize,
    );
    let rest = (header.nbytes % i64::from(header.chunksize)) as i32;
    let nbytes = if is_last && rest != 0 { rest } else { header.chunksize };
    // The reference writes such index entries for zeros whose size is no multiple of the typesize, but cannot read
    // them.
    let is_whole = header.typesize > 0 && nbytes % header.typesize == 0;
    ensure!(
        is_whole || (kind != SpecialValue::Nan && header.typesize > 0),
        Data,
        "a special chunk has {nbytes} bytes, expected a multiple of `typesize` {}",
        header.typesize,
    );
    let mut params = CompressParams {
        compcode: BLOSC_BLOSCLZ,
        splitmode: BLOSC_FORWARD_COMPAT_SPLIT,
        typesize: header.typesize,
        ..CompressParams::default()
    };
    params.blocksize = if header.blocksize < 0 {
        header.blocksize
    } else {
        DefaultTuner::from_params(&params).blocksize(nbytes, header.typesize, header.blocksize)
    };
    let mut chunk = [0; EXTENDED_HEADER_LENGTH];
    encode_special_chunk(&params, kind, nbytes as usize, &[], &mut chunk)?;
    if header.blocksize < 0 {
        write_i32(&mut chunk, offset::BLOCKSIZE, header.blocksize);
    }
    Ok(chunk)
}

/// Returns the block size, in bytes, of a full special chunk in a frame with that header.
///
/// # Errors
/// `Data` for a chunk size that is no multiple of the item size.
pub(crate) fn special_blocksize(header: &FrameHeader) -> Result<i32> {
    let chunk = build_special_chunk(SpecialValue::Zero, false, header)?;
    Ok(read_i32(&chunk, offset::BLOCKSIZE).unwrap_or(0))
}

/// Returns the length of a stored chunk in bytes, by its header.
pub(in crate::frame) fn stored_len(chunk: &[u8]) -> Option<u64> {
    let cbytes = read_i32(chunk, offset::CBYTES).and_then(|cbytes| u64::try_from(cbytes).ok())?;
    Some(cbytes).filter(|&cbytes| cbytes >= EXTENDED_HEADER_LENGTH as u64)
}
