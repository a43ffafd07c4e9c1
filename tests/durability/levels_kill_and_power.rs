//! Faults at level kill and at level power: each operation happens completely or not at all.

use crate::contents::Outcome;
use crate::faults::{Fault, Prepared};
use crate::levels::Level;
use crate::operations::{Group, all, of_group};
use crate::support::super_chunk::Store;

const FAULTS_OF_LEVEL_KILL: &[Fault] = &[
    Fault::Kill,
    Fault::TornFirst,
    Fault::TornLast,
    Fault::EioOnce,
    Fault::EioRetry,
    Fault::EioForever,
    Fault::NoSpace,
    Fault::Short,
];
/// Without the faults whose handling does not depend on the level.
const FAULTS_OF_LEVEL_POWER: &[Fault] =
    &[Fault::Kill, Fault::TornFirst, Fault::EioOnce, Fault::EioRetry, Fault::EioForever];

/// Injects all faults into all operations of the groups, and checks that the old or the new state can be read.
fn check(level: Level, groups: &[Group], store: Store) {
    let faults = if level == Level::Power { FAULTS_OF_LEVEL_POWER } else { FAULTS_OF_LEVEL_KILL };
    let (mut total, mut failures) = (0, Vec::new());
    for index in groups.iter().flat_map(|&group| of_group(group)) {
        let operation = &all()[index];
        if !operation.setup.stores().contains(&store) {
            continue;
        }
        let prepared = Prepared::new(index, store, level);
        let name = prepared.name();
        // The release of a handle may have nothing to do.
        if !operation.is_close() {
            if prepared.calls.is_empty() {
                failures.push(format!("{name}: no system call"));
            }
            if level == Level::Power && prepared.syncs() == 0 {
                failures.push(format!("{name}: nothing is synchronised"));
            }
        }
        for &fault in faults {
            let outcomes = prepared.inject(fault);
            println!("{name}, {fault:?}: {outcomes}");
            for outcome in [Outcome::Mixed, Outcome::Unreadable, Outcome::Wrong] {
                let calls = outcomes.of(outcome);
                if !calls.is_empty() {
                    let ncalls = prepared.calls.len();
                    failures.push(format!("{name}, {fault:?}: {outcome:?} in calls {calls:?} of {ncalls}"));
                }
            }
            total += outcomes.total();
            failures.extend(outcomes.contradictions);
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    // The release of a directory may have nothing to do.
    assert!(total > 0 || (groups == [Group::Close] && store == Store::Directory), "no fault was injected");
}

/// Declares a test for each level.
macro_rules! tests {
    ($($name:ident: $groups:expr, $store:expr;)*) => {
        mod level_kill {
            use super::*;
            $(#[test]
            fn $name() {
                check(Level::Kill, &$groups, $store);
            })*
        }

        mod level_power {
            use super::*;
            $(#[test]
            fn $name() {
                check(Level::Power, &$groups, $store);
            })*
        }
    };
}

tests! {
    changes_of_a_file: [Group::Schunk], Store::File;
    changes_of_a_directory: [Group::Schunk], Store::Directory;
    array_in_a_file: [Group::Array, Group::ArrayShift], Store::File;
    array_in_a_directory: [Group::Array, Group::ArrayShift], Store::Directory;
    brackets_in_a_file: [Group::Bracket], Store::File;
    brackets_in_a_directory: [Group::Bracket], Store::Directory;
    releases_of_a_file: [Group::Close], Store::File;
    releases_of_a_directory: [Group::Close], Store::Directory;
    creations_of_a_file: [Group::Creation], Store::File;
    creations_of_a_directory: [Group::Creation], Store::Directory;
    long_headers_and_offsets_in_a_file: [Group::Journal], Store::File;
    long_headers_in_a_directory: [Group::Journal], Store::Directory;
}
