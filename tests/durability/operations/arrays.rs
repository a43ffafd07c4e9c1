//! Changes of arrays.

use super::setups::{Setup, noise};
use super::{Change, Group, Operation};
use crate::support::array::Array;

type ArrayChange = fn(&Array) -> bool;

/// Writes of items and changes of the shape.
const CHANGES: &[(&str, ArrayChange)] = &[
    ("slice in one chunk", |array| array.set(&[0, 0], &[4, 5], &noise(30, 20)) >= 0),
    ("slice over parts of chunks", |array| array.set(&[5, 20], &[25, 50], &noise(32, 600)) >= 0),
    ("slice over all chunks", |array| {
        let shape = array.shape().to_vec();
        array.set(&[0, 0], &shape, &noise(31, (shape[0] * shape[1]) as usize)) >= 0
    }),
    ("orthogonal selection", |array| {
        let selection = [vec![1, 12, 13, 38], vec![2, 31, 59]];
        array.set_orthogonal(&selection, &noise(33, 12), &[4, 3], 48) >= 0
    }),
    ("resize, larger", |array| array.resize(&[50, 60], None) >= 0),
    ("resize, smaller", |array| array.resize(&[20, 60], None) >= 0),
    ("vlmeta_add", |array| array.schunk().vlmeta_add("another", &noise(34, 100)) >= 0),
];

/// Changes of the shape that give chunks other positions, or write items afterwards.
const SHIFTS: &[(&str, Setup, ArrayChange)] = &[
    ("resize, at the front", Setup::Array, |array| array.resize(&[50, 60], Some(&[0, 0])) >= 0),
    ("delete rows", Setup::Array, |array| array.delete(0, 10, 10) >= 0),
    ("delete columns", Setup::Array, |array| array.delete(1, 0, 30) >= 0),
    ("append rows", Setup::Array, |array| array.append(&noise(40, 600), 0) >= 0),
    ("append part of a chunk", Setup::Array, |array| array.append(&noise(41, 240), 0) >= 0),
    ("append to a partial chunk", Setup::PartialArray, |array| array.append(&noise(42, 540), 0) >= 0),
    ("append columns", Setup::PartialArray, |array| array.append(&noise(43, 44 * 35), 1) >= 0),
    ("append a chunk", Setup::NarrowArray, |array| array.append(&noise(44, 300), 0) >= 0),
    ("insert rows", Setup::Array, |array| array.insert(&noise(45, 600), 0, 10) >= 0),
    ("insert rows at the front", Setup::Array, |array| array.insert(&noise(46, 1200), 0, 0) >= 0),
    ("insert columns", Setup::Array, |array| array.insert(&noise(47, 1200), 1, 30) >= 0),
];

/// Several changes that are one transaction.
const BRACKET: ArrayChange = |array| {
    array.set(&[0, 0], &[12, 5], &noise(48, 60)) >= 0
        && array.resize(&[40, 90], None) >= 0
        && array.set(&[0, 60], &[40, 90], &noise(49, 1200)) >= 0
        && array.schunk().vlmeta_add("another", &noise(50, 20)) >= 0
};

/// The changes that are repeated for an array with a long header.
const REPEATED: [&str; 4] =
    ["slice over parts of chunks", "resize, larger", "resize, smaller", "resize, at the front"];

pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    let mut add = |group, setup, name, change| all.push(Operation { name, group, setup, change });
    for &(name, change) in CHANGES {
        add(Group::Array, Setup::Array, name, Change::Array(change));
        if REPEATED.contains(&name) {
            add(Group::Journal, Setup::LongHeaderArray, name, Change::Array(change));
        }
    }
    for &(name, setup, change) in SHIFTS {
        add(Group::ArrayShift, setup, name, Change::Array(change));
        if REPEATED.contains(&name) {
            add(Group::Journal, Setup::LongHeaderArray, name, Change::Array(change));
        }
    }
    add(Group::Bracket, Setup::Array, "two slices and a resize", Change::ArrayBracket(BRACKET));
    let append: ArrayChange = |array| (95..98).all(|seed| array.append(&noise(seed, 600), 0) >= 0);
    add(Group::Close, Setup::Array, "close after three appends", Change::CloseArray(append));
    add(Group::Journal, Setup::LongHeaderArray, "close after three appends", Change::CloseArray(append));
    all
}
