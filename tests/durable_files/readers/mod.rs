//! Processes that read a frame while another process commits changes to it. Each chunk and each metalayer states its
//! commit ([`content`], [`frames`]), so that a reader can check each result ([`observer`]).
//!
//! Without a lock, parts that are read one after the other may be of different commits, but a later part must not be of
//! an earlier commit: a commit is visible completely or not at all. A new handle must not show a state that is older
//! than a commit that was complete before it was opened.

mod content;
mod frames;
mod observer;
mod progress;

use std::path::Path;
use std::time::{Duration, Instant};

use crate::levels::{DURABILITY, Level, assert_library_has_levels};
use crate::processes::{child_part, child_setting, report, start};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::from_environment;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::{all_libraries, both_libraries};
use frames::{Change, Frame};
use observer::{Counts, Observer};
use progress::Progress;

const PATH: &str = "BLOSC2_DURABLE_PATH";
const PROGRESS: &str = "BLOSC2_DURABLE_PROGRESS";
const CHANGE: &str = "BLOSC2_DURABLE_CHANGE";
const STORE: &str = "BLOSC2_DURABLE_STORE";
const LIBRARY: &str = "BLOSC2_DURABLE_LIBRARY";
const READERS: &str = "BLOSC2_DURABLE_READERS";
const LOCKING: &str = "BLOSC_LOCKING";

/// The interval between two commits: 200 a second.
const INTERVAL: Duration = Duration::from_millis(5);
/// The time between two reads with a lock. Without it, the readers would hold the lock nearly always.
const PAUSE: Duration = Duration::from_millis(1);
/// The fewest commits of a run for each second; on a busy machine the run takes longer.
const MIN_COMMITS_PER_SECOND: u64 = 20;
/// The fewest different commits that each reader must see; the writer commits until each has seen them.
const MIN_COMMITS_SEEN: u64 = 10;

fn seconds() -> u64 {
    from_environment("BLOSC2_READER_SECONDS", 3)
}

fn level() -> Level {
    std::env::var("BLOSC2_READER_LEVEL").map_or(Level::Kill, |name| Level::from_name(&name))
}

/// The settings of a child.
struct Settings {
    path: std::path::PathBuf,
    progress: &'static Progress,
    change: Change,
}

impl Settings {
    fn of_child() -> Settings {
        Settings {
            path: child_setting(PATH).into(),
            progress: Progress::map(Path::new(&child_setting(PROGRESS))),
            change: Change::from_name(&child_setting(CHANGE)),
        }
    }
}

/// Creates the frame, and changes it until the time is over and each reader has seen enough commits. Reports the number of
/// commits.
fn run_writer() {
    let Settings { path, progress, change } = Settings::of_child();
    let store = if child_setting(STORE) == "File" { Store::File } else { Store::Directory };
    let frame = Frame::create(change, store, &path);
    progress.set_created();
    let readers = child_setting(READERS).parse().expect("a number");
    progress.wait_for_readers(readers);
    let (begin, length) = (Instant::now(), Duration::from_secs(seconds()));
    let (mut last, mut next) = (0, begin);
    let is_enough = |last| last >= MIN_COMMITS_PER_SECOND * seconds() && progress.satisfied() == readers;
    while begin.elapsed() < length || !is_enough(last) {
        last = progress.commit(|number| frame.commit(change, number));
        next = (next + INTERVAL).max(Instant::now());
        std::thread::sleep(next - Instant::now());
    }
    drop(frame);
    progress.set_finished();
    report(&last.to_string());
}

/// Reads the frame until the writer has closed it, with a new handle for each read or with one handle. Reports the
/// counts.
fn run_reader(keeps_handle: bool) {
    // SAFETY: changes the priority of this process, so that the writer reaches its rate on a machine with few cores.
    unsafe { libc::nice(10) };
    let Settings { path, progress, change } = Settings::of_child();
    let library = match child_setting(LIBRARY).as_str() {
        "reference" => Library::reference().expect("the reference"),
        _ => Library::ours(),
    };
    let is_locking = std::env::var_os(LOCKING).is_some();
    progress.start_reader();
    let mut observer = Observer::new(library, change, path, progress);
    let mut kept = if keeps_handle { observer.open() } else { None };
    let mut has_enough = false;
    for turn in 0u64.. {
        // The state after the last commit is read, too.
        let is_last = progress.is_finished();
        // A kept handle without a lock may show an older state, if the last commit has not changed the frame's length.
        let oldest = if keeps_handle && !is_locking { observer.newest() } else { progress.done() };
        if kept.is_none() {
            kept = observer.open();
        }
        if let Some(frame) = &kept {
            if keeps_handle {
                observer.refresh(frame);
            }
            // The reference reads slices of arrays without the lock.
            let needs_bracket = library.is_reference() && change == Change::ArraySlice;
            if is_locking && (needs_bracket || turn % 2 == 0) {
                observer.read_locked(frame, oldest);
            } else {
                observer.read(frame, oldest, false);
            }
        }
        if !keeps_handle {
            kept = None;
        }
        if !has_enough && observer.counts().has_enough(keeps_handle) {
            has_enough = true;
            progress.set_satisfied();
        }
        if is_last {
            break;
        }
        if is_locking {
            std::thread::sleep(PAUSE);
        }
    }
    drop(kept);
    report(&observer.counts().to_string());
}

/// A reader: its part, and its library.
type Reader = (&'static str, &'static Library);

const FRESH: &str = "new handles";
const KEPT: &str = "one handle";

/// Runs one writer and all readers, and checks the final state. Returns a message for each reader with failures, or
/// with fewer opens or reads than a meaningful run has.
fn run_once(test: &str, change: Change, store: Store, is_locking: bool, readers: &[Reader]) -> Vec<String> {
    let scratch = ScratchDir::new();
    let (path, progress_path) = (scratch.new_path(), scratch.new_path());
    Progress::create(&progress_path);
    let (text, progress_text) = (path.to_str().expect("UTF-8"), progress_path.to_str().expect("UTF-8"));
    let (change_name, store_name) = (format!("{change:?}"), format!("{store:?}"));
    let reader_count = readers.len().to_string();
    let mut variables = vec![
        (PATH, text),
        (PROGRESS, progress_text),
        (CHANGE, &change_name),
        (STORE, &store_name),
        (READERS, &reader_count),
    ];
    if is_locking {
        variables.push((LOCKING, "1"));
    }
    let limit = seconds() as u32 + 120;
    let start_with = |part: &str, variable: (&'static str, &'static str)| {
        start(test, part, &[&variables[..], &[variable]].concat(), limit)
    };
    let writer = start_with("writer", (DURABILITY, level().name()));
    let children: Vec<_> =
        readers.iter().map(|&(part, library)| start_with(part, (LIBRARY, library.name))).collect();
    let last: u64 = writer.join().parse().expect("a number");
    let counts: Vec<Counts> = children.into_iter().map(|child| Counts::parse(&child.join())).collect();
    let what = format!("{change:?} in {store:?}, {}", if is_locking { "locked" } else { "not locked" });
    println!("{what}: {last} commits in {} s at level {}", seconds(), level().name());
    for ((part, library), counts) in readers.iter().zip(&counts) {
        println!("    {}, {part}: {counts}", library.name);
    }
    let mut failures = Vec::new();
    for ((part, library), counts) in readers.iter().zip(&counts) {
        if counts.failures() > 0 || !counts.has_enough(*part == KEPT) {
            failures.push(format!("{what}, {}, {part}: {counts}", library.name));
        }
    }
    check_final_state(change, &path, &progress_path, last);
    failures
}

/// Checks with all libraries that the closed frame has the state of the last commit.
fn check_final_state(change: Change, path: &Path, progress_path: &Path, last: u64) {
    for library in all_libraries() {
        let progress = Progress::map(progress_path);
        let mut observer = Observer::new(library, change, path.to_path_buf(), progress);
        let frame = observer.open().expect("the closed frame");
        observer.read(&frame, last, false);
        assert_eq!(observer.newest(), last, "{}: {change:?}", library.name);
        assert_eq!(observer.counts().failures(), 0, "{}: {change:?}", library.name);
    }
}

/// Runs every change with readers of our library, and of the reference if they take the lock.
fn check_readers(test: &str, store: Store, is_locking: bool) {
    match child_part().as_deref() {
        None => {}
        Some("writer") => return run_writer(),
        Some(part) => return run_reader(part == KEPT),
    }
    if level() != Level::Off {
        assert_library_has_levels();
    }
    let ours = Library::ours();
    let mut readers = vec![(FRESH, ours), (KEPT, ours)];
    if is_locking && let Some((_, reference)) = both_libraries() {
        readers.extend([(FRESH, reference), (KEPT, reference)]);
    }
    let run = |change| run_once(test, change, store, is_locking, &readers);
    let failures: Vec<String> = Change::ALL.into_iter().flat_map(run).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn readers_of_an_unlocked_file() {
    check_readers(test_name!(), Store::File, false);
}

#[test]
fn readers_of_an_unlocked_directory() {
    check_readers(test_name!(), Store::Directory, false);
}

#[test]
fn readers_of_a_locked_file() {
    check_readers(test_name!(), Store::File, true);
}

#[test]
fn readers_of_a_locked_directory() {
    check_readers(test_name!(), Store::Directory, true);
}
