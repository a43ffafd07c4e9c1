//! The growth of costs with the number of chunks, dimensions and threads, beside the reference library in the same process
//! and run.
//!
//! ```text
//! scripts/fetch-reference.sh
//! cargo bench --bench growth                      # all groups, up to 100,000 chunks; less than 3 minutes
//! cargo bench --bench growth -- --full            # up to 1,000,000 chunks; 10 minutes
//! cargo bench --bench growth -- chunks file       # one group, the rows with these words in their names
//! ```
//!
//! | group | rows |
//! |---|---|
//! | `chunks` | append, read of a chunk, read of an item, open and close: 100 chunks of 4 KiB and more, in each store |
//! | `arrays` | creating, reading, boxes and items of arrays with 2 to 8 dimensions |
//! | `contexts` | 1 to 64 contexts, each used by a thread of the program, at the same time |
//! | `memory` | peak memory of long buffers and of frames with many chunks; one process for each figure |
//!
//! The last column is the ratio of the costs, above 1 if this library is better. Files are in the temporary directory
//! (`TMPDIR`). The benchmark `memory` measures the memory of super-chunks with several threads.

#[path = "../../tests/support/mod.rs"]
mod support;

mod arrays;
mod chunks;
mod contexts;
mod peaks;

use std::time::Instant;

use support::library::Library;
use support::random::Random;

/// A chunk in bytes, in the groups `chunks` and `memory`.
const CHUNKSIZE: usize = 4 << 10;

/// The number of chunks whose contents differ.
const CONTENTS: usize = 64;

/// Batches of each library per row.
const ROUNDS: usize = 6;

/// The least time of a batch, in microseconds.
const BATCH: f64 = 5000.0;

/// The words of the command line.
struct Options {
    words: Vec<String>,
    full: bool,
}

impl Options {
    fn has_group(&self, name: &str) -> bool {
        self.words.first().is_none_or(|group| group == name)
    }

    fn has_row(&self, name: &str) -> bool {
        self.words.iter().skip(1).all(|word| name.contains(word.as_str()))
    }
}

/// What a row compares, ours first.
type Pair<'a> = [Box<dyn FnMut() + 'a>; 2];

/// Returns the microseconds that `calls` calls take together.
fn time(calls: usize, work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_secs_f64() * 1e6
}

/// Returns the microseconds per call of the fastest batch of each library. The batches alternate, since noise only adds
/// time. `calls` is the length of a batch; without it, a batch takes at least [`BATCH`].
fn measure(pair: &mut Pair<'_>, calls: Option<usize>) -> [f64; 2] {
    let batch = |work: &mut Box<dyn FnMut() + '_>| {
        time(1, work);
        calls.unwrap_or((BATCH / time(1, work).max(0.01)).ceil() as usize)
    };
    let [ours, theirs] = pair;
    let calls = [batch(ours), batch(theirs)];
    let mut best = [f64::MAX; 2];
    for round in 0..ROUNDS {
        for at in [round % 2, (round + 1) % 2] {
            best[at] = best[at].min(time(calls[at], &mut *pair[at]) / calls[at] as f64);
        }
    }
    best
}

fn print_heading(title: &str, unit: &str) {
    println!("\n{title}");
    println!("{:48} {:>12} {:>12} {:>8}", unit, "ours", "theirs", "ratio");
}

/// Prints the costs of both libraries, ours first, and marks a row in which ours is more than 5 % worse.
fn print_row(name: &str, [ours, theirs]: [f64; 2], ratio: f64) {
    let mark = if ratio < 0.95 { "  below" } else { "" };
    println!("{name:48} {ours:12.2} {theirs:12.2} {ratio:8.2}{mark}");
}

/// Returns chunks of numbers that ascend by a few at a time, and which LZ4 compresses to about a quarter.
fn contents() -> Vec<Vec<u8>> {
    let mut random = Random::new(41);
    let mut number = 0u32;
    let mut chunk = || {
        let numbers = (0..CHUNKSIZE / 4).flat_map(|_| {
            number = number.wrapping_add((random.next() % 4) as u32);
            number.to_le_bytes()
        });
        numbers.collect()
    };
    (0..CONTENTS).map(|_| chunk()).collect()
}

fn main() {
    if peaks::run_task() {
        return;
    }
    let Some((ours, theirs)) = support::both_libraries() else { return };
    // `cargo bench` adds `--bench`.
    let (flags, words): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let options = Options { words, full: flags.iter().any(|flag| flag == "--full") };
    let libraries: [&'static Library; 2] = [ours, theirs];
    if options.has_group("chunks") {
        chunks::run(libraries, &options);
    }
    if options.has_group("arrays") {
        arrays::run(libraries, &options);
    }
    if options.has_group("contexts") {
        contexts::run(libraries, &options);
    }
    if options.has_group("memory") {
        peaks::run(libraries, &options);
    }
}
