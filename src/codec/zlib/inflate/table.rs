//! The decoding tables of Huffman codes, built from code lengths (RFC 1951 3.2.2): arrays that are indexed by the next
//! bits of the stream.
//!
//! Owns the layout of an entry and the checks on a set of code lengths. Never reads a stream.
//!
//! An entry holds everything about a symbol. Codes longer than the first index lead through a link to a second table in
//! the same array.

#![forbid(unsafe_code)]

/// The longest code of deflate, in bits.
const MAX_CODE_LEN: usize = 15;
const END_OF_BLOCK: usize = 256;

/// The number of index bits and of entries of each table: as many entries as the worst code needs.
pub(super) type LitlenTable = HuffmanTable<11, 2342>;
pub(super) type DistanceTable = HuffmanTable<8, 402>;

/// The meaning of the next bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Entry(u32);

impl Entry {
    const LITERAL: u32 = 1 << 31;
    const SPECIAL: u32 = 1 << 15;
    const LINK: u32 = 1 << 14;
    const END: u32 = 1 << 13;
    /// The bits are no code, or a code that deflate leaves unused.
    const INVALID: Entry = Entry(Self::SPECIAL);

    /// Returns a symbol with `value`, followed by `extra` bits that are added to it;
    /// [`with_code_len`](Self::with_code_len) sets the length of its code.
    const fn symbol(value: u16, extra: u8) -> Entry {
        Entry((value as u32) << 16 | extra as u32)
    }

    const fn literal(byte: u8) -> Entry {
        Entry(Self::LITERAL | (byte as u32) << 16)
    }

    /// Returns the same symbol, for a code of which `bits` are left to consume.
    fn with_code_len(self, bits: usize) -> Entry {
        Entry(self.0 + (bits as u32) * 0x101)
    }

    fn link(start: usize, index_bits: usize, second_bits: usize) -> Entry {
        Entry(
            Self::SPECIAL | Self::LINK | (start as u32) << 16 | (second_bits as u32) << 8 | index_bits as u32,
        )
    }

    /// Returns whether this is a literal; [`Entry::byte`] then returns its byte.
    #[inline(always)]
    pub(super) fn is_literal(self) -> bool {
        self.0 & Self::LITERAL != 0
    }

    /// Returns whether this is not a symbol with a value: a link, the end of the block, or no code.
    #[inline(always)]
    pub(super) fn is_special(self) -> bool {
        self.0 & Self::SPECIAL != 0
    }

    /// Returns whether this is a link to a second table.
    #[inline(always)]
    pub(super) fn is_link(self) -> bool {
        self.0 & Self::LINK != 0
    }

    #[inline(always)]
    pub(super) fn is_end(self) -> bool {
        self.0 & Self::END != 0
    }

    #[inline(always)]
    pub(super) fn byte(self) -> u8 {
        (self.0 >> 16) as u8
    }

    /// Returns the number of bits to consume, the extra ones included.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.0 & 0x3f
    }

    /// Returns `word` without the bits to consume.
    #[inline(always)]
    pub(super) fn shift(self, word: u64) -> u64 {
        // The low six bits of the entry hold nothing but the number of bits.
        word.wrapping_shr(self.0)
    }

    /// Returns `left` minus the number of bits to consume, in its low six bits; the others become garbage.
    #[inline(always)]
    pub(super) fn subtract_from(self, left: u32) -> u32 {
        left.wrapping_sub(self.0)
    }

    /// Returns the value of a symbol that has one, with the extra bits that follow the code in `word`.
    #[inline(always)]
    pub(super) fn value(self, word: u64) -> usize {
        let used = word & ((1 << self.bits()) - 1);
        // The six bits from bit 8 on hold nothing but the length of the code.
        (self.0 >> 16) as usize + used.wrapping_shr(self.0 >> 8) as usize
    }

    /// Returns the index of the entry for `bits` in a link's second table; `bits` must not contain the first index any
    /// more.
    #[inline(always)]
    pub(super) fn second_index(self, bits: u64) -> usize {
        ((self.0 >> 16) as usize & 0x7fff) + (bits as usize & ((1 << (self.0 >> 8 & 0xf)) - 1))
    }
}

/// A decoding table of `LEN` entries whose first index has `INDEX_BITS` bits.
#[derive(Clone)]
pub(super) struct HuffmanTable<const INDEX_BITS: usize, const LEN: usize>(pub(super) [Entry; LEN]);

impl<const INDEX_BITS: usize, const LEN: usize> Default for HuffmanTable<INDEX_BITS, LEN> {
    fn default() -> Self {
        HuffmanTable([Entry::INVALID; LEN])
    }
}

impl<const INDEX_BITS: usize, const LEN: usize> HuffmanTable<INDEX_BITS, LEN> {
    /// Returns the entry for the next `bits`, possibly a link.
    #[inline(always)]
    pub(super) fn lookup(&self, bits: u64) -> Entry {
        const { assert!(LEN >= 1 << INDEX_BITS) };
        self.0[bits as usize & ((1 << INDEX_BITS) - 1)]
    }

    /// Returns the entry that `link` leads to; `bits` must not contain the first index any more.
    #[inline(always)]
    pub(super) fn lookup_second(&self, link: Entry, bits: u64) -> Entry {
        self.0.get(link.second_index(bits)).copied().unwrap_or(Entry::INVALID)
    }

    /// Fills the table for the code in which symbol `i` has `lens[i]` bits (0: it does not occur) and means
    /// `symbols[i]`. Returns `None` if the lengths make no valid code. A code with unused bit strings is valid only if
    /// it has at most one symbol, of one bit.
    pub(super) fn build(&mut self, lens: &[u8], symbols: &[Entry]) -> Option<()> {
        let mut counts = [0usize; MAX_CODE_LEN + 1];
        for &len in lens {
            *counts.get_mut(usize::from(len))? += 1;
        }
        counts[0] = 0;
        let longest = counts.iter().rposition(|&count| count != 0).unwrap_or(0);
        let mut unused = 1usize;
        for &count in &counts[1..] {
            unused = (unused * 2).checked_sub(count)?;
        }
        if unused != 0 {
            if longest > 1 {
                return None;
            }
            self.0[..1 << INDEX_BITS].fill(Entry::INVALID);
        }

        // The symbols in the order of their codes.
        let mut next = [0usize; MAX_CODE_LEN + 2];
        for len in 1..=MAX_CODE_LEN {
            next[len + 1] = next[len] + counts[len];
        }
        let mut order = [0u16; 288];
        for (symbol, &len) in lens.iter().enumerate().filter(|(_, len)| **len != 0) {
            *order.get_mut(next[usize::from(len)])? = symbol as u16;
            next[usize::from(len)] += 1;
        }
        let mut order = order[..counts.iter().sum()].iter().map(|&symbol| usize::from(symbol));

        // Codes that are not longer than the index: the entries for `len` bits, doubled for each bit more.
        let mut code = 0;
        for (len, &count) in counts.iter().enumerate().take(INDEX_BITS + 1).skip(1) {
            if unused == 0 {
                self.0.copy_within(..1 << (len - 1), 1 << (len - 1));
            }
            for symbol in order.by_ref().take(count) {
                let entry = symbols.get(symbol)?.with_code_len(len);
                if unused == 0 {
                    self.0[code] = entry;
                } else {
                    // The only code has one bit: every other entry.
                    self.0[..1 << INDEX_BITS].iter_mut().step_by(2).for_each(|slot| *slot = entry);
                }
                code = next_code(code, len);
            }
        }

        // Longer codes: a second table for each first index.
        let (mut start, mut second_bits, mut index) = (1 << INDEX_BITS, 0, usize::MAX);
        for len in INDEX_BITS + 1..=longest {
            let mut left = counts[len];
            for symbol in order.by_ref().take(counts[len]) {
                let rest = len - INDEX_BITS;
                if code & ((1 << INDEX_BITS) - 1) != index {
                    // As many bits as the codes that begin with this index need.
                    start += if index == usize::MAX { 0 } else { 1 << second_bits };
                    index = code & ((1 << INDEX_BITS) - 1);
                    second_bits = rest;
                    let mut free = (1usize << rest).saturating_sub(left);
                    while free > 0 && second_bits + INDEX_BITS < longest {
                        second_bits += 1;
                        free = (free * 2).saturating_sub(counts[second_bits + INDEX_BITS]);
                    }
                    self.0[index] = Entry::link(start, INDEX_BITS, second_bits);
                }
                let entry = symbols.get(symbol)?.with_code_len(rest);
                let second = self.0.get_mut(start..start + (1 << second_bits))?;
                second[code >> INDEX_BITS..].iter_mut().step_by(1 << rest).for_each(|slot| *slot = entry);
                code = next_code(code, len);
                left -= 1;
            }
        }
        Some(())
    }
}

/// Returns the code after `code` among those of `len` bits; the first bit of a code is its lowest.
fn next_code(code: usize, len: usize) -> usize {
    // An increment with reversed bits: the carry goes from the highest bit down.
    let mut bit = 1 << (len - 1);
    while code & bit != 0 {
        bit >>= 1;
    }
    if bit == 0 { 0 } else { (code & (bit - 1)) | bit }
}

/// The meanings of the literal/length symbols.
pub(super) const LITLEN_SYMBOLS: [Entry; 288] = {
    let mut symbols = [Entry::INVALID; 288];
    let mut i = 0;
    while i < 256 {
        symbols[i] = Entry::literal(i as u8);
        i += 1;
    }
    symbols[END_OF_BLOCK] = Entry(Entry::SPECIAL | Entry::END);
    // 8 lengths without extra bits, then four for each number of them; 258 has a symbol of its own.
    let (mut length, mut i) = (3, 0);
    while i < 28 {
        let extra = if i < 8 { 0 } else { (i - 4) / 4 };
        symbols[257 + i] = Entry::symbol(length, extra as u8);
        length += 1 << extra;
        i += 1;
    }
    symbols[285] = Entry::symbol(258, 0);
    symbols
};

/// The meanings of the distance symbols.
pub(super) const DISTANCE_SYMBOLS: [Entry; 32] = {
    let mut symbols = [Entry::INVALID; 32];
    let (mut distance, mut i) = (1, 0);
    while i < 30 {
        let extra = if i < 4 { 0 } else { (i - 2) / 2 };
        symbols[i] = Entry::symbol(distance, extra as u8);
        distance += 1 << extra;
        i += 1;
    }
    symbols
};

/// The meanings of the symbols of code lengths: their own numbers.
pub(super) const LENGTH_CODE_SYMBOLS: [Entry; 19] = {
    let mut symbols = [Entry::INVALID; 19];
    let mut i = 0;
    while i < 19 {
        symbols[i] = Entry::symbol(i as u16, 0);
        i += 1;
    }
    symbols
};
