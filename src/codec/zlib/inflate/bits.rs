//! The bits of a deflate stream, lowest first.
//!
//! Owns the position in the stream. Never reads past its end: there it hands out zeros, and counts them.

#![forbid(unsafe_code)]

/// How far one round of the fast loop may read ahead: two refills of a word each, of which seven bytes at most are
/// consumed.
pub(super) const READ_AHEAD: usize = 16;

/// A reader of bits that holds the next few in a word.
pub(super) struct Bits<'a> {
    pub(super) src: &'a [u8],
    /// The first byte that is not counted in `left`.
    pub(super) pos: usize,
    /// The next bits. Those above `left` are either zero or already what will be there.
    pub(super) word: u64,
    /// How many bits of `word` count.
    pub(super) left: u32,
    /// How many of the bytes counted in `left` or consumed are zeros from beyond the end.
    beyond: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        Bits { src, pos: 0, word: 0, left: 0, beyond: 0 }
    }

    /// Makes at least 56 bits count.
    pub(super) fn refill(&mut self) {
        if let Some(next) = self.src.get(self.pos..).and_then(|rest| rest.first_chunk::<8>()) {
            self.word |= u64::from_le_bytes(*next) << self.left;
            self.pos += (63 - self.left as usize) / 8;
            self.left |= 56;
            return;
        }
        while self.left < 56 {
            match self.src.get(self.pos) {
                Some(&byte) => {
                    self.word |= u64::from(byte) << self.left;
                    self.pos += 1;
                }
                None => self.beyond += 1,
            }
            self.left += 8;
        }
    }

    /// The bytes not yet counted, if there are fewer than [`READ_AHEAD`], and zeros behind them.
    pub(super) fn tail(&self) -> Option<[u8; 2 * READ_AHEAD]> {
        let rest = self.src.get(self.pos..).filter(|rest| rest.len() < READ_AHEAD)?;
        let mut tail = [0; 2 * READ_AHEAD];
        tail[..rest.len()].copy_from_slice(rest);
        Some(tail)
    }

    /// The same reader, going on in a copy of its tail.
    pub(super) fn over_tail<'b>(&self, tail: &'b [u8; 2 * READ_AHEAD]) -> Bits<'b> {
        Bits { src: tail, pos: 0, word: self.word, left: self.left, beyond: 0 }
    }

    /// Comes back from a copy of the tail.
    pub(super) fn return_from(&mut self, copy: (usize, u64, u32)) {
        let (pos, word, left) = copy;
        let inside = pos.min(self.src.len() - self.pos);
        self.pos += inside;
        self.beyond += pos - inside;
        (self.word, self.left) = (word, left);
    }

    /// The next bits, not consumed.
    pub(super) fn peek(&self) -> u64 {
        self.word
    }

    /// Consumes `count` of the bits that a refill provided.
    pub(super) fn consume(&mut self, count: u32) {
        debug_assert!(count <= self.left);
        self.word >>= count;
        self.left -= count;
    }

    /// Consumes and returns `count` bits.
    pub(super) fn take(&mut self, count: u32) -> u64 {
        let bits = self.word & ((1 << count) - 1);
        self.consume(count);
        bits
    }

    /// `None` if bits from beyond the end have been consumed.
    pub(super) fn check(&self) -> Option<()> {
        (self.beyond * 8 <= self.left as usize).then_some(())
    }

    /// The position of the next whole byte, if it is not beyond the end.
    pub(super) fn byte_position(&self) -> Option<usize> {
        let ahead = (self.left as usize / 8).checked_sub(self.beyond)?;
        self.pos.checked_sub(ahead)
    }

    /// How many bits have been consumed, unless some are from beyond the end.
    pub(super) fn position(&self) -> Option<usize> {
        (self.beyond == 0).then_some(self.pos * 8 - self.left as usize)
    }

    /// Goes on `position` bits behind the beginning.
    pub(super) fn seek(&mut self, position: usize) {
        (self.pos, self.word, self.left) = (position / 8, 0, 0);
        self.refill();
        self.consume((position % 8) as u32);
    }

    /// Drops the rest of the current byte, and returns all bytes from the next.
    pub(super) fn rest_at_byte(&mut self) -> Option<&'a [u8]> {
        self.pos = self.byte_position()?;
        (self.word, self.left, self.beyond) = (0, 0, 0);
        self.src.get(self.pos..)
    }

    /// Skips `count` bytes of what [`Bits::rest_at_byte`] returned.
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.pos += count;
    }
}
