//! The module `support` as a library: the test binaries share one compiled copy of it, which is optimised (`Cargo.toml`).
//! The benchmarks, the fuzz targets and the tests of Blosc 1 include the files of the module.
//!
//! Most tests compare the bytes of files with those of C-Blosc2, so the test binaries use the durability level `off`
//! unless the environment gives another one.

#[path = "mod.rs"]
pub mod support;

/// Runs before `main`, while the process has one thread.
#[used]
#[unsafe(link_section = ".init_array")]
static SET_LEVEL: extern "C" fn() = {
    extern "C" fn set_level() {
        // SAFETY: the strings end with a zero, and no other thread uses the environment.
        unsafe { libc::setenv(c"BLOSC2_DURABILITY".as_ptr(), c"off".as_ptr(), 0) };
    }
    set_level
};
