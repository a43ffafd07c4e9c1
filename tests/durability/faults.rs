//! Running an operation with a fault in one of its calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::child::{Call, Task, run_all, run_expecting_success};
use crate::contents::{Contents, Form, Outcome, State, second_frame_offset};
use crate::disk_model::{Image, Snapshot};
use crate::levels::Level;
use crate::operations::setups::{ITEMS, noise};
use crate::operations::{Group, Operation, all, ours};
use crate::support::array::Array;
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// No fault: the calls are counted.
    None,
    /// The process is killed before the call.
    Kill,
    /// The process is killed in the middle of a write, at a sector if the write has several; before another call.
    Torn,
    /// The call returns EIO.
    EioOnce,
    /// The call and all later ones return EIO.
    EioForever,
    /// The call returns ENOSPC.
    NoSpace,
    /// A write writes half of its bytes and returns their number.
    Short,
    /// The process is killed in a write, at the first sector boundary inside the range.
    TornFirst,
    /// The process is killed in a write, at the last sector boundary inside the range.
    TornLast,
    /// The call returns EIO, and a change that fails is repeated with the same handle.
    EioRetry,
}

impl Fault {
    const ALL: [Fault; 10] = [
        Fault::None,
        Fault::Kill,
        Fault::Torn,
        Fault::EioOnce,
        Fault::EioForever,
        Fault::NoSpace,
        Fault::Short,
        Fault::TornFirst,
        Fault::TornLast,
        Fault::EioRetry,
    ];

    /// Returns the number in the task of a child.
    pub fn number(self) -> u64 {
        self as u64
    }

    /// Returns the fault with this number.
    pub fn of_number(number: u64) -> Fault {
        Fault::ALL[number as usize]
    }

    /// Returns the value of `enum kind` in `capi-tests/fault_injection.c`.
    pub fn kind(self) -> i32 {
        if self == Fault::EioRetry { Fault::EioOnce.kind() } else { self as i32 }
    }

    /// Returns whether the fault can happen in a call and differs there from the other faults.
    fn applies_to(self, call: Call) -> bool {
        match (self, call) {
            (Fault::Short, call) => matches!(call, Call::Write { .. }),
            (Fault::TornFirst, call) => matches!(call, Call::Write { boundaries: 1.. }),
            (Fault::TornLast, call) => matches!(call, Call::Write { boundaries: 2.. }),
            // A change whose synchronisation fails may have happened, so that it cannot be repeated.
            (Fault::EioRetry, call) => call != Call::Sync,
            _ => true,
        }
    }
}

/// The outcomes of an operation: for each of them, the numbers of the calls.
#[derive(Default)]
pub struct Outcomes {
    by_outcome: BTreeMap<Outcome, Vec<usize>>,
    /// The number of changes that returned an error after they had happened.
    failed_but_new: usize,
    /// Results and states that contradict each other, and later changes that fail.
    pub contradictions: Vec<String>,
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
        write!(f, "{} calls", self.total())?;
        for (outcome, calls) in &self.by_outcome {
            write!(f, ", {} {outcome:?}", calls.len())?;
        }
        if self.failed_but_new > 0 {
            write!(f, " ({} with an error)", self.failed_but_new)?;
        }
        Ok(())
    }
}

/// Copies a directory and everything in it.
pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_directory(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}

/// Copies files that a test has found damaged to the directory of the test run, and returns the path of the copy.
pub fn keep(directory: &Path, name: &str) -> PathBuf {
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("durability-{name}"));
    let _ = fs::remove_dir_all(&kept);
    copy_directory(directory, &kept);
    kept
}

/// The path of the frame in a directory that holds all files of an operation.
pub fn frame_in(directory: &Path) -> PathBuf {
    directory.join("frame.b2frame")
}

/// The worst outcome among the libraries that read files, and what fails if the files are changed again.
type Checked = (Outcome, Vec<String>);

/// An operation with its files, its calls, and the states before and after it.
pub struct Prepared {
    pub operation: &'static Operation,
    index: usize,
    store: Store,
    level: Level,
    scratch: ScratchDir,
    pub before: State,
    pub after: State,
    pub calls: Vec<Call>,
    /// The results of [`Prepared::check_files`] for the files and the value of its argument. Many faults leave equal files,
    /// for example all that an operation undoes.
    checked: RefCell<BTreeMap<(Image, bool), Checked>>,
}

impl Prepared {
    /// Creates the files and runs the operation without a fault.
    pub fn new(index: usize, store: Store, level: Level) -> Prepared {
        let operation = &all()[index];
        let scratch = ScratchDir::in_memory();
        let (original, changed) = (scratch.path().join("original"), scratch.path().join("changed"));
        fs::create_dir(&original).expect("a directory");
        run_expecting_success(Task::Make { operation: index, store }, level, &frame_in(&original), None);
        let before = State::read(ours(), &frame_in(&original), operation.form());
        copy_directory(&original, &changed);
        let task = Task::Change { operation: index, fault: Fault::None, call: 0 };
        let calls = run_expecting_success(task, level, &frame_in(&changed), None).calls;
        let after = State::read(ours(), &frame_in(&changed), operation.form());
        // The change before the release of a handle has succeeded, so that only its result is allowed.
        let before = if operation.is_close() { after.clone() } else { before };
        let name = operation.full_name(store);
        assert!(operation.is_close() || before != after, "{name} changes nothing");
        for library in operation.readers(store) {
            let found = State::read(library, &frame_in(&changed), operation.form());
            assert!(found == after, "{name}: {} reads another state", library.name);
        }
        let checked = RefCell::default();
        Prepared { operation, index, store, level, scratch, before, after, calls, checked }
    }

    pub fn name(&self) -> String {
        format!("{} at level {}", self.operation.full_name(self.store), self.level.name())
    }

    /// Returns the number of calls that synchronise files.
    pub fn syncs(&self) -> usize {
        self.calls.iter().filter(|&&call| call == Call::Sync).count()
    }

    /// Returns a new copy of the files before the operation, in a directory of its own.
    pub fn copy_original(&self) -> PathBuf {
        let directory = self.scratch.new_path();
        copy_directory(&self.scratch.path().join("original"), &directory);
        directory
    }

    /// Runs the operation once for each pair of a fault and a call, on a new copy of the files. Returns for each run
    /// the directory of the files and whether the operation succeeded; `None` if the process was killed.
    pub fn run_all(&self, faults: impl Iterator<Item = (Fault, usize)>) -> Vec<(PathBuf, Option<bool>)> {
        let tasks = faults.map(|(fault, call)| {
            let task = Task::Change { operation: self.index, fault, call };
            (task, frame_in(&self.copy_original()))
        });
        let tasks: Vec<(Task, PathBuf)> = tasks.collect();
        let results = run_all(&tasks, self.level, &self.scratch.path().join("tasks"));
        let directories = tasks.into_iter().map(|(_, path)| path.parent().expect("a directory").to_owned());
        directories.zip(results).collect()
    }

    /// Returns the worst outcome among the libraries that read the files in a directory.
    fn outcome(&self, directory: &Path) -> Outcome {
        let readers = self.operation.readers(self.store).into_iter();
        let outcomes = readers.map(|library| {
            State::read(library, &frame_in(directory), self.operation.form())
                .compare(&self.before, &self.after)
        });
        outcomes.max().expect("a library")
    }

    /// Reads the files in a directory, and changes copies of them if `is_changed_later`. Equal files are read once.
    pub fn check_files(&self, directory: &Path, is_changed_later: bool) -> Checked {
        let in_directory = |(path, bytes): (PathBuf, _)| {
            (path.strip_prefix(directory).expect("a path in the directory").to_owned(), bytes)
        };
        let image = Snapshot::read(directory).image().into_iter().map(in_directory).collect();
        let mut checked = self.checked.borrow_mut();
        let result = checked.entry((image, is_changed_later)).or_insert_with(|| {
            let outcome = self.outcome(directory);
            let is_changed = is_changed_later && outcome <= Outcome::New;
            (outcome, if is_changed { self.failed_later_changes(directory) } else { Vec::new() })
        });
        result.clone()
    }

    /// Injects `fault` into each call of the operation, in a new copy of the files for each.
    pub fn inject(&self, fault: Fault) -> Outcomes {
        let mut outcomes = Outcomes::default();
        if fault == Fault::EioRetry && !self.operation.is_repeatable() {
            return outcomes;
        }
        let calls = self.calls.iter().copied().enumerate();
        let calls: Vec<(usize, Call)> = calls.filter(|&(_, kind)| fault.applies_to(kind)).collect();
        let runs = self.run_all(calls.iter().map(|&(call, _)| (fault, call)));
        for ((call, kind), (directory, result)) in calls.into_iter().zip(runs) {
            let (outcome, failures) = self.check_files(&directory, self.has_later_changes(fault));
            let what = format!("{}, {fault:?} in call {call}", self.name());
            if let Some(succeeded) = result {
                if !self.is_consistent(fault, kind, succeeded, outcome) {
                    let text = format!("{what}: returned {succeeded}, but the files are {outcome:?}");
                    outcomes.contradictions.push(text);
                }
                outcomes.failed_but_new += usize::from(!succeeded && outcome == Outcome::New);
            }
            outcomes.contradictions.extend(failures.iter().map(|failure| format!("{what}, {failure}")));
            outcomes.by_outcome.entry(outcome).or_default().push(call);
            fs::remove_dir_all(&directory).expect("removed");
        }
        outcomes
    }

    /// Returns whether the state of the files agrees with the result of the operation.
    fn is_consistent(&self, fault: Fault, call: Call, succeeded: bool, outcome: Outcome) -> bool {
        if self.operation.is_close() {
            return true;
        }
        // The changes of a failed synchronisation may be on disk; after EIO for all calls nothing can be undone.
        let is_uncertain = call == Call::Sync || fault == Fault::EioForever;
        let has_expected_state = match outcome {
            Outcome::Old => !succeeded,
            Outcome::New => succeeded || is_uncertain,
            // The outcome itself is the failure.
            _ => true,
        };
        has_expected_state && (fault != Fault::EioRetry || succeeded)
    }

    /// Returns whether the files are changed again after a fault: where something is left that a process could not
    /// remove.
    fn has_later_changes(&self, fault: Fault) -> bool {
        let leaves_remains = matches!(fault, Fault::Kill | Fault::EioForever);
        leaves_remains && self.level.is_atomic() && self.operation.group != Group::Creation
    }

    /// Changes a copy of the files with each library. Returns what fails, and which library reads a wrong result.
    fn failed_later_changes(&self, directory: &Path) -> Vec<String> {
        let readers = self.operation.readers(self.store);
        let form = self.operation.form();
        let mut failures = Vec::new();
        for &library in &readers {
            let copy = self.scratch.new_path();
            copy_directory(directory, &copy);
            let path = frame_in(&copy);
            let what = format!("then a change by {}", library.name);
            match changed_later(library, &path, form) {
                Err(code) => failures.push(format!("{what}: error {code}")),
                Ok(expected) => {
                    for &reader in &readers {
                        let found = Contents::read(reader, &path, form);
                        let is_equal = found.as_ref().is_some_and(|found| match form {
                            Form::Array => found.items == expected.items,
                            _ => *found == expected,
                        });
                        if !is_equal {
                            let summary = found.map_or("nothing".to_owned(), |found| found.summary());
                            failures.push(format!("{what}: {} reads {summary}", reader.name));
                        }
                    }
                }
            }
            fs::remove_dir_all(&copy).expect("removed");
        }
        failures
    }
}

/// Appends a chunk, or writes the first item of an array. Returns the contents that the files must have then, or the
/// error code of the change.
fn changed_later(library: &'static Library, path: &Path, form: Form) -> Result<Contents, i32> {
    let mut expected = Contents::read(library, path, form).expect("readable files");
    let bytes = noise(99, ITEMS);
    match form {
        Form::Array => {
            let array = Array::open(library, path).1.expect("an array");
            let code = array.set(&[0, 0], &[1, 1], &bytes[..4]);
            if code < 0 {
                return Err(code);
            }
            expected.items.as_mut().expect("items")[..4].copy_from_slice(&bytes[..4]);
        }
        Form::SuperChunk | Form::SecondFrame => {
            let offset = match form {
                Form::SecondFrame => second_frame_offset(path).expect("a first frame"),
                _ => 0,
            };
            let schunk = SuperChunk::open_offset(library, path, offset).expect("a super-chunk");
            schunk.append(&bytes)?;
            expected.chunks.push(Ok(bytes));
        }
    }
    Ok(expected)
}
