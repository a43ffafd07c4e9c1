//! Speed and size against the reference library, measured in one process (except the group `apart`). Both libraries do
//! the same work in turn. The output is ratios only; above 1, ours is better.
//!
//! ```text
//! scripts/fetch-reference.sh; scripts/fetch-bench-data.sh
//! cargo bench --bench side_by_side                      # quick, below a minute
//! cargo bench --bench side_by_side -- --full --table - --svg docs/speed.svg   # everything
//! cargo bench --bench side_by_side -- --group items --codecs lz4,zstd --levels all
//! cargo bench --bench side_by_side -- --group schunk   # lz4 at level 5; --full: 20 000 chunks in a frame, too
//! cargo bench --bench side_by_side -- --group arrays   # lz4 at level 5; one thread and two
//! cargo bench --bench side_by_side -- --group durable  # durability levels and checksums of frames on disk
//! cargo build --release -p libblosc1-rs; scripts/fetch-blosc1.sh
//! cargo bench --bench side_by_side -- --group blosc1,blosc1-drawn   # libblosc.so.1 beside C-Blosc 1
//! cargo bench --bench side_by_side -- --help
//! ```
//!
//! Each group of measurements has one file; the data sets, the timing and the report have files too. A new group is a
//! file with a function `run` and an entry in [`GROUPS`].

#[path = "../../tests/support/mod.rs"]
mod support;

#[allow(dead_code, reason = "the cells of this benchmark are drawn, none has a name")]
#[path = "../drawn/cell.rs"]
mod cell;
#[path = "../drawn/families.rs"]
mod families;
#[path = "../drawn/files.rs"]
mod files;

mod arrays;
mod blosc1;
mod boxes;
mod chart;
mod chunks;
mod codec_grid;
mod datasets;
mod durable;
mod items;
mod options;
mod plugins;
mod report;
mod schunk;
mod shuffles;
mod small;
mod summary;
mod table;
mod timing;

use std::path::Path;
use std::process::ExitCode;

use library::Library;
use options::Options;
use report::Report;
use support::{calls, library};

/// The input of a group: both libraries and the command line.
struct Bench {
    ours: &'static Library,
    reference: &'static Library,
    options: Options,
}

/// A group of measurements: its name on the command line, and the function that measures it.
type Group = (&'static str, fn(&Bench) -> Report);

const GROUPS: [Group; 14] = [
    ("chunks", chunks::run),
    ("small", small::run),
    ("items", items::run),
    ("shuffles", shuffles::run),
    ("schunk", schunk::run),
    ("boxes", boxes::run),
    ("plugins", plugins::run),
    ("arrays", arrays::run),
    ("apart", arrays::separate_processes::run),
    ("durable", durable::run),
    ("blosc1", blosc1::run),
    ("blosc1-small", blosc1::run_small),
    ("blosc1-items", blosc1::run_items),
    ("blosc1-drawn", blosc1::run_drawn),
];

/// The groups that run only if `--group` names them: the cells of `durable` compare settings of our library, and
/// synchronise files; the others need another library.
const REQUESTED_ONLY: [&str; 5] = ["durable", "blosc1", "blosc1-small", "blosc1-items", "blosc1-drawn"];

fn main() -> ExitCode {
    if arrays::separate_processes::run_if_child() {
        return ExitCode::SUCCESS;
    }
    let names: Vec<&str> = GROUPS.iter().map(|group| group.0).collect();
    let defaults: Vec<&str> = names.iter().copied().filter(|name| !REQUESTED_ONLY.contains(name)).collect();
    let options = match Options::parse(std::env::args().skip(1), &names, &defaults) {
        Ok(Some(options)) => options,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("side_by_side: {message}\n{}", options::USAGE);
            return ExitCode::FAILURE;
        }
    };
    let Some(reference) = Library::reference() else {
        eprintln!("side_by_side: no reference library to compare with (run scripts/fetch-reference.sh)");
        return ExitCode::FAILURE;
    };
    let bench = Bench { ours: Library::ours(), reference, options };
    println!("ratios, ours against the reference: > 1 is better (smaller, faster)\n");
    let mut lines = Vec::new();
    for (name, run) in GROUPS {
        if bench.options.groups.iter().any(|wanted| wanted == name) {
            let report = run(&bench);
            report.summarise();
            lines.extend(report.lines());
        }
    }
    let outputs = [(&bench.options.table, table::markdown(&lines)), (&bench.options.svg, chart::svg(&lines))];
    for (path, text) in outputs {
        if let Some(path) = path
            && let Err(error) = write(path, &text)
        {
            eprintln!("side_by_side: {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Writes `text` to the file `path`, or to standard output if `path` is `-`.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if path == Path::new("-") {
        print!("{text}");
        return Ok(());
    }
    std::fs::write(path, text)
}
