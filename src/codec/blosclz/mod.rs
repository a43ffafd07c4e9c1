//! BloscLZ, Blosc's own codec: an LZ77 byte format of 32-byte literal runs and matches within 72 KiB (`codecs.md` 3).
//!
//! Owns the stream format, the encoder (byte for byte the reference's decisions) and the decoder. Chunks, blocks and
//! filters belong to the callers. No call allocates memory.
//!
//! A stream is a sequence of tokens, distinguished by their first byte, the control byte `c`:
//!
//! | token | bytes |
//! |---|---|
//! | literals, `c < 32` | `c`, then `c + 1` bytes to copy |
//! | match, `c >= 32` | `c` = `length code << 5 \| distance high bits`, length extension bytes when the code is 7, distance low byte, two more distance bytes when the first 13 bits are all set |
//!
//! The first token is always literals, and only the low five bits of its control byte count.

mod decode;
mod encode;
mod format;
#[cfg(test)]
mod tests;
mod tokens;

#[cfg(test)]
use decode::decompress;
pub(crate) use decode::{decompress_prefix, decompress_with_slack};
pub(crate) use encode::{HashTables, Release, compress};
