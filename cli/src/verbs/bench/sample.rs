//! The part of the data that is measured.

use crate::args::BenchArguments;
use crate::array_reader::resize;
use crate::error::{Failure, WithPath};
use crate::input::open_frame;
use crate::kind::Kind;
use crate::probe::{ItemSize, samples};
use crate::source::Bytes;
use crate::transfer::Seekable;
use blosc2::{Chunk, Codec, Filter, Params};
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// Parts of the content of a file.
pub(super) struct Sample {
    /// The contents of the chunks; none is empty.
    pub chunks: Vec<Vec<u8>>,
    /// Length of a chunk in bytes; the last one may be shorter.
    pub chunksize: usize,
    /// Length of the content of the file in bytes.
    pub content_bytes: u64,
    /// Size of an item in bytes.
    pub typesize: usize,
}

trait ReadSeek: Read + Seek {}
impl<R: Read + Seek> ReadSeek for R {}

/// The content of a file.
struct Content {
    bytes: Box<dyn ReadSeek>,
    nbytes: u64,
    /// Size of an item in bytes, if it is known.
    typesize: Option<usize>,
}

impl Sample {
    /// Reads the sample of a file.
    pub(super) fn read(arguments: &BenchArguments, threads: usize) -> Result<Sample, Failure> {
        let file = Seekable::new(&arguments.file)?;
        let path = file.path();
        let mut content = open(path, threads)?;
        let content_bytes = content.nbytes;
        if content_bytes == 0 {
            return Err(Failure::file(path, "no content, expected at least one byte"));
        }
        let typesize = match arguments.typesize.map(usize::from).or(content.typesize) {
            Some(typesize) => typesize,
            None => {
                let samples = samples(&mut content.bytes, content_bytes, path)?;
                let params = |typesize| {
                    Params::new()
                        .codec(Codec::Zstd)
                        .filters((typesize > 1).then_some(Filter::Shuffle))
                        .typesize(typesize)
                };
                ItemSize::of_samples(&samples, arguments.chunksize.0, params).with_path(path)?.typesize
            }
        };
        let align = typesize;
        let limit = arguments.chunksize.0.min(arguments.sample.0);
        let chunksize = (limit / align * align).max(1);
        let places = places(content_bytes, chunksize as u64, arguments.sample.0 as u64, align as u64);
        let mut chunks = Vec::with_capacity(places.len());
        for (offset, len) in places {
            let mut chunk = Vec::new();
            // A chunk has at most the length of the sample.
            resize(&mut chunk, len as usize).with_path(path)?;
            content.bytes.seek(SeekFrom::Start(offset)).with_path(path)?;
            content.bytes.read_exact(&mut chunk).with_path(path)?;
            chunks.push(chunk);
        }
        Ok(Sample { chunks, chunksize, content_bytes, typesize })
    }

    /// Returns the length of all chunks in bytes.
    pub(super) fn nbytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len() as u64).sum()
    }
}

/// Opens the content of a file.
fn open(path: &Path, threads: usize) -> Result<Content, Failure> {
    match Kind::of(path)? {
        Kind::Frame | Kind::FrameDirectory => {
            let schunk = open_frame(path, path, threads)?;
            let typesize = schunk.typesize().clamp(1, usize::from(u8::MAX));
            let reader = schunk.into_reader();
            let nbytes = reader.nbytes();
            Ok(Content { bytes: Box::new(reader), nbytes, typesize: Some(typesize) })
        }
        Kind::Chunk => {
            let bytes = Bytes::read_all(path).with_path(path)?;
            let chunk = Chunk::from_bytes(&bytes).with_path(path)?;
            let content = chunk.decompress().with_path(path)?;
            let nbytes = content.len() as u64;
            let typesize = Some(chunk.info().typesize.max(1));
            Ok(Content { bytes: Box::new(Cursor::new(content)), nbytes, typesize })
        }
        Kind::Directory => Err(Failure::file(path, "a directory, expected a file")),
        Kind::Other => {
            let file = Bytes::open(path).with_path(path)?;
            let nbytes = file.len().with_path(path)?;
            Ok(Content { bytes: Box::new(file), nbytes, typesize: None })
        }
    }
}

/// Returns the offsets and lengths of chunks in a content of `total` bytes: all of it if it is not longer than `limit`,
/// otherwise whole chunks in the middle of equal parts of it, at multiples of `align`. `chunksize` is at most `limit`.
fn places(total: u64, chunksize: u64, limit: u64, align: u64) -> Vec<(u64, u64)> {
    if total <= limit {
        let count = total.div_ceil(chunksize);
        return (0..count).map(|n| (n * chunksize, chunksize.min(total - n * chunksize))).collect();
    }
    let count = limit / chunksize;
    let part = total / count;
    let middle = (part - chunksize) / 2;
    (0..count).map(|n| ((n * part + middle) / align * align, chunksize)).collect()
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn a_short_content_is_used_whole() {
        assert_eq!(places(10, 4, 12, 1), [(0, 4), (4, 4), (8, 2)]);
        assert_eq!(places(3, 4, 12, 1), [(0, 3)]);
    }

    #[test]
    fn chunks_of_a_long_content_are_aligned_inside_and_do_not_overlap() {
        assert_eq!(places(100, 8, 16, 8), [(16, 8), (64, 8)]);
        for (total, chunksize, limit, align) in [(1001, 8, 1000, 8), (17, 16, 16, 8), (999, 96, 500, 3)] {
            let places = places(total, chunksize, limit, align);
            assert_eq!(places.len() as u64, limit / chunksize);
            for pair in places.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{places:?}");
            }
            assert!(places.iter().all(|(offset, len)| offset % align == 0 && offset + len <= total));
        }
    }
}
