//! Lazy chunks (`chunk.md` 1.17): header and block starts of a chunk whose blocks are in a frame, and a trailer with
//! the location of the chunk and the lengths of the blocks.

use super::format::{EXTENDED_HEADER_LENGTH, flag2, offset};
use super::{BlockGeometry, ChunkHeader, read_i32, write_i32};
use crate::err;
use crate::error::{Result, ensure};

/// The location of a chunk in its frame, as the trailer of a lazy chunk gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkLocation {
    /// Index of the chunk in a contiguous frame; number of the chunk file in a sparse one.
    pub nchunk: i32,
    /// Byte offset of the chunk in a contiguous frame; number of the chunk file in a sparse one.
    pub offset: i64,
}

/// A source of the blocks of lazy chunks: a frame.
pub(crate) trait BlockSource: Sync {
    /// Fills `dest` with the bytes that begin `position` bytes into the chunk at `location`.
    ///
    /// # Errors
    /// `ReadBuffer` or `FileRead` when the chunk ends before the end of `dest`, `FileOpen` when its file cannot be
    /// opened.
    fn read(&self, location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()>;
}

/// The lazy form of a chunk of a frame.
pub(crate) struct LazyChunk {
    header: ChunkHeader,
    /// Header as it is stored, without the lazy flag, and block starts.
    head: Vec<u8>,
    location: ChunkLocation,
    /// Length of each block in the frame, in bytes; empty for a plain chunk, whose blocks have the length of their content.
    block_lengths: Vec<i32>,
}

impl LazyChunk {
    /// Returns the lazy form of the chunk at `location` with the parsed `header`. `head` is its header and its block
    /// starts, `block_lengths` the length of each block in the frame, in bytes, unless the chunk is plain.
    pub(crate) fn new(
        header: &ChunkHeader,
        head: Vec<u8>,
        location: ChunkLocation,
        block_lengths: Vec<i32>,
    ) -> LazyChunk {
        let header = ChunkHeader { blosc2_flags: header.blosc2_flags | flag2::LAZY, ..*header };
        LazyChunk { header, head, location, block_lengths }
    }

    pub(crate) fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// Returns the bytes of the header, as they are stored, and of the block starts.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the length of the serialised form in bytes.
    pub(crate) fn serialized_len(&self) -> usize {
        self.head.len() + FIXED_TRAILER_LEN + (self.head.len() - EXTENDED_HEADER_LENGTH)
    }

    /// Writes the serialised form, which is passed to programs, to `dest`.
    ///
    /// # Panics
    /// If `dest` is not [`serialized_len`](Self::serialized_len) bytes long.
    pub(crate) fn serialize(&self, dest: &mut [u8]) {
        assert_eq!(dest.len(), self.serialized_len());
        let (head, trailer) = dest.split_at_mut(self.head.len());
        head.copy_from_slice(&self.head);
        head[offset::BLOSC2_FLAGS] |= flag2::LAZY;
        write_i32(trailer, 0, self.location.nchunk);
        trailer[4..FIXED_TRAILER_LEN].copy_from_slice(&self.location.offset.to_le_bytes());
        let blocks = BlockGeometry::of(&self.header);
        for n in 0..(trailer.len() - FIXED_TRAILER_LEN) / 4 {
            let plain = || blocks.range(n).len() as i32;
            let length = self.block_lengths.get(n).copied().unwrap_or_else(plain);
            write_i32(trailer, FIXED_TRAILER_LEN + 4 * n, length);
        }
    }

    pub(crate) fn trailer(&self) -> LazyTrailer<'_> {
        LazyTrailer { location: self.location, block_lengths: BlockLengths::Numbers(&self.block_lengths) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LazyTrailer<'a> {
    pub location: ChunkLocation,
    block_lengths: BlockLengths<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockLengths<'a> {
    /// Little-endian numbers of 4 bytes.
    Serialized(&'a [u8]),
    Numbers(&'a [i32]),
}

/// Size, in bytes, of the trailer before the table of block lengths.
const FIXED_TRAILER_LEN: usize = 12;

impl<'a> LazyTrailer<'a> {
    /// Reads the trailer of a serialised lazy chunk of `nblocks` blocks.
    pub(crate) fn read(header: &ChunkHeader, chunk: &'a [u8], nblocks: usize) -> Result<Self> {
        let start = header.len() + 4 * nblocks;
        let Some(trailer) = chunk.get(start..).and_then(|rest| rest.get(..FIXED_TRAILER_LEN + 4 * nblocks))
        else {
            return Err(err!(
                ReadBuffer,
                "the lazy chunk has {} bytes, expected a trailer for {nblocks} blocks",
                chunk.len()
            ));
        };
        let nchunk = read_i32(trailer, 0).unwrap_or_default();
        let offset = i64::from_le_bytes(trailer[4..FIXED_TRAILER_LEN].try_into().unwrap_or_default());
        ensure!(offset >= 0, InvalidHeader, "the offset of the lazy chunk is {offset}, expected 0 or more");
        let location = ChunkLocation { nchunk, offset };
        Ok(LazyTrailer { location, block_lengths: BlockLengths::Serialized(&trailer[FIXED_TRAILER_LEN..]) })
    }

    /// Returns the length of block `nblock` in the frame, in bytes; `None` beyond the table.
    pub(crate) fn block_length(&self, nblock: usize) -> Option<i32> {
        match self.block_lengths {
            BlockLengths::Serialized(bytes) => read_i32(bytes, 4 * nblock),
            BlockLengths::Numbers(numbers) => numbers.get(nblock).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector_v15() -> Vec<u8> {
        [
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
        .collect()
    }

    #[test]
    fn trailer_of_golden_vector_v15_is_read() {
        let chunk = vector_v15();
        let header = ChunkHeader::parse(&chunk).unwrap();
        assert!(header.is_lazy());
        let trailer = LazyTrailer::read(&header, &chunk, 3).unwrap();
        assert_eq!(trailer.location, ChunkLocation { nchunk: 1, offset: 0x111 });
        assert_eq!(
            (0..4).map(|n| trailer.block_length(n)).collect::<Vec<_>>(),
            [Some(0x30), Some(0x42), Some(0x24), None]
        );
        for len in 32..chunk.len() {
            assert!(LazyTrailer::read(&header, &chunk[..len], 3).is_err());
        }
    }

    #[test]
    fn a_lazy_chunk_of_a_frame_serializes_to_the_golden_vector() {
        let golden = vector_v15();
        let mut head = golden[..44].to_vec();
        head[offset::BLOSC2_FLAGS] &= !flag2::LAZY;
        let header = ChunkHeader::parse(&head).unwrap();
        let location = ChunkLocation { nchunk: 1, offset: 0x111 };
        let chunk = LazyChunk::new(&header, head, location, vec![0x30, 0x42, 0x24]);
        assert_eq!(*chunk.header(), ChunkHeader::parse(&golden).unwrap());
        let mut bytes = vec![0; chunk.serialized_len()];
        chunk.serialize(&mut bytes);
        assert_eq!(bytes, golden);
        let (trailer, header) = (chunk.trailer(), ChunkHeader::parse(&golden).unwrap());
        let read = LazyTrailer::read(&header, &golden, 3).unwrap();
        assert_eq!(trailer.location, read.location);
        assert!((0..4).all(|n| trailer.block_length(n) == read.block_length(n)));
    }
}
