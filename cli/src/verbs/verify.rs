//! `blosc2 verify`: reads and checks everything in files, and lists what is damaged.
//!
//! With `--json`, an array with one object for each file: `path`; `status`: `ok`, `damaged` or `unreadable`; `error`: of
//! an unreadable file, otherwise null; `damages`: the [damaged parts](DamagedPart); `other_data`: the
//! [data behind the frame](OtherData), or null.

use crate::args::VerifyArguments;
use crate::damage::{DamagedPart, OtherData};
use crate::error::{Failure, WithPath};
use crate::kind::Kind;
use crate::results::Results;
use crate::terminal::Terminal;
use blosc2::{Chunk, Decoder};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Checked {
    path: String,
    status: Status,
    error: Option<String>,
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
    let progress = terminal.count_progress("verify", arguments.files.len() as u64);
    let mut lines = Vec::new();
    for path in &arguments.files {
        let checked = check(path, threads);
        is_whole &= checked.status == Status::Ok;
        if let Some(error) = &checked.error {
            terminal.error(error);
        }
        match &mut array {
            Some(array) => array.element(&checked)?,
            None => lines.extend(lines_of(&checked, terminal)),
        }
        progress.add(1);
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
fn check(path: &Path, threads: usize) -> Checked {
    let (status, error, damages) = match damages(path, threads) {
        Ok(damages) if damages.is_empty() => (Status::Ok, None, damages),
        Ok(damages) => (Status::Damaged, None, damages),
        Err(failure) => (Status::Unreadable, failure.message().map(str::to_owned), Vec::new()),
    };
    Checked { path: path.display().to_string(), status, error, damages, other_data: OtherData::behind(path) }
}

/// Returns the damaged parts.
fn damages(path: &Path, threads: usize) -> Result<Vec<DamagedPart>, Failure> {
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
            let damages = blosc2::verify(path, threads).with_path(path)?;
            Ok(damages.iter().map(DamagedPart::from).collect())
        }
    }
}

fn lines_of(checked: &Checked, terminal: &Terminal) -> Vec<String> {
    let path = &checked.path;
    let mut lines: Vec<String> = match checked.status {
        Status::Ok if !terminal.is_quiet() => vec![format!("{path}: ok")],
        Status::Ok | Status::Unreadable => Vec::new(),
        Status::Damaged => checked.damages.iter().map(|damage| format!("{path}: {damage}")).collect(),
    };
    if let Some(other_data) = checked.other_data.as_ref().filter(|_| !terminal.is_quiet()) {
        lines.push(format!("{path}: {other_data}"));
    }
    lines
}
