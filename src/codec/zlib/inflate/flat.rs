//! Literals of a code in which nearly all have eight bits.
//!
//! Owns the loop that takes them all to be like that, and looks afterwards. What is not is decoded as a single symbol.
//!
//! Such is the code of noise whose bytes are all equally likely. The places of the next seven codes are known at once
//! then, and none has to wait for the length of the one before.

use crate::codec::match_copy::Periods;

use super::bits::Bits;
use super::output::Output;
use super::symbol::Codes;
use super::table::LitlenTable;

/// How many codes of eight bits a word has from any bit on.
const GROUP: usize = 7;

/// Decodes symbols from `out` on until the block ends, one of the buffers is nearly used up, or something is wrong, which is
/// left to whoever decodes the next symbol. Returns how far `dest` is filled.
#[inline(always)]
pub(super) fn symbols<P: Periods>(codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize) -> usize {
    let Some(mut at) = bits.position() else { return out };
    let src = bits.src;
    let mut output = Output { dest, out };
    while output.has_room(GROUP)
        && let Some(word) = src.get(at / 8..).and_then(|rest| rest.first_chunk::<8>())
    {
        let word = u64::from_le_bytes(*word) >> (at % 8);
        let Some(to) = output.dest[output.out..].first_chunk_mut() else { break };
        let count = group(codes.litlen, word, to);
        output.out += count;
        at += count * 8;
        if count < GROUP && codes.decode::<P>(src, &mut at, &mut output).is_none() {
            break;
        }
    }
    bits.seek(at);
    output.out
}

/// Decodes as many literals of eight bits as `word` begins with, and writes something to the rest of `to`. Returns how many.
#[inline(always)]
fn group(litlen: &LitlenTable, word: u64, to: &mut [u8; GROUP]) -> usize {
    // Of the last index, not all bits are in the word; those of a code of eight are.
    let entries: [_; GROUP] = std::array::from_fn(|i| litlen.first(word >> (i * 8)));
    for (byte, entry) in to.iter_mut().zip(entries) {
        *byte = entry.byte();
    }
    if entries.iter().fold(true, |all, entry| all & entry.is_literal_of_8_bits()) {
        return GROUP;
    }
    entries.iter().take_while(|entry| entry.is_literal_of_8_bits()).count()
}
