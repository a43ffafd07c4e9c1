//! Limits of the formats and of the interface (`abi.md` 5.3). Sizes are in bytes.

/// Length of a Blosc 1 chunk header.
pub const BLOSC_MIN_HEADER_LENGTH: i32 = 16;
/// Length of a Blosc2 chunk header.
pub const BLOSC_EXTENDED_HEADER_LENGTH: i32 = 32;
/// The most that a chunk is larger than its content.
pub const BLOSC2_MAX_OVERHEAD: i32 = 32;
/// The largest buffer that one chunk holds: `INT_MAX` less the overhead.
pub const BLOSC2_MAX_BUFFERSIZE: i32 = 2147483615;
/// The largest item size that the one-byte field of a chunk header holds.
pub const BLOSC_MAX_TYPESIZE: i32 = 255;
/// Shorter buffers are stored without trying to compress them.
pub const BLOSC_MIN_BUFFERSIZE: i32 = 32;
/// Slots of the filter pipeline.
pub const BLOSC2_MAX_FILTERS: i32 = 6;
/// Filters that one context could define for itself; not used.
pub const BLOSC2_MAX_UDFILTERS: i32 = 16;
/// The largest dictionary.
pub const BLOSC2_MAXDICTSIZE: i32 = 32768;
/// Dictionaries shorter than this are not worth their space.
pub const BLOSC2_MINUSEFULDICT: i32 = 256;
/// The largest block.
pub const BLOSC2_MAXBLOCKSIZE: i32 = 536866816;
/// The largest item.
pub const BLOSC2_MAXTYPESIZE: i32 = 536866816;
/// Fixed metalayers of one super-chunk.
pub const BLOSC2_MAX_METALAYERS: i32 = 16;
/// Longest name of a metalayer, without the terminating NUL.
pub const BLOSC2_METALAYER_NAME_MAXLEN: i32 = 31;
/// Variable-length metalayers of one super-chunk.
pub const BLOSC2_MAX_VLMETALAYERS: i32 = 8192;
/// Longest name of a variable-length metalayer, without the terminating NUL.
pub const BLOSC2_VLMETALAYERS_NAME_MAXLEN: i32 = BLOSC2_METALAYER_NAME_MAXLEN;
/// Dimensions of an array.
pub const B2ND_MAX_DIM: i32 = 16;
/// Metalayers that the creator of an array may add: one slot holds the array's own.
pub const B2ND_MAX_METALAYERS: i32 = BLOSC2_MAX_METALAYERS - 1;
