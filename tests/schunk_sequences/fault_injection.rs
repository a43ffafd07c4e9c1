//! Deliberate changes on one side that the comparison must detect. Used only in the child processes of
//! `injected_faults_are_detected`.

use crate::SEQUENCE_TEST;
use crate::sequence_state::SequenceState;
use crate::setup::StorageKind;
use crate::support::random::Random;
use crate::support::sequences::parent::run_range;
use crate::support::system::FileExt;

/// The environment variable that selects the change, one of [`FAULT_KINDS`].
pub const FAULT_VARIABLE: &str = "BLOSC2_SEQ_FAULT";

/// One stored byte; one chunk less; an additional metalayer; two swapped chunks; a crash.
pub const FAULT_KINDS: [&str; 5] = ["byte", "chunk", "metalayer", "order", "crash"];

/// Changes our side; returns false if there was nothing to change yet.
pub fn inject_fault(state: &mut SequenceState, kind: &str, random: &mut Random) -> bool {
    let count = state.model.len();
    let store = state.store;
    let path = state.sides[0].path.clone();
    let ours = &mut state.sides[0];
    match kind {
        "byte" if count > 0 => match store {
            StorageKind::MemorySparse => {
                // SAFETY: a live super-chunk whose first chunk has at least 32 bytes.
                unsafe { *(*(*ours.schunk).data).add(31) ^= 0x80 };
                true
            }
            StorageKind::MemoryFrame => {
                let (mut frame, mut free) = (std::ptr::null_mut::<u8>(), false.into());
                // SAFETY: a live memory frame returns its own buffer, of the length returned.
                unsafe {
                    let len = (ours.api.blosc2_schunk_to_buffer)(ours.schunk, &mut frame, &mut free);
                    *frame.add(len as usize - 1) ^= 1;
                }
                true
            }
            StorageKind::DiskFrame | StorageKind::Directory => {
                let file = if store == StorageKind::Directory { path.join("chunks.b2frame") } else { path };
                let file = std::fs::File::options().read(true).write(true).open(file).expect("the frame");
                let last = file.metadata().expect("its length").len() - 1;
                let mut byte = [0];
                file.read_exact_at(&mut byte, last).expect("a byte");
                file.write_all_at(&[byte[0] ^ 1], last).expect("a byte");
                true
            }
        },
        // SAFETY: ends this process.
        "crash" => unsafe { libc::raise(libc::SIGSEGV) == 0 },
        "chunk" if count > 1 => ours.delete(random.below(count) as i64) >= 0,
        "metalayer" => ours.vlmeta_add_or_update(false, c"fault", b"!", None) >= 0,
        "order" if count > 1 => {
            let mut order: Vec<i64> = (0..count as i64).collect();
            order.swap(0, 1);
            ours.reorder(&order) == 0 && state.model.chunks[0].content != state.model.chunks[1].content
        }
        _ => false,
    }
}

/// Checks that each kind of change is found in every sequence in which it is made.
pub fn assert_faults_are_detected(test: &str) {
    for kind in FAULT_KINDS {
        let mut found = 0;
        for number in 0..10 {
            let range = (number, number + 1);
            let report = run_range(
                &SEQUENCE_TEST,
                test,
                &format!("{kind}-{number}"),
                range,
                &[(FAULT_VARIABLE, kind)],
            );
            let excused = ["no fault injected", "compressed differently"];
            let missed = excused.iter().any(|what| report.tally.contains_key(*what));
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
