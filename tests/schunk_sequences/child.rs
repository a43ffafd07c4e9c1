//! Runs one sequence in a child process.

use crate::FAMILY;
use crate::api::Api;
use crate::sabotage;
use crate::setup::Setup;
use crate::steps;
use crate::support::random::Random;
use crate::support::sequences::journal::Journal;
use crate::support::sequences::{Tally, Task, catching};
use crate::support::user_back_ends;
use crate::world::{Touched, World};

pub fn run() {
    let apis = Api::both();
    apis.iter().for_each(|api| user_back_ends::register(api.library));
    FAMILY.run_child(|task, journal, tally| sequence(apis, task, journal, tally));
}

fn sequence(apis: [&'static Api; 2], task: &Task, journal: Journal, tally: &mut Tally) -> Result<(), String> {
    let random = &mut Random::of_item(FAMILY.seed(), task.number);
    let setup = Setup::draw(random);
    let list = steps::draw(random, &setup, FAMILY.length());
    let mut world = World::new(apis, setup, task.directory, journal);
    let harm = std::env::var(sabotage::VARIABLE).ok();
    let mut harmed = false;
    let outcome = catching(|| {
        world.create().map_err(|stop| format!("{stop:?}"))?;
        for (at, step) in list.iter().enumerate() {
            if !task.takes(at) {
                continue;
            }
            let before = world.journal.lines.len();
            world.journal.mark(&format!("{at} {:?}", step.kind));
            steps::run(&mut world, *step)?;
            let done = world.journal.lines.len() > before;
            tally.add(format!("{:?}{}", step.kind, if done { "" } else { " left out" }), 1);
            if let Some(kind) = harm.as_deref().filter(|_| !harmed && at > 8) {
                harmed = sabotage::strike(&mut world, kind, random);
                // Checked as after any step, since the next step might hide the difference.
                world.check(&Touched::All, true).map_err(|stop| format!("{stop:?}"))?;
            }
        }
        steps::finish(&mut world)
    });
    if let Err((true, _)) = outcome {
        // The state of the libraries is unknown.
        world.sides.iter_mut().for_each(|side| side.forget());
    }
    tally.add(format!("end as {:?}", world.store), 1);
    tally.add(if world.strict { "equal to the byte" } else { "compressed differently" }.to_owned(), 1);
    if harm.is_some() && !harmed {
        tally.add("not harmed".to_owned(), 1);
    }
    for (defect, count) in &world.skipped {
        tally.add(format!("known defect {defect:?}"), *count);
    }
    outcome.map_err(|(_, text)| format!("{}\n=> {text}", world.journal.lines.join("\n")))
}
