//! Frames with more chunks than a page of checksums has (frame.md 2.14): while a frame is open, most checksums are at places
//! of their own in the file. Copies of open frames are what a killed writer leaves.

use std::fs;
use std::path::Path;

use super::index_file;
use crate::processes::report;
use crate::releases::files;
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{repair, verify};

/// The uncompressed size of a chunk in bytes.
const NBYTES: usize = 256;
/// The number of chunks that one commit writes first: three pages, the last of which is not full.
const NCHUNKS: usize = 2500;
/// Length of a page, and of its place in a table, in bytes.
const PAGE_LEN: usize = 4 << 10;
const PLACE_LEN: usize = 12;

fn params() -> Params {
    Params { codec: 1, typesize: 4, ..Params::default() }
}

/// Returns noise; with every other seed mostly zeros, so that the chunks differ in length.
fn content(seed: u64) -> Vec<u8> {
    let mut bytes = Random::new(seed).bytes(NBYTES);
    bytes[if seed.is_multiple_of(2) { 40 } else { NBYTES }..].fill(0);
    bytes
}

fn append(schunk: &SuperChunk, contents: &mut Vec<Vec<u8>>, seed: u64) {
    contents.push(content(seed));
    assert_eq!(schunk.append(&contents[contents.len() - 1]), Ok(contents.len() as i64));
}

/// Makes a random change; most are appends.
fn change(schunk: &SuperChunk, contents: &mut Vec<Vec<u8>>, random: &mut Random, seed: u64) {
    let at = random.below(contents.len());
    let new = content(seed);
    let chunk = compress(Library::ours(), &params(), &new, NBYTES + 32).expect("a chunk");
    let done = match random.below(8) {
        0 | 1 => {
            contents[at] = new;
            schunk.update_chunk(at as i64, &chunk)
        }
        2 => {
            contents.remove(at);
            schunk.delete_chunk(at as i64)
        }
        3 => {
            contents.insert(at, new);
            schunk.insert_chunk(at as i64, &chunk)
        }
        4 => {
            assert!(schunk.vlmeta_add(&format!("note {seed}"), &new) >= 0 || seed > 12, "a metalayer");
            Ok(contents.len() as i64)
        }
        _ => return append(schunk, contents, seed),
    };
    assert_eq!(done, Ok(contents.len() as i64));
}

/// Checks that both libraries read the contents, and that nothing is damaged.
#[track_caller]
fn check(path: &Path, contents: &[Vec<u8>], what: &str) {
    let mut libraries = vec![Library::ours()];
    libraries.extend(Library::reference());
    for library in libraries {
        let schunk =
            SuperChunk::open(library, path).unwrap_or_else(|| panic!("{what}: {} opens none", library.name));
        assert!(schunk.contents() == contents.concat(), "{what}: {}: other contents", library.name);
    }
    assert_eq!(verify(path).0, 0, "{what}");
}

/// Returns the offsets of the pages that are at places of their own.
fn pages(path: &Path) -> Vec<usize> {
    let frame = fs::read(index_file(path)).expect("a file");
    let be =
        |at: usize, len: usize| frame[at..at + len].iter().fold(0, |n, &byte| n << 8 | usize::from(byte));
    let le32 = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().expect("four bytes")) as usize;
    let frame_len = be(16, 8);
    let trailer = frame_len - be(frame_len - 22, 4);
    let table = trailer - le32(frame_len - 12);
    assert_eq!(&frame[table..table + 5], b"b2cs\x02");
    let stored = le32(table + 4) >> 8;
    let count = if stored == 0 { 0 } else { le32(table + 16).div_ceil(PAGE_LEN / 4) };
    let places = (0..count).map(|n| le32(table + 32 + n * PLACE_LEN)).filter(|&at| at != u32::MAX as usize);
    let places: Vec<usize> = places.collect();
    assert_eq!(places.len(), stored);
    places
}

/// Flips bits of the pages.
fn flip_pages(path: &Path, scratch: &ScratchDir, contents: &[Vec<u8>], random: &mut Random) {
    let pages = pages(path);
    let copy = scratch.new_path();
    files::copy(path, &copy);
    let whole = fs::read(index_file(&copy)).expect("a file");
    for _ in 0..from_environment("BLOSC2_FLIPS", 100) / 10 {
        let at = random.pick(&pages) + random.below(PAGE_LEN);
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << random.below(8);
        fs::write(index_file(&copy), bytes).expect("written");
        assert!(SuperChunk::open(Library::ours(), &copy).is_none(), "bit flip of byte {at} not detected");
        assert!(verify(&copy).0 > 0, "bit flip of byte {at} not reported");
        let saved = scratch.new_path();
        assert_eq!(repair(&copy, &saved).0, contents.len() as i64, "bit flip of byte {at}");
        check(&saved, contents, "repaired");
        files::remove(&saved);
    }
    files::remove(&copy);
}

/// Changes frames, and copies of them that were taken while they were open.
pub fn run(store: Store) {
    let scratch = ScratchDir::in_memory();
    let mut random = Random::new(from_environment("BLOSC2_PAGES_SEED", 79));
    let path = scratch.new_path();
    let schunk = SuperChunk::create(Library::ours(), store, &path, &params());
    let mut contents = Vec::new();
    assert_eq!(schunk.lock(), 0);
    (0..NCHUNKS as u64).for_each(|seed| append(&schunk, &mut contents, 10_000 + seed));
    assert_eq!(schunk.unlock(), 0);
    append(&schunk, &mut contents, 1);
    assert_eq!(pages(&path).len(), 2, "{store:?}: pages after the second commit");
    flip_pages(&path, &scratch, &contents, &mut random);
    let mut max_pages = 0;
    for round in 0..12 {
        for step in 0..random.below(12) as u64 {
            change(&schunk, &mut contents, &mut random, 20 * round + step);
        }
        max_pages = max_pages.max(pages(&path).len());
        let what = format!("{store:?}, round {round}");
        let copy = scratch.new_path();
        files::copy(&path, &copy);
        check(&copy, &contents, &format!("{what}, killed"));
        let mut copied = contents.clone();
        let next = [Some(Library::ours()), Library::reference(), Some(Library::ours())];
        let Some(next) = next[round as usize % 3] else { continue };
        // Every third one changes the frame in place.
        // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
        unsafe { std::env::set_var("BLOSC2_DURABILITY", if round % 3 == 2 { "off" } else { "kill" }) };
        let other = SuperChunk::open(next, &copy).expect("a super-chunk");
        // A handle reads the headers of 64 chunks for each chunk that it replaces. After 60 updates it has read those of all
        // chunks, and knows all free bytes between them.
        for step in 0..if next.name == Library::ours().name { 60 } else { 0 } {
            let (at, new) = (random.below(copied.len()), content(50_000 + 100 * round + step));
            let chunk = compress(Library::ours(), &params(), &new, NBYTES + 32).expect("a chunk");
            assert_eq!(other.update_chunk(at as i64, &chunk), Ok(copied.len() as i64), "{what}");
            copied[at] = new;
        }
        check(&copy, &copied, &format!("{what}, updates"));
        for step in 0..6 {
            change(&other, &mut copied, &mut random, 1_000 + 20 * round + step);
            // Reading a directory takes two thousand system calls and more.
            if store == Store::Directory && step % 3 != 2 {
                continue;
            }
            let second = scratch.new_path();
            files::copy(&copy, &second);
            check(&second, &copied, &format!("{what}, {} makes change {step}", next.name));
            files::remove(&second);
        }
        drop(other);
        check(&copy, &copied, &format!("{what}, closed by {}", next.name));
        files::remove(&copy);
    }
    assert!(max_pages >= 2, "{store:?}: {max_pages} pages");
    // SAFETY: as above.
    unsafe { std::env::set_var("BLOSC2_DURABILITY", "kill") };
    drop(schunk);
    assert_eq!(pages(&path), [], "{store:?}: pages of a closed frame");
    check(&path, &contents, "closed");
    report(&format!("{} chunks, {max_pages} pages", contents.len()));
}
