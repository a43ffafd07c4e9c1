//! The operations that are interrupted.

mod arrays;
pub mod controls;
mod creations;
mod schunks;
pub mod setups;

use std::path::Path;
use std::sync::OnceLock;

use crate::contents::{Form, second_frame_offset, target_of};
use crate::support::all_libraries;
use crate::support::array::Array;
use crate::support::library::Library;
use crate::support::super_chunk::{Store, SuperChunk};
use setups::Setup;

/// Runs a change, which returns whether it succeeded, with the fault armed.
pub type RunArmed<'a> = &'a mut dyn FnMut(&mut dyn FnMut() -> bool) -> bool;

/// A change of files that is interrupted.
#[derive(Clone, Copy)]
pub enum Change {
    Schunk(fn(&SuperChunk) -> bool),
    /// Several changes between `blosc2_schunk_lock` and `blosc2_schunk_unlock`. The function returns false after the
    /// first one that fails; the process ends then without unlocking and without freeing the super-chunk.
    Bracket {
        /// Whether the super-chunk is opened with the lock between processes.
        is_locking: bool,
        change: fn(&SuperChunk) -> bool,
    },
    Array(fn(&Array) -> bool),
    /// As [`Change::Bracket`].
    ArrayBracket(fn(&Array) -> bool),
    /// The release of the handle, after changes that are not interrupted.
    CloseSchunk(fn(&SuperChunk) -> bool),
    CloseArray(fn(&Array) -> bool),
    /// Creates a frame at the second path, from the one at the first path.
    Creation(fn(&Path, &Path) -> bool),
    /// Prepares the bytes of a new file, and replaces the old ones without the library.
    Control(fn(&Path) -> Vec<u8>, fn(&Path, &[u8]) -> bool),
}

/// The operations of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Group {
    /// One change of a super-chunk.
    Schunk,
    /// One call that changes chunks of an array, or adds or removes chunks at its end.
    Array,
    /// One call that gives chunks of an array other positions, or adds chunks and then writes items.
    ArrayShift,
    Bracket,
    Close,
    Creation,
    /// Changes of frames with headers of several sectors, and of frames inside other files.
    Journal,
    /// Changes that the test makes without the library, to check the tests.
    Control,
}

/// An operation on files, which a process runs with or without a fault.
#[derive(Clone, Copy)]
pub struct Operation {
    pub name: &'static str,
    pub group: Group,
    pub setup: Setup,
    pub change: Change,
}

pub fn ours() -> &'static Library {
    Library::ours()
}

/// Returns all operations; a child finds its operation by its index.
pub fn all() -> &'static [Operation] {
    static ALL: OnceLock<Vec<Operation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = schunks::operations();
        all.extend(arrays::operations());
        all.extend(creations::operations());
        all.extend(controls::operations());
        all
    })
}

/// Returns the indices of the operations of a group.
pub fn of_group(group: Group) -> impl Iterator<Item = usize> {
    all().iter().enumerate().filter(move |(_, operation)| operation.group == group).map(|(index, _)| index)
}

impl Operation {
    /// Returns the name with the frame that the operation changes.
    pub fn full_name(&self, store: Store) -> String {
        format!("{}, {} in {store:?}", self.name, self.setup.name())
    }

    /// Returns the libraries that must read the files after a fault.
    pub fn readers(&self, store: Store) -> Vec<&'static Library> {
        if self.has_journal(store) { vec![ours()] } else { all_libraries() }
    }

    /// Returns whether a killed process may leave an undo journal, which the C library does not read.
    pub fn has_journal(&self, store: Store) -> bool {
        self.group == Group::Journal && store == Store::File
    }

    pub fn form(&self) -> Form {
        self.setup.form()
    }

    /// Returns whether the operation changes nothing that can be read.
    pub fn is_close(&self) -> bool {
        matches!(self.change, Change::CloseSchunk(_) | Change::CloseArray(_))
    }

    /// Returns whether the change can be repeated with the same handle after it has failed.
    pub fn is_repeatable(&self) -> bool {
        matches!(self.change, Change::Schunk(_) | Change::Array(_) | Change::Creation(_))
    }

    /// Opens the files, runs the change, and returns whether the change succeeded.
    pub fn run(&self, path: &Path, run: RunArmed<'_>) -> bool {
        match self.change {
            Change::Schunk(change) => {
                let schunk = self.open_schunk(path);
                run(&mut || change(&schunk))
            }
            Change::Bracket { is_locking, change } => {
                let opened = if is_locking {
                    SuperChunk::open_locking(ours(), path)
                } else {
                    SuperChunk::open(ours(), path)
                };
                let schunk = opened.expect("a super-chunk");
                let succeeded = run(&mut || schunk.lock() == 0 && change(&schunk) && schunk.unlock() == 0);
                if !succeeded {
                    std::mem::forget(schunk);
                }
                succeeded
            }
            Change::Array(change) => {
                let array = open_array(path);
                run(&mut || change(&array))
            }
            Change::ArrayBracket(change) => {
                let array = open_array(path);
                let succeeded = run(&mut || {
                    let schunk = array.schunk();
                    schunk.lock() == 0 && change(&array) && schunk.unlock() == 0
                });
                if !succeeded {
                    std::mem::forget(array);
                }
                succeeded
            }
            Change::CloseSchunk(change) => {
                let schunk = self.open_schunk(path);
                assert!(change(&schunk), "{}: the changes before the release", self.name);
                let mut schunk = Some(schunk);
                run(&mut || schunk.take().expect("a super-chunk").free() == 0)
            }
            Change::CloseArray(change) => {
                let array = open_array(path);
                assert!(change(&array), "{}: the changes before the release", self.name);
                let mut array = Some(array);
                run(&mut || array.take().expect("an array").free() == 0)
            }
            Change::Creation(create) => run(&mut || create(path, &target_of(path))),
            Change::Control(prepare, commit) => {
                let bytes = prepare(path);
                run(&mut || commit(path, &bytes))
            }
        }
    }

    fn open_schunk(&self, path: &Path) -> SuperChunk {
        let offset = match self.form() {
            Form::SecondFrame => second_frame_offset(path).expect("a first frame"),
            _ => 0,
        };
        SuperChunk::open_offset(ours(), path, offset).expect("a super-chunk")
    }
}

fn open_array(path: &Path) -> Array {
    Array::open(ours(), path).1.expect("an array")
}
