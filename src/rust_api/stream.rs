//! Frames that are written to, and read from, any stream.

use super::chunk::ChunkFields;
use super::params::CompressSettings;
use crate::chunk::format::EXTENDED_HEADER_LENGTH;
use crate::error::{Result, ensure, err};
use crate::frame::format::header::FrameHeader;
use crate::frame::store::load::ReadFrame;
use crate::frame::store::sequential::{FrameBuilder, FrameDirectory, PlaceInFrame};
use crate::schunk::metalayers::{compress_content, decompress_content};
use std::cell::RefCell;
use std::io::{Read, Seek, SeekFrom};

/// The name and the content of a metalayer.
pub type NamedContent = (String, Vec<u8>);

/// The parts of a contiguous frame around chunks that are written one after the other.
pub struct StreamedFrame(FrameBuilder);

impl StreamedFrame {
    pub fn new(settings: &CompressSettings, metalayers: &[NamedContent]) -> Result<StreamedFrame> {
        let header = FrameHeader {
            compcode: settings.compcode,
            compcode_meta: settings.compcode_meta,
            clevel: settings.clevel,
            splitmode: u8::try_from(settings.splitmode).unwrap_or(0),
            use_dict: settings.use_dict,
            typesize: settings.typesize,
            blocksize: settings.blocksize,
            chunksize: -1,
            nthreads_c: settings.nthreads,
            nthreads_d: settings.nthreads,
            filters: settings.filters,
            filters_meta: settings.filters_meta,
            ..FrameHeader::default()
        };
        let metalayers =
            metalayers.iter().map(|(name, content)| (name.clone().into_bytes(), content.clone())).collect();
        FrameBuilder::new(header, metalayers).map(StreamedFrame)
    }

    /// Returns a header, in whose place the final one is written at the end.
    pub fn header(&self) -> Result<Vec<u8>> {
        self.0.header()
    }

    /// Adds a chunk. Returns the bytes to write behind those of the chunks before.
    pub fn push<'c>(&mut self, chunk: &'c [u8]) -> Result<&'c [u8]> {
        self.0.push(chunk)
    }

    /// Returns the number of chunks.
    pub fn nchunks(&self) -> usize {
        self.0.nchunks()
    }

    /// Returns the final header, and the bytes to write behind the chunks. `metalayers` are those of variable length.
    pub fn finish(self, metalayers: &[NamedContent]) -> Result<(Vec<u8>, Vec<u8>)> {
        let metalayers = metalayers
            .iter()
            .map(|(name, content)| {
                // SAFETY: there are no parameters.
                let chunk = unsafe { compress_content(content, None) }?;
                Ok((name.clone().into_bytes(), chunk.to_vec()))
            })
            .collect::<Result<Vec<_>>>()?;
        self.0.finish(&metalayers)
    }
}

/// A stream with a frame that begins at byte `base`.
struct FrameStream<'r, R> {
    stream: RefCell<&'r mut R>,
    base: u64,
}

impl<R: Read + Seek> FrameStream<'_, R> {
    /// Calls `read` with the stream at byte `at` of the frame.
    fn read_with<T>(&self, at: u64, read: impl FnOnce(&mut R) -> std::io::Result<T>) -> Result<T> {
        let mut stream = self.stream.borrow_mut();
        let position = self.base.checked_add(at).ok_or_else(|| err!(FileRead, "offset {at} of a frame"))?;
        let read = stream.seek(SeekFrom::Start(position)).and_then(|_| read(&mut stream));
        read.map_err(|error| err!(FileRead, "bytes at offset {at} of a frame: {error}"))
    }
}

impl<R: Read + Seek> ReadFrame for FrameStream<'_, R> {
    fn read_at(&self, at: u64, dest: &mut [u8]) -> Result<()> {
        self.read_with(at, |stream| stream.read_exact(dest))
    }

    /// Reads in steps, so that a damaged length does not allocate more memory than the stream has bytes.
    fn read_vec_at(&self, at: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_with(at, |stream| stream.by_ref().take(len).read_to_end(&mut bytes))?;
        if bytes.len() as u64 != len {
            return Err(err!(FileRead, "{} bytes at offset {at} of a frame, expected {len}", bytes.len()));
        }
        Ok(bytes)
    }
}

/// What a frame in a stream holds besides its chunks.
pub struct Directory {
    inner: FrameDirectory,
    base: u64,
}

impl Directory {
    /// Reads the header, the trailer and the index of the contiguous frame that begins at byte `base` of the stream.
    pub fn read<R: Read + Seek>(stream: &mut R, base: u64) -> Result<Directory> {
        let source = FrameStream { stream: RefCell::new(stream), base };
        Ok(Directory { inner: FrameDirectory::read(&source)?, base })
    }

    /// Returns the number of chunks.
    pub fn nchunks(&self) -> u64 {
        self.inner.nchunks() as u64
    }

    /// Returns the length of the content in bytes.
    pub fn nbytes(&self) -> u64 {
        self.inner.header.nbytes.max(0).unsigned_abs()
    }

    /// Returns the length of the frame in bytes.
    pub fn frame_len(&self) -> u64 {
        self.inner.header.frame_len
    }

    /// Returns the size of a chunk's content in bytes; `None` without chunks, and for different sizes.
    pub fn chunksize(&self) -> Option<usize> {
        usize::try_from(self.inner.header.chunksize).ok().filter(|&size| size > 0)
    }

    /// Returns the compression parameters.
    pub fn settings(&self) -> CompressSettings {
        let header = &self.inner.header;
        CompressSettings {
            compcode: header.compcode,
            compcode_meta: header.compcode_meta,
            clevel: header.clevel,
            use_dict: header.use_dict,
            typesize: header.typesize,
            nthreads: 1,
            blocksize: header.blocksize.max(0),
            splitmode: i32::from(header.splitmode),
            filters: header.filters,
            filters_meta: header.filters_meta,
            auto: None,
        }
    }

    /// Returns the fixed metalayers.
    pub fn metalayers(&self) -> Vec<NamedContent> {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        self.inner.metalayers.iter().map(|(name, content)| (text(name), content.clone())).collect()
    }

    /// Returns the metalayers of variable length.
    pub fn variable_metalayers(&self) -> Result<Vec<NamedContent>> {
        let decompressed = |(name, chunk): &(Vec<u8>, Vec<u8>)| {
            let mut header = crate::chunk::ChunkHeader::default();
            let content = decompress_content(&crate::chunk::ParsedChunk::parse(&mut header, chunk)?)?;
            Ok((String::from_utf8_lossy(name).into_owned(), content.to_vec()))
        };
        self.inner.vlmetalayers.iter().map(decompressed).collect()
    }

    /// Reads chunk `nchunk` from the stream of the frame.
    pub fn read_chunk<R: Read + Seek>(&self, stream: &mut R, nchunk: u64) -> Result<Vec<u8>> {
        let nchunk = usize::try_from(nchunk).map_err(|_| err!(InvalidParam, "chunk {nchunk}"))?;
        let at = match self.inner.chunk_place(nchunk)? {
            PlaceInFrame::Special(chunk) => return Ok(chunk.to_vec()),
            PlaceInFrame::At(at) => at,
        };
        let source = FrameStream { stream: RefCell::new(stream), base: self.base };
        let mut head = [0; EXTENDED_HEADER_LENGTH];
        source.read_at(at, &mut head)?;
        let len = ChunkFields::parse(&head)?.cbytes as u64;
        let frame_len = self.frame_len();
        ensure!(
            at.checked_add(len).is_some_and(|end| end <= frame_len),
            InvalidHeader,
            "chunk {nchunk} of {len} bytes at offset {at} is outside the frame of {frame_len} bytes",
        );
        source.read_vec_at(at, len)
    }
}
