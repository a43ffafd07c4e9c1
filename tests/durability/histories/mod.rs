//! Long random sequences of changes. Each state of the files is known, because a step depends only on the seed, its
//! number and the state before it.

mod array_model;
mod schunk_model;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::contents::{Contents, Form};
use crate::operations::ours;
use crate::support::array::Array;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};
use array_model::ArrayModel;
use schunk_model::SchunkModel;

/// The files that a history changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HistoryKind {
    /// A super-chunk in a store.
    Schunk(Store),
    /// A super-chunk with a header of several sectors, in a file.
    LongHeader,
    Array(Store),
}

impl HistoryKind {
    pub const ALL: [HistoryKind; 5] = [
        HistoryKind::Schunk(Store::File),
        HistoryKind::Schunk(Store::Directory),
        HistoryKind::LongHeader,
        HistoryKind::Array(Store::File),
        HistoryKind::Array(Store::Directory),
    ];

    /// Returns the number in the task of a child.
    pub fn number(self) -> usize {
        HistoryKind::ALL.iter().position(|&kind| kind == self).expect("a kind")
    }

    /// Returns the kind with this number.
    pub fn of_number(number: u64) -> HistoryKind {
        HistoryKind::ALL[number as usize]
    }

    pub fn form(self) -> Form {
        if matches!(self, HistoryKind::Array(_)) { Form::Array } else { Form::SuperChunk }
    }

    /// Returns whether a killed process may leave an undo journal, which the C library does not read.
    pub fn has_journal(self) -> bool {
        self == HistoryKind::LongHeader
    }
}

/// The state of the files after a number of steps.
pub enum Model {
    Schunk(SchunkModel),
    Array(ArrayModel),
}

/// Changes that are one transaction: one change, or several changes in a bracket.
pub enum Step {
    Schunk(Vec<schunk_model::Change>),
    Array(Vec<array_model::Change>),
}

/// One step of this number, on average, is a bracket.
const BRACKETS: usize = 8;

impl Model {
    /// Returns the state before the first step.
    pub fn new(kind: HistoryKind) -> Model {
        match kind {
            HistoryKind::Schunk(_) => Model::Schunk(SchunkModel::new(false)),
            HistoryKind::LongHeader => Model::Schunk(SchunkModel::new(true)),
            HistoryKind::Array(_) => Model::Array(ArrayModel::new()),
        }
    }

    /// Applies step `number` of the history `seed`, and returns it.
    pub fn advance(&mut self, seed: u64, number: u64) -> Step {
        let mut random = Random::of_item(seed, number);
        let count = if random.one_in(BRACKETS) { 2 + random.below(3) as u64 } else { 1 };
        // The content of each chunk is made from a different number.
        let numbers = (0..count).map(|index| number * 8 + index);
        match self {
            Model::Schunk(model) => {
                Step::Schunk(numbers.map(|number| model.advance(&mut random, number)).collect())
            }
            Model::Array(model) => {
                Step::Array(numbers.map(|number| model.advance(&mut random, number)).collect())
            }
        }
    }

    /// Returns whether a library has read this state.
    pub fn matches(&self, contents: &Contents) -> bool {
        match self {
            Model::Schunk(model) => model.matches(contents),
            Model::Array(model) => model.matches(contents),
        }
    }
}

/// An open super-chunk or array.
enum Handle {
    Schunk(SuperChunk),
    Array(Array),
}

impl Handle {
    fn open(kind: HistoryKind, path: &Path) -> Handle {
        match kind.form() {
            Form::Array => Handle::Array(Array::open(ours(), path).1.expect("an array")),
            _ => Handle::Schunk(SuperChunk::open(ours(), path).expect("a super-chunk")),
        }
    }

    /// Returns whether all changes of the step have succeeded.
    fn run(&self, step: &Step) -> bool {
        match (self, step) {
            (Handle::Schunk(schunk), Step::Schunk(changes)) => {
                in_bracket(schunk, changes.len() > 1, || changes.iter().all(|change| change.run(schunk)))
            }
            (Handle::Array(array), Step::Array(changes)) => {
                in_bracket(&array.schunk(), changes.len() > 1, || {
                    changes.iter().all(|change| change.run(array))
                })
            }
            _ => unreachable!("a step of another model"),
        }
    }
}

/// Runs changes between `blosc2_schunk_lock` and `blosc2_schunk_unlock` if `is_bracket`.
fn in_bracket(schunk: &SuperChunk, is_bracket: bool, change: impl FnOnce() -> bool) -> bool {
    if is_bracket { schunk.lock() == 0 && change() && schunk.unlock() == 0 } else { change() }
}

/// Creates the files of a history.
pub fn make(kind: HistoryKind, path: &Path) {
    match kind {
        HistoryKind::Schunk(store) => SchunkModel::new(false).make(store, path),
        HistoryKind::LongHeader => SchunkModel::new(true).make(Store::File, path),
        HistoryKind::Array(store) => ArrayModel::new().make(store, path),
    }
}

/// The handle is closed and opened again after this number of steps.
const STEPS_PER_HANDLE: u64 = 16;

/// Runs the steps from number `first` on. Calls `acknowledge` with the number of finished steps before the first one
/// and after each; it returns whether to continue. Returns whether all steps have succeeded.
pub fn run(
    kind: HistoryKind,
    seed: u64,
    first: u64,
    path: &Path,
    acknowledge: &mut dyn FnMut(u64) -> bool,
) -> bool {
    let mut model = Model::new(kind);
    for number in 0..first {
        model.advance(seed, number);
    }
    let mut number = first;
    if !acknowledge(number) {
        return true;
    }
    loop {
        let handle = Handle::open(kind, path);
        for _ in 0..STEPS_PER_HANDLE {
            if !handle.run(&model.advance(seed, number)) {
                return false;
            }
            number += 1;
            if !acknowledge(number) {
                return true;
            }
        }
    }
}

/// Returns the path of the file that holds the number of finished steps, 8 bytes.
pub fn progress_file(path: &Path) -> PathBuf {
    path.with_extension("progress")
}

/// Runs steps until the process is killed; the number of finished steps is in the progress file.
pub fn run_until_killed(kind: HistoryKind, seed: u64, first: u64, path: &Path) -> ! {
    let progress = OpenOptions::new().write(true).open(progress_file(path)).expect("the progress file");
    run(kind, seed, first, path, &mut |done| {
        progress.write_all_at(&done.to_le_bytes(), 0).expect("written");
        true
    });
    panic!("a step after step {first} has failed");
}
