//! The modules of `tests/support` that fuzz targets use, with the library that is linked into the target instead of a
//! shared object: only code of the target itself is instrumented.

// In the tests these types are private, so the lints for public types do not apply there.
#![allow(clippy::new_without_default, clippy::should_implement_trait)]

pub mod library;

#[path = "../../../tests/support/array/mod.rs"]
pub mod array;
#[path = "../../../tests/support/auto_tuner.rs"]
pub mod auto_tuner;
#[path = "../../../tests/support/calls.rs"]
pub mod calls;
#[path = "../../../tests/support/data.rs"]
pub mod data;
#[path = "../../../tests/support/files.rs"]
pub mod files;
#[path = "../../../tests/support/guard.rs"]
pub mod guard;
#[path = "../../../tests/support/random.rs"]
pub mod random;
#[path = "../../../tests/support/short_header.rs"]
pub mod short_header;
#[path = "../../../tests/support/super_chunk/mod.rs"]
pub mod super_chunk;
#[path = "../../../tests/support/system/mod.rs"]
pub mod system;
#[path = "../../../tests/support/watchdog.rs"]
pub mod watchdog;

use library::Library;

/// Returns the libraries that create the original frames: only the linked one.
pub fn all_libraries() -> Vec<&'static Library> {
    vec![Library::ours()]
}
