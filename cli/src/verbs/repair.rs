//! `blosc2 repair`: saves what is whole in a damaged file to a new file.
//!
//! With `--json`, one object: `source`, `destination` (null if nothing was saved), `saved` and `lost` (numbers of
//! chunks), `damages`: the [damaged parts](DamagedPart), `other_data`: the [data behind the frame](OtherData), which are
//! not saved, or null. The exit code is 2 if the new file is without damaged parts, and 1 if there is no new file.

use crate::args::RepairArguments;
use crate::damage::{DamagedPart, OtherData};
use crate::error::{Failure, WithPath};
use crate::input::{checksums_of, is_dash, not_a_frame};
use crate::kind::stored_len;
use crate::output::{TemporaryPath, check_is_new};
use crate::results::Results;
use crate::size::count;
use crate::terminal::Terminal;
use crate::transfer::Seekable;
use blosc2::{Damage, Part, Repaired, SuperChunk};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Repair {
    source: String,
    destination: Option<String>,
    saved: u64,
    lost: u64,
    damages: Vec<DamagedPart>,
    other_data: Option<OtherData>,
}

/// Runs the verb.
pub(crate) fn run(arguments: &RepairArguments, terminal: &Terminal) -> Result<(), Failure> {
    let name = &arguments.file;
    let destination = match &arguments.output {
        Some(output) => output.clone(),
        None => default_destination(name)?,
    };
    check_is_new(&destination)?;
    let file = Seekable::on_disk(name)?;
    let source = file.path();
    let metadata = source.metadata().with_path(name)?;
    let temporary = TemporaryPath::new(&destination)?;
    let nbytes = stored_len(source).with_path(source)?;
    // The chunks of the source are checked, and then those of the new file.
    let progress = terminal.progress("repair", Some(2 * nbytes));
    let repaired = arguments
        .checksums
        .apply(checksums_of(source) != Some(false), || {
            blosc2::repair_with_progress(source, temporary.path(), arguments.threads.count(), &|n| {
                progress.add(n)
            })
        })
        .map_err(|error| not_a_frame(source, source, error))?;
    drop(progress);
    let lost = lost_chunks(&repaired, temporary.path())?;
    // A file without chunks is whole without any.
    let is_saved = repaired.saved > 0 || lost == 0;
    if is_saved {
        // The new file has the mode of the damaged one, so that the same users can read it.
        temporary.copy_metadata(&metadata)?;
        temporary.commit(false, arguments.durability.survives_power_loss())?;
    }
    let repair = Repair {
        source: name.display().to_string(),
        destination: is_saved.then(|| destination.display().to_string()),
        saved: repaired.saved,
        lost,
        damages: repaired.damages.iter().map(DamagedPart::from).collect(),
        other_data: OtherData::behind(source),
    };
    print(&repair, arguments.json)?;
    if !is_saved {
        return Err(Failure::file(name, "no chunk could be saved, no file was written"));
    }
    if repair.damages.is_empty() {
        return Ok(());
    }
    terminal.warning(&format!("{}: damaged parts are not in {}", repair.source, destination.display()));
    Err(Failure::incomplete())
}

/// Returns the path next to `source` whose name has `.repaired` before the extension.
fn default_destination(source: &Path) -> Result<PathBuf, Failure> {
    let stem = source
        .file_stem()
        .filter(|_| !is_dash(source))
        .ok_or_else(|| Failure::usage("--output is missing for a file without a name"))?;
    let mut name = OsString::from(stem);
    name.push(".repaired");
    if let Some(extension) = source.extension() {
        name.push(".");
        name.push(extension);
    }
    Ok(source.with_file_name(name))
}

/// Returns the number of chunks that were lost: those with zeros in their place in the new file at `path`, or if the
/// number of chunks was lost with the index, the damaged places.
fn lost_chunks(repaired: &Repaired, path: &Path) -> Result<u64, Failure> {
    let replaced = SuperChunk::open(path).with_path(path)?.nchunks().saturating_sub(repaired.saved);
    let has = |damage: &&Damage, part| damage.part == part && damage.nchunk.is_none();
    let places = repaired.damages.iter().filter(|damage| has(damage, Part::Chunk)).count() as u64;
    let is_index_lost = repaired.damages.iter().any(|damage| damage.part == Part::Index);
    Ok(if is_index_lost { replaced.max(places) } else { replaced })
}

fn print(repair: &Repair, as_json: bool) -> Result<(), Failure> {
    let mut results = Results::new();
    if as_json {
        results.json(repair)?;
        return results.finish();
    }
    for damage in &repair.damages {
        results.line(format_args!("{}: {damage}", repair.source))?;
    }
    let path = repair.destination.as_ref().unwrap_or(&repair.source);
    results.line(format_args!("{path}: {} saved, {} lost", count(repair.saved, "chunk"), repair.lost))?;
    if let Some(other_data) = &repair.other_data {
        results.line(format_args!("{}: {other_data}, which are not saved", repair.source))?;
    }
    results.finish()
}
