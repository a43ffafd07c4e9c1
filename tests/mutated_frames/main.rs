//! Damaged frames: whatever the bytes are, opening, reading and changing them returns an error or a result that is
//! consistent in itself. Nothing is read or written outside the buffers (which lie against inaccessible pages),
//! nothing hangs or panics, and the memory in use grows by no more than [`memory::allowance`].
//!
//! ```text
//! BLOSC2_MUTANTS=50000 cargo test --release --test mutated_frames
//! ```
//!
//! runs that many mutants in all, a third of them as buffers, as files and as directories; `BLOSC2_MUTANT_SEED`
//! picks another sample and `BLOSC2_MUTANT_ONLY=<case>` replays one case of it. Ranges of cases run in child
//! processes, so that a crash or a hang is a failed test that names its case.

#[path = "../support/mod.rs"]
mod support;

mod exercise;
mod fields;
mod memory;
mod mutation;
mod originals;

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use exercise::Exercise;
use fields::Files;
use originals::{Original, originals};
use support::guard::GuardedBuffer;
use support::library::Library;
use support::random::{Random, from_environment};
use support::super_chunk::SuperChunk;
use support::super_chunk::scratch::Scratch;
use support::watchdog;

/// The variable that tells a child its cases: `first..last`.
const CHILD: &str = "BLOSC2_FRAME_MUTANT_CHILD";
const DEFAULT_SEED: u64 = 17;
const DEFAULT_MUTANTS: u64 = 3000;
/// Cases of one child.
const RANGE: u64 = 2000;
/// After so many crashes there is nothing to learn from the next.
const ENOUGH: usize = 8;
const CAPACITY: usize = 1 << 20;

/// How a mutant reaches the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Buffer,
    File,
    Directory,
}

fn seed(form: Form) -> u64 {
    from_environment("BLOSC2_MUTANT_SEED", DEFAULT_SEED) ^ (form as u64) << 32
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
    let exercise = Exercise;
    match form {
        Form::Buffer => {
            let frame = &files["frame"];
            let at_end = !random.one_in(4);
            let buffer = guarded.flush(frame.len(), at_end);
            buffer.copy_from_slice(frame);
            watchdog::step();
            if let Some(schunk) = SuperChunk::from_copy(library, buffer) {
                exercise.read(random, &schunk);
                exercise.change(random, &schunk);
            }
            watchdog::step();
            // SAFETY: the buffer outlives the super-chunk, which is only read.
            let borrowed = unsafe { SuperChunk::from_borrowed(library, buffer.as_mut_ptr(), buffer.len()) };
            if let Some(schunk) = borrowed {
                exercise.read(random, &schunk);
            }
            assert!(buffer == frame.as_slice(), "reading changed the buffer");
            // SAFETY: a fresh block of that size. It is never freed here: the reference may have moved it.
            let owned = unsafe {
                let owned = libc::malloc(frame.len().max(1)).cast::<u8>();
                std::ptr::copy_nonoverlapping(frame.as_ptr(), owned, frame.len());
                SuperChunk::from_borrowed(library, owned, frame.len())
            };
            if let Some(schunk) = owned {
                exercise.change(random, &schunk);
            }
        }
        Form::File | Form::Directory => {
            let path = scratch.fresh();
            if form == Form::File {
                fs::write(&path, &files["frame"]).expect("a file");
            } else {
                fs::create_dir(&path).expect("a directory");
                for (name, bytes) in files {
                    fs::write(path.join(name), bytes).expect("a file");
                }
            }
            watchdog::step();
            if let Some(schunk) = SuperChunk::open(library, &path) {
                exercise.read(random, &schunk);
                if random.one_in(2) {
                    exercise.change(random, &schunk);
                }
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.expect("a path to remove");
        }
    }
}

fn child(form: Form, cases: std::ops::Range<u64>) {
    let mut stderr = watchdog::Stderr::catch();
    let originals = originals(form);
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
            let changes = describe(original, &files);
            stderr.say(&format!("FAILED: {form:?} run {} case {index}: {changes}", seed(form)));
            failures += 1;
            assert!(failures < ENOUGH, "too many failures");
        }
    }
    assert_eq!(failures, 0);
}

/// The original and where the mutant differs from it.
fn describe(original: &Original, files: &Files) -> String {
    let mut text = format!("of {}", original.name);
    for (name, bytes) in files {
        let Some(before) = original.files.get(name) else {
            text += &format!("; {name} is new");
            continue;
        };
        let changed: Vec<String> = (0..bytes.len().min(before.len()))
            .filter(|&at| bytes[at] != before[at])
            .take(12)
            .map(|at| format!("[{at:#x}] {:02x} -> {:02x}", before[at], bytes[at]))
            .collect();
        if bytes.len() != before.len() || !changed.is_empty() {
            text += &format!("; {name}: {} -> {} bytes, {changed:?}", before.len(), bytes.len());
        }
    }
    let missing = original.files.keys().filter(|name| !files.contains_key(*name));
    missing.fold(text, |text, name| text + &format!("; {name} is gone"))
}

/// Runs the test `name` of this executable again, as children that do the work, range by range; a range goes on
/// behind a case that ended its child.
fn in_children(name: &str, form: Form) {
    if let Ok(range) = std::env::var(CHILD) {
        let (first, last) = range.split_once("..").expect("a range of cases");
        return child(form, first.parse().expect("a case")..last.parse().expect("a case"));
    }
    if Library::ours().is_reference() {
        // It is known to crash on damaged frames (frame.md 9).
        return;
    }
    let (mut first, end) = match std::env::var("BLOSC2_MUTANT_ONLY") {
        Ok(text) => {
            let case: u64 = text.parse().expect("BLOSC2_MUTANT_ONLY is a number");
            (case, case + 1)
        }
        Err(_) => (0, from_environment("BLOSC2_MUTANTS", DEFAULT_MUTANTS).div_ceil(3)),
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
fn mutants_as_files() {
    in_children("mutants_as_files", Form::File);
}

#[test]
fn mutants_as_directories() {
    in_children("mutants_as_directories", Form::Directory);
}
