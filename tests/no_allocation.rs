//! The count of allocations in a program of its own, since it replaces the allocator.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "upstream_defects/allocations.rs"]
mod allocations;
