//! `blosc2 cat`: the content of files on stdout.

use crate::args::CatArguments;
use crate::error::Failure;
use crate::input::Content;
use crate::ranges::Selection;
use crate::terminal::Terminal;
use crate::values::{format_of, stdout, write_array};
use std::ops::ControlFlow;
use std::path::Path;

/// Runs the verb.
pub(crate) fn run(arguments: &CatArguments, _terminal: &Terminal) -> Result<(), Failure> {
    for path in &arguments.files {
        if write_file(path, arguments)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Writes the content of one file. `Break` is the end of the reader.
fn write_file(path: &Path, arguments: &CatArguments) -> Result<ControlFlow<()>, Failure> {
    let content = Content::open(path, arguments.threads.count())?;
    let format = format_of(&content, arguments.format);
    let mut pipe = stdout(format, arguments.force)?;
    let flow = match &content {
        Content::Array(array) => {
            write_array(array, &Selection::all(&array.shape()), format, path, &mut pipe)?
        }
        Content::SuperChunk(schunk) => pipe.copy(&mut schunk.reader(), path)?,
    };
    pipe.finish()?;
    Ok(flow)
}
