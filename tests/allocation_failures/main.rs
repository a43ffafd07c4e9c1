//! What happens when memory runs out: an allocation that fails is an error code, and everything that existed before
//! the call still exists and is freed once.
//!
//! The tests call the functions of the crate itself, not of the shared library, so that the crate uses this program's
//! allocators ([`injection`]).

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod arrays;
mod errors;
mod injection;
