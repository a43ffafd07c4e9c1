//! `blosc2 cat`: the content of files on stdout.

use crate::args::CatArguments;
use crate::error::Failure;
use crate::input::Content;
use crate::ranges::Selection;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::values::{format_of, stdout, write_array};
use std::path::Path;

/// Runs the verb.
pub(crate) fn run(arguments: &CatArguments, _terminal: &Terminal) -> Result<(), Failure> {
    arguments.files.iter().try_for_each(|path| write_file(path, arguments))
}

/// Writes the content of one file.
fn write_file(path: &Path, arguments: &CatArguments) -> Result<(), Failure> {
    let file = Seekable::new(path)?;
    let path = file.path();
    let content = Content::open(path, arguments.threads.count())?;
    let format = format_of(&content, arguments.format);
    let mut pipe = stdout(format, arguments.force)?;
    match &content {
        Content::Array(array) => {
            write_array(array, &Selection::all(array.shape()), format, path, &mut pipe)?;
        }
        Content::SuperChunk(schunk) => pipe.copy(&mut schunk.reader(), path)?,
    }
    pipe.finish()
}
