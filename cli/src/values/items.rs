//! The items of a content.

use super::sink::PIECE_NBYTES;
use crate::array_reader::{ArrayReader, resize};
use crate::dtype::Dtype;
use crate::error::{Failure, WithPath};
use crate::input::Content;
use crate::ranges::Selection;
use crate::size::count;
use blosc2::SuperChunk;
use std::io::{BufRead, Read, Seek, SeekFrom};
use std::path::Path;
use std::slice;

/// The items of a content.
pub(crate) struct Values<'a> {
    pub(super) content: &'a Content,
    /// `None` for bytes without a type.
    pub(super) dtype: Option<Dtype>,
    /// Size of an item in bytes.
    pub(super) typesize: usize,
    /// The shape of the content in items.
    pub shape: Vec<u64>,
    /// The name of the file in errors.
    pub(super) path: &'a Path,
}

impl<'a> Values<'a> {
    /// Returns the items of the file at `path`, with the type that was given for them.
    pub(crate) fn new(
        content: &'a Content,
        given: Option<&Dtype>,
        path: &'a Path,
    ) -> Result<Values<'a>, Failure> {
        match content {
            Content::Array(array) => {
                let (typesize, shape) = (array.typesize(), array.shape().to_vec());
                if let Some(dtype) = given.filter(|dtype| dtype.size() != typesize) {
                    return Err(Failure::usage(format!(
                        "--dtype {dtype}, expected a type of {}, as the items of {}",
                        count(typesize as u64, "byte"),
                        path.display()
                    )));
                }
                let dtype = given.cloned().or_else(|| Dtype::of_array(array));
                Ok(Values { content, dtype, typesize, shape, path })
            }
            Content::SuperChunk(schunk) => {
                let typesize = given.map_or(schunk.typesize(), Dtype::size);
                let (nitems, rest) = (schunk.nbytes() / typesize as u64, schunk.nbytes() % typesize as u64);
                if let Some(dtype) = given.filter(|_| rest > 0) {
                    let nbytes = schunk.nbytes();
                    return Err(Failure::file(
                        path,
                        format!(
                            "{nbytes} bytes, expected whole items of the type {dtype} with {typesize} bytes"
                        ),
                    ));
                }
                Ok(Values { content, dtype: given.cloned(), typesize, shape: vec![nitems], path })
            }
        }
    }

    /// Returns whether the content is bytes without a type.
    pub(super) fn is_bytes(&self) -> bool {
        matches!((self.content, &self.dtype), (Content::SuperChunk(_), None))
    }

    /// Calls `f` with whole items of a part, one piece after the other.
    pub(super) fn for_each_piece(
        &self,
        part: &Selection,
        mut f: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let schunk = match self.content {
            Content::Array(array) => {
                let mut reader = ArrayReader::new(array, part);
                loop {
                    let items = reader.fill_buf().with_path(self.path)?;
                    let len = items.len();
                    if len == 0 {
                        return Ok(());
                    }
                    f(items)?;
                    reader.consume(len);
                }
            }
            Content::SuperChunk(schunk) => schunk,
        };
        let Some(ranges) = part.ranges() else {
            let positions = (0..part.nitems()).map(|n| part.positions(slice::from_ref(&(n..n + 1)))[0][0]);
            return self.for_each_item(schunk, positions, f);
        };
        let size = self.typesize as u64;
        let mut reader = schunk.reader();
        let mut rest = part.nitems() * size;
        reader
            .seek(SeekFrom::Start(ranges.first().map_or(0, |range| range.start) * size))
            .with_path(self.path)?;
        let mut piece = Vec::new();
        while rest > 0 {
            let whole = (PIECE_NBYTES / self.typesize).max(1) * self.typesize;
            resize(&mut piece, whole.min(usize::try_from(rest).unwrap_or(whole))).with_path(self.path)?;
            reader.read_exact(&mut piece).with_path(self.path)?;
            f(&piece)?;
            rest -= piece.len() as u64;
        }
        Ok(())
    }

    /// Calls `f` for single items of a super-chunk.
    fn for_each_item(
        &self,
        schunk: &SuperChunk,
        positions: impl Iterator<Item = u64>,
        mut f: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        // The reader keeps the content of a chunk.
        let mut reader = schunk.reader();
        let mut item = vec![0; self.typesize];
        for position in positions {
            reader.seek(SeekFrom::Start(position * self.typesize as u64)).with_path(self.path)?;
            reader.read_exact(&mut item).with_path(self.path)?;
            f(&item)?;
        }
        Ok(())
    }

    /// Reads the items at those positions of each dimension.
    pub(super) fn read_positions(&self, positions: &[Vec<u64>]) -> Result<Vec<u8>, Failure> {
        match self.content {
            Content::Array(array) => array.select_bytes(positions).with_path(self.path),
            Content::SuperChunk(schunk) => {
                let mut items = Vec::new();
                self.for_each_item(schunk, positions.iter().flatten().copied(), |item| {
                    items.extend_from_slice(item);
                    Ok(())
                })?;
                Ok(items)
            }
        }
    }
}
