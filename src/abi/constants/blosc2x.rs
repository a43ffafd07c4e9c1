//! Constants of the extensions (`abi.md` 2.11).

/// Durability level: files are changed in place, as by C-Blosc2.
pub const BLOSC2X_DURABILITY_OFF: i32 = 0;
/// Durability level: when the process dies, each change is in the file completely or not at all.
pub const BLOSC2X_DURABILITY_KILL: i32 = 1;
/// Durability level: as `BLOSC2X_DURABILITY_KILL`, also when the machine loses power.
pub const BLOSC2X_DURABILITY_POWER: i32 = 2;

/// Part of a frame: the header.
pub const BLOSC2X_PART_HEADER: i32 = 1;
/// Part of a frame: a fixed metalayer.
pub const BLOSC2X_PART_METALAYER: i32 = 2;
/// Part of a frame: a variable-length metalayer.
pub const BLOSC2X_PART_VLMETALAYER: i32 = 3;
/// Part of a frame: the index, which has the positions of the chunks.
pub const BLOSC2X_PART_INDEX: i32 = 4;
/// Part of a frame: the trailer, or the table of checksums before it.
pub const BLOSC2X_PART_TRAILER: i32 = 5;
/// Part of a frame: a chunk.
pub const BLOSC2X_PART_CHUNK: i32 = 6;
/// The file or directory as a whole, for example one that cannot be read.
pub const BLOSC2X_PART_FILE: i32 = 7;
/// Data behind the frame in its file: another frame, or other parts of an archive. They are no damage, and not counted.
pub const BLOSC2X_PART_OTHER_DATA: i32 = 8;

/// Mode of the automatic tuner: the geometric mean of the speeds of compression and decompression counts.
pub const BLOSC2X_TUNER_BALANCED: i32 = 0;
/// Mode of the automatic tuner: the speed of compression counts.
pub const BLOSC2X_TUNER_COMPRESSION: i32 = 1;
/// Mode of the automatic tuner: the speed of decompression counts.
pub const BLOSC2X_TUNER_DECOMPRESSION: i32 = 2;
/// The id of the automatic tuner, which chooses codec, level and filters by the data. It is the last id of the library's own
/// tuners: C-Blosc2 numbers its own from 0.
pub const BLOSC2X_TUNER_AUTO: i32 = 31;
