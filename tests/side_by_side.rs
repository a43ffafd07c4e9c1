//! Compares with the reference in both directions: each library reads the chunks of both, and headers, return codes
//! and partial reads are equal. The grid of codecs, levels, filters, typesizes, sizes, split modes, block sizes,
//! threads, dictionaries and destinations is sampled at random:
//!
//! ```text
//! BLOSC2_GRID_POINTS=20000 cargo test --release --test side_by_side grid -- --nocapture
//! ```
//!
//! `BLOSC2_GRID_SEED` selects another sample; `BLOSC2_GRID_ONLY=<index>` replays one point of it.

#[path = "side_by_side/array_bytes.rs"]
mod array_bytes;
#[path = "side_by_side/auto_tuner.rs"]
mod auto_tuner;
#[path = "side_by_side/back_ends.rs"]
mod back_ends;
#[path = "side_by_side/blosclz_streams.rs"]
mod blosclz_streams;
#[path = "side_by_side/functions.rs"]
mod functions;
#[path = "side_by_side/grid.rs"]
mod grid;
#[path = "side_by_side/lz4_dictionaries.rs"]
mod lz4_dictionaries;
#[path = "side_by_side/lz4hc_sizes.rs"]
mod lz4hc_sizes;
#[path = "side_by_side/out_of_shape.rs"]
mod out_of_shape;
#[path = "side_by_side/paths.rs"]
mod paths;
#[path = "side_by_side/refusals.rs"]
mod refusals;
#[path = "side_by_side/variable_length.rs"]
mod variable_length;
#[path = "side_by_side/variable_length_codes.rs"]
mod variable_length_codes;

use libblosc2_test_support::support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use support::calls::BytesResult;
use support::random::{Random, from_environment};

const CODECS: [u8; 5] = [0, 1, 2, 4, 5];
const TYPESIZES: [i32; 15] = [1, 2, 3, 4, 7, 8, 12, 16, 17, 31, 32, 64, 255, 256, 300];
const SHUFFLE: u8 = 1;
const BITSHUFFLE: u8 = 2;
const DELTA: u8 = 3;
const TRUNC_PREC: u8 = 4;

fn pick_filters(random: &mut Random, typesize: i32) -> ([u8; 6], [u8; 6]) {
    let mut filters = [0; 6];
    let mut metas = [0; 6];
    let kept_bits = |random: &mut Random| match (typesize, random.below(8)) {
        (_, 0) => random.byte(),
        (4, choice) if choice % 2 == 0 => 1 + random.below(23) as u8,
        (4, _) => (1 + random.below(22) as u8).wrapping_neg(),
        (_, choice) if choice % 2 == 0 => 1 + random.below(52) as u8,
        _ => (1 + random.below(51) as u8).wrapping_neg(),
    };
    match random.below(9) {
        0 => {}
        1 | 2 => filters[5] = SHUFFLE,
        3 => filters[5] = BITSHUFFLE,
        4 => filters[5] = DELTA,
        5 => filters[4..].copy_from_slice(&[DELTA, if random.one_in(2) { SHUFFLE } else { BITSHUFFLE }]),
        6 if typesize == 4 || typesize == 8 || random.one_in(4) => {
            filters[4..].copy_from_slice(&[TRUNC_PREC, random.below(3) as u8]);
            metas[4] = kept_bits(random);
        }
        _ => {
            for _ in 0..1 + random.below(6) {
                let slot = random.below(6);
                let lossy = (typesize == 4 || typesize == 8) && random.one_in(8);
                filters[slot] =
                    if lossy { TRUNC_PREC } else { *random.pick(&[SHUFFLE, SHUFFLE, BITSHUFFLE, DELTA]) };
                metas[slot] = match filters[slot] {
                    TRUNC_PREC => kept_bits(random),
                    _ if random.one_in(3) => *random.pick(&[1, 2, 3, 4, 5, 8, 16, 100, 255]),
                    _ => 0,
                };
            }
        }
    }
    (filters, metas)
}

fn pick_nbytes(random: &mut Random) -> usize {
    match random.below(40) {
        0 => 1_000_003,
        1..=3 => 65_535,
        4..=9 => random.below(200_000),
        10..=18 => 1 + random.below(20_000),
        _ => *random.pick(&[0, 1, 31, 32, 33, 4096, 65_535]),
    }
}

fn pick_blocksize(random: &mut Random, typesize: i32, nbytes: usize) -> i32 {
    if random.one_in(2) {
        return 0;
    }
    let nbytes = nbytes as i32;
    let sizes = [
        1,
        3,
        16,
        20,
        32,
        100,
        128,
        1000,
        1001,
        4096,
        8191,
        65_536,
        typesize,
        typesize * 32,
        typesize * 37,
        nbytes / 2,
        nbytes,
        nbytes + 1,
        1 + random.below(5000) as i32,
    ];
    // Limits the number of blocks to keep the run time short.
    (*random.pick(&sizes)).max(nbytes / 2000).max(1)
}

/// Fails with a message that contains only the differing part of two byte strings.
#[track_caller]
fn assert_bytes(what: &str, got: &[u8], expected: &[u8]) {
    if got == expected {
        return;
    }
    let at = got.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(got.len().min(expected.len()));
    let window = |bytes: &[u8]| format!("{:02x?}", &bytes[at.min(bytes.len())..bytes.len().min(at + 16)]);
    panic!(
        "{what}: {} bytes, expected {}; first difference at {at}: {} instead of {}",
        got.len(),
        expected.len(),
        window(got),
        window(expected)
    );
}

fn assert_decodes(what: &str, result: BytesResult, expected: &[u8]) {
    match result {
        Ok(bytes) => assert_bytes(what, &bytes, expected),
        Err(code) => panic!("{what}: error {code}"),
    }
}

/// Runs `test` on every index, continues after failures, and fails at the end with a list of them.
fn for_each_point(indices: impl Iterator<Item = u64>, seed: u64, mut test: impl FnMut(u64)) {
    const MAX_FAILURES: usize = 25;
    let mut failures = Vec::new();
    for index in indices {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(index))) {
            let message = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
                .unwrap_or_default();
            failures.push(format!("seed {seed} point {index}: {message}"));
            if failures.len() == MAX_FAILURES {
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

fn selected_points(default: u64) -> std::ops::Range<u64> {
    match std::env::var("BLOSC2_GRID_ONLY") {
        Ok(text) => {
            let index: u64 = text.parse().expect("BLOSC2_GRID_ONLY is a number");
            index..index + 1
        }
        Err(_) => 0..from_environment("BLOSC2_GRID_POINTS", default),
    }
}
