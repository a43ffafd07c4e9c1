//! Runs one sequence in a child process.

use crate::SEQUENCE_TEST;
use crate::api::Api;
use crate::fault_injection;
use crate::sequence_state::{ChangedChunks, SequenceState};
use crate::setup::Setup;
use crate::steps;
use crate::support::random::Random;
use crate::support::sequences::journal::Journal;
use crate::support::sequences::{Tally, Task, catch_panic};
use crate::support::user_back_ends;

pub fn run() {
    let apis = Api::both();
    apis.iter().for_each(|api| user_back_ends::register(api.library));
    SEQUENCE_TEST.run_child(|task, journal, tally| run_sequence(apis, task, journal, tally));
}

fn run_sequence(
    apis: [&'static Api; 2],
    task: &Task,
    journal: Journal,
    tally: &mut Tally,
) -> Result<(), String> {
    let random = &mut Random::of_item(SEQUENCE_TEST.seed(), task.number);
    let setup = Setup::draw(random);
    let list = steps::draw(random, &setup, SEQUENCE_TEST.length());
    let mut state = SequenceState::new(apis, setup, task.directory, journal);
    let fault = std::env::var(fault_injection::FAULT_VARIABLE).ok();
    let mut is_injected = false;
    let outcome = catch_panic(|| {
        state.create().map_err(|stop| format!("{stop:?}"))?;
        for (at, step) in list.iter().enumerate() {
            if !task.includes(at) {
                continue;
            }
            let before = state.journal.lines.len();
            state.journal.start_step(&format!("{at} {:?}", step.kind));
            steps::run(&mut state, *step)?;
            let done = state.journal.lines.len() > before;
            tally.add(format!("{:?}{}", step.kind, if done { "" } else { " left out" }), 1);
            if let Some(kind) = fault.as_deref().filter(|_| !is_injected && at > 8) {
                is_injected = fault_injection::inject_fault(&mut state, kind, random);
                // Checked as after any step, since the next step might hide the difference.
                state.check(&ChangedChunks::All, true).map_err(|stop| format!("{stop:?}"))?;
            }
        }
        steps::finish(&mut state)
    });
    if let Err((true, _)) = outcome {
        // The state of the libraries is unknown.
        state.sides.iter_mut().for_each(|side| side.leak());
    }
    tally.add(format!("end as {:?}", state.store), 1);
    tally.add(if state.strict { "equal to the byte" } else { "compressed differently" }.to_owned(), 1);
    if fault.is_some() && !is_injected {
        tally.add("no fault injected".to_owned(), 1);
    }
    for (defect, count) in &state.skipped {
        tally.add(format!("known defect {defect:?}"), *count);
    }
    outcome.map_err(|(_, text)| format!("{}\n=> {text}", state.journal.lines.join("\n")))
}
