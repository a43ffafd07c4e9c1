//! Directories that are changed at the levels `kill` and `power`: two handles in turn, many chunks in one bracket with
//! few file descriptors, and temporary files that a killed process has left.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::levels::{Level, assert_library_has_levels};
use crate::processes::{self, child_part};
use crate::support::all_libraries;
use crate::support::calls::{Params, compress};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 120;
/// The uncompressed size of a chunk, in bytes.
const NBYTES: usize = 4000;
/// The number of rounds in which both handles change the directory.
const ROUNDS: usize = 12;
/// The number of appends in a bracket.
const APPENDS: usize = 40;

fn params() -> Params {
    Params { codec: 1, typesize: 4, ..Params::default() }
}

fn content(number: usize) -> Vec<u8> {
    Random::of_item(43, number as u64).bytes(NBYTES)
}

/// Runs `check` in a child at each level: no other thread of the child uses the environment.
fn check_levels(test: &str, check: fn(Level)) {
    let Some(part) = child_part() else {
        for level in [Level::Kill, Level::Power] {
            processes::start(test, level.name(), &[], SECONDS_LIMIT).join();
        }
        return;
    };
    assert_library_has_levels();
    check(Level::from_name(&part));
    processes::report("done");
}

/// Checks that all libraries read these chunks, and that the directory has no files but those of the frame.
#[track_caller]
fn assert_directory(path: &Path, chunks: &[Vec<u8>]) {
    for library in all_libraries() {
        let schunk = SuperChunk::open(library, path).expect("a super-chunk");
        assert!(schunk.contents() == chunks.concat(), "{} reads other contents", library.name);
    }
    let names: Vec<String> = read_files(path).into_keys().filter(|name| name != ".b2lock").collect();
    let chunk_files = names.iter().filter(|name| name.ends_with(".chunk")).count();
    assert_eq!(chunk_files, chunks.len(), "chunk files in {names:?}");
    assert_eq!(names.len(), chunks.len() + 1, "{names:?}");
}

/// Changes a directory through two handles in turn; each finds the index file that the other one has written.
fn two_handles(level: Level) {
    for is_locking in [false, true] {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        drop(SuperChunk::create(Library::ours(), Store::Directory, &path, &params()));
        let open = || match is_locking {
            true => SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk"),
            false => SuperChunk::open(Library::ours(), &path).expect("a super-chunk"),
        };
        // SAFETY: the only thread of this child that uses the environment.
        let handles = unsafe { level.run(|| [open(), open()]) };
        let mut chunks: Vec<Vec<u8>> = Vec::new();
        for round in 0..ROUNDS {
            for (number, handle) in handles.iter().enumerate() {
                chunks.push(content(2 * round + number));
                let appended = handle.append(chunks.last().expect("a chunk"));
                assert_eq!(appended, Ok(chunks.len() as i64), "round {round}, handle {number}");
            }
            // Both handles replace the same chunk, the second one after it has read it.
            for (number, handle) in handles.iter().enumerate() {
                let new = content(1000 + 2 * round + number);
                let chunk = compress(Library::ours(), &params(), &new, NBYTES + 100).expect("a chunk");
                assert_eq!(handle.decompress(round as i64).as_ref(), Ok(&chunks[round]), "round {round}");
                assert_eq!(handle.update_chunk(round as i64, &chunk), Ok(chunks.len() as i64));
                chunks[round] = new;
                assert_directory(&path, &chunks);
            }
        }
        let index_len = || fs::metadata(path.join("chunks.b2frame")).expect("an index file").len();
        let open_len = index_len();
        drop(handles);
        assert!(open_len <= 4 * index_len() + 1024, "{open_len} bytes, closed {} bytes", index_len());
    }
}

/// Appends more chunks in one bracket than the process can open files.
fn few_descriptors(level: Level) {
    for free in 3..36 {
        for has_long_header in [false, true] {
            bracket_with_few_descriptors(level, free, has_long_header);
        }
    }
}

/// Makes a bracket while the process can open `free` more files, and checks that no file stays open, and that the commit
/// leaves a gap in the index file, or replaces it if the header is longer than a sector.
fn bracket_with_few_descriptors(level: Level, free: u64, has_long_header: bool) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    // SAFETY: the only thread of this child that uses the environment.
    let schunk =
        unsafe { level.run(|| SuperChunk::create(Library::ours(), Store::Directory, &path, &params())) };
    let chunks: Vec<Vec<u8>> = (0..APPENDS + 1).map(content).collect();
    if has_long_header {
        assert!(schunk.meta_add("long", &[7; 600]) >= 0, "a metalayer");
    }
    schunk.append(&chunks[0]).expect("appended");
    let index_file = path.join("chunks.b2frame");
    let index_inode = || fs::metadata(&index_file).expect("an index file").ino();
    let (before, inode) = (open_descriptors(), index_inode());
    let limits = descriptor_limits();
    let limit = limits.rlim_cur.min((before.last().expect("a descriptor") + free) as libc::rlim_t);
    set_descriptor_limits(libc::rlimit { rlim_cur: limit, ..limits });
    assert_eq!(schunk.lock(), 0);
    for (number, chunk) in chunks.iter().enumerate().skip(1) {
        assert_eq!(schunk.append(chunk), Ok(number as i64 + 1), "an append with {free} descriptors");
    }
    assert_eq!(schunk.unlock(), 0, "{free} descriptors");
    set_descriptor_limits(limits);
    let has_gap = fs::read(&index_file).expect("an index file")[86] & 2 != 0;
    let is_replaced = index_inode() != inode;
    assert_eq!((is_replaced, has_gap), (has_long_header, !has_long_header), "{free} descriptors");
    assert_eq!(open_descriptors().len(), before.len(), "{free} descriptors: files stay open");
    assert_directory(&path, &chunks);
}

fn descriptor_limits() -> libc::rlimit {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a struct to be filled.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limits) }, 0);
    limits
}

fn set_descriptor_limits(limits: libc::rlimit) {
    // SAFETY: a filled struct.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limits) }, 0);
}

/// Returns the open descriptors, sorted, with the one that reads the directory.
fn open_descriptors() -> Vec<u64> {
    let entries = fs::read_dir("/proc/self/fd").expect("a directory");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut all: Vec<u64> =
        entries.map(|entry| name(entry).to_str().expect("UTF-8").parse().expect("a number")).collect();
    all.sort_unstable();
    all
}

/// Changes a directory in which the next names for temporary files are taken.
fn taken_names(level: Level) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    // SAFETY: the only thread of this child that uses the environment.
    let schunk =
        unsafe { level.run(|| SuperChunk::create(Library::ours(), Store::Directory, &path, &params())) };
    let names: Vec<String> =
        (0..20).map(|n| format!("chunks.b2frame.{}-{n}.tmp", std::process::id())).collect();
    for name in &names {
        fs::write(path.join(name), "the remains of a killed process").expect("a file");
    }
    let chunks: Vec<Vec<u8>> = (0..3).map(content).collect();
    for chunk in &chunks {
        schunk.append(chunk).expect("appended");
    }
    for name in &names {
        let found = fs::read_to_string(path.join(name)).expect("the remains");
        assert_eq!(found, "the remains of a killed process", "{name}");
        fs::remove_file(path.join(name)).expect("removed");
    }
    assert_directory(&path, &chunks);
}

/// Appends and deletes short chunks: the numbers of the chunk files become higher than C-Blosc2 allows for the few bytes
/// that stay in the end (frame.md 9).
fn few_short_chunks(level: Level) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    // SAFETY: the only thread of this child that uses the environment.
    let schunk =
        unsafe { level.run(|| SuperChunk::create(Library::ours(), Store::Directory, &path, &params())) };
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    for number in 0..400 {
        chunks.push(Random::of_item(44, number).bytes(40));
        assert_eq!(schunk.append(chunks.last().expect("a chunk")), Ok(chunks.len() as i64));
        if chunks.len() > 20 {
            chunks.remove(0);
            assert_eq!(schunk.delete_chunk(0), Ok(chunks.len() as i64));
        }
    }
    while chunks.len() > 1 {
        assert_directory(&path, &chunks);
        chunks.remove(0);
        assert_eq!(schunk.delete_chunk(0), Ok(chunks.len() as i64));
    }
    assert_directory(&path, &chunks);
}

#[test]
fn two_handles_change_a_directory_in_turn() {
    check_levels(test_name!(), two_handles);
}

#[test]
fn bracket_needs_few_descriptors() {
    check_levels(test_name!(), few_descriptors);
}

#[test]
fn remains_with_the_names_of_temporary_files_are_left() {
    check_levels(test_name!(), taken_names);
}

#[test]
fn numbers_of_chunk_files_stay_in_the_range_of_the_c_library() {
    check_levels(test_name!(), few_short_chunks);
}
