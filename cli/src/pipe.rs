//! Values on stdout, which may be a pipe that its reader closes early.

use crate::error::{Failure, WithPath};
use crate::output::binary_stdout;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;

/// Stdout. The end of its reader, for example `head`, is [no error](Failure::reader_ended).
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

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out.write_all(bytes).with_path(stdout_name())
    }

    /// Copies the content of the file at `path`.
    pub(crate) fn copy(&mut self, reader: &mut impl BufRead, path: &Path) -> Result<(), Failure> {
        copy(reader, path, &mut self.out, stdout_name())
    }

    /// Writes what is buffered.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.out.flush().with_path(stdout_name())
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is buffered is written at the end.
        Ok(())
    }
}

/// Returns the name of stdout in messages.
pub(crate) fn stdout_name() -> &'static Path {
    Path::new("stdout")
}

/// Copies a stream, of the file at `path`, to `output`, whose name in messages is `name`.
pub(crate) fn copy(
    reader: &mut impl BufRead,
    path: &Path,
    output: &mut impl Write,
    name: &Path,
) -> Result<(), Failure> {
    loop {
        let piece = reader.fill_buf().with_path(path)?;
        let len = piece.len();
        if len == 0 {
            return Ok(());
        }
        output.write_all(piece).with_path(name)?;
        reader.consume(len);
    }
}

/// Prints a line of a result.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    let mut pipe = Pipe::text()?;
    pipe.write(format!("{line}\n").as_bytes())?;
    pipe.finish()
}
