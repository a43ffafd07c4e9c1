//! Runs one sequence in a child process.

use crate::SEQUENCE_TEST;
use crate::fault_injection;
use crate::sequence_state::{SequenceState, StepEnd};
use crate::setup::Setup;
use crate::steps;
use crate::support::both_libraries;
use crate::support::random::Random;
use crate::support::sequences::journal::Journal;
use crate::support::sequences::{Tally, Task, catch_panic};
use crate::support::user_back_ends;

pub fn run() {
    let (ours, reference) = both_libraries().expect("a reference library");
    for library in [ours, reference] {
        user_back_ends::register(library);
    }
    SEQUENCE_TEST.run_child(run_sequence);
}

fn run_sequence(task: &Task, journal: Journal, tally: &mut Tally) -> Result<(), String> {
    let random = &mut Random::of_item(SEQUENCE_TEST.seed(), task.number);
    let setup = Setup::draw(random);
    let list = steps::draw_steps(random, SEQUENCE_TEST.length());
    let creation = random.next();
    tally.add(format!("through {:?}", setup.backend), 1);
    let mut state = SequenceState::new(setup, task.directory, journal);
    let fault = std::env::var(fault_injection::FAULT_VARIABLE).ok();
    let mut is_injected = false;
    let outcome = catch_panic(|| {
        steps::create(&mut state, &mut Random::new(creation)).map_err(|stop| match stop {
            StepEnd::WrongResult(text) => text,
            other => format!("{other:?}"),
        })?;
        for (at, step) in list.iter().enumerate() {
            if !task.includes(at) {
                continue;
            }
            let before = state.journal.lines.len();
            state.journal.start_step(&format!("{at} {:?}", step.kind));
            steps::run(&mut state, *step)?;
            let done = state.journal.lines.len() > before;
            tally.add(format!("{:?}{}", step.kind, if done { "" } else { " left out" }), 1);
            if let Some(kind) = fault.as_deref().filter(|_| !is_injected && at > 4) {
                is_injected = fault_injection::inject_fault(&mut state, kind);
                // Checked as after any step, since the next step might hide the difference.
                state.check().map_err(|stop| format!("{stop:?}"))?;
            }
        }
        steps::finish(&mut state)
    });
    if let Err((true, _)) = outcome {
        // The state of the libraries is unknown.
        state.forget();
    }
    tally.add(format!("end in {:?}", state.setup.spec.store), 1);
    tally.add(format!("{:2} dimensions", state.model.geometry.ndim()), 1);
    if fault.is_some() && !is_injected {
        tally.add("no fault injected".to_owned(), 1);
    }
    for (defect, count) in &state.skipped {
        tally.add(format!("known defect {defect:?}"), *count);
    }
    outcome.map_err(|(_, text)| format!("{}\n=> {text}", state.journal.lines.join("\n")))
}
