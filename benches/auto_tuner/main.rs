//! The automatic tuner: measures codecs, levels and filter pipelines on drawn data, fits the model to such measurements, and
//! compares the choices of the tuner with the best combination of each data set. `scripts/tune --model` and `--check` run it.
//!
//! Data flow: seed -> [`data`] -> [`measure`]: a table of sizes and times, which is written to a file -> [`table`] -> [`fit`],
//! [`check`] or [`chart`]. [`overhead`] measures the time that the tuner itself takes.

#[path = "../../tests/support/mod.rs"]
mod support;

#[path = "../drawn/cell.rs"]
#[allow(dead_code, reason = "the benchmark `drawn` has named cells and draws parameters")]
mod cell;
mod chart;
mod check;
mod data;
#[path = "../drawn/families.rs"]
mod families;
#[path = "../drawn/files.rs"]
mod files;
mod fit;
#[path = "../tune/linked.rs"]
mod linked;
mod measure;
mod overhead;
mod table;

use std::process::ExitCode;
use std::slice;

use blosc2::internals::auto_tuner::MODEL;
use support::calls;

const USAGE: &str = "\
measure --seed N --sets N [--first N] [--all] --out FILE
                             the tuner's candidates on drawn data, or all codecs, levels and pipelines; seed 0 stands for
                             the files of scripts/fetch-field-data.sh
fit FILE... --out MODEL      the model, as a Rust module
validate FILE... [--list] [--without N,N...]...
                             the choices of models that are fitted to 4 of 5 parts of the data, for the fifth; once more for
                             each list of features that they are fitted without
check FILE... [--list]       the choices of the library's model; --list prints those below 0.8
chart FILE... --out DIRECTORY
                             charts of ratio against speed for the tradeoffs 0, 0.5 and 1
choices FILE COMPRESSION DECOMPRESSION BALANCED
                             choices of another tuner for the files, at tradeoff 0.5 (scripts/compare-btune.sh)
repeat FILE FILE             the best choices of one table, for another one with the same sets
overhead --seed N --sets N   the time of the tuner";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let command = words.next();
    let (mut files, mut seed, mut count, mut first, mut out) = (Vec::new(), 1, 100, 0, String::new());
    let (mut lists, mut is_exhaustive, mut without) = (false, false, Vec::new());
    let numbers =
        |text: &str| -> Vec<usize> { text.split(',').map(|n| n.parse().expect("a number")).collect() };
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word.as_str() {
            "--seed" => seed = value().parse().expect("a seed"),
            "--sets" => count = value().parse().expect("a number of sets"),
            "--first" => first = value().parse().expect("a number of a set"),
            "--out" => out = value(),
            "--list" => lists = true,
            "--without" => without.push(numbers(&value())),
            "--all" => is_exhaustive = true,
            _ => files.push(word),
        }
    }
    let sets = |files: &[String]| check::measured_sets(table::read(files));
    match command.as_deref() {
        Some("fit") => fit::run(&sets(&files), "scripts/tune --model", &out),
        Some("validate") => {
            let mut sets = sets(&files);
            for unused in [Vec::new()].iter().chain(&without) {
                println!("without the features {unused:?}:");
                fit::cross_validate(&mut sets, 5, unused, lists);
            }
        }
        Some("overhead") => overhead::run(seed, first..first + count),
        Some("check") => {
            let mut sets = sets(&files);
            check::run(&mut sets, lists, check::choice_of(&MODEL));
            check::print_sizes(&mut sets, &MODEL);
        }
        Some("chart") => chart::run(&mut sets(&files), out.as_ref()),
        Some("choices") => check::run_choices(&mut sets(&files[..1]), &files[1..]),
        Some("repeat") => {
            let [first, second] = &files[..] else { panic!("two tables are needed") };
            let table = table::read(slice::from_ref(first));
            check::run(&mut sets(slice::from_ref(second)), lists, check::best_in(&table));
        }
        Some("measure") if seed == data::FILES => {
            measure::run(seed, 0..data::field_files().len() as u64, is_exhaustive, &out);
        }
        Some("measure") => measure::run(seed, first..first + count, is_exhaustive, &out),
        None => println!("{USAGE}"),
        Some(_) => {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
