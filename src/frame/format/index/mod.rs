//! The index of a frame (`frame.md` 1.4): an ordinary chunk with one `i64` per chunk of the frame, which gives its
//! location.
//!
//! | module | contents |
//! |---|---|
//! | `offsets` | the decoded index, and the meaning of its entries |
//! | `decode` | decoding an index chunk |
//! | `encode` | encoding an index chunk |
//! | `moved` | an index chunk with a gap before its blocks |

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod moved;
mod offsets;

pub(crate) use decode::{decode, stored_nbytes};
pub(crate) use encode::{IndexEncoder, encode_special};
pub(in crate::frame) use moved::{gap_before_blocks, head_len, move_blocks};
pub(crate) use offsets::{ENTRY_LEN, IndexEntry, Offsets, decode_entry, encode_entry};
