//! The durability levels of our library.

use libloading::Library as OsLibrary;

use crate::support::library::path_of_ours;

/// The environment variable that the library reads when it creates or opens a super-chunk.
pub const DURABILITY: &str = "BLOSC2_DURABILITY";

/// A durability level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Changes are made in place.
    Off,
    /// A change is complete or absent when the process is killed in it.
    Kill,
    /// As `Kill`, also when the system stops.
    Power,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Off, Level::Kill, Level::Power];

    /// Returns the value of [`DURABILITY`].
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Kill => "kill",
            Level::Power => "power",
        }
    }

    pub fn from_name(name: &str) -> Level {
        let found = Level::ALL.into_iter().find(|level| level.name() == name);
        found.unwrap_or_else(|| panic!("{name} is no durability level"))
    }

    /// Runs `open`, which creates or opens frames, at this level.
    ///
    /// # Safety
    ///
    /// No other thread of this process uses the environment.
    pub unsafe fn run<T>(self, open: impl FnOnce() -> T) -> T {
        // SAFETY: guaranteed by the caller.
        unsafe { std::env::set_var(DURABILITY, self.name()) };
        let opened = open();
        // SAFETY: guaranteed by the caller.
        unsafe { std::env::remove_var(DURABILITY) };
        opened
    }
}

/// Fails if our library has no durability levels: it would ignore the environment variable, and the tests would check
/// level `off` only.
#[track_caller]
pub fn assert_library_has_levels() {
    // SAFETY: neither library has observable initialisers (abi.md 1).
    let loaded = unsafe { OsLibrary::new(path_of_ours()) }.expect("our library");
    // SAFETY: the symbol is only looked up.
    let symbol = unsafe { loaded.get::<unsafe extern "C" fn()>("blosc2x_schunk_set_durability") };
    assert!(symbol.is_ok(), "{}: no function blosc2x_schunk_set_durability", path_of_ours().display());
}
