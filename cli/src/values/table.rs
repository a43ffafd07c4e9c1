//! Items as a table of values between commas or tabulators.

use super::sink::Sink;
use crate::dtype::ItemText;
use crate::error::{Failure, WithPath};
use crate::pipe::{Pipe, stdout_name};
use csv::{StringRecord, WriterBuilder};
use std::io;

/// One line for each row of the last dimension; of an array with one dimension, for each item. Items with fields have one
/// column for each field then, below a line with the names.
pub(super) struct Table {
    item: ItemText,
    typesize: usize,
    /// Number of items in a line.
    row: u64,
    /// Number of items that were written.
    nitems: u64,
    /// Whether each field is a column.
    has_columns: bool,
    delimiter: u8,
    /// The cells of the line so far.
    line: StringRecord,
    /// The text of an item; the memory is used again.
    cell: String,
}

impl Table {
    pub(super) fn new(item: ItemText, typesize: usize, shape: &[u64], delimiter: u8) -> Table {
        let row = if shape.len() < 2 { 1 } else { shape[shape.len() - 1] };
        let has_columns = shape.len() < 2 && item.field_names().is_some();
        Table {
            item,
            typesize,
            row,
            nitems: 0,
            has_columns,
            delimiter,
            line: StringRecord::new(),
            cell: String::new(),
        }
    }

    fn write_items(&mut self, items: &[u8], pipe: &mut Pipe) -> io::Result<()> {
        let mut lines = WriterBuilder::new().delimiter(self.delimiter).from_writer(pipe);
        if self.nitems == 0 && self.has_columns {
            lines.write_record(self.item.field_names().unwrap_or_default())?;
        }
        for item in items.chunks_exact(self.typesize) {
            if self.has_columns {
                self.item.for_each_cell(item, |cell| self.line.push_field(cell));
            } else {
                self.cell.clear();
                self.item.push(item, &mut self.cell);
                self.line.push_field(&self.cell);
            }
            self.nitems += 1;
            if self.nitems.is_multiple_of(self.row) {
                lines.write_record(&self.line)?;
                self.line.clear();
            }
        }
        lines.flush()
    }
}

impl Sink for Table {
    fn items(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure> {
        self.write_items(items, pipe).with_path(stdout_name())
    }

    fn end(&mut self, _pipe: &mut Pipe) -> Result<(), Failure> {
        Ok(())
    }
}
