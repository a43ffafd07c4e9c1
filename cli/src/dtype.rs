//! The type of an item in the notation of NumPy.

mod close;
mod date;
mod number;
mod scalar;
mod scalar_text;
mod stats;
mod style;
mod text;
mod types;

pub(crate) use close::Tolerance;
pub(crate) use stats::{Stats, StatsReport};
pub(crate) use style::{Style, push_hex};
pub(crate) use text::ItemText;
pub(crate) use types::Dtype;
