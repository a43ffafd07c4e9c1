//! Runs random sequences of operations in child processes: assigns them to children, replays and shrinks a failing
//! one, contains crashes and hangs. The test that defines a [`SequenceTest`] defines what a sequence is.

pub mod journal;
pub mod parent;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use self::journal::Journal;
use super::random::from_environment;
use super::watchdog;

const MAX_FAILURES: usize = 5;

static PANIC_MESSAGE: Mutex<String> = Mutex::new(String::new());

/// One test driver. Environment variables with the prefix `<prefix>_` configure it: `SEED`, `COUNT` sequences of
/// `OPS` steps, `ONLY` selects one sequence, `STEPS` selects steps of it.
pub struct SequenceTest {
    pub prefix: &'static str,
    pub seed: u64,
    pub count: u64,
    pub length: u64,
}

/// Counters of the sequences of a process.
#[derive(Default)]
pub struct Tally {
    lines: BTreeMap<String, u64>,
}

impl Tally {
    pub fn add(&mut self, what: String, count: u64) {
        *self.lines.entry(what).or_default() += count;
    }
}

/// One sequence for a child to run.
pub struct Task<'a> {
    pub number: u64,
    /// The steps to run; `None` for all.
    selected_steps: Option<&'a [usize]>,
    /// An empty directory for files.
    pub directory: &'a Path,
}

impl Task<'_> {
    pub fn includes(&self, step: usize) -> bool {
        self.selected_steps.is_none_or(|chosen| chosen.contains(&step))
    }
}

impl SequenceTest {
    pub fn env_name(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix)
    }

    pub fn is_child(&self) -> bool {
        std::env::var_os(self.env_name("CHILD")).is_some()
    }

    pub fn seed(&self) -> u64 {
        from_environment(&self.env_name("SEED"), self.seed)
    }

    pub fn length(&self) -> usize {
        from_environment(&self.env_name("OPS"), self.length) as usize
    }

    /// Runs the range of sequences of a child, and prints failures and counters on stdout.
    pub fn run_child(&self, mut sequence: impl FnMut(&Task, Journal, &mut Tally) -> Result<(), String>) {
        let range = std::env::var(self.env_name("CHILD")).expect("a range");
        let (first, end) = range.split_once("..").expect("a range");
        let (first, end): (u64, u64) = (first.parse().expect("a number"), end.parse().expect("a number"));
        let scratch = std::env::var_os(self.env_name("SCRATCH")).expect("a scratch directory");
        let scratch = Path::new(&scratch);
        let chosen: Option<Vec<usize>> = std::env::var(self.env_name("STEPS")).ok().map(|text| {
            text.split(',')
                .filter(|part| !part.is_empty())
                .map(|part| part.parse().expect("a step"))
                .collect()
        });
        std::panic::set_hook(Box::new(|info| *PANIC_MESSAGE.lock().expect("the text") = info.to_string()));
        watchdog::start(first, Duration::from_secs(30));
        let mut tally = Tally::default();
        let mut failures = 0;
        for number in first..end {
            watchdog::set_case(number);
            let directory = scratch.join("sequence");
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::create_dir_all(&directory).expect("a scratch directory");
            let mut journal = Journal::new(&scratch.join("journal"));
            journal.record(&format!("sequence {number}"));
            let task = Task { number, selected_steps: chosen.as_deref(), directory: &directory };
            let outcome = sequence(&task, journal, &mut tally);
            tally.add("sequences".to_owned(), 1);
            if let Err(text) = outcome {
                println!("FAILED {number}\n{text}\nEND");
                failures += 1;
                if failures == MAX_FAILURES {
                    break;
                }
            }
        }
        for (what, count) in tally.lines {
            println!("TALLY {count} {what}");
        }
        if failures > 0 {
            // Not a panic: the panic hook is replaced.
            std::process::exit(1);
        }
    }
}

/// Runs `work`; an error consists of whether it was a panic, and its text.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, (bool, String)> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome.map_err(|text| (false, text)),
        Err(_) => Err((true, PANIC_MESSAGE.lock().expect("the text").clone())),
    }
}
