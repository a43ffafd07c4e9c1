//! Processes that share a frame, each with its own handle: with the lock between processes, and without it. Each test
//! runs our library together with the reference, in both roles.

use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::children::{child_part, child_setting, join_children, start_child};
use crate::content::{CodecSettings, print_in_long_runs};
use crate::support;
use crate::support::calls::BytesResult;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, c_path};

/// Items of a chunk: its number, the process that wrote it, and a series.
const CHUNK_NITEMS: usize = 300;
pub const NBYTES: usize = CHUNK_NITEMS * 4;

const PATH: &str = "BLOSC2_CONCURRENCY_PATH";
const LIBRARY: &str = "BLOSC2_CONCURRENCY_LIBRARY";
const COUNT: &str = "BLOSC2_CONCURRENCY_COUNT";
const WRITER: &str = "BLOSC2_CONCURRENCY_WRITER";
const LOCKING: &str = "BLOSC2_CONCURRENCY_LOCKING";

fn append_count() -> usize {
    from_environment("BLOSC2_CONCURRENCY_APPENDS", 500) as usize
}

pub fn content(writer: u32, number: u32) -> Vec<u8> {
    let series = (2..CHUNK_NITEMS as u32).map(|n| n * (1 + number % 5) + number);
    [number, writer].into_iter().chain(series).flat_map(u32::to_le_bytes).collect()
}

/// Returns the process that wrote a chunk, and the number that this process gave it; checks every byte.
#[track_caller]
fn parse_origin(bytes: &[u8]) -> (u32, u32) {
    assert_eq!(bytes.len(), NBYTES, "a chunk");
    let word = |at: usize| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes"));
    let (number, writer) = (word(0), word(1));
    assert!(bytes == content(writer, number), "not the content of chunk {number} of writer {writer}");
    (writer, number)
}

fn child_library() -> &'static Library {
    match child_setting(LIBRARY).as_str() {
        "ours" => Library::ours(),
        _ => Library::reference().expect("the reference"),
    }
}

fn open_from_settings() -> SuperChunk {
    let path = child_setting(PATH);
    if child_setting(LOCKING) == "1" {
        return SuperChunk::open_locking(child_library(), Path::new(&path)).expect("a super-chunk");
    }
    // While a change is being written, the file may be an invalid frame.
    for _ in 0..10_000 {
        if let Some(schunk) = SuperChunk::open(child_library(), Path::new(&path)) {
            return schunk;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("no super-chunk");
}

pub fn coding() -> CodecSettings {
    CodecSettings { codec: 1, delta: false, nthreads: 1 }
}

/// Creates a frame with one chunk, which the other processes open.
fn create(library: &'static Library, store: Store, path: &Path) {
    let schunk = SuperChunk::create(library, store, path, &coding().params());
    assert_eq!(schunk.append(&content(0, 0)), Ok(1));
    assert_eq!(schunk.vlmeta_add("progress", &[0; 4]), 0);
}

/// Appends the number of chunks that the settings state.
fn run_appender() {
    let schunk = open_from_settings();
    let (count, writer) =
        (child_setting(COUNT).parse().expect("a number"), child_setting(WRITER).parse().expect("a number"));
    let mut before = schunk.nchunks();
    for number in 0..count {
        let nchunks =
            schunk.append(&content(writer, number)).unwrap_or_else(|code| panic!("append {number}: {code}"));
        assert!(nchunks > before, "{nchunks} chunks after {before}");
        before = nchunks;
        if number % 3 == 0 {
            // Gives the other processes time to read many states.
            std::thread::sleep(Duration::from_micros(100));
        }
        if child_setting(LOCKING) == "1" && number % 50 == 49 {
            // Other processes never read half of a locked section.
            assert_eq!(schunk.lock(), 0);
            assert!(schunk.vlmeta_update("progress", &number.to_le_bytes()) >= 0);
            assert!(schunk.vlmeta_update("progress", &(number + 1).to_le_bytes()) >= 0);
            assert_eq!(schunk.unlock(), 0);
        }
    }
    std::fs::write(done_path(), "").expect("a file");
}

/// Returns the name of a file that exists once the appending process has ended.
fn done_path() -> String {
    child_setting(PATH) + ".done"
}

/// Reads while other processes append, until all chunks are there.
fn run_follower() {
    let schunk = open_from_settings();
    let (locking, all) =
        (child_setting(LOCKING) == "1", child_setting(COUNT).parse::<i64>().expect("a number"));
    let mut random = Random::new(all as u64);
    let (mut reads, mut retried, mut refreshes) = (0u64, 0u64, 0u64);
    let mut seen = schunk.nchunks();
    let started = Instant::now();
    while seen < all {
        assert!(started.elapsed() < Duration::from_secs(600), "{seen} chunks of {all}");
        let is_over = !locking && std::fs::exists(done_path()).expect("the file system can be queried");
        let rc = schunk.refresh();
        // Without the lock, a partly written change may be invalid.
        assert!(rc >= 0 || !locking, "refresh: {rc}");
        refreshes += u64::from(rc == 1);
        let nchunks = schunk.nchunks();
        assert!(nchunks >= seen, "{nchunks} chunks after {seen}");
        seen = nchunks;
        if is_over && rc == 0 {
            // Without the lock, a change that keeps the length is not detected.
            break;
        }
        for nchunk in [0, nchunks - 1, random.below(nchunks as usize) as i64] {
            let got = match random.below(3) {
                0 => schunk.decompress_into(nchunk, NBYTES),
                1 => {
                    schunk.get_slice(nchunk * CHUNK_NITEMS as i64, (nchunk + 1) * CHUNK_NITEMS as i64, NBYTES)
                }
                _ => get_and_decompress(&schunk, nchunk),
            };
            reads += 1;
            match got {
                Ok(bytes) => drop(parse_origin(&bytes)),
                Err(code) => {
                    assert!(!locking, "chunk {nchunk} of {nchunks}: {code}");
                    retried += 1;
                }
            }
        }
        if locking && random.one_in(4) {
            let progress = schunk.vlmeta_get("progress").expect("the metalayer");
            let progress = u32::from_le_bytes(progress.try_into().expect("four bytes"));
            assert_eq!(progress % 50, 0, "progress {progress}: between two updates under one lock");
        }
    }
    assert!(seen > 1, "the reader saw only {seen} chunks");
    for nchunk in 0..seen {
        parse_origin(&schunk.decompress_into(nchunk, NBYTES).expect("a chunk"));
    }
    let (who, path) = (schunk.library.name, child_setting(PATH));
    print_in_long_runs(&format!(
        "{who} followed {path}: {seen} chunks, {reads} reads, {refreshes} refreshes, {retried} to be repeated, 0 wrong"
    ));
}

fn get_and_decompress(schunk: &SuperChunk, nchunk: i64) -> BytesResult {
    let chunk = schunk.get_chunk(nchunk)?;
    support::calls::decompress(schunk.library, 1, &chunk, NBYTES)
}

/// Runs the part of a child; returns whether this process is one.
fn run_if_child() -> bool {
    match child_part().as_deref() {
        None => return false,
        Some("append") => run_appender(),
        Some("follow") => run_follower(),
        Some(other) => panic!("unknown part {other}"),
    }
    true
}

struct ProcessTest<'a> {
    test: &'a str,
    path: &'a Path,
    locking: bool,
}

impl ProcessTest<'_> {
    fn child(&self, part: &str, library: &Library, count: usize, writer: usize) -> Child {
        let path = c_path(self.path).into_string().expect("a path");
        let (count, writer) = (count.to_string(), writer.to_string());
        let locking = if self.locking { "1" } else { "0" };
        let variables = [
            (PATH, path.as_str()),
            (LIBRARY, library.name),
            (COUNT, &count),
            (WRITER, &writer),
            (LOCKING, locking),
        ];
        start_child(self.test, part, &variables)
    }
}

/// Checks with both libraries that every appended chunk exists, and that the chunks of each process are in order.
pub fn assert_has_all_chunks(libraries: &[&'static Library], path: &Path, counts: &[usize]) {
    for library in libraries {
        let schunk = SuperChunk::open(library, path).expect("a super-chunk");
        let mut next = vec![0; counts.len()];
        assert_eq!(schunk.nchunks(), 1 + counts.iter().sum::<usize>() as i64);
        for nchunk in 1..schunk.nchunks() {
            let (writer, number) = parse_origin(&schunk.decompress_into(nchunk, NBYTES).expect("a chunk"));
            assert_eq!(number, next[writer as usize - 1], "chunk {nchunk}, of process {writer}");
            next[writer as usize - 1] += 1;
        }
        assert!(next.iter().zip(counts).all(|(&next, &count)| next as usize == count));
        assert_eq!(schunk.nbytes(), schunk.nchunks() * NBYTES as i64);
    }
}

/// One process appends, another reads: ours and the reference, and reversed.
fn check_appender_and_reader(test: &str, store: Store, locking: bool) {
    if run_if_child() {
        return;
    }
    let Some((ours, reference)) = support::both_libraries() else { return };
    let scratch = ScratchDir::new();
    for (writer, reader) in [(ours, reference), (reference, ours), (ours, ours)] {
        let path = scratch.new_path();
        create(writer, store, &path);
        let process_test = ProcessTest { test, path: &path, locking };
        let count = append_count();
        join_children(vec![
            ("the process that reads", process_test.child("follow", reader, count + 1, 0)),
            ("the process that appends", process_test.child("append", writer, count, 1)),
        ]);
        assert_has_all_chunks(&[ours, reference], &path, &[count]);
        let (writer, reader) = (writer.name, reader.name);
        print_in_long_runs(&format!(
            "{store:?}: {writer} appended {count}, {reader} read, locking {locking}: nothing wrong or lost"
        ));
    }
}

/// Several processes append to the same frame, others read.
fn check_appenders(test: &str, store: Store) {
    if run_if_child() {
        return;
    }
    let Some((ours, reference)) = support::both_libraries() else { return };
    let scratch = ScratchDir::new();
    for writers in [&[ours, reference][..], &[ours, ours, reference], &[ours, ours]] {
        let path = scratch.new_path();
        create(writers[0], store, &path);
        let process_test = ProcessTest { test, path: &path, locking: true };
        let count = append_count() / writers.len();
        let mut children: Vec<_> = writers
            .iter()
            .enumerate()
            .map(|(n, library)| {
                ("a process that appends", process_test.child("append", library, count, n + 1))
            })
            .collect();
        let all = 1 + count * writers.len();
        children.push(("the process that reads", process_test.child("follow", ours, all, 0)));
        join_children(children);
        assert_has_all_chunks(&[ours, reference], &path, &vec![count; writers.len()]);
        let names: Vec<_> = writers.iter().map(|library| library.name).collect();
        print_in_long_runs(&format!("{store:?}: {names:?} appended {count} each: nothing wrong or lost"));
    }
}

#[test]
fn reader_of_a_locked_file_gets_all_appended_chunks() {
    check_appender_and_reader(test_name!(), Store::File, true);
}

#[test]
fn reader_of_a_locked_directory_gets_all_appended_chunks() {
    check_appender_and_reader(test_name!(), Store::Directory, true);
}

/// A single writer, and readers that read again when they get invalid data (`frame.md` 6.3, 6.4).
#[test]
fn reader_of_an_unlocked_file_gets_no_wrong_chunk() {
    check_appender_and_reader(test_name!(), Store::File, false);
}

#[test]
fn reader_of_an_unlocked_directory_gets_no_wrong_chunk() {
    check_appender_and_reader(test_name!(), Store::Directory, false);
}

#[test]
fn appends_of_several_processes_to_a_file_are_all_kept() {
    check_appenders(test_name!(), Store::File);
}

#[test]
fn appends_of_several_processes_to_a_directory_are_all_kept() {
    check_appenders(test_name!(), Store::Directory);
}

/// Eight threads of one process read continuously, each under the lock that they share; another process must still be
/// able to append.
#[test]
fn continuous_readers_do_not_block_an_appending_process() {
    let test = test_name!();
    if run_if_child() {
        return;
    }
    let Some((ours, reference)) = support::both_libraries() else { return };
    let scratch = ScratchDir::new();
    for (store, writer) in [(Store::File, ours), (Store::File, reference), (Store::Directory, ours)] {
        let path = scratch.new_path();
        create(ours, store, &path);
        let shared = SharedHandle(SuperChunk::open_locking(ours, &path).expect("a super-chunk"));
        let (over, reads) = (AtomicBool::new(false), AtomicU64::new(0));
        let count = append_count() / 5;
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let shared = &shared;
                    while !over.load(Relaxed) {
                        parse_origin(&shared.0.decompress_into(0, NBYTES).expect("a chunk"));
                        parse_origin(&shared.0.get_slice(0, CHUNK_NITEMS as i64, NBYTES).expect("a chunk"));
                        reads.fetch_add(2, Relaxed);
                    }
                });
            }
            let process_test = ProcessTest { test, path: &path, locking: true };
            let child = process_test.child("append", writer, count, 1);
            join_children(vec![("the process that appends", child)]);
            over.store(true, Relaxed);
        });
        assert_eq!(shared.0.vlmeta_exists("progress"), 0);
        assert_eq!(shared.0.nchunks(), count as i64 + 1);
        assert_has_all_chunks(&[ours, reference], &path, &[count]);
        let reads = reads.into_inner();
        print_in_long_runs(&format!(
            "{store:?}: {} appended {count} during {reads} reads by 8 threads of ours",
            writer.name
        ));
    }
}

/// A super-chunk that threads share.
struct SharedHandle(SuperChunk);

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedHandle {}
