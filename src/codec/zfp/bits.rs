//! Streams of bits, the lowest bit of the first byte first (`codecs.md` 10.1).

/// Writes bits in words of 64.
pub(super) struct Writer<'a> {
    dest: &'a mut [u8],
    /// The number of bytes written.
    at: usize,
    /// The bits of the incomplete word, and their number, which is below 64.
    word: u64,
    count: u32,
    full: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        Writer { dest, at: 0, word: 0, count: 0, full: false }
    }

    /// Writes the low `count` bits of `value`, at most 64. The other bits of `value` are 0.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
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
/// The next bits are held in a word: [`Reader::need`] loads them, [`Reader::ahead`] returns them, [`Reader::drop`]
/// skips some.
pub(super) struct Reader<'a> {
    src: &'a [u8],
    /// The position in `src`, in bits.
    at: usize,
    /// The bits from there on, and the number of them that are valid.
    word: u64,
    known: u32,
}

/// The largest number of bits that can be read ahead.
pub(super) const MOST_AHEAD: u32 = 57;

impl<'a> Reader<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        Reader::from_bit(src, 0)
    }

    /// Returns a reader that begins at bit `at` of `src`.
    pub(super) fn from_bit(src: &'a [u8], at: usize) -> Self {
        Reader { src, at, word: 0, known: 0 }
    }

    /// Loads at least `count` bits, at most [`MOST_AHEAD`], for [`Reader::ahead`].
    #[inline(always)]
    pub(super) fn need(&mut self, count: u32) {
        if self.known < count {
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
        (self.word, self.known) = (word >> bit, MOST_AHEAD);
    }

    #[cold]
    fn last_word(&self, byte: usize) -> u64 {
        let mut word = [0; 8];
        let rest = self.src.get(byte..).unwrap_or_default();
        let len = rest.len().min(8);
        word[..len].copy_from_slice(&rest[..len]);
        u64::from_le_bytes(word)
    }

    /// Returns the next bits: [`Reader::known`] valid ones, then unspecified ones.
    #[inline(always)]
    pub(super) fn ahead(&self) -> u64 {
        self.word
    }

    /// Returns the number of valid bits of [`Reader::ahead`].
    #[inline(always)]
    pub(super) fn known(&self) -> u32 {
        self.known
    }

    /// Skips `count` bits, which must have been loaded.
    #[inline(always)]
    pub(super) fn drop(&mut self, count: u32) {
        debug_assert!(count <= self.known);
        self.word >>= count;
        self.known -= count;
        self.at += count as usize;
    }

    /// Reads the next `count` bits, at most 64.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        self.need(count.min(MOST_AHEAD));
        if count <= MOST_AHEAD {
            let bits = self.word & ((1 << count) - 1);
            self.drop(count);
            return bits;
        }
        let low = self.word & ((1 << 32) - 1);
        self.drop(32);
        self.need(32);
        let high = self.word & ((1 << (count - 32)) - 1);
        self.drop(count - 32);
        low | high << 32
    }

    /// Skips the zeros before the next bit 1, at most `most` of them, and returns their number.
    #[inline(always)]
    pub(super) fn skip_zeros(&mut self, most: u32) -> u32 {
        let mut rest = most;
        loop {
            self.need(1);
            let zeros = self.word.trailing_zeros().min(self.known).min(rest);
            let is_done = zeros < self.known || zeros == rest;
            self.drop(zeros);
            rest -= zeros;
            if is_done {
                return most - rest;
            }
        }
    }

    /// Skips any number of bits.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        if count <= self.known {
            self.drop(count);
        } else {
            self.at += count as usize;
            self.known = 0;
        }
    }

    /// Returns whether bits behind the last word were read.
    pub(super) fn is_past_end(&self) -> bool {
        self.at > self.src.len().div_ceil(8) * 64
    }
}
