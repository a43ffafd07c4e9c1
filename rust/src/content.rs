//! The content of chunks as a stream of bytes: reading at a position, and cutting what is written into chunks.

use crate::error::{Error, ErrorKind, Result};
use std::io::{self, SeekFrom};
use std::ops::Range;

/// Chunks whose contents, one behind the other, are read.
pub(crate) trait ChunkSource {
    /// Returns the length of the content in bytes.
    fn nbytes(&self) -> u64;

    /// Returns the number of chunks.
    fn nchunks(&self) -> u64;

    /// Returns the size that all chunks but the last have, in bytes; `None` for different sizes.
    fn chunksize(&self) -> Option<usize>;

    /// Returns the length of the content of a chunk in bytes.
    fn chunk_nbytes(&mut self, nchunk: u64) -> Result<usize>;

    /// Decompresses a chunk into `dest`, in place of what is there.
    fn decompress(&mut self, nchunk: u64, dest: &mut Vec<u8>) -> Result<()>;
}

/// A position in the content of chunks, and the chunk there.
#[derive(Default)]
pub(crate) struct Cursor {
    position: u64,
    /// Offsets of the chunks in the content, with its end; for chunks of different sizes.
    offsets: Option<Vec<u64>>,
    /// The content of the chunk that begins at `chunk_at`; empty before the first read.
    content: Vec<u8>,
    chunk_at: u64,
}

impl Cursor {
    /// Returns the number of the chunk at the position, and the place of its content.
    fn find_chunk(&mut self, source: &mut impl ChunkSource) -> Result<(u64, Range<u64>)> {
        if let Some(size) = source.chunksize() {
            let nchunk = self.position / size as u64;
            let start = nchunk * size as u64;
            return Ok((nchunk, start..source.nbytes().min(start.saturating_add(size as u64))));
        }
        if self.offsets.is_none() {
            let mut offsets = vec![0];
            let mut end = 0u64;
            for nchunk in 0..source.nchunks() {
                end += source.chunk_nbytes(nchunk)? as u64;
                offsets.push(end);
            }
            self.offsets = Some(offsets);
        }
        let offsets = self.offsets.as_deref().unwrap_or(&[0]);
        let next = offsets.partition_point(|&at| at <= self.position);
        let nbytes = source.nbytes();
        match offsets.get(next) {
            Some(&end) if end <= nbytes => Ok((next as u64 - 1, offsets[next - 1]..end)),
            _ => Err(Error::new(
                ErrorKind::Data,
                format!("the chunks do not have the {nbytes} bytes that the header states"),
            )),
        }
    }

    /// Returns the rest of the chunk at the position; nothing at the end of the content.
    pub(crate) fn rest_of_chunk(&mut self, source: &mut impl ChunkSource) -> Result<&[u8]> {
        let nbytes = source.nbytes();
        if self.position >= nbytes {
            return Ok(&[]);
        }
        let end = self.chunk_at + self.content.len() as u64;
        if !(self.chunk_at..end).contains(&self.position) {
            let (nchunk, place) = self.find_chunk(source)?;
            let expected = place.end - place.start;
            let decompressed = source.decompress(nchunk, &mut self.content).and_then(|()| {
                let found = self.content.len() as u64;
                let message = || format!("chunk {nchunk} has {found} bytes, expected {expected}");
                (found == expected).then_some(()).ok_or_else(|| Error::new(ErrorKind::Data, message()))
            });
            if decompressed.is_err() {
                self.content.clear();
            }
            decompressed?;
            self.chunk_at = place.start;
        }
        // The chunk contains the position.
        Ok(&self.content[(self.position - self.chunk_at) as usize..])
    }

    /// Copies bytes from the position on to `dest`. Returns their number: 0 at the end of the content.
    pub(crate) fn read(&mut self, source: &mut impl ChunkSource, dest: &mut [u8]) -> io::Result<usize> {
        let rest = self.rest_of_chunk(source)?;
        let len = rest.len().min(dest.len());
        dest[..len].copy_from_slice(&rest[..len]);
        self.advance(len);
        Ok(len)
    }

    /// Moves the position by `len` bytes.
    pub(crate) fn advance(&mut self, len: usize) {
        self.position = self.position.saturating_add(len as u64);
    }

    /// Moves the position in a content of `nbytes` bytes. Returns it.
    pub(crate) fn seek(&mut self, nbytes: u64, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => nbytes.checked_add_signed(by),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the content")
        })?;
        Ok(self.position)
    }
}

/// Cuts what is written into chunks of one size.
#[derive(Debug)]
pub(crate) struct ChunkCutter {
    chunksize: usize,
    /// The begin of the next chunk, less than `chunksize` bytes.
    rest: Vec<u8>,
}

impl ChunkCutter {
    /// Returns a cutter for chunks of `chunksize` bytes, of items of `typesize` bytes.
    ///
    /// # Errors
    /// `InvalidParam` for a size that is 0, more than 2 GiB, or no whole number of items.
    pub(crate) fn new(chunksize: usize, typesize: usize) -> Result<ChunkCutter> {
        let max = blosc2_core::rust_api::chunk::MAX_CONTENT;
        if chunksize == 0 || chunksize > max || !chunksize.is_multiple_of(typesize.max(1)) {
            return Err(Error::param(format!(
                "chunks of {chunksize} bytes, expected 1 to {max} and a multiple of the item size {typesize}"
            )));
        }
        Ok(ChunkCutter { chunksize, rest: Vec::new() })
    }

    /// Returns the begin of the next chunk.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// Takes bytes, and passes a chunk that is complete to `store`. Returns the number of bytes that were taken. If
    /// `store` fails, the bytes of the chunk stay, and the next call passes them again.
    pub(crate) fn take(&mut self, bytes: &[u8], store: impl FnOnce(&[u8]) -> Result<()>) -> Result<usize> {
        if self.rest.is_empty() && bytes.len() >= self.chunksize {
            store(&bytes[..self.chunksize])?;
            return Ok(self.chunksize);
        }
        let len = bytes.len().min(self.chunksize - self.rest.len());
        self.rest.extend_from_slice(&bytes[..len]);
        if self.rest.len() == self.chunksize {
            if let Err(error) = store(&self.rest) {
                // `Write::write` has taken nothing if it fails.
                self.rest.truncate(self.chunksize - len);
                return Err(error);
            }
            self.rest.clear();
        }
        Ok(len)
    }
}
