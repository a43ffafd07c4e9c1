//! A model of an array with two dimensions: its items in a vector.

use std::path::Path;

use crate::contents::Contents;
use crate::operations::ours;
use crate::operations::setups::noise;
use crate::support::array::{Array, ArraySpec};
use crate::support::random::Random;
use crate::support::super_chunk::Store;

/// The shape of a chunk.
const CHUNK: [usize; 2] = [4, 6];
/// The largest shape.
const MAX_SHAPE: [usize; 2] = [28, 36];
/// The shape before the first step.
const START: [usize; 2] = [8, 12];

#[derive(Clone)]
pub struct ArrayModel {
    shape: [usize; 2],
    /// The items, row after row.
    items: Vec<[u8; 4]>,
}

/// A change of an array. Each has the number from which the new items are made.
#[derive(Clone, Debug)]
pub enum Change {
    /// Writes a box from `start` to `stop`.
    Set { start: [usize; 2], stop: [usize; 2], number: u64 },
    /// Writes the items at all pairs of a row and a column.
    SetOrthogonal { selection: [Vec<usize>; 2], number: u64 },
    /// Inserts `count` rows or columns, at the end or at a multiple of the chunk.
    Insert { axis: usize, at: usize, count: usize, number: u64 },
    /// Deletes rows or columns.
    Delete { axis: usize, at: usize, count: usize },
}

/// Returns `count` items.
fn items_of(number: u64, count: usize) -> Vec<[u8; 4]> {
    let bytes = noise(number, count);
    bytes.chunks_exact(4).map(|item| item.try_into().expect("four bytes")).collect()
}

impl ArrayModel {
    /// Returns the state before the first step.
    pub fn new() -> ArrayModel {
        ArrayModel { shape: START, items: items_of(u64::MAX, START[0] * START[1]) }
    }

    pub fn make(&self, store: Store, path: &Path) {
        let as_i64 = |shape: [usize; 2]| shape.map(|extent| extent as i64);
        let spec = ArraySpec::new(&as_i64(self.shape), &CHUNK.map(|extent| extent as i32), &[2, 3], 4);
        drop(spec.with_store(store, path).create_from_buffer(ours(), self.items.as_flattened()));
    }

    /// Draws a change, applies it and returns it.
    pub fn advance(&mut self, random: &mut Random, number: u64) -> Change {
        let change = self.draw(random, number);
        match &change {
            Change::Set { start, stop, number } => {
                let selection = [0, 1].map(|axis| (start[axis]..stop[axis]).collect());
                self.set(&selection, *number);
            }
            Change::SetOrthogonal { selection, number } => self.set(selection, *number),
            Change::Insert { axis, at, count, number } => {
                let (axis, at) = (*axis, *at);
                let old = self.clone();
                self.shape[axis] += count;
                self.items = self.positions().map(|from| old.moved(from, axis, at, *count)).collect();
                let mut selection = self.shape.map(|extent| (0..extent).collect::<Vec<_>>());
                selection[axis] = (at..at + count).collect();
                self.set(&selection, *number);
            }
            Change::Delete { axis, at, count } => {
                let old = self.clone();
                self.shape[*axis] -= count;
                let source = |mut position: [usize; 2]| {
                    if position[*axis] >= *at {
                        position[*axis] += count;
                    }
                    old.items[position[0] * old.shape[1] + position[1]]
                };
                self.items = self.positions().map(source).collect();
            }
        }
        change
    }

    fn positions(&self) -> impl Iterator<Item = [usize; 2]> {
        let [rows, columns] = self.shape;
        (0..rows).flat_map(move |row| (0..columns).map(move |column| [row, column]))
    }

    /// Returns the item that is at `position` after `count` rows or columns were inserted at `at`.
    fn moved(&self, mut position: [usize; 2], axis: usize, at: usize, count: usize) -> [u8; 4] {
        if position[axis] >= at + count {
            position[axis] -= count;
        } else if position[axis] >= at {
            return [0; 4];
        }
        self.items[position[0] * self.shape[1] + position[1]]
    }

    fn set(&mut self, selection: &[Vec<usize>; 2], number: u64) {
        let mut items = items_of(number, selection[0].len() * selection[1].len()).into_iter();
        for row in &selection[0] {
            for column in &selection[1] {
                self.items[row * self.shape[1] + column] = items.next().expect("an item");
            }
        }
    }

    fn draw(&self, random: &mut Random, number: u64) -> Change {
        let axis = random.below(2);
        let (extent, chunk) = (self.shape[axis], CHUNK[axis]);
        let is_insert = extent < 2 * chunk || random.one_in(3);
        if is_insert && extent + 2 * chunk <= MAX_SHAPE[axis] {
            return if random.one_in(2) {
                Change::Insert { axis, at: extent, count: 1 + random.below(2 * chunk), number }
            } else {
                Change::Insert { axis, at: chunk * random.below(extent / chunk), count: chunk, number }
            };
        }
        if extent >= 2 * chunk && (extent + 2 * chunk > MAX_SHAPE[axis] || random.one_in(4)) {
            return if random.one_in(2) {
                let count = 1 + random.below(chunk);
                Change::Delete { axis, at: extent - count, count }
            } else {
                Change::Delete { axis, at: chunk * random.below(extent / chunk - 1), count: chunk }
            };
        }
        if random.one_in(3) {
            let selection = self.shape.map(|extent| {
                let mut places: Vec<usize> = (0..3).map(|_| random.below(extent)).collect();
                places.sort_unstable();
                places.dedup();
                places
            });
            return Change::SetOrthogonal { selection, number };
        }
        let start = self.shape.map(|extent| random.below(extent));
        let stop = [0, 1].map(|axis| start[axis] + 1 + random.below(self.shape[axis] - start[axis]));
        Change::Set { start, stop, number }
    }

    pub fn matches(&self, contents: &Contents) -> bool {
        let shape = self.shape.map(|extent| extent as i64);
        contents.shape == shape
            && contents.items.as_ref().is_ok_and(|items| *items == self.items.as_flattened())
    }
}

impl Change {
    /// Returns whether the change has succeeded.
    pub fn run(&self, array: &Array) -> bool {
        match self {
            Change::Set { start, stop, number } => {
                let count = (stop[0] - start[0]) * (stop[1] - start[1]);
                let [start, stop] = [start, stop].map(|limits| limits.map(|limit| limit as i64));
                array.set(&start, &stop, &noise(*number, count)) >= 0
            }
            Change::SetOrthogonal { selection, number } => {
                let lists = [0, 1].map(|axis| selection[axis].iter().map(|&at| at as i64).collect());
                let shape = [0, 1].map(|axis| selection[axis].len());
                let items = noise(*number, shape[0] * shape[1]);
                let shape = shape.map(|extent| extent as i64);
                array.set_orthogonal(&lists, &items, &shape, items.len() as i64) >= 0
            }
            Change::Insert { axis, at, count, number } => {
                let items = noise(*number, count * array.shape()[1 - axis] as usize);
                array.insert(&items, *axis as i8, *at as i64) >= 0
            }
            Change::Delete { axis, at, count } => array.delete(*axis as i8, *at as i64, *count as i64) >= 0,
        }
    }
}
