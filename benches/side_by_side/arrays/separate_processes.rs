//! Group `apart`: arrays that are created and freed, each library in a separate process, as in a real program. In one
//! process both libraries share the heap: the memory that one has freed changes how fast the other creates the next
//! array.

use std::process::Command;

use super::cases::{ArrayCase, CASES};
use super::is_wanted;
use crate::Bench;
use crate::library::Library;
use crate::options::Options;
use crate::report::{Report, SPEED};
use crate::support::array::Array;
use crate::timing::seconds_per_call;

/// The environment variable that makes a process a child of this benchmark: the number of the library (0: ours), the
/// index in [`CASES`] and the number of batches, separated by spaces.
const TASK_ENV: &str = "SIDE_BY_SIDE_APART";
/// The number of processes for each library and array.
const PROCESSES: usize = 2;

/// The operations that are measured.
const OPERATIONS: [&str; 5] = ["from_cbuffer", "copy", "copy to other chunks", "concatenate", "get_slice"];

/// Measures the cells of this group that `--only` selects.
pub fn run(bench: &Bench) -> Report {
    let mut report = Report::new("apart", &[SPEED], bench.options.summary);
    for (ncase, case) in CASES.iter().enumerate() {
        if !OPERATIONS.iter().any(|made| is_wanted(bench, made, case.name)) {
            continue;
        }
        let mut best = [[f64::INFINITY; 2]; OPERATIONS.len()];
        for round in 0..PROCESSES {
            for which in [round % 2, (round + 1) % 2] {
                let all = run_in_process(&format!("{which} {ncase} {}", bench.options.rounds));
                for (best, seconds) in best.iter_mut().zip(all) {
                    best[which] = best[which].min(seconds);
                }
            }
        }
        for (made, [ours, theirs]) in OPERATIONS.into_iter().zip(best) {
            if is_wanted(bench, made, case.name) {
                report.add(made, case.name.to_string(), vec![theirs / ours]);
            }
        }
    }
    report
}

/// Runs this executable again with `task` in [`TASK_ENV`]. Returns the seconds that it prints, one for each of
/// [`OPERATIONS`].
fn run_in_process(task: &str) -> Vec<f64> {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).env(TASK_ENV, task).output().expect("a process");
    assert!(output.status.success(), "task {task}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let all: Vec<f64> = text.lines().map(|line| line.parse().expect("seconds")).collect();
    assert_eq!(all.len(), OPERATIONS.len(), "task {task}");
    all
}

/// Runs the task if this process is a child with [`TASK_ENV`] set; returns whether it is.
pub fn run_if_child() -> bool {
    let Ok(task) = std::env::var(TASK_ENV) else { return false };
    let numbers: Vec<usize> = task.split(' ').map(|number| number.parse().expect("a number")).collect();
    let [which, ncase, rounds] = numbers[..] else { panic!("task {task}") };
    let library = if which == 0 { Library::ours() } else { Library::reference().expect("the reference") };
    let arguments = ["--rounds".to_string(), rounds.to_string()];
    let options = Options::parse(arguments.into_iter(), &[], &[]).expect("options").expect("something to do");
    for seconds in measure(library, &CASES[ncase], &options) {
        println!("{seconds:e}");
    }
    true
}

fn measure(library: &'static Library, case: &ArrayCase, options: &Options) -> [f64; OPERATIONS.len()] {
    let data = case.data();
    let (same, other) = (case.spec(1).context(library), case.rechunked_spec(1).context(library));
    let array = same.create_from_buffer(&data).1.expect("an array");
    let last = case.ndim() - 1;
    let start: Vec<i64> = case.shape().iter().map(|extent| extent / 5).collect();
    let stop: Vec<i64> = case.shape().iter().map(|extent| extent / 5 * 4).collect();
    let time =
        |make: &dyn Fn() -> Option<Array>| seconds_per_call(options, 1, || drop(make().expect("an array")));
    [
        time(&|| same.create_from_buffer(&data).1),
        time(&|| same.copy(&array).1),
        time(&|| other.copy(&array).1),
        time(&|| same.concatenate(&array, &array, last as i8).1),
        time(&|| same.get_slice(&array, &start, &stop).1),
    ]
}
