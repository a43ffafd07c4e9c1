//! Faults at level off: files are changed in place, and only changes that fail are undone.

use crate::contents::Outcome;
use crate::faults::{Fault, Outcomes, Prepared};
use crate::levels::Level;
use crate::operations::controls::{CORRECT, UNSYNCHRONISED, WRONG_ORDER};
use crate::operations::{Group, all, of_group};
use crate::support::super_chunk::Store;

/// Runs every operation of the groups with every fault in `faults`, and calls `check` with the outcomes of each
/// combination.
fn each_operation(
    groups: &[Group],
    stores: &[Store],
    faults: &[Fault],
    check: impl Fn(&Prepared, Fault, &str, &Outcomes),
) {
    for index in groups.iter().flat_map(|&group| of_group(group)) {
        for &store in all()[index].setup.stores().iter().filter(|store| stores.contains(store)) {
            let prepared = Prepared::new(index, store, Level::Off);
            for &fault in faults {
                let outcomes = prepared.inject(fault);
                let what = format!("{}, {fault:?}", prepared.name());
                println!("{what}: {outcomes}");
                check(&prepared, fault, &what, &outcomes);
            }
        }
    }
}

/// Checks that there is no outcome of these kinds, and no contradiction.
#[track_caller]
fn assert_none(what: &str, outcomes: &Outcomes, kinds: &[Outcome]) {
    assert!(outcomes.contradictions.is_empty(), "{}", outcomes.contradictions.join("\n"));
    for &kind in kinds {
        assert!(outcomes.of(kind).is_empty(), "{what}: {kind:?} at {:?}", outcomes.of(kind));
    }
}

const FAILURES: [Fault; 3] = [Fault::EioOnce, Fault::NoSpace, Fault::Short];
const KILLS: [Fault; 4] = [Fault::Kill, Fault::Torn, Fault::TornFirst, Fault::TornLast];

/// A change of a super-chunk whose system call fails is undone: the call returns an error and the old state can be
/// read, or it succeeds and the new state can be read.
#[test]
fn failed_calls_leave_the_old_or_the_new_super_chunk() {
    each_operation(&[Group::Schunk], &Store::ON_DISK, &FAILURES, |prepared, _, what, outcomes| {
        assert!(!prepared.calls.is_empty(), "{what}: no system call");
        assert_none(what, outcomes, &[Outcome::Mixed, Outcome::Unreadable, Outcome::Wrong]);
    });
}

/// A write to an array, or a change of its shape, whose system call fails is undone, too, although it consists of several
/// changes.
#[test]
fn failed_calls_leave_the_old_or_the_new_array() {
    let groups = [Group::Array, Group::ArrayShift];
    each_operation(&groups, &Store::ON_DISK, &FAILURES, |prepared, _, what, outcomes| {
        assert!(!prepared.calls.is_empty(), "{what}: no system call");
        assert_none(what, outcomes, &[Outcome::Mixed, Outcome::Unreadable, Outcome::Wrong]);
    });
}

/// The process is killed before or in the middle of a call. A frame may be damaged then (frame.md 2.11); the outcomes
/// are printed. In a directory, where each chunk has a file, no wrong data is read with success.
#[test]
fn killed_changes_of_a_directory_leave_no_wrong_chunk() {
    let groups = [Group::Schunk, Group::Array];
    each_operation(&groups, &[Store::Directory], &KILLS, |prepared, fault, what, outcomes| {
        if matches!(fault, Fault::Kill | Fault::Torn) {
            assert_eq!(outcomes.total(), prepared.calls.len(), "{what}");
        }
        assert_none(what, outcomes, &[Outcome::Wrong]);
    });
}

/// Prints the outcomes of all other combinations.
#[test]
fn outcomes() {
    let groups = [Group::Schunk, Group::Array];
    each_operation(&groups, &[Store::File], &KILLS, |_, _, _, _| {});
    let groups = [Group::ArrayShift, Group::Bracket, Group::Close, Group::Creation, Group::Journal];
    let faults = [Fault::Kill, Fault::EioOnce, Fault::EioForever];
    each_operation(&groups, &Store::ON_DISK, &faults, |_, _, _, _| {});
}

/// The faults find no damage after atomic changes of files, and find a wrong order of writes.
#[test]
fn faults_find_a_wrong_order() {
    each_operation(&[Group::Control], &[Store::File], &KILLS, |prepared, fault, what, outcomes| {
        let name = prepared.operation.name;
        let damages = [Outcome::Mixed, Outcome::Unreadable, Outcome::Wrong];
        // `Torn` also cuts writes inside a sector, which these changes do not survive.
        if (CORRECT.contains(&name) || UNSYNCHRONISED.contains(&name)) && fault != Fault::Torn {
            assert_none(what, outcomes, &damages);
        }
        if WRONG_ORDER.contains(&name) && fault == Fault::Kill {
            assert!(damages.iter().any(|&damage| !outcomes.of(damage).is_empty()), "{what}: no damage");
        }
    });
}
