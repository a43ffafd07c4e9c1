//! Forks of a process with open super-chunks and arrays that have the lock between processes: parent and children use
//! the handles that were opened before the fork, and exclude each other (`frame.md` 6.2).

use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::children::{child_part, join_children, start_child};
use crate::disjoint::callbacks::{PipelineKind, set_hook};
use crate::fork::{assert_exits_with_0, run_in_fork};
use crate::processes::{NBYTES, assert_has_all_chunks, coding, content};
use crate::support::array::{Array, ArraySpec};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Number of children that a process forks.
const NCHILDREN: u32 = 4;
/// Number of rounds in which each process appends a chunk and overwrites its rows of the array.
const NROUNDS: u32 = 12;
/// Rows of the array that a process owns, four chunks of them.
const NROWS: i64 = 20;
const NCOLUMNS: usize = 200;

/// Runs `scenario` in a new process at each durability level, with the lock between processes, for both stores.
pub fn at_each_level(test: &str, scenario: impl Fn(Store, &ScratchDir)) {
    if child_part().is_some() {
        let scratch = ScratchDir::new();
        return Store::ON_DISK.iter().for_each(|&store| scenario(store, &scratch));
    }
    for level in ["off", "kill"] {
        let variables = [("BLOSC_LOCKING", "1"), ("BLOSC2_DURABILITY", level)];
        join_children(vec![(level, start_child(test, "fork", &variables))]);
    }
}

/// Creates a super-chunk with one chunk.
fn create(store: Store, path: &Path) -> SuperChunk {
    let schunk = SuperChunk::create(Library::ours(), store, path, &coding().params());
    assert_eq!(schunk.append(&content(0, 0)), Ok(1));
    schunk
}

fn create_array(store: Store, path: &Path) -> Array {
    let shape = [NROWS * i64::from(NCHILDREN + 1), NCOLUMNS as i64];
    ArraySpec::new(&shape, &[5, NCOLUMNS as i32], &[5, 100], 4).with_store(store, path).zeros(Library::ours())
}

/// Returns the items that process `writer` stores in its rows in a round; chunks have another length in each round.
fn rows(writer: u32, round: u32) -> Vec<u8> {
    let item = |n: u32| (n.wrapping_mul(2_654_435_761) % (2 << (2 * round))).wrapping_add(writer << 28);
    (0..NROWS as u32 * NCOLUMNS as u32).flat_map(|n| item(n).to_le_bytes()).collect()
}

/// The first and the last row of process `writer`.
fn range(writer: u32) -> [[i64; 2]; 2] {
    let start = NROWS * i64::from(writer);
    [[start, 0], [start + NROWS, NCOLUMNS as i64]]
}

/// Appends chunks, overwrites rows and reads them back, in all rounds.
fn change(schunk: &SuperChunk, array: &Array, writer: u32) {
    let [start, stop] = range(writer);
    for round in 0..NROUNDS {
        assert!(schunk.append(&content(writer + 1, round)).is_ok());
        assert_eq!(array.set(&start, &stop, &rows(writer, round)), 0);
        assert!(array.get(&start, &stop) == Ok(rows(writer, round)), "round {round} of process {writer}");
        assert!(schunk.decompress_into(0, NBYTES) == Ok(content(0, 0)));
    }
}

#[test]
fn changes_of_parent_and_children_through_inherited_handles_are_all_kept() {
    at_each_level(test_name!(), |store, scratch| {
        let (path, array_path) = (scratch.new_path(), scratch.new_path());
        let (schunk, array) = (create(store, &path), create_array(store, &array_path));
        let children: Vec<_> =
            (1..=NCHILDREN).map(|writer| run_in_fork(|| change(&schunk, &array, writer))).collect();
        change(&schunk, &array, 0);
        children.into_iter().for_each(assert_exits_with_0);
        let assert_has_all_rows = |array: &Array| {
            for writer in 0..=NCHILDREN {
                let [start, stop] = range(writer);
                assert!(array.get(&start, &stop) == Ok(rows(writer, NROUNDS - 1)), "rows of {writer}");
            }
        };
        assert_has_all_rows(&array);
        assert_eq!(
            (schunk.refresh() >= 0, schunk.nchunks()),
            (true, 1 + i64::from((NCHILDREN + 1) * NROUNDS))
        );
        drop((schunk, array));
        let libraries: Vec<_> = [Some(Library::ours()), Library::reference()].into_iter().flatten().collect();
        assert_has_all_chunks(&libraries, &path, &[NROUNDS as usize; NCHILDREN as usize + 1]);
        for library in libraries {
            assert_has_all_rows(&Array::open(library, &array_path).1.expect("an array"));
        }
    });
}

/// Returns the path of the lock file of a super-chunk.
pub fn lock_file(store: Store, path: &Path) -> PathBuf {
    match store {
        Store::Directory => path.join(".b2lock"),
        _ => path
            .with_file_name(format!("{}.b2lock", path.file_name().expect("a name").to_str().expect("UTF-8"))),
    }
}

/// Returns whether a process holds the lock.
fn is_locked(lock_file: &Path) -> bool {
    let file = File::options().read(true).write(true).open(lock_file).expect("a lock file");
    // SAFETY: a system call on an open file.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) != 0 }
}

/// The child has not the lock that its parent acquired, and cannot release it; it discards the changes that its parent
/// has not committed.
#[test]
fn a_bracket_of_the_parent_is_none_of_the_child() {
    at_each_level(test_name!(), |store, scratch| {
        let path = scratch.new_path();
        let mut schunk = Some(create(store, &path));
        let lock_file = lock_file(store, &path);
        let in_parent = |schunk: &SuperChunk, number| {
            assert!(schunk.append(&content(1, number)).is_ok());
        };
        let take = |schunk: &mut Option<SuperChunk>| schunk.take().expect("a super-chunk");
        let locked = schunk.as_ref().expect("a super-chunk");
        assert_eq!(locked.lock(), 0);
        in_parent(locked, 0);
        // A child that does nothing but free the handle does not wait for the lock.
        assert_exits_with_0(run_in_fork(|| {
            drop(take(&mut schunk));
            assert!(is_locked(&lock_file));
        }));
        let locked = schunk.as_ref().expect("a super-chunk");
        in_parent(locked, 1);
        let unlocking = run_in_fork(|| {
            let mine = take(&mut schunk);
            assert_eq!(mine.unlock(), 0);
            assert!(is_locked(&lock_file));
            drop(mine);
            assert!(is_locked(&lock_file));
        });
        assert_exits_with_0(unlocking);
        // Waits for the end of the bracket.
        let appending = run_in_fork(|| {
            let mine = take(&mut schunk);
            assert_eq!(mine.lock(), 0);
            for number in 0..3 {
                assert!(mine.append(&content(2, number)).is_ok());
            }
            assert_eq!((mine.unlock(), mine.unlock()), (0, 0));
            assert!(!is_locked(&lock_file));
        });
        let locked = schunk.as_ref().expect("a super-chunk");
        thread::sleep(Duration::from_millis(50));
        in_parent(locked, 2);
        assert_eq!(locked.unlock(), 0);
        assert_exits_with_0(appending);
        in_parent(locked, 3);
        assert_eq!(locked.nchunks(), 8);
        drop(schunk);
        assert_has_all_chunks(&[Library::ours()], &path, &[4, 3]);
    });
}

/// A super-chunk that threads share.
struct SharedHandle(SuperChunk);

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedHandle {}

/// Threads of the parent hold the locks of the handle, or wait for them, at each fork. Calls of the child succeed or
/// return an error.
#[test]
fn children_forked_during_calls_of_other_threads_do_not_hang() {
    const FORKS: usize = 20;
    at_each_level(test_name!(), |store, scratch| {
        let path = scratch.new_path();
        let shared = &SharedHandle(create(store, &path));
        let other = &SharedHandle(SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk"));
        let (over, appended) = (&AtomicBool::new(false), &AtomicU32::new(0));
        thread::scope(|scope| {
            scope.spawn(move || {
                while !over.load(Relaxed) {
                    let number = appended.fetch_add(1, Relaxed);
                    assert!(shared.0.append(&content(1, number)).is_ok());
                }
            });
            for handle in [shared, other] {
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        assert!(handle.0.decompress_into(0, NBYTES) == Ok(content(0, 0)));
                    }
                });
            }
            for fork in 0..FORKS {
                let child = run_in_fork(|| {
                    let found = shared.0.decompress_into(0, NBYTES);
                    assert!(found == Ok(content(0, 0)) || found == Err(-1), "{:?}", found.map(|_| ()));
                    let chunk = content(fork as u32 + 2, 0);
                    if shared.0.append(&chunk).is_err() {
                        let mine = SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk");
                        assert!(mine.append(&chunk).is_ok());
                    }
                });
                assert_exits_with_0(child);
            }
            over.store(true, Relaxed);
        });
        let mut counts = vec![appended.load(Relaxed) as usize];
        counts.resize(1 + FORKS, 1);
        assert_has_all_chunks(&[Library::ours()], &path, &counts);
    });
}

/// A prefilter forks in the middle of a write to several chunks. The parent completes the write; the call returns an
/// error in the child, which then uses the array.
#[test]
fn a_child_forked_inside_a_write_returns_an_error_and_uses_the_array() {
    at_each_level(test_name!(), |store, scratch| {
        let (start, stop) = ([0, 0], [40, 100]);
        let items: Vec<u8> = (0..4000_u64).flat_map(|n| (n * n).to_le_bytes()).collect();
        for forking_call in [1, 4, 16] {
            let path = scratch.new_path();
            let spec = ArraySpec::new(&stop, &[5, 100], &[5, 50], 8).with_store(store, &path);
            let array = spec.zeros(Library::ours());
            PipelineKind::Prefilter.install_contexts(&array.schunk(), 5 * 50 * 8);
            let forked = Rc::new(Cell::new(None));
            let (seen, mut calls) = (forked.clone(), 0);
            set_hook(Some(Box::new(move || {
                calls += 1;
                if calls == forking_call {
                    // SAFETY: the test is about the calls that a child may make after a fork.
                    seen.set(Some(unsafe { libc::fork() }));
                }
                calls < forking_call
            })));
            let code = array.set(&start, &stop, &items);
            let pid = forked.get().expect("a call of the prefilter");
            let check = || {
                assert!(array.get(&start, &stop) == Ok(items.clone()));
                assert_eq!(array.set(&[7, 7], &[8, 8], &items[8 * 707..][..8]), 0);
            };
            if pid == 0 {
                // SAFETY: plain system calls.
                unsafe {
                    libc::alarm(60);
                    let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_ok();
                    libc::_exit(if good && code == -1 { 0 } else { 1 });
                }
            }
            assert_eq!(code, 0);
            check();
            assert_exits_with_0(pid);
            check();
        }
    });
}
