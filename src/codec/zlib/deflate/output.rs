//! The blocks of a stream at levels 2 to 9.

use super::bits::Bits;
use super::block::{self, Frequencies};
use super::literals;
use super::matches::Match;

/// The greatest number of literals and matches of a block: that of zlib, whose buffer has 2^14 entries, one of them
/// unused.
const MOST: usize = (1 << 14) - 1;

/// The literals and matches of a block in their order, and their frequencies.
pub(super) struct Symbols {
    entries: [block::Entry; MOST],
    /// The number of entries: less than [`MOST`] between two calls.
    len: usize,
    frequencies: Frequencies,
}

impl Symbols {
    fn clear(&mut self) {
        self.len = 0;
        self.frequencies = Frequencies::NONE;
    }
}

/// Writes literals and matches as blocks.
pub(super) struct Output<'a, 'b> {
    src: &'a [u8],
    symbols: &'a mut Symbols,
    bits: Bits<'b>,
    /// The position of the first byte of the current block.
    start: usize,
    /// Whether the last block has been written.
    is_complete: bool,
}

impl<'a, 'b> Output<'a, 'b> {
    /// Returns a writer that encodes the stream `src` to the start of `dest`.
    pub(super) fn new(symbols: &'a mut Symbols, src: &'a [u8], dest: &'b mut [u8]) -> Self {
        symbols.clear();
        Output { src, symbols, bits: Bits::new(dest), start: 0, is_complete: false }
    }

    /// Writes the byte at `at`. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn literal(&mut self, at: usize) -> Option<()> {
        let byte = self.src[at];
        self.symbols.frequencies.literal(byte);
        self.push(block::Entry::literal(byte), at + 1)
    }

    /// Writes a match at `at`. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn repetition(&mut self, at: usize, found: Match) -> Option<()> {
        self.symbols.frequencies.repetition(found);
        self.push(block::Entry::repetition(found), at + found.len)
    }

    #[inline(always)]
    fn push(&mut self, entry: block::Entry, end: usize) -> Option<()> {
        let symbols = &mut *self.symbols;
        symbols.entries[symbols.len] = entry;
        symbols.len += 1;
        if symbols.len < MOST { Some(()) } else { self.end_block(end, false) }
    }

    #[inline(never)]
    fn end_block(&mut self, end: usize, is_last: bool) -> Option<()> {
        let Symbols { entries, len, frequencies } = &*self.symbols;
        block::symbols(frequencies, &entries[..*len], &self.src[self.start..end], is_last, &mut self.bits)?;
        self.symbols.clear();
        self.start = end;
        Some(())
    }

    /// Writes the bytes up to `end` as blocks of literals. Returns `None` if there is no room.
    pub(super) fn literals(&mut self, at: usize, end: usize) -> Option<()> {
        if at > self.start {
            self.end_block(at, false)?;
        }
        self.start = end;
        self.is_complete = end == self.src.len();
        literals::write(&self.src[at..end], self.is_complete, &mut self.bits)
    }

    /// Ends the stream. Returns its length in bytes, or `None` if it does not fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        if !self.is_complete {
            self.end_block(self.src.len(), true)?;
        }
        self.bits.finish()
    }
}
