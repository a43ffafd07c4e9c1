//! The trailer of a frame (`frame.md` 1.5): variable-length metalayers, its own length, an unused fingerprint.
//!
//! The trailer is located from the end of the frame: its length is stored 22 bytes before the end.

#![forbid(unsafe_code)]

use super::header::FIXED_HEADER_LEN;
use super::metalayers::{self, MAX_METALAYERS, Metalayer, TRAILER_SECTION_OFFSET};
use super::msgpack::{Marker, MsgpackWriter, u32_at};
use crate::error::{Result, err};

/// The minimum length that readers accept, and the number of bytes at the end of a frame that [`parse_trailer_len`]
/// reads, in bytes.
pub(crate) const MIN_LEN: usize = 25;

const VERSION: u8 = 1;
/// Offset of the marker of the length in the last [`MIN_LEN`] bytes.
const LEN_MARKER_OFFSET: usize = 2;
/// Size, in bytes, of the length with its marker and of the fingerprint.
pub(in crate::frame) const END_LEN: usize = 5 + FINGERPRINT_LEN;
/// Size of the fingerprint with its marker and its type, in bytes.
pub(in crate::frame) const FINGERPRINT_LEN: usize = 2 + 16;

/// Builds a trailer with these variable-length metalayers.
///
/// # Errors
/// `Failure` for more than 16 of them, `InvalidParam` for a name of more than 31 bytes or contents of more than 2 GB
/// in all, `MemoryAlloc`.
pub(crate) fn build(vlmetalayers: &[Metalayer<'_>]) -> Result<Vec<u8>> {
    let count = vlmetalayers.len();
    if count > MAX_METALAYERS {
        return Err(err!(Failure, "{count} variable-length metalayers, expected at most {MAX_METALAYERS}"));
    }
    let len = TRAILER_SECTION_OFFSET + metalayers::section_len(vlmetalayers)? + END_LEN;
    if i32::try_from(len).is_err() {
        return Err(err!(InvalidParam, "the trailer has {len} bytes, expected at most {}", i32::MAX));
    }
    let mut out = MsgpackWriter::new(len)?;
    out.fixarray(4).byte(VERSION);
    metalayers::write_section(&mut out, vlmetalayers, 1);
    out.uint32(len as u32);
    // No fingerprint: type 0, and zeros.
    out.fixext16(0, &[0; 16]);
    Ok(out.finish())
}

/// Returns the length of the trailer in bytes, read from the last [`MIN_LEN`] bytes of a frame of `frame_len` bytes.
pub(crate) fn parse_trailer_len(last_25_bytes: &[u8], frame_len: u64) -> Result<usize> {
    if last_25_bytes.len() != MIN_LEN || Marker::from_u8(last_25_bytes[LEN_MARKER_OFFSET]) != Marker::U32 {
        return Err(err!(Data, "the frame of {frame_len} bytes does not end with a trailer"));
    }
    let len = u32_at(last_25_bytes, LEN_MARKER_OFFSET + 1).unwrap_or_default();
    let room = frame_len.saturating_sub(FIXED_HEADER_LEN as u64);
    if len < MIN_LEN as u32 || i32::try_from(len).is_err() || u64::from(len) > room {
        return Err(err!(Data, "the trailer has {len} bytes, expected {MIN_LEN} to {room}"));
    }
    Ok(len as usize)
}
