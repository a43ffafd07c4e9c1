//! Random sequences of changes, many of which fail: a write fails or is short, the disk is full, memory runs out, or a
//! chunk is damaged. A change that fails changes nothing: after each failure, the open handle and a new one read the
//! state before it, item by item. After a change that succeeds, they read the new state, without the damaged chunk if
//! the change has replaced or deleted it.
//!
//! `BLOSC2_FAILED_CHANGES` is the number of steps (default 3000), which are shared among the kinds of files, the
//! durability levels, and frames with and without checksums; `BLOSC2_FAILED_CHANGES_SEED` is the seed.

use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::child::{Preloaded, Task, run_expecting_success};
use crate::contents::Contents;
use crate::faults::Fault;
use crate::histories::{Handle, HistoryKind, Model};
use crate::levels::Level;
use crate::operations::ours;
use crate::support::files::{c_path, with_file_size_limit};
use crate::support::library::path_of_ours;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;

const DEFAULT_SEED: u64 = 20_261_127;
/// A handle is closed and opened again after this number of steps.
const STEPS_PER_HANDLE: u64 = 12;
/// The allocations that can fail have this number of bytes or more: the library returns an error for these.
const MIN_FAILING_ALLOCATION: usize = 64 << 10;
/// Number of bytes at the start of a chunk that are damaged.
const DAMAGED_LEN: usize = 16;

/// What makes a step fail.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Nothing,
    /// A call that changes a file fails, by its number.
    Call(Fault, usize),
    /// Writes behind this byte of a file fail.
    FullDisk(u64),
    /// An allocation fails, by its number.
    Allocation(usize),
    /// The start of a chunk was overwritten.
    DamagedChunk,
}

/// A chunk whose start was overwritten.
struct Damage {
    /// The bytes before.
    old: [u8; DAMAGED_LEN],
    new: [u8; DAMAGED_LEN],
}

/// The files of a history, and the state that they must have.
struct History<'a> {
    kind: HistoryKind,
    path: &'a Path,
    random: Random,
    model: Model,
    /// Number of changes that have failed.
    failures: u64,
}

/// Returns the text of the last error of the library on this thread.
fn last_error() -> String {
    let find = || {
        // SAFETY: an open library, and a terminated name.
        let found = unsafe {
            let library = libc::dlopen(c_path(&path_of_ours()).as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
            libc::dlsym(library, c"blosc2x_last_error".as_ptr())
        };
        // SAFETY: the function has this signature, and returns NULL or a terminated text.
        unsafe {
            let last_error: extern "C" fn() -> *const libc::c_char = std::mem::transmute(found);
            let text = last_error();
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    find().unwrap_or_default()
}

/// Returns the length of the largest file of a frame.
fn largest_file(path: &Path) -> u64 {
    let len = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    match fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| len(&entry.expect("an entry").path())).max().unwrap_or(0),
        Err(_) => len(path),
    }
}

impl History<'_> {
    /// Returns the file of a chunk and the offset of the chunk in it.
    fn place_of(&self, offset: i64) -> (PathBuf, u64) {
        if self.path.is_dir() {
            return (self.path.join(format!("{offset:08X}.chunk")), 0);
        }
        let mut len = [0; 4];
        File::open(self.path).and_then(|file| file.read_exact_at(&mut len, 11)).expect("a header");
        (self.path.to_owned(), u64::from(u32::from_be_bytes(len)) + offset as u64)
    }

    /// Overwrites the start of a chunk that is stored with its bytes, if there is one.
    fn damage_chunk(&mut self, handle: &Handle) -> Option<Damage> {
        let stored: Vec<i64> = handle.offsets().into_iter().filter(|&offset| offset >= 0).collect();
        let offset = *stored.get(self.random.below(stored.len().max(1)))?;
        let (file, at) = self.place_of(offset);
        let file = OpenOptions::new().read(true).write(true).open(file).expect("a file");
        let mut old = [0; DAMAGED_LEN];
        file.read_exact_at(&mut old, at).expect("a chunk");
        let mut new = [0xFF; DAMAGED_LEN];
        if self.random.one_in(2) {
            // Only one of the sizes.
            new = old;
            let field = 4 + 4 * self.random.below(3);
            // A smaller length of the chunk that is possible would give the rest of it away.
            let value = *self.random.pick(&[16, 1 << 24, i32::MAX, -1]);
            new[field..field + 4].copy_from_slice(&i32::to_le_bytes(value));
        }
        file.write_all_at(&new, at).expect("written");
        (new != old).then_some(Damage { old, new })
    }

    /// Restores a damaged chunk, wherever it is now. Returns whether it was there.
    fn heal(&self, damage: &Damage, offsets: &[i64]) -> bool {
        let places = offsets.iter().filter(|&&offset| offset >= 0).map(|&offset| self.place_of(offset));
        for (file, at) in places {
            let file = OpenOptions::new().read(true).write(true).open(file).expect("a file");
            let mut found = [0; DAMAGED_LEN];
            if file.read_exact_at(&mut found, at).is_ok() && found == damage.new {
                file.write_all_at(&damage.old, at).expect("written");
                return true;
            }
        }
        false
    }

    fn draw_cause(&mut self) -> Cause {
        match self.random.below(8) {
            0 | 1 => {
                let fault = *self.random.pick(&[Fault::EioOnce, Fault::NoSpace, Fault::Short]);
                Cause::Call(fault, self.random.below(12))
            }
            2 | 3 => {
                let len = largest_file(self.path) as usize;
                Cause::FullDisk((len - self.random.below(len.min(3000) + 1) + self.random.below(3000)) as u64)
            }
            4 => Cause::Allocation(self.random.below(6)),
            5 | 6 => Cause::DamagedChunk,
            _ => Cause::Nothing,
        }
    }

    fn assert_state(&self, found: Option<&Contents>, what: &str) {
        let matches = found.is_some_and(|found| self.model.matches(found));
        let found =
            || found.map_or("cannot be opened".to_owned(), |found| self.model.describe_difference(found));
        assert!(matches, "{what}: {}", found());
    }

    /// Makes one step with a handle that is closed afterwards if `is_last`. `seed` and `number` are for messages.
    fn step(&mut self, preloaded: &Preloaded, handle: Handle, number: u64, is_last: bool) -> Option<Handle> {
        let before = self.model.clone();
        let step = self.model.advance_by_one_change(&mut self.random, number);
        let cause = self.draw_cause();
        let what = format!("{:?}, step {number}, {cause:?}, {step:?}", self.kind);
        let mut damage = None;
        let succeeded = match cause {
            Cause::Nothing => handle.run(&step),
            Cause::Call(fault, call) => preloaded.run_armed(fault, call, &mut || handle.run(&step)).0,
            Cause::FullDisk(limit) => with_file_size_limit(limit, || handle.run(&step)),
            Cause::Allocation(number) => {
                preloaded.with_failed_allocation(MIN_FAILING_ALLOCATION, number, || handle.run(&step))
            }
            Cause::DamagedChunk => {
                damage = self.damage_chunk(&handle);
                handle.run(&step)
            }
        };
        if std::env::var_os("BLOSC2_FAILED_CHANGES_LOG").is_some() {
            eprintln!("{what}: {succeeded}");
        }
        if !succeeded {
            self.failures += 1;
            self.model = before;
            assert!(!matches!(cause, Cause::Nothing), "{what}: fails: {}", last_error());
        }
        let handle = if is_last {
            drop(handle);
            None
        } else {
            Some(handle)
        };
        if let Some(damage) = damage {
            let offsets = Handle::try_open(self.kind, self.path).map(|handle| handle.offsets());
            let healed = self.heal(&damage, &offsets.unwrap_or_else(|| panic!("{what}: does not open")));
            assert!(healed || succeeded, "{what}: a failed change has replaced the damaged chunk");
        }
        if let Some(handle) = &handle {
            self.assert_state(Some(&handle.contents()), &format!("{what} ({succeeded}): the handle"));
        }
        if !succeeded || is_last || self.random.one_in(4) {
            let found = Contents::read(ours(), self.path, self.kind.form());
            self.assert_state(found.as_ref(), &format!("{what} ({succeeded}): a new handle"));
        }
        handle
    }
}

/// Runs a history of `steps` steps in a child. Returns the number of changes that failed.
pub fn run(preloaded: &Preloaded, kind: HistoryKind, seed: u64, steps: u64, path: &Path) -> u64 {
    let mut history = History { kind, path, random: Random::new(seed), model: Model::new(kind), failures: 0 };
    history.model.make(kind, path);
    let mut handle = None;
    for number in 0..steps {
        let open = handle.unwrap_or_else(|| Handle::open(kind, path));
        handle = history.step(preloaded, open, number, number % STEPS_PER_HANDLE == STEPS_PER_HANDLE - 1);
    }
    history.failures
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs histories of all kinds at a level.
    fn run_all_kinds(level: Level) {
        let steps = from_environment("BLOSC2_FAILED_CHANGES", 3000);
        let seed = from_environment("BLOSC2_FAILED_CHANGES_SEED", DEFAULT_SEED);
        println!("failed changes at level {}: BLOSC2_FAILED_CHANGES_SEED={seed}", level.name());
        let kinds: Vec<_> = HistoryKind::ALL.into_iter().chain(HistoryKind::LARGE).collect();
        // Two levels, and each with and without checksums.
        let steps = steps.div_ceil(4 * kinds.len() as u64);
        for has_checksums in [false, true] {
            for (index, &kind) in kinds.iter().enumerate() {
                let scratch = ScratchDir::in_memory();
                let seed = seed + 2 * index as u64 + u64::from(has_checksums);
                let task = Task::FailedChanges { kind, seed, steps, has_checksums };
                let reply = run_expecting_success(task, level, &scratch.new_path(), None);
                let failures = reply.calls.len();
                println!("{kind:?}, checksums {has_checksums}: {failures} of {steps} changes failed");
                assert!(failures as u64 > steps / 40, "{kind:?}: {failures} failures");
            }
        }
    }

    #[test]
    fn failed_changes_at_level_off_change_nothing() {
        run_all_kinds(Level::Off);
    }

    #[test]
    fn failed_changes_at_level_kill_change_nothing() {
        run_all_kinds(Level::Kill);
    }
}
