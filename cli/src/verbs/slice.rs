//! `blosc2 slice`: a part of an array, or of the items of another file, on stdout.

use crate::args::SliceArguments;
use crate::error::Failure;
use crate::input::Content;
use crate::ranges::Selection;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::values::{format_of, stdout, write_array, write_items};

/// Runs the verb.
pub(crate) fn run(arguments: &SliceArguments, _terminal: &Terminal) -> Result<(), Failure> {
    let file = Seekable::new(&arguments.file)?;
    let path = file.path();
    let content = Content::open(path, arguments.threads.count())?;
    let selection = match &content {
        Content::Array(array) => Selection::parse(&arguments.ranges, array.shape()),
        Content::SuperChunk(schunk) => Selection::parse(&arguments.ranges, &[schunk.nitems()]),
    }?;
    let format = format_of(&content, arguments.format);
    let mut pipe = stdout(format, arguments.force)?;
    match &content {
        Content::Array(array) => write_array(array, &selection, format, path, &mut pipe)?,
        Content::SuperChunk(schunk) => write_items(schunk, &selection, path, &mut pipe)?,
    }
    pipe.finish()
}
