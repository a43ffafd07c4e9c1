//! The 16 bytes at the start of a chunk, and the checks of a reader (2.2 to 2.4, 5).

use blosc2_core::blosc1::Codec;
use blosc2_core::blosc1::layout::MAX_BLOCKSIZE;

/// Length of a header in bytes.
pub(crate) const HEADER_LEN: usize = 16;
/// The version byte of the format.
pub(crate) const VERSION_FORMAT: u8 = 2;
/// The longest content of a chunk, in bytes.
pub(crate) const MAX_BUFFERSIZE: usize = i32::MAX as usize - HEADER_LEN;

/// Flags bit 1: the content is stored plain.
pub(crate) const MEMCPYED: u8 = 0x02;
/// Flags bit 3: always 0.
const RESERVED: u8 = 0x08;
/// Flags bit 4: blocks are not split into streams.
pub(crate) const DONT_SPLIT: u8 = 0x10;
/// Flags bits 0 and 2: byte shuffle and bit shuffle. No writer sets both.
const BOTH_SHUFFLES: u8 = 0x05;

/// The codes of errors.
pub(crate) const FAILURE: i32 = -1;
/// A codec stream is damaged (`blosc_getitem` only).
pub(crate) const DAMAGED_STREAM: i32 = -2;
/// The codec is unknown.
pub(crate) const NO_CODEC: i32 = -5;
/// The version of the chunk or of its codec is not supported.
pub(crate) const BAD_VERSION: i32 = -9;
/// An argument of a compression is out of range.
pub(crate) const BAD_ARGUMENT: i32 = -10;

/// A result, or the negative code that a function returns.
pub(crate) type CodeResult<T> = Result<T, i32>;

/// The fields of a header, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub version: u8,
    pub versionlz: u8,
    pub flags: u8,
    pub typesize: u8,
    pub nbytes: i32,
    pub blocksize: i32,
    pub cbytes: i32,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8; HEADER_LEN]) -> Header {
        let [version, versionlz, flags, typesize, rest @ ..] = *bytes;
        let field = |at: usize| i32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        Header {
            version,
            versionlz,
            flags,
            typesize,
            nbytes: field(0),
            blocksize: field(4),
            cbytes: field(8),
        }
    }

    pub(crate) fn is_memcpyed(&self) -> bool {
        self.flags & MEMCPYED != 0
    }

    /// Returns the format code of the codec.
    pub(crate) fn codec_format(&self) -> u8 {
        self.flags >> 5
    }

    /// Returns the number of blocks. The sizes are checked.
    pub(crate) fn nblocks(&self) -> usize {
        let len = |field: i32| usize::try_from(field).unwrap_or(0);
        len(self.nbytes).div_ceil(len(self.blocksize).max(1))
    }

    /// Returns the flags for a reader of Blosc2, if it does not take these as a reader of Blosc 1 does:
    /// - With both shuffle bits, it expects a longer header; readers of Blosc 1 shuffle bytes if items are longer than a
    ///   byte, else bits.
    /// - Bit 3 has a meaning in Blosc2. `blosc_getitem` ignores it.
    /// - A block size above that of the content is one short block, which readers of Blosc 1 do not expect to be split.
    pub(crate) fn normalized_flags(&self) -> Option<u8> {
        let mut flags = self.flags & !RESERVED;
        if flags & BOTH_SHUFFLES == BOTH_SHUFFLES {
            flags &= if self.typesize <= 1 { !0x01 } else { !0x04 };
        }
        if self.blocksize > self.nbytes {
            flags |= DONT_SPLIT;
        }
        (flags != self.flags).then_some(flags)
    }

    /// Checks the header of a chunk with content that is to be decompressed into `destsize` bytes. Returns the length of
    /// the chunk in bytes.
    ///
    /// # Errors
    /// The code that `blosc_decompress` returns.
    pub(crate) fn check_for_decompression(&self, destsize: usize) -> CodeResult<usize> {
        let len = |field: i32| usize::try_from(field).map_err(|_| FAILURE);
        let (nbytes, blocksize) = (len(self.nbytes)?, len(self.blocksize)?);
        let has_valid_sizes =
            blocksize > 0 && blocksize <= destsize && self.blocksize <= MAX_BLOCKSIZE && self.typesize > 0;
        let is_valid = has_valid_sizes
            && self.version == VERSION_FORMAT
            && self.flags & RESERVED == 0
            && nbytes <= destsize;
        if !is_valid {
            return Err(FAILURE);
        }
        let cbytes = self.check_coding()?;
        if !self.is_memcpyed() && nbytes.div_ceil(blocksize) > (cbytes - HEADER_LEN) / 4 {
            return Err(FAILURE);
        }
        Ok(cbytes)
    }

    /// Checks the header of a chunk of which items are to be read. Returns the length of the chunk in bytes.
    ///
    /// # Errors
    /// The code that `blosc_getitem` returns.
    pub(crate) fn check_for_items(&self) -> CodeResult<usize> {
        if self.version != VERSION_FORMAT {
            return Err(BAD_VERSION);
        }
        let is_valid = self.blocksize > 0
            && self.blocksize <= self.nbytes
            && self.blocksize <= MAX_BLOCKSIZE
            && self.typesize > 0;
        if !is_valid {
            return Err(FAILURE);
        }
        let cbytes = self.check_coding()?;
        let nblocks = (self.nbytes as usize).div_ceil(self.blocksize as usize);
        if !self.is_memcpyed() && nblocks >= (cbytes - HEADER_LEN) / 4 {
            return Err(FAILURE);
        }
        Ok(cbytes)
    }

    /// Checks the length of the chunk, and that its codec is known. Returns the length in bytes.
    fn check_coding(&self) -> CodeResult<usize> {
        let cbytes = usize::try_from(self.cbytes).ok().filter(|&cbytes| cbytes >= HEADER_LEN);
        if self.is_memcpyed() {
            let is_whole = i64::from(self.cbytes) == i64::from(self.nbytes) + HEADER_LEN as i64;
            return cbytes.filter(|_| is_whole).ok_or(FAILURE);
        }
        let format = self.codec_format();
        if !Codec::all().any(|codec| codec.format() == format) {
            return Err(NO_CODEC);
        }
        if self.versionlz != 1 {
            return Err(BAD_VERSION);
        }
        cbytes.ok_or(FAILURE)
    }
}
