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
    /// A super-chunk with chunks of 80,000 bytes.
    Large(Store),
}

impl HistoryKind {
    pub const ALL: [HistoryKind; 5] = [
        HistoryKind::Schunk(Store::File),
        HistoryKind::Schunk(Store::Directory),
        HistoryKind::LongHeader,
        HistoryKind::Array(Store::File),
        HistoryKind::Array(Store::Directory),
    ];

    /// The kinds whose changes need memory of more than 64 KiB.
    pub const LARGE: [HistoryKind; 2] =
        [HistoryKind::Large(Store::File), HistoryKind::Large(Store::Directory)];

    fn every() -> impl Iterator<Item = HistoryKind> {
        HistoryKind::ALL.into_iter().chain(HistoryKind::LARGE)
    }

    /// Returns the number in the task of a child.
    pub fn number(self) -> usize {
        HistoryKind::every().position(|kind| kind == self).expect("a kind")
    }

    /// Returns the kind with this number.
    pub fn of_number(number: u64) -> HistoryKind {
        HistoryKind::every().nth(number as usize).expect("a kind")
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
#[derive(Clone)]
pub enum Model {
    Schunk(SchunkModel),
    Array(ArrayModel),
}

/// Changes that are one transaction: one change, or several changes in a bracket.
#[derive(Debug)]
pub enum Step {
    /// The changes, and the number of items of a chunk.
    Schunk(Vec<schunk_model::Change>, usize),
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
            HistoryKind::Large(_) => Model::Schunk(SchunkModel::large()),
        }
    }

    /// Creates the files of the state before the first step.
    pub fn make(&self, kind: HistoryKind, path: &Path) {
        match (self, kind) {
            (Model::Schunk(model), HistoryKind::Schunk(store) | HistoryKind::Large(store)) => {
                model.make(store, path);
            }
            (Model::Schunk(model), _) => model.make(Store::File, path),
            (Model::Array(model), HistoryKind::Array(store)) => model.make(store, path),
            (Model::Array(_), _) => unreachable!("a model of another kind"),
        }
    }

    /// As [`advance`](Self::advance), for a step of one change.
    pub fn advance_by_one_change(&mut self, random: &mut Random, number: u64) -> Step {
        match self {
            Model::Schunk(model) => Step::Schunk(vec![model.advance(random, number * 8)], model.items()),
            Model::Array(model) => Step::Array(vec![model.advance(random, number * 8)]),
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
                let changes = numbers.map(|number| model.advance(&mut random, number)).collect();
                Step::Schunk(changes, model.items())
            }
            Model::Array(model) => {
                Step::Array(numbers.map(|number| model.advance(&mut random, number)).collect())
            }
        }
    }

    /// Returns what differs in the state that a library has read.
    pub fn describe_difference(&self, contents: &Contents) -> String {
        let difference = match self {
            Model::Schunk(model) => model.describe_difference(contents),
            Model::Array(_) => String::new(),
        };
        format!("{} {difference}", contents.summary())
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
pub enum Handle {
    Schunk(SuperChunk),
    Array(Array),
}

impl Handle {
    pub fn open(kind: HistoryKind, path: &Path) -> Handle {
        Handle::try_open(kind, path).expect("an array or a super-chunk")
    }

    pub fn try_open(kind: HistoryKind, path: &Path) -> Option<Handle> {
        match kind.form() {
            Form::Array => Array::open(ours(), path).1.map(Handle::Array),
            _ => SuperChunk::open(ours(), path).map(Handle::Schunk),
        }
    }

    /// Reads everything.
    pub fn contents(&self) -> Contents {
        match self {
            Handle::Schunk(schunk) => Contents::of_super_chunk(schunk),
            Handle::Array(array) => Contents::of_array(array),
        }
    }

    /// Returns the offsets of the chunks in the data section, or the numbers of their files.
    pub fn offsets(&self) -> Vec<i64> {
        let offsets = match self {
            Handle::Schunk(schunk) => schunk.offsets(),
            Handle::Array(array) => array.schunk().offsets(),
        };
        offsets.unwrap_or_default()
    }

    /// Returns whether all changes of the step have succeeded.
    pub fn run(&self, step: &Step) -> bool {
        match (self, step) {
            (Handle::Schunk(schunk), Step::Schunk(changes, items)) => {
                let run = || changes.iter().all(|change| change.run(schunk, *items));
                in_bracket(schunk, changes.len() > 1, run)
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
    Model::new(kind).make(kind, path);
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
