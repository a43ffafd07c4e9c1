//! The constants of the chunk format, with the types that the code uses (`chunk.md` 1; the public constants are in
//! `abi`).

/// Length of the Blosc1-style header, in bytes.
pub(crate) const MIN_HEADER_LENGTH: usize = 16;
/// Length of the extended header, in bytes.
pub(crate) const EXTENDED_HEADER_LENGTH: usize = 32;
/// The smallest destination that a compressor accepts, in bytes.
pub(crate) const MIN_DESTSIZE: usize = 32;
/// Sources shorter than this, in bytes, are stored uncompressed.
pub(crate) const MIN_BUFFERSIZE: usize = 32;
/// As [`MIN_BUFFERSIZE`], for chunks of Blosc 1 (`blosc1.md` 6.1).
pub(crate) const BLOSC1_MIN_BUFFERSIZE: usize = 128;
/// The maximum length of a source, in bytes.
pub(crate) const MAX_BUFFERSIZE: usize = i32::MAX as usize - 32;
/// Text of errors about content that no chunk can hold: the way that works.
pub(crate) const LONGER_CONTENT: &str = "longer content is stored as several chunks of a super-chunk";
/// The largest item size that a header can hold, in bytes.
pub(crate) const MAX_STORED_TYPESIZE: i32 = 255;
/// The largest item size that a compressor accepts, in bytes.
pub(crate) const MAX_TYPESIZE: i32 = 536_866_816;
/// The largest block, in bytes.
pub(crate) const MAX_BLOCKSIZE: i32 = 536_866_816;
/// The largest dictionary, in bytes.
pub(crate) const MAX_DICT_SIZE: usize = 32_768;
/// The minimum size, in bytes, of a dictionary that is used: smaller ones are not worthwhile.
pub(crate) const MIN_USEFUL_DICT: usize = 256;
/// Number of slots of the filter pipeline.
pub(crate) const MAX_FILTERS: usize = 6;

/// Offsets of the header's fields, in bytes.
pub(crate) mod offset {
    /// `u8`: version of the chunk format.
    pub(crate) const VERSION: usize = 0x00;
    /// `u8`: version of the codec's format.
    pub(crate) const VERSIONLZ: usize = 0x01;
    /// `u8`: flags.
    pub(crate) const FLAGS: usize = 0x02;
    /// `u8`: item size, in bytes.
    pub(crate) const TYPESIZE: usize = 0x03;
    /// `i32`: uncompressed size, in bytes.
    pub(crate) const NBYTES: usize = 0x04;
    /// `i32`: block size in bytes; number of blocks in a variable-length-block chunk.
    pub(crate) const BLOCKSIZE: usize = 0x08;
    /// `i32`: size of the whole chunk, in bytes.
    pub(crate) const CBYTES: usize = 0x0c;
    /// `u8[6]`: filter ids.
    pub(crate) const FILTERS: usize = 0x10;
    /// `u8`: codec id.
    pub(crate) const UDCOMPCODE: usize = 0x16;
    /// `u8`: the codec's own byte.
    pub(crate) const COMPCODE_META: usize = 0x17;
    /// `u8[6]`: one byte per filter.
    pub(crate) const FILTERS_META: usize = 0x18;
    /// `u8`: second set of Blosc2 flags.
    pub(crate) const BLOSC2_FLAGS2: usize = 0x1e;
    /// `u8`: Blosc2 flags.
    pub(crate) const BLOSC2_FLAGS: usize = 0x1f;
}

/// Bits of the flags byte (`chunk.md` 1.3).
pub(crate) mod flag {
    /// Byte shuffle, in 16-byte headers.
    pub(crate) const SHUFFLE: u8 = 0x01;
    /// The data are stored uncompressed.
    pub(crate) const MEMCPYED: u8 = 0x02;
    /// Bit shuffle, in 16-byte headers.
    pub(crate) const BITSHUFFLE: u8 = 0x04;
    /// Both bits set mark an extended header.
    pub(crate) const EXTENDED: u8 = SHUFFLE | BITSHUFFLE;
    /// A delta filter is in the pipeline.
    pub(crate) const DELTA: u8 = 0x08;
    /// Blocks are not split into streams.
    pub(crate) const DONT_SPLIT: u8 = 0x10;
    /// First bit of the codec format.
    pub(crate) const FORMAT_SHIFT: u32 = 5;
}

/// Bits of the Blosc2 flags byte (`chunk.md` 1.6).
pub(crate) mod flag2 {
    /// A dictionary section follows the block starts.
    pub(crate) const USEDICT: u8 = 0x01;
    /// Written on a big-endian host.
    pub(crate) const BIGENDIAN: u8 = 0x02;
    /// A lazy chunk: header, block starts and trailer of a chunk whose blocks are in a frame.
    pub(crate) const LAZY: u8 = 0x08;
    /// First bit of the special value.
    pub(crate) const SPECIAL_SHIFT: u32 = 4;
    /// Mask of the special value, after shifting.
    pub(crate) const SPECIAL_MASK: u8 = 0x07;
    /// The payload is instrumentation records.
    pub(crate) const INSTR: u8 = 0x80;
    /// Second flags byte: blocks of variable length.
    pub(crate) const VL_BLOCKS: u8 = 0x01;
}

/// Values of the version byte (`chunk.md` 1.5).
pub(crate) mod version {
    /// Blosc 1: bitunshuffle copies the data if the element count is no multiple of 8.
    pub(crate) const BLOSC1: u8 = 2;
    /// Blosc2 alphas: only five filter slots.
    pub(crate) const ALPHA: u8 = 3;
    /// The version that this library writes.
    pub(crate) const STABLE: u8 = 5;
    /// The version that this library writes for chunks with variable-length blocks; the newest known version.
    pub(crate) const VL_BLOCKS: u8 = 6;
}

/// Codec formats, bits 5-7 of the flags (`chunk.md` 1.4).
pub(crate) mod codec_format {
    /// The codec is identified by `udcompcode` of the header.
    pub(crate) const UDCODEC: u8 = 6;
}

/// The ids of the filters that the pipeline implements (`filters.md` 1).
pub(crate) mod filter_id {
    /// Empty slot.
    pub(crate) const NONE: u8 = 0;
    /// Byte shuffle.
    pub(crate) const SHUFFLE: u8 = 1;
    /// Bit shuffle.
    pub(crate) const BITSHUFFLE: u8 = 2;
    /// Delta (XOR) coding.
    pub(crate) const DELTA: u8 = 3;
    /// Truncation of floats; decompression does not undo it.
    pub(crate) const TRUNC_PREC: u8 = 4;
    /// The lowest id of registered filters; ids between the filters above and this one are undefined.
    pub(crate) const FIRST_REGISTERED: u8 = 32;
}
