//! The two contents that are compared.

use crate::array_reader::{ArrayReader, read_box};
use crate::boxes::nbytes;
use crate::dtype::Dtype;
use crate::error::{Failure, WithPath};
use crate::input::Content;
use crate::kind::Kind;
use crate::npy::is_npy;
use crate::npy_file::NpyFile;
use crate::source;
use blosc2::{AnyArray, SuperChunk};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::Path;

/// Size of the buffer of a file that is no frame in bytes.
const BUFFER_NBYTES: usize = 1 << 20;

/// Two contents.
pub(super) enum Pair<'a> {
    Items(Items<'a>, Items<'a>),
    Bytes(Bytes<'a>, Bytes<'a>),
}

/// The items of an array.
pub(super) struct Items<'a> {
    path: &'a Path,
    source: ItemSource<'a>,
}

enum ItemSource<'a> {
    Array(AnyArray),
    Npy(NpyFile<'a>),
}

/// The bytes of a content.
pub(super) struct Bytes<'a> {
    pub path: &'a Path,
    source: ByteSource,
    pub nbytes: u64,
}

enum ByteSource {
    Array(AnyArray),
    Stream(Box<dyn BufRead>),
}

/// An open file.
enum Opened {
    Array(AnyArray),
    SuperChunk(SuperChunk),
    /// A file that is no Blosc2 file, and whether it is a NumPy file.
    Plain(source::Bytes, bool),
}

impl<'a> Pair<'a> {
    pub(super) fn open(first: &'a Path, second: &'a Path, threads: usize) -> Result<Pair<'a>, Failure> {
        let (a, b) = (Opened::new(first, threads)?, Opened::new(second, threads)?);
        if a.has_items() && b.has_items() {
            return Ok(Pair::Items(a.into_items(first)?, b.into_items(second)?));
        }
        Ok(Pair::Bytes(a.into_bytes(first)?, b.into_bytes(second)?))
    }

    /// Returns the length of the first content in bytes.
    pub(super) fn nbytes(&self) -> Option<u64> {
        match self {
            Pair::Items(a, _) => nbytes(&a.shape(), a.typesize()),
            Pair::Bytes(a, _) => Some(a.nbytes),
        }
    }
}

impl Opened {
    fn new(path: &Path, threads: usize) -> Result<Opened, Failure> {
        if matches!(Kind::of(path)?, Kind::Chunk | Kind::Other) {
            let mut file = source::Bytes::open(path).with_path(path)?;
            let is_npy = is_npy(&mut file).with_path(path)?;
            return Ok(Opened::Plain(file, is_npy));
        }
        Ok(match Content::open(path, threads)? {
            Content::Array(array) => Opened::Array(array),
            Content::SuperChunk(schunk) => Opened::SuperChunk(schunk),
        })
    }

    fn has_items(&self) -> bool {
        matches!(self, Opened::Array(_) | Opened::Plain(_, true))
    }

    fn into_items(self, path: &Path) -> Result<Items<'_>, Failure> {
        let source = match self {
            Opened::Array(array) => ItemSource::Array(array),
            Opened::Plain(file, _) => ItemSource::Npy(NpyFile::new(file, path, None)?),
            Opened::SuperChunk(_) => return Err(Failure::file(path, "no array, expected one")),
        };
        Ok(Items { path, source })
    }

    fn into_bytes(self, path: &Path) -> Result<Bytes<'_>, Failure> {
        Ok(match self {
            Opened::Array(array) => {
                let nbytes = nbytes(array.shape(), array.typesize()).unwrap_or(u64::MAX);
                Bytes { path, source: ByteSource::Array(array), nbytes }
            }
            Opened::SuperChunk(schunk) => {
                let nbytes = schunk.nbytes();
                Bytes { path, source: ByteSource::Stream(Box::new(schunk.into_reader())), nbytes }
            }
            Opened::Plain(file, _) => {
                let nbytes = file.len().with_path(path)?;
                let reader = BufReader::with_capacity(BUFFER_NBYTES, file);
                Bytes { path, source: ByteSource::Stream(Box::new(reader)), nbytes }
            }
        })
    }
}

impl Items<'_> {
    pub(super) fn shape(&self) -> Vec<u64> {
        match &self.source {
            ItemSource::Array(array) => array.shape().to_vec(),
            ItemSource::Npy(file) => file.header.shape.clone(),
        }
    }

    /// Returns the shape of the chunks of an array.
    pub(super) fn chunkshape(&self) -> Option<Vec<u32>> {
        match &self.source {
            ItemSource::Array(array) => Some(array.chunkshape().to_vec()),
            ItemSource::Npy(_) => None,
        }
    }

    /// Returns the type of the items, if it is known.
    pub(super) fn dtype(&self) -> Option<Dtype> {
        match &self.source {
            ItemSource::Array(array) => Dtype::of_array(array),
            ItemSource::Npy(file) => Some(file.header.dtype.clone()),
        }
    }

    /// Returns the type of the items as text; those of one text have the same meaning.
    pub(super) fn type_text(&self) -> String {
        match (&self.source, self.dtype()) {
            (_, Some(dtype)) => dtype.to_string(),
            (ItemSource::Array(array), None) => {
                format!("{:?} of {} bytes", array.dtype(), array.typesize())
            }
            (ItemSource::Npy(_), None) => String::new(),
        }
    }

    /// Returns the size of an item in bytes.
    pub(super) fn typesize(&self) -> usize {
        match &self.source {
            ItemSource::Array(array) => array.typesize(),
            ItemSource::Npy(file) => file.header.dtype.size(),
        }
    }

    /// Reads the items of a box into `dest`.
    pub(super) fn read_box(&mut self, current: &[Range<u64>], dest: &mut Vec<u8>) -> Result<(), Failure> {
        match &mut self.source {
            ItemSource::Array(array) => read_box(array, current, dest).with_path(self.path),
            ItemSource::Npy(file) => file.read_box(current, dest),
        }
    }
}

impl Bytes<'_> {
    /// Returns the content as a stream; that of an array are its items in C order.
    pub(super) fn stream(&mut self) -> Box<dyn BufRead + '_> {
        match &mut self.source {
            ByteSource::Array(array) => Box::new(ArrayReader::of_array(array)),
            ByteSource::Stream(reader) => Box::new(reader),
        }
    }
}
