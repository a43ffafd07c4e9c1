//! Group `processes`: 1, 2 and 4 processes that share a number of calls, with 1, 2 and 4 threads for each call.
//!
//! All processes of a cell exist from its start on and wait. In each round, each setting runs once, so that other programs
//! on the machine slow down all of them. The time of a setting is the shortest one, from the start of its first call to the
//! end of its last.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{OwnedContext, Params, compress, dparams};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::{LZ4, ZSTD, noisy_floats, read_slice, walk};

/// The environment variable that makes a process a child: the index in [`CELLS`], the number of the library (0: ours),
/// the number of threads, the index of the process, and the path of the array, separated by spaces.
const TASK_ENV: &str = "BLOSC2_THREADS_TASK";

const COUNTS: [usize; 3] = [1, 2, 4];
const ROUNDS: usize = 9;

/// Length of the buffers that are compressed, in bytes.
const NBYTES: usize = 4 << 20;

#[derive(Clone, Copy, PartialEq)]
enum Action {
    Compress,
    Decompress,
    /// 400 rows and 100 columns of an array on disk.
    ReadSlice,
    /// Chunks of an array on disk that all processes write, with the lock between processes.
    WriteChunk,
}

/// Name, action, codec with its level, and number of calls of all processes together, a multiple of 4.
type Cell = (&'static str, Action, (u8, u8), usize);
const CELLS: [Cell; 6] = [
    ("compress lz4 5, 4 MiB", Action::Compress, (LZ4.1, LZ4.2), 64),
    ("compress zstd 1, 4 MiB", Action::Compress, (ZSTD.1, ZSTD.2), 24),
    ("decompress lz4 5, 4 MiB", Action::Decompress, (LZ4.1, LZ4.2), 160),
    ("decompress zstd 1, 4 MiB", Action::Decompress, (ZSTD.1, ZSTD.2), 64),
    ("read slices zstd 1, file", Action::ReadSlice, (ZSTD.1, ZSTD.2), 160),
    ("write chunks zstd 1, file", Action::WriteChunk, (ZSTD.1, ZSTD.2), 16),
];

const SHAPE: [i64; 2] = [4000, 1000];
const CHUNKSHAPE: [i32; 2] = [1000, 1000];

fn array_path(directory: &Path, library: &Library) -> PathBuf {
    directory.join(format!("{}.b2nd", library.name))
}

fn create_array(library: &'static Library, directory: &Path, (codec, clevel): (u8, u8)) {
    let mut spec = ArraySpec::new(&SHAPE, &CHUNKSHAPE, &[25, 1000], 8);
    (spec.params.codec, spec.params.clevel) = (codec, clevel);
    let spec = spec.with_store(Store::File, &array_path(directory, library));
    drop(spec.create_from_buffer(library, &walk(SHAPE.iter().product::<i64>() as usize)));
}

/// Returns the call of a child.
fn work(
    cell: &Cell,
    library: &'static Library,
    nthreads: i16,
    index: usize,
    directory: &Path,
) -> Box<dyn FnMut()> {
    let &(_, action, (codec, clevel), _) = cell;
    let params = Params { codec, clevel, typesize: 4, nthreads, ..Params::default() };
    let open = || {
        // SAFETY: the function has no preconditions.
        unsafe { (library.blosc2_set_nthreads)(nthreads) };
        Array::open(library, &array_path(directory, library)).1.expect("an array")
    };
    match action {
        Action::Compress => {
            let data = noisy_floats(NBYTES);
            let mut context =
                OwnedContext::for_compression(library, params.cparams()).expect("valid parameters");
            let mut dest = vec![0; data.len() + 64];
            Box::new(move || assert!(context.compress(&data, &mut dest) > 0))
        }
        Action::Decompress => {
            let chunk = compress(library, &params, &noisy_floats(NBYTES), NBYTES + 64).expect("a chunk");
            let mut context = OwnedContext::for_decompression(library, dparams(nthreads));
            let mut dest = vec![0; NBYTES];
            Box::new(move || assert!(context.decompress(&chunk, &mut dest) > 0))
        }
        Action::ReadSlice => {
            let (array, mut random) = (open(), Random::of_item(5, index as u64));
            let mut dest = vec![0; 400 * 100 * 8];
            Box::new(move || {
                let mut draw = |count: i64| (random.next() % count as u64) as i64;
                let (row, column) = (draw(SHAPE[0] - 400), draw(SHAPE[1] - 100));
                read_slice(&array, &[row, column], &[row + 400, column + 100], &[400, 100], &mut dest);
            })
        }
        Action::WriteChunk => {
            let array = open();
            let items = walk((CHUNKSHAPE[0] * CHUNKSHAPE[1]) as usize);
            let start = [index as i64 * i64::from(CHUNKSHAPE[0]), 0];
            let stop = [start[0] + i64::from(CHUNKSHAPE[0]), SHAPE[1]];
            Box::new(move || assert_eq!(array.set(&start, &stop, &items), 0))
        }
    }
}

/// Runs the work of this process if it is a child; returns whether it is.
pub fn run_if_child(libraries: [&'static Library; 2]) -> bool {
    let Ok(task) = std::env::var(TASK_ENV) else { return false };
    let mut fields = task.splitn(5, ' ');
    let mut number = || fields.next().and_then(|field| field.parse::<usize>().ok()).expect("a number");
    let (cell, library, nthreads, index) = (&CELLS[number()], libraries[number()], number(), number());
    let directory = Path::new(fields.next().expect("a path"));
    let mut call = work(cell, library, nthreads as i16, index, directory);
    // Each line of the input is a number of calls. The first ones start threads and map memory.
    call();
    println!();
    for line in std::io::stdin().lines() {
        (0..line.expect("a line").parse().expect("a number")).for_each(|_: usize| call());
        println!();
    }
    true
}

/// A child, and the pipes by which it gets numbers of calls and answers with empty lines.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    fn start(task: &str) -> Process {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.env(TASK_ENV, task).env("BLOSC_LOCKING", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Process { child, input, output: BufReader::new(output) }
    }

    fn start_calls(&mut self, ncalls: usize) {
        writeln!(self.input, "{ncalls}").expect("a child that reads");
    }

    fn wait(&mut self) {
        let mut line = String::new();
        assert_eq!(self.output.read_line(&mut line).expect("a line"), 1, "a child has ended");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A number of processes, a number of threads, and the shortest time so far in seconds.
struct Setting {
    nprocesses: usize,
    nthreads: usize,
    seconds: f64,
    processes: Vec<Process>,
}

fn measure(ncell: usize, directory: &Path) -> [Vec<Setting>; 2] {
    let mut settings = [0, 1].map(|library| {
        let setting = |(nprocesses, nthreads)| {
            let start = |index| {
                Process::start(&format!("{ncell} {library} {nthreads} {index} {}", directory.display()))
            };
            let mut processes: Vec<Process> = (0..nprocesses).map(start).collect();
            processes.iter_mut().for_each(Process::wait);
            Setting { nprocesses, nthreads, seconds: f64::MAX, processes }
        };
        COUNTS
            .iter()
            .flat_map(|&nprocesses| COUNTS.map(|nthreads| (nprocesses, nthreads)))
            .map(setting)
            .collect()
    });
    for _ in 0..ROUNDS {
        for setting in settings.iter_mut().flat_map(|settings: &mut Vec<Setting>| settings) {
            let start = Instant::now();
            let ncalls = CELLS[ncell].3 / setting.nprocesses;
            setting.processes.iter_mut().for_each(|process| process.start_calls(ncalls));
            setting.processes.iter_mut().for_each(Process::wait);
            setting.seconds = setting.seconds.min(start.elapsed().as_secs_f64());
        }
    }
    settings
}

pub fn run(libraries: [&'static Library; 2], is_wanted: &dyn Fn(&str) -> bool) {
    println!("speed of processes x threads, of the best setting of the same library, and of the reference");
    println!("{:34} {:>8} {:>8} {:>12}", "", "ours", "theirs", "ours/theirs");
    let mut worst = (f64::MAX, "");
    for (ncell, cell) in CELLS.iter().enumerate().filter(|(_, cell)| is_wanted(cell.0)) {
        let scratch = ScratchDir::new();
        if matches!(cell.1, Action::ReadSlice | Action::WriteChunk) {
            libraries.into_iter().for_each(|library| create_array(library, scratch.path(), cell.2));
        }
        let settings = measure(ncell, scratch.path());
        let best =
            settings.each_ref().map(|all| all.iter().map(|setting| setting.seconds).fold(f64::MAX, f64::min));
        for (ours, theirs) in settings[0].iter().zip(&settings[1]) {
            let name = format!("{}, {} x {}", cell.0, ours.nprocesses, ours.nthreads);
            let of_best = best[0] / ours.seconds;
            println!(
                "{name:34} {of_best:>8.2} {:>8.2} {:>12.2}",
                best[1] / theirs.seconds,
                theirs.seconds / ours.seconds
            );
            if (ours.nprocesses, ours.nthreads) == (4, 4) && of_best < worst.0 {
                worst = (of_best, cell.0);
            }
        }
    }
    if worst.0 < f64::MAX {
        println!("4 processes x 4 threads: at least {:.2} of the best setting ({})", worst.0, worst.1);
    }
}
