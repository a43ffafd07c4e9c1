//! The size of files that are changed many times at level `kill`, relative to the same changes at level `off`: before
//! the frame is closed it may hold replaced parts, afterwards it holds few or none.

use std::fs;
use std::path::Path;

use crate::checksums::CHECKSUMS;
use crate::levels::{Level, assert_library_has_levels};
use crate::processes::{self, child_part};
use crate::support::all_libraries;
use crate::support::calls::{Params, compress};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// Limit for the duration of a child, in seconds: more than 100,000 appends need.
const SECONDS_LIMIT: u32 = 1200;
/// The number of times that the size is measured before the frame is closed.
const SAMPLES: usize = 50;

/// A repeated change of a super-chunk, and the limits for the size at level `kill` divided by the size at level `off`.
struct Scenario {
    store: Store,
    /// The uncompressed size of a chunk.
    nbytes: usize,
    initial_chunks: usize,
    steps: usize,
    change: fn(&SuperChunk, &Scenario, usize),
    /// Limit before the frame is closed, in the second half of the steps.
    open_limit: f64,
    /// Limit after the frame is closed.
    closed_limit: f64,
    /// Whether a closed file has the bytes that level `off` writes.
    is_identical: bool,
}

/// The sizes and the contents at one level.
struct Outcome {
    open_sizes: Vec<u64>,
    closed_size: u64,
    closed_files: usize,
    closed_bytes: Vec<u8>,
    chunks: Vec<Vec<u8>>,
    note: Vec<u8>,
}

fn params() -> Params {
    Params { codec: 1, typesize: 4, ..Params::default() }
}

/// Returns `nbytes` bytes that depend on `step`: between a tenth and nine tenths of them are random, so that the
/// compressed sizes differ.
fn content(step: usize, nbytes: usize) -> Vec<u8> {
    let mut random = Random::of_item(41, step as u64);
    let noise = nbytes / 10 + random.below(nbytes * 8 / 10);
    let mut bytes = random.bytes(noise);
    bytes.resize(nbytes, step as u8);
    bytes
}

fn append(schunk: &SuperChunk, scenario: &Scenario, step: usize) {
    let expected = (scenario.initial_chunks + step + 1) as i64;
    assert_eq!(schunk.append(&content(step, scenario.nbytes)), Ok(expected));
}

fn update(schunk: &SuperChunk, scenario: &Scenario, step: usize) {
    let nbytes = scenario.nbytes;
    let chunk = compress(Library::ours(), &params(), &content(step, nbytes), nbytes + 100).expect("a chunk");
    // 7 and the number of chunks have no common divisor: each chunk is updated equally often.
    let nchunk = (step * 7 % scenario.initial_chunks) as i64;
    assert_eq!(schunk.update_chunk(nchunk, &chunk), Ok(scenario.initial_chunks as i64));
}

/// The name of the metalayer that [`update_note`] changes.
const NOTE: &str = "note";

fn update_note(schunk: &SuperChunk, scenario: &Scenario, step: usize) {
    assert_eq!(schunk.vlmeta_update(NOTE, &content(step, scenario.nbytes)), 1);
}

/// Returns the size and the number of the files of a frame.
fn files_size(path: &Path) -> (u64, usize) {
    if !path.is_dir() {
        return (fs::metadata(path).expect("a file").len(), 1);
    }
    let files = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry"));
    let sizes: Vec<u64> = files.map(|entry| entry.metadata().expect("a file").len()).collect();
    (sizes.iter().sum(), sizes.len())
}

/// Runs the scenario at one level.
fn run_at(level: Level, scenario: &Scenario) -> Outcome {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
    let schunk =
        unsafe { level.run(|| SuperChunk::create(Library::ours(), scenario.store, &path, &params())) };
    for n in 0..scenario.initial_chunks {
        schunk.append(&content(1_000_000 + n, scenario.nbytes)).expect("appended");
    }
    assert_eq!(schunk.vlmeta_add("other", b"some content"), 0);
    assert_eq!(schunk.vlmeta_add(NOTE, b"another content"), 1);
    let mut open_sizes = Vec::new();
    assert!(scenario.steps >= SAMPLES, "{} steps", scenario.steps);
    for step in 0..scenario.steps {
        (scenario.change)(&schunk, scenario, step);
        if (step + 1) * SAMPLES / scenario.steps > step * SAMPLES / scenario.steps {
            open_sizes.push(files_size(&path).0);
        }
    }
    drop(schunk);
    let (closed_size, closed_files) = files_size(&path);
    let closed_bytes = if path.is_dir() { Vec::new() } else { fs::read(&path).expect("a file") };
    let mut contents: Vec<_> = all_libraries()
        .into_iter()
        .map(|library| {
            let schunk = SuperChunk::open(library, &path).expect("a super-chunk");
            let chunks: Vec<Vec<u8>> =
                (0..schunk.nchunks()).map(|n| schunk.decompress(n).expect("a chunk")).collect();
            (chunks, schunk.vlmeta_get(NOTE).expect("a metalayer"))
        })
        .collect();
    assert!(contents.iter().all(|other| *other == contents[0]), "the libraries read different contents");
    if path.is_dir() {
        assert_no_other_file(&path, contents[0].0.len());
    }
    let (chunks, note) = contents.remove(0);
    Outcome { open_sizes, closed_size, closed_files, closed_bytes, chunks, note }
}

/// Checks that a directory has one file for each chunk, and the index.
fn assert_no_other_file(path: &Path, nchunks: usize) {
    let files = read_files(path);
    let chunk_files = files.keys().filter(|name| name.ends_with(".chunk")).count();
    assert_eq!(chunk_files, nchunks, "chunk files");
    assert_eq!(files.len(), nchunks + 1, "files");
}

/// Runs the scenario at both levels in a child and checks the sizes.
fn check_growth(test: &str, scenario: &Scenario) {
    if child_part().is_none() {
        let line = processes::start(test, "growth", &[(CHECKSUMS, "verify")], SECONDS_LIMIT).join();
        println!("{:?}, {} steps: {line}", scenario.store, scenario.steps);
        return;
    }
    assert_library_has_levels();
    let (off, kill) = (run_at(Level::Off, scenario), run_at(Level::Kill, scenario));
    assert_eq!(off.chunks.len(), kill.chunks.len(), "numbers of chunks");
    assert!(off.chunks == kill.chunks && off.note == kill.note, "the contents differ between the levels");
    let pairs = off.open_sizes.iter().zip(&kill.open_sizes);
    let open: Vec<f64> = pairs.map(|(&off, &kill)| kill as f64 / off as f64).collect();
    assert_eq!(open.len(), SAMPLES);
    let largest = |ratios: &[f64]| ratios.iter().copied().fold(0.0, f64::max);
    let (all, second_half) = (largest(&open), largest(&open[SAMPLES / 2..]));
    let closed = kill.closed_size as f64 / off.closed_size as f64;
    processes::report(&format!(
        "size at kill by size at off: {all:.3} at most, {second_half:.3} in the second half, {closed:.3} after close; \
         {} bytes in {} files at off",
        off.closed_size, off.closed_files
    ));
    // Every commit to a file leaves the replaced index or trailer behind: a size that never differs means level off.
    assert!(scenario.store == Store::Directory || all > 1.0, "level kill leaves no replaced part");
    assert!(second_half <= scenario.open_limit, "{second_half} times the size before close");
    assert!(closed <= scenario.closed_limit, "{closed} times the size after close");
    assert_eq!(off.closed_files, kill.closed_files, "numbers of files");
    assert!(!scenario.is_identical || off.closed_bytes == kill.closed_bytes, "other bytes after close");
}

fn appends(store: Store) -> Scenario {
    let count = from_environment("BLOSC2_GROWTH_APPENDS", 5000) as usize;
    Scenario {
        store,
        nbytes: 256,
        initial_chunks: 0,
        // Creating a file for each chunk takes several times as long.
        steps: if store == Store::File { count } else { count / 5 },
        change: append,
        open_limit: 1.5,
        closed_limit: 1.05,
        is_identical: store == Store::File,
    }
}

fn updates(store: Store, change: fn(&SuperChunk, &Scenario, usize)) -> Scenario {
    Scenario {
        store,
        nbytes: 4000,
        initial_chunks: 10,
        steps: 1000,
        change,
        open_limit: 3.0,
        closed_limit: 1.05,
        is_identical: false,
    }
}

#[test]
fn appends_to_a_file() {
    check_growth(test_name!(), &appends(Store::File));
}

#[test]
fn appends_to_a_directory() {
    check_growth(test_name!(), &appends(Store::Directory));
}

#[test]
fn updates_of_chunks_of_a_file() {
    check_growth(test_name!(), &updates(Store::File, update));
}

#[test]
fn updates_of_chunks_of_a_directory() {
    check_growth(test_name!(), &updates(Store::Directory, update));
}

#[test]
fn updates_of_a_metalayer_of_a_file() {
    check_growth(test_name!(), &updates(Store::File, update_note));
}

#[test]
fn updates_of_a_metalayer_of_a_directory() {
    check_growth(test_name!(), &updates(Store::Directory, update_note));
}
