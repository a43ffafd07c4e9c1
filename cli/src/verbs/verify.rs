//! `blosc2 verify`: reads and checks everything in files, and lists what is damaged.
//!
//! With `--json`, an array with one object for each file: `path`; `status`: `ok`, `damaged`, `different` or `unreadable`; `error`: of
//! an unreadable file, otherwise null; `has_checksums`: whether the file has checksums, null if its header cannot be read;
//! `damages`: the [damaged parts](DamagedPart); `other_data`: the
//! [data behind the frame](OtherData), or null.

use crate::args::VerifyArguments;
use crate::damage::{DamagedPart, OtherData};
use crate::error::{Failure, WithPath};
use crate::input::{checksums_of, not_a_frame};
use crate::kind::{Kind, stored_len};
use crate::output::with_final_names;
use crate::results::Results;
use crate::source::Bytes;
use crate::store::{self, Place};
use crate::terminal::{Progress, Terminal};
use crate::transfer::Seekable;
use crate::verbs::diff;
use crate::walk::{Found, with_members};
use blosc2::{Chunk, Decoder};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Checked {
    path: String,
    status: Status,
    error: Option<String>,
    has_checksums: Option<bool>,
    damages: Vec<DamagedPart>,
    other_data: Option<OtherData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Against>,
}

/// The comparison with another file. In JSON: `path`, `difference` (null if the contents are equal) and `places`.
#[derive(Serialize)]
struct Against {
    path: String,
    difference: Option<String>,
    places: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Damaged,
    Different,
    Unreadable,
}

/// Runs the verb.
pub(crate) fn run(arguments: &VerifyArguments, terminal: &Terminal) -> Result<(), Failure> {
    let threads = arguments.threads.count();
    if arguments.against.is_some() && arguments.files.len() > 1 {
        return Err(Failure::usage(format!("--against with {} files, expected one", arguments.files.len())));
    }
    let is_blosc2 = |kind, _: &Path| matches!(kind, Kind::Frame | Kind::FrameDirectory | Kind::Chunk);
    let mut found = Found::expand(&arguments.files, arguments.recursive, terminal, is_blosc2);
    found.files = with_members(&found.files)?;
    let mut results = Results::new();
    let mut is_whole = found.is_whole;
    let mut array = arguments.json.then(|| results.json_array());
    // A file that cannot be read is reported when it is checked.
    let nbytes = found.files.iter().filter_map(|path| stored_len(path).ok()).sum();
    let progress = terminal.progress("verify", Some(nbytes));
    let mut lines = Vec::new();
    for path in &found.files {
        let file = Seekable::on_disk(path);
        let mut checked = check(path, file.as_ref(), threads, &progress);
        if let (Some(original), Ok(file)) = (&arguments.against, &file) {
            compare(&mut checked, file.path(), original, threads)?;
        }
        is_whole &= checked.status == Status::Ok;
        if let Some(error) = &checked.error {
            terminal.error(error);
        }
        match &mut array {
            Some(array) => array.element(&checked)?,
            None => lines.extend(lines_of(&checked, terminal)),
        }
    }
    drop(progress);
    if let Some(array) = array {
        array.end()?;
    }
    for line in lines {
        results.line(line)?;
    }
    results.finish()?;
    if is_whole { Ok(()) } else { Err(Failure::reported()) }
}

/// Checks the file or directory at `path`, which is read as `file`.
fn check(path: &Path, file: Result<&Seekable, &Failure>, threads: usize, progress: &Progress) -> Checked {
    let file = match file {
        Ok(file) => file,
        Err(failure) => {
            return Checked {
                path: path.display().to_string(),
                status: Status::Unreadable,
                error: failure.message().map(str::to_owned),
                has_checksums: None,
                damages: Vec::new(),
                other_data: None,
                against: None,
            };
        }
    };
    let path = file.path();
    let (status, error, damages) = match damages(path, threads, progress) {
        Ok(damages) if damages.is_empty() => (Status::Ok, None, damages),
        Ok(damages) => (Status::Damaged, None, damages),
        Err(failure) => (Status::Unreadable, failure.message().map(str::to_owned), Vec::new()),
    };
    Checked {
        path: with_final_names(&path.display().to_string()),
        status,
        error,
        has_checksums: checksums_of(path),
        damages,
        other_data: OtherData::behind(path),
        against: None,
    }
}

/// Compares a whole file with another one.
fn compare(checked: &mut Checked, path: &Path, original: &Path, threads: usize) -> Result<(), Failure> {
    if checked.status != Status::Ok {
        return Ok(());
    }
    let (difference, places) = match diff::difference(path, original, threads)? {
        Some((difference, places)) => (Some(difference), places),
        None => (None, Vec::new()),
    };
    if difference.is_some() {
        checked.status = Status::Different;
    }
    checked.against = Some(Against { path: original.display().to_string(), difference, places });
    Ok(())
}

/// Returns the damaged parts.
fn damages(path: &Path, threads: usize, progress: &Progress) -> Result<Vec<DamagedPart>, Failure> {
    match Kind::of(path)? {
        Kind::Chunk => {
            let bytes = Bytes::read_all(path).with_path(path)?;
            let chunk = Chunk::from_bytes(&bytes).with_path(path)?;
            Decoder::with_threads(threads)
                .and_then(|mut decoder| decoder.decompress(&chunk))
                .with_path(path)?;
            Ok(Vec::new())
        }
        // Also a file whose magic is damaged, and a directory without its index file, can be recognised.
        Kind::Frame | Kind::FrameDirectory | Kind::Directory | Kind::Other => {
            let progress = |nbytes| progress.add(nbytes);
            let damages = match store::find(path)? {
                Some(Place::Inside(file, range)) => blosc2::verify_range(file, range, threads, &progress),
                Some(Place::File(file)) => blosc2::verify_with_progress(file, threads, &progress),
                Some(Place::Embedded(..)) | None => blosc2::verify_with_progress(path, threads, &progress),
            };
            let damages = damages.map_err(|error| not_a_frame(path, path, error))?;
            Ok(damages.iter().map(DamagedPart::from).collect())
        }
    }
}

fn lines_of(checked: &Checked, terminal: &Terminal) -> Vec<String> {
    let path = &checked.path;
    let mut lines: Vec<String> = match checked.status {
        Status::Ok if !terminal.is_quiet() => vec![match checked.has_checksums {
            Some(true) => format!("{path}: ok, all checksums are right"),
            _ => format!("{path}: ok, but without checksums, so that changed bytes may not be found"),
        }],
        // The difference is printed below.
        Status::Ok | Status::Unreadable | Status::Different => Vec::new(),
        Status::Damaged => checked.damages.iter().map(|damage| format!("{path}: {damage}")).collect(),
    };
    if let Some(Against { path: original, difference, places }) = &checked.against {
        match difference {
            Some(difference) => {
                lines.push(format!("{path}: differs from {original}: {difference}"));
                lines.extend(places.iter().map(|place| format!("  {place}")));
            }
            None if !terminal.is_quiet() => lines.push(format!("{path}: has the content of {original}")),
            None => {}
        }
    }
    if let Some(other_data) = checked.other_data.as_ref().filter(|_| !terminal.is_quiet()) {
        lines.push(format!("{path}: {other_data}"));
    }
    lines
}
