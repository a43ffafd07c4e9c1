//! Releases of C-Blosc2 read and change frames that our library has written at each durability level, also frames whose
//! writer was killed before it closed them; our library changes the results again.
//!
//! Release 3.3.5 is the reference. Releases 2.6.1 and 2.15.2 come from `scripts/fetch-old-releases.sh`.

mod array_model;
pub mod files;
pub mod library;
pub mod schunk_model;

use std::fs;
use std::path::{Path, PathBuf};

use crate::checksums::CHECKSUMS;
use crate::levels::{Level, assert_library_has_levels};
use crate::processes::{self, child_part, child_setting, kill_this_process, report, start};
use crate::support::child::test_name;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use files::Replaced;
use library::Release;

const PATH: &str = "BLOSC2_DURABLE_PATH";
const STORE: &str = "BLOSC2_DURABLE_STORE";
const LEVEL: &str = "BLOSC2_DURABLE_LEVEL";
const SCRIPT: &str = "BLOSC2_DURABLE_SCRIPT";
/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 600;

/// The part of a child that runs all checks. It is a process of its own because it changes the environment.
const CHECKS: &str = "checks";
/// The parts of a child that writes a frame.
const CLOSED: &str = "closed";
const KILLED: &str = "killed";

/// The kind of frame, and the changes that our library makes before other releases open it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// A super-chunk, changed by appends only.
    Appends,
    /// A super-chunk, changed in every way.
    AllChanges,
    /// An array, changed in every way.
    Array,
}

impl Script {
    const ALL: [Script; 3] = [Script::Appends, Script::AllChanges, Script::Array];
}

/// The contents that are expected in a frame.
#[derive(Clone)]
enum Model {
    Schunk(schunk_model::Model),
    Array(array_model::Model),
}

/// A change of a frame of either kind.
#[derive(Clone, Copy, Debug)]
enum Change {
    Schunk(schunk_model::Change),
    Array(array_model::Change),
}

impl Model {
    fn create(script: Script, store: Store, path: &Path) -> Model {
        match script {
            Script::Array => Model::Array(array_model::Model::create(store, path)),
            _ => Model::Schunk(schunk_model::Model::create(store, path)),
        }
    }

    /// Makes changes with one handle of a release, and in this model. Returns the open handle, so that the caller can
    /// close it or kill the process.
    fn change<'a>(&mut self, release: &'a Release, path: &Path, changes: &[Change], seed: u64) -> Handle<'a> {
        match self {
            Model::Schunk(model) => {
                let schunk = release.open_schunk(path).expect("a super-chunk");
                for (n, change) in changes.iter().enumerate() {
                    let Change::Schunk(change) = *change else { panic!("{change:?} of a super-chunk") };
                    model.change(&schunk, change, seed + n as u64);
                }
                Handle::Schunk(schunk)
            }
            Model::Array(model) => {
                let array = release.open_array(path).expect("an array");
                for (n, change) in changes.iter().enumerate() {
                    let Change::Array(change) = *change else { panic!("{change:?} of an array") };
                    model.change(&array, change, seed + n as u64);
                }
                Handle::Array(array)
            }
        }
    }

    /// Returns the changes that `release` can make to this frame.
    fn changes(&self, release: &Release) -> Vec<Change> {
        match self {
            Model::Schunk(model) => {
                let possible = schunk_model::Change::ALL.into_iter().filter(|&change| model.can(change));
                possible.map(Change::Schunk).collect()
            }
            Model::Array(_) if release.has_arrays() => array_model::Change::ALL.map(Change::Array).to_vec(),
            Model::Array(_) => Vec::new(),
        }
    }

    fn check(&self, release: &Release, path: &Path, what: &str) {
        match self {
            Model::Schunk(model) => model.check(release, path, what),
            Model::Array(model) => model.check(release, path, what),
        }
    }

    fn check_ours(&self, path: &Path, what: &str) {
        match self {
            Model::Schunk(model) => model.check_ours(path, what),
            Model::Array(model) => model.check_ours(path, what),
        }
    }
}

/// An open frame, which is closed on drop.
#[allow(dead_code)] // only kept and dropped
enum Handle<'a> {
    Schunk(library::Schunk<'a>),
    Array(library::Array<'a>),
}

/// Returns the changes of a script.
fn script_changes(script: Script) -> Vec<Change> {
    match script {
        Script::Appends => [Change::Schunk(schunk_model::Change::Append); 4].to_vec(),
        Script::AllChanges => {
            let kept = |change: &schunk_model::Change| *change != schunk_model::Change::VlmetaDelete;
            schunk_model::Change::ALL.into_iter().filter(kept).map(Change::Schunk).collect()
        }
        Script::Array => {
            use array_model::Change::{Grow, LargeSlice, SmallSlice};
            [SmallSlice, LargeSlice, Grow, LargeSlice].map(Change::Array).to_vec()
        }
    }
}

/// The seed of the contents that a script writes.
const SCRIPT_SEED: u64 = 1000;

/// Writes the frame of the settings. Closes it, or kills this process while it is open.
fn run_writer(is_killed: bool) {
    let (path, store) = (PathBuf::from(child_setting(PATH)), child_setting(STORE));
    let store = if store == "File" { Store::File } else { Store::Directory };
    let script = child_setting(SCRIPT);
    let script = Script::ALL.into_iter().find(|known| format!("{known:?}") == script).expect("a script");
    let level = Level::from_name(&child_setting(LEVEL));
    // SAFETY: this process runs only this test, and the worker threads of the library do not use the environment.
    let handle = unsafe {
        level.run(|| {
            let mut model = Model::create(script, store, &path);
            model.change(Release::ours(), &path, &script_changes(script), SCRIPT_SEED)
        })
    };
    if is_killed {
        kill_this_process();
    }
    drop(handle);
    report("closed");
}

/// Returns the contents that [`run_writer`] writes: the changes are made to a copy in another place.
fn written_model(script: Script, scratch: &ScratchDir) -> Model {
    let path = scratch.new_path();
    let mut model = Model::create(script, Store::File, &path);
    drop(model.change(Release::ours(), &path, &script_changes(script), SCRIPT_SEED));
    files::remove(&path);
    model
}

/// Starts a process that writes a frame, and waits for its end.
fn write(test: &str, script: Script, store: Store, level: Level, part: &str, path: &Path) {
    let (script, store) = (format!("{script:?}"), format!("{store:?}"));
    let variables =
        [(PATH, path.to_str().expect("UTF-8")), (STORE, &store), (SCRIPT, &script), (LEVEL, level.name())];
    let child = start(test, part, &variables, SECONDS_LIMIT);
    if part == KILLED {
        child.join_killed();
    } else {
        assert_eq!(child.join(), "closed");
    }
}

/// Every release reads the frame at `original` and makes every change to a copy of it; then our library makes another
/// change at `level`, and all libraries read the result. Returns the number of changes by other releases.
fn check_frame(original: &Path, model: &Model, level: Level, scratch: &ScratchDir, what: &str) -> usize {
    let mut count = 0;
    let copy = || {
        let path = scratch.new_path();
        files::copy(original, &path);
        path
    };
    model.check_ours(original, what);
    for release in Release::all_others() {
        model.check(release, original, what);
        let changes = model.changes(release);
        // Each change alone, then all of them with one handle.
        let groups: Vec<Vec<Change>> =
            changes.iter().map(|&change| vec![change]).chain([changes.clone()]).collect();
        for (number, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
            let what = format!("{what}, {} makes {group:?}", release.version);
            let (path, mut model) = (copy(), model.clone());
            drop(model.change(release, &path, group, 2000));
            count += group.len();
            model.check(release, &path, &what);
            model.check_ours(&path, &what);
            let own_changes = model.changes(Release::ours());
            let own = own_changes[(number + 3) % own_changes.len()];
            let what = format!("{what}, ours {own:?}");
            // SAFETY: this process runs only this test, and the worker threads of the libraries do not use the
            // environment.
            drop(unsafe { level.run(|| model.change(Release::ours(), &path, &[own], 3000)) });
            model.check(release, &path, &what);
            model.check_ours(&path, &what);
            files::remove(&path);
        }
    }
    // Our library, as the next writer.
    let changes = model.changes(Release::ours());
    let (path, mut model) = (copy(), model.clone());
    // SAFETY: as above.
    drop(unsafe { level.run(|| model.change(Release::ours(), &path, &changes, 4000)) });
    model.check_ours(&path, &format!("{what}, ours makes all changes"));
    for release in Release::all_others() {
        model.check(release, &path, &format!("{what}, ours makes all changes"));
    }
    files::remove(&path);
    count
}

/// Returns the names and bytes of the files of a frame.
fn bytes_of(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_dir() {
        return read_files(path).into_iter().collect();
    }
    vec![(String::new(), fs::read(path).expect("a file"))]
}

/// Writes frames at each level, closed and killed, and checks them.
fn run_checks(test: &str, store: Store) {
    assert_library_has_levels();
    let scratch = ScratchDir::new();
    let (mut frames, mut changes) = (0, 0);
    for script in Script::ALL {
        let model = written_model(script, &scratch);
        for part in [CLOSED, KILLED] {
            let mut at_off = Vec::new();
            for level in Level::ALL {
                let what = format!("{script:?} in {store:?} at level {}, {part}", level.name());
                let path = scratch.new_path();
                write(test, script, store, level, part, &path);
                let bytes = bytes_of(&path);
                match level {
                    Level::Off => at_off = bytes,
                    // Killed writers leave replaced parts, which a frame at level off has not.
                    _ if store == Store::Directory && script == Script::Appends && part == CLOSED => {
                        assert!(bytes == at_off, "{what}: not the bytes of level off");
                    }
                    _ => assert!(part == CLOSED || bytes != at_off, "{what}: the bytes of level off"),
                }
                changes += check_frame(&path, &model, level, &scratch, &what);
                frames += 1;
                files::remove(&path);
            }
        }
    }
    assert_eq!(frames, 18, "frames");
    finish(frames, changes);
}

/// Adds replaced parts by hand to frames of level off, and checks them: what readers accept does not depend on our
/// writer.
fn run_checks_of_parts_made_by_hand(test: &str) {
    let scratch = ScratchDir::new();
    let (mut frames, mut changes) = (0, 0);
    for script in Script::ALL {
        let model = written_model(script, &scratch);
        for part in [Replaced::IndexAndTrailer, Replaced::Trailer] {
            let path = scratch.new_path();
            write(test, script, Store::File, Level::Off, CLOSED, &path);
            let len = fs::metadata(&path).expect("a file").len();
            files::add_replaced_part(&path, part);
            assert!(fs::metadata(&path).expect("a file").len() > len, "a longer file");
            for level in Level::ALL {
                let what = format!("{script:?}, replaced {part:?}, ours at level {}", level.name());
                changes += check_frame(&path, &model, level, &scratch, &what);
                frames += 1;
            }
        }
    }
    assert_eq!(frames, 18, "frames");
    finish(frames, changes);
}

/// Reports the counts, and checks that every release has changed frames.
fn finish(frames: usize, changes: usize) {
    let releases = Release::all_others();
    let versions: Vec<&str> = releases.iter().map(|release| release.version).collect();
    // Each release makes each of the changes of a super-chunk at least once per frame, alone.
    assert!(changes >= releases.len() * frames * 2, "only {changes} changes by {versions:?}");
    report(&format!("{frames} frames, {changes} changes by {versions:?}"));
}

fn check_releases(test: &str, run: impl FnOnce(&str)) {
    match child_part().as_deref() {
        None => {
            println!("{}", processes::start(test, CHECKS, &[(CHECKSUMS, "verify")], SECONDS_LIMIT).join())
        }
        Some(CHECKS) => run(test),
        Some(part) => run_writer(part == KILLED),
    }
}

#[test]
fn files_of_every_level_are_changed_by_every_release() {
    check_releases(test_name!(), |test| run_checks(test, Store::File));
}

#[test]
fn directories_of_every_level_are_changed_by_every_release() {
    check_releases(test_name!(), |test| run_checks(test, Store::Directory));
}

#[test]
fn files_with_replaced_parts_made_by_hand_are_changed_by_every_release() {
    check_releases(test_name!(), run_checks_of_parts_made_by_hand);
}
