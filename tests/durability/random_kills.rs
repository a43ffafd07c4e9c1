//! A process that changes files in a loop and is killed at random moments. Each new process continues with the files
//! that the last one has left.
//!
//! `BLOSC2_RANDOM_KILLS` sets the number of kills of each test, `BLOSC2_RANDOM_KILLS_SEED` the seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::child::{Task, command, run_expecting_success};
use crate::contents::Contents;
use crate::faults::{frame_in, keep};
use crate::histories::{HistoryKind, Model, progress_file};
use crate::levels::Level;
use crate::operations::ours;
use crate::support::all_libraries;
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;

const DEFAULT_SEED: u64 = 20_251_125;
/// The longest time from the first step of a process to its end.
const MAX_DELAY: Duration = Duration::from_millis(20);
/// The time limit for the start of a process.
const START_LIMIT: Duration = Duration::from_secs(60);

/// The files of a history, and their state.
struct Files {
    kind: HistoryKind,
    level: Level,
    seed: u64,
    scratch: ScratchDir,
    directory: PathBuf,
    /// The number of steps of which the files have the result.
    done: u64,
    model: Model,
}

/// What is read after a kill.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    /// All steps that have returned.
    Acknowledged,
    /// Also the step that was in progress.
    NextStep,
    Damaged,
}

impl Files {
    fn new(kind: HistoryKind, level: Level, seed: u64) -> Files {
        let scratch = ScratchDir::in_memory();
        let directory = scratch.path().to_owned();
        let mut files = Files { kind, level, seed, scratch, directory, done: 0, model: Model::new(kind) };
        files.restart();
        files
    }

    /// Creates new files.
    fn restart(&mut self) {
        self.directory = self.scratch.new_path();
        fs::create_dir(&self.directory).expect("a directory");
        let task = Task::MakeHistory { kind: self.kind };
        run_expecting_success(task, self.level, &self.path(), None);
        (self.done, self.model) = (0, Model::new(self.kind));
    }

    fn path(&self) -> PathBuf {
        frame_in(&self.directory)
    }

    /// Runs a process, kills it `delay` after its first step, and returns the number of steps that have returned.
    fn run_and_kill(&self, delay: Duration) -> u64 {
        let progress = progress_file(&self.path());
        fs::write(&progress, []).expect("the progress file");
        let task = Task::Loop { kind: self.kind, seed: self.seed, first: self.done };
        let mut command = command(task, self.level, &self.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().expect("a child");
        let start = Instant::now();
        while read_progress(&progress).is_none() {
            assert!(start.elapsed() < START_LIMIT, "{:?}: the process does not start", self.kind);
            let status = child.try_wait().expect("a child");
            assert!(status.is_none(), "{:?}, from step {}: {status:?}", self.kind, self.done);
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(delay);
        let status = child.try_wait().expect("a child");
        assert!(status.is_none(), "{:?}, from step {}: {status:?}", self.kind, self.done);
        child.kill().expect("killed");
        child.wait().expect("a child");
        read_progress(&progress).expect("the number of steps")
    }

    /// Compares the files with the state after `done` steps and the one after the next step. Returns also a description
    /// of damaged files.
    fn compare(&mut self, done: u64, readers: &[&'static Library]) -> (Found, String) {
        while self.done < done {
            self.model.advance(self.seed, self.done);
            self.done += 1;
        }
        let path = self.path();
        let read = |library: &&'static Library| Contents::read(library, &path, self.kind.form());
        let contents: Vec<Option<Contents>> = readers.iter().map(read).collect();
        let is_read = |model: &Model| {
            contents.iter().all(|found| found.as_ref().is_some_and(|found| model.matches(found)))
        };
        if is_read(&self.model) {
            return (Found::Acknowledged, String::new());
        }
        self.model.advance(self.seed, self.done);
        self.done += 1;
        if is_read(&self.model) {
            return (Found::NextStep, String::new());
        }
        let summaries = readers.iter().zip(&contents).map(|(library, found)| {
            let summary = found.as_ref().map_or("cannot be opened".to_owned(), Contents::summary);
            format!("{}: {summary}", library.name)
        });
        (Found::Damaged, summaries.collect::<Vec<_>>().join("; "))
    }
}

fn read_progress(path: &Path) -> Option<u64> {
    Some(u64::from_le_bytes(fs::read(path).ok()?.try_into().ok()?))
}

/// Kills processes that change each kind of files in turn. Returns a description of each damaged state.
fn kill_at_random(
    level: Level,
    kills: u64,
    readers_of: impl Fn(HistoryKind) -> Vec<&'static Library>,
) -> Vec<String> {
    let seed = from_environment("BLOSC2_RANDOM_KILLS_SEED", DEFAULT_SEED);
    let kills = from_environment("BLOSC2_RANDOM_KILLS", kills);
    println!("random kills at level {}: BLOSC2_RANDOM_KILLS_SEED={seed}", level.name());
    let mut failures = Vec::new();
    for (index, kind) in HistoryKind::ALL.into_iter().enumerate() {
        let mut random = Random::of_item(seed, index as u64);
        let mut files = Files::new(kind, level, seed);
        let readers = readers_of(kind);
        let (mut counts, mut steps) = ([0; 3], 0);
        for kill in 0..kills.div_ceil(HistoryKind::ALL.len() as u64) {
            let delay = MAX_DELAY.mul_f64(random.below(1000) as f64 / 1000.0);
            let first = files.done;
            let done = files.run_and_kill(delay);
            steps += done - first;
            let (found, damage) = files.compare(done, &readers);
            counts[found as usize] += 1;
            if found == Found::Damaged {
                let mut text = format!("{kind:?}: damaged after step {done}, kill {kill}: {damage}");
                if level.is_atomic() {
                    let kept = keep(&files.directory, &format!("random-kill-{index}"));
                    text += &format!("; kept in {}", kept.display());
                }
                failures.push(text);
                files.restart();
            }
        }
        let [acknowledged, next, bad] = counts;
        println!(
            "{kind:?} at level {}: {steps} steps; after a kill: {acknowledged} times the acknowledged steps, {next} \
             times also the step in progress, {bad} times damaged",
            level.name()
        );
        assert!(steps > 0, "{kind:?}: no step has returned");
    }
    failures
}

mod tests {
    use super::*;

    /// At level kill, the files have the state after all steps that have returned, or also the step in progress.
    #[test]
    fn level_kill_survives_random_kills() {
        let failures =
            kill_at_random(
                Level::Kill,
                200,
                |kind| {
                    if kind.has_journal() { vec![ours()] } else { all_libraries() }
                },
            );
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    /// At level off, a killed process may damage the files; the numbers are printed.
    #[test]
    fn level_off_may_be_damaged_by_random_kills() {
        let damaged = kill_at_random(Level::Off, 50, |_| vec![ours()]);
        println!("level off: {} damaged files", damaged.len());
    }
}
