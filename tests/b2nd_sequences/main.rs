//! Random sequences of operations on arrays, run on this library and on the reference side by side, with a model of
//! plain loops as the second oracle ([`model`]): every return code, every buffer, the public struct, the metalayers
//! and the contents of every chunk with its padding are compared after each step, and each library opens the files of
//! the other one. Known defects of the reference are skipped by name ([`known_defects`]).
//!
//! ```text
//! BLOSC2_ARRAY_COUNT=3000 cargo test --test b2nd_sequences
//! ```
//!
//! runs that many sequences; `BLOSC2_ARRAY_SEED` selects other ones, `BLOSC2_ARRAY_OPS` sets their length,
//! `BLOSC2_ARRAY_ONLY=<number>` replays one, and `BLOSC2_ARRAY_STEPS=<list>` only those steps of it. A failure prints
//! the seed, the number and the operations, and is shrunk by omitting steps. The sequences run in child processes, so
//! that a crash or a hang is a failure of its sequence.

mod child;
mod fault_injection;
mod fields;
mod geometry;
mod known_defects;
mod library_state;
mod model;
mod sequence_state;
mod setup;
mod short_chunks;
mod steps;

use libblosc2_test_support::support;

use crate::support::child::test_name;
use support::sequences::{SequenceTest, parent};

const SEQUENCE_TEST: SequenceTest = SequenceTest { prefix: "BLOSC2_ARRAY", seed: 4, count: 300, length: 16 };

/// Resolves all functions before the children start, so that a missing one is reported once.
fn resolve_functions() -> bool {
    let Some((ours, reference)) = support::both_libraries() else { return false };
    for library in [ours, reference] {
        support::array::functions::Functions::of(library);
    }
    true
}

#[test]
fn random_sequences_agree_with_reference_and_model() {
    if SEQUENCE_TEST.is_child() {
        return child::run();
    }
    if resolve_functions() {
        parent::run(&SEQUENCE_TEST, test_name!());
    }
}

/// The driver detects a difference between the libraries.
#[test]
fn injected_faults_are_detected() {
    if SEQUENCE_TEST.is_child() {
        return child::run();
    }
    if resolve_functions() {
        fault_injection::assert_faults_are_detected(test_name!());
    }
}
