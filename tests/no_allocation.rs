//! Counts allocations in a separate program, since it replaces the allocator.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "upstream_defects/allocations.rs"]
mod allocations;
#[path = "support/exported.rs"]
#[allow(dead_code, reason = "this program uses a part of the declarations")]
mod exported;
