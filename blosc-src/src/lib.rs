//! The functions and constants of `blosc.h`, as the crate `blosc-src` of the registry declares them. A program that depends on that
//! crate, itself or by `zarrs`, takes this one with
//!
//! ```toml
//! [patch.crates-io]
//! blosc-src = { path = "libblosc2-rs/blosc-src" }
//! ```
//!
//! C code finds the functions when the Rust program is linked, and the header in the directory that `DEP_BLOSC_INCLUDE` names in
//! build scripts of packages which depend on this one. There is no file `libblosc.a` of its own.

pub use blosc::capi::*;

include!(concat!(env!("OUT_DIR"), "/constants.rs"));

/// The largest number of bytes of a chunk's content.
pub const BLOSC_MAX_BUFFERSIZE: u32 = i32::MAX as u32 - BLOSC_MAX_OVERHEAD;
/// The largest block size in bytes.
pub const BLOSC_MAX_BLOCKSIZE: u32 = (i32::MAX as u32 - BLOSC_MAX_TYPESIZE * 4) / 3;
