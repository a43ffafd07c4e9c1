//! Bits, the lowest first, into bytes.

/// A writer of bits.
pub(super) struct Bits<'a> {
    dest: &'a mut [u8],
    len: usize,
    waiting: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    /// A writer to the start of `dest`.
    pub(super) fn new(dest: &'a mut [u8]) -> Self {
        Bits { dest, len: 0, waiting: 0, count: 0 }
    }

    /// Bytes that are left, less what waits.
    pub(super) fn room(&self) -> usize {
        self.dest.len() - self.len
    }

    /// Adds the lowest `count` bits of `bits`, the others of which are 0. No more than 57 may be added before a
    /// [`flush`](Self::flush).
    #[inline(always)]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(self.count + count <= 64 && (count == 64 || bits >> count == 0));
        self.waiting |= bits << self.count;
        self.count += count;
    }

    /// Writes all bytes that are whole; `None` if there is no room.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Option<()> {
        let whole = (self.count / 8) as usize;
        if let Some(dest) = self.dest[self.len..].first_chunk_mut::<8>() {
            *dest = self.waiting.to_le_bytes();
        } else {
            self.dest
                .get_mut(self.len..self.len + whole)?
                .copy_from_slice(&self.waiting.to_le_bytes()[..whole]);
        }
        self.len += whole;
        // All 64 bits cannot wait: 7 at the most remain, and 57 come to them.
        self.waiting = self.waiting.checked_shr(8 * whole as u32).unwrap_or(0);
        self.count %= 8;
        Some(())
    }

    /// The place of the next bit.
    pub(super) fn position(&self) -> usize {
        8 * self.len + self.count as usize
    }

    /// Makes the bit at a place that was flushed a 1.
    pub(super) fn set(&mut self, position: usize) {
        self.dest[position / 8] |= 1 << (position % 8);
    }

    /// Goes to the next whole byte; `None` if there is no room.
    pub(super) fn align(&mut self) -> Option<()> {
        self.count = self.count.next_multiple_of(8);
        self.flush()
    }

    /// Writes bytes where bits end with a byte; `None` if there is no room.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        debug_assert_eq!(self.count, 0);
        self.dest.get_mut(self.len..self.len + bytes.len())?.copy_from_slice(bytes);
        self.len += bytes.len();
        Some(())
    }

    /// The number of bytes, the last of which is filled with zeros; `None` if there is no room.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.align()?;
        Some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_go_where_they_belong_and_no_further() {
        for room in 0..40 {
            let mut dest = [0xa5; 48];
            let mut bits = Bits::new(&mut dest[..room]);
            let mut expected: Vec<bool> = vec![];
            let mut fits = true;
            for i in 0..60u32 {
                let (value, count) = (u64::from(i * 37 % 32), 5);
                bits.put(value, count);
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
