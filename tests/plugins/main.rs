//! The codecs and filters of the library's plugin range (codecs.md 8 to 11, filters.md 8 to 11) from C: by id,
//! through contexts, super-chunks and arrays, in both directions with the reference.
//!
//! `PLUGIN_POINTS` is the number of arrays, `PLUGIN_SEED` the seed of the sample.

mod arrays;
mod contexts;
mod crafted;
mod fixed_rate_items;
mod mutated;
mod rejected_inputs;
mod zfp_streams;

use libblosc2_test_support::support;

const NDLZ: u8 = 32;
const ZFP_ACC: u8 = 33;
const ZFP_PREC: u8 = 34;
const ZFP_RATE: u8 = 35;

const SHUFFLE: u8 = 1;
const NDCELL: u8 = 32;
const NDMEAN: u8 = 33;
const BYTEDELTA_BUGGY: u8 = 34;
const BYTEDELTA: u8 = 35;
const INT_TRUNC: u8 = 36;

/// Returns bytes with repeated cells.
fn repeated_cells(nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(|at| (at / 4 % 3) as u8).collect()
}

/// Returns a pipeline of one or two filters in the last slots.
fn pipeline(filters: &[(u8, u8)]) -> ([u8; 6], [u8; 6]) {
    let (mut ids, mut metas) = ([0; 6], [0; 6]);
    for (slot, &(id, meta)) in (6 - filters.len()..).zip(filters) {
        (ids[slot], metas[slot]) = (id, meta);
    }
    (ids, metas)
}
