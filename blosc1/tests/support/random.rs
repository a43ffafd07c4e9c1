//! Pseudo-random numbers and contents.

/// A generator of pseudo-random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Returns `len` bytes: noise, one value, numbers, words, or small values.
    pub fn content(&mut self, len: usize) -> Vec<u8> {
        match self.below(5) {
            0 => (0..len).map(|_| self.next() as u8).collect(),
            1 => vec![self.next() as u8; len],
            2 => {
                let step = 1 + self.below(50) as u32;
                (0..len.div_ceil(4) as u32).flat_map(|i| (i * step).to_le_bytes()).take(len).collect()
            }
            3 => {
                let words: Vec<Vec<u8>> = (0..16)
                    .map(|_| {
                        let len = 1 + self.below(12);
                        (0..len).map(|_| self.next() as u8).collect()
                    })
                    .collect();
                let mut bytes = Vec::with_capacity(len + 16);
                while bytes.len() < len {
                    bytes.extend_from_slice(&words[self.below(16)]);
                }
                bytes.truncate(len);
                bytes
            }
            _ => (0..len).map(|_| (self.next() % 11 % 5) as u8).collect(),
        }
    }
}

/// Returns a number from the environment, or the default.
pub fn from_environment(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}
