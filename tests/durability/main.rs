//! Faults during changes of frames on disk: each system call that changes a file fails once, or the process is killed
//! in it. Afterwards, both libraries read the files.
//!
//! `capi-tests/fault_injection.c` is preloaded into child processes, which run one operation each ([`operations`]). The
//! parent restores the files, starts a child for each call and each kind of fault ([`faults`]), and compares what can
//! be read with the states before and after the operation ([`contents`]).
//!
//! `cargo test --test durability -- --nocapture` prints the outcomes.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

#[path = "../c_program/mod.rs"]
mod c_program;
mod contents;
mod faults;
mod operations;
#[path = "../support/mod.rs"]
mod support;

use faults::{Fault, Outcome, Outcomes};
use operations::{ARRAY_OPERATIONS, Operation, SCHUNK_OPERATIONS};
use support::child::test_name;
use support::super_chunk::Store;

const STORES: [Store; 2] = [Store::File, Store::Directory];

/// Runs every operation with every fault in `kinds`, and calls `check` with the outcomes of each combination.
fn each_operation(
    name: &str,
    operations: &[Operation],
    kinds: &[Fault],
    check: impl Fn(&str, Fault, &Outcomes),
) {
    if faults::run_child(operations) {
        return;
    }
    for store in STORES {
        for (number, operation) in operations.iter().enumerate() {
            for &kind in kinds {
                let outcomes = faults::inject(name, operation, number, store, kind);
                let what = format!("{} in {store:?}, {kind:?}", operation.name);
                println!("{what}: {outcomes}");
                check(&what, kind, &outcomes);
            }
        }
    }
}

/// A change of a super-chunk whose system call fails is undone: the call returns an error and the old state can be
/// read, or it succeeds and the new state can be read.
#[test]
fn failed_calls_leave_the_old_or_the_new_super_chunk() {
    let kinds = [Fault::EioOnce, Fault::NoSpace, Fault::Short];
    each_operation(test_name!(), SCHUNK_OPERATIONS, &kinds, |what, _, outcomes| {
        assert!(outcomes.calls > 0, "{what}: no system call");
        for outcome in [Outcome::Mixed, Outcome::Unreadable, Outcome::Wrong] {
            assert!(outcomes.of(outcome).is_empty(), "{what}: {outcome:?} at {:?}", outcomes.of(outcome));
        }
    });
}

/// After a failed call of a write to an array or of a change of its shape, the array opens, and every chunk is an old
/// or a new one.
#[test]
fn failed_calls_leave_old_or_new_items_of_an_array() {
    let kinds = [Fault::EioOnce, Fault::NoSpace, Fault::Short];
    each_operation(test_name!(), ARRAY_OPERATIONS, &kinds, |what, _, outcomes| {
        assert!(outcomes.of(Outcome::Wrong).is_empty(), "{what}: wrong at {:?}", outcomes.of(Outcome::Wrong));
        assert!(
            outcomes.of(Outcome::Unreadable).is_empty(),
            "{what}: {:?}",
            outcomes.of(Outcome::Unreadable)
        );
    });
}

/// The process is killed before or in the middle of a call. A frame may be damaged then (frame.md 2.11); the outcomes
/// are printed. In a directory, where each chunk has a file, no wrong data is read with success.
#[test]
fn killed_changes_of_a_directory_leave_no_wrong_chunk() {
    let all: Vec<Operation> = SCHUNK_OPERATIONS.iter().chain(ARRAY_OPERATIONS).copied().collect();
    each_operation(test_name!(), &all, &[Fault::Kill, Fault::Torn], |what, _, outcomes| {
        assert_eq!(outcomes.total(), outcomes.calls, "{what}");
        let wrong = outcomes.of(Outcome::Wrong);
        assert!(wrong.is_empty() || !what.contains("Directory"), "{what}: wrong data at {wrong:?}");
    });
}
