//! Interrupted recoveries: a process is killed in an operation and leaves an undo journal, and the process that opens
//! the files next is interrupted too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::child::{Task, run_all, run_expecting_success};
use crate::contents::Outcome;
use crate::faults::{Fault, Prepared, copy_directory, frame_in};
use crate::levels::Level;
use crate::operations::{Group, all, of_group};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

/// The faults in the calls of a recovery.
const FAULTS: [Fault; 4] = [Fault::Kill, Fault::TornFirst, Fault::EioOnce, Fault::EioForever];

/// Returns the path of the undo journal of a frame.
pub fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".b2undo");
    PathBuf::from(name)
}

/// Interrupts the recovery from each journal that a killed operation can leave. Returns the number of interruptions.
fn interrupt_recoveries(prepared: &Prepared, level: Level) -> usize {
    let form = prepared.operation.form();
    let scratch = ScratchDir::in_memory();
    let mut interruptions = 0;
    let killed = prepared.run_all((0..prepared.calls.len()).map(|call| (Fault::Kill, call)));
    for (killed, (damaged, result)) in killed.into_iter().enumerate() {
        assert!(result.is_none(), "{}: not killed in call {killed}", prepared.name());
        if !journal_of(&frame_in(&damaged)).exists() {
            continue;
        }
        let copy_damaged = || {
            let copy = scratch.new_path();
            copy_directory(&damaged, &copy);
            frame_in(&copy)
        };
        let task = Task::Open { form, fault: Fault::None, call: 0 };
        let calls = run_expecting_success(task, level, &copy_damaged(), None).calls.len();
        let faults = FAULTS.into_iter().flat_map(|fault| (0..calls).map(move |call| (fault, call)));
        let tasks: Vec<(Task, PathBuf)> =
            faults.map(|(fault, call)| (Task::Open { form, fault, call }, copy_damaged())).collect();
        run_all(&tasks, level, &scratch.path().join("tasks"));
        for (task, path) in tasks {
            let directory = path.parent().expect("a directory");
            let (outcome, _) = prepared.check_files(directory, false);
            let what = format!("{}, killed in call {killed}, then {task:?}", prepared.name());
            assert!(outcome <= Outcome::New, "{what}: {outcome:?}");
            interruptions += 1;
            fs::remove_dir_all(directory).expect("removed");
        }
    }
    interruptions
}

fn interrupt_all(level: Level) {
    let mut total = 0;
    for index in of_group(Group::Journal).filter(|&index| !all()[index].is_close()) {
        let prepared = Prepared::new(index, Store::File, level);
        let interruptions = interrupt_recoveries(&prepared, level);
        println!("{}: {interruptions} interrupted recoveries", prepared.name());
        total += interruptions;
    }
    assert!(total > 0, "no killed process leaves a journal at level {}", level.name());
}

mod tests {
    use super::*;

    /// A recovery that is interrupted leaves files from which the next one restores the old or the new state.
    #[test]
    fn level_kill_survives_interrupted_recoveries() {
        interrupt_all(Level::Kill);
    }

    #[test]
    fn level_power_survives_interrupted_recoveries() {
        interrupt_all(Level::Power);
    }
}
