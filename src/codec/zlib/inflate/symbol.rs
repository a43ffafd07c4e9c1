//! The decoding of single symbols, from any bit of a stream.
//!
//! Owns the meaning of a symbol, and the position of the next one.

#![forbid(unsafe_code)]

use crate::codec::match_copy::MatchCopy;

use super::output::InflateOutput;
use super::table::{DistanceTable, LitlenTable};

/// The meaning of a code.
pub(super) enum Symbol {
    Literal(u8),
    Match {
        distance: usize,
        length: usize,
    },
    /// The end of the block, or bits that are no code.
    EndOrInvalid,
}

/// The two decoding tables of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockTables<'a> {
    pub(super) litlen: &'a LitlenTable,
    pub(super) distance: &'a DistanceTable,
}

impl BlockTables<'_> {
    /// Returns the symbol at bit `at` of `src`, and the position of the next one in bits; `None` if fewer than eight
    /// bytes are left there.
    #[inline(always)]
    pub(super) fn read_symbol(self, src: &[u8], at: usize) -> Option<(Symbol, usize)> {
        let word = u64::from_le_bytes(*src.get(at / 8..)?.first_chunk::<8>()?) >> (at % 8);
        let mut entry = self.litlen.lookup(word);
        // `word` has at least 57 bits; a length takes at most 20 and a distance 28.
        let (mut rest, mut used) = (word, 0);
        if entry.is_link() {
            (rest, used) = (entry.shift(rest), entry.bits());
            entry = self.litlen.lookup_second(entry, rest);
        }
        if entry.is_literal() {
            return Some((Symbol::Literal(entry.byte()), at + (used + entry.bits()) as usize));
        }
        if entry.is_special() {
            return Some((Symbol::EndOrInvalid, at));
        }
        let length = entry.value(rest);
        (rest, used) = (entry.shift(rest), used + entry.bits());
        let mut entry = self.distance.lookup(rest);
        if entry.is_link() {
            (rest, used) = (entry.shift(rest), used + entry.bits());
            entry = self.distance.lookup_second(entry, rest);
        }
        if entry.is_special() {
            return Some((Symbol::EndOrInvalid, at));
        }
        let distance = entry.value(rest);
        Some((Symbol::Match { distance, length }, at + (used + entry.bits()) as usize))
    }

    /// Decodes the symbol at bit `at` of `src` into `output`, and moves `at` to the next symbol. Returns `None`, and
    /// changes nothing, if it is no literal or match, begins where no word can be read, or does not fit with room for
    /// wide writes.
    #[inline(always)]
    pub(super) fn decode_symbol<P: MatchCopy>(
        self,
        src: &[u8],
        at: &mut usize,
        output: &mut InflateOutput,
    ) -> Option<()> {
        let (symbol, next) = self.read_symbol(src, *at)?;
        match symbol {
            Symbol::Literal(byte) if output.has_room(1) => output.append_literal(byte),
            Symbol::Match { distance, length } => output.append_match::<P>(distance, length)?,
            _ => return None,
        }
        *at = next;
        Some(())
    }
}
