//! The index of a frame (`frame.md` 1.4): an ordinary chunk that holds one `i64` per chunk, which tells where it is.
//!
//! | room | owns |
//! |---|---|
//! | `offsets` | the decoded index, and what an entry means |
//! | `decode` | from the index chunk to its entries |
//! | `encode` | from the entries to an index chunk |

#![forbid(unsafe_code)]

mod decode;
mod encode;
mod offsets;

pub(crate) use decode::{decode, stored_nbytes};
pub(crate) use encode::{IndexEncoder, encode_special};
pub(crate) use offsets::{ENTRY_LEN, Offsets, Place, code_of, place_of};
