//! The durability level of a frame on disk (`frame.md` 2.13): what a change leaves when the process dies or the machine
//! loses power in the middle of it.

#![forbid(unsafe_code)]

use crate::environment;
use crate::error::{Result, err};

/// The number of bytes that a write changes completely or not at all when the process dies or the machine loses power,
/// if they lie in one sector.
pub(in crate::frame) const SECTOR_LEN: u64 = 512;

/// What a change of a super-chunk on disk leaves if the process dies or the machine loses power in the middle of it.
// The values are those of `BLOSC2X_DURABILITY_*` in `blosc2/blosc2x.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Durability {
    /// Nothing is guaranteed; the files are changed in place, with the same bytes at every step as by C-Blosc2.
    Off = 0,
    /// After the death of the process, each change is there completely or not at all.
    Kill = 1,
    /// As `Kill`, also after a loss of power.
    Power = 2,
}

impl Durability {
    /// Returns the level of frames that are created or opened now: the value of the environment variable
    /// `BLOSC2_DURABILITY` (`off`, `kill` or `power`), otherwise `Kill`. Any other value is reported by `BLOSC_TRACE`, and
    /// gives that default.
    pub(crate) fn from_environment() -> Durability {
        let Some(value) = environment::var(c"BLOSC2_DURABILITY") else { return Durability::Kill };
        match value.to_bytes() {
            b"off" => Durability::Off,
            b"kill" => Durability::Kill,
            b"power" => Durability::Power,
            _ => {
                crate::trace::warning(|| {
                    format!("BLOSC2_DURABILITY is {value:?}, expected `off`, `kill` or `power`")
                });
                Durability::Kill
            }
        }
    }

    /// Converts a number of the C API.
    pub(crate) fn from_number(number: i32) -> Result<Durability> {
        [Durability::Off, Durability::Kill, Durability::Power]
            .into_iter()
            .find(|&level| level as i32 == number)
            .ok_or_else(|| err!(InvalidParam, "`level` is {number}, expected 0 to 2"))
    }
}
