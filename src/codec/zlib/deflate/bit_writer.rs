//! A writer of bits into bytes, lowest bit first.

/// Writes bits to a buffer.
pub(super) struct BitWriter<'a> {
    dest: &'a mut [u8],
    len: usize,
    buffer: u64,
    buffered_bits: u32,
}

impl<'a> BitWriter<'a> {
    /// Returns a writer to the start of `dest`.
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        BitWriter { dest, len: 0, buffer: 0, buffered_bits: 0 }
    }

    /// Returns the number of bytes of `dest` that have not been written; buffered bits do not count as written.
    pub(super) fn remaining(&self) -> usize {
        self.dest.len() - self.len
    }

    /// Adds the lowest `count` bits of `bits`, whose other bits must be 0. At most 57 bits may be added before a
    /// [`flush`](Self::flush).
    #[inline(always)]
    pub(super) fn add_bits(&mut self, bits: u64, count: u32) {
        debug_assert!(self.buffered_bits + count <= 64 && (count == 64 || bits >> count == 0));
        self.buffer |= bits << self.buffered_bits;
        self.buffered_bits += count;
    }

    /// Writes all complete bytes. Returns `None` if there is no room.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Option<()> {
        let whole = (self.buffered_bits / 8) as usize;
        if let Some(dest) = self.dest[self.len..].first_chunk_mut::<8>() {
            *dest = self.buffer.to_le_bytes();
        } else {
            self.dest
                .get_mut(self.len..self.len + whole)?
                .copy_from_slice(&self.buffer.to_le_bytes()[..whole]);
        }
        self.len += whole;
        // At most 64 bits were buffered, 7 that remained and 57 that were added; a shift by all 64 leaves none.
        self.buffer = self.buffer.checked_shr(8 * whole as u32).unwrap_or(0);
        self.buffered_bits %= 8;
        Some(())
    }

    /// Returns the position of the next bit, in bits from the start of `dest`.
    pub(super) fn position(&self) -> usize {
        8 * self.len + self.buffered_bits as usize
    }

    /// Sets the bit at `position`, which must have been flushed, to 1.
    pub(super) fn set_bit(&mut self, position: usize) {
        self.dest[position / 8] |= 1 << (position % 8);
    }

    /// Fills the current byte with zeros. Returns `None` if there is no room.
    pub(super) fn align(&mut self) -> Option<()> {
        self.buffered_bits = self.buffered_bits.next_multiple_of(8);
        self.flush()
    }

    /// Writes bytes; the bits before them must end at a byte boundary. Returns `None` if there is no room.
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> Option<()> {
        debug_assert_eq!(self.buffered_bits, 0);
        self.dest.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// Fills the last byte with zeros. Returns the number of bytes written, or `None` if there is no room.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.align()?;
        Some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_written_lowest_first_and_only_inside_dest() {
        for room in 0..40 {
            let mut dest = [0xa5; 48];
            let mut bits = BitWriter::new(&mut dest[..room]);
            let mut expected: Vec<bool> = vec![];
            let mut fits = true;
            for i in 0..60u32 {
                let (value, count) = (u64::from(i * 37 % 32), 5);
                bits.add_bits(value, count);
                expected.extend((0..count).map(|bit| value >> bit & 1 == 1));
                fits = bits.flush().is_some();
                if !fits {
                    break;
                }
            }
            let len = if fits { bits.finish() } else { None };
            assert_eq!(len, (room >= 38).then_some(38), "{room}");
            assert!(dest[room..].iter().all(|&byte| byte == 0xa5));
            if len.is_some() {
                for (i, &bit) in expected.iter().enumerate() {
                    assert_eq!(dest[i / 8] >> (i % 8) & 1 == 1, bit);
                }
            }
        }
    }
}
