//! Error codes that the functions return (`abi.md` 5.2); `crate::error` maps them to its kinds and back.

/// No error.
pub const BLOSC2_ERROR_SUCCESS: i32 = 0;
/// A failure for which there is no specific code.
pub const BLOSC2_ERROR_FAILURE: i32 = -1;
/// Invalid stream.
pub const BLOSC2_ERROR_STREAM: i32 = -2;
/// Invalid data.
pub const BLOSC2_ERROR_DATA: i32 = -3;
/// Memory could not be allocated.
pub const BLOSC2_ERROR_MEMORY_ALLOC: i32 = -4;
/// The input is too short.
pub const BLOSC2_ERROR_READ_BUFFER: i32 = -5;
/// The output buffer is too small.
pub const BLOSC2_ERROR_WRITE_BUFFER: i32 = -6;
/// The codec is unknown or not available.
pub const BLOSC2_ERROR_CODEC_SUPPORT: i32 = -7;
/// A codec parameter is out of range.
pub const BLOSC2_ERROR_CODEC_PARAM: i32 = -8;
/// A codec dictionary is invalid.
pub const BLOSC2_ERROR_CODEC_DICT: i32 = -9;
/// The format version is not supported.
pub const BLOSC2_ERROR_VERSION_SUPPORT: i32 = -10;
/// A header field has an invalid value.
pub const BLOSC2_ERROR_INVALID_HEADER: i32 = -11;
/// An argument has an invalid value.
pub const BLOSC2_ERROR_INVALID_PARAM: i32 = -12;
/// A file could not be read.
pub const BLOSC2_ERROR_FILE_READ: i32 = -13;
/// A file could not be written.
pub const BLOSC2_ERROR_FILE_WRITE: i32 = -14;
/// A file could not be opened.
pub const BLOSC2_ERROR_FILE_OPEN: i32 = -15;
/// The requested object does not exist.
pub const BLOSC2_ERROR_NOT_FOUND: i32 = -16;
/// A run-length encoding is invalid.
pub const BLOSC2_ERROR_RUN_LENGTH: i32 = -17;
/// A filter is unknown or failed, or a prefilter failed.
pub const BLOSC2_ERROR_FILTER_PIPELINE: i32 = -18;
/// A chunk could not be inserted.
pub const BLOSC2_ERROR_CHUNK_INSERT: i32 = -19;
/// A chunk could not be appended.
pub const BLOSC2_ERROR_CHUNK_APPEND: i32 = -20;
/// A chunk could not be updated.
pub const BLOSC2_ERROR_CHUNK_UPDATE: i32 = -21;
/// A size is above 2 GB.
pub const BLOSC2_ERROR_2GB_LIMIT: i32 = -22;
/// A super-chunk could not be copied.
pub const BLOSC2_ERROR_SCHUNK_COPY: i32 = -23;
/// The frame has the wrong type.
pub const BLOSC2_ERROR_FRAME_TYPE: i32 = -24;
/// A file could not be truncated.
pub const BLOSC2_ERROR_FILE_TRUNCATE: i32 = -25;
/// A thread or its state could not be created.
pub const BLOSC2_ERROR_THREAD_CREATE: i32 = -26;
/// A postfilter failed.
pub const BLOSC2_ERROR_POSTFILTER: i32 = -27;
/// A frame cannot be filled with special chunks, or its special chunks are invalid.
pub const BLOSC2_ERROR_FRAME_SPECIAL: i32 = -28;
/// A super-chunk cannot be filled with special chunks.
pub const BLOSC2_ERROR_SCHUNK_SPECIAL: i32 = -29;
/// An I/O back-end is unknown or failed.
pub const BLOSC2_ERROR_PLUGIN_IO: i32 = -30;
/// A file could not be removed.
pub const BLOSC2_ERROR_FILE_REMOVE: i32 = -31;
/// A required pointer is NULL.
pub const BLOSC2_ERROR_NULL_POINTER: i32 = -32;
/// An index is out of range.
pub const BLOSC2_ERROR_INVALID_INDEX: i32 = -33;
/// The metalayer does not exist.
pub const BLOSC2_ERROR_METALAYER_NOT_FOUND: i32 = -34;
/// A source is larger than the format allows, or a destination is too small for a header.
pub const BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED: i32 = -35;
/// A tuner failed.
pub const BLOSC2_ERROR_TUNER: i32 = -36;
/// The inter-process lock of a frame could not be acquired or released.
pub const BLOSC2_ERROR_LOCK: i32 = -37;
