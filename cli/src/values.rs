//! The values of arrays and of other files on stdout.
//!
//! Data flow: [`Values`] (items of a part of a content) -> a [`Sink`] for the format -> stdout; or, for text on a terminal,
//! the items at the edges -> [`view`].

mod items;
mod json;
mod sink;
mod table;
mod text;
mod view;

pub(crate) use items::Values;

use crate::args::{ValueArguments, ValueFormat};
use crate::dtype::{ItemText, Style};
use crate::error::Failure;
use crate::input::Content;
use crate::pipe::Pipe;
use crate::ranges::Selection;
use sink::{Raw, Sink};
use std::io::IsTerminal;

impl Values<'_> {
    /// Returns the format of these values.
    fn format(&self, arguments: &ValueArguments) -> ValueFormat {
        arguments.format().unwrap_or(if self.is_bytes() { ValueFormat::Raw } else { ValueFormat::Text })
    }

    /// Writes the content, or a part of it, to stdout.
    pub(crate) fn write(
        &self,
        selection: Option<&Selection>,
        arguments: &ValueArguments,
        force: bool,
    ) -> Result<(), Failure> {
        let format = self.format(arguments);
        let is_bytes = self.is_bytes();
        if is_bytes && !matches!(format, ValueFormat::Raw | ValueFormat::Text) {
            return Err(Failure::usage(format!(
                "{}: has no type of items, expected --dtype, for example --dtype f4",
                self.path.display()
            )));
        }
        let mut pipe = if matches!(format, ValueFormat::Raw) { Pipe::binary(force)? } else { Pipe::text()? };
        let all = Selection::all(&self.shape);
        let part = selection.unwrap_or(&all);
        if matches!(format, ValueFormat::Text)
            && !is_bytes
            && !arguments.all
            && std::io::stdout().is_terminal()
        {
            view::write(self, part, &mut pipe)?;
            return pipe.finish();
        }
        if let (Content::SuperChunk(schunk), None, true) = (self.content, selection, is_bytes) {
            // Also bytes behind the last whole item.
            pipe.copy(&mut schunk.reader(), self.path)?;
            return pipe.finish();
        }
        let text = |style| ItemText::new(self.dtype.clone(), style);
        let (shape, size) = (&part.shape, self.typesize);
        let mut sink: Box<dyn Sink> = match format {
            ValueFormat::Raw => Box::new(Raw),
            ValueFormat::Text if is_bytes => Box::new(Raw),
            ValueFormat::Text => Box::new(text::Rows::new(text(Style::Fields), size, shape)),
            ValueFormat::Csv => Box::new(table::Table::new(text(Style::Plain), size, shape, b',')),
            ValueFormat::Tsv => Box::new(table::Table::new(text(Style::Plain), size, shape, b'\t')),
            ValueFormat::Json => Box::new(json::Nested::new(text(Style::Json), size, shape)),
        };
        self.for_each_piece(part, |items| sink.items(items, &mut pipe))?;
        sink.end(&mut pipe)?;
        pipe.finish()
    }
}
