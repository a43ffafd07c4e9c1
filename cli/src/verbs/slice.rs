//! `blosc2 slice`: a part of an array, or of the items of another file, on stdout.

use crate::args::SliceArguments;
use crate::error::Failure;
use crate::input::Content;
use crate::ranges::Selection;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::values::Values;
use std::slice;

/// Runs the verb.
pub(crate) fn run(arguments: &SliceArguments, terminal: &Terminal) -> Result<(), Failure> {
    let _progress = terminal.transfer_progress(slice::from_ref(&arguments.file));
    let file = Seekable::new(&arguments.file)?;
    let content = Content::open(file.path(), arguments.threads.count())?;
    let values = Values::new(&content, arguments.values.dtype.as_ref(), file.path())?;
    let selection = Selection::parse(&arguments.ranges, &values.shape)?;
    values.write(Some(&selection), &arguments.values, arguments.force)
}
