//! Items as nested arrays of JSON.

use super::sink::{PIECE_NBYTES, Sink};
use crate::dtype::ItemText;
use crate::error::Failure;
use crate::pipe::Pipe;

/// An array for each dimension, and one line for each row of the last one.
pub(super) struct Nested {
    item: ItemText,
    typesize: usize,
    shape: Vec<u64>,
    /// Number of items below one index of each dimension.
    strides: Vec<u64>,
    /// Number of items that were written.
    nitems: u64,
}

impl Nested {
    pub(super) fn new(item: ItemText, typesize: usize, shape: &[u64]) -> Nested {
        let inner = |dim: usize| shape[dim + 1..].iter().fold(1u64, |n, &extent| n.saturating_mul(extent));
        let strides = (0..shape.len()).map(inner).collect();
        Nested { item, typesize, shape: shape.to_vec(), strides, nitems: 0 }
    }

    /// Returns the number of dimensions in which an array begins or ends at the number of items so far.
    fn edges(&self) -> usize {
        let is_edge =
            |dim: &usize| self.nitems.is_multiple_of(self.shape[*dim].saturating_mul(self.strides[*dim]));
        (0..self.shape.len()).rev().take_while(is_edge).count()
    }

    /// Writes the arrays of a shape without items.
    fn write_empty(shape: &[u64], pipe: &mut Pipe) -> Result<(), Failure> {
        pipe.write(b"[")?;
        if let [extent, inner @ ..] = shape {
            for n in 0..if inner.is_empty() { 0 } else { *extent } {
                pipe.write(if n > 0 { b"," } else { b"" })?;
                Nested::write_empty(inner, pipe)?;
            }
        }
        pipe.write(b"]")
    }
}

impl Sink for Nested {
    fn items(&mut self, items: &[u8], pipe: &mut Pipe) -> Result<(), Failure> {
        let mut text = String::new();
        for item in items.chunks_exact(self.typesize) {
            let begins = self.edges();
            if self.nitems > 0 {
                text.push_str(if begins > 0 { ",\n" } else { ", " });
            }
            text.extend(std::iter::repeat_n('[', begins));
            self.item.push(item, &mut text);
            self.nitems += 1;
            text.extend(std::iter::repeat_n(']', self.edges()));
            if text.len() >= PIECE_NBYTES {
                pipe.write(text.as_bytes())?;
                text.clear();
            }
        }
        pipe.write(text.as_bytes())
    }

    fn end(&mut self, pipe: &mut Pipe) -> Result<(), Failure> {
        if self.nitems == 0 {
            Nested::write_empty(&self.shape, pipe)?;
        }
        pipe.write(b"\n")
    }
}
