//! The content of a super-chunk as a stream that is read.

use crate::chunk::resize;
use crate::content::{ChunkSource, Cursor};
use crate::error::Result;
use crate::super_chunk::SuperChunk;
use std::borrow::Borrow;
use std::fmt;
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
    schunk: Chunks<S>,
    nbytes: u64,
    cursor: Cursor,
}

impl<S: Borrow<SuperChunk>> fmt::Debug for Reader<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("schunk", self.schunk.0.borrow()).finish_non_exhaustive()
    }
}

/// The chunks of a super-chunk.
struct Chunks<S>(S);

impl<S: Borrow<SuperChunk>> ChunkSource for Chunks<S> {
    fn nbytes(&self) -> u64 {
        self.0.borrow().nbytes()
    }

    fn nchunks(&self) -> u64 {
        self.0.borrow().nchunks()
    }

    fn chunksize(&self) -> Option<usize> {
        self.0.borrow().info().chunksize
    }

    fn chunk_nbytes(&mut self, nchunk: u64) -> Result<usize> {
        Ok(self.0.borrow().chunk_info(nchunk)?.nbytes)
    }

    fn decompress(&mut self, nchunk: u64, dest: &mut Vec<u8>) -> Result<()> {
        resize(dest, self.chunk_nbytes(nchunk)?)?;
        let len = self.0.borrow().decompress_chunk_into(nchunk, dest)?;
        dest.truncate(len);
        Ok(())
    }
}

impl<S: Borrow<SuperChunk>> Reader<S> {
    fn new(schunk: S) -> Self {
        let nbytes = schunk.borrow().nbytes();
        Reader { schunk: Chunks(schunk), nbytes, cursor: Cursor::default() }
    }

    /// Returns the length of the content in bytes.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// assert_eq!(schunk.reader().nbytes(), 8000);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Returns the super-chunk.
    ///
    /// ```
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"some text")?;
    /// let mut reader = schunk.into_reader();
    /// assert_eq!(std::io::read_to_string(&mut reader)?, "some text");
    /// assert_eq!(reader.into_inner().nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_inner(self) -> S {
        self.schunk.0
    }
}

impl<S: Borrow<SuperChunk>> BufRead for Reader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.cursor.rest_of_chunk(&mut self.schunk)?)
    }

    fn consume(&mut self, amount: usize) {
        self.cursor.advance(amount);
    }
}

impl<S: Borrow<SuperChunk>> Read for Reader<S> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        self.cursor.read(&mut self.schunk, dest)
    }
}

impl<S: Borrow<SuperChunk>> Seek for Reader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.cursor.seek(self.nbytes, to)
    }
}

impl SuperChunk {
    /// Returns the content as `Read + Seek`.
    ///
    /// ```
    /// use std::io::BufRead;
    /// # let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new().typesize(1))?;
    /// schunk.append(b"first line\nla")?;
    /// schunk.append(b"st line")?;
    /// let lines = schunk.reader().lines().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(lines, ["first line", "last line"]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn reader(&self) -> Reader<&SuperChunk> {
        Reader::new(self)
    }

    /// Returns the content as `Read + Seek`, with the super-chunk inside.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// # blosc2::SuperChunk::create(&path, &blosc2::Params::new().typesize(1))?.append(b"some text")?;
    /// let reader = blosc2::SuperChunk::open(&path)?.into_reader();
    /// assert_eq!(std::io::read_to_string(reader)?, "some text");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_reader(self) -> Reader<SuperChunk> {
        Reader::new(self)
    }
}
