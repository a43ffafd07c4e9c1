//! Flags of chunks, and offsets of header fields in bytes (`abi.md` 5.5).

/// Chunk flag: the byte shuffle was applied.
pub const BLOSC_DOSHUFFLE: i32 = 0x1;
/// Chunk flag: the content is stored uncompressed.
pub const BLOSC_MEMCPYED: i32 = 0x2;
/// Chunk flag: the bit shuffle was applied.
pub const BLOSC_DOBITSHUFFLE: i32 = 0x4;
/// Chunk flag: the delta filter was applied.
pub const BLOSC_DODELTA: i32 = 0x8;
/// Blosc2 flag: the chunk contains a dictionary.
pub const BLOSC2_USEDICT: i32 = 0x1;
/// Blosc2 flag: the content is big-endian.
pub const BLOSC2_BIGENDIAN: i32 = 0x2;
/// Blosc2 flag: the blocks decode to `blosc2_instr` records.
pub const BLOSC2_INSTR_CODEC: i32 = 0x80;
/// Second Blosc2 flag byte: the blocks have variable lengths.
pub const BLOSC2_VL_BLOCKS: i32 = 0x1;
/// Header offset of the format version, 1 byte.
pub const BLOSC2_CHUNK_VERSION: i32 = 0x0;
/// Header offset of the codec's format version, 1 byte.
pub const BLOSC2_CHUNK_VERSIONLZ: i32 = 0x1;
/// Header offset of the flags, 1 byte.
pub const BLOSC2_CHUNK_FLAGS: i32 = 0x2;
/// Header offset of the item size, 1 byte.
pub const BLOSC2_CHUNK_TYPESIZE: i32 = 0x3;
/// Header offset of the uncompressed size, 4 bytes.
pub const BLOSC2_CHUNK_NBYTES: i32 = 0x4;
/// Header offset of the block size, 4 bytes.
pub const BLOSC2_CHUNK_BLOCKSIZE: i32 = 0x8;
/// Header offset of the compressed size, 4 bytes.
pub const BLOSC2_CHUNK_CBYTES: i32 = 0xC;
/// Extended header offset of the filter ids, 6 bytes.
pub const BLOSC2_CHUNK_FILTER_CODES: i32 = 0x10;
/// Extended header offset of the filters' meta bytes, 6 bytes.
pub const BLOSC2_CHUNK_FILTER_META: i32 = 0x18;
/// Extended header offset of the second Blosc2 flags, 1 byte.
pub const BLOSC2_CHUNK_BLOSC2_FLAGS2: i32 = 0x1E;
/// Extended header offset of the Blosc2 flags, 1 byte.
pub const BLOSC2_CHUNK_BLOSC2_FLAGS: i32 = 0x1F;
