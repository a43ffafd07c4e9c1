//! `blosc2 diff`: the differences of the contents of two files.
//!
//! Two arrays, where a NumPy file is one as well beside an array, are compared [item by item](items); other contents
//! [byte by byte](bytes).

mod bytes;
mod items;
mod places;
mod sides;

use crate::args::DiffArguments;
use crate::error::Failure;
use crate::input::is_dash;
use crate::results::Results;
use crate::terminal::{Progress, Terminal};
use crate::transfer::Seekable;
use places::Difference;
use sides::Pair;
use std::path::Path;

/// Runs the verb.
pub(crate) fn run(arguments: &DiffArguments, terminal: &Terminal) -> Result<(), Failure> {
    let found = compare(arguments, terminal).map_err(Failure::into_incomplete)?;
    let names = format!("{} {}", arguments.first.display(), arguments.second.display());
    let Some((difference, examples)) = found else {
        terminal.detail(&format!("{names}: equal"));
        return Ok(());
    };
    if !terminal.is_quiet() {
        let mut results = Results::new();
        results.line(format_args!("{names}: {difference}"))?;
        for example in examples {
            results.line(format_args!("  {example}"))?;
        }
        results.finish()?;
    }
    Err(Failure::reported())
}

/// Number of the places that [`difference`] returns.
const PLACES: usize = 10;

/// Returns how the contents of two files differ; `None` if they are equal.
pub(crate) fn difference(
    first: &Path,
    second: &Path,
    threads: usize,
) -> Result<Option<(String, Vec<String>)>, Failure> {
    let files = (Seekable::new(first)?, Seekable::new(second)?);
    let progress = Progress::none();
    match Pair::open(files.0.path(), files.1.path(), threads)? {
        Pair::Items(a, b) => items::difference(a, b, None, PLACES, &progress),
        Pair::Bytes(a, b) => bytes::difference(a, b, PLACES, &progress),
    }
}

fn compare(arguments: &DiffArguments, terminal: &Terminal) -> Result<Option<Difference>, Failure> {
    if is_dash(&arguments.first) && is_dash(&arguments.second) {
        return Err(Failure::usage("`-` twice, expected it once"));
    }
    let files = (Seekable::new(&arguments.first)?, Seekable::new(&arguments.second)?);
    let pair = Pair::open(files.0.path(), files.1.path(), arguments.threads.count())?;
    let progress = terminal.progress("diff", pair.nbytes());
    // Without output, the first difference is enough.
    let limit = if terminal.is_quiet() { 0 } else { arguments.limit };
    match pair {
        Pair::Items(a, b) => items::difference(a, b, arguments.tolerance(), limit, &progress),
        Pair::Bytes(..) if arguments.tolerance().is_some() => Err(Failure::usage(
            "--rtol, --atol or --equal-nan, expected two arrays, or an array and a NumPy file",
        )),
        Pair::Bytes(a, b) => bytes::difference(a, b, limit, &progress),
    }
}
