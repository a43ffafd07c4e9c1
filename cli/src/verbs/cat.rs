//! `blosc2 cat`: the content of files on stdout.

use crate::args::CatArguments;
use crate::error::Failure;
use crate::input::Content;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::values::Values;
use std::path::Path;

/// Runs the verb.
pub(crate) fn run(arguments: &CatArguments, terminal: &Terminal) -> Result<(), Failure> {
    let _progress = terminal.transfer_progress(&arguments.files);
    arguments.files.iter().try_for_each(|path| write_file(path, arguments))
}

/// Writes the content of one file.
fn write_file(path: &Path, arguments: &CatArguments) -> Result<(), Failure> {
    let file = Seekable::new(path)?;
    let content = Content::open(file.path(), arguments.threads.count())?;
    let values = Values::new(&content, arguments.values.dtype.as_ref(), file.path())?;
    values.write(None, &arguments.values, arguments.force)
}
