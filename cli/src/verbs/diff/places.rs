//! The places at which contents differ.

use std::collections::BTreeMap;

/// A difference, and the lines of the first places.
pub(super) type Difference = (String, Vec<String>);

/// The first places at which contents differ, and their number.
pub(super) struct Places<T> {
    limit: usize,
    pub count: u64,
    /// By offset or number of the item.
    first: BTreeMap<u64, T>,
}

impl<T> Places<T> {
    pub(super) fn new(limit: usize) -> Places<T> {
        Places { limit, count: 0, first: BTreeMap::new() }
    }

    /// Returns whether a further place need not be counted.
    pub(super) fn is_enough(&self) -> bool {
        self.limit == 0 && self.count > 0
    }

    /// Returns whether the place `at` would be one of the first.
    pub(super) fn has_room(&self, at: u64) -> bool {
        self.first.len() < self.limit || self.first.last_key_value().is_some_and(|(&last, _)| at < last)
    }

    /// Adds a place, for which there is room, to the first.
    pub(super) fn insert(&mut self, at: u64, values: T) {
        self.first.insert(at, values);
        if self.first.len() > self.limit {
            self.first.pop_last();
        }
    }

    /// Returns a line for each of the first places, and one that there are more.
    pub(super) fn lines(&self, line: impl Fn(u64, &T) -> String) -> Vec<String> {
        let mut lines: Vec<String> = self.first.iter().map(|(&at, values)| line(at, values)).collect();
        if self.count > lines.len() as u64 && self.limit > 0 {
            lines.push(format!("... and {} more", self.count - lines.len() as u64));
        }
        lines
    }
}
