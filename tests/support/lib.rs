//! The module `support` as a library: the test binaries share one compiled copy of it, which is optimised (`Cargo.toml`).
//! The benchmarks, the fuzz targets and the tests of Blosc 1 include the files of the module.
//!
//! Most tests compare the bytes of files with those of C-Blosc2, so the test binaries use the durability level `off`
//! unless the environment gives another one.

#[path = "mod.rs"]
pub mod support;

/// Runs before `main`, while the process has one thread.
#[used]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(any(windows, target_vendor = "apple")), unsafe(link_section = ".init_array"))]
static SET_LEVEL: extern "C" fn() = {
    extern "C" fn set_level() {
        support::system::set_missing_variable(c"BLOSC2_DURABILITY", c"off");
    }
    set_level
};
