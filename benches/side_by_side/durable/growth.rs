//! The cost of an append to frames of 100 to 100,000 chunks: time, and bytes passed to `write` calls.
//!
//! The file that the reference appends to was written by our library at level `off`: the reference takes longer the more
//! chunks there are, and would take minutes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::variants::Variant;
use crate::Bench;
use crate::report::Report;
use crate::schunk::handles::{self, StorageVariant};
use crate::support::calls::Params;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The numbers of chunks before the measured appends.
const COUNTS: [usize; 4] = [100, 1_000, 10_000, 100_000];
/// The size of a chunk in bytes; its content is random.
const CHUNKSIZE: usize = 512;
/// The number of appends that are measured together.
const APPENDS: usize = 16;

/// The cost of one append.
struct Cost {
    microseconds: f64,
    bytes: u64,
}

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        for count in COUNTS {
            let name = format!("append to {count} chunks");
            if bench.options.is_selected(StorageVariant::In(store).name(), &name) {
                measure(bench, report, &scratch, store, count, &name);
            }
        }
    }
}

fn measure(bench: &Bench, report: &mut Report, scratch: &ScratchDir, store: Store, count: usize, name: &str) {
    let family = StorageVariant::In(store).name();
    let off = Variant::off(bench);
    let variants = [off, Variant::kill(bench), Variant::default(bench), Variant::reference(bench)];
    let mut random = Random::new(73);
    let frames = variants.map(|variant| {
        let path = scratch.new_path();
        let by = if variant.library.name == bench.reference.name { off } else { variant };
        by.with_settings(|| fill(by, store, &path, count, &mut random));
        let open = || handles::open(variant.library, StorageVariant::In(store), &path);
        (variant, variant.with_settings(open), path)
    });
    let mut best: Vec<Cost> = Vec::new();
    for _ in 0..=bench.options.rounds {
        for (at, (variant, schunk, _)) in frames.iter().enumerate() {
            let cost = variant.with_settings(|| append(schunk, &mut random));
            match best.get_mut(at) {
                Some(best) => *best = Cost { microseconds: best.microseconds.min(cost.microseconds), ..cost },
                // The first round opens files.
                None => best.push(Cost { microseconds: f64::INFINITY, ..cost }),
            }
        }
    }
    let reference = &best[variants.len() - 1];
    for ((variant, ..), cost) in frames.iter().zip(&best) {
        if !bench.options.summary {
            println!(
                "  {family} {name}: {}: {:.0} us, {} bytes",
                variant.name, cost.microseconds, cost.bytes
            );
        }
        if variant.library.name != bench.reference.name {
            let ratio = |base: &Cost| base.microseconds / cost.microseconds;
            report.add(family, format!("{name}: {}", variant.name), vec![ratio(&best[0]), ratio(reference)]);
        }
    }
    for (_, schunk, path) in frames {
        drop(schunk);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
}

/// Creates a frame of `count` chunks, with one commit for every thousand.
fn fill(variant: Variant, store: Store, path: &Path, count: usize, random: &mut Random) {
    let params = Params { codec: 1, typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(variant.library, store, path, &params);
    for first in (0..count).step_by(1_000) {
        assert_eq!(schunk.lock(), 0, "a bracket");
        for _ in first..count.min(first + 1_000) {
            assert!(schunk.append(&random.bytes(CHUNKSIZE)).is_ok(), "an append");
        }
        assert_eq!(schunk.unlock(), 0, "a bracket");
    }
}

/// Appends [`APPENDS`] chunks. Returns the cost of each.
fn append(schunk: &SuperChunk, random: &mut Random) -> Cost {
    let chunks: Vec<Vec<u8>> = (0..APPENDS).map(|_| random.bytes(CHUNKSIZE)).collect();
    let (written, start) = (written_bytes(), Instant::now());
    for chunk in &chunks {
        assert!(schunk.append(chunk).is_ok(), "{}: an append", schunk.library.name);
    }
    let seconds = start.elapsed().as_secs_f64();
    let appends = APPENDS as u64;
    Cost { microseconds: 1e6 * seconds / appends as f64, bytes: (written_bytes() - written) / appends }
}

/// Returns the number of bytes that this process has passed to `write` calls.
fn written_bytes() -> u64 {
    let io = fs::read_to_string("/proc/self/io").expect("the counters of the process");
    let count = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    count.and_then(|count| count.parse().ok()).expect("a number of bytes")
}
