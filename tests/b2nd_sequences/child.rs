//! Runs one sequence in a child process.

use crate::FAMILY;
use crate::sabotage;
use crate::setup::Setup;
use crate::steps;
use crate::support::both;
use crate::support::random::Random;
use crate::support::sequences::journal::Journal;
use crate::support::sequences::{Tally, Task, catching};
use crate::support::user_back_ends;
use crate::world::{Stop, World};

pub fn run() {
    let (ours, reference) = both().expect("a reference library");
    for library in [ours, reference] {
        user_back_ends::register(library);
    }
    FAMILY.run_child(sequence);
}

fn sequence(task: &Task, journal: Journal, tally: &mut Tally) -> Result<(), String> {
    let random = &mut Random::of_item(FAMILY.seed(), task.number);
    let setup = Setup::draw(random);
    let list = steps::draw(random, FAMILY.length());
    let creation = random.next();
    tally.add(format!("through {:?}", setup.backend), 1);
    let mut world = World::new(setup, task.directory, journal);
    let harm = std::env::var(sabotage::VARIABLE).ok();
    let mut harmed = false;
    let outcome = catching(|| {
        steps::create(&mut world, &mut Random::new(creation)).map_err(|stop| match stop {
            Stop::Wrong(text) => text,
            other => format!("{other:?}"),
        })?;
        for (at, step) in list.iter().enumerate() {
            if !task.takes(at) {
                continue;
            }
            let before = world.journal.lines.len();
            world.journal.mark(&format!("{at} {:?}", step.kind));
            steps::run(&mut world, *step)?;
            let done = world.journal.lines.len() > before;
            tally.add(format!("{:?}{}", step.kind, if done { "" } else { " left out" }), 1);
            if let Some(kind) = harm.as_deref().filter(|_| !harmed && at > 4) {
                harmed = sabotage::strike(&mut world, kind);
                // Checked as after any step, since the next step might hide the difference.
                world.check().map_err(|stop| format!("{stop:?}"))?;
            }
        }
        steps::finish(&mut world)
    });
    if let Err((true, _)) = outcome {
        // The state of the libraries is unknown.
        world.forget();
    }
    tally.add(format!("end in {:?}", world.setup.spec.store), 1);
    tally.add(format!("{:2} dimensions", world.model.geometry.ndim()), 1);
    if harm.is_some() && !harmed {
        tally.add("not harmed".to_owned(), 1);
    }
    for (defect, count) in &world.skipped {
        tally.add(format!("known defect {defect:?}"), *count);
    }
    outcome.map_err(|(_, text)| format!("{}\n=> {text}", world.journal.lines.join("\n")))
}
