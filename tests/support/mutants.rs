//! Runs thousands of damaged inputs in child processes: assigns cases to children, replays one case, and detects
//! crashes, hangs, panics inside the library and excessive memory. The test that defines [`Mutants`] defines what a
//! case is.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::child::test_again;
use super::library::Library;
use super::memory;
use super::random::{Random, from_environment};
use super::watchdog;

/// Number of cases per child process.
const CASES_PER_CHILD: u64 = 2000;
/// The run stops after this number of failures.
const MAX_FAILURES: usize = 8;

/// A test that runs cases in several forms.
pub struct MutantTest {
    /// Prefix of the environment variables of the test: `…S` is the number of mutants, `…_SEED` selects another
    /// sample, `…_ONLY` replays one case.
    pub prefix: &'static str,
    pub seed: u64,
    /// Default of the total number of mutants.
    pub mutants: u64,
    /// Number of forms; the mutants are divided among them.
    pub forms: u64,
}

/// Cases in one form.
pub trait Mutants {
    type Mutant;

    /// Draws a mutant.
    fn draw(&self, random: &mut Random) -> Self::Mutant;

    /// Returns its size in bytes.
    fn size(&self, mutant: &Self::Mutant) -> usize;

    /// Passes it to the library; a failed check panics.
    fn run(&mut self, random: &mut Random, mutant: &Self::Mutant);

    /// Describes the original of the mutant, and the difference.
    fn describe(&self, mutant: &Self::Mutant) -> String;
}

impl MutantTest {
    fn env_name(&self, rest: &str) -> String {
        format!("{}{rest}", self.prefix)
    }

    fn seed_of(&self, form: u64) -> u64 {
        from_environment(&self.env_name("_SEED"), self.seed) ^ form << 32
    }

    fn run_child<M: Mutants>(
        &self,
        form: u64,
        name: &str,
        cases: std::ops::Range<u64>,
        make: impl FnOnce() -> M,
    ) {
        let mut stderr = watchdog::CapturedStderr::capture();
        let mut mutants = make();
        stderr.take_text();
        memory::limit_address_space();
        let seed = self.seed_of(form);
        watchdog::start(seed, Duration::from_secs(20));
        let mut failures = 0;
        for index in cases {
            watchdog::set_case(index);
            let random = &mut Random::of_item(seed, index);
            let mutant = mutants.draw(random);
            let size = mutants.size(&mutant);
            let peak_memory = memory::PeakMemory::start();
            let failed = catch_unwind(AssertUnwindSafe(|| mutants.run(random, &mutant))).is_err();
            let grown = peak_memory.growth();
            let said = stderr.take_text();
            // A panic inside the library is caught at the ABI boundary and returned as an error code.
            let panicked = said.contains("panicked") || said.contains("defect of the library");
            let greedy = grown > memory::max_memory(size);
            if failed || panicked || greedy {
                let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
                stderr.write_line(&lines[lines.len().saturating_sub(30)..].join("\n"));
                if greedy {
                    stderr.write_line(&format!("{grown} bytes of memory for {size} bytes of frame"));
                }
                let what = mutants.describe(&mutant);
                stderr.write_line(&format!("FAILED: {name} run {seed} case {index}: {what}"));
                failures += 1;
                assert!(failures < MAX_FAILURES, "too many failures");
            }
        }
        assert_eq!(failures, 0);
    }

    /// Runs the test `name` of this executable in child processes, one range of cases per child; after a case that
    /// ended its child, the next child starts with the following case. In the child, `make` prepares the cases of
    /// form `form`.
    pub fn run<M: Mutants>(&self, name: &str, form: impl Debug, number: u64, make: impl FnOnce() -> M) {
        let child = self.env_name("_CHILD");
        if let Ok(range) = std::env::var(&child) {
            let (first, last) = range.split_once("..").expect("a range of cases");
            let cases = first.parse().expect("a case")..last.parse().expect("a case");
            return self.run_child(number, &format!("{form:?}"), cases, make);
        }
        let only = std::env::var(self.env_name("_ONLY"));
        if Library::ours().is_reference() && only.is_err() {
            // The reference is known to crash on damaged frames (b2nd.md 10, frame.md 9).
            return;
        }
        let (mut first, end) = match only {
            Ok(text) => {
                let case: u64 = text.parse().expect("the number of a case");
                (case, case + 1)
            }
            Err(_) => (0, from_environment(&self.env_name("S"), self.mutants).div_ceil(self.forms)),
        };
        println!("{form:?}: seed {}, cases {first}..{end}", self.seed_of(number));
        let mut reports = Vec::new();
        while first < end && reports.len() < MAX_FAILURES {
            let last = end.min(first + CASES_PER_CHILD);
            let output = test_again(name)
                .env(&child, format!("{first}..{last}"))
                // The library prints error messages and its own panics.
                .env("BLOSC_TRACE", "1")
                .output()
                .expect("a child");
            first = last;
            if output.status.success() {
                continue;
            }
            let errors = String::from_utf8_lossy(&output.stderr);
            let tail: Vec<&str> = errors.lines().rev().take(40).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            reports.push(format!("{}\n{}", output.status, tail.join("\n")));
            let ended_at = errors.lines().rev().find_map(|line| {
                let line = line.strip_prefix("CRASH in run ").or(line.strip_prefix("HANG in run "))?;
                line.split(" case ").nth(1)?.split(' ').next()?.parse::<u64>().ok()
            });
            first = ended_at.map_or(first, |case| case + 1);
        }
        assert!(reports.is_empty(), "{name}: {} failed children\n{}", reports.len(), reports.join("\n\n"));
    }
}
