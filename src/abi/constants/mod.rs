//! Every constant of the public headers, one file per table of `abi.md` 5, with the exact C names and values.
//!
//! In C they are enumerators of type `int` or macros: the header templates decide which.
//! The names that Blosc 1 also defines are left out of the header if the header of Blosc 1 is included (`abi.md` 7.2).

mod blosc2x;
mod codecs;
mod errors;
mod filters;
mod flags;
mod id_ranges;
mod limits;
mod special;
mod storage_ids;
mod tuners;
mod versions;

pub use blosc2x::*;
pub use codecs::*;
pub use errors::*;
pub use filters::*;
pub use flags::*;
pub use id_ranges::*;
pub use limits::*;
pub use special::*;
pub use storage_ids::*;
pub use tuners::*;
pub use versions::*;
