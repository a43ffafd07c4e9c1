//! Items as text on a terminal: in columns, and only those at the edges of large arrays, as NumPy prints them.

use super::items::Values;
use crate::dtype::{ItemText, Style};
use crate::error::Failure;
use crate::pipe::Pipe;
use crate::ranges::Selection;

/// Above this number of items, only those at the edges are printed: the default of NumPy.
const THRESHOLD: u64 = 1000;
/// Number of items at each end of a dimension that are printed: the default of NumPy.
const EDGE: u64 = 3;
/// Width of a terminal that does not state one, in characters.
const DEFAULT_WIDTH: usize = 80;
/// In place of items that are left out.
const GAP: &str = "...";

/// Writes the items of a part.
pub(super) fn write(values: &Values<'_>, part: &Selection, pipe: &mut Pipe) -> Result<(), Failure> {
    let is_short = part.nitems() > THRESHOLD;
    let numbers = |count: u64| match is_short && count > 2 * EDGE {
        true => (0..EDGE).chain(count - EDGE..count).collect(),
        false => (0..count).collect::<Vec<u64>>(),
    };
    if part.nitems() == 0 {
        return Ok(());
    }
    let items = values.read_positions(&part.positions_of(numbers))?;
    let form = ItemText::new(values.dtype.clone(), Style::Fields);
    let texts = items.chunks_exact(values.typesize).map(|item| {
        let mut text = String::new();
        form.push(item, &mut text);
        text
    });
    let width = terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
    let layout = Layout {
        shape: part.shape.iter().map(|&extent| numbers(extent).len()).collect(),
        has_gap: part.shape.iter().map(|&extent| is_short && extent > 2 * EDGE).collect(),
        is_right: form.is_number(),
        width,
    };
    pipe.write(layout.text(&texts.collect::<Vec<_>>()).as_bytes())
}

/// The places of items.
struct Layout {
    /// Numbers of the items that are printed.
    shape: Vec<usize>,
    /// Whether items in the middle of a dimension are left out.
    has_gap: Vec<bool>,
    /// Whether items are to the right of their columns.
    is_right: bool,
    /// Width of a line in characters.
    width: usize,
}

impl Layout {
    /// Returns the lines with the items in C order.
    fn text(&self, items: &[String]) -> String {
        let column = items.iter().map(|item| item.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        self.push(0, items, column, &mut text);
        text
    }

    /// Appends the items below an index of each dimension before `dim`.
    fn push(&self, dim: usize, items: &[String], column: usize, text: &mut String) {
        if dim + 1 >= self.shape.len() {
            let has_gap = self.has_gap.last().copied().unwrap_or(false);
            return self.push_row(items, has_gap, column, text);
        }
        // Planes of rows have an empty line between them.
        let is_plane = dim + 2 < self.shape.len();
        for (n, part) in items.chunks(items.len() / self.shape[dim].max(1)).enumerate() {
            if n > 0 && is_plane {
                text.push('\n');
            }
            if n as u64 == EDGE && self.has_gap[dim] {
                text.push_str(GAP);
                text.push_str(if is_plane { "\n\n" } else { "\n" });
            }
            self.push(dim + 1, part, column, text);
        }
    }

    /// Appends a row; the lines after its first one are indented.
    fn push_row(&self, items: &[String], has_gap: bool, column: usize, text: &mut String) {
        const INDENT: &str = "  ";
        let mut line = String::new();
        let mut add = |cell: &str, column: usize, text: &mut String| {
            let len = cell.chars().count();
            let padding = " ".repeat(column.saturating_sub(len));
            if !line.trim().is_empty() && line.chars().count() + 1 + len.max(column) > self.width {
                text.push_str(line.trim_end());
                text.push('\n');
                line = INDENT.to_owned();
            } else if !line.is_empty() {
                line.push(' ');
            }
            match self.is_right {
                true => line.extend([padding.as_str(), cell]),
                false => line.extend([cell, padding.as_str()]),
            }
        };
        for (n, item) in items.iter().enumerate() {
            if n as u64 == EDGE && has_gap {
                add(GAP, GAP.len(), text);
            }
            add(item, column, text);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: &[usize], gaps: &[bool], is_right: bool, width: usize, items: &[&str]) -> String {
        let layout = Layout { shape: shape.to_vec(), has_gap: gaps.to_vec(), is_right, width };
        layout.text(&items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn items_are_in_columns_with_gaps() {
        assert_eq!(text(&[2, 2], &[false; 2], true, 80, &["1", "20", "-300", "4"]), "   1   20\n-300    4\n");
        assert_eq!(text(&[2, 2], &[false; 2], false, 80, &["a", "bc", "d", "e"]), "a  bc\nd  e\n");
        let six = ["1", "2", "3", "7", "8", "9"];
        assert_eq!(text(&[6], &[true], true, 80, &six), "1 2 3 ... 7 8 9\n");
        assert_eq!(text(&[6, 1], &[true, false], true, 80, &six), "1\n2\n3\n...\n7\n8\n9\n");
        assert_eq!(
            text(&[6, 1, 1], &[true, false, false], true, 80, &six),
            "1\n\n2\n\n3\n\n...\n\n7\n\n8\n\n9\n"
        );
        assert_eq!(text(&[], &[], true, 80, &["5"]), "5\n");
    }

    #[test]
    fn long_rows_are_wrapped() {
        assert_eq!(text(&[6], &[true], true, 9, &["1", "2", "3", "7", "8", "9"]), "1 2 3 ...\n  7 8 9\n");
        assert_eq!(text(&[2], &[false], true, 4, &["123456", "1"]), "123456\n       1\n");
    }
}
