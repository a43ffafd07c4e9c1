//! Tests of failed allocations: a failed allocation returns an error code, and everything that existed before the
//! call still exists and is freed once.
//!
//! The tests call the functions of the crate, not of the shared library, so that the crate uses the allocators of
//! this program ([`injection`]).

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod all_positions;
mod arrays;
mod dictionaries;
mod errors;
mod injection;
mod verify_repair;

use libblosc2_test_support::support;
