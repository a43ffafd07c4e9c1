//! Handles that are closed after their file was removed and another one was created under its name. Both files have the
//! same header, so that only the rest tells them apart.

use std::fs;
use std::path::Path;

use crate::checksums::CHECKSUMS;
use crate::levels::{DURABILITY, Level};
use crate::processes::{self, child_part, report};
use crate::support::calls::Params;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 300;
/// The uncompressed sizes of the chunks, in bytes: the last one may be shorter.
const NBYTES: usize = 4096;
const NCHUNKS: usize = 6;

/// Creates a super-chunk of stored chunks, which stays open. Returns it with its contents. `reversed` stores the chunks
/// in the opposite order in the file.
fn create(store: Store, path: &Path, seed: u64, reversed: bool) -> (SuperChunk, Vec<Vec<u8>>) {
    let params = Params { clevel: 0, typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), store, path, &params);
    let mut random = Random::new(seed);
    let chunks: Vec<_> = (0..NCHUNKS).map(|_| random.bytes(NBYTES)).collect();
    for chunk in &chunks {
        schunk.append(chunk).expect("appended");
    }
    if reversed {
        let order: Vec<i64> = (0..NCHUNKS as i64).rev().collect();
        assert_eq!(schunk.reorder(&order), 0);
    }
    let contents = if reversed { chunks.into_iter().rev().collect() } else { chunks };
    (schunk, contents)
}

fn remove(path: &Path) {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.expect("removed");
}

#[track_caller]
fn check(path: &Path, contents: &[Vec<u8>], what: &str) {
    let schunk = SuperChunk::open(Library::ours(), path).unwrap_or_else(|| panic!("{what}: does not open"));
    assert_eq!(schunk.nchunks(), contents.len() as i64, "{what}");
    for (nchunk, expected) in contents.iter().enumerate() {
        let found = schunk.decompress(nchunk as i64);
        assert!(found.as_ref() == Ok(expected), "{what}: chunk {nchunk}: {:?}", found.err());
    }
}

/// Closes a handle of a removed file, with or without changes that are not committed, while and after another handle
/// uses the new file.
fn close_after_replacement(store: Store) {
    let scratch = ScratchDir::new();
    for (has_pending, reversed, closes_new_first) in
        (0..8).map(|bits| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0))
    {
        let what = format!("{store:?}, pending {has_pending}, reversed {reversed}, {closes_new_first}");
        let path = scratch.new_path();
        let (old, _) = create(store, &path, 1, false);
        if has_pending {
            // The lock is not released before the super-chunk is freed.
            assert_eq!(old.lock(), 0, "{what}");
            old.append(&[7; NBYTES]).expect("appended");
        }
        remove(&path);
        let (new, contents) = create(store, &path, 2, reversed);
        if closes_new_first {
            drop(new);
            drop(old);
        } else {
            drop(old);
            check(&path, &contents, &format!("{what}, old handle closed"));
            drop(new);
        }
        check(&path, &contents, &format!("{what}, both closed"));
    }
    report("ok");
}

fn check_levels(test: &str, store: Store) {
    if child_part().is_some() {
        return close_after_replacement(store);
    }
    for level in Level::ALL {
        for checksums in ["off", "on"] {
            let variables = [(DURABILITY, level.name()), (CHECKSUMS, checksums)];
            println!("{variables:?}: {}", processes::start(test, "closer", &variables, SECONDS_LIMIT).join());
        }
    }
}

#[test]
fn the_handle_of_a_removed_file_does_not_change_the_new_one() {
    check_levels(test_name!(), Store::File);
}

#[test]
fn the_handle_of_a_removed_directory_does_not_change_the_new_one() {
    check_levels(test_name!(), Store::Directory);
}
