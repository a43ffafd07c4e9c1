//! The durability levels of the library.

/// The environment variable that the library reads when it creates or opens a super-chunk.
pub const VARIABLE: &str = "BLOSC2_DURABILITY";

/// A value of the environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Files are changed in place.
    Off,
    /// An operation happens completely or not at all if the process is killed in it.
    Kill,
    /// As [`Level::Kill`], also if the power is cut, and an operation that has returned is on disk.
    Power,
}

impl Level {
    /// Returns the value of the environment variable.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Kill => "kill",
            Level::Power => "power",
        }
    }

    /// Returns whether a killed operation must happen completely or not at all.
    pub fn is_atomic(self) -> bool {
        self != Level::Off
    }
}
