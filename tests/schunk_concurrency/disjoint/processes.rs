//! Two processes that write disjoint items of one chunk of a frame with the lock between processes, with two writing
//! threads each, while a third thread of each process reads.

use std::path::Path;
use std::thread;

use super::{
    AccessKind, FinishGuard, NITEMS, PipelineKind, Progress, SharedArray, WritePlan, assert_last_writes,
    nwrites, read_all, write_all,
};
use crate::children::{child_part, child_setting, join_children, start_child};
use crate::content::print_in_long_runs;
use crate::support::child::test_name;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, c_path};

const PATH: &str = "BLOSC2_CONCURRENCY_PATH";
const CALLS: &str = "BLOSC2_CONCURRENCY_CALLS";
const PIPELINE: &str = "BLOSC2_CONCURRENCY_PIPELINE";

/// Number of writers of both processes together.
const NWRITERS: usize = 4;

/// Returns the enumeration value whose name is the value of a setting.
fn value_by_name<T: Copy + std::fmt::Debug>(all: &[T], setting_name: &str) -> T {
    let name = child_setting(setting_name);
    *all.iter().find(|value| format!("{value:?}") == name).expect("a value of that name")
}

fn plan(calls: AccessKind) -> WritePlan {
    WritePlan::new(calls, NWRITERS, nwrites(200))
}

/// Runs the part of a child.
fn run_child(part: &str) {
    let first = if part == "first" { 0 } else { NWRITERS / 2 };
    let mine = first..first + NWRITERS / 2;
    let (calls, pipeline) =
        (value_by_name(&AccessKind::ALL, CALLS), value_by_name(&PipelineKind::ALL, PIPELINE));
    let plan = &plan(calls);
    let shared = &SharedArray::open(Path::new(&child_setting(PATH)), pipeline, calls);
    let progress = &Progress::new(|item| mine.contains(&plan.owners[item].0));
    thread::scope(|scope| {
        scope.spawn(move || read_all(shared, plan, progress, first as u64));
        let _over = FinishGuard(progress);
        let writers: Vec<_> =
            mine.map(|writer| scope.spawn(move || write_all(shared, plan, progress, writer))).collect();
        writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
    });
}

fn check_no_lost_writes(test: &str, store: Store) {
    if let Some(part) = child_part() {
        return run_child(&part);
    }
    let scratch = ScratchDir::new();
    for calls in AccessKind::ALL {
        for pipeline in PipelineKind::ALL {
            let path = scratch.new_path();
            drop(SharedArray::create(store, &path, pipeline, calls));
            let text = c_path(&path).into_string().expect("a path");
            let child = |part| {
                let (calls, pipeline) = (format!("{calls:?}"), format!("{pipeline:?}"));
                start_child(
                    test,
                    part,
                    &[(PATH, text.as_str()), (CALLS, &calls), (PIPELINE, &pipeline), ("BLOSC_LOCKING", "1")],
                )
            };
            join_children(vec![
                ("the first process", child("first")),
                ("the second process", child("second")),
            ]);
            let everything: Vec<usize> = (0..NITEMS).collect();
            let plan = plan(calls);
            let left = SharedArray::open(&path, pipeline, calls).read_seqs(&everything);
            assert_last_writes(&everything, &left, &plan.last_writes());
            let writes: usize = plan.writes.iter().map(Vec::len).sum();
            print_in_long_runs(&format!(
                "{store:?}, {pipeline:?}, {calls:?}: {writes} writes by two processes: 0 lost, 0 torn"
            ));
        }
    }
}

#[test]
fn processes_that_write_to_a_file_lose_no_writes() {
    check_no_lost_writes(test_name!(), Store::File);
}

#[test]
fn processes_that_write_to_a_directory_lose_no_writes() {
    check_no_lost_writes(test_name!(), Store::Directory);
}
