//! The content of a super-chunk as a stream that is read.

use crate::error::{Error, Result};
use crate::super_chunk::SuperChunk;
use std::borrow::Borrow;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// The content of a [`SuperChunk`] as [`Read`], [`BufRead`] and [`Seek`]. Decompresses one chunk at a time.
///
/// ```
/// use blosc2::{Params, SuperChunk};
/// use std::io::{Read, Seek, SeekFrom};
///
/// let mut schunk = SuperChunk::new(&Params::new().typesize(1))?;
/// schunk.append(&[b'a'; 1000])?;
/// schunk.append(&[b'b'; 1000])?;
/// let mut reader = schunk.reader();
/// reader.seek(SeekFrom::Start(999))?;
/// let mut two = [0; 2];
/// reader.read_exact(&mut two)?;
/// assert_eq!(&two, b"ab");
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct Reader<S> {
    schunk: S,
    position: u64,
    nbytes: u64,
    /// Offsets of the chunks in the content, if they have different sizes; with the end of the content.
    offsets: Option<Vec<u64>>,
    /// The content of the chunk that begins at `chunk_at`; empty before the first read.
    content: Vec<u8>,
    chunk_at: u64,
}

impl<S: Borrow<SuperChunk>> Reader<S> {
    pub(crate) fn new(schunk: S) -> Self {
        let nbytes = schunk.borrow().nbytes();
        Reader { schunk, position: 0, nbytes, offsets: None, content: Vec::new(), chunk_at: 0 }
    }

    /// Returns the length of the content in bytes.
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Returns the super-chunk.
    pub fn into_inner(self) -> S {
        self.schunk
    }

    /// Returns the number of the chunk at `position`, and the offset of its content.
    fn find_chunk(&mut self) -> Result<(u64, u64)> {
        let schunk = self.schunk.borrow();
        if let Some(size) = schunk.info().chunksize {
            let nchunk = self.position / size as u64;
            return Ok((nchunk, nchunk * size as u64));
        }
        let offsets = match &mut self.offsets {
            Some(offsets) => offsets,
            none => {
                let mut offsets = vec![0];
                let mut end = 0u64;
                for nchunk in 0..schunk.nchunks() {
                    end += schunk.chunk_info(nchunk)?.nbytes as u64;
                    offsets.push(end);
                }
                none.insert(offsets)
            }
        };
        let nchunk = offsets.partition_point(|&at| at <= self.position) - 1;
        Ok((nchunk as u64, offsets[nchunk]))
    }

    /// Returns the rest of the chunk at `position`; nothing at the end of the content.
    fn rest_of_chunk(&mut self) -> Result<&[u8]> {
        if self.position >= self.nbytes {
            return Ok(&[]);
        }
        let end = self.chunk_at + self.content.len() as u64;
        if !(self.chunk_at..end).contains(&self.position) {
            let (nchunk, at) = self.find_chunk()?;
            self.content.clear();
            let schunk = self.schunk.borrow();
            let len = schunk.chunk_info(nchunk)?.nbytes;
            // The allocation is reused from chunk to chunk.
            if self.content.try_reserve(len).is_err() {
                return Err(Error::new(crate::ErrorKind::MemoryAlloc, format!("a chunk of {len} bytes")));
            }
            self.content.resize(len, 0);
            self.chunk_at = at;
            match schunk.decompress_chunk_into(nchunk, &mut self.content) {
                Ok(len) => self.content.truncate(len),
                Err(error) => {
                    self.content.clear();
                    return Err(error);
                }
            }
        }
        let within = usize::try_from(self.position - self.chunk_at).unwrap_or(usize::MAX);
        self.content.get(within..).filter(|rest| !rest.is_empty()).ok_or_else(|| {
            Error::new(
                crate::ErrorKind::Data,
                format!("no content at byte {} of {}", self.position, self.nbytes),
            )
        })
    }
}

impl<S: Borrow<SuperChunk>> BufRead for Reader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.rest_of_chunk()?)
    }

    fn consume(&mut self, amount: usize) {
        self.position += amount as u64;
    }
}

impl<S: Borrow<SuperChunk>> Read for Reader<S> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let rest = self.fill_buf()?;
        let len = rest.len().min(dest.len());
        dest[..len].copy_from_slice(&rest[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl<S: Borrow<SuperChunk>> Seek for Reader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.nbytes.checked_add_signed(by),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the content")
        })?;
        Ok(self.position)
    }
}
