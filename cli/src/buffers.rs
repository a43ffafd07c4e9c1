//! Buffers that two threads pass to each other: one fills them, the other uses their content and gives them back.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Number of buffers of a channel: one that is filled, one that waits, one that is used.
const COUNT: usize = 3;
/// Length in bytes to which a buffer first grows when it is read from a stream, so that a short input needs no memory
/// for a whole chunk.
const FIRST_READ: usize = 1 << 20;

/// Bytes whose allocation is used again.
#[derive(Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Length of the content, at most that of `bytes`, which are not cleared between two contents.
    len: usize,
}

impl Buffer {
    /// Returns the content.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Makes the content `len` bytes long, and returns it to be overwritten.
    pub(crate) fn room(&mut self, len: usize) -> io::Result<&mut [u8]> {
        self.grow(len)?;
        self.len = len;
        Ok(&mut self.bytes[..len])
    }

    /// Shortens the content to `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Replaces the content by the next `limit` bytes of `input`, or fewer at its end.
    pub(crate) fn read_from(&mut self, input: &mut impl Read, limit: usize) -> io::Result<()> {
        self.len = 0;
        while self.len < limit {
            if self.len == self.bytes.len() {
                self.grow(limit.min(FIRST_READ.max(2 * self.len)))?;
            }
            let end = limit.min(self.bytes.len());
            match input.read(&mut self.bytes[self.len..end]) {
                Ok(0) => break,
                Ok(count) => self.len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes the allocation at least `len` bytes long.
    fn grow(&mut self, len: usize) -> io::Result<()> {
        let missing = len.saturating_sub(self.bytes.len());
        self.bytes.try_reserve_exact(missing).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        self.bytes.resize(len.max(self.bytes.len()), 0);
        Ok(())
    }
}

/// The end of a channel that fills buffers.
pub(crate) struct Filler {
    empty: Receiver<Buffer>,
    full: SyncSender<Buffer>,
}

/// The end of a channel that uses the contents of buffers.
pub(crate) struct Contents {
    full: Receiver<Buffer>,
    empty: SyncSender<Buffer>,
    /// The buffer whose content was returned last.
    used: Option<Buffer>,
}

/// Returns the ends of a new channel.
pub(crate) fn channel() -> (Filler, Contents) {
    let (give_back, empty) = sync_channel(COUNT);
    let (full, filled) = sync_channel(COUNT);
    for _ in 0..COUNT {
        // The receiver exists, and the channel has room.
        let _ = give_back.send(Buffer::default());
    }
    (Filler { empty, full }, Contents { full: filled, empty: give_back, used: None })
}

impl Filler {
    /// Fills buffers by `fill` until it returns `false`, or until the other end is dropped.
    pub(crate) fn run<E>(self, mut fill: impl FnMut(&mut Buffer) -> Result<bool, E>) -> Result<(), E> {
        while let Ok(mut buffer) = self.empty.recv() {
            if !fill(&mut buffer)? || self.full.send(buffer).is_err() {
                break;
            }
        }
        Ok(())
    }
}

impl Contents {
    /// Returns the next content; `None` when the other end has ended, with or without an error.
    pub(crate) fn next(&mut self) -> Option<&[u8]> {
        if let Some(buffer) = self.used.take() {
            // Without the other end, nothing is filled any more.
            let _ = self.empty.send(buffer);
        }
        self.used = self.full.recv().ok();
        self.used.as_ref().map(Buffer::content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_read_up_to_its_limit_and_to_the_end() {
        let mut buffer = Buffer::default();
        let mut input = &[7u8; 3_000_000][..];
        for expected in [2_500_000, 500_000, 0] {
            buffer.read_from(&mut input, 2_500_000).unwrap();
            assert_eq!(buffer.content().len(), expected);
            assert!(buffer.content().iter().all(|&byte| byte == 7));
        }
        assert_eq!(buffer.room(10).unwrap().len(), 10);
        buffer.truncate(4);
        assert_eq!(buffer.content().len(), 4);
    }

    #[test]
    fn contents_arrive_in_order_and_a_dropped_end_ends_the_other() {
        let (filler, mut contents) = channel();
        let count = std::thread::scope(|scope| {
            let filled = scope.spawn(move || {
                let mut count = 0u8;
                filler.run(|buffer| {
                    buffer.room(1)?[0] = count;
                    count += 1;
                    Ok::<_, io::Error>(count < 200)
                })?;
                Ok::<_, io::Error>(count)
            });
            for expected in 0..100 {
                assert_eq!(contents.next(), Some(&[expected][..]));
            }
            drop(contents);
            filled.join().unwrap().unwrap()
        });
        assert!((100..110).contains(&count), "{count}");
    }
}
