//! Limits of the formats and of the interface (`abi.md` 5.3).

/// Length of a Blosc 1 chunk header, in bytes.
pub const BLOSC_MIN_HEADER_LENGTH: i32 = 16;
/// Length of a Blosc2 chunk header, in bytes.
pub const BLOSC_EXTENDED_HEADER_LENGTH: i32 = 32;
/// Maximum number of bytes by which a chunk is larger than its content.
pub const BLOSC2_MAX_OVERHEAD: i32 = 32;
/// Maximum size of the content of a chunk, in bytes: `INT_MAX` minus `BLOSC2_MAX_OVERHEAD`.
pub const BLOSC2_MAX_BUFFERSIZE: i32 = 2147483615;
/// Maximum item size, in bytes, that the one-byte field of a chunk header can hold.
pub const BLOSC_MAX_TYPESIZE: i32 = 255;
/// Minimum size of a buffer to be compressed, in bytes: smaller buffers are stored.
pub const BLOSC_MIN_BUFFERSIZE: i32 = 32;
/// Number of filters in the filter pipeline.
pub const BLOSC2_MAX_FILTERS: i32 = 6;
/// Maximum number of filters of one context; not used.
pub const BLOSC2_MAX_UDFILTERS: i32 = 16;
/// Maximum size of a dictionary, in bytes.
pub const BLOSC2_MAXDICTSIZE: i32 = 32768;
/// Minimum size of a dictionary, in bytes: smaller ones do not reduce the size of a chunk.
pub const BLOSC2_MINUSEFULDICT: i32 = 256;
/// Maximum size of a block, in bytes.
pub const BLOSC2_MAXBLOCKSIZE: i32 = 536866816;
/// Maximum item size, in bytes.
pub const BLOSC2_MAXTYPESIZE: i32 = 536866816;
/// Maximum number of fixed metalayers of a super-chunk.
pub const BLOSC2_MAX_METALAYERS: i32 = 16;
/// Maximum length of the name of a fixed metalayer, in bytes, without the terminating NUL.
pub const BLOSC2_METALAYER_NAME_MAXLEN: i32 = 31;
/// Maximum number of variable-length metalayers of a super-chunk.
pub const BLOSC2_MAX_VLMETALAYERS: i32 = 8192;
/// Maximum length of the name of a variable-length metalayer, in bytes, without the terminating NUL.
pub const BLOSC2_VLMETALAYERS_NAME_MAXLEN: i32 = BLOSC2_METALAYER_NAME_MAXLEN;
/// Maximum number of dimensions of an array.
pub const B2ND_MAX_DIM: i32 = 16;
/// Maximum number of fixed metalayers that a program can add to an array; one more holds the description of the
/// array.
pub const B2ND_MAX_METALAYERS: i32 = BLOSC2_MAX_METALAYERS - 1;
