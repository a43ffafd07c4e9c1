//! Files that are described.

use crate::error::{Failure, WithPath};
use crate::input::{is_computed, open_parts};
use crate::kind::{Kind, stored_len};
use crate::source::Bytes;
use blosc2::{AnyArray, ChunkInfo, SuperChunk};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Length of the longest header of a chunk in bytes.
const CHUNK_HEADER_LEN: u64 = 32;

/// A file or directory that is described.
pub(super) struct Subject {
    pub path: PathBuf,
    pub is_directory: bool,
    /// Length of the file, or of all files in the directory, in bytes.
    pub file_bytes: u64,
    pub content: SubjectContent,
}

/// The content of a file or directory.
pub(super) enum SubjectContent {
    /// A super-chunk, and the array in it.
    Frame(Box<SuperChunk>, Option<AnyArray>),
    /// A single chunk.
    Chunk(ChunkInfo),
}

impl Subject {
    /// Opens the file or directory at `path`.
    pub(super) fn open(path: &Path) -> Result<Subject, Failure> {
        let kind = Kind::of(path)?;
        let content = match kind {
            Kind::Frame | Kind::FrameDirectory => {
                let (schunk, array) = open_parts(path)?;
                SubjectContent::Frame(Box::new(schunk), array)
            }
            Kind::Chunk => {
                let mut head = Vec::new();
                let file = Bytes::open(path).with_path(path)?;
                file.take(CHUNK_HEADER_LEN).read_to_end(&mut head).with_path(path)?;
                SubjectContent::Chunk(ChunkInfo::from_header(&head).with_path(path)?)
            }
            Kind::Directory | Kind::Other => {
                return Err(Failure::file(path, kind.explain().unwrap_or_default()));
            }
        };
        let is_directory = kind == Kind::FrameDirectory;
        let file_bytes = stored_len(path).with_path(path)?;
        Ok(Subject { path: path.to_owned(), is_directory, file_bytes, content })
    }

    /// Returns the number of chunks.
    pub(super) fn nchunks(&self) -> u64 {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.nchunks(),
            SubjectContent::Chunk(_) => 1,
        }
    }

    /// Returns the properties of chunk `nchunk`, of which only the header is read.
    pub(super) fn chunk_info(&self, nchunk: u64) -> blosc2::Result<ChunkInfo> {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.chunk_info(nchunk),
            SubjectContent::Chunk(info) => Ok(info.clone()),
        }
    }

    /// Returns the content of the first chunk.
    pub(super) fn decompress_first_chunk(&self) -> blosc2::Result<Vec<u8>> {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.decompress_chunk(0),
            SubjectContent::Chunk(info) => {
                let mut chunk = Vec::new();
                Bytes::open(&self.path)?.take(info.cbytes as u64).read_to_end(&mut chunk)?;
                blosc2::decompress(&chunk)
            }
        }
    }

    /// Returns `array`, `super-chunk`, `lazy expression` or `chunk`.
    pub(super) fn type_name(&self) -> &'static str {
        match &self.content {
            SubjectContent::Frame(schunk, _) if is_computed(schunk) => "lazy expression",
            SubjectContent::Frame(_, Some(_)) => "array",
            SubjectContent::Frame(_, None) => "super-chunk",
            SubjectContent::Chunk(_) => "chunk",
        }
    }

    /// Returns `directory` or `file`.
    pub(super) fn storage(&self) -> &'static str {
        if self.is_directory { "directory" } else { "file" }
    }

    /// Returns the array, if there is one.
    pub(super) fn array(&self) -> Option<&AnyArray> {
        match &self.content {
            SubjectContent::Frame(_, array) => array.as_ref(),
            SubjectContent::Chunk(_) => None,
        }
    }

    /// Returns the size of an item in bytes.
    pub(super) fn typesize(&self) -> usize {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.typesize(),
            SubjectContent::Chunk(info) => info.typesize,
        }
    }

    /// Returns the number of items.
    pub(super) fn items(&self) -> u64 {
        match &self.content {
            SubjectContent::Frame(_, Some(array)) => array.nitems(),
            SubjectContent::Frame(schunk, None) => schunk.nitems(),
            SubjectContent::Chunk(info) => (info.nbytes / info.typesize.max(1)) as u64,
        }
    }

    /// Returns the length of the content in bytes; of an array, that of its items.
    pub(super) fn nbytes(&self) -> u64 {
        match &self.content {
            SubjectContent::Frame(_, Some(array)) => array.nitems().saturating_mul(array.typesize() as u64),
            SubjectContent::Frame(schunk, None) => schunk.nbytes(),
            SubjectContent::Chunk(info) => info.nbytes as u64,
        }
    }

    /// Returns the length of the content divided by that of the files.
    pub(super) fn ratio(&self) -> f64 {
        self.nbytes() as f64 / self.file_bytes.max(1) as f64
    }

    /// Returns whether the file has checksums.
    pub(super) fn has_checksums(&self) -> bool {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.info().has_checksums,
            SubjectContent::Chunk(_) => false,
        }
    }

    /// Returns the name of the codec.
    pub(super) fn codec(&self) -> String {
        match &self.content {
            SubjectContent::Frame(schunk, _) => schunk.info().params.get_codec().to_string(),
            SubjectContent::Chunk(info) => info.codec.to_string(),
        }
    }
}
