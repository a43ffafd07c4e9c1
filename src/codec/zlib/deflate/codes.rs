//! The symbols of literals, match lengths and distances (RFC 1951 3.2.5), and their codes as they are written.

use super::bit_writer::BitWriter;
use super::huffman::{self, Code};

/// The number of symbols of literals and match lengths, and of distances.
pub(super) const NUM_LITLEN_SYMBOLS: usize = 286;
pub(super) const NUM_DISTANCE_SYMBOLS: usize = 30;
/// The symbol of the end of a block, and the first one of match lengths.
pub(super) const END_OF_BLOCK: usize = 256;
pub(super) const FIRST_LENGTH_SYMBOL: usize = 257;

/// For each match length less 3: its symbol less [`FIRST_LENGTH_SYMBOL`], and the first length of that symbol less 3.
pub(super) const LENGTH_SYMBOLS: [(u8, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut len = 0;
    while len < 256 {
        table[len] = if len < 8 {
            (len as u8, len as u8)
        } else if len == 255 {
            (28, 255)
        } else {
            let extra = len.ilog2() - 2;
            let symbol = 4 * extra as usize + (len >> extra);
            (symbol as u8, (len >> extra << extra) as u8)
        };
        len += 1;
    }
    table
};

pub(super) const fn length_extra_bits(symbol: usize) -> u32 {
    if symbol < 8 || symbol == 28 { 0 } else { (symbol as u32 - 4) / 4 }
}

pub(super) const fn distance_extra_bits(symbol: usize) -> u32 {
    if symbol < 4 { 0 } else { (symbol as u32 - 2) / 2 }
}

/// Returns the symbol of a distance, and the value of its extra bits.
#[inline(always)]
pub(super) fn distance_symbol(distance: u16) -> (usize, u32) {
    let d = u32::from(distance) - 1;
    if d < 4 {
        return (d as usize, 0);
    }
    let extra = d.ilog2() - 1;
    ((2 * extra + (d >> extra)) as usize, d & ((1 << extra) - 1))
}

/// The lengths in bits of the fixed codes (RFC 1951 3.2.6).
pub(super) const FIXED_LITLEN_LENGTHS: [u8; 288] = {
    let mut lens = [8; 288];
    let mut i = 144;
    while i < 280 {
        lens[i] = if i < 256 { 9 } else { 7 };
        i += 1;
    }
    lens
};
pub(super) const FIXED_DISTANCE_LENGTHS: [u8; NUM_DISTANCE_SYMBOLS] = [5; NUM_DISTANCE_SYMBOLS];

/// The codes of a block, as they are written.
pub(super) struct Codes {
    literals: [Code; 288],
    distances: [Code; NUM_DISTANCE_SYMBOLS],
    /// For each match length less 3: the code with its extra bits, and their number.
    lengths: [(u32, u32); 256],
}

pub(super) static FIXED_CODES: Codes = Codes::of(&FIXED_LITLEN_LENGTHS, &FIXED_DISTANCE_LENGTHS);

impl Codes {
    /// Returns the canonical codes of these lengths in bits.
    pub(super) const fn of(literal_lens: &[u8], distance_lens: &[u8]) -> Codes {
        let literals: [Code; 288] = huffman::canonical_codes(literal_lens);
        let mut lengths = [(0, 0); 256];
        let mut len = 0;
        while len < lengths.len() {
            let (symbol, base) = LENGTH_SYMBOLS[len];
            let code = literals[FIRST_LENGTH_SYMBOL + symbol as usize];
            let extra = length_extra_bits(symbol as usize);
            lengths[len] =
                (code.bits as u32 | (len as u32 - base as u32) << code.len, code.len as u32 + extra);
            len += 1;
        }
        Codes { literals, distances: huffman::canonical_codes(distance_lens), lengths }
    }

    /// Writes literals, with a flush after every `PER_FLUSH` of them: their codes, with the bits added since the last
    /// flush, must have at most 57 bits. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn write_literals<const PER_FLUSH: usize>(
        &self,
        bytes: &[u8],
        bits: &mut BitWriter<'_>,
    ) -> Option<()> {
        let (parts, rest) = bytes.as_chunks::<PER_FLUSH>();
        for part in parts {
            part.iter().for_each(|&byte| self.add_literal(byte, bits));
            bits.flush()?;
        }
        rest.iter().for_each(|&byte| self.add_literal(byte, bits));
        bits.flush()
    }

    /// Adds the code of a literal: at most 15 bits.
    #[inline(always)]
    pub(super) fn add_literal(&self, byte: u8, bits: &mut BitWriter<'_>) {
        let code = self.literals[usize::from(byte)];
        bits.add_bits(u64::from(code.bits), u32::from(code.len));
    }

    /// Writes a match of [`MIN_MATCH`](super::matches::MIN_MATCH)`..=`[`MAX_MATCH`](super::matches::MAX_MATCH) bytes.
    /// Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn write_match(&self, len: u16, distance: u16, bits: &mut BitWriter<'_>) -> Option<()> {
        // At most 15 + 5 bits for the length, and 15 + 13 for the distance.
        let (code, count) = self.lengths[usize::from(len) - 3];
        bits.add_bits(u64::from(code), count);
        let (symbol, value) = distance_symbol(distance);
        let code = self.distances[symbol];
        bits.add_bits(u64::from(code.bits), u32::from(code.len));
        bits.add_bits(u64::from(value), distance_extra_bits(symbol));
        bits.flush()
    }

    /// Writes the end-of-block symbol. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn write_end_of_block(&self, bits: &mut BitWriter<'_>) -> Option<()> {
        let end = self.literals[END_OF_BLOCK];
        bits.add_bits(u64::from(end.bits), u32::from(end.len));
        bits.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_those_of_the_rfc() {
        let symbol = |len: usize| {
            let (symbol, base) = LENGTH_SYMBOLS[len - 3];
            (
                FIRST_LENGTH_SYMBOL + usize::from(symbol),
                len - 3 - usize::from(base),
                length_extra_bits(usize::from(symbol)),
            )
        };
        assert_eq!([3, 10, 11, 12, 13, 18, 19].map(symbol).map(|s| s.0), [257, 264, 265, 265, 266, 268, 269]);
        assert_eq!(symbol(22), (269, 3, 2));
        assert_eq!(symbol(257), (284, 30, 5));
        assert_eq!(symbol(258), (285, 0, 0));
        assert_eq!([1, 4, 5, 6, 7, 24577, 32768].map(|d| distance_symbol(d).0), [0, 3, 4, 4, 5, 29, 29]);
        assert_eq!(distance_symbol(32768), (29, 8191));
        assert_eq!([3, 4, 5, 29].map(distance_extra_bits), [0, 1, 1, 13]);
    }
}
