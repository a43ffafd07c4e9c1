//! The module `support` as a library: the test binaries share one compiled copy of it, which is optimised (`Cargo.toml`).
//! The benchmarks, the fuzz targets and the tests of Blosc 1 include the files of the module.

#[path = "mod.rs"]
pub mod support;
