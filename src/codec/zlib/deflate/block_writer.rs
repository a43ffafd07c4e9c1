//! The blocks of a stream at levels 2 to 9.

use super::bit_writer::BitWriter;
use super::block::{self, Frequencies};
use super::matches::Match;

/// The greatest number of literals and matches of a block: that of zlib, whose buffer has 2^14 entries, one of them
/// unused.
const MAX_BLOCK_SYMBOLS: usize = (1 << 14) - 1;

/// The literals and matches of a block in their order, and their frequencies.
pub(super) struct SymbolBuffer {
    entries: [block::BlockSymbol; MAX_BLOCK_SYMBOLS],
    /// The number of entries: less than [`MAX_BLOCK_SYMBOLS`] between two calls.
    len: usize,
    frequencies: Frequencies,
}

impl SymbolBuffer {
    fn clear(&mut self) {
        self.len = 0;
        self.frequencies = Frequencies::NONE;
    }
}

/// Writes literals and matches as blocks.
pub(super) struct BlockWriter<'a, 'b> {
    src: &'a [u8],
    symbols: &'a mut SymbolBuffer,
    bits: BitWriter<'b>,
    /// The position of the first byte of the current block.
    block_start: usize,
}

impl<'a, 'b> BlockWriter<'a, 'b> {
    /// Returns a writer that encodes the stream `src` to the start of `dest`.
    pub(super) fn new(symbols: &'a mut SymbolBuffer, src: &'a [u8], dest: &'b mut [u8]) -> Self {
        symbols.clear();
        BlockWriter { src, symbols, bits: BitWriter::new(dest), block_start: 0 }
    }

    /// Writes the byte at `at`. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn write_literal(&mut self, at: usize) -> Option<()> {
        let byte = self.src[at];
        self.symbols.frequencies.count_literal(byte);
        self.push(block::BlockSymbol::from_literal(byte), at + 1)
    }

    /// Writes a match at `at`. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn write_match(&mut self, at: usize, found: Match) -> Option<()> {
        self.symbols.frequencies.count_match(found);
        self.push(block::BlockSymbol::from_match(found), at + found.len)
    }

    #[inline(always)]
    fn push(&mut self, entry: block::BlockSymbol, end: usize) -> Option<()> {
        let symbols = &mut *self.symbols;
        symbols.entries[symbols.len] = entry;
        symbols.len += 1;
        if symbols.len < MAX_BLOCK_SYMBOLS { Some(()) } else { self.end_block(end, false) }
    }

    #[inline(never)]
    fn end_block(&mut self, end: usize, is_last: bool) -> Option<()> {
        let SymbolBuffer { entries, len, frequencies } = &*self.symbols;
        block::write_symbols(
            frequencies,
            &entries[..*len],
            &self.src[self.block_start..end],
            is_last,
            &mut self.bits,
        )?;
        self.symbols.clear();
        self.block_start = end;
        Some(())
    }

    /// Ends the stream. Returns its length in bytes, or `None` if it does not fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.end_block(self.src.len(), true)?;
        self.bits.finish()
    }
}
