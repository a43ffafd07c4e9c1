//! Running an operation with a fault in one of its system calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::c_program::{build, root};
use crate::contents::Contents;
use crate::operations::{Operation, ours};
use crate::support::all_libraries;
use crate::support::child::test_again;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// The environment variable of a child: number of the operation, fault, number of the call.
const TASK: &str = "BLOSC2_DURABILITY_TASK";
/// The environment variable of a child: the path of the frame.
const PATH: &str = "BLOSC2_DURABILITY_PATH";

/// What happens to a system call; the values are those of `capi-tests/fault_injection.c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// No fault: the calls are counted.
    None = 0,
    /// The process is killed before the call.
    Kill = 1,
    /// The process is killed in the middle of a write, at a sector if the write has several; before another call.
    Torn = 2,
    /// The call returns EIO.
    EioOnce = 3,
    /// The call returns ENOSPC.
    NoSpace = 5,
    /// A write writes half of its bytes and returns their number.
    Short = 6,
}

/// What can be read after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The state before the change.
    Old,
    /// The state after the change.
    New,
    /// Parts of both states, or errors; every chunk that can be read is an old or a new one.
    Mixed,
    /// The files cannot be opened.
    Unreadable,
    /// A chunk is read with success that is neither old nor new.
    Wrong,
}

/// The outcomes of an operation: for each of them, the numbers of the calls.
#[derive(Default)]
pub struct Outcomes {
    pub calls: usize,
    by_outcome: BTreeMap<Outcome, Vec<usize>>,
}

impl Outcomes {
    /// Returns the calls that had this outcome.
    pub fn of(&self, outcome: Outcome) -> &[usize] {
        self.by_outcome.get(&outcome).map_or(&[], Vec::as_slice)
    }

    pub fn total(&self) -> usize {
        self.by_outcome.values().map(Vec::len).sum()
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls", self.calls)?;
        for (outcome, calls) in &self.by_outcome {
            write!(f, ", {} {outcome:?}", calls.len())?;
        }
        Ok(())
    }
}

/// Returns the library that injects faults; it is compiled once.
fn preloaded() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let arguments: Vec<OsString> = ["-shared", "-fPIC", "-ldl"].map(OsString::from).to_vec();
        build("fault_injection.c", &root().join("include"), "preload", &arguments)
    })
}

/// In a child process, runs the operation of the task, prints its result, and returns true.
pub fn run_child(operations: &[Operation]) -> bool {
    let Ok(task) = std::env::var(TASK) else { return false };
    let path = PathBuf::from(std::env::var_os(PATH).expect("a path"));
    let numbers: Vec<i64> = task.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [operation, fault, call] = numbers[..] else { panic!("{TASK}={task}") };
    // SAFETY: functions of the preloaded library with these signatures.
    let (start, stop) = unsafe {
        let find = |name: &std::ffi::CStr| {
            let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
            assert!(!found.is_null(), "the library with {name:?} is not preloaded");
            found
        };
        (
            std::mem::transmute::<*mut libc::c_void, extern "C" fn(libc::c_int, libc::c_long)>(find(
                c"fault_start",
            )),
            std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> libc::c_long>(find(c"fault_stop")),
        )
    };
    let mut calls = 0;
    let succeeded = (operations[operation as usize].change)(&path, &mut |change| {
        start(fault as libc::c_int, call);
        let succeeded = change();
        calls = stop();
        succeeded
    });
    println!("\nRESULT {} {calls}", u8::from(succeeded));
    true
}

/// Starts a child. Returns whether the change succeeded and the number of its calls; `None` if it was killed.
fn start(name: &str, number: usize, fault: Fault, call: usize, path: &Path) -> Option<(bool, usize)> {
    let output = test_again(name)
        .env("LD_PRELOAD", preloaded())
        .env(TASK, format!("{number} {} {call}", fault as i32))
        .env(PATH, path)
        .output()
        .expect("a child");
    if output.status.signal() == Some(libc::SIGKILL) {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
    let result = result
        .unwrap_or_else(|| panic!("{}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    let (succeeded, calls) = result.split_once(' ').expect("two numbers");
    Some((succeeded == "1", calls.parse().expect("a number")))
}

/// Copies a file, or a directory with its files.
fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir(to).expect("a directory");
        for entry in fs::read_dir(from).expect("a directory") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    } else {
        fs::copy(from, to).expect("copied");
    }
}

/// Injects `fault` into each system call of the operation, in a new copy of the files for each.
pub fn inject(name: &str, operation: &Operation, number: usize, store: Store, fault: Fault) -> Outcomes {
    let scratch = ScratchDir::new();
    let (original, changed) = (scratch.new_path(), scratch.new_path());
    (operation.make)(store, &original);
    copy(&original, &changed);
    let read = |path: &Path| Contents::read(ours(), path, operation.is_array).expect("a frame");
    let before = read(&original);
    let (succeeded, calls) = start(name, number, Fault::None, 0, &changed).expect("a result");
    assert!(succeeded, "{}: without a fault", operation.name);
    let after = read(&changed);
    assert_ne!(before, after, "{} changes nothing", operation.name);
    let mut outcomes = Outcomes { calls, ..Outcomes::default() };
    for call in 0..calls {
        let path = scratch.new_path();
        copy(&original, &path);
        let result = start(name, number, fault, call, &path);
        let of_library = all_libraries().into_iter().map(|library| {
            match Contents::read(library, &path, operation.is_array) {
                None => Outcome::Unreadable,
                Some(found) if found == before => Outcome::Old,
                Some(found) if found == after => Outcome::New,
                Some(found) if found.has_wrong_chunk([&before, &after]) => Outcome::Wrong,
                Some(_) => Outcome::Mixed,
            }
        });
        let outcome = of_library.max().expect("a library");
        if let Some((succeeded, _)) = result {
            let expected = if succeeded { Outcome::New } else { Outcome::Old };
            let is_consistent = outcome == expected || outcome > Outcome::New;
            assert!(
                is_consistent,
                "{}, {fault:?} in call {call}: {succeeded}, but {outcome:?}",
                operation.name
            );
        }
        outcomes.by_outcome.entry(outcome).or_default().push(call);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.expect("removed");
    }
    outcomes
}
