//! Shared by the test binaries of the crate: both libraries, random data, child processes and guard pages.

#![allow(dead_code, unused_imports, reason = "each test binary uses a part of this module")]

#[path = "../../../tests/support/blosc1_reference.rs"]
pub mod blosc1_reference;
#[path = "../../../tests/support/child.rs"]
pub mod child;
#[path = "../../../tests/support/fixtures.rs"]
pub mod fixtures;
#[path = "../../../tests/support/fork.rs"]
pub mod fork;
pub mod forked;
#[path = "../../../tests/support/guard.rs"]
pub mod guard;
pub mod library;
pub mod random;
#[path = "../../../tests/support/system/mod.rs"]
pub mod system;

pub use library::{CODECS, FORWARD_COMPAT_SPLIT, Library, libraries, load_reference, lock_settings, ours};
pub use random::{Random, from_environment};
