//! Blocks of deflate (RFC 1951 3.2): the choice of the kind of a block, and its encoding.

use super::bit_writer::BitWriter;
use super::codes::{
    Codes, END_OF_BLOCK, FIRST_LENGTH_SYMBOL, FIXED_CODES, FIXED_DISTANCE_LENGTHS, FIXED_LITLEN_LENGTHS,
    LENGTH_SYMBOLS, NUM_DISTANCE_SYMBOLS, NUM_LITLEN_SYMBOLS, distance_extra_bits, distance_symbol,
    length_extra_bits,
};
use super::dynamic_codes::DynamicCodes;
use super::matches::{MIN_MATCH, Match};

/// The greatest length of a stored block in bytes.
const MAX_STORED_LEN: usize = 0xffff;

/// The weight of a stored byte in the choice of the kind of a block. Stored bytes are decoded much faster than all
/// others, so a stored block may be slightly longer.
const STORED_WEIGHT: f32 = 0.995;

/// The frequency of each symbol in a block.
pub(super) struct Frequencies {
    literals: [u32; NUM_LITLEN_SYMBOLS],
    distances: [u32; NUM_DISTANCE_SYMBOLS],
}

impl Frequencies {
    /// The frequencies of an empty block: one end-of-block symbol.
    pub(super) const NONE: Frequencies = {
        let mut literals = [0; NUM_LITLEN_SYMBOLS];
        literals[END_OF_BLOCK] = 1;
        Frequencies { literals, distances: [0; NUM_DISTANCE_SYMBOLS] }
    };

    #[inline(always)]
    pub(super) fn count_literal(&mut self, byte: u8) {
        self.literals[usize::from(byte)] += 1;
    }

    #[inline(always)]
    pub(super) fn count_match(&mut self, found: Match) {
        self.literals[FIRST_LENGTH_SYMBOL + usize::from(LENGTH_SYMBOLS[found.len - MIN_MATCH].0)] += 1;
        self.distances[distance_symbol(found.distance as u16).0] += 1;
    }

    /// Returns the length, in bits, of the symbols with codes of these lengths, extra bits included.
    fn coded_bits(&self, literals: &[u8], distances: &[u8]) -> u64 {
        let weigh = |count: u32, len: u8, extra: u32| u64::from(count) * u64::from(u32::from(len) + extra);
        let literals = self.literals.iter().zip(literals).enumerate().map(|(symbol, (&count, &len))| {
            weigh(count, len, symbol.checked_sub(FIRST_LENGTH_SYMBOL).map_or(0, length_extra_bits))
        });
        let distances = self
            .distances
            .iter()
            .zip(distances)
            .enumerate()
            .map(|(symbol, (&count, &len))| weigh(count, len, distance_extra_bits(symbol)));
        literals.sum::<u64>() + distances.sum::<u64>()
    }
}

/// A literal or a match of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockSymbol(u32);

impl BlockSymbol {
    /// Added to distances, so that no match equals a literal.
    const MATCH_BIAS: u32 = 0xff;
    const LENGTH_SHIFT: u32 = 24;

    #[inline(always)]
    pub(super) fn from_literal(byte: u8) -> BlockSymbol {
        BlockSymbol(u32::from(byte))
    }

    #[inline(always)]
    pub(super) fn from_match(found: Match) -> BlockSymbol {
        BlockSymbol(
            ((found.len - MIN_MATCH) as u32) << Self::LENGTH_SHIFT
                | (found.distance as u32 + Self::MATCH_BIAS),
        )
    }

    /// Returns the length and the distance of a match, both in bytes.
    #[inline(always)]
    fn as_match(self) -> (u16, u16) {
        let distance = (self.0 & ((1 << Self::LENGTH_SHIFT) - 1)) - Self::MATCH_BIAS;
        ((self.0 >> Self::LENGTH_SHIFT) as u16 + MIN_MATCH as u16, distance as u16)
    }

    /// Returns the byte of a literal; `None` of a match.
    #[inline(always)]
    fn as_literal(self) -> Option<u8> {
        u8::try_from(self.0).ok()
    }
}

/// Writes `src`, whose literals and matches are `entries`, as a block with dynamic codes, with the fixed codes, or
/// stored. Returns `None` if there is no room.
pub(super) fn write_symbols(
    frequencies: &Frequencies,
    entries: &[BlockSymbol],
    src: &[u8],
    is_last: bool,
    bits: &mut BitWriter<'_>,
) -> Option<()> {
    let dynamic = DynamicCodes::of(&frequencies.literals, &frequencies.distances);
    let coded = dynamic.header_bits + frequencies.coded_bits(&dynamic.litlen_lens, &dynamic.distance_lens);
    let fixed = frequencies.coded_bits(&FIXED_LITLEN_LENGTHS, &FIXED_DISTANCE_LENGTHS);
    let stored = 8 * (src.len() as u64 + 5 * src.len().div_ceil(MAX_STORED_LEN).max(1) as u64);
    let least = coded.min(fixed);
    if stored as f32 * STORED_WEIGHT < least as f32 {
        return write_stored(src, is_last, bits);
    }
    if (least / 8) as usize > bits.remaining() {
        return None;
    }
    let own;
    let codes: &Codes = if fixed <= coded {
        write_fixed_header(is_last, bits);
        &FIXED_CODES
    } else {
        bits.add_bits(u64::from(is_last) | 2 << 1, 3);
        dynamic.write_header(bits)?;
        own = Codes::of(&dynamic.litlen_lens, &dynamic.distance_lens);
        &own
    };
    bits.flush()?;
    let mut rest = entries;
    while let [entry, behind @ ..] = rest {
        rest = behind;
        let Some(byte) = entry.as_literal() else {
            let (len, distance) = entry.as_match();
            codes.write_match(len, distance, bits)?;
            continue;
        };
        // Up to 7 bits are buffered, and three literals have at most 45.
        codes.add_literal(byte, bits);
        if let Some(second) = rest.first().and_then(|entry| entry.as_literal()) {
            codes.add_literal(second, bits);
            rest = &rest[1..];
            if let Some(third) = rest.first().and_then(|entry| entry.as_literal()) {
                codes.add_literal(third, bits);
                rest = &rest[1..];
            }
        }
        bits.flush()?;
    }
    codes.write_end_of_block(bits)
}

/// Writes the header of a block with the fixed codes.
#[inline(always)]
pub(super) fn write_fixed_header(is_last: bool, bits: &mut BitWriter<'_>) {
    bits.add_bits(u64::from(is_last) | 1 << 1, 3);
}

/// Writes `src` as stored blocks. Returns `None` if there is no room.
pub(super) fn write_stored(src: &[u8], is_last: bool, bits: &mut BitWriter<'_>) -> Option<()> {
    let mut rest = src;
    loop {
        let (part, behind) = rest.split_at(rest.len().min(MAX_STORED_LEN));
        rest = behind;
        bits.add_bits(u64::from(is_last && rest.is_empty()), 1);
        bits.add_bits(0, 2);
        bits.align()?;
        let len = part.len() as u16;
        bits.add_bits(u64::from(len) | u64::from(!len) << 16, 32);
        bits.flush()?;
        bits.write_bytes(part)?;
        if rest.is_empty() {
            return Some(());
        }
    }
}
