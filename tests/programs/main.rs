//! Programs in C, C++ and Python that use the library: compiled against its headers, with an installed copy, and with
//! two libraries at once; and the commands of the documents for users.

mod both_libraries;
#[path = "../c_program/mod.rs"]
mod c_program;
mod compiled;
mod documents;
mod installed;

use libblosc2_test_support::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the path of a copy of the library. Installing the library may build it again, during which the file that Cargo
/// has built is missing.
fn copy_of_ours() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libblosc2-under-test.so");
        fs::copy(support::library::path_of_ours(), &copy).expect("a copy of the library");
        copy
    })
}
