//! Frames in streams.

use crate::chunk::{Chunk, Decoder, Encoder, resize};
use crate::content::{ChunkCutter, ChunkSource, Cursor};
use crate::error::{Error, Result};
use crate::params::Params;
use blosc2_core::rust_api::stream::{Directory, StreamedFrame};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

/// Writes a frame, the bytes of a `.b2frame` file, to any stream with [`Seek`]: compresses what is written to it, in
/// chunks. The content may be longer than 2 GiB; the memory in use is about two chunks.
///
/// ```
/// use blosc2::{FrameReader, FrameWriter, Params};
/// use std::io::{Cursor, Read, Write};
///
/// let mut writer = FrameWriter::new(Cursor::new(Vec::new()), &Params::new().typesize(1), 1 << 20)?;
/// writer.add_metalayer("source", b"an example");
/// std::io::copy(&mut std::io::repeat(b'x').take(3_000_000), &mut writer)?;
/// let frame = writer.finish()?.into_inner();
/// assert!(frame.len() < 20_000);
///
/// let mut reader = FrameReader::new(Cursor::new(frame))?;
/// assert_eq!((reader.nbytes(), reader.nchunks()), (3_000_000, 3));
/// let mut content = Vec::new();
/// reader.read_to_end(&mut content)?;
/// assert!(content.len() == 3_000_000 && content.iter().all(|&byte| byte == b'x'));
/// # Ok::<(), blosc2::Error>(())
/// ```
///
/// The frame begins at the position that the stream has when the writer is made. Until [`finish`](Self::finish) is
/// called, the stream holds no valid frame.
#[must_use = "`finish` completes the frame"]
pub struct FrameWriter<W: Write + Seek> {
    stream: W,
    /// Offset of the frame in the stream in bytes.
    base: u64,
    parts: StreamedFrame,
    encoder: Encoder,
    cutter: ChunkCutter,
    variable: BTreeMap<String, Vec<u8>>,
    /// Whether a write has failed, so that the bytes of the frame are incomplete.
    has_failed: bool,
}

impl<W: Write + Seek> fmt::Debug for FrameWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameWriter").finish_non_exhaustive()
    }
}

impl<W: Write + Seek> FrameWriter<W> {
    /// Returns a writer of chunks of `chunksize` bytes.
    ///
    /// ```
    /// use blosc2::{FrameReader, FrameWriter, Params};
    /// use std::io::{Cursor, Write};
    ///
    /// let mut writer = FrameWriter::new(Cursor::new(Vec::new()), &Params::new().typesize(1), 1000)?;
    /// writer.write_all(&[7; 2500])?;
    /// assert_eq!(FrameReader::new(Cursor::new(writer.finish()?.into_inner()))?.nchunks(), 3);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a parameter out of range; those of the stream.
    pub fn new(stream: W, params: &Params, chunksize: usize) -> Result<FrameWriter<W>> {
        FrameWriter::with_metalayers(stream, params, chunksize, &[])
    }

    /// As [`new`](Self::new), with fixed metalayers.
    ///
    /// ```
    /// use blosc2::{FrameWriter, Params, SuperChunk};
    /// use std::io::Cursor;
    ///
    /// let metalayers = [("version".to_owned(), vec![1, 0])];
    /// let writer = FrameWriter::with_metalayers(Cursor::new(Vec::new()), &Params::new(), 8000, &metalayers)?;
    /// let schunk = SuperChunk::from_frame(&writer.finish()?.into_inner())?;
    /// assert_eq!(schunk.metalayers().fixed("version")?, Some(vec![1, 0]));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); `InvalidParam` for metalayers that do not fit into a header.
    pub fn with_metalayers(
        mut stream: W,
        params: &Params,
        chunksize: usize,
        metalayers: &[(String, Vec<u8>)],
    ) -> Result<FrameWriter<W>> {
        let cutter = ChunkCutter::new(chunksize, params.get_typesize())?;
        let parts = StreamedFrame::new(&params.settings()?, metalayers)?;
        let encoder = Encoder::new(params)?;
        let base = stream.stream_position()?;
        stream.write_all(&parts.header()?)?;
        Ok(FrameWriter { stream, base, parts, encoder, cutter, variable: BTreeMap::new(), has_failed: false })
    }

    /// Sets a metalayer of variable length.
    ///
    /// ```
    /// use blosc2::{FrameWriter, Params, SuperChunk};
    /// use std::io::Cursor;
    ///
    /// let mut writer = FrameWriter::new(Cursor::new(Vec::new()), &Params::new(), 8000)?;
    /// writer.add_metalayer("source", b"station 7");
    /// let schunk = SuperChunk::from_frame(&writer.finish()?.into_inner())?;
    /// assert_eq!(schunk.metalayers().variable_map()?["source"], b"station 7");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn add_metalayer(&mut self, name: &str, content: &[u8]) {
        self.variable.insert(name.to_owned(), content.to_vec());
    }

    /// Writes a chunk that is compressed already. Its content has the size of the others; only the last may be shorter.
    ///
    /// ```
    /// use blosc2::{FrameWriter, Params, SuperChunk};
    /// use std::io::Cursor;
    ///
    /// let params = Params::new().typesize(1);
    /// let mut writer = FrameWriter::new(Cursor::new(Vec::new()), &params, 7)?;
    /// writer.write_chunk(&blosc2::compress(b"a chunk", &params)?)?;
    /// let schunk = SuperChunk::from_frame(&writer.finish()?.into_inner())?;
    /// assert_eq!(schunk.decompress_chunk(0)?, b"a chunk");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ChunkAppend` for a chunk that does not fit behind the others, or while a chunk is incomplete; those of the
    /// stream.
    pub fn write_chunk(&mut self, chunk: &Chunk<'_>) -> Result<()> {
        let rest = self.cutter.rest().len();
        if rest > 0 {
            let message = format!("a chunk behind {rest} bytes of an incomplete one");
            return Err(Error::new(crate::ErrorKind::ChunkAppend, message));
        }
        self.output().push(chunk)
    }

    fn output(&mut self) -> Output<'_, W> {
        Output { stream: &mut self.stream, parts: &mut self.parts, has_failed: &mut self.has_failed }
    }

    /// Writes the last chunk, the index and the header. Returns the stream, at the end of the frame.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("a.b2frame");
    /// use blosc2::{FrameWriter, Params, SuperChunk};
    /// use std::{fs::File, io::Write};
    ///
    /// let mut writer = FrameWriter::new(File::create(&path)?, &Params::new().typesize(1), 1000)?;
    /// writer.write_all(&[7; 2500])?;
    /// writer.finish()?.sync_all()?;
    /// assert_eq!(SuperChunk::open(&path)?.nbytes(), 2500);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of compression and of the stream; `FileWrite` if an earlier write has failed.
    pub fn finish(mut self) -> Result<W> {
        self.output().check_is_whole()?;
        if !self.cutter.rest().is_empty() {
            let chunk = self.encoder.compress(self.cutter.rest())?;
            self.output().push(&chunk)?;
        }
        let variable: Vec<(String, Vec<u8>)> = self.variable.into_iter().collect();
        let (header, tail) = self.parts.finish(&variable)?;
        self.stream.write_all(&tail)?;
        let end = self.stream.stream_position()?;
        self.stream.seek(SeekFrom::Start(self.base))?;
        self.stream.write_all(&header)?;
        self.stream.seek(SeekFrom::Start(end))?;
        self.stream.flush()?;
        Ok(self.stream)
    }
}

/// The part of a writer that receives compressed chunks.
struct Output<'a, W> {
    stream: &'a mut W,
    parts: &'a mut StreamedFrame,
    has_failed: &'a mut bool,
}

impl<W: Write> Output<'_, W> {
    fn push(self, chunk: &Chunk<'_>) -> Result<()> {
        self.check_is_whole()?;
        let bytes = self.parts.push(chunk.as_bytes())?;
        *self.has_failed = true;
        self.stream.write_all(bytes)?;
        *self.has_failed = false;
        Ok(())
    }

    fn check_is_whole(&self) -> Result<()> {
        if *self.has_failed {
            return Err(Error::new(crate::ErrorKind::FileWrite, "an earlier write has failed".to_owned()));
        }
        Ok(())
    }
}

impl<W: Write + Seek> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let FrameWriter { stream, parts, encoder, cutter, has_failed, .. } = self;
        Ok(cutter.take(bytes, |content| {
            let chunk = encoder.compress(content)?;
            Output { stream, parts, has_failed }.push(&chunk)
        })?)
    }

    /// Flushes the stream; the bytes of an incomplete chunk are kept.
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Reads a frame, the bytes of a `.b2frame` file, from any stream with [`Seek`]. The content is [`Read`], [`BufRead`]
/// and [`Seek`]. See [`FrameWriter`] for an example.
///
/// ```
/// use blosc2::{FrameReader, Params, SuperChunk};
/// use std::io::{Cursor, Read, Seek, SeekFrom};
///
/// let mut schunk = SuperChunk::new(&Params::new().typesize(1))?;
/// schunk.append(b"first ")?;
/// schunk.append(b"last")?;
/// let mut reader = FrameReader::new(Cursor::new(schunk.to_frame()?))?;
/// reader.seek(SeekFrom::Start(3))?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "st last");
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct FrameReader<R: Read + Seek> {
    chunks: StreamChunks<R>,
    cursor: Cursor,
}

impl<R: Read + Seek> fmt::Debug for FrameReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameReader")
            .field("nbytes", &self.nbytes())
            .field("nchunks", &self.nchunks())
            .field("params", &self.params())
            .finish_non_exhaustive()
    }
}

/// The chunks of a frame in a stream.
struct StreamChunks<R> {
    stream: R,
    directory: Directory,
    decoder: Decoder,
}

impl<R: Read + Seek> StreamChunks<R> {
    fn chunk(&mut self, nchunk: u64) -> Result<Chunk<'static>> {
        Chunk::try_from(self.directory.read_chunk(&mut self.stream, nchunk)?)
    }
}

impl<R: Read + Seek> ChunkSource for StreamChunks<R> {
    fn nbytes(&self) -> u64 {
        self.directory.nbytes()
    }

    fn nchunks(&self) -> u64 {
        self.directory.nchunks()
    }

    fn chunksize(&self) -> Option<usize> {
        self.directory.chunksize()
    }

    fn chunk_nbytes(&mut self, nchunk: u64) -> Result<usize> {
        Ok(self.chunk(nchunk)?.info().nbytes)
    }

    fn decompress(&mut self, nchunk: u64, dest: &mut Vec<u8>) -> Result<()> {
        let chunk = self.chunk(nchunk)?;
        resize(dest, chunk.info().nbytes)?;
        self.decoder.decompress_into(&chunk, dest).map(|_| ())
    }
}

impl<R: Read + Seek> FrameReader<R> {
    /// Opens the frame that begins at the position of the stream.
    ///
    /// ```
    /// use blosc2::{FrameReader, Params, SuperChunk};
    /// use std::io::{Cursor, Seek, SeekFrom};
    ///
    /// let frame = SuperChunk::new(&Params::new())?.to_frame()?;
    /// let mut stream = Cursor::new([b"other data", &frame[..]].concat());
    /// stream.seek(SeekFrom::Start(10))?;
    /// assert_eq!(FrameReader::new(stream)?.nbytes(), 0);
    /// assert!(FrameReader::new(Cursor::new(b"no frame")).is_err());
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged frame; `FileRead` with the error of the stream.
    pub fn new(mut stream: R) -> Result<FrameReader<R>> {
        let base = stream.stream_position()?;
        let directory = Directory::read(&mut stream, base)?;
        let chunks = StreamChunks { stream, directory, decoder: Decoder::new()? };
        Ok(FrameReader { chunks, cursor: Cursor::default() })
    }

    /// Sets the number of threads that decompress a chunk.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # use std::io::{Cursor, Read};
    /// # let mut schunk = SuperChunk::new(&Params::new().typesize(1))?;
    /// # schunk.append(b"some text")?;
    /// let mut reader = FrameReader::new(Cursor::new(schunk.to_frame()?))?;
    /// reader.set_threads(4)?;
    /// assert_eq!(std::io::read_to_string(reader)?, "some text");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for 0 or more than 32767.
    pub fn set_threads(&mut self, threads: usize) -> Result<()> {
        self.chunks.decoder = Decoder::with_threads(threads)?;
        Ok(())
    }

    /// Returns the length of the content in bytes.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let reader = FrameReader::new(std::io::Cursor::new(schunk.to_frame()?))?;
    /// assert_eq!(reader.nbytes(), 8000);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nbytes(&self) -> u64 {
        self.chunks.directory.nbytes()
    }

    /// Returns the number of chunks.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let reader = FrameReader::new(std::io::Cursor::new(schunk.to_frame()?))?;
    /// assert_eq!(reader.nchunks(), 1);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn nchunks(&self) -> u64 {
        self.chunks.directory.nchunks()
    }

    /// Returns the length of the frame in bytes.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// let mut frame = SuperChunk::new(&Params::new())?.to_frame()?;
    /// let len = frame.len() as u64;
    /// frame.extend(b"other data");
    /// assert_eq!(FrameReader::new(std::io::Cursor::new(frame))?.frame_len(), len);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn frame_len(&self) -> u64 {
        self.chunks.directory.frame_len()
    }

    /// Returns the compression parameters.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// let frame = SuperChunk::new(&Params::new().typesize(4).level(9))?.to_frame()?;
    /// let params = FrameReader::new(std::io::Cursor::new(frame))?.params();
    /// assert_eq!((params.get_typesize(), params.get_level()), (4, 9));
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn params(&self) -> Params {
        Params::from_settings(&self.chunks.directory.settings())
    }

    /// Returns the fixed metalayers.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.metalayers_mut()?.set_fixed("version", &[1, 0])?;
    /// let reader = FrameReader::new(std::io::Cursor::new(schunk.to_frame()?))?;
    /// assert_eq!(reader.metalayers()["version"], [1, 0]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn metalayers(&self) -> BTreeMap<String, Vec<u8>> {
        self.chunks.directory.metalayers().into_iter().collect()
    }

    /// Returns the metalayers of variable length.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.metalayers_mut()?.set_variable("source", b"station 7")?;
    /// let reader = FrameReader::new(std::io::Cursor::new(schunk.to_frame()?))?;
    /// assert_eq!(reader.variable_metalayers()?["source"], b"station 7");
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a damaged content.
    pub fn variable_metalayers(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        Ok(self.chunks.directory.variable_metalayers()?.into_iter().collect())
    }

    /// Reads chunk `nchunk`, compressed.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// # let mut schunk = SuperChunk::new(&Params::new())?;
    /// schunk.append(&[7; 8000])?;
    /// let mut reader = FrameReader::new(std::io::Cursor::new(schunk.to_frame()?))?;
    /// assert_eq!(reader.chunk(0)?.decompress()?, [7; 8000]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidParam` for a number out of range; those of a damaged frame; `FileRead`.
    pub fn chunk(&mut self, nchunk: u64) -> Result<Chunk<'static>> {
        self.chunks.chunk(nchunk)
    }

    /// Returns the stream.
    ///
    /// ```
    /// # use blosc2::{FrameReader, Params, SuperChunk};
    /// let frame = SuperChunk::new(&Params::new())?.to_frame()?;
    /// let reader = FrameReader::new(std::io::Cursor::new(&frame))?;
    /// assert_eq!(reader.into_inner().into_inner(), &frame);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    pub fn into_inner(self) -> R {
        self.chunks.stream
    }
}

impl<R: Read + Seek> BufRead for FrameReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.cursor.rest_of_chunk(&mut self.chunks)?)
    }

    fn consume(&mut self, amount: usize) {
        self.cursor.advance(amount);
    }
}

impl<R: Read + Seek> Read for FrameReader<R> {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        self.cursor.read(&mut self.chunks, dest)
    }
}

impl<R: Read + Seek> Seek for FrameReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.cursor.seek(self.nbytes(), to)
    }
}
