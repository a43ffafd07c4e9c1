//! The size of a file that is opened, changed and closed many times at level `kill`, relative to the same changes at
//! level `off`: a handle does not have the state of the handle before it, which knew the free bytes between the chunks.

use std::fs;
use std::path::Path;

use crate::levels::{Level, assert_library_has_levels};
use crate::processes::{self, child_part};
use crate::support::calls::{Params, compress};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

const SECONDS_LIMIT: u32 = 300;
const ROUNDS: u64 = 200;
/// The uncompressed size of a chunk, in bytes.
const NBYTES: usize = 40_000;

/// The changes of each round, and the limits for the size at level `kill` divided by the size at level `off`.
struct Scenario {
    nchunks: usize,
    updates_per_round: usize,
    /// Limit before the handle of a round is closed.
    open_limit: f64,
    /// Limit after it is closed.
    closed_limit: f64,
}

/// The sizes of the file in each round, before and after the handle is closed.
type Sizes = Vec<(u64, u64)>;

/// Returns a chunk of a random compressed size between about 100 and `NBYTES` bytes, distributed log-uniformly.
fn chunk(random: &mut Random) -> Vec<u8> {
    let exponent = random.below(1000) as f64 / 1000.0;
    let noise = (100.0 * (NBYTES as f64 / 100.0).powf(exponent)) as usize;
    let mut bytes = random.bytes(noise);
    bytes.resize(NBYTES, 0);
    compress(Library::ours(), &Params { codec: 1, typesize: 4, ..Params::default() }, &bytes, NBYTES + 100)
        .expect("a chunk")
}

fn file_len(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").len()
}

/// Runs the scenario at one level. Returns the sizes, and the chunks at the end.
fn run_at(level: Level, scenario: &Scenario) -> (Sizes, Vec<Vec<u8>>) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let mut random = Random::new(53);
    let params = Params { codec: 1, typesize: 4, ..Params::default() };
    // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
    let schunk = unsafe { level.run(|| SuperChunk::create(Library::ours(), Store::File, &path, &params)) };
    for _ in 0..scenario.nchunks {
        schunk.append_chunk(&chunk(&mut random)).expect("appended");
    }
    drop(schunk);
    let nchunks = scenario.nchunks as i64;
    let mut sizes = Sizes::new();
    for _ in 0..ROUNDS {
        // SAFETY: as above.
        let schunk = unsafe { level.run(|| SuperChunk::open(Library::ours(), &path)) };
        let schunk = schunk.expect("a super-chunk");
        for _ in 0..scenario.updates_per_round {
            let at = random.below(scenario.nchunks) as i64;
            assert_eq!(schunk.update_chunk(at, &chunk(&mut random)), Ok(nchunks));
        }
        let open = file_len(&path);
        drop(schunk);
        sizes.push((open, file_len(&path)));
    }
    let schunk = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
    (sizes, (0..nchunks).map(|at| schunk.decompress(at).expect("a chunk")).collect())
}

/// Runs the scenario at both levels in a child and checks the sizes.
fn check_sizes(test: &str, scenario: &Scenario) {
    if child_part().is_none() {
        println!("{test}: {}", processes::start(test, "sizes", &[], SECONDS_LIMIT).join());
        return;
    }
    assert_library_has_levels();
    let ((off, expected), (kill, found)) = (run_at(Level::Off, scenario), run_at(Level::Kill, scenario));
    assert!(expected == found, "the contents differ between the levels");
    let ratios = |select: fn(&(u64, u64)) -> u64| -> (f64, f64) {
        let ratios = off.iter().zip(&kill).map(|(off, kill)| select(kill) as f64 / off.1 as f64);
        let ratios: Vec<f64> = ratios.collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        (ratios.into_iter().fold(0.0, f64::max), mean)
    };
    let ((open, mean_open), (closed, mean_closed)) = (ratios(|sizes| sizes.0), ratios(|sizes| sizes.1));
    processes::report(&format!(
        "size at kill by size at off: open {open:.3} at most, {mean_open:.3} on average; closed {closed:.3} at most, \
         {mean_closed:.3} on average"
    ));
    assert!(open <= scenario.open_limit, "{open} times the size before close");
    assert!(closed <= scenario.closed_limit, "{closed} times the size after close");
}

#[test]
fn three_updates_in_each_round() {
    check_sizes(
        test_name!(),
        &Scenario { nchunks: 60, updates_per_round: 3, open_limit: 1.5, closed_limit: 1.05 },
    );
}

#[test]
fn one_update_of_many_chunks_in_each_round() {
    check_sizes(
        test_name!(),
        &Scenario { nchunks: 1000, updates_per_round: 1, open_limit: 1.5, closed_limit: 1.05 },
    );
}
