//! The decoding of literals whose codes nearly all have eight bits.
//!
//! Owns the loop that decodes all codes as codes of eight bits, and checks their lengths afterwards. Any other code is
//! decoded as a single symbol.
//!
//! Noise whose bytes are all equally likely has a code of this kind. The positions of the next seven codes are then
//! known at once, and no code depends on the length of the one before.

use crate::codec::match_copy::MatchCopy;

use super::bit_reader::BitReader;
use super::output::InflateOutput;
use super::symbol::BlockTables;
use super::table::LitlenTable;

/// The number of codes of eight bits that a word has from any bit of its first byte on.
const GROUP: usize = 7;

/// Decodes symbols from `out` on until the block ends, one of the buffers is nearly used up, or the stream is invalid,
/// which the decoder of the next symbol reports. Returns the position in `dest` behind the last byte written.
#[inline(always)]
pub(super) fn decode_symbols<P: MatchCopy>(
    codes: BlockTables,
    bits: &mut BitReader,
    dest: &mut [u8],
    out: usize,
) -> usize {
    let Some(mut at) = bits.bit_position() else { return out };
    let src = bits.src;
    let mut output = InflateOutput { dest, written: out };
    while output.has_room(GROUP)
        && let Some(word) = src.get(at / 8..).and_then(|rest| rest.first_chunk::<8>())
    {
        let word = u64::from_le_bytes(*word) >> (at % 8);
        let Some(to) = output.dest[output.written..].first_chunk_mut() else { break };
        let count = decode_group(codes.litlen, word, to);
        output.written += count;
        at += count * 8;
        if count < GROUP && codes.decode_symbol::<P>(src, &mut at, &mut output).is_none() {
            break;
        }
    }
    bits.seek_bit(at);
    output.written
}

/// Decodes the literals of eight bits that `word` begins with, writes garbage to the rest of `to`, and returns the
/// number of literals.
#[inline(always)]
fn decode_group(litlen: &LitlenTable, word: u64, to: &mut [u8; GROUP]) -> usize {
    // `word` does not have all bits of the last index, but all bits of a code of eight.
    let entries: [_; GROUP] = std::array::from_fn(|i| litlen.lookup(word >> (i * 8)));
    for (byte, entry) in to.iter_mut().zip(entries) {
        *byte = entry.byte();
    }
    if entries.iter().fold(true, |all, entry| all & entry.is_literal_of_8_bits()) {
        return GROUP;
    }
    entries.iter().take_while(|entry| entry.is_literal_of_8_bits()).count()
}
