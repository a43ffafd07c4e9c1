//! `blosc2 verify`: reads and checks everything in files, and lists what is damaged.
//!
//! With `--json`, an array with one object for each file: `path`; `status`: `ok`, `damaged` or `unreadable`; `error`: of
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
use crate::terminal::{Progress, Terminal};
use crate::transfer::Seekable;
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
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Damaged,
    Unreadable,
}

/// Runs the verb.
pub(crate) fn run(arguments: &VerifyArguments, terminal: &Terminal) -> Result<(), Failure> {
    let threads = arguments.threads.count();
    let mut results = Results::new();
    let mut is_whole = true;
    let mut array = arguments.json.then(|| results.json_array());
    // A file that cannot be read is reported when it is checked.
    let nbytes = arguments.files.iter().filter_map(|path| stored_len(path).ok()).sum();
    let progress = terminal.progress("verify", Some(nbytes));
    let mut lines = Vec::new();
    for path in &arguments.files {
        let checked = check(path, threads, &progress);
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

/// Checks the file or directory at `path`.
fn check(path: &Path, threads: usize, progress: &Progress) -> Checked {
    let file = match Seekable::new(path) {
        Ok(file) => file,
        Err(failure) => {
            return Checked {
                path: path.display().to_string(),
                status: Status::Unreadable,
                error: failure.message().map(str::to_owned),
                has_checksums: None,
                damages: Vec::new(),
                other_data: None,
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
    }
}

/// Returns the damaged parts.
fn damages(path: &Path, threads: usize, progress: &Progress) -> Result<Vec<DamagedPart>, Failure> {
    match Kind::of(path)? {
        Kind::Chunk => {
            let bytes = std::fs::read(path).with_path(path)?;
            let chunk = Chunk::from_bytes(&bytes).with_path(path)?;
            Decoder::with_threads(threads)
                .and_then(|mut decoder| decoder.decompress(&chunk))
                .with_path(path)?;
            Ok(Vec::new())
        }
        // Also a file whose magic is damaged, and a directory without its index file, can be recognised.
        Kind::Frame | Kind::FrameDirectory | Kind::Directory | Kind::Other => {
            let damages = blosc2::verify_with_progress(path, threads, &|nbytes| progress.add(nbytes))
                .map_err(|error| not_a_frame(path, path, error))?;
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
        Status::Ok | Status::Unreadable => Vec::new(),
        Status::Damaged => checked.damages.iter().map(|damage| format!("{path}: {damage}")).collect(),
    };
    if let Some(other_data) = checked.other_data.as_ref().filter(|_| !terminal.is_quiet()) {
        lines.push(format!("{path}: {other_data}"));
    }
    lines
}
