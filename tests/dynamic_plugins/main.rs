//! Plugin libraries (codecs.md 13 and 18.8 to 18.11, abi.md 9.6): how they are found, the symbols that they must
//! export, and the return code of each failure. The plugins are built from `capi-tests/plugin.c`.
//!
//! The reference runs the same scenarios, except for those in which it is known to crash. Every scenario runs in a
//! separate process, since the search depends on the environment and plugins stay loaded.

mod plugin_scenarios;

#[cfg(target_pointer_width = "64")]
mod btune;
mod exports;
mod plugins_variable;
mod search;
mod threads;

use libblosc2_test_support::support;
