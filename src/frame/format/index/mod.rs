//! The index of a frame (`frame.md` 1.4): an ordinary chunk with one `i64` per chunk of the frame, which gives its
//! location.
//!
//! | module | contents |
//! |---|---|
//! | `offsets` | the decoded index, and the meaning of its entries |
//! | `decode` | decoding an index chunk |
//! | `encode` | encoding an index chunk |

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod offsets;

pub(crate) use decode::{decode, stored_nbytes};
pub(crate) use encode::{IndexEncoder, encode_special};
pub(crate) use offsets::{ENTRY_LEN, IndexEntry, Offsets, decode_entry, encode_entry};
