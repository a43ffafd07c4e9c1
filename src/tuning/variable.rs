//! Tunables as variables, in builds with the feature `tuning`.

use super::table::{ROWS, Steps};
use std::sync::atomic::{AtomicU64, Ordering};

/// The value of a row that has not been read since the last [`reset`].
const UNSET: u64 = u64::MAX;

/// The current value of each row of the table.
static VALUES: [AtomicU64; ROWS.len()] = [const { AtomicU64::new(UNSET) }; ROWS.len()];

pub(crate) trait TunableValue: Copy {
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

macro_rules! tunable_value {
    ($($type:ty),*) => {$(
        impl TunableValue for $type {
            fn to_bits(self) -> u64 {
                self as u64
            }

            fn from_bits(bits: u64) -> $type {
                bits as $type
            }
        }
    )*};
}
tunable_value!(usize, u64, u32, i32);

impl TunableValue for bool {
    fn to_bits(self) -> u64 {
        self.into()
    }

    fn from_bits(bits: u64) -> bool {
        bits != 0
    }
}

/// A tunable: the number of its row, and its value in an ordinary build.
#[derive(Clone, Copy)]
pub(crate) struct VariableTunable<T> {
    row: usize,
    default: T,
}

impl<T: TunableValue> VariableTunable<T> {
    /// Returns the tunable with that value. `name` is the path of the constant, with the crate.
    ///
    /// # Panics
    /// If the table has no row of that name: in constants, when the crate is compiled.
    pub(crate) const fn new(default: T, name: &str) -> VariableTunable<T> {
        let mut row = 0;
        while !ends_with_path(name, ROWS[row].name) {
            row += 1;
            assert!(row < ROWS.len(), "a tunable needs a row in the table of src/tuning/table.rs");
        }
        VariableTunable { row, default }
    }

    #[inline(always)]
    pub(crate) fn get(self) -> T {
        match VALUES[self.row].load(Ordering::Relaxed) {
            UNSET => self.set_to_default(),
            bits => T::from_bits(bits),
        }
    }

    #[cold]
    #[inline(never)]
    fn set_to_default(self) -> T {
        VALUES[self.row].store(self.default.to_bits(), Ordering::Relaxed);
        self.default
    }
}

/// Returns whether `name` is the name of a crate, `::`, and `path`.
const fn ends_with_path(name: &str, path: &str) -> bool {
    let (name, path) = (name.as_bytes(), path.as_bytes());
    if name.len() < path.len() + 2 {
        return false;
    }
    let start = name.len() - path.len();
    let mut at = 0;
    while at < path.len() {
        if name[start + at] != path[at] {
            return false;
        }
        at += 1;
    }
    name[start - 1] == b':'
}

/// A setting of a tunable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The value of an ordinary build.
    Default,
    /// Half the value; one less for a binary logarithm.
    Half,
    /// Double the value; one more for a binary logarithm.
    Double,
    /// The other value of a switch.
    Off,
}

/// Sets all tunables to their defaults.
pub fn reset() {
    VALUES.iter().for_each(|value| value.store(UNSET, Ordering::Relaxed));
}

/// Returns the value of row number `row` if it has been read since the last [`reset`].
pub fn read_default(row: usize) -> Option<u64> {
    Some(VALUES[row].load(Ordering::Relaxed)).filter(|&bits| bits != UNSET)
}

/// Sets row number `row`, whose default value is `default`.
pub fn set(row: usize, default: u64, setting: Setting) {
    let value = match (setting, ROWS[row].steps) {
        (Setting::Default, _) => default,
        (Setting::Off, _) => u64::from(default == 0),
        (Setting::Half, Steps::Log2) => default.saturating_sub(1),
        (Setting::Double, Steps::Log2) => default + 1,
        (Setting::Half, _) => default / 2,
        (Setting::Double, _) => default * 2,
    };
    VALUES[row].store(value, Ordering::Relaxed);
}
