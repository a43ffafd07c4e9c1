//! Frames with checksums (frame.md 2.14): `BLOSC2_CHECKSUMS=on`.
//!
//! Our library and the releases of C-Blosc2 change the same frames in turn; flipped bits are never read as data.
//! `BLOSC2_FLIPS` is the number of flipped bits for each codec and region (default 100).

mod blocks;
mod flips;
mod pages;
mod unusual_files;

use std::fs;
use std::path::{Path, PathBuf};

use crate::levels::{DURABILITY, Level};
use crate::processes::{self, child_part, report};
use crate::releases::library::Release;
use crate::releases::schunk_model::{Change, Model};
use crate::support::child::test_name;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::user_back_ends::{self, Counters, FILLING_BACK_END, POINTING_BACK_END};
use crate::support::{calls::Params, library::Library};

/// The environment variable that the library reads when it creates or opens a super-chunk.
pub const CHECKSUMS: &str = "BLOSC2_CHECKSUMS";
/// The setting of a child that names its [`Store`].
const STORE: &str = "BLOSC2_DURABLE_STORE";
/// The levels at which frames are changed: `Power` makes the same changes as `Kill`.
const LEVELS: [Level; 2] = [Level::Off, Level::Kill];
/// Limit for the duration of a child, in seconds.
const SECONDS_LIMIT: u32 = 600;
/// The number of changes in a round trip.
const CHANGES: usize = 60;
/// The position of the flags of this library in the header, and the flag of the checksums (frame.md 2.14).
const FLAGS_AT: usize = 0x56;
const FLAG: u8 = 1;

/// Runs `open`, which creates or opens frames, with a value of [`CHECKSUMS`].
///
/// # Safety
///
/// No other thread of this process uses the environment.
unsafe fn with_checksums<T>(value: &str, open: impl FnOnce() -> T) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe { std::env::set_var(CHECKSUMS, value) };
    let opened = open();
    // SAFETY: guaranteed by the caller.
    unsafe { std::env::remove_var(CHECKSUMS) };
    opened
}

/// Returns the file with header, index and trailer.
fn index_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("chunks.b2frame") } else { path.to_path_buf() }
}

/// Returns whether the header on disk has the flag of the checksums.
fn has_flag(path: &Path) -> bool {
    fs::read(index_file(path)).expect("a file")[FLAGS_AT] & FLAG != 0
}

/// Runs `checks` in a child, with these environment variables.
fn in_child(test: &str, variables: &[(&str, &str)], checks: impl FnOnce()) {
    if child_part().is_none() {
        println!("{variables:?}: {}", processes::start(test, "checks", variables, SECONDS_LIMIT).join());
        return;
    }
    checks();
}

/// Our library makes random changes, each with a new handle, or all with one.
fn round_trips(store: Store) {
    let scratch = ScratchDir::new();
    let mut random = Random::new(5);
    for handles in [1, CHANGES] {
        let path = scratch.new_path();
        let mut model = Model::create(store, &path);
        assert!(has_flag(&path), "a new frame has no checksums");
        for part in 0..handles {
            let schunk = Release::ours().open_schunk(&path).expect("a super-chunk");
            for n in 0..CHANGES / handles {
                let change = *random.pick(&Change::ALL);
                if !model.can(change) || (change == Change::Delete && model.nchunks() < 6) {
                    continue;
                }
                model.change(&schunk, change, (1000 + part * CHANGES + n) as u64);
                let what = format!("{store:?}, after {change:?}");
                model.check_ours(&path, &what);
                assert!(has_flag(&path), "{what}: no checksums");
            }
            drop(schunk);
            model.check_ours(&path, "closed");
        }
    }
    report("ok");
}

/// A C library makes a change, which removes the checksums; then our library makes one, which adds them.
fn changes_in_turn(store: Store) {
    let scratch = ScratchDir::new();
    let mut count = 0;
    for release in Release::all_others() {
        for change in Change::ALL {
            let path = scratch.new_path();
            let mut model = Model::create(store, &path);
            model.check(release, &path, "with checksums");
            for (round, own) in
                [Change::Append, Change::MetaUpdate, Change::VlmetaUpdate].into_iter().enumerate()
            {
                if !model.can(change) || (change == Change::Delete && model.nchunks() < 6) {
                    continue;
                }
                // Our library has the frame open meanwhile.
                let open = SuperChunk::open(Library::ours(), &path).expect("a super-chunk");
                let seed = 100 * round as u64;
                model.change(&release.open_schunk(&path).expect("a super-chunk"), change, 2000 + seed);
                let what = format!("{store:?}: {} makes {change:?}", release.version);
                assert!(!has_flag(&path), "{what}: the flag is still set");
                model.check_ours(&path, &what);
                for nchunk in 0..model.nchunks() as i64 {
                    assert!(open.decompress(nchunk).is_ok(), "{what}: chunk {nchunk} by an open handle");
                }
                drop(open);
                model.change(&Release::ours().open_schunk(&path).expect("a super-chunk"), own, 3000 + seed);
                let what = format!("{what}, ours {own:?}");
                assert!(has_flag(&path), "{what}: no checksums");
                model.check_ours(&path, &what);
                model.check(release, &path, &what);
                count += 1;
            }
        }
    }
    report(&format!("{count} changes"));
}

/// Two handles of our library change and read a frame in turn. One of the changes replaces a chunk by one of the same length,
/// which leaves the header of a frame that is changed in place as it was.
fn two_handles(store: Store) {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let mut model = Model::create(store, &path);
    let open = || Release::ours().open_schunk(&path).expect("a super-chunk");
    let (first, second) = (open(), open());
    let changes = [Change::UpdateSame, Change::VlmetaUpdate, Change::UpdateSame, Change::MetaUpdate];
    for (n, change) in changes.into_iter().cycle().take(24).enumerate() {
        let reader = open();
        let (writer, other) = if n % 3 == 0 { (&first, &second) } else { (&second, &first) };
        model.change(writer, change, 500 + n as u64);
        for (name, handle) in [("a new", &open()), ("the reading", &reader), ("the other", other)] {
            model.check_chunks(handle, &format!("{store:?}, change {n}, {change:?}: {name} handle"));
        }
        assert!(has_flag(&path));
    }
    report("ok");
}

/// A handle that writes no checksums removes those of the frame; with `verify`, frames that never had some have the same
/// bytes as with `off`.
fn other_modes(store: Store) {
    let scratch = ScratchDir::new();
    // SAFETY: this process runs only this test; the worker threads of the library do not use the environment.
    let write = |mode: &str, path: &Path| unsafe {
        with_checksums(mode, || {
            let mut model = Model::create(store, path);
            let schunk = Release::ours().open_schunk(path).expect("a super-chunk");
            for (n, change) in Change::ALL.into_iter().enumerate() {
                model.change(&schunk, change, 50 + n as u64);
            }
        })
    };
    let bytes = |path: &Path| {
        if path.is_dir() {
            return read_files(path);
        }
        [(String::new(), fs::read(path).expect("a file"))].into()
    };
    let [off, verify, unknown] = ["off", "verify", "unknown"].map(|mode| {
        let path = scratch.new_path();
        write(mode, &path);
        (bytes(&path), has_flag(&path))
    });
    assert!(off == verify, "{store:?}: other bytes without checksums");
    // An unknown value is as none.
    let is_atomic = std::env::var(DURABILITY).is_ok_and(|level| level == Level::Kill.name());
    assert_eq!((unknown.1, unknown.0 == off.0), (is_atomic, !is_atomic), "{store:?}: the default");
    for mode in ["off", "verify"] {
        for change in Change::ALL {
            let path = scratch.new_path();
            // SAFETY: as above.
            let mut model = unsafe { with_checksums("on", || Model::create(store, &path)) };
            assert!(has_flag(&path));
            // SAFETY: as above.
            let schunk = unsafe { with_checksums(mode, || Release::ours().open_schunk(&path)) };
            let schunk = schunk.expect("a super-chunk");
            model.change(&schunk, change, 70);
            let what = format!("{store:?}, {mode}, {change:?}");
            assert_eq!(has_flag(&path), mode == "verify", "{what}: the flag");
            model.check_ours(&path, &what);
            drop(schunk);
            model.check_ours(&path, &what);
        }
    }
    report("ok");
}

/// A frame without checksums gets them with the first change, also when it is in memory; the frame in memory opens and
/// has checksums.
fn frames_in_memory() {
    let scratch = ScratchDir::new();
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), Store::MemoryFrame, &scratch.new_path(), &params);
    let contents: Vec<Vec<u8>> = (0..6).map(|n| Random::new(n).bytes(4000)).collect();
    for content in &contents {
        schunk.append(content).expect("appended");
    }
    assert_eq!(schunk.vlmeta_add("note", b"text"), 0);
    let path = scratch.new_path();
    schunk.to_file(&path).expect("a file");
    assert!(has_flag(&path));
    let mut frame = fs::read(&path).expect("a file");
    let copy = SuperChunk::from_frame_copy(Library::ours(), &mut frame).expect("a super-chunk");
    assert_eq!(copy.contents(), contents.concat());
    for at in (0..frame.len()).step_by(7) {
        let mut damaged = frame.clone();
        damaged[at] ^= 4;
        if let Some(copy) = SuperChunk::from_frame_copy(Library::ours(), &mut damaged) {
            assert_eq!(copy.contents(), contents.concat(), "byte {at}");
        }
    }
    report("ok");
}

/// Frames of registered back-ends have checksums.
fn back_ends() {
    let scratch = ScratchDir::new();
    let library = Library::ours();
    user_back_ends::register(library);
    let params = Params { typesize: 4, ..Params::default() };
    let contents: Vec<Vec<u8>> = (0..6).map(|n| Random::new(n).bytes(4000)).collect();
    let counters = Counters::default();
    for id in [FILLING_BACK_END, POINTING_BACK_END] {
        let io = user_back_ends::io(id, &counters);
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let schunk =
                SuperChunk::try_create(library, store, &path, &params, Some(&io)).expect("a super-chunk");
            for content in &contents {
                schunk.append(content).expect("appended");
            }
            assert_eq!(schunk.vlmeta_add("note", b"text"), 0);
            let chunk = schunk.get_chunk(3).expect("a chunk");
            assert_eq!(schunk.update_chunk(1, &chunk), Ok(6));
            assert_eq!(schunk.delete_chunk(1), Ok(5));
            assert!(has_flag(&path), "back-end {id}, {store:?}");
            drop(schunk);
            let expected = [&contents[..1], &contents[2..]].concat().concat();
            assert_eq!(SuperChunk::open(library, &path).expect("a super-chunk").contents(), expected);
            let reader = SuperChunk::open_udio(library, &path, &io).expect("a super-chunk");
            assert_eq!(reader.contents(), expected);
            drop(reader);
            if store == Store::File {
                flip(&path, 2000);
                let reader = SuperChunk::open_udio(library, &path, &io).expect("a super-chunk");
                assert_eq!(reader.decompress(0), Err(-3), "back-end {id}");
            }
        }
    }
    report("ok");
}

/// Flips a bit of a byte of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("a file");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("written");
}

/// Runs `checks` for files and directories at each of the levels, each in a child with checksums.
fn for_each_store(test: &str, levels: &[Level], checks: fn(Store)) {
    for level in levels {
        for store in Store::ON_DISK {
            let variables = [(CHECKSUMS, "on"), (DURABILITY, level.name()), (STORE, &format!("{store:?}"))];
            in_child(test, &variables, || {
                let name = processes::child_setting(STORE);
                checks(if name == "File" { Store::File } else { Store::Directory });
            });
            if child_part().is_some() {
                return;
            }
        }
    }
}

#[test]
fn every_change_keeps_the_checksums_right() {
    for_each_store(test_name!(), &LEVELS, round_trips);
}

#[test]
fn releases_of_the_c_library_remove_the_checksums() {
    for_each_store(test_name!(), &LEVELS, changes_in_turn);
}

#[test]
fn handles_with_checksums_follow_each_other() {
    for_each_store(test_name!(), &LEVELS, two_handles);
}

#[test]
fn checksums_of_handles_in_other_modes_are_kept_or_removed() {
    for_each_store(test_name!(), &LEVELS, other_modes);
}

#[test]
fn checksums_are_those_of_unusual_bytes() {
    for_each_store(test_name!(), &LEVELS, unusual_files::other_bytes);
}

#[test]
fn checksums_of_a_frame_that_a_killed_writer_has_left() {
    for_each_store(test_name!(), &LEVELS, unusual_files::gap);
}

#[test]
fn frames_in_memory_have_checksums() {
    in_child(test_name!(), &[(CHECKSUMS, "on")], frames_in_memory);
}

#[test]
fn frames_of_registered_back_ends_have_checksums() {
    in_child(test_name!(), &[(CHECKSUMS, "on")], back_ends);
}

#[test]
fn parts_of_long_chunks_are_checked_by_their_units() {
    for_each_store(test_name!(), &[Level::Kill], blocks::run);
}

#[test]
fn frames_with_many_chunks_have_pages_of_checksums() {
    for_each_store(test_name!(), &[Level::Kill], pages::run);
}

#[test]
fn flipped_bits_are_never_read_as_data() {
    // An open frame has a gap at level `kill`, and none at `off`.
    for_each_store(test_name!(), &[Level::Off, Level::Kill], flips::run);
}
