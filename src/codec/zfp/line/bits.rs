//! Streams of bits, the lowest bit of the first byte first (`codecs.md` 10.1).

/// Writes bits in words of 64.
pub struct Writer<'a> {
    dest: &'a mut [u8],
    /// Bytes that are written.
    at: usize,
    /// Bits that wait for their word to be full, and how many: fewer than 64.
    word: u64,
    count: u32,
    full: bool,
}

impl<'a> Writer<'a> {
    pub fn new(dest: &'a mut [u8]) -> Self {
        Writer { dest, at: 0, word: 0, count: 0, full: false }
    }

    /// The low `count` bits of `value`, whose others are 0; at most 63.
    #[inline(always)]
    pub fn put(&mut self, value: u64, count: u32) {
        self.word |= value << self.count;
        self.count += count;
        if self.count >= 64 {
            self.count -= 64;
            self.flush();
            // What did not fit; nothing of a value of 0 bits, which cannot fill a word.
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

    /// So many bits 0.
    #[inline(always)]
    pub fn pad(&mut self, count: u32) {
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

    /// Whether bits were lost.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The bytes written, whole words; `None` if they did not fit.
    pub fn finish(mut self) -> Option<usize> {
        if self.count > 0 {
            self.flush();
        }
        (!self.full).then_some(self.at)
    }
}

/// Reads bits; behind the end they are 0.
pub struct Reader<'a> {
    src: &'a [u8],
    /// In bits.
    at: usize,
}

/// At least so many bits are in what [`Reader::peek`] gives.
pub const PEEKED: u32 = 57;

impl<'a> Reader<'a> {
    pub fn new(src: &'a [u8]) -> Self {
        Reader { src, at: 0 }
    }

    /// The next bits, [`PEEKED`] of them and maybe more.
    #[inline(always)]
    pub fn peek(&self) -> u64 {
        let (byte, bit) = (self.at / 8, self.at % 8);
        let word = match self.src.get(byte..byte + 8) {
            Some(bytes) => u64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            None => self.last_word(byte),
        };
        word >> bit
    }

    #[cold]
    fn last_word(&self, byte: usize) -> u64 {
        let mut word = [0; 8];
        let rest = self.src.get(byte..).unwrap_or_default();
        let len = rest.len().min(8);
        word[..len].copy_from_slice(&rest[..len]);
        u64::from_le_bytes(word)
    }

    /// The next `count` bits, at most 32.
    #[inline(always)]
    pub fn take(&mut self, count: u32) -> u64 {
        let bits = self.peek() & ((1 << count) - 1);
        self.skip(count);
        bits
    }

    #[inline(always)]
    pub fn skip(&mut self, count: u32) {
        self.at += count as usize;
    }

    /// Whether bits were read behind the last word.
    pub fn is_past_end(&self) -> bool {
        self.at > self.src.len().div_ceil(8) * 64
    }
}
