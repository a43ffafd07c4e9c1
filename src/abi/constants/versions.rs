//! Versions of the library and of the formats (`abi.md` 5.1).
//!
//! Build scripts parse the lines of the first four constants in the header, so the template fixes the form of these
//! lines.

/// Major version of the interface: it changes with incompatible changes.
pub const BLOSC2_VERSION_MAJOR: i32 = 3;
/// Minor version of the interface: it changes with additions.
pub const BLOSC2_VERSION_MINOR: i32 = 3;
/// Release number: it changes with fixes and small changes.
pub const BLOSC2_VERSION_RELEASE: i32 = 5;
/// The three version numbers as a string.
pub const BLOSC2_VERSION_STRING: &str = "3.3.5";
/// Date of this version of the interface: the second word of the string.
pub const BLOSC2_VERSION_DATE: &str = "$Date:: 2026-09-24 #$";
/// Chunk format of Blosc before 1.0.
pub const BLOSC1_VERSION_FORMAT_PRE1: i32 = 1;
/// Chunk format of Blosc 1.
pub const BLOSC1_VERSION_FORMAT: i32 = 2;
/// Chunk format of the Blosc2 alphas.
pub const BLOSC2_VERSION_FORMAT_ALPHA: i32 = 3;
/// Chunk format of the first Blosc2 beta.
pub const BLOSC2_VERSION_FORMAT_BETA1: i32 = 4;
/// Chunk format of Blosc2 2.x, and of 3.x for chunks without variable-length blocks.
pub const BLOSC2_VERSION_FORMAT_STABLE: i32 = 5;
/// Chunk format for variable-length blocks.
pub const BLOSC2_VERSION_FORMAT_VL_BLOCKS: i32 = 6;
/// Newest chunk format that this library reads.
pub const BLOSC2_VERSION_FORMAT: i32 = 6;
/// Frame format of the second Blosc2 beta.
pub const BLOSC2_VERSION_FRAME_FORMAT_BETA2: i32 = 1;
/// Frame format since the first release candidate.
pub const BLOSC2_VERSION_FRAME_FORMAT_RC1: i32 = 2;
/// Frame format for chunks that can have variable-length blocks.
pub const BLOSC2_VERSION_FRAME_FORMAT_VL_BLOCKS: i32 = 3;
/// Newest frame format that this library reads.
pub const BLOSC2_VERSION_FRAME_FORMAT: i32 = 3;
/// Version of the `b2nd` metalayer.
pub const B2ND_METALAYER_VERSION: i32 = 0;
