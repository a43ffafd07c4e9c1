//! Frames that other data follow in their file: another frame of `blosc2_schunk_append_file`, or the rest of an archive.
//! C-Blosc2 overwrites and cuts off these data with every change (frame.md 9).

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use crate::checks::ours;
use crate::schunk_fixtures::{compress_chunk, int32_bytes, int32_params, numbered_data, schunk_with_chunks};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Special, special_chunk};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::user_back_ends::{self, Counters, FILLING_BACK_END};

/// A change; returns whether it succeeded.
type Change = fn(&Array) -> bool;

/// Changes of an array of [`make_frame`].
const CHANGES: [(&str, Change); 12] = [
    ("append", |array| array.schunk().append(&numbered_items(5)).is_ok()),
    ("insert", |array| array.schunk().insert_chunk(0, &compress_chunk(&numbered_items(5))).is_ok()),
    ("update, longer", |array| array.schunk().update_chunk(0, &compress_chunk(&numbered_items(5))).is_ok()),
    ("update with zeros", |array| {
        let zeros = special_chunk(ours(), &int32_params(), Special::Zeros, 1000, 32).expect("a chunk");
        array.schunk().update_chunk(0, &zeros).is_ok()
    }),
    ("delete", |array| array.schunk().delete_chunk(0).is_ok()),
    ("reorder", |array| array.schunk().reorder(&[3, 2, 1, 0]) >= 0),
    ("one item", |array| array.set(&[3], &[4], &[1; 4]) >= 0),
    ("resize", |array| array.resize(&[1500], None) >= 0),
    ("vlmeta of the same length", |array| array.schunk().vlmeta_update("name", b"y") >= 0),
    ("longer vlmeta", |array| array.schunk().vlmeta_update("name", &[7; 50]) >= 0),
    ("delete a vlmeta", |array| array.schunk().vlmeta_delete("name") >= 0),
    ("meta", |array| {
        let schunk = array.schunk();
        let content = schunk.meta_get("b2nd").expect("a metalayer");
        schunk.meta_update("b2nd", &content) >= 0
    }),
];

/// Returns 250 items.
fn numbered_items(number: i32) -> Vec<u8> {
    int32_bytes((0..250).map(|i| i * number * 77_777))
}

/// Returns a frame with an array of 1000 items in 4 chunks.
fn make_frame(number: i32) -> Vec<u8> {
    let items = int32_bytes((0..1000).map(|i| number * 1_000_000 + i * 3));
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let spec = ArraySpec::new(&[1000], &[250], &[250], 4).with_store(Store::File, &path);
    let array = spec.create_from_buffer(ours(), &items);
    assert_eq!(array.schunk().vlmeta_add("name", b"x"), 0);
    drop(array);
    fs::read(&path).expect("a frame")
}

/// Makes each change of a frame at byte `base` of a file, which must fail and leave the file as it was if
/// `is_refused`.
fn change_in_file(base: usize, file: &[u8], is_refused: bool) {
    let scratch = ScratchDir::new();
    for (name, change) in CHANGES {
        let path = scratch.new_path();
        fs::write(&path, file).expect("a file");
        let array = Array::open_offset(ours(), &path, base as i64).1.expect("an array");
        assert_eq!(change(&array), !is_refused, "{name}, frame at {base}");
        drop(array);
        let is_unchanged = fs::read(&path).expect("a file") == file;
        assert!(is_unchanged || !is_refused, "{name}, frame at {base}: the file has changed");
        assert!(Array::open_offset(ours(), &path, base as i64).1.is_some(), "{name}: does not open");
    }
}

#[test]
fn frame_9_a_frame_that_another_one_follows_is_not_changed() {
    let frames: Vec<Vec<u8>> = (0..3).map(make_frame).collect();
    let file = frames.concat();
    change_in_file(0, &file, true);
    change_in_file(frames[0].len(), &file, true);
    change_in_file(frames[0].len() + frames[1].len(), &file, false);
}

#[test]
fn frame_9_a_frame_in_an_archive_is_not_changed() {
    let (frame, local_header) = (make_frame(1), [b"PK\x03\x04\x14\0", &[0; 24][..]].concat());
    let directory = [b"PK\x01\x02\x14\0\x14\0", &[0; 38][..], b"PK\x05\x06", &[0; 18][..]].concat();
    let file = [&local_header[..], &frame, &directory].concat();
    change_in_file(local_header.len(), &file, true);
}

/// The bytes behind a frame that are remains of its own changes do not prevent a change: those of a change that made the
/// frame shorter and was killed before the file was cut off.
#[test]
fn frame_9_a_frame_with_remains_of_its_own_changes_is_changed() {
    let (frame, longer) = (make_frame(1), make_frame(77));
    for kept in [1, 20, 100, 1000] {
        let rest = &longer[longer.len() - kept..];
        change_in_file(0, &[&frame[..], rest].concat(), false);
    }
}

/// A back-end of the program may give no size, or a size that is too large: C-Blosc2 does not request that of a frame.
#[test]
fn frame_5_2_the_size_of_a_back_end_does_not_prevent_changes() {
    user_back_ends::register(ours());
    let scratch = ScratchDir::new();
    for stated_size in [0, -1, 1 << 40] {
        let (path, counters) = (scratch.new_path(), Counters::default());
        let io = user_back_ends::io(FILLING_BACK_END, &counters);
        let schunk = SuperChunk::try_create(ours(), Store::File, &path, &int32_params(), Some(&io));
        let schunk = schunk.expect("a super-chunk");
        schunk.append(&numbered_data(0)).expect("appended");
        counters.stated_size.store(stated_size, Relaxed);
        assert_eq!(schunk.append(&numbered_data(1)), Ok(2), "{stated_size}");
        assert_eq!(schunk.decompress(1), Ok(numbered_data(1)), "{stated_size}");
        counters.stated_size.store(0, Relaxed);
    }
}

/// A frame appended to a file while another handle has the first frame of the file open.
#[test]
fn frame_9_a_frame_is_appended_behind_an_open_one() {
    let scratch = ScratchDir::new();
    let (path, other) = (scratch.new_path(), scratch.new_path());
    let open = schunk_with_chunks(Store::File, &path, 3);
    drop(open);
    let open = SuperChunk::open(ours(), &path).expect("a super-chunk");
    assert_eq!(open.decompress(0), Ok(numbered_data(0)));
    let appended = schunk_with_chunks(Store::File, &other, 2).append_file(&path).expect("appended");
    let before = fs::read(&path).expect("a file");
    assert!(open.append(&numbered_data(9)).is_err(), "an append to a frame that another one follows");
    drop(open);
    assert!(fs::read(&path).expect("a file") == before, "the file has changed");
    assert_eq!(second_chunk(&path, appended), Ok(numbered_data(1)));
}

fn second_chunk(path: &Path, offset: i64) -> Result<Vec<u8>, i32> {
    SuperChunk::open_offset(ours(), path, offset).expect("a super-chunk").decompress(1)
}
