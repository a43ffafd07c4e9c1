//! Damaged array frames: whatever the metalayer and the frame say, opening, reading and changing the array returns an
//! error or a result that is consistent in itself. Nothing is read or written outside the buffers (which lie against
//! inaccessible pages), nothing hangs or panics, and the memory in use grows by no more than
//! [`memory::allowance`].
//!
//! ```text
//! BLOSC2_ARRAY_MUTANTS=50000 cargo test --release --test mutated_arrays
//! ```
//!
//! runs that many mutants in all, half of them as buffers and half as files and directories;
//! `BLOSC2_ARRAY_MUTANT_SEED` picks another sample and `BLOSC2_ARRAY_MUTANT_ONLY=<case>` replays one case of it.
//! Ranges of cases run in child processes, so that a crash or a hang is a failed test that names its case.

#[path = "../support/mod.rs"]
mod support;

mod exercise;
#[path = "../mutated_frames/memory.rs"]
mod memory;
mod mutation;
mod originals;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use originals::{Files, Original, originals};
use support::array::Array;
use support::guard::GuardedBuffer;
use support::library::Library;
use support::random::{Random, from_environment};
use support::super_chunk::SuperChunk;
use support::super_chunk::scratch::Scratch;
use support::watchdog;

/// The variable that tells a child its cases: `first..last`.
const CHILD: &str = "BLOSC2_ARRAY_MUTANT_CHILD";
const DEFAULT_MUTANTS: u64 = 2000;
/// Cases of one child.
const RANGE: u64 = 2000;
/// After so many crashes there is nothing to learn from the next.
const ENOUGH: usize = 8;
const CAPACITY: usize = 1 << 20;

/// How a mutant reaches the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Buffer,
    Path,
}

fn seed(form: Form) -> u64 {
    from_environment("BLOSC2_ARRAY_MUTANT_SEED", 23) ^ (form as u64) << 32
}

/// Case `index`: its bytes, and what it was made from.
fn mutant<'a>(random: &mut Random, originals: &'a [Original]) -> (&'a Original, Files) {
    let original = random.pick(originals);
    let mut files = original.files.clone();
    for _ in 0..*random.pick(&[0, 1, 1, 1, 1, 1, 2, 2, 3]) {
        mutation::mutate(random, original, &mut files);
    }
    (original, files)
}

/// Runs one case; a failed check panics.
fn run_case(random: &mut Random, form: Form, files: &Files, scratch: &Scratch, guarded: &mut GuardedBuffer) {
    let library = Library::ours();
    match form {
        Form::Buffer => {
            let frame = &files["frame"];
            let at_end = !random.one_in(4);
            let buffer = guarded.flush(frame.len(), at_end);
            buffer.copy_from_slice(frame);
            watchdog::step();
            let (rc, array) = Array::from_copy(library, buffer);
            assert_eq!(rc < 0, array.is_none(), "from_cframe gives {rc}");
            if let Some(array) = array {
                exercise::read(random, &array);
                exercise::change(random, &array);
            }
            watchdog::step();
            // SAFETY: the buffer outlives the array, which is only read.
            let (_, borrowed) = unsafe { Array::from_borrowed(library, buffer.as_mut_ptr(), buffer.len()) };
            if let Some(array) = borrowed {
                exercise::read(random, &array);
            }
            assert!(buffer == frame.as_slice(), "reading changed the buffer");
        }
        Form::Path => {
            let path = scratch.fresh();
            if let Some(frame) = files.get("frame") {
                fs::write(&path, frame).expect("a file");
            } else {
                fs::create_dir(&path).expect("a directory");
                for (name, bytes) in files {
                    fs::write(path.join(name), bytes).expect("a file");
                }
            }
            watchdog::step();
            let array = if random.one_in(4) {
                SuperChunk::open(library, &path).and_then(|schunk| Array::from_super_chunk(schunk).ok())
            } else {
                let (rc, array) = Array::open(library, &path);
                assert_eq!(rc < 0, array.is_none(), "open gives {rc}");
                array
            };
            if let Some(array) = array {
                exercise::read(random, &array);
                if random.one_in(2) {
                    exercise::change(random, &array);
                }
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.expect("a path to remove");
        }
    }
}

fn child(form: Form, cases: std::ops::Range<u64>) {
    let mut stderr = watchdog::Stderr::catch();
    let originals = originals(form == Form::Buffer);
    stderr.take();
    let scratch = Scratch::new();
    let mut guarded = GuardedBuffer::new(CAPACITY);
    memory::limit_address_space();
    watchdog::start(seed(form), Duration::from_secs(20));
    let mut failures = 0;
    for index in cases {
        watchdog::case(index);
        let random = &mut Random::of_item(seed(form), index);
        let (original, files) = mutant(random, &originals);
        let size: usize = files.values().map(Vec::len).sum();
        let gauge = memory::Gauge::start();
        let run = std::panic::AssertUnwindSafe(|| run_case(random, form, &files, &scratch, &mut guarded));
        let failed = std::panic::catch_unwind(run).is_err();
        let grown = gauge.grown();
        let said = stderr.take();
        // A panic inside the library is caught at its border and looks like an error code.
        let panicked = said.contains("panicked") || said.contains("defect of the library");
        let greedy = grown > memory::allowance(size);
        if failed || panicked || greedy {
            let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
            stderr.say(&lines[lines.len().saturating_sub(30)..].join("\n"));
            if greedy {
                stderr.say(&format!("{grown} bytes of memory for {size} bytes of frame"));
            }
            let what = original.differences(&files);
            stderr.say(&format!("FAILED: {form:?} run {} case {index}: {what}", seed(form)));
            failures += 1;
            assert!(failures < ENOUGH, "too many failures");
        }
    }
    assert_eq!(failures, 0);
}

/// Runs the test `name` of this executable again, as children that do the work, range by range; a range goes on
/// behind a case that ended its child.
fn in_children(name: &str, form: Form) {
    if let Ok(range) = std::env::var(CHILD) {
        let (first, last) = range.split_once("..").expect("a range of cases");
        return child(form, first.parse().expect("a case")..last.parse().expect("a case"));
    }
    if Library::ours().is_reference() && std::env::var_os("BLOSC2_ARRAY_MUTANT_ONLY").is_none() {
        // It is known to crash on damaged frames (b2nd.md 10, frame.md 9).
        return;
    }
    let (mut first, end) = match std::env::var("BLOSC2_ARRAY_MUTANT_ONLY") {
        Ok(text) => {
            let case: u64 = text.parse().expect("BLOSC2_ARRAY_MUTANT_ONLY is a number");
            (case, case + 1)
        }
        Err(_) => (0, from_environment("BLOSC2_ARRAY_MUTANTS", DEFAULT_MUTANTS).div_ceil(2)),
    };
    println!("{form:?}: seed {}, cases {first}..{end}", seed(form));
    let mut reports = Vec::new();
    while first < end && reports.len() < ENOUGH {
        let last = end.min(first + RANGE);
        let output = Command::new(std::env::current_exe().expect("path of the test executable"))
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{first}..{last}"))
            // Errors are put into words, and panics inside are told.
            .env("BLOSC_TRACE", "1")
            .stdin(Stdio::null())
            .output()
            .expect("a child");
        first = last;
        if output.status.success() {
            continue;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let tail: Vec<&str> = errors.lines().rev().take(40).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        reports.push(format!("{}\n{}", output.status, tail.join("\n")));
        let ended_at = errors.lines().rev().find_map(|line| {
            let line = line.strip_prefix("CRASH in run ").or(line.strip_prefix("HANG in run "))?;
            line.split(" case ").nth(1)?.split(' ').next()?.parse::<u64>().ok()
        });
        first = ended_at.map_or(first, |case| case + 1);
    }
    assert!(reports.is_empty(), "{name}: {} failed children\n{}", reports.len(), reports.join("\n\n"));
}

#[test]
fn mutants_as_buffers() {
    in_children("mutants_as_buffers", Form::Buffer);
}

#[test]
fn mutants_as_paths() {
    in_children("mutants_as_paths", Form::Path);
}

/// What is done with the damaged arrays can be done with the valid ones.
#[test]
fn undamaged_arrays() {
    let scratch = Scratch::new();
    for original in originals(true) {
        let random = &mut Random::new(1);
        for _ in 0..5 {
            let (rc, array) = Array::from_copy(Library::ours(), &mut original.files["frame"].clone());
            let array = array.unwrap_or_else(|| panic!("{}: {rc}", original.name));
            exercise::read(random, &array);
            if !Library::ours().is_reference() {
                // It divides by zero in some (b2nd.md D13).
                exercise::change(random, &array);
            }
        }
        let path = scratch.fresh();
        fs::write(&path, &original.files["frame"]).expect("a file");
        exercise::read(random, &Array::open(Library::ours(), &path).1.expect("an array"));
    }
}
