//! Processes that are killed, system calls that fail, and power cuts while files on disk are changed. Afterwards, both
//! libraries read the files.
//!
//! The library has durability levels ([`levels`]). At level off, the tests print the outcomes and check only what holds
//! without atomic changes. At level kill and at level power, each operation must happen completely or not at all.
//!
//! | module | subject |
//! |---|---|
//! | [`operations`] | the operations that are interrupted, and the frames that they change |
//! | [`faults`], [`level_off`], [`levels_kill_and_power`] | a fault in each call of an operation |
//! | [`recoveries`] | a fault in each call of a recovery from an undo journal |
//! | [`power_cuts`] | files after a power cut, drawn at random from a recording of the calls |
//! | [`failed_changes`] | random sequences of changes that fail |
//! | [`random_kills`] | a process that is killed at random moments |
//! | [`child`] | child processes |
//! | [`recording`], [`disk_model`] | the recorded calls, and a model of a disk that loses writes |
//! | [`histories`] | random sequences of changes |
//! | [`contents`] | what the libraries read |
//!
//! `capi-tests/fault_injection.c` is preloaded into child processes, which run one operation each.
//!
//! `cargo test --test durability -- --nocapture` prints the outcomes.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "../c_program/mod.rs"]
mod c_program;
mod child;
mod contents;
mod disk_model;
mod failed_changes;
mod faults;
mod histories;
mod level_off;
mod levels;
mod levels_kill_and_power;
mod operations;
mod power_cuts;
mod random_kills;
mod recording;
mod recoveries;

use libblosc2_test_support::support;
