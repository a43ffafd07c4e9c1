//! The space and the writes that level `kill` costs beside level `off`, for histories of a file that are drawn at
//! random: appends, updates, deletions and changes of metalayers, some in brackets, in one or several sessions.
//!
//! The test prints a line for each history. `BLOSC2_SPACE_HISTORIES` is the number of histories (default 24),
//! `BLOSC2_SPACE_SEED` their seed (default 12), `BLOSC2_SPACE_MIB` the upper limit of the length of a file in MiB
//! (default 1).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::levels::{Level, assert_library_has_levels};
use crate::processes::{self, child_part};
use crate::support::calls::{Params, compress};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

const SECONDS_LIMIT: u32 = 6000;
/// The smallest length of a file at level `off`, in bytes, at which lengths are compared: the shortest gap and a second
/// index are a large part of a shorter one.
const MIN_COMPARED_LEN: u64 = 128 << 10;
/// As [`MIN_COMPARED_LEN`], for files with updates before close, relative to the uncompressed size of a chunk: an
/// update keeps the old chunk beside the new one until the commit, and in a file of few chunks each of them is a large
/// part of it.
const MIN_COMPARED_CHUNKS: u64 = 16;
/// The limit for the length before close, divided by that at level `off`.
const OPEN_LIMIT: f64 = 1.5;
/// As [`OPEN_LIMIT`], for histories with updates.
const UPDATES_OPEN_LIMIT: f64 = 1.5;
/// As [`OPEN_LIMIT`], for histories with brackets of up to 51 updates.
const BRACKETS_OPEN_LIMIT: f64 = 2.5;
/// The limit for the length after close, divided by that at level `off`.
const CLOSED_LIMIT: f64 = 1.05;
const NOTE: &str = "note";

/// A history of a file, as drawn.
struct History {
    seed: u64,
    number: u64,
    /// The uncompressed size of a chunk, in bytes.
    nbytes: usize,
    appends: usize,
    /// Changes of other kinds, in a thousand.
    others: usize,
    has_deletions: bool,
    /// Changes in a bracket; 1 without brackets.
    bracket: usize,
    sessions: usize,
}

/// The measurements of a history at one level.
#[derive(Default)]
struct Costs {
    /// Lengths of the file at the end of each session, before and after close, and in between.
    open: Vec<u64>,
    closed: Vec<u64>,
    payload: u64,
    written: u64,
    written_by_close: u64,
    time: Duration,
    time_of_close: Duration,
    longest_close: Duration,
    chunks: Vec<Vec<u8>>,
}

impl Costs {
    /// Calls `work`, and adds its time and the bytes that it writes.
    fn count<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, before) = (Instant::now(), written_bytes());
        let result = work();
        self.time += start.elapsed();
        self.written += written_bytes() - before;
        result
    }
}

/// Returns a number between `from` and `to`, distributed log-uniformly.
fn log_uniform(random: &mut Random, from: f64, to: f64) -> f64 {
    from * (to / from).powf(random.below(1_000_000) as f64 / 1e6)
}

impl History {
    fn draw(seed: u64, number: u64, max_len: f64) -> History {
        let mut random = Random::of_item(seed, number);
        let nbytes = log_uniform(&mut random, 100.0, (4 << 20) as f64) as usize;
        let appends = log_uniform(&mut random, 1.0, 20_000.0).min(max_len / nbytes as f64 * 2.0) as usize + 1;
        // One third of the histories has appends only, another third no deletions.
        let kind = number % 3;
        let others = if kind == 0 { 0 } else { 50 + random.below(700) };
        let bracket = if random.one_in(3) { 2 + random.below(50) } else { 1 };
        let sessions = 1 + random.below(4);
        History { seed, number, nbytes, appends, others, has_deletions: kind == 2, bracket, sessions }
    }

    /// Returns a chunk with a random compressed size, from a tenth of the uncompressed size on.
    fn chunk(&self, random: &mut Random) -> Vec<u8> {
        let noise = self.nbytes / 10 + random.below(self.nbytes);
        let mut bytes = random.bytes(noise.min(self.nbytes));
        bytes.resize(self.nbytes, 0);
        compress(Library::ours(), &params(), &bytes, self.nbytes + 100).expect("a chunk")
    }

    /// Makes one change.
    fn change(&self, schunk: &SuperChunk, random: &mut Random, costs: &mut Costs) {
        let nchunks = schunk.nchunks() as usize;
        if nchunks == 0 || random.below(1000) >= self.others {
            let chunk = self.chunk(random);
            costs.payload += chunk.len() as u64;
            costs.count(|| schunk.append_chunk(&chunk)).expect("appended");
            return;
        }
        let at = random.below(nchunks) as i64;
        match random.below(10) {
            0..7 => {
                let chunk = self.chunk(random);
                costs.payload += chunk.len() as u64;
                costs.count(|| schunk.update_chunk(at, &chunk)).expect("updated");
            }
            7 if self.has_deletions => {
                costs.count(|| schunk.delete_chunk(at)).expect("deleted");
            }
            _ => {
                let len = 100 + random.below(2000);
                let content = random.bytes(len);
                costs.payload += content.len() as u64;
                assert_eq!(costs.count(|| schunk.vlmeta_update(NOTE, &content)), 0);
            }
        }
    }

    /// Runs the history at one level.
    fn run_at(&self, level: Level) -> Costs {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let mut random = Random::of_item(self.seed ^ 0x5eed, self.number);
        let mut costs = Costs::default();
        let steps = self.steps();
        for session in 0..self.sessions {
            // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
            let schunk = unsafe {
                level.run(|| match session {
                    0 => SuperChunk::create(Library::ours(), Store::File, &path, &params()),
                    _ => SuperChunk::open(Library::ours(), &path).expect("a super-chunk"),
                })
            };
            if session == 0 {
                assert_eq!(schunk.vlmeta_add(NOTE, b"note"), 0);
            }
            let (from, to) = (steps * session / self.sessions, steps * (session + 1) / self.sessions);
            self.run_steps(&schunk, from..to, &path, &mut random, &mut costs);
            let (start, before) = (Instant::now(), written_bytes());
            drop(schunk);
            costs.written_by_close += written_bytes() - before;
            costs.time_of_close += start.elapsed();
            costs.longest_close = costs.longest_close.max(start.elapsed());
            costs.closed.push(file_len(&path));
        }
        costs.written += costs.written_by_close;
        costs.time += costs.time_of_close;
        let schunk = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
        costs.chunks = (0..schunk.nchunks()).map(|n| schunk.get_chunk(n).expect("a chunk")).collect();
        costs
    }

    fn run_steps(
        &self,
        schunk: &SuperChunk,
        steps: std::ops::Range<usize>,
        path: &Path,
        random: &mut Random,
        costs: &mut Costs,
    ) {
        let interval = steps.len() / 20 + 1;
        let (from, end) = (steps.start, steps.end);
        for first in steps.step_by(self.bracket) {
            if self.bracket > 1 {
                assert_eq!(costs.count(|| schunk.lock()), 0);
            }
            let last = (first + self.bracket).min(end);
            for _ in first..last {
                self.change(schunk, random, costs);
            }
            if self.bracket > 1 {
                assert_eq!(costs.count(|| schunk.unlock()), 0);
            }
            if (last - from) / interval != (first - from) / interval || last == end {
                costs.open.push(file_len(path));
            }
        }
    }

    /// Number of changes. At level `off` an update moves half of the file on average, so that it limits the number of
    /// changes that are not appends.
    fn steps(&self) -> usize {
        let others = self.appends * self.others / (1000 - self.others);
        self.appends + others.min(500)
    }
}

fn params() -> Params {
    Params { codec: 1, typesize: 1, ..Params::default() }
}

fn file_len(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").len()
}

/// Returns the number of bytes that this process has written by system calls.
fn written_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/io").expect("the counters of this process");
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.trim().parse().ok()).expect("a number of bytes")
}

/// Returns the largest ratio of the lengths where that at level `off` is at least `min_len`; 0 without any.
fn largest_ratio(kill: &[u64], off: &[u64], min_len: u64) -> f64 {
    assert_eq!(kill.len(), off.len(), "numbers of lengths");
    let compared = kill.iter().zip(off).filter(|lengths| *lengths.1 >= min_len);
    compared.map(|(&kill, &off)| kill as f64 / off as f64).fold(0.0, f64::max)
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The ratios of the histories of one kind.
#[derive(Default)]
struct Summary {
    open: Vec<f64>,
    closed: Vec<f64>,
    written_at_off: Vec<f64>,
    written_at_kill: Vec<f64>,
    moved: Vec<f64>,
    time_of_close: Vec<f64>,
}

impl Summary {
    fn add(&mut self, history: &History, off: &Costs, kill: &Costs) {
        let min_chunks = if history.others == 0 { 0 } else { MIN_COMPARED_CHUNKS };
        let min_open_len = MIN_COMPARED_LEN.max(min_chunks * history.nbytes as u64);
        let open = largest_ratio(&kill.open, &off.open, min_open_len);
        let closed = largest_ratio(&kill.closed, &off.closed, MIN_COMPARED_LEN);
        let payload = kill.payload.max(1) as f64;
        let ratios =
            [off.written as f64, kill.written as f64, kill.written_by_close as f64].map(|n| n / payload);
        let close = kill.time_of_close.as_secs_f64() / kill.time.as_secs_f64();
        eprintln!(
            "history {:3}: {:5} appends, {:4} other steps, {:7} B, bracket {:2}, {} sessions: {:9} B; open {open:.3}, \
             closed {closed:.3}; written off {:.2}, kill {:.2}, by close {:.3}; close {close:.3} of the time, {:?} at most",
            history.number,
            history.appends,
            history.steps() - history.appends,
            history.nbytes,
            history.bracket,
            history.sessions,
            off.closed.last().expect("a length"),
            ratios[0],
            ratios[1],
            ratios[2],
            kill.longest_close,
        );
        self.written_at_off.push(ratios[0]);
        self.written_at_kill.push(ratios[1]);
        self.moved.push(ratios[2]);
        self.time_of_close.push(close);
        if open > 0.0 {
            self.open.push(open);
        }
        if closed > 0.0 {
            self.closed.push(closed);
        }
    }

    fn describe(&self) -> String {
        let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        format!(
            "length at kill by length at off: open {:.3} at most, {:.3} on average, closed {:.3} at most, {:.3} on \
             average; bytes written by byte of payload: off {:.2} on average, kill \
             {:.2} on average, {:.2} at most, by close {:.3} on average, {:.3} at most; close takes {:.3} of the time on \
             average, {:.3} at most",
            largest(&self.open),
            mean(&self.open),
            largest(&self.closed),
            mean(&self.closed),
            mean(&self.written_at_off),
            mean(&self.written_at_kill),
            largest(&self.written_at_kill),
            mean(&self.moved),
            largest(&self.moved),
            mean(&self.time_of_close),
            largest(&self.time_of_close),
        )
    }

    fn check(&self, open_limit: f64) {
        let (open, closed) = (&self.open, &self.closed);
        assert!(open.iter().all(|&ratio| ratio <= open_limit), "{open:?} times the length before close");
        assert!(closed.iter().all(|&ratio| ratio <= CLOSED_LIMIT), "{closed:?} times the length after close");
    }
}

#[test]
fn drawn_histories_of_a_file() {
    if child_part().is_none() {
        println!("{}", processes::start(test_name!(), "histories", &[], SECONDS_LIMIT).join());
        return;
    }
    assert_library_has_levels();
    let seed = from_environment("BLOSC2_SPACE_SEED", 12);
    let max_len = from_environment("BLOSC2_SPACE_MIB", 1) as f64 * f64::from(1 << 20);
    let [mut appends, mut updates, mut deletions, mut brackets] = <[Summary; 4]>::default();
    for number in 0..from_environment("BLOSC2_SPACE_HISTORIES", 24) {
        let history = History::draw(seed, number, max_len);
        let (off, kill) = (history.run_at(Level::Off), history.run_at(Level::Kill));
        assert!(off.chunks == kill.chunks, "history {number}: the contents differ between the levels");
        let summary = match &history {
            History { others: 0, .. } => &mut appends,
            History { bracket: 2.., .. } => &mut brackets,
            History { has_deletions: true, .. } => &mut deletions,
            _ => &mut updates,
        };
        summary.add(&history, &off, &kill);
    }
    let names = ["appends", "updates", "with deletions", "updates in brackets"];
    let summaries = [&appends, &updates, &deletions, &brackets];
    let drawn = names.iter().zip(summaries).filter(|(_, summary)| !summary.moved.is_empty());
    let lines: Vec<String> = drawn.map(|(name, summary)| format!("{name}: {}", summary.describe())).collect();
    processes::report(&format!("seed {seed}: {}", lines.join("; ")));
    let open_limits = [OPEN_LIMIT, UPDATES_OPEN_LIMIT, UPDATES_OPEN_LIMIT, BRACKETS_OPEN_LIMIT];
    for (summary, limit) in summaries.into_iter().zip(open_limits) {
        summary.check(limit);
    }
}
