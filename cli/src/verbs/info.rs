//! `blosc2 info`: what files are.
//!
//! With `--json`, an array with one [`Description`](describe::Description) for each file, or with `--tree` one
//! [`Row`](tree::Row) for each file.

mod chunks;
mod describe;
mod metalayer;
mod stats;
mod subject;
mod text;
mod tree;
mod why;

use crate::args::InfoArguments;
use crate::error::Failure;
use crate::results::Results;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use crate::walk::with_members;
use describe::Description;
use std::path::Path;
use subject::Subject;

/// Runs the verb.
pub(crate) fn run(arguments: &InfoArguments, terminal: &Terminal) -> Result<(), Failure> {
    if arguments.tree {
        return tree::run(arguments, terminal);
    }
    let mut results = Results::new();
    let is_whole = if arguments.json {
        let mut array = results.json_array();
        let is_whole = for_each(arguments, terminal, |description| array.element(description))?;
        array.end()?;
        is_whole
    } else {
        let mut is_first = true;
        for_each(arguments, terminal, |description| {
            if !std::mem::take(&mut is_first) {
                results.line("")?;
            }
            text::print(description, &mut results)
        })?
    };
    results.finish()?;
    if is_whole { Ok(()) } else { Err(Failure::reported()) }
}

/// Calls `print` for each file that can be read, and prints the errors of the others. Returns whether all files and the
/// headers of all chunks could be read.
fn for_each(
    arguments: &InfoArguments,
    terminal: &Terminal,
    mut print: impl FnMut(&Description<'_>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let mut is_whole = true;
    for path in &with_members(&arguments.files)? {
        let opened = Seekable::new(path).and_then(|file| Ok((Subject::open(file.path())?, file)));
        let (subject, _file) = match opened {
            Ok(opened) => opened,
            Err(failure) => {
                is_whole = false;
                terminal.error(failure.message().unwrap_or_default());
                continue;
            }
        };
        let description = Description::new(&subject, arguments, terminal);
        print(&description)?;
        is_whole &= report_unreadable(&description, &subject.path, terminal);
    }
    Ok(is_whole)
}

/// Prints the errors of the parts that could not be read. Returns whether there are none.
fn report_unreadable(description: &Description<'_>, path: &Path, terminal: &Terminal) -> bool {
    let mut is_whole = true;
    let mut report = |message: &str| {
        is_whole = false;
        terminal.error(&format!("{}: {message}", path.display()));
    };
    if let Some(error) = &description.chunks.first_error {
        report(error);
    }
    if let Some(error) = description.stats.as_ref().and_then(|stats| stats.error.as_ref()) {
        report(error);
    }
    if let Some(Err(error)) = &description.why {
        report(&format!("chunk 0: {error}"));
    }
    for metalayer in &description.metalayers {
        if let Some(error) = &metalayer.error {
            report(&format!("metalayer {:?}: {error}", metalayer.name));
        }
    }
    is_whole
}
