//! Items as lines of text.

use super::sink::{PIECE_NBYTES, Sink};
use crate::dtype::ItemText;
use crate::error::Failure;
use crate::pipe::Pipe;

/// One line for each row of the last dimension, and an empty line between planes of the last two, if there are more than
/// two.
pub(super) struct Rows {
    item: ItemText,
    typesize: usize,
    /// Number of items in a row; 1 without dimensions.
    row: u64,
    /// Number of items in a plane; `None` for fewer than three dimensions.
    plane: Option<u64>,
    /// Number of items that were written.
    nitems: u64,
}

impl Rows {
    pub(super) fn new(item: ItemText, typesize: usize, shape: &[u64]) -> Rows {
        let row = shape.last().copied().unwrap_or(1);
        let plane = (shape.len() > 2).then(|| row.saturating_mul(shape[shape.len() - 2]));
        Rows { item, typesize, row, plane, nitems: 0 }
    }
}

impl Sink for Rows {
    fn items(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure> {
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
            if text.len() >= PIECE_NBYTES {
                pipe.write(text.as_bytes())?;
                text.clear();
            }
        }
        pipe.write(text.as_bytes())
    }

    fn end(&mut self, _pipe: &mut Pipe) -> Result<(), Failure> {
        Ok(())
    }
}
