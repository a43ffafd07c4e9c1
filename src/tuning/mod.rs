//! Thresholds and mechanisms that `scripts/tune` can change in a running program.
//!
//! A threshold is declared with [`tunable!`] next to the code that reads it, and read with [`Tunable::get`]. In an
//! ordinary build it is a constant. With the Cargo feature `tuning`, which no shipped library has, the benchmark
//! `tune` sets each to half or double its value, or turns a mechanism off, and measures speed and size.
//! `docs/tuning.md` has the results. Constants that are the size of an array or a parameter of a type cannot be changed
//! in a running program and are not declared this way.

#[cfg(feature = "tuning")]
mod table;
#[cfg(feature = "tuning")]
mod variable;

#[cfg(feature = "tuning")]
pub use table::{Operation, ROWS, Row, Steps};
#[cfg(feature = "tuning")]
pub(crate) use variable::VariableTunable as Tunable;
#[cfg(feature = "tuning")]
pub use variable::{Setting, read_default, reset, set};

/// Declares constants that `scripts/tune` measures. In a build with the feature `tuning`, each needs a row in the table
/// of `src/tuning/table.rs`, and the code must be correct, and its `unsafe` parts sound, with half and double the value.
macro_rules! tunable {
    ($($(#[$meta:meta])* $vis:vis const $name:ident: $type:ty = $default:expr;)+) => {$(
        $(#[$meta])*
        $vis const $name: $crate::tuning::Tunable<$type> =
            $crate::tuning::Tunable::new($default, concat!(module_path!(), "::", stringify!($name)));
    )+};
}
pub(crate) use tunable;

/// A constant that is declared with [`tunable!`].
#[cfg(not(feature = "tuning"))]
#[derive(Clone, Copy)]
pub(crate) struct Tunable<T>(T);

#[cfg(not(feature = "tuning"))]
impl<T: Copy> Tunable<T> {
    /// Returns the constant with that value. Its name is that of its row in the table.
    pub(crate) const fn new(value: T, _name: &str) -> Tunable<T> {
        Tunable(value)
    }

    #[inline(always)]
    pub(crate) const fn get(self) -> T {
        self.0
    }
}
