//! Two processes that write disjoint items of one chunk of a frame with the lock between processes, with two writing
//! threads each, while a third thread of each process reads.

use std::path::Path;
use std::thread;

use super::{Calls, Coding, NITEMS, Over, Plan, Progress, Shared, assert_same, nwrites, read_all, write_all};
use crate::children::{join, part, setting, start};
use crate::content::say;
use crate::support::child::test_name;
use crate::support::super_chunk::scratch::Scratch;
use crate::support::super_chunk::{Store, c_path};

const PATH: &str = "BLOSC2_CONCURRENCY_PATH";
const CALLS: &str = "BLOSC2_CONCURRENCY_CALLS";
const CODING: &str = "BLOSC2_CONCURRENCY_CODING";

/// Number of writers of both processes together.
const NWRITERS: usize = 4;

/// Returns the enumeration value whose name is the value of a setting.
fn named<T: Copy + std::fmt::Debug>(all: &[T], setting_name: &str) -> T {
    let name = setting(setting_name);
    *all.iter().find(|value| format!("{value:?}") == name).expect("a value of that name")
}

fn plan(calls: Calls) -> Plan {
    Plan::new(calls, NWRITERS, nwrites(200))
}

/// Runs the part of a child.
fn play(part: &str) {
    let first = if part == "first" { 0 } else { NWRITERS / 2 };
    let mine = first..first + NWRITERS / 2;
    let (calls, coding) = (named(&Calls::ALL, CALLS), named(&Coding::ALL, CODING));
    let plan = &plan(calls);
    let shared = &Shared::open(Path::new(&setting(PATH)), coding, calls);
    let progress = &Progress::new(|item| mine.contains(&plan.owners[item].0));
    thread::scope(|scope| {
        scope.spawn(move || read_all(shared, plan, progress, first as u64));
        let _over = Over(progress);
        let writers: Vec<_> =
            mine.map(|writer| scope.spawn(move || write_all(shared, plan, progress, writer))).collect();
        writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
    });
}

fn lose_nothing(test: &str, store: Store) {
    if let Some(part) = part() {
        return play(&part);
    }
    let scratch = Scratch::new();
    for calls in Calls::ALL {
        for coding in Coding::ALL {
            let path = scratch.fresh();
            drop(Shared::create(store, &path, coding, calls));
            let text = c_path(&path).into_string().expect("a path");
            let child = |part| {
                let (calls, coding) = (format!("{calls:?}"), format!("{coding:?}"));
                start(
                    test,
                    part,
                    &[(PATH, text.as_str()), (CALLS, &calls), (CODING, &coding), ("BLOSC_LOCKING", "1")],
                )
            };
            join(vec![("the first process", child("first")), ("the second process", child("second"))]);
            let everything: Vec<usize> = (0..NITEMS).collect();
            let plan = plan(calls);
            let left = Shared::open(&path, coding, calls).seqs(&everything);
            assert_same(&everything, &left, &plan.last());
            let writes: usize = plan.writes.iter().map(Vec::len).sum();
            say(&format!(
                "{store:?}, {coding:?}, {calls:?}: {writes} writes by two processes: 0 lost, 0 torn"
            ));
        }
    }
}

#[test]
fn processes_that_write_to_a_file_lose_nothing() {
    lose_nothing(test_name!(), Store::File);
}

#[test]
fn processes_that_write_to_a_directory_lose_nothing() {
    lose_nothing(test_name!(), Store::Directory);
}
