//! The child process: runs a range of sequences and tells on stdout what failed, and what was done.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use crate::api::Api;
use crate::backends;
use crate::journal::Journal;
use crate::sabotage;
use crate::setup::Setup;
use crate::steps;
use crate::support::random::{Random, from_environment};
use crate::support::watchdog;
use crate::world::{Touched, World};

/// `<first>..<end>`: makes a process a child.
pub const RANGE: &str = "BLOSC2_SEQ_CHILD";
/// The scratch directory of the child.
pub const SCRATCH: &str = "BLOSC2_SEQ_SCRATCH";
/// The steps to take, separated by commas.
pub const STEPS: &str = "BLOSC2_SEQ_STEPS";
const MOST_FAILURES: usize = 5;

static PANIC: Mutex<String> = Mutex::new(String::new());

pub fn is_one() -> bool {
    std::env::var_os(RANGE).is_some()
}

pub fn default_seed() -> u64 {
    from_environment("BLOSC2_SEQ_SEED", 20_261)
}

pub fn default_length() -> usize {
    from_environment("BLOSC2_SEQ_OPS", 30) as usize
}

/// What the sequences of a process came to.
#[derive(Default)]
struct Tally {
    lines: BTreeMap<String, u64>,
}

impl Tally {
    fn add(&mut self, what: String, count: u64) {
        *self.lines.entry(what).or_default() += count;
    }
}

pub fn run() {
    let range = std::env::var(RANGE).expect("a range");
    let (first, end) = range.split_once("..").expect("a range");
    let (first, end): (u64, u64) = (first.parse().expect("a number"), end.parse().expect("a number"));
    let scratch = std::env::var_os(SCRATCH).expect("a scratch directory");
    let scratch = Path::new(&scratch);
    let chosen: Option<Vec<usize>> = std::env::var(STEPS).ok().map(|text| {
        text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().expect("a step")).collect()
    });
    let apis = Api::both();
    apis.iter().for_each(|api| backends::register(api));
    std::panic::set_hook(Box::new(|info| *PANIC.lock().expect("the text") = info.to_string()));
    watchdog::start(first, Duration::from_secs(30));
    let mut tally = Tally::default();
    let mut failures = 0;
    for number in first..end {
        watchdog::case(number);
        let directory = scratch.join("sequence");
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).expect("a scratch directory");
        let mut journal = Journal::new(&scratch.join("journal"));
        journal.say(&format!("sequence {number}"));
        if let Err(text) = sequence(apis, number, chosen.as_deref(), &directory, journal, &mut tally) {
            println!("FAILED {number}\n{text}\nEND");
            failures += 1;
            if failures == MOST_FAILURES {
                break;
            }
        }
    }
    for (what, count) in tally.lines {
        println!("TALLY {count} {what}");
    }
    if failures > 0 {
        // Not a panic: its hook is taken.
        std::process::exit(1);
    }
}

fn sequence(
    apis: [&'static Api; 2],
    number: u64,
    chosen: Option<&[usize]>,
    directory: &Path,
    journal: Journal,
    tally: &mut Tally,
) -> Result<(), String> {
    let random = &mut Random::of_item(default_seed(), number);
    let setup = Setup::draw(random);
    let list = steps::draw(random, &setup, default_length());
    let mut world = World::new(apis, setup, directory, journal);
    let harm = std::env::var(sabotage::VARIABLE).ok();
    let mut harmed = false;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        world.create().map_err(|stop| format!("{stop:?}"))?;
        for (at, step) in list.iter().enumerate() {
            if chosen.is_some_and(|chosen| !chosen.contains(&at)) {
                continue;
            }
            let before = world.journal.lines.len();
            world.journal.mark(at, step);
            steps::run(&mut world, *step)?;
            let done = world.journal.lines.len() > before;
            tally.add(format!("{:?}{}", step.kind, if done { "" } else { " left out" }), 1);
            if let Some(kind) = harm.as_deref().filter(|_| !harmed && at > 8) {
                harmed = sabotage::strike(&mut world, kind, random);
                // As after any step; the next one might put it right again.
                world.check(&Touched::All, true).map_err(|stop| format!("{stop:?}"))?;
            }
        }
        steps::finish(&mut world)
    }));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(_) => {
            // What the libraries hold is unknown.
            world.sides.iter_mut().for_each(|side| side.forget());
            Err(PANIC.lock().expect("the text").clone())
        }
    };
    tally.add("sequences".to_owned(), 1);
    tally.add(format!("end as {:?}", world.store), 1);
    tally.add(if world.strict { "equal to the byte" } else { "compressed differently" }.to_owned(), 1);
    if harm.is_some() && !harmed {
        tally.add("not harmed".to_owned(), 1);
    }
    for (defect, count) in &world.skipped {
        tally.add(format!("known defect {defect:?}"), *count);
    }
    outcome.map_err(|text| format!("{}\n=> {text}", world.journal.lines.join("\n")))
}
