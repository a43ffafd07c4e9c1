//! Deliberate changes on one side that the comparison must detect. Used only in the child processes of
//! `injected_faults_are_detected`.

use crate::SEQUENCE_TEST;
use crate::sequence_state::SequenceState;
use crate::support::sequences::parent::run_range;

/// The environment variable that selects the change, one of [`FAULT_KINDS`].
pub const FAULT_VARIABLE: &str = "BLOSC2_ARRAY_FAULT";

/// One byte of an item; a field of the struct; an additional item; an additional metalayer; a crash.
const FAULT_KINDS: [&str; 5] = ["item", "field", "shape", "metalayer", "crash"];

/// Changes our side; returns false if there is nothing to change.
pub fn inject_fault(state: &mut SequenceState, kind: &str) -> bool {
    let geometry = state.model.geometry.clone();
    let array = state.sides[0].array();
    match kind {
        "item" if geometry.nitems() > 0 => {
            let start: Vec<i64> = geometry.shape.iter().map(|length| length - 1).collect();
            let mut item = state.model.item(&start).to_vec();
            item[0] ^= 0x40;
            array.set(&start, &geometry.shape, &item) == 0
        }
        "field" if geometry.ndim() > 0 => {
            // SAFETY: a live array.
            unsafe { (*array.raw()).extshape[0] += 1 };
            true
        }
        "shape" if geometry.ndim() > 0 && !geometry.chunkshape.contains(&0) => {
            let mut shape = geometry.shape;
            shape[0] += 1;
            array.resize(&shape, None) == 0
        }
        "metalayer" => array.schunk().vlmeta_add("fault", b"!") >= 0,
        // SAFETY: ends this process.
        "crash" => unsafe { libc::raise(libc::SIGSEGV) == 0 },
        _ => false,
    }
}

/// Checks that each kind of change is found in every sequence in which it is made.
pub fn assert_faults_are_detected(test: &str) {
    for kind in FAULT_KINDS {
        let mut found = 0;
        for number in 0..6 {
            let range = (number, number + 1);
            let report = run_range(
                &SEQUENCE_TEST,
                test,
                &format!("{kind}-{number}"),
                range,
                &[(FAULT_VARIABLE, kind)],
            );
            let missed = report.tally.contains_key("no fault injected");
            assert!(missed || !report.failures.is_empty(), "{kind} was not found in sequence {number}");
            let told = if kind == "crash" { "signal" } else { "WrongResult(" };
            for (_, text) in &report.failures {
                assert!(
                    text.contains(told),
                    "{kind} in sequence {number}, but something else fails:\n{text}"
                );
            }
            found += report.failures.len();
        }
        assert!(found > 0, "{kind} was never found");
    }
}
