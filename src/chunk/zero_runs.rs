//! Zeros as a stored chunk, for frames with chunks of different sizes: the index of these frames does not tell the size
//! of a chunk without bytes (`frame.md` 1.4).

use super::format::{EXTENDED_HEADER_LENGTH, flag, version};
use super::{ChunkHeader, write_i32};
use crate::error::Result;
use crate::fallible;

/// Size of a block in bytes: readers need memory for one block, and a chunk of 2 GB has a table of 8 KiB.
const ZEROS_BLOCKSIZE: i32 = 1 << 20;

/// Returns a chunk of `nbytes` zeros, at least 1: blocks of one stream each, which is a run of zeros.
pub(crate) fn encode_zero_runs(nbytes: i32) -> Result<Vec<u8>> {
    let nbytes = nbytes.max(1);
    let blocksize = nbytes.min(ZEROS_BLOCKSIZE);
    let nblocks = nbytes.unsigned_abs().div_ceil(blocksize.unsigned_abs()) as usize;
    let tables = EXTENDED_HEADER_LENGTH + 4 * nblocks;
    // The length of a stream that is a run of zeros is 0.
    let mut chunk = fallible::filled(0, tables + 4 * nblocks)?;
    let header = ChunkHeader {
        version: version::STABLE,
        versionlz: 1,
        flags: flag::EXTENDED | flag::DONT_SPLIT,
        typesize: 1,
        nbytes,
        blocksize,
        cbytes: chunk.len() as i32,
        ..ChunkHeader::default()
    };
    header.write(&mut chunk);
    for nblock in 0..nblocks {
        write_i32(&mut chunk, EXTENDED_HEADER_LENGTH + 4 * nblock, (tables + 4 * nblock) as i32);
    }
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ParsedChunk;
    use crate::pipeline::decompress;
    use crate::pipeline::params::DecompressParams;

    #[test]
    fn zeros_are_decoded_from_one_run_per_block() {
        // The last one has several blocks, which take minutes under Miri.
        let sizes: &[i32] = if cfg!(miri) { &[1, 4, 1000] } else { &[1, 4, 1000, 3_000_000] };
        for &nbytes in sizes {
            let chunk = encode_zero_runs(nbytes).unwrap();
            let mut header = ChunkHeader::default();
            let parsed = ParsedChunk::parse(&mut header, &chunk).unwrap();
            let mut content = vec![7; nbytes as usize];
            decompress::decompress(&DecompressParams::default(), &parsed, (&mut content[..]).into()).unwrap();
            assert!(content.iter().all(|&byte| byte == 0));
        }
        let largest = ChunkHeader::parse(&encode_zero_runs(i32::MAX).unwrap()).unwrap();
        assert_eq!((largest.nbytes, largest.cbytes), (i32::MAX, 32 + 8 * 2048));
    }
}
