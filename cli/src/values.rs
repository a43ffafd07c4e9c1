//! The values of arrays and of other files on stdout.

use crate::args::ValueFormat;
use crate::array_reader::ArrayReader;
use crate::dtype::text::ItemText;
use crate::error::{Failure, WithPath};
use crate::input::Content;
use crate::pipe::Pipe;
use crate::ranges::Selection;
use blosc2::{AnyArray, SuperChunk};
use std::io::{BufRead, Read, Seek, SeekFrom};
use std::path::Path;
use std::slice;

/// Text is written in pieces of about this number of bytes.
const TEXT_PIECE: usize = 64 << 10;

/// Returns `format`, or the form of the values of `content` if none is given.
pub(crate) fn format_of(content: &Content, format: Option<ValueFormat>) -> ValueFormat {
    format.unwrap_or(match content {
        Content::Array(_) => ValueFormat::Text,
        Content::SuperChunk(_) => ValueFormat::Raw,
    })
}

/// Returns stdout for values in the form `format`.
pub(crate) fn stdout(format: ValueFormat, force: bool) -> Result<Pipe, Failure> {
    match format {
        ValueFormat::Text => Pipe::text(),
        ValueFormat::Raw => Pipe::binary(force),
    }
}

/// Writes a part of the array at `path`.
pub(crate) fn write_array(
    array: &AnyArray,
    selection: &Selection,
    format: ValueFormat,
    path: &Path,
    pipe: &mut Pipe,
) -> Result<(), Failure> {
    let mut reader = ArrayReader::new(array, selection);
    if matches!(format, ValueFormat::Raw) {
        return pipe.copy(&mut reader, path);
    }
    let mut rows = TextRows::new(array, selection);
    loop {
        let items = reader.fill_buf().with_path(path)?;
        let len = items.len();
        if len == 0 {
            return Ok(());
        }
        rows.write(items, pipe)?;
        reader.consume(len);
    }
}

/// Writes the items of a range of the super-chunk at `path`.
pub(crate) fn write_items(
    schunk: &SuperChunk,
    selection: &Selection,
    path: &Path,
    pipe: &mut Pipe,
) -> Result<(), Failure> {
    let typesize = schunk.typesize() as u64;
    let mut reader = schunk.reader();
    if let Some(ranges) = selection.ranges() {
        let start = ranges.first().map_or(0, |range| range.start);
        reader.seek(SeekFrom::Start(start * typesize)).with_path(path)?;
        return pipe.copy(&mut reader.take(selection.nitems() * typesize), path);
    }
    // The reader keeps the content of a chunk.
    let mut item = vec![0; schunk.typesize()];
    for number in 0..selection.nitems() {
        let positions = selection.positions(slice::from_ref(&(number..number + 1)));
        reader.seek(SeekFrom::Start(positions[0][0] * typesize)).with_path(path)?;
        reader.read_exact(&mut item).with_path(path)?;
        pipe.write(&item)?;
    }
    Ok(())
}

/// The text of items that come one after the other: one line for each row of the last dimension, and an empty line
/// between planes of the last two, if there are more than two.
struct TextRows {
    item: ItemText,
    typesize: usize,
    /// Number of items in a row; 1 without dimensions.
    row: u64,
    /// Number of items in a plane; `None` for fewer than three dimensions.
    plane: Option<u64>,
    /// Number of items that were written.
    nitems: u64,
}

impl TextRows {
    fn new(array: &AnyArray, selection: &Selection) -> TextRows {
        let shape = &selection.shape;
        let row = shape.last().copied().unwrap_or(1);
        let plane = (shape.len() > 2).then(|| row.saturating_mul(shape[shape.len() - 2]));
        TextRows { item: ItemText::of_array(array), typesize: array.typesize(), row, plane, nitems: 0 }
    }

    /// Writes whole items.
    fn write(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure> {
        let mut text = String::new();
        for item in items.chunks_exact(self.typesize) {
            if !self.nitems.is_multiple_of(self.row) {
                text.push(' ');
            } else if self.nitems > 0 && self.plane.is_some_and(|plane| self.nitems.is_multiple_of(plane)) {
                text.push('\n');
            }
            self.item.push(item, &mut text);
            self.nitems += 1;
            if self.nitems.is_multiple_of(self.row) {
                text.push('\n');
            }
            if text.len() >= TEXT_PIECE {
                pipe.write(text.as_bytes())?;
                text.clear();
            }
        }
        pipe.write(text.as_bytes())
    }
}
