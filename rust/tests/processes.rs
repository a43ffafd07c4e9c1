//! Four processes that read, write and extend one array on disk, and of which some are killed at random moments. The array
//! loses no call that has returned, and is whole afterwards. One more test has two handles of one process.
//!
//! A test starts this executable again for its processes. `BLOSC2_PROCESS_KILLS` sets the number of kills of each test.
#![cfg(not(target_family = "wasm"))]

use blosc2::{Array, OpenOptions};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The variable that makes a process a child: the number of its worker and the path of the array.
const CHILD: &str = "BLOSC2_PROCESSES_CHILD";
const NWORKERS: usize = 4;
const NCHUNKS: usize = 16;
const CHUNK_NITEMS: usize = 4000;
const RECORD_NITEMS: usize = 500;
/// Much longer than a process needs for its next call.
const TIME_LIMIT: Duration = Duration::from_secs(300);

fn options() -> OpenOptions {
    OpenOptions::new().write(true).locking(true)
}

/// The number of calls of a worker that have returned, in a file that outlives the process.
struct Progress(File);

impl Progress {
    fn path(array: &Path, worker: usize) -> PathBuf {
        array.with_extension(format!("progress-{worker}"))
    }

    fn read(array: &Path, worker: usize) -> u64 {
        let bytes = std::fs::read(Progress::path(array, worker)).unwrap_or_default();
        bytes.try_into().map_or(0, u64::from_le_bytes)
    }

    fn open(array: &Path, worker: usize) -> Progress {
        let path = Progress::path(array, worker);
        Progress(File::options().write(true).create(true).truncate(false).open(path).unwrap())
    }

    fn set(&mut self, ncalls: u64) {
        self.0.rewind().unwrap();
        self.0.write_all(&ncalls.to_le_bytes()).unwrap();
    }
}

/// The file whose existence ends the processes.
fn stop_path(array: &Path) -> PathBuf {
    array.with_extension("stop")
}

/// The work of one process, until the test ends it.
trait Work {
    fn create(path: &Path, is_directory: bool);
    /// Opens the array. The last process of this worker has made `ncalls` calls, or one more.
    fn resume(path: &Path, worker: usize, ncalls: u64) -> Self;
    /// Makes call `ncall`, and checks the content that other calls have left.
    fn call(&mut self, ncall: u64);
    /// Checks the array after the numbers of calls that have returned, or one more each.
    fn check(path: &Path, ncalls: [u64; NWORKERS]);
}

/// Each worker overwrites its chunks in turn.
struct Writes {
    array: Array<u64>,
    worker: usize,
    first: u64,
}

/// The number of chunks of one worker.
const OWN_CHUNKS: u64 = (NCHUNKS / NWORKERS) as u64;

fn chunk_content(nchunk: usize, generation: u64) -> impl Iterator<Item = u64> {
    (0..CHUNK_NITEMS as u64).map(move |n| (generation << 32) + n * (nchunk as u64 + 1))
}

/// Returns the number of the write whose content a chunk has.
fn read_generation(array: &Array<u64>, nchunk: usize) -> u64 {
    let start = (nchunk * CHUNK_NITEMS) as u64;
    let items = array.read(start..start + CHUNK_NITEMS as u64).expect("a chunk");
    let generation = items[0] >> 32;
    assert!(
        items.into_iter().eq(chunk_content(nchunk, generation)),
        "chunk {nchunk}: not the content of one write"
    );
    generation
}

impl Work for Writes {
    fn create(path: &Path, is_directory: bool) {
        let items: Vec<u64> = (0..NCHUNKS).flat_map(|nchunk| chunk_content(nchunk, 0)).collect();
        let builder = Array::<u64>::builder([items.len() as u64]).chunks([CHUNK_NITEMS as u32]).blocks([500]);
        builder.directory(is_directory).create_from(path, &items).unwrap();
    }

    fn resume(path: &Path, worker: usize, ncalls: u64) -> Writes {
        Writes { array: options().open_array(path).expect("an array"), worker, first: ncalls }
    }

    fn call(&mut self, ncall: u64) {
        let nchunk = self.worker + NWORKERS * (ncall % OWN_CHUNKS) as usize;
        let generation = ncall / OWN_CHUNKS + 1;
        let found = read_generation(&self.array, nchunk);
        let is_made = ncall == self.first && found == generation;
        assert!(
            found == generation - 1 || is_made,
            "chunk {nchunk} before write {generation}: write {found}"
        );
        let items: Vec<u64> = chunk_content(nchunk, generation).collect();
        let start = (nchunk * CHUNK_NITEMS) as u64;
        self.array.write(start..start + CHUNK_NITEMS as u64, &items).expect("a write");
        // A chunk that another process may be writing.
        read_generation(&self.array, (ncall * 7) as usize % NCHUNKS);
    }

    fn check(path: &Path, ncalls: [u64; NWORKERS]) {
        let array = options().open_array(path).expect("an array");
        for nchunk in 0..NCHUNKS {
            let (worker, index) = (nchunk % NWORKERS, (nchunk / NWORKERS) as u64);
            let generations =
                [0, 1].map(|more| (ncalls[worker] + more + OWN_CHUNKS - 1 - index) / OWN_CHUNKS);
            let found = read_generation(&array, nchunk);
            assert!(
                generations.contains(&found),
                "chunk {nchunk}: write {found}, not one of {generations:?}"
            );
        }
    }
}

/// Each worker appends records with its number and that of the record.
struct Appends {
    array: Array<u64>,
    worker: usize,
    /// The number of records of this worker in the array, when it was opened.
    found: u64,
}

fn record(worker: usize, number: u64) -> impl Iterator<Item = u64> {
    (0..RECORD_NITEMS as u64).map(move |n| ((worker as u64) << 48) + (number << 16) + n)
}

/// Returns the number of records of each worker, which are in order.
fn count_records(array: &Array<u64>) -> [u64; NWORKERS] {
    let mut counts = [0; NWORKERS];
    for (n, items) in array.read(..).expect("records").chunks(RECORD_NITEMS).enumerate() {
        let worker = (items[0] >> 48) as usize;
        let next = counts.get_mut(worker).unwrap_or_else(|| panic!("record {n} of worker {worker}"));
        assert!(items.iter().copied().eq(record(worker, *next)), "record {n} is not {next} of {worker}");
        *next += 1;
    }
    counts
}

impl Work for Appends {
    fn create(path: &Path, is_directory: bool) {
        Array::<u64>::builder([0]).chunks([3700]).blocks([600]).directory(is_directory).create(path).unwrap();
    }

    fn resume(path: &Path, worker: usize, ncalls: u64) -> Appends {
        let array = options().open_array(path).expect("an array");
        let found = count_records(&array)[worker];
        assert!(
            found == ncalls || found == ncalls + 1,
            "worker {worker}: {found} records after {ncalls} calls"
        );
        Appends { array, worker, found }
    }

    fn call(&mut self, ncall: u64) {
        if ncall >= self.found {
            let items: Vec<u64> = record(self.worker, ncall).collect();
            self.array.append(0, &items).expect("an append");
        }
    }

    fn check(path: &Path, ncalls: [u64; NWORKERS]) {
        let found = count_records(&options().open_array(path).expect("an array"));
        for (found, ncalls) in found.into_iter().zip(ncalls) {
            assert!(found == ncalls || found == ncalls + 1, "{found} records after {ncalls} calls");
        }
    }
}

/// Runs the work of a child.
fn run_child<W: Work>(task: &str) {
    let (worker, path) = task.split_once(' ').expect("a task");
    let (worker, path) = (worker.parse().expect("a number"), Path::new(path));
    let first = Progress::read(path, worker);
    let mut progress = Progress::open(path, worker);
    let mut work = W::resume(path, worker, first);
    for ncall in first.. {
        work.call(ncall);
        progress.set(ncall + 1);
        if stop_path(path).exists() {
            break;
        }
    }
}

/// The processes of a test; they end with it.
struct Processes<'a> {
    test: &'a str,
    path: &'a Path,
    children: Vec<Child>,
}

impl Processes<'_> {
    fn start(test: &str, path: &Path, worker: usize) -> Child {
        let program = std::env::current_exe().expect("the path of this executable");
        // An emulator, if the tests run in one.
        let runner = std::env::var_os("BLOSC2_TEST_RUNNER").filter(|runner| !runner.is_empty());
        let mut command = Command::new(runner.as_ref().unwrap_or(&program.clone().into_os_string()));
        if runner.is_some() {
            command.arg(program);
        }
        command.args([test, "--exact", "--nocapture"]).stdin(Stdio::null()).stdout(Stdio::null());
        command.env(CHILD, format!("{worker} {}", path.display())).spawn().expect("a process")
    }

    fn ncalls(&self) -> [u64; NWORKERS] {
        std::array::from_fn(|worker| Progress::read(self.path, worker))
    }

    /// Waits until a process has made another call, and fails if a process has ended.
    fn wait_for_call(&mut self, worker: usize) {
        let (start, before) = (Instant::now(), Progress::read(self.path, worker));
        while Progress::read(self.path, worker) == before {
            for child in &mut self.children {
                let status = child.try_wait().expect("a process");
                assert!(status.is_none(), "a process has ended: {status:?}");
            }
            assert!(start.elapsed() < TIME_LIMIT, "worker {worker} is stuck: {:?} calls", self.ncalls());
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn kill(&mut self, worker: usize) {
        self.children[worker].kill().expect("a process is killed");
        let _ = self.children[worker].wait();
    }
}

impl Drop for Processes<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn run<W: Work>(test: &str, is_directory: bool) {
    if let Ok(task) = std::env::var(CHILD) {
        return run_child::<W>(&task);
    }
    let kills = std::env::var("BLOSC2_PROCESS_KILLS").map_or(15, |kills| kills.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("array.b2nd");
    W::create(path, is_directory);
    let children = (0..NWORKERS).map(|worker| Processes::start(test, path, worker)).collect();
    let mut processes = Processes { test, path, children };
    let mut random = 88_172_645_463_325_252u64;
    for _ in 0..kills {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let worker = (random >> 8) as usize % NWORKERS;
        processes.wait_for_call(worker);
        std::thread::sleep(Duration::from_micros((random >> 40) % 20_000));
        processes.kill(worker);
        processes.children[worker] = Processes::start(processes.test, path, worker);
    }
    for worker in 0..NWORKERS {
        processes.wait_for_call(worker);
    }
    File::create(stop_path(path)).unwrap();
    let start = Instant::now();
    for (worker, child) in processes.children.iter_mut().enumerate() {
        while child.try_wait().expect("a process").is_none() {
            assert!(start.elapsed() < TIME_LIMIT, "worker {worker} is stuck at its end");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(child.wait().expect("a process").success(), "worker {worker}");
    }
    let ncalls = processes.ncalls();
    println!("{test}: {ncalls:?} calls, {kills} kills");
    W::check(path, ncalls);
    assert_eq!(blosc2::verify(path, 1).unwrap().len(), 0, "damaged parts");
}

/// Python frees a handle with its interpreter lock held, which the thread with the other handle needs before it can go on.
#[test]
fn a_handle_is_closed_while_another_one_has_the_lock() {
    for is_directory in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("array.b2nd");
        Writes::create(path, is_directory);
        let open = || options().open_array::<u64>(path).unwrap();
        let (mut first, mut second) = (open(), open());
        second.write(..4000, &chunk_content(0, 1).collect::<Vec<_>>()).unwrap();
        let write = |first: &mut Array<u64>| {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                drop(second);
                sender.send(()).unwrap();
            });
            receiver.recv_timeout(TIME_LIMIT / 10).expect("the handle is closed");
            first.write(4000..8000, &chunk_content(1, 1).collect::<Vec<_>>())
        };
        first.transaction(write).unwrap();
        drop(first);
        let array = open();
        assert_eq!([0, 1, 2].map(|nchunk| read_generation(&array, nchunk)), [1, 1, 0]);
        assert_eq!(blosc2::verify(path, 1).unwrap().len(), 0);
    }
}

#[test]
fn killed_processes_that_write_a_file() {
    run::<Writes>("killed_processes_that_write_a_file", false);
}

#[test]
fn killed_processes_that_write_a_directory() {
    run::<Writes>("killed_processes_that_write_a_directory", true);
}

#[test]
fn killed_processes_that_append_to_a_file() {
    run::<Appends>("killed_processes_that_append_to_a_file", false);
}

#[test]
fn killed_processes_that_append_to_a_directory() {
    run::<Appends>("killed_processes_that_append_to_a_directory", true);
}
