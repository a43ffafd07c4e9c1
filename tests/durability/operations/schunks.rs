//! Changes of super-chunks: one call, several calls in a bracket, and the release after changes.

use super::setups::{ITEMS, Setup, chunk, half_zeros, noise, zeros};
use super::{Change, Group, Operation};
use crate::support::super_chunk::SuperChunk;

type SchunkChange = fn(&SuperChunk) -> bool;

/// Changes of one chunk or metalayer of a super-chunk with five chunks.
const CHANGES: &[(&str, SchunkChange)] = &[
    ("append", |schunk| schunk.append(&noise(20, ITEMS)).is_ok()),
    ("insert", |schunk| schunk.insert_chunk(1, &chunk(21, ITEMS)).is_ok()),
    ("update, longer", |schunk| schunk.update_chunk(3, &chunk(22, ITEMS)).is_ok()),
    ("update, same length", |schunk| schunk.update_chunk(1, &chunk(23, ITEMS)).is_ok()),
    ("update, shorter", |schunk| schunk.update_chunk(1, &zeros()).is_ok()),
    ("delete", |schunk| schunk.delete_chunk(1).is_ok()),
    ("reorder", reverse),
    ("meta_update", |schunk| schunk.meta_update("fixed", b"SOME CONTENT") >= 0),
    ("vlmeta_add", |schunk| schunk.vlmeta_add("another", &noise(24, 100)) >= 0),
    ("vlmeta_update", |schunk| schunk.vlmeta_update("variable", &noise(25, 400)) >= 0),
    ("vlmeta_delete", |schunk| schunk.vlmeta_delete("variable") >= 0),
];

/// Reverses the order of the chunks.
fn reverse(schunk: &SuperChunk) -> bool {
    schunk.reorder(&(0..schunk.nchunks()).rev().collect::<Vec<i64>>()) >= 0
}

/// Changes of a super-chunk without chunks.
const CHANGES_OF_EMPTY: &[(&str, SchunkChange)] = &[
    ("append", |schunk| schunk.append(&noise(20, ITEMS)).is_ok()),
    ("append of zeros", |schunk| schunk.append_chunk(&zeros()).is_ok()),
    // 0 bytes in each item (`BLOSC2_SPECIAL_ZERO`).
    ("fill_special", |schunk| schunk.fill_special(4 * ITEMS as i64, 1, 4 * ITEMS as i32) >= 0),
    ("meta_add", |schunk| schunk.meta_add("another", b"other content") >= 0),
    ("vlmeta_add", |schunk| schunk.vlmeta_add("another", &noise(24, 20)) >= 0),
];

/// Several changes that are one transaction.
const BRACKETS: &[(&str, SchunkChange)] = &[
    ("five appends", |schunk| (60..65).all(|seed| schunk.append(&noise(seed, ITEMS)).is_ok())),
    ("changes of all kinds", |schunk| {
        schunk.append(&noise(70, ITEMS)).is_ok()
            && schunk.update_chunk(0, &chunk(71, ITEMS)).is_ok()
            && schunk.update_chunk(1, &zeros()).is_ok()
            && schunk.insert_chunk(0, &chunk(72, ITEMS)).is_ok()
            && schunk.delete_chunk(2).is_ok()
            && reverse(schunk)
            && schunk.meta_update("fixed", b"SOME CONTENT") >= 0
            && schunk.vlmeta_update("variable", &noise(73, 300)) >= 0
            && schunk.vlmeta_add("another", &noise(74, 30)) >= 0
    }),
    ("one chunk changed three times", |schunk| {
        (75..78).all(|seed| schunk.update_chunk(2, &chunk(seed, ITEMS)).is_ok())
    }),
    ("all chunks replaced", |schunk| {
        (0..schunk.nchunks()).all(|nchunk| schunk.update_chunk(nchunk, &chunk(80, ITEMS)).is_ok())
    }),
    // More new files in a directory than stay open until they are synchronised together.
    ("forty appends", |schunk| (100..140).all(|seed| schunk.append(&noise(seed, ITEMS)).is_ok())),
];

/// Changes before the release of the handle.
const CHANGES_BEFORE_CLOSE: &[(&str, SchunkChange)] = &[
    ("close after three appends", |schunk| (90..93).all(|seed| schunk.append(&noise(seed, ITEMS)).is_ok())),
    ("close after updates and a delete", |schunk| {
        schunk.update_chunk(0, &chunk(93, ITEMS)).is_ok()
            && schunk.update_chunk(1, &zeros()).is_ok()
            && schunk.delete_chunk(2).is_ok()
    }),
    ("close after changes of metalayers", |schunk| {
        schunk.meta_update("fixed", b"SOME CONTENT") >= 0
            && schunk.vlmeta_add("another", &noise(94, 100)) >= 0
            && schunk.vlmeta_delete("another") >= 0
            && schunk.vlmeta_update("variable", &noise(95, 30)) >= 0
    }),
    // The hole is too short for the last chunk, so that the chunks behind it are moved down.
    ("close after an update that leaves a short hole", |schunk| {
        schunk.update_chunk(0, &half_zeros()).is_ok()
    }),
    ("close after all chunks were deleted", |schunk| (0..5).all(|_| schunk.delete_chunk(0).is_ok())),
];

/// The changes of [`CHANGES`] that are repeated for other frames.
const REPEATED: [&str; 7] =
    ["append", "insert", "update, longer", "update, same length", "delete", "meta_update", "vlmeta_update"];

pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    let mut add = |group, setup, name, change| all.push(Operation { name, group, setup, change });
    for &(name, change) in CHANGES {
        add(Group::Schunk, Setup::Schunk, name, Change::Schunk(change));
        if REPEATED.contains(&name) {
            add(Group::Schunk, Setup::Fragmented, name, Change::Schunk(change));
            add(Group::Journal, Setup::LongHeader, name, Change::Schunk(change));
            add(Group::Journal, Setup::SecondFrame, name, Change::Schunk(change));
            add(Group::Journal, Setup::SplitHeader, name, Change::Schunk(change));
        }
    }
    for &(name, change) in CHANGES_OF_EMPTY {
        add(Group::Schunk, Setup::Empty, name, Change::Schunk(change));
    }
    // Header and trailer become longer than a sector.
    let meta_add: SchunkChange = |schunk| schunk.meta_add("another", &[7; 600]) >= 0;
    let vlmeta_add: SchunkChange = |schunk| schunk.vlmeta_add("another", &noise(24, 150)) >= 0;
    add(Group::Journal, Setup::Empty, "long meta_add", Change::Schunk(meta_add));
    add(Group::Journal, Setup::Empty, "long vlmeta_add", Change::Schunk(vlmeta_add));
    for &(name, change) in BRACKETS {
        add(Group::Bracket, Setup::Schunk, name, Change::Bracket { is_locking: false, change });
    }
    let (_, change) = BRACKETS[1];
    add(
        Group::Bracket,
        Setup::Schunk,
        "changes under the lock",
        Change::Bracket { is_locking: true, change },
    );
    add(
        Group::Bracket,
        Setup::Fragmented,
        "changes of all kinds",
        Change::Bracket { is_locking: false, change },
    );
    add(
        Group::Journal,
        Setup::LongHeader,
        "changes of all kinds",
        Change::Bracket { is_locking: false, change },
    );
    for &(name, change) in CHANGES_BEFORE_CLOSE {
        add(Group::Close, Setup::Schunk, name, Change::CloseSchunk(change));
    }
    let (name, change) = CHANGES_BEFORE_CLOSE[0];
    add(Group::Close, Setup::Empty, name, Change::CloseSchunk(change));
    add(Group::Close, Setup::Fragmented, name, Change::CloseSchunk(change));
    // The handle searches the holes of the handle before it.
    for &(name, change) in &CHANGES_BEFORE_CLOSE[1..] {
        add(Group::Close, Setup::Fragmented, name, Change::CloseSchunk(change));
    }
    add(Group::Journal, Setup::LongHeader, name, Change::CloseSchunk(change));
    add(Group::Journal, Setup::SecondFrame, name, Change::CloseSchunk(change));
    add(Group::Journal, Setup::SplitHeader, name, Change::CloseSchunk(change));
    all
}
