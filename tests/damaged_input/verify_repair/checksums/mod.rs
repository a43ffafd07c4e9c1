//! Frames with checksums (`BLOSC2_CHECKSUMS=on`, frame.md 2.14): a part with another checksum is damaged, and a
//! repaired frame has checksums. `BLOSC2_FLIPS` is the number of flipped bits for each codec, store and region.

mod flips;
mod regions;

use std::fs;
use std::path::Path;

use super::full_read::FullRead;
use super::{PART_CHUNK, PART_INDEX, files_at, flips as changed_bytes, interrupted, lost_parts, whole};
use crate::support::calls::Params;
use crate::support::child::{in_new_process_with, test_name};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::system::set_variable;
use crate::support::verify::{repair, verify};
use regions::{Home, NBYTES, NCHUNKS, Region, Sample, fill, has_flag};

/// The environment variable that the library reads when it creates, opens, checks or repairs a frame.
const CHECKSUMS: &str = "BLOSC2_CHECKSUMS";
/// The codecs: BloscLZ, LZ4, LZ4HC, zlib, Zstandard.
const CODECS: [u8; 5] = [0, 1, 2, 4, 5];

/// Runs a test of another module in a process that writes checksums.
fn with_checksums(test: &str) {
    in_new_process_with(test, &[(CHECKSUMS, "on")], || unreachable!("a test of another module"));
}

#[test]
fn whole_frames_with_checksums_have_no_damage() {
    with_checksums(test_name!(whole::frames_of_both_libraries_have_no_damage));
    with_checksums(test_name!(whole::the_repair_of_a_whole_frame_has_the_same_content));
    with_checksums(test_name!(whole::arrays_have_no_damage_and_stay_arrays));
    with_checksums(test_name!(whole::a_frame_inside_another_file_is_checked_at_its_offset));
}

#[test]
fn changed_bytes_of_frames_with_checksums_are_reported_if_a_full_read_finds_them() {
    with_checksums(test_name!(changed_bytes::one_changed_byte_is_reported_if_a_full_read_finds_it));
}

#[test]
fn frames_with_checksums_that_lost_a_part_are_repaired() {
    with_checksums(test_name!(lost_parts::chunks_are_found_without_the_index));
    with_checksums(test_name!(
        lost_parts::chunks_and_variable_length_metalayers_are_saved_without_the_header
    ));
    with_checksums(test_name!(lost_parts::everything_else_is_saved_without_the_trailer));
    with_checksums(test_name!(lost_parts::wrong_numbers_in_the_header_are_corrected));
    with_checksums(test_name!(interrupted::an_interrupted_append_loses_no_old_chunk));
}

/// Makes a change with the C library, which removes the checksums or leaves a table that is no longer right.
fn change(schunk: &SuperChunk, n: usize) {
    let content = Random::new(7).bytes(NBYTES);
    let chunk = schunk.get_chunk(1).expect("a chunk");
    match n {
        0 => drop(schunk.append(&content).expect("appended")),
        1 => drop(schunk.update_chunk(2, &chunk).expect("updated")),
        2 => drop(schunk.delete_chunk(0).expect("deleted")),
        3 => drop(schunk.insert_chunk(1, &chunk).expect("inserted")),
        4 => assert_eq!(schunk.reorder(&[1, 0, 2, 3, 4, 5]), 0),
        5 => assert!(schunk.meta_update("fixed", &content[..40]) >= 0),
        6 => assert!(schunk.vlmeta_update("note", b"another text") >= 0),
        _ => assert!(schunk.vlmeta_delete("note") >= 0),
    }
}

/// Number of the changes that [`change`] makes.
const CHANGES: usize = 8;

#[test]
fn frames_that_the_c_library_has_changed_have_no_damage() {
    let Some(reference) = Library::reference() else { return };
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let scratch = ScratchDir::in_memory();
        for store in Store::ON_DISK {
            for n in 0..CHANGES {
                let path = scratch.new_path();
                let params = Params { typesize: 4, ..Params::default() };
                fill(&SuperChunk::create(Library::ours(), store, &path, &params));
                assert!(has_flag(&path));
                change(&SuperChunk::open(reference, &path).expect("a frame"), n);
                assert_eq!(verify(&path), (0, vec![]), "{store:?}, change {n}");
                let saved = scratch.new_path();
                let read = FullRead::of(reference, &path).expect("a frame");
                assert_eq!(
                    repair(&path, &saved),
                    (read.chunks.len() as i64, vec![]),
                    "{store:?}, change {n}"
                );
                assert!(has_flag(&saved) && verify(&saved) == (0, vec![]), "{store:?}, change {n}");
                for library in [reference, Library::ours()] {
                    assert!(FullRead::of(library, &saved).as_ref() == Some(&read), "{store:?}, change {n}");
                }
            }
        }
    });
}

/// A header with the flag before a trailer without a root was not written by this library: it has no table, for readers
/// and for both functions.
#[test]
fn a_flag_without_a_root_is_no_table() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let scratch = ScratchDir::in_memory();
        for home in [Home::File, Home::Directory] {
            let mut sample = Sample::make(home, 0, &scratch);
            let spot = sample.spots(Region::TrailerEnd).remove(0);
            let frame = sample.files.get_mut(&spot.name).expect("a file");
            frame[spot.range.end - 17..spot.range.end].fill(0);
            let path = sample.write(&sample.files, &scratch);
            assert!(has_flag(&path));
            assert_eq!(verify(&path), (0, vec![]));
            assert_eq!(FullRead::of(Library::ours(), &path).as_ref(), Some(&sample.read));
            assert_eq!(repair(&path, &scratch.new_path()), (NCHUNKS as i64, vec![]));
        }
    });
}

/// Flips a bit in the payload of a chunk that is stored uncompressed: only its checksum shows it. Returns the number of
/// the chunk.
fn damage_stored_chunk(sample: &mut Sample) -> i64 {
    let spot = sample.spots(Region::Payload).remove(0);
    let is_stored = spot.range.len() == NBYTES;
    assert!(is_stored, "chunk 0 is compressed");
    sample.files.get_mut(&spot.name).expect("a file")[spot.range.start + 1000] ^= 0x10;
    spot.nchunk
}

#[test]
fn a_stored_chunk_with_a_flipped_bit_is_not_saved() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let scratch = ScratchDir::in_memory();
        for home in [Home::File, Home::Directory] {
            let mut sample = Sample::make(home, 0, &scratch);
            let damaged = damage_stored_chunk(&mut sample);
            let path = sample.write(&sample.files, &scratch);
            let saved = scratch.new_path();
            for (count, reports) in [verify(&path), repair(&path, &saved)] {
                assert_eq!(reports.len(), 1, "{count} {reports:?}");
                assert_eq!((reports[0].part, reports[0].nchunk, reports[0].cause), (PART_CHUNK, damaged, -3));
            }
            let read = FullRead::of(Library::ours(), &saved).expect("a frame");
            for (n, (after, before)) in read.contents().iter().zip(sample.read.contents()).enumerate() {
                let is_damaged = n as i64 == damaged;
                assert!(if is_damaged { after.iter().all(|&byte| byte == 0) } else { *after == before });
            }
        }
    });
}

/// Checks one frame with each value of the variable.
fn check_modes(sample: &Sample, path: &Path, scratch: &ScratchDir) {
    for (mode, count) in [("off", 0), ("verify", 1), ("on", 1)] {
        // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
        unsafe { set_variable(CHECKSUMS, Some(mode)) };
        assert_eq!(verify(path).0, count, "{mode}");
        let saved = scratch.new_path();
        let (saved_chunks, reports) = repair(path, &saved);
        assert_eq!((saved_chunks, reports.len() as i64), (NCHUNKS as i64 - count, count), "{mode}");
        assert_eq!(has_flag(&saved), mode == "on", "{mode}");
        let has_damaged_chunk = || {
            let read = FullRead::of(Library::ours(), &saved).expect("a frame");
            let is_whole = |chunk: &&Vec<u8>| {
                chunk.iter().all(|&byte| byte == 0) || sample.read.contents().contains(chunk)
            };
            !read.contents().iter().all(is_whole)
        };
        assert_eq!(has_damaged_chunk(), mode == "off", "{mode}");
        super::remove(&saved);
        let copy = super::write_frame(scratch, &files_at(path));
        let main = if copy.is_dir() { copy.join("chunks.b2frame") } else { copy.clone() };
        let mut bytes = fs::read(&main).expect("a file");
        bytes[..87].fill(0xFF);
        fs::write(&main, bytes).expect("written");
        let (saved_chunks, reports) = repair(&copy, &saved);
        let least = NCHUNKS as i64 - count - 1;
        assert!(saved_chunks >= least, "{mode}, without header: {saved_chunks} {reports:?}");
        assert_eq!(has_damaged_chunk(), mode == "off", "{mode}, without header");
    }
}

/// With `off`, checksums are ignored; only with `on`, a repaired frame gets some.
#[test]
fn the_variable_decides_about_the_use_of_checksums() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let scratch = ScratchDir::in_memory();
        for home in [Home::File, Home::Directory] {
            // SAFETY: as in `check_modes`.
            unsafe { set_variable(CHECKSUMS, Some("on")) };
            let mut sample = Sample::make(home, 0, &scratch);
            damage_stored_chunk(&mut sample);
            let path = sample.write(&sample.files, &scratch);
            check_modes(&sample, &path, &scratch);
        }
    });
}

/// A frame that was not closed after atomic changes has a gap before the index, and padding between index and table.
#[test]
fn frames_that_were_not_closed_are_checked() {
    let variables = [(CHECKSUMS, "on"), ("BLOSC2_DURABILITY", "kill")];
    in_new_process_with(test_name!(), &variables, || {
        let scratch = ScratchDir::in_memory();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let params = Params { typesize: 4, ..Params::default() };
            let schunk = SuperChunk::create(Library::ours(), store, &path, &params);
            fill(&schunk);
            for n in 0..10 {
                let chunk = schunk.get_chunk(n % 2).expect("a chunk");
                schunk.update_chunk(2 - n % 2, &chunk).expect("updated");
                assert_eq!(verify(&path), (0, vec![]), "{store:?}, update {n}");
            }
            let copy = super::write_frame(&scratch, &files_at(&path));
            let read = FullRead::of(Library::ours(), &path).expect("a frame");
            drop(schunk);
            let saved = scratch.new_path();
            assert_eq!(repair(&copy, &saved), (NCHUNKS as i64, vec![]), "{store:?}");
            assert_eq!(FullRead::of(Library::ours(), &saved).as_ref(), Some(&read), "{store:?}");
            let main = if copy.is_dir() { saved.join("chunks.b2frame") } else { saved.clone() };
            let flags = fs::read(main).expect("a file")[regions::FLAGS_AT];
            assert_eq!(flags, regions::FLAG, "{store:?}: the repaired frame has no gap");
        }
    });
}

/// Two entries with the same place: only the chunk whose checksum differs is damaged.
#[test]
fn an_entry_that_points_to_another_chunk_is_damaged() {
    in_new_process_with(test_name!(), &[(CHECKSUMS, "on")], || {
        let scratch = ScratchDir::in_memory();
        for home in [Home::File, Home::Directory] {
            let mut sample = Sample::make(home, 0, &scratch);
            let spot = sample.spots(Region::Index).remove(0);
            assert_eq!(spot.range.len(), 32 + 8 * NCHUNKS, "the index is compressed");
            let entries = spot.range.start + 32;
            let file = sample.files.get_mut(&spot.name).expect("a file");
            file.copy_within(entries + 8..entries + 16, entries + 16);
            let path = sample.write(&sample.files, &scratch);
            let (count, reports) = verify(&path);
            let found: Vec<_> = reports.iter().map(|damage| (damage.part, damage.nchunk)).collect();
            assert_eq!((count, &found[..]), (2, &[(PART_INDEX, -1), (PART_CHUNK, 2)][..]), "{reports:?}");
        }
    });
}
