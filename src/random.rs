//! Random numbers for unit tests.

/// A generator with a seed: a test that fails does so again.
pub(crate) struct Random(pub u64);

impl Random {
    /// Returns the next number of SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn bytes(&mut self, len: usize, bound: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(bound) as u8).collect()
    }
}
