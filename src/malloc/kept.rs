//! A buffer that a thread keeps from one call to the next, so that calls in a row allocate nothing.

use super::limits::THREAD_BUFFER;
use crate::err;
use crate::error::Result;
use std::cell::Cell;

/// A buffer of at most [`THREAD_BUFFER`] bytes, or none while it is in use.
pub(crate) struct KeptBuffer(Cell<Vec<u8>>);

impl KeptBuffer {
    /// No buffer yet.
    pub(crate) const fn new() -> KeptBuffer {
        KeptBuffer(Cell::new(Vec::new()))
    }

    /// Takes the buffer, which is made `len` bytes long at least. A use inside another one finds none, and gets new memory.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(crate) fn take(&self, len: usize) -> Result<Vec<u8>> {
        let mut buffer = self.0.take();
        if buffer.len() < len {
            let more = len - buffer.len();
            buffer.try_reserve_exact(more).map_err(|_| err!(MemoryAlloc, "a buffer of {len} bytes"))?;
            buffer.resize(len, 0);
        }
        Ok(buffer)
    }

    /// Keeps a buffer for the next use. Larger ones than a thread keeps are freed.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= THREAD_BUFFER {
            self.0.set(buffer);
        }
    }
}

impl Default for KeptBuffer {
    fn default() -> Self {
        KeptBuffer::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_is_used_again_and_grows() {
        let kept = KeptBuffer::new();
        let buffer = kept.take(1000).unwrap();
        let place = buffer.as_ptr();
        kept.give_back(buffer);
        let buffer = kept.take(10).unwrap();
        assert_eq!((buffer.len(), buffer.as_ptr()), (1000, place));
        // Taken, it is not there for another.
        assert_eq!(kept.take(7).unwrap().len(), 7);
        kept.give_back(buffer);
        assert_eq!(kept.take(5000).unwrap().len(), 5000);
        assert!(kept.take(usize::MAX).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 16 MiB")]
    fn no_more_than_the_limit_is_kept() {
        let kept = KeptBuffer::new();
        kept.give_back(kept.take(THREAD_BUFFER + 1).unwrap());
        assert_eq!(kept.take(0).unwrap().capacity(), 0);
        kept.give_back(kept.take(THREAD_BUFFER).unwrap());
        assert_eq!(kept.take(0).unwrap().capacity(), THREAD_BUFFER);
    }
}
