//! Forms of items.

use crate::error::Failure;
use crate::pipe::Pipe;

/// Items are read and written in pieces of about this number of bytes.
pub(super) const PIECE_NBYTES: usize = 64 << 10;

/// A form of items, which are written one after the other.
pub(super) trait Sink {
    /// Writes whole items.
    fn items(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure>;

    /// Writes the end.
    fn end(&mut self, pipe: &mut Pipe) -> Result<(), Failure>;
}

/// Bytes.
pub(super) struct Raw;

impl Sink for Raw {
    fn items(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure> {
        pipe.write(items)
    }

    fn end(&mut self, _pipe: &mut Pipe) -> Result<(), Failure> {
        Ok(())
    }
}
