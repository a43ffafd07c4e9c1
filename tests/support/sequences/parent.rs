//! The parent process: assigns sequences to child processes, collects failures, crashes and hangs, and shrinks
//! failing sequences by omitting steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::SequenceTest;
use crate::support::child::test_again;
use crate::support::random::from_environment;

const MAX_FAILURES: usize = 6;
const SHRINK_TIME_LIMIT: Duration = Duration::from_secs(30);

/// The output of a child.
#[derive(Default)]
pub struct Report {
    pub failures: Vec<(u64, String)>,
    pub tally: BTreeMap<String, u64>,
}

impl Report {
    fn add(&mut self, other: Report) {
        self.failures.extend(other.failures);
        for (what, count) in other.tally {
            *self.tally.entry(what).or_default() += count;
        }
    }
}

fn create_scratch_dir(sequence_test: &SequenceTest, name: &str) -> PathBuf {
    let directory =
        std::env::temp_dir().join(format!("{}-{}-{name}", sequence_test.prefix, std::process::id()));
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory
}

/// Runs `[first, end)` in one child; a crash counts as a failure of the sequence that the journal names.
fn run_range_in_child(
    sequence_test: &SequenceTest,
    test: &str,
    scratch: &Path,
    range: (u64, u64),
    extra: &[(&str, &str)],
) -> (Report, Option<u64>) {
    let output = test_again(test)
        .env(sequence_test.env_name("CHILD"), format!("{}..{}", range.0, range.1))
        .env(sequence_test.env_name("SCRATCH"), scratch)
        .envs(extra.iter().copied())
        .output()
        .expect("the child");
    let mut report = Report::default();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        // The test harness prints text before the first line.
        if let Some(at) = line.find("FAILED ").filter(|_| !line.contains("test result")) {
            let Ok(number) = line[at + 7..].parse() else { continue };
            let told: Vec<&str> = lines.by_ref().take_while(|line| *line != "END").collect();
            report.failures.push((number, told.join("\n")));
        } else if let Some(at) = line.find("TALLY ") {
            let (count, what) = line[at + 6..].split_once(' ').expect("a count");
            *report.tally.entry(what.to_owned()).or_default() += count.parse::<u64>().expect("a count");
        }
    }
    if output.status.success() || output.status.code() == Some(1) {
        return (report, None);
    }
    let journal = std::fs::read_to_string(scratch.join("journal")).unwrap_or_default();
    let number = journal.lines().next().and_then(|line| line.strip_prefix("sequence ")?.parse().ok());
    let number = number.unwrap_or(range.0);
    let errors = String::from_utf8_lossy(&output.stderr);
    report.failures.push((number, format!("{journal}=> {}\n{errors}", output.status)));
    (report, Some(number))
}

/// Runs `[first, end)` and continues after every crash.
pub fn run_range(
    sequence_test: &SequenceTest,
    test: &str,
    name: &str,
    mut range: (u64, u64),
    extra: &[(&str, &str)],
) -> Report {
    let scratch = create_scratch_dir(sequence_test, name);
    let mut whole = Report::default();
    while range.0 < range.1 && whole.failures.len() < MAX_FAILURES {
        let (report, crashed) = run_range_in_child(sequence_test, test, &scratch, range, extra);
        whole.add(report);
        match crashed {
            Some(number) => range.0 = number + 1,
            None => break,
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    whole
}

/// Runs sequence `number` with only these steps; returns the failure text if it still fails.
fn failure_of_steps(
    sequence_test: &SequenceTest,
    test: &str,
    scratch: &Path,
    number: u64,
    steps: &[usize],
) -> Option<String> {
    let list: Vec<String> = steps.iter().map(usize::to_string).collect();
    let steps = (&*sequence_test.env_name("STEPS"), &*list.join(","));
    let (report, _) = run_range_in_child(sequence_test, test, scratch, (number, number + 1), &[steps]);
    report.failures.into_iter().next().map(|(_, text)| text)
}

/// Removes one step at a time while the sequence still fails.
fn shrink(sequence_test: &SequenceTest, test: &str, number: u64) -> Option<(Vec<usize>, String)> {
    let scratch = create_scratch_dir(sequence_test, "shrink");
    let start = Instant::now();
    let mut steps: Vec<usize> = (0..sequence_test.length()).collect();
    let mut text = failure_of_steps(sequence_test, test, &scratch, number, &steps)?;
    let mut smaller = true;
    while smaller {
        smaller = false;
        for at in (0..steps.len()).rev() {
            if start.elapsed() > SHRINK_TIME_LIMIT {
                break;
            }
            let mut fewer = steps.clone();
            fewer.remove(at);
            if let Some(told) = failure_of_steps(sequence_test, test, &scratch, number, &fewer) {
                (steps, text, smaller) = (fewer, told, true);
            }
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Some((steps, text))
}

/// Runs all sequences, or the ones that the environment selects. `test` is the name of the calling test.
pub fn run(sequence_test: &SequenceTest, test: &str) {
    let seed = sequence_test.seed();
    let (first, end) = match std::env::var(sequence_test.env_name("ONLY")) {
        Ok(text) => {
            let number: u64 = text.parse().unwrap_or_else(|_| panic!("{text} is not a number"));
            (number, number + 1)
        }
        Err(_) => (0, from_environment(&sequence_test.env_name("COUNT"), sequence_test.count)),
    };
    // A handle of the reference must not be used by several threads: one process per core.
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let share = (end - first).div_ceil(cores).max(1);
    let report = std::thread::scope(|scope| {
        let children: Vec<_> = (0..cores)
            .map(|at| (first + at * share, (first + (at + 1) * share).min(end)))
            .filter(|range| range.0 < range.1)
            .map(|range| {
                scope.spawn(move || run_range(sequence_test, test, &range.0.to_string(), range, &[]))
            })
            .collect();
        let mut whole = Report::default();
        for child in children {
            whole.add(child.join().expect("a thread that reads a child"));
        }
        whole
    });
    println!("seed {seed}, sequences {first}..{end} of {} steps:", sequence_test.length());
    for (what, count) in &report.tally {
        println!("{count:8} {what}");
    }
    if report.failures.is_empty() {
        assert_eq!(report.tally.get("sequences"), Some(&(end - first)), "sequences that were not run");
        return;
    }
    for (at, (number, text)) in report.failures.iter().enumerate() {
        println!(
            "\n{}={seed} {}={number} fails:\n{text}",
            sequence_test.env_name("SEED"),
            sequence_test.env_name("ONLY")
        );
        if at >= 2 || std::env::var_os(sequence_test.env_name("STEPS")).is_some() {
            continue;
        }
        match shrink(sequence_test, test, number.to_owned()) {
            Some((steps, text)) => {
                let list: Vec<String> = steps.iter().map(usize::to_string).collect();
                println!("\nshrunk to {}={}:\n{text}", sequence_test.env_name("STEPS"), list.join(","));
            }
            None => println!("\nit does not fail when run alone"),
        }
    }
    panic!("{} of {} sequences failed", report.failures.len(), end - first);
}
