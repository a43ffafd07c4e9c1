//! Randomly changed frames: neither function crashes, hangs, changes the source, or needs much more memory than the files;
//! a frame that a repair makes is whole.

use super::full_read::FullRead;
use super::{files_at, remove, write_frame};
use crate::frames::fields::Files;
use crate::frames::mutation::mutate;
use crate::frames::originals::{Original, originals};
use crate::frames::{Form, describe};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::mutants::{MutantTest, Mutants};
use crate::support::random::Random;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::verify::{repair, verify};
use crate::support::watchdog;

const MUTANT_TEST: MutantTest =
    MutantTest { prefix: "BLOSC2_REPAIR_MUTANT", seed: 23, mutants: 3000, forms: 2 };

/// The largest frame, in uncompressed bytes, that is read completely.
const MAX_FULL_READ: i64 = 1 << 20;

struct Cases {
    originals: Vec<Original>,
}

/// Returns whether all chunks and metalayers can be read without exhausting the memory.
fn is_small(schunk: &SuperChunk) -> bool {
    let nbytes_of =
        |chunk: &[u8]| chunk.get(4..8).map_or(0, |nbytes| i32::from_le_bytes(nbytes.try_into().expect("4")));
    let vlmetalayers = schunk.raw_vlmetalayers();
    let largest = vlmetalayers.iter().map(|(_, chunk)| i64::from(nbytes_of(chunk))).max().unwrap_or(0);
    schunk.nbytes() <= MAX_FULL_READ && largest <= MAX_FULL_READ
}

/// Overwrites a range of one file with zeros, random bytes, or bytes of another place.
fn overwrite(random: &mut Random, files: &mut Files) {
    let names: Vec<String> = files.keys().cloned().collect();
    let Some(bytes) = files.get_mut(random.pick(&names)).filter(|bytes| !bytes.is_empty()) else { return };
    let at = random.below(bytes.len());
    let len = (1 + random.below(400)).min(bytes.len() - at);
    match random.below(3) {
        0 => bytes[at..at + len].fill(0),
        1 => {
            let from = random.below(bytes.len() - len + 1);
            bytes.copy_within(from..from + len, at);
        }
        _ => {
            let new = random.bytes(len);
            bytes[at..at + len].copy_from_slice(&new);
        }
    }
}

impl Mutants for Cases {
    /// The index of the original, and the bytes.
    type Mutant = (usize, Files);

    fn draw(&self, random: &mut Random) -> Self::Mutant {
        let which = random.below(self.originals.len());
        let original = &self.originals[which];
        let mut files = original.files.clone();
        for _ in 0..*random.pick(&[1, 1, 1, 2, 2, 3, 5]) {
            match random.below(4) {
                0 => overwrite(random, &mut files),
                _ => mutate(random, original, &mut files),
            }
        }
        (which, files)
    }

    fn size(&self, (_, files): &Self::Mutant) -> usize {
        files.values().map(Vec::len).sum()
    }

    fn run(&mut self, _: &mut Random, (_, files): &Self::Mutant) {
        let scratch = ScratchDir::new();
        let path = write_frame(&scratch, files);
        let (count, reports) = verify(&path);
        assert!(count < 0 || count == reports.len() as i64, "{count}: {reports:?}");
        watchdog::record_step();
        if let Some(schunk) = SuperChunk::open(Library::ours(), &path)
            && count == 0
            && is_small(&schunk)
        {
            drop(schunk);
            assert!(FullRead::of(Library::ours(), &path).is_some_and(|read| read.is_whole()), "no full read");
        }
        watchdog::record_step();
        let saved = scratch.new_path();
        let (saved_chunks, repair_reports) = repair(&path, &saved);
        assert_eq!(files_at(&path), *files, "the source was changed");
        assert_eq!(saved.exists(), saved_chunks >= 0, "{saved_chunks}: {repair_reports:?}");
        if saved_chunks >= 0 {
            watchdog::record_step();
            let (_, left) = verify(&saved);
            assert!(left.is_empty(), "{left:?} after {repair_reports:?}");
            let opened = SuperChunk::open(Library::ours(), &saved).expect("a repaired frame");
            assert!(opened.nchunks() >= saved_chunks, "{saved_chunks} of {}", opened.nchunks());
            drop(opened);
            remove(&saved);
        }
        assert!(std::fs::read_dir(scratch.path()).expect("a directory").count() == 1, "temporary files");
    }

    fn describe(&self, (original, files): &Self::Mutant) -> String {
        describe(&self.originals[*original], files)
    }
}

fn run_in_children(name: &str, form: Form) {
    MUTANT_TEST.run(name, form, form as u64, || Cases { originals: originals(form) });
}

#[test]
fn damaged_files_are_checked_and_repaired() {
    run_in_children(test_name!(), Form::File);
}

#[test]
fn damaged_directories_are_checked_and_repaired() {
    run_in_children(test_name!(), Form::Directory);
}
