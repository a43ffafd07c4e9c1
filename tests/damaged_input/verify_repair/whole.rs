//! Frames without damage: nothing is reported, and a repair copies everything.

use std::fs;
use std::path::PathBuf;

use super::full_read::FullRead;
use super::{FORMS, files_at, write_frame};
use crate::frames::originals::{Original, originals};
use crate::support::all_libraries;
use crate::support::array::ArraySpec;
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{repair, verify, verify_at};

/// Returns the originals that can be read. The C library makes some that cannot: special chunks in a frame whose chunks
/// became different in size (frame.md 9.1).
fn whole_originals(scratch: &ScratchDir) -> Vec<(PathBuf, Original)> {
    let originals = FORMS.into_iter().flat_map(originals);
    let with_path = originals.map(|original| (write_frame(scratch, &original.files), original));
    let is_whole = |(path, _): &(PathBuf, Original)| {
        FullRead::of(Library::ours(), path).is_some_and(|read| read.is_whole())
    };
    let (whole, others): (Vec<_>, Vec<_>) = with_path.partition(is_whole);
    assert!(others.iter().all(|(_, original)| original.name == "fill of reference"));
    whole
}

#[test]
pub fn frames_of_both_libraries_have_no_damage() {
    let scratch = ScratchDir::new();
    for (path, original) in whole_originals(&scratch) {
        assert_eq!(verify(&path), (0, vec![]), "{}", original.name);
        assert_eq!(verify_at(&path, 0, 3), (0, vec![]), "{} with three threads", original.name);
    }
}

#[test]
pub fn the_repair_of_a_whole_frame_has_the_same_content() {
    let scratch = ScratchDir::new();
    for (path, original) in whole_originals(&scratch) {
        let saved = scratch.new_path();
        let nchunks = original.offsets.len() as i64;
        assert_eq!(repair(&path, &saved), (nchunks, vec![]), "{}", original.name);
        assert_eq!(verify(&saved), (0, vec![]), "{}", original.name);
        assert_eq!(files_at(&path), original.files, "{}: the source", original.name);
        assert_eq!(saved.is_dir(), path.is_dir());
        for library in all_libraries() {
            let (before, after) = (FullRead::of(library, &path), FullRead::of(library, &saved));
            let name = library.name;
            assert!(before.as_ref().is_some_and(FullRead::is_whole), "{name}: {}", original.name);
            assert_eq!(before, after, "{name}: {}", original.name);
        }
    }
}

/// Returns one array of each kind, in this store.
fn arrays(library: &'static Library, scratch: &ScratchDir, store: Store) -> Vec<PathBuf> {
    let specs = [
        ArraySpec::new(&[40, 60], &[10, 30], &[5, 10], 4),
        ArraySpec::new(&[7], &[3], &[2], 8),
        ArraySpec::new(&[], &[], &[], 4),
        ArraySpec::new(&[3, 0, 5], &[2, 0, 5], &[1, 0, 2], 2),
        ArraySpec::new(&[20, 3, 11], &[7, 2, 4], &[3, 2, 4], 1),
    ];
    let mut paths = Vec::new();
    for spec in specs {
        let items: Vec<u8> = (0..spec.nbytes()).map(|n| (n * 7 % 251) as u8).collect();
        let filled = scratch.new_path();
        drop(spec.clone().with_store(store, &filled).create_from_buffer(library, &items));
        let zeros = scratch.new_path();
        drop(spec.with_store(store, &zeros).zeros(library));
        paths.extend([filled, zeros]);
    }
    paths
}

#[test]
pub fn arrays_have_no_damage_and_stay_arrays() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in Store::ON_DISK {
            for path in arrays(library, &scratch, store) {
                assert_eq!(verify(&path), (0, vec![]), "{}: {}", library.name, path.display());
                let saved = scratch.new_path();
                let (count, reports) = repair(&path, &saved);
                assert!(count >= 0 && reports.is_empty(), "{count} {reports:?}");
                assert_eq!(FullRead::of(library, &path), FullRead::of(library, &saved));
                let (code, array) = crate::support::array::Array::open(library, &saved);
                assert!(array.is_some(), "{}: code {code}", library.name);
            }
        }
    }
}

#[test]
pub fn a_frame_inside_another_file_is_checked_at_its_offset() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        let path = scratch.new_path();
        fs::write(&path, [0xAB; 77]).expect("a file");
        let mut offsets = Vec::new();
        for seed in 0..3u8 {
            let params = Params { typesize: 4, ..Params::default() };
            let schunk = SuperChunk::create(library, Store::MemoryFrame, &path, &params);
            for n in 0..4u8 {
                schunk.append(&[seed ^ n ^ 0x55, n, 3, 4].repeat(50)).expect("appended");
            }
            assert_eq!(schunk.vlmeta_add("name", b"some content"), 0);
            offsets.push(schunk.append_file(&path).expect("appended"));
        }
        for &offset in &offsets {
            assert_eq!(verify_at(&path, offset, 0), (0, vec![]), "{}: offset {offset}", library.name);
        }
        let mut bytes = fs::read(&path).expect("a file");
        let chunk_at = offsets[1] as usize + 97;
        bytes[chunk_at + 12] ^= 0xFF;
        fs::write(&path, bytes).expect("a file");
        let (count, reports) = verify_at(&path, offsets[1], 0);
        assert_eq!((count, reports[0].part, reports[0].nchunk), (1, super::PART_CHUNK, 0));
        assert_eq!(reports[0].offset, chunk_at as i64, "the offset in the file");
        assert_eq!(verify_at(&path, offsets[2], 0), (0, vec![]));
    }
}
