//! Group `memory`: the peak of the resident memory beyond that before the operation, in a process for each figure.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::chunks::{fill, params, read_chunk, with_level};
use crate::support::calls::{OwnedContext, dparams};
use crate::support::library::Library;
use crate::support::memory::PeakMemory;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::{CHUNKSIZE, CONTENTS, Options, contents, print_heading, print_row};

/// The environment variable with the task of a process: the operation, the library, the number of chunks and a path.
const TASK_VARIABLE: &str = "BLOSC2_GROWTH_TASK";

/// A long buffer, in bytes.
const NBYTES: usize = 64 << 20;

/// Performs the task of this process, if it has one, and prints the bytes. Returns whether it has one.
pub fn run_task() -> bool {
    let Ok(task) = env::var(TASK_VARIABLE) else { return false };
    let words: Vec<&str> = task.splitn(4, ' ').collect();
    let [operation, library, count, path] = words[..] else { panic!("{TASK_VARIABLE}={task}") };
    let library =
        if library == "ours" { Library::ours() } else { Library::reference().expect("the C library") };
    let (count, path) = (count.parse().expect("a number"), Path::new(path));
    let peak = match operation {
        "compress" => buffer_peaks(library)[0],
        "decompress" => buffer_peaks(library)[1],
        "append-off" => with_level(Some("off"), || append_peak(library, path, count)),
        "append-default" => append_peak(library, path, count),
        _ => read_peak(library, path),
    };
    println!("{peak}");
    true
}

/// Returns the peaks of compressing and of decompressing a long buffer.
fn buffer_peaks(library: &'static Library) -> [usize; 2] {
    let mut data = contents().concat().repeat(NBYTES / (CHUNKSIZE * CONTENTS));
    let mut chunk = vec![1; NBYTES + 64];
    let compression = PeakMemory::start();
    let mut context = OwnedContext::for_compression(library, params().cparams()).expect("a context");
    let nbytes = context.compress(&data, &mut chunk);
    assert!(nbytes > 0, "{}: a chunk", library.name);
    drop(context);
    let compression = compression.growth();
    let decompression = PeakMemory::start();
    let mut context = OwnedContext::for_decompression(library, dparams(1));
    assert_eq!(context.decompress(&chunk[..nbytes as usize], &mut data) as usize, NBYTES);
    drop(context);
    [compression, decompression.growth()]
}

/// Returns the peak of appending `count` chunks to a new file, each in a change of its own.
fn append_peak(library: &'static Library, path: &Path, count: usize) -> usize {
    let contents = contents();
    let peak = PeakMemory::start();
    let schunk = SuperChunk::create(library, Store::File, path, &params());
    for content in contents.iter().cycle().take(count) {
        schunk.append(content).expect("an append");
    }
    drop(schunk);
    peak.growth()
}

/// Returns the peak of opening a frame and reading all its chunks.
fn read_peak(library: &'static Library, path: &Path) -> usize {
    let mut dest = vec![1; CHUNKSIZE];
    let peak = PeakMemory::start();
    let schunk = SuperChunk::open(library, path).expect("a frame");
    for nchunk in 0..schunk.nchunks() {
        read_chunk(&schunk, nchunk, &mut dest);
    }
    drop(schunk);
    peak.growth()
}

/// Returns the MiB that a process measures.
fn measure(operation: &str, library: &Library, count: usize, path: &Path) -> f64 {
    let task = format!("{operation} {} {count} {}", library.name, path.display());
    let program = env::current_exe().expect("the path of this program");
    let output = Command::new(program).env(TASK_VARIABLE, task).output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.trim().parse::<f64>().expect("bytes") / f64::from(1 << 20)
}

pub fn run(libraries: [&'static Library; 2], options: &Options) {
    print_heading("Peak memory", "MiB, chunks");
    let scratch = ScratchDir::new();
    let frame = scratch.new_path();
    let print = |operation: &str, name: &str, count: usize, path: &dyn Fn() -> std::path::PathBuf| {
        if options.has_row(name) {
            let peaks = libraries.map(|library| measure(operation, library, count, &path()));
            print_row(name, peaks, peaks[1] / peaks[0]);
        }
    };
    print("compress", "compress 64 MiB", 0, &|| frame.clone());
    print("decompress", "decompress 64 MiB", 0, &|| frame.clone());
    // 100,000 appends take the C library a minute.
    let counts: &[usize] = if options.full { &[100, 10_000, 100_000] } else { &[100, 10_000] };
    for level in ["off", "default"] {
        for &count in counts {
            let name = format!("append to a file, level {level}, {count}");
            print(&format!("append-{level}"), &name, count, &|| scratch.new_path());
        }
    }
    for count in [100, 10_000, 100_000] {
        let path = scratch.new_path();
        drop(fill(libraries[0], Store::File, &path, count));
        print("read", &format!("open and read a file, {count}"), count, &|| path.clone());
    }
}
