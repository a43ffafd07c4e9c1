//! Blocks of deflate (RFC 1951 3.2): literals with codes of their own or stored, and anything with the fixed codes.

use std::sync::LazyLock;

use super::bits::Bits;
use super::huffman::{self, Code};
use super::matches::{LEAST, Match};

const LITERALS: usize = 286;
const DISTANCES: usize = 30;
const END: usize = 256;
const FIRST_LENGTH: usize = 257;
/// Symbols of the code that codes the lengths of the other two, and the order in which theirs are written.
const META_SYMBOLS: usize = 19;
const META_ORDER: [usize; META_SYMBOLS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const META_LIMIT: usize = 7;
/// The most bytes of a stored block.
const MOST_STORED: usize = 0xffff;

/// What a stored byte counts for in the choice of the kind of a block: as stored bytes are decoded so much faster than any
/// others, they may be a little more.
const STORED_WEIGHT: f32 = 0.995;

/// Bits that the codes of a block take, about, and bits that a stored block takes before its bytes.
const HEADER_BITS: f32 = 600.0;
const STORED_BITS: f32 = 40.0;

/// For each length of a repetition, less 3: its symbol, and the first length of that.
const LENGTH_SYMBOLS: [(u8, u8); 256] = {
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

/// Returns the number of extra bits of a symbol of lengths.
const fn length_extra(symbol: usize) -> u32 {
    if symbol < 8 || symbol == 28 { 0 } else { (symbol as u32 - 4) / 4 }
}

/// Extra bits of a symbol of distances.
const fn distance_extra(symbol: usize) -> u32 {
    if symbol < 4 { 0 } else { (symbol as u32 - 2) / 2 }
}

/// The symbol of a distance, and what is left for the extra bits.
#[inline(always)]
fn distance_symbol(distance: u16) -> (usize, u32) {
    let d = u32::from(distance) - 1;
    if d < 4 {
        return (d as usize, 0);
    }
    let extra = d.ilog2() - 1;
    ((2 * extra + (d >> extra)) as usize, d & ((1 << extra) - 1))
}

/// How often each value occurs among literals.
#[derive(Clone)]
pub struct Counts([u32; 256]);

impl Counts {
    pub const NONE: Counts = Counts([0; 256]);

    pub fn of(literals: &[u8]) -> Counts {
        // Several tables: counting equal bytes in one would make each wait for the one before.
        let mut tables = [[0u32; 256]; 4];
        let (quads, rest) = literals.as_chunks::<4>();
        for quad in quads {
            for (table, &byte) in tables.iter_mut().zip(quad) {
                table[usize::from(byte)] += 1;
            }
        }
        for &byte in rest {
            tables[0][usize::from(byte)] += 1;
        }
        Counts(std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum()))
    }

    /// Returns the counts of both.
    pub fn with(&self, other: &Counts) -> Counts {
        Counts(std::array::from_fn(|byte| self.0[byte] + other.0[byte]))
    }

    /// Estimates the bits of a block of these literals: with the best codes for them, or stored.
    pub fn bits(&self) -> f32 {
        let total: u32 = self.0.iter().sum();
        let weight = |n: u32| n as f32 * log2(n);
        let coded = weight(total) - self.0.iter().map(|&count| weight(count)).sum::<f32>();
        (HEADER_BITS + coded).min(total as f32 * 8.0 * STORED_WEIGHT + STORED_BITS)
    }
}

/// Returns the binary logarithm of `n`, to within 0.01; 0 for 0.
fn log2(n: u32) -> f32 {
    let bits = (n.max(1) as f32).to_bits();
    let mantissa = f32::from_bits(bits & 0x7f_ffff | 1f32.to_bits());
    // A parabola that is right at 1 and 2.
    (bits >> 23) as f32 - 127.0 + (2.0 - (mantissa - 1.0) / 3.0 - 2.0 / 3.0) * (mantissa - 1.0)
}

/// The codes of a block with codes of its own, and how they are told.
struct Dynamic {
    literals: [u8; LITERALS],
    distances: [u8; DISTANCES],
    /// The lengths of both as symbols with the values of their extra bits.
    told: Told,
    nliterals: usize,
    ndistances: usize,
    meta: [u8; META_SYMBOLS],
    nmeta: usize,
    /// Bits of all that comes before the data.
    bits: u64,
}

/// Lengths as symbols with the values of their extra bits.
struct Told {
    symbols: [(u8, u8); LITERALS + DISTANCES],
    len: usize,
}

impl Told {
    fn push(&mut self, symbol: u8, value: usize) {
        self.symbols[self.len] = (symbol, value as u8);
        self.len += 1;
    }

    fn symbols(&self) -> &[(u8, u8)] {
        &self.symbols[..self.len]
    }
}

/// Extra bits of a symbol that tells lengths.
fn meta_extra(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

/// How often each symbol occurs in a block.
pub struct Frequencies {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
}

impl Frequencies {
    /// Those of an empty block, which has its end.
    pub const NONE: Frequencies = {
        let mut literals = [0; LITERALS];
        literals[END] = 1;
        Frequencies { literals, distances: [0; DISTANCES] }
    };

    /// Counts a literal.
    #[inline(always)]
    pub fn literal(&mut self, byte: u8) {
        self.literals[usize::from(byte)] += 1;
    }

    /// Counts a match.
    #[inline(always)]
    pub fn repetition(&mut self, found: Match) {
        self.literals[FIRST_LENGTH + usize::from(LENGTH_SYMBOLS[found.len - LEAST].0)] += 1;
        self.distances[distance_symbol(found.distance as u16).0] += 1;
    }

    /// Bits of the symbols with codes of these lengths, extra bits among them.
    fn bits(&self, literals: &[u8], distances: &[u8]) -> u64 {
        let weigh = |count: u32, len: u8, extra: u32| u64::from(count) * u64::from(u32::from(len) + extra);
        let literals = self.literals.iter().zip(literals).enumerate().map(|(symbol, (&count, &len))| {
            weigh(count, len, symbol.checked_sub(FIRST_LENGTH).map_or(0, length_extra))
        });
        let distances = self
            .distances
            .iter()
            .zip(distances)
            .enumerate()
            .map(|(symbol, (&count, &len))| weigh(count, len, distance_extra(symbol)));
        literals.sum::<u64>() + distances.sum::<u64>()
    }
}

/// A literal, or a match, of a block.
#[derive(Clone, Copy)]
pub struct Entry(u32);

impl Entry {
    /// What is added to distances, so that no match is taken for a literal.
    const MATCH: u32 = 0xff;
    const LENGTH_SHIFT: u32 = 24;

    #[inline(always)]
    pub fn literal(byte: u8) -> Entry {
        Entry(u32::from(byte))
    }

    #[inline(always)]
    pub fn repetition(found: Match) -> Entry {
        Entry(((found.len - LEAST) as u32) << Self::LENGTH_SHIFT | (found.distance as u32 + Self::MATCH))
    }

    /// Returns the length and the distance of a match, both in bytes.
    #[inline(always)]
    fn as_match(self) -> (u16, u16) {
        let distance = (self.0 & ((1 << Self::LENGTH_SHIFT) - 1)) - Self::MATCH;
        ((self.0 >> Self::LENGTH_SHIFT) as u16 + LEAST as u16, distance as u16)
    }

    /// Returns the byte of a literal; `None` of a match.
    #[inline(always)]
    fn as_literal(self) -> Option<u8> {
        u8::try_from(self.0).ok()
    }
}

/// Writes a block of these symbols, which stand for `src`, with codes of its own, with the fixed codes or stored. Returns `None` if
/// there is no room.
pub fn symbols(
    frequencies: &Frequencies,
    entries: &[Entry],
    src: &[u8],
    is_last: bool,
    bits: &mut Bits<'_>,
) -> Option<()> {
    let dynamic = Dynamic::of(&frequencies.literals, &frequencies.distances);
    let coded = dynamic.bits + frequencies.bits(&dynamic.literals, &dynamic.distances);
    let fixed = frequencies.bits(&FIXED_LITERALS, &FIXED_DISTANCES);
    let stored = 8 * (src.len() as u64 + 5 * src.len().div_ceil(MOST_STORED).max(1) as u64);
    let least = coded.min(fixed);
    if stored as f32 * STORED_WEIGHT < least as f32 {
        return store(src, is_last, bits);
    }
    if (least / 8) as usize > bits.room() {
        return None;
    }
    let own;
    let codes: &Codes = if fixed <= coded {
        begin_fixed(is_last, bits);
        &FIXED
    } else {
        bits.put(u64::from(is_last) | 2 << 1, 3);
        dynamic.write(bits)?;
        own = Codes::of(&dynamic.literals, &dynamic.distances);
        &own
    };
    bits.flush()?;
    let mut rest = entries;
    while let [entry, behind @ ..] = rest {
        rest = behind;
        let Some(byte) = entry.as_literal() else {
            let (len, distance) = entry.as_match();
            codes.repetition(len, distance, bits)?;
            continue;
        };
        // Up to 7 bits wait, and three literals have 45 at the most.
        codes.put(byte, bits);
        if let Some(second) = rest.first().and_then(|entry| entry.as_literal()) {
            codes.put(second, bits);
            rest = &rest[1..];
            if let Some(third) = rest.first().and_then(|entry| entry.as_literal()) {
                codes.put(third, bits);
                rest = &rest[1..];
            }
        }
        bits.flush()?;
    }
    codes.end(bits)
}

impl Dynamic {
    fn of(literal_counts: &[u32; LITERALS], distance_counts: &[u32; DISTANCES]) -> Dynamic {
        let mut literals = [0; LITERALS];
        let mut distances = [0; DISTANCES];
        huffman::lengths(literal_counts, huffman::MAX_LEN, &mut literals);
        huffman::lengths(distance_counts, huffman::MAX_LEN, &mut distances);
        let used =
            |lens: &[u8], least: usize| lens.iter().rposition(|&len| len > 0).map_or(0, |i| i + 1).max(least);
        let (nliterals, ndistances) = (used(&literals, FIRST_LENGTH), used(&distances, 1));
        let told = tell(literals[..nliterals].iter().chain(&distances[..ndistances]).copied());
        let mut meta_counts = [0; META_SYMBOLS];
        for &(symbol, _) in told.symbols() {
            meta_counts[usize::from(symbol)] += 1;
        }
        let mut meta = [0; META_SYMBOLS];
        huffman::lengths(&meta_counts, META_LIMIT, &mut meta);
        let nmeta = META_ORDER.iter().rposition(|&symbol| meta[symbol] > 0).map_or(0, |i| i + 1).max(4);
        let told_bits: u32 = told
            .symbols()
            .iter()
            .map(|&(symbol, _)| u32::from(meta[usize::from(symbol)]) + meta_extra(symbol))
            .sum();
        let bits = 5 + 5 + 4 + 3 * nmeta as u64 + u64::from(told_bits);
        Dynamic { literals, distances, told, nliterals, ndistances, meta, nmeta, bits }
    }

    fn write(&self, bits: &mut Bits<'_>) -> Option<()> {
        bits.put((self.nliterals - FIRST_LENGTH) as u64, 5);
        bits.put((self.ndistances - 1) as u64, 5);
        bits.put((self.nmeta - 4) as u64, 4);
        bits.flush()?;
        for &symbol in &META_ORDER[..self.nmeta] {
            bits.put(u64::from(self.meta[symbol]), 3);
            bits.flush()?;
        }
        let mut codes = [Code::default(); META_SYMBOLS];
        huffman::codes(&self.meta, &mut codes);
        for &(symbol, value) in self.told.symbols() {
            let code = codes[usize::from(symbol)];
            bits.put(u64::from(code.bits), u32::from(code.len));
            bits.put(u64::from(value), meta_extra(symbol));
            bits.flush()?;
        }
        Some(())
    }
}

/// Lengths as symbols: themselves, or "the last one 3 to 6 times more", or "3 to 10" and "11 to 138 times 0".
fn tell(lens: impl Iterator<Item = u8>) -> Told {
    // No symbol stands for less than a length.
    let mut told = Told { symbols: [(0, 0); LITERALS + DISTANCES], len: 0 };
    let mut lens = lens.peekable();
    while let Some(len) = lens.next() {
        let mut run = 1usize;
        while lens.next_if_eq(&len).is_some() {
            run += 1;
        }
        if len != 0 {
            told.push(len, 0);
            run -= 1;
        }
        while run > 0 {
            let part = match len {
                0 if run >= 11 => {
                    let part = run.min(138);
                    told.push(18, part - 11);
                    part
                }
                0 if run >= 3 => {
                    told.push(17, run - 3);
                    run
                }
                1.. if run >= 3 => {
                    let part = run.min(6);
                    told.push(16, part - 3);
                    part
                }
                _ => {
                    told.push(len, 0);
                    1
                }
            };
            run -= part;
        }
    }
    told
}

/// Lengths of the codes that every decoder knows.
const FIXED_LITERALS: [u8; 288] = {
    let mut lens = [8; 288];
    let mut i = 144;
    while i < 280 {
        lens[i] = if i < 256 { 9 } else { 7 };
        i += 1;
    }
    lens
};
const FIXED_DISTANCES: [u8; DISTANCES] = [5; DISTANCES];

/// Writes literals with these counts as a block, or several that are stored. Returns `None` if there is no room.
pub fn literals(counts: &Counts, src: &[u8], is_last: bool, bits: &mut Bits<'_>) -> Option<()> {
    let mut symbols = Frequencies::NONE.literals;
    symbols[..256].copy_from_slice(&counts.0);
    let dynamic = Dynamic::of(&symbols, &[0; DISTANCES]);
    let of =
        |lens: &[u8]| counts.0.iter().zip(lens).map(|(&n, &len)| u64::from(n) * u64::from(len)).sum::<u64>();
    let coded = dynamic.bits + of(&dynamic.literals) + u64::from(dynamic.literals[END]);
    let stored = 8 * (src.len() as u64 + 5 * src.len().div_ceil(MOST_STORED).max(1) as u64);
    if stored as f32 * STORED_WEIGHT < coded as f32 {
        return store(src, is_last, bits);
    }
    if (coded / 8) as usize > bits.room() {
        return None;
    }
    bits.put(u64::from(is_last) | 2 << 1, 3);
    dynamic.write(bits)?;
    let codes = Codes::of(&dynamic.literals, &dynamic.distances);
    bits.flush()?;
    // Up to 7 bits wait, and three codes have 45 at the most.
    codes.literals::<3>(src, bits)?;
    codes.end(bits)
}

/// Begins a block with the codes that every decoder knows.
#[inline(always)]
pub fn begin_fixed(is_last: bool, bits: &mut Bits<'_>) {
    bits.put(u64::from(is_last) | 1 << 1, 3);
}

/// The codes of a block, ready to be written.
pub struct Codes {
    literals: [Code; 288],
    distances: [Code; DISTANCES],
    /// For each length of a repetition, less 3: the code with its extra bits, and how many bits these are.
    lengths: [(u32, u32); 256],
}

/// The codes that every decoder knows.
pub static FIXED: LazyLock<Codes> = LazyLock::new(|| Codes::of(&FIXED_LITERALS, &FIXED_DISTANCES));

impl Codes {
    fn of(literal_lens: &[u8], distance_lens: &[u8]) -> Codes {
        let mut literals = [Code::default(); 288];
        let mut distances = [Code::default(); DISTANCES];
        huffman::codes(literal_lens, &mut literals);
        huffman::codes(distance_lens, &mut distances);
        let lengths = std::array::from_fn(|len| {
            let (symbol, base) = LENGTH_SYMBOLS[len];
            let code = literals[FIRST_LENGTH + usize::from(symbol)];
            let extra = length_extra(usize::from(symbol));
            (u32::from(code.bits) | (len as u32 - u32::from(base)) << code.len, u32::from(code.len) + extra)
        });
        Codes { literals, distances, lengths }
    }

    /// Writes literals, so many before each flush: 57 bits at the most.
    #[inline(always)]
    pub fn literals<const AT_ONCE: usize>(&self, bytes: &[u8], bits: &mut Bits<'_>) -> Option<()> {
        let (parts, rest) = bytes.as_chunks::<AT_ONCE>();
        for part in parts {
            part.iter().for_each(|&byte| self.put(byte, bits));
            bits.flush()?;
        }
        rest.iter().for_each(|&byte| self.put(byte, bits));
        bits.flush()
    }

    /// Adds the code of a literal: 15 bits at the most.
    #[inline(always)]
    fn put(&self, byte: u8, bits: &mut Bits<'_>) {
        let code = self.literals[usize::from(byte)];
        bits.put(u64::from(code.bits), u32::from(code.len));
    }

    /// Writes a repetition of [`LEAST`](super::matches::LEAST)`..=`[`MOST`](super::matches::MOST) bytes.
    #[inline(always)]
    pub fn repetition(&self, len: u16, distance: u16, bits: &mut Bits<'_>) -> Option<()> {
        // 15 + 5 bits, and 15 + 13.
        let (code, count) = self.lengths[usize::from(len) - 3];
        bits.put(u64::from(code), count);
        let (symbol, value) = distance_symbol(distance);
        let code = self.distances[symbol];
        bits.put(u64::from(code.bits), u32::from(code.len));
        bits.put(u64::from(value), distance_extra(symbol));
        bits.flush()
    }

    /// Writes the end of the block.
    #[inline(always)]
    pub fn end(&self, bits: &mut Bits<'_>) -> Option<()> {
        let end = self.literals[END];
        bits.put(u64::from(end.bits), u32::from(end.len));
        bits.flush()
    }
}

/// Writes `src` as stored blocks.
pub fn store(src: &[u8], is_last: bool, bits: &mut Bits<'_>) -> Option<()> {
    let mut rest = src;
    loop {
        let (part, behind) = rest.split_at(rest.len().min(MOST_STORED));
        rest = behind;
        bits.put(u64::from(is_last && rest.is_empty()), 1);
        bits.put(0, 2);
        bits.align()?;
        let len = part.len() as u16;
        bits.put(u64::from(len) | u64::from(!len) << 16, 32);
        bits.flush()?;
        bits.bytes(part)?;
        if rest.is_empty() {
            return Some(());
        }
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
                FIRST_LENGTH + usize::from(symbol),
                len - 3 - usize::from(base),
                length_extra(usize::from(symbol)),
            )
        };
        assert_eq!([3, 10, 11, 12, 13, 18, 19].map(symbol).map(|s| s.0), [257, 264, 265, 265, 266, 268, 269]);
        assert_eq!(symbol(22), (269, 3, 2));
        assert_eq!(symbol(257), (284, 30, 5));
        assert_eq!(symbol(258), (285, 0, 0));
        assert_eq!([1, 4, 5, 6, 7, 24577, 32768].map(|d| distance_symbol(d).0), [0, 3, 4, 4, 5, 29, 29]);
        assert_eq!(distance_symbol(32768), (29, 8191));
        assert_eq!([3, 4, 5, 29].map(distance_extra), [0, 1, 1, 13]);
    }

    #[test]
    fn lengths_are_told_as_runs() {
        let tell = |lens: &[u8]| tell(lens.iter().copied()).symbols().to_vec();
        assert_eq!(tell(&[3, 3, 3]), [(3, 0), (3, 0), (3, 0)]);
        assert_eq!(tell(&[3; 8]), [(3, 0), (16, 3), (3, 0)]);
        assert_eq!(tell(&[0; 2]), [(0, 0), (0, 0)]);
        assert_eq!(tell(&[0; 10]), [(17, 7)]);
        assert_eq!(tell(&[0; 139]), [(18, 127), (0, 0)]);
    }
}
