//! Random sequences of operations on super-chunks, run on this library and on the reference side by side: all four
//! stores, all back-ends, fixed and variable chunk sizes. After each operation everything observable is compared,
//! byte by byte as long as the libraries did not compress anything differently themselves; then each library opens,
//! reads and changes the output of the other one. Known defects of the reference are skipped by name
//! (`known_defects`).
//!
//! ```text
//! BLOSC2_SEQ_COUNT=2000 cargo test --test schunk_sequences
//! ```
//!
//! runs that many sequences; `BLOSC2_SEQ_SEED` selects other ones, `BLOSC2_SEQ_OPS` sets their length,
//! `BLOSC2_SEQ_ONLY=<number>` replays one, and `BLOSC2_SEQ_STEPS=<list>` only those steps of it. A failure prints the
//! seed, the number and the operations, and is shrunk by omitting steps. The sequences run in child processes, so
//! that a crash or a hang is a failure of its sequence.

mod api;
mod child;
mod chunks;
mod fault_injection;
mod frames;
mod known_defects;
mod library_side;
mod model;
mod sequence_state;
mod setup;
mod steps;

use libblosc2_test_support::support;

use crate::support::child::test_name;
use support::sequences::{SequenceTest, parent};

const SEQUENCE_TEST: SequenceTest =
    SequenceTest { prefix: "BLOSC2_SEQ", seed: 20_261, count: 500, length: 30 };

#[test]
fn random_sequences_agree_with_the_reference() {
    if SEQUENCE_TEST.is_child() {
        return child::run();
    }
    if support::both_libraries().is_some() {
        // A missing function is reported here, once.
        api::Api::both();
        parent::run(&SEQUENCE_TEST, test_name!());
    }
}

/// The driver detects a difference between the libraries.
#[test]
fn injected_faults_are_detected() {
    if SEQUENCE_TEST.is_child() {
        return child::run();
    }
    if support::both_libraries().is_some() {
        api::Api::both();
        fault_injection::assert_faults_are_detected(test_name!());
    }
}
