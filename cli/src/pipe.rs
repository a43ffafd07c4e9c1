//! Values on stdout, which may be a pipe that its reader closes early.

use crate::error::{Failure, WithPath};
use crate::output::binary_stdout;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Stdout. The end of its reader, for example `head`, is no error: nothing more is written.
pub(crate) struct Pipe {
    out: BufWriter<File>,
}

impl Pipe {
    /// Returns stdout for binary data, which is an error for a terminal without `force`.
    pub(crate) fn binary(force: bool) -> Result<Pipe, Failure> {
        Ok(Pipe { out: BufWriter::new(binary_stdout(force)?) })
    }

    /// Returns stdout for text.
    pub(crate) fn text() -> Result<Pipe, Failure> {
        // Text is written to a terminal without `--force`.
        Pipe::binary(true)
    }

    /// Writes bytes. `Break` is the end of the reader.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<ControlFlow<()>, Failure> {
        end_of_reader(self.out.write_all(bytes))
    }

    /// Copies the content of the file at `path`.
    pub(crate) fn copy(
        &mut self,
        reader: &mut impl BufRead,
        path: &Path,
    ) -> Result<ControlFlow<()>, Failure> {
        loop {
            let piece = reader.fill_buf().with_path(path)?;
            let len = piece.len();
            if len == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            if self.write(piece)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            reader.consume(len);
        }
    }

    /// Writes what is buffered.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        end_of_reader(self.out.flush()).map(|_| ())
    }
}

/// Returns `Break` for the error of a pipe without a reader.
fn end_of_reader(written: io::Result<()>) -> Result<ControlFlow<()>, Failure> {
    match written {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(Failure::data(format!("stdout: {error}"))),
    }
}

/// Prints a line of a result.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    let mut pipe = Pipe::text()?;
    let _ = pipe.write(format!("{line}\n").as_bytes())?;
    pipe.finish()
}
