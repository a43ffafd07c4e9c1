//! Plugin libraries (codecs.md 13 and 18.8 to 18.11, abi.md 9.6): how they are found, what they have to export,
//! and which code each failure gives. The plugins are built from `capi-tests/plugin.c`.
//!
//! The reference does the same beside ours, except where it is known to crash. Every scenario runs in a process
//! of its own, since the search depends on the environment and plugins stay loaded.

#[allow(dead_code)] // one of its two entry points is enough here
#[path = "../upstream_defects/alone.rs"]
mod alone;
mod probes;
#[path = "../support/mod.rs"]
mod support;

mod exports;
mod search;
mod switch;
mod threads;
