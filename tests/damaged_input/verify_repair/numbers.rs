//! Chunks keep their numbers when the header is lost, when bytes are inserted or missing, and when the file is cut off:
//! each chunk has its own content, or is zeros and reported; a number that is uncertain is reported.

use std::fs;
use std::path::{Path, PathBuf};

use super::full_read::FullRead;
use super::{PART_CHUNK, PART_INDEX};
use crate::frames::fields::HEADER_LEN;
use crate::support::calls::Params;
use crate::support::child::{in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{Damage, repair, verify};

const NCHUNKS: usize = 7;
/// Length of a chunk, which does not compress, in the file.
const CHUNK_LEN: usize = NBYTES + 32;
const NBYTES: usize = 800;

/// Makes a frame of chunks of equal length.
fn make(scratch: &ScratchDir) -> (PathBuf, Vec<Vec<u8>>) {
    let path = scratch.new_path();
    let schunk =
        SuperChunk::create(Library::ours(), Store::File, &path, &Params { typesize: 8, ..Params::default() });
    let mut random = Random::new(40);
    let contents: Vec<Vec<u8>> = (0..NCHUNKS).map(|_| random.bytes(NBYTES)).collect();
    for content in &contents {
        schunk.append(content).expect("appended");
    }
    (path, contents)
}

/// The result of a repair: the number of saved chunks, the reports, and the contents.
struct Repaired {
    saved: i64,
    reports: Vec<Damage>,
    contents: Vec<Vec<u8>>,
}

impl Repaired {
    fn of(path: &Path, scratch: &ScratchDir) -> Repaired {
        let destination = scratch.new_path();
        let (saved, reports) = repair(path, &destination);
        assert!(saved >= 0, "code {saved}");
        assert_eq!(verify(&destination), (0, vec![]));
        let read = FullRead::of(Library::ours(), &destination).expect("a frame");
        let contents = read.contents().into_iter().cloned().collect();
        Repaired { saved, reports, contents }
    }

    /// Checks that the chunks `lost` are zeros and reported, and that the others have their contents.
    fn assert_lost(&self, what: &str, expected: &[Vec<u8>], lost: &[usize]) {
        assert_eq!(self.contents.len(), expected.len(), "{what}: {:?}", self.reports);
        for (n, (found, expected)) in self.contents.iter().zip(expected).enumerate() {
            let is_lost = lost.contains(&n);
            let wanted = if is_lost { &vec![0; NBYTES] } else { expected };
            let is_reported = self.reports.iter().any(|damage| damage.nchunk == n as i64);
            assert!(found == wanted && is_reported == is_lost, "{what}: chunk {n}, {:?}", self.reports);
        }
        assert_eq!(self.saved as usize, expected.len() - lost.len(), "{what}");
    }

    fn has_uncertain_numbers(&self) -> bool {
        self.reports.iter().any(|damage| damage.part == PART_INDEX && damage.message.contains("uncertain"))
    }
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a frame");
    change(&mut bytes);
    fs::write(path, bytes).expect("a frame");
}

#[test]
pub fn chunks_keep_their_numbers_without_the_header() {
    let scratch = ScratchDir::new();
    for (fill, len) in [(0, 97), (0, 100), (255, 110), (0, 97 + CHUNK_LEN), (1, 90)] {
        let (path, contents) = make(&scratch);
        change(&path, |bytes| bytes[..len].fill(fill));
        let lost: &[usize] = if len > 97 { &[0] } else { &[] };
        Repaired::of(&path, &scratch).assert_lost(&format!("{len} bytes"), &contents, lost);
    }
    let (path, contents) = make(&scratch);
    change(&path, |bytes| {
        bytes[..100].fill(0);
        let last = 97 + (NCHUNKS - 1) * CHUNK_LEN;
        bytes[last..last + 40].fill(0);
    });
    Repaired::of(&path, &scratch).assert_lost("first and last chunk", &contents, &[0, NCHUNKS - 1]);
}

#[test]
fn checksums_give_the_numbers() {
    in_new_process_with(test_name!(), &[("BLOSC2_CHECKSUMS", "on")], || {
        chunks_keep_their_numbers_without_the_header();
        chunks_around_inserted_and_missing_bytes_keep_their_numbers();
        let scratch = ScratchDir::new();
        let (path, contents) = make(&scratch);
        change(&path, |bytes| {
            let index = 97 + NCHUNKS * CHUNK_LEN;
            bytes[index..index + 32].fill(0);
            bytes[97 + 2 * CHUNK_LEN..][..9].fill(1);
        });
        let repaired = Repaired::of(&path, &scratch);
        repaired.assert_lost("index and a chunk", &contents, &[2]);
        assert!(!repaired.has_uncertain_numbers());
    });
}

#[test]
fn numbers_without_header_and_index_are_reported_as_uncertain() {
    let scratch = ScratchDir::new();
    let (path, contents) = make(&scratch);
    change(&path, |bytes| {
        bytes[..100].fill(0);
        let index = 97 + NCHUNKS * CHUNK_LEN;
        bytes[index..index + 32].fill(0);
    });
    let repaired = Repaired::of(&path, &scratch);
    assert!(repaired.has_uncertain_numbers(), "{:?}", repaired.reports);
    assert_eq!(repaired.contents, contents[1..]);
}

#[test]
pub fn chunks_around_inserted_and_missing_bytes_keep_their_numbers() {
    let scratch = ScratchDir::new();
    for inserted in [1, 512, CHUNK_LEN, 2 * CHUNK_LEN, 5000] {
        for (n, within) in [(0, 0), (3, 0), (3, 17), (6, 5)] {
            let (path, contents) = make(&scratch);
            let at = HEADER_LEN.get(&fs::read(&path).expect("a frame")) as usize + n * CHUNK_LEN + within;
            change(&path, |bytes| drop(bytes.splice(at..at, vec![0xEE; inserted])));
            let lost = if within > 0 { vec![n] } else { vec![] };
            let what = format!("{inserted} bytes in chunk {n}");
            Repaired::of(&path, &scratch).assert_lost(&what, &contents, &lost);
        }
    }
    let (path, contents) = make(&scratch);
    change(&path, |bytes| drop(bytes.drain(97 + 2 * CHUNK_LEN + 5..97 + 3 * CHUNK_LEN + 20)));
    Repaired::of(&path, &scratch).assert_lost("missing bytes", &contents, &[2, 3]);
}

#[test]
fn each_chunk_behind_the_end_of_a_truncated_file_is_reported() {
    let scratch = ScratchDir::new();
    for kept in 0..NCHUNKS {
        let (path, contents) = make(&scratch);
        change(&path, |bytes| bytes.truncate(97 + kept * CHUNK_LEN + 60));
        let lost: Vec<usize> = (kept..NCHUNKS).collect();
        let repaired = Repaired::of(&path, &scratch);
        repaired.assert_lost(&format!("{kept} chunks are left"), &contents, &lost);
        assert!(repaired.has_uncertain_numbers());
        assert!(repaired.reports.iter().any(|damage| damage.part == PART_CHUNK && damage.nchunk == -1));
    }
}
