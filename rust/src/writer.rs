//! Appending to a super-chunk as to a stream.

use crate::content::ChunkCutter;
use crate::error::{Error, Result};
use crate::super_chunk::SuperChunk;
use std::io::{self, Write};

/// Appends to a [`SuperChunk`] as [`Write`]: every `chunksize` bytes become a chunk. [`finish`](Self::finish) writes the
/// rest as a shorter last chunk.
///
/// ```
/// use blosc2::{Params, SuperChunk};
///
/// let mut schunk = SuperChunk::new(&Params::new().typesize(1))?;
/// let mut writer = schunk.writer(1 << 16)?;
/// std::io::copy(&mut &[1u8; 100_000][..], &mut writer)?;
/// writer.finish()?;
/// assert_eq!((schunk.nchunks(), schunk.nbytes()), (2, 100_000));
/// # Ok::<(), blosc2::Error>(())
/// ```
#[must_use = "`finish` writes the last chunk"]
#[derive(Debug)]
pub struct Writer<'a> {
    schunk: &'a mut SuperChunk,
    cutter: ChunkCutter,
}

impl<'a> Writer<'a> {
    fn new(schunk: &'a mut SuperChunk, chunksize: usize) -> Result<Self> {
        schunk.core_mut()?;
        let cutter = ChunkCutter::new(chunksize, schunk.typesize())?;
        let info = schunk.info();
        if info.nchunks > 0 {
            let size = info.chunksize.unwrap_or(0);
            let last = schunk.chunk_info(info.nchunks - 1)?.nbytes;
            if size != chunksize || last != size {
                return Err(Error::param(format!(
                    "chunks of {chunksize} bytes behind chunks of {size} bytes, of which the last has {last}"
                )));
            }
        }
        Ok(Writer { schunk, cutter })
    }

    /// Writes the rest as a shorter chunk, if there is one.
    ///
    /// ```
    /// use std::io::Write;
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// let mut writer = schunk.writer(1000)?;
    /// writer.write_all(&[7; 1500])?;
    /// writer.finish()?;
    /// assert_eq!(schunk.decompress_chunk(1)?, [7; 500]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`SuperChunk::append`].
    pub fn finish(self) -> Result<()> {
        if !self.cutter.rest().is_empty() {
            self.schunk.append(self.cutter.rest())?;
        }
        Ok(())
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.cutter.take(bytes, |chunk| self.schunk.append(chunk).map(|_| ()))?)
    }

    /// Does nothing: a chunk is written when it is complete.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SuperChunk {
    /// Returns a writer that appends chunks of `chunksize` bytes.
    ///
    /// ```
    /// use std::io::Write;
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// let mut writer = schunk.writer(1000)?;
    /// write!(writer, "{:01000}", 7)?;
    /// writer.finish()?;
    /// assert_eq!((schunk.nchunks(), schunk.nbytes()), (1, 1000));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a size that is 0, more than 2 GiB, or no multiple of the item size, and for another size than
    /// the chunks have; `FileWrite` for a super-chunk that was opened for reading.
    pub fn writer(&mut self, chunksize: usize) -> Result<Writer<'_>> {
        Writer::new(self, chunksize)
    }
}
