//! The bits of a deflate stream, lowest first.
//!
//! Owns the position in the stream. Never reads past its end: there it returns zeros, and counts them.

#![forbid(unsafe_code)]

/// The number of bytes that one round of the fast loop may read ahead: two refills of a word each, of which seven bytes
/// at most are consumed.
pub(super) const READ_AHEAD: usize = 16;

/// A reader of bits that buffers the next ones in a word.
pub(super) struct BitReader<'a> {
    pub(super) src: &'a [u8],
    /// The first byte that is not counted in `valid_bits`.
    pub(super) pos: usize,
    /// The next bits. Those above `valid_bits` are either zero or the bits that follow in the stream.
    pub(super) word: u64,
    /// The number of valid bits of `word`.
    pub(super) valid_bits: u32,
    /// The number of bytes, counted in `valid_bits` or consumed, that are zeros from beyond the end.
    zeros_past_end: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        BitReader { src, pos: 0, word: 0, valid_bits: 0, zeros_past_end: 0 }
    }

    /// Fills `word` to at least 56 valid bits.
    pub(super) fn refill(&mut self) {
        if let Some(next) = self.src.get(self.pos..).and_then(|rest| rest.first_chunk::<8>()) {
            self.word |= u64::from_le_bytes(*next) << self.valid_bits;
            self.pos += (63 - self.valid_bits as usize) / 8;
            self.valid_bits |= 56;
            return;
        }
        while self.valid_bits < 56 {
            match self.src.get(self.pos) {
                Some(&byte) => {
                    self.word |= u64::from(byte) << self.valid_bits;
                    self.pos += 1;
                }
                None => self.zeros_past_end += 1,
            }
            self.valid_bits += 8;
        }
    }

    /// Returns the bytes not yet counted in `valid_bits`, followed by zeros, if they are fewer than [`READ_AHEAD`].
    pub(super) fn copy_tail(&self) -> Option<[u8; 2 * READ_AHEAD]> {
        let rest = self.src.get(self.pos..).filter(|rest| rest.len() < READ_AHEAD)?;
        let mut tail = [0; 2 * READ_AHEAD];
        tail[..rest.len()].copy_from_slice(rest);
        Some(tail)
    }

    /// Returns a reader that continues in `tail`, a copy of this reader's tail.
    pub(super) fn over_tail<'b>(&self, tail: &'b [u8; 2 * READ_AHEAD]) -> BitReader<'b> {
        BitReader { src: tail, pos: 0, word: self.word, valid_bits: self.valid_bits, zeros_past_end: 0 }
    }

    /// Continues where a reader of [`over_tail`](Self::over_tail) ended, given its `pos`, `word` and `valid_bits`.
    pub(super) fn resume_after_tail(&mut self, copy: (usize, u64, u32)) {
        let (pos, word, valid_bits) = copy;
        let inside = pos.min(self.src.len() - self.pos);
        self.pos += inside;
        self.zeros_past_end += pos - inside;
        (self.word, self.valid_bits) = (word, valid_bits);
    }

    /// Returns the next bits without consuming them.
    pub(super) fn peek(&self) -> u64 {
        self.word
    }

    /// Consumes `count` of the bits that a refill provided.
    pub(super) fn consume(&mut self, count: u32) {
        debug_assert!(count <= self.valid_bits);
        self.word >>= count;
        self.valid_bits -= count;
    }

    pub(super) fn read_bits(&mut self, count: u32) -> u64 {
        let bits = self.word & ((1 << count) - 1);
        self.consume(count);
        bits
    }

    /// Returns `None` if bits from beyond the end have been consumed.
    pub(super) fn check_not_past_end(&self) -> Option<()> {
        (self.zeros_past_end * 8 <= self.valid_bits as usize).then_some(())
    }

    /// Returns the position of the next whole byte, or `None` if it is beyond the end.
    pub(super) fn byte_position(&self) -> Option<usize> {
        let ahead = (self.valid_bits as usize / 8).checked_sub(self.zeros_past_end)?;
        self.pos.checked_sub(ahead)
    }

    /// Drops the rest of the current byte, and returns all bytes from the next one on; `None` if that is beyond the
    /// end.
    pub(super) fn rest_at_byte(&mut self) -> Option<&'a [u8]> {
        self.pos = self.byte_position()?;
        (self.word, self.valid_bits, self.zeros_past_end) = (0, 0, 0);
        self.src.get(self.pos..)
    }

    /// Skips `count` bytes of those that [`BitReader::rest_at_byte`] returned.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.pos += count;
    }
}
