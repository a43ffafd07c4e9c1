//! Symbols, one at a time, from any bit of a stream.
//!
//! Owns what a symbol is, and where the next begins.

#![forbid(unsafe_code)]

use crate::codec::match_copy::Periods;

use super::output::Output;
use super::table::{DistanceTable, LitlenTable};

/// What a code stands for.
pub(super) enum Symbol {
    Literal(u8),
    Match {
        back: usize,
        length: usize,
    },
    /// The end of the block, or no code.
    Other,
}

/// The two tables of a block.
#[derive(Clone, Copy)]
pub(super) struct Codes<'a> {
    pub(super) litlen: &'a LitlenTable,
    pub(super) distance: &'a DistanceTable,
}

impl Codes<'_> {
    /// The symbol at bit `at` of `src`, and where the next begins.
    #[inline(always)]
    pub(super) fn symbol(self, src: &[u8], at: usize) -> Option<(Symbol, usize)> {
        let word = u64::from_le_bytes(*src.get(at / 8..)?.first_chunk::<8>()?) >> (at % 8);
        let mut entry = self.litlen.first(word);
        // 57 bits at least; a length takes 20 and a distance 28.
        let (mut rest, mut used) = (word, 0);
        if entry.is_link() {
            (rest, used) = (entry.shift(rest), entry.bits());
            entry = self.litlen.second(entry, rest);
        }
        if entry.is_literal() {
            return Some((Symbol::Literal(entry.byte()), at + (used + entry.bits()) as usize));
        }
        if entry.is_special() {
            return Some((Symbol::Other, at));
        }
        let length = entry.value(rest);
        (rest, used) = (entry.shift(rest), used + entry.bits());
        let mut entry = self.distance.first(rest);
        if entry.is_link() {
            (rest, used) = (entry.shift(rest), used + entry.bits());
            entry = self.distance.second(entry, rest);
        }
        if entry.is_special() {
            return Some((Symbol::Other, at));
        }
        let back = entry.value(rest);
        Some((Symbol::Match { back, length }, at + (used + entry.bits()) as usize))
    }

    /// Decodes the symbol at bit `at` of `src`, and moves both `at` and `output` on. `None`, and nothing done, if it is no
    /// literal or match, begins where no word can be read, or does not fit with room to spare.
    #[inline(always)]
    pub(super) fn decode<P: Periods>(self, src: &[u8], at: &mut usize, output: &mut Output) -> Option<()> {
        let (symbol, next) = self.symbol(src, *at)?;
        match symbol {
            Symbol::Literal(byte) if output.has_room(1) => output.literal(byte),
            Symbol::Match { back, length } => output.repeat::<P>(back, length)?,
            _ => return None,
        }
        *at = next;
        Some(())
    }
}
