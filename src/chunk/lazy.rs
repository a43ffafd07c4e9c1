//! Lazy chunks (`chunk.md` 1.17): header, block starts and a trailer that says where the blocks are in a frame.

use super::{ChunkHeader, read_i32};
use crate::err;
use crate::error::Result;

/// The trailer of a lazy chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer<'a> {
    /// Index of the chunk in a contiguous frame; number of the chunk file in a sparse one.
    pub nchunk: i32,
    /// Byte offset of the chunk in a contiguous frame; number of the chunk file in a sparse one.
    pub offset: i64,
    block_lengths: &'a [u8],
}

/// Bytes of the trailer before the table of block lengths.
const FIXED: usize = 12;

impl<'a> Trailer<'a> {
    /// Reads the trailer of a lazy chunk of `nblocks` blocks.
    ///
    /// # Errors
    /// `ReadBuffer` when the bytes end inside the trailer, `InvalidHeader` for a negative offset.
    pub(crate) fn read(header: &ChunkHeader, chunk: &'a [u8], nblocks: usize) -> Result<Self> {
        let start = header.len() + 4 * nblocks;
        let Some(trailer) = chunk.get(start..).and_then(|rest| rest.get(..FIXED + 4 * nblocks)) else {
            return Err(err!(ReadBuffer, "a lazy chunk of {} bytes for {nblocks} blocks", chunk.len()));
        };
        let nchunk = read_i32(trailer, 0).unwrap_or_default();
        let offset = i64::from_le_bytes(trailer[4..FIXED].try_into().unwrap_or_default());
        if offset < 0 {
            return Err(err!(InvalidHeader, "a lazy chunk at offset {offset}"));
        }
        Ok(Trailer { nchunk, offset, block_lengths: &trailer[FIXED..] })
    }

    /// Bytes that block `nblock` takes in the frame; `None` beyond the table.
    pub(crate) fn block_length(&self, nblock: usize) -> Option<i32> {
        read_i32(self.block_lengths, 4 * nblock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_vector_v15() {
        let chunk: Vec<u8> = [
            "050125042001000080000000c2000000",
            "00000000000101000000000000000008",
            "2c0000005c0000009e00000001000000",
            "11010000000000003000000042000000",
            "24000000",
        ]
        .concat()
        .as_bytes()
        .chunks(2)
        .map(|h| u8::from_str_radix(std::str::from_utf8(h).unwrap(), 16).unwrap())
        .collect();
        let header = ChunkHeader::parse(&chunk).unwrap();
        assert!(header.is_lazy());
        let trailer = Trailer::read(&header, &chunk, 3).unwrap();
        assert_eq!((trailer.nchunk, trailer.offset), (1, 0x111));
        assert_eq!(
            (0..4).map(|n| trailer.block_length(n)).collect::<Vec<_>>(),
            [Some(0x30), Some(0x42), Some(0x24), None]
        );
        for len in 32..chunk.len() {
            assert!(Trailer::read(&header, &chunk[..len], 3).is_err());
        }
    }
}
