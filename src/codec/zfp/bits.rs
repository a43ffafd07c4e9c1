//! Streams of bits, the lowest bit of the first byte first (`codecs.md` 10.1).

/// Writes bits in words of 64.
pub(super) struct ZfpBitWriter<'a> {
    dest: &'a mut [u8],
    /// The number of bytes written.
    at: usize,
    /// The bits of the incomplete word, and their number, which is below 64.
    word: u64,
    count: u32,
    full: bool,
}

impl<'a> ZfpBitWriter<'a> {
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        ZfpBitWriter { dest, at: 0, word: 0, count: 0, full: false }
    }

    /// Writes the low `count` bits of `value`, at most 64. The other bits of `value` are 0.
    #[inline(always)]
    pub(super) fn write_bits(&mut self, value: u64, count: u32) {
        self.word |= value << self.count;
        self.count += count;
        if self.count >= 64 {
            self.count -= 64;
            self.flush();
            // The bits that did not fit. There are none if `count` is 0, which cannot fill a word.
            self.word = value.checked_shr(count - self.count).unwrap_or(0);
        }
    }

    #[inline(always)]
    fn flush(&mut self) {
        match self.dest.get_mut(self.at..self.at + 8) {
            Some(room) => room.copy_from_slice(&self.word.to_le_bytes()),
            None => self.full = true,
        }
        self.at += 8;
    }

    /// Writes `count` bits 0.
    #[inline(always)]
    pub(super) fn pad(&mut self, count: u32) {
        let total = self.count + count;
        if total < 64 {
            self.count = total;
            return;
        }
        for _ in 0..total / 64 {
            self.flush();
            self.word = 0;
        }
        self.count = total % 64;
    }

    /// Returns whether bits did not fit into the destination.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Writes the last word and returns the number of bytes written, whole words; `None` if they did not fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        if self.count > 0 {
            self.flush();
        }
        (!self.full).then_some(self.at)
    }
}

/// Reads bits; behind the end they are 0.
///
/// The next bits are held in a word: [`ZfpBitReader::ensure_bits`] loads them, [`ZfpBitReader::peek`] returns them,
/// [`ZfpBitReader::consume`] skips some.
pub(super) struct ZfpBitReader<'a> {
    src: &'a [u8],
    /// The position in `src`, in bits.
    at: usize,
    /// The bits from there on, and the number of them that are valid.
    word: u64,
    valid_bits: u32,
}

/// The largest number of bits that can be read ahead.
pub(super) const MAX_PEEK_BITS: u32 = 57;

impl<'a> ZfpBitReader<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        ZfpBitReader::from_bit(src, 0)
    }

    pub(super) fn from_bit(src: &'a [u8], at: usize) -> Self {
        ZfpBitReader { src, at, word: 0, valid_bits: 0 }
    }

    /// Loads at least `count` bits, at most [`MAX_PEEK_BITS`], for [`ZfpBitReader::peek`].
    #[inline(always)]
    pub(super) fn ensure_bits(&mut self, count: u32) {
        if self.valid_bits < count {
            self.refill();
        }
    }

    #[inline(always)]
    fn refill(&mut self) {
        let (byte, bit) = (self.at / 8, self.at % 8);
        let word = match self.src.get(byte..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => self.last_word(byte),
        };
        (self.word, self.valid_bits) = (word >> bit, MAX_PEEK_BITS);
    }

    #[cold]
    fn last_word(&self, byte: usize) -> u64 {
        let mut word = [0; 8];
        let rest = self.src.get(byte..).unwrap_or_default();
        let len = rest.len().min(8);
        word[..len].copy_from_slice(&rest[..len]);
        u64::from_le_bytes(word)
    }

    /// Returns the next bits: [`ZfpBitReader::valid_bits`] valid ones, then unspecified ones.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        self.word
    }

    /// Returns the number of valid bits of [`ZfpBitReader::peek`].
    #[inline(always)]
    pub(super) fn valid_bits(&self) -> u32 {
        self.valid_bits
    }

    /// Skips `count` bits, which must have been loaded.
    #[inline(always)]
    pub(super) fn consume(&mut self, count: u32) {
        debug_assert!(count <= self.valid_bits);
        self.word >>= count;
        self.valid_bits -= count;
        self.at += count as usize;
    }

    /// Reads the next `count` bits, at most 64.
    #[inline(always)]
    pub(super) fn read_bits(&mut self, count: u32) -> u64 {
        self.ensure_bits(count.min(MAX_PEEK_BITS));
        if count <= MAX_PEEK_BITS {
            let bits = self.word & ((1 << count) - 1);
            self.consume(count);
            return bits;
        }
        let low = self.word & ((1 << 32) - 1);
        self.consume(32);
        self.ensure_bits(32);
        let high = self.word & ((1 << (count - 32)) - 1);
        self.consume(count - 32);
        low | high << 32
    }

    /// Skips the zeros before the next bit 1, at most `most` of them, and returns their number.
    #[inline(always)]
    pub(super) fn skip_zeros(&mut self, most: u32) -> u32 {
        let mut rest = most;
        loop {
            self.ensure_bits(1);
            let zeros = self.word.trailing_zeros().min(self.valid_bits).min(rest);
            let is_done = zeros < self.valid_bits || zeros == rest;
            self.consume(zeros);
            rest -= zeros;
            if is_done {
                return most - rest;
            }
        }
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        if count <= self.valid_bits {
            self.consume(count);
        } else {
            self.at += count as usize;
            self.valid_bits = 0;
        }
    }

    /// Returns whether bits behind the last word were read.
    pub(super) fn is_past_end(&self) -> bool {
        self.at > self.src.len().div_ceil(8) * 64
    }
}
