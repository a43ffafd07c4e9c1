//! Changes of frames on disk that fail at any byte, as on a full disk: the call returns an error, and the handle, a
//! new handle and the reference find the state before the change (frame.md 9, schunk.md 25).
//!
//! The size limit of the process for files (`RLIMIT_FSIZE`) makes the writes fail; the limit runs through all
//! positions that a change writes to.

use std::fs;
use std::path::Path;

use crate::checks::ours;
use crate::schunk_fixtures::{assert_chunks, compress_chunk, int32_bytes, int32_params, schunk_state};
use crate::support::calls::{Params, Special, special_chunk};
use crate::support::child::{in_new_process, test_name};
use crate::support::files::with_file_size_limit;
use crate::support::has_atomic_changes;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::{ScratchDir, read_files};
use crate::support::super_chunk::{Store, SuperChunk};

/// All data that a handle returns.
#[derive(PartialEq, Debug)]
struct SchunkContents {
    state: crate::schunk_fixtures::SchunkState,
    chunks: Vec<Result<Vec<u8>, i32>>,
    metalayers: Vec<(Vec<u8>, Vec<u8>)>,
    vlmetalayers: Vec<(Vec<u8>, Vec<u8>)>,
}

fn read_contents(schunk: &SuperChunk) -> SchunkContents {
    let mut state = schunk_state(schunk);
    if has_atomic_changes() {
        // The compressed size and the length of the frame include free space.
        (state.2, state.5) = (0, 0);
    }
    SchunkContents {
        state,
        chunks: (0..schunk.nchunks()).map(|nchunk| schunk.decompress(nchunk)).collect(),
        metalayers: schunk.metalayers(),
        vlmetalayers: schunk.raw_vlmetalayers(),
    }
}

fn open_and_read_contents(library: &'static Library, path: &Path) -> SchunkContents {
    read_contents(
        &SuperChunk::open(library, path).unwrap_or_else(|| panic!("{} cannot open it", library.name)),
    )
}

/// Returns the contents of all files of the store.
fn read_store_files(store: Store, path: &Path) -> Vec<(String, Vec<u8>)> {
    match store {
        Store::Directory => read_files(path).into_iter().collect(),
        _ => vec![(String::new(), fs::read(path).expect("a file"))],
    }
}

fn write_bytes(store: Store, path: &Path, bytes: &[(String, Vec<u8>)]) {
    if store == Store::Directory {
        fs::create_dir(path).expect("a directory");
    }
    for (name, bytes) in bytes {
        let path = if name.is_empty() { path.to_owned() } else { path.join(name) };
        fs::write(path, bytes).expect("a file");
    }
}

/// A change of a super-chunk; returns whether it succeeded.
type Change<'a> = &'a dyn Fn(&SuperChunk) -> bool;

/// Makes `change` fail at every `step`th byte of the files of a super-chunk that `make` filled; returns the number of
/// failures.
fn fail_at_each_position(
    what: &str,
    store: Store,
    step: usize,
    make: &dyn Fn(&SuperChunk),
    change: Change<'_>,
) -> usize {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
    make(&schunk);
    drop(schunk);
    let original = read_store_files(store, &path);
    let before = open_and_read_contents(ours(), &path);
    let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
    assert!(change(&schunk), "{what}: without a limit");
    let after = read_contents(&schunk);
    assert_ne!(before, after, "{what} changes nothing");
    let changed = read_store_files(store, &path);
    let end = original.iter().chain(&changed).map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
    let libraries: Vec<_> = [Some(ours()), Library::reference()].into_iter().flatten().collect();
    let mut failures = 0;
    for limit in (0..=end + step).step_by(step) {
        let path = scratch.new_path();
        write_bytes(store, &path, &original);
        let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
        let what = format!("{what} in {store:?}, {limit} of {end} bytes may be written");
        let succeeded = with_file_size_limit(limit as u64, || change(&schunk));
        let expected = if succeeded { &after } else { &before };
        assert!(read_contents(&schunk) == *expected, "{what}: the handle");
        if !has_atomic_changes() {
            let on_disk = if succeeded { &changed } else { &original };
            assert!(read_store_files(store, &path) == *on_disk, "{what}: the files ({succeeded})");
        }
        for library in &libraries {
            assert!(open_and_read_contents(library, &path) == *expected, "{what}: {} opens", library.name);
        }
        if !succeeded {
            failures += 1;
            assert!(change(&schunk), "{what}: again");
            assert!(read_contents(&schunk) == after, "{what}: again");
            assert!(has_atomic_changes() || read_store_files(store, &path) == changed, "{what}: again");
        }
        remove_store(store, &path);
    }
    failures
}

fn remove_store(store: Store, path: &Path) {
    let removed = if store == Store::Directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.expect("removed");
}

/// Returns `count` random words, which are incompressible.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    int32_bytes((0..count).map(|_| random.next() as i32))
}

/// Appends chunks of 80 words and a last one of 50 words, and adds metalayers of both kinds.
fn fill(schunk: &SuperChunk) {
    assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
    for number in 0..5 {
        schunk.append(&noise(number, 80)).expect("appended");
    }
    schunk.append(&noise(9, 50)).expect("appended");
    assert_eq!(schunk.vlmeta_add("variable", &[7; 30]), 0);
}

/// As [`fill`], with one special chunk.
fn fill_with_special(schunk: &SuperChunk) {
    fill(schunk);
    schunk.update_chunk(4, &zeros_chunk(320)).expect("updated");
}

fn zeros_chunk(nbytes: i32) -> Vec<u8> {
    special_chunk(ours(), &int32_params(), Special::Zeros, nbytes, 32).expect("a chunk")
}

/// Returns a chunk of 80 words with a small compressed size.
fn small_chunk() -> Vec<u8> {
    compress_chunk(&int32_bytes(std::iter::repeat_n(1..=2, 40).flatten()))
}

#[test]
fn frame_9_change_on_full_disk_leaves_the_old_frame() {
    in_new_process(test_name!(), || {
        let full = |seed| compress_chunk(&noise(seed, 80));
        let changes: [(&str, Change<'_>); 16] = [
            ("append", &|s| s.append_chunk(&compress_chunk(&noise(20, 50))).is_ok()),
            ("insert in front", &|s| s.insert_chunk(0, &full(21)).is_ok()),
            ("insert", &|s| s.insert_chunk(3, &full(22)).is_ok()),
            ("update, as long", &|s| s.update_chunk(1, &full(23)).is_ok()),
            ("update, shorter", &|s| s.update_chunk(0, &small_chunk()).is_ok()),
            ("update, special", &|s| s.update_chunk(2, &zeros_chunk(320)).is_ok()),
            ("update of the last, shorter", &|s| s.update_chunk(5, &compress_chunk(&noise(24, 20))).is_ok()),
            ("update of the last, longer", &|s| s.update_chunk(5, &compress_chunk(&noise(25, 79))).is_ok()),
            ("update of the last, special", &|s| s.update_chunk(5, &zeros_chunk(200)).is_ok()),
            ("delete the first", &|s| s.delete_chunk(0).is_ok()),
            ("delete the last", &|s| s.delete_chunk(5).is_ok()),
            ("reorder", &|s| s.reorder(&[3, 2, 1, 0, 4, 5]) == 0),
            ("meta_update", &|s| s.meta_update("fixed", b"other conten") == 0),
            ("vlmeta_add", &|s| s.vlmeta_add("another", &noise(27, 30)) == 1),
            ("vlmeta_update", &|s| s.vlmeta_update("variable", &noise(28, 40)) == 0),
            ("vlmeta_delete", &|s| s.vlmeta_delete("variable") == 0),
        ];
        let with_special: [(&str, Change<'_>); 4] = [
            ("update of a special one", &|s| s.update_chunk(4, &full(26)).is_ok()),
            ("update of a special one, small", &|s| s.update_chunk(4, &small_chunk()).is_ok()),
            ("update before a special one", &|s| s.update_chunk(0, &small_chunk()).is_ok()),
            ("delete before a special one", &|s| s.delete_chunk(2).is_ok()),
        ];
        for store in Store::ON_DISK {
            for (what, change) in changes {
                assert!(fail_at_each_position(what, store, 13, &fill, change) > 5, "{what}");
            }
            for (what, change) in with_special {
                assert!(fail_at_each_position(what, store, 13, &fill_with_special, change) > 5, "{what}");
            }
            let without_last = |s: &SuperChunk| {
                fill(s);
                s.delete_chunk(5).expect("deleted");
            };
            let special = |s: &SuperChunk| s.append_chunk(&zeros_chunk(320)).is_ok();
            assert!(
                fail_at_each_position("append of a special chunk", store, 13, &without_last, &special) > 5
            );
        }
    });
}

/// When a frame changes to chunks of different sizes, its special chunks are rewritten first, one by one. Chunks that
/// were rewritten before the failure stay rewritten, with the same contents.
#[test]
fn frame_9_conversion_on_full_disk_keeps_all_chunks() {
    in_new_process(test_name!(), || {
        let model: Vec<_> = vec![noise(1, 80), vec![0; 320], vec![0; 320], noise(2, 50)];
        for store in Store::ON_DISK {
            for limit in (0..1700).step_by(11) {
                let scratch = ScratchDir::new();
                let path = scratch.new_path();
                let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
                for contents in &model {
                    schunk.append(contents).expect("appended");
                }
                let succeeded = with_file_size_limit(limit, || schunk.append(&noise(3, 70))).is_ok();
                let mut expected = model.clone();
                if succeeded {
                    expected.push(noise(3, 70));
                }
                assert_chunks(&schunk, store, &path, &expected);
            }
        }
    });
}

/// Updates that make a short chunk longer and move the following chunks.
#[test]
fn frame_9_growing_update_on_full_disk_leaves_the_old_frame() {
    in_new_process(test_name!(), || {
        let short_ones = |s: &SuperChunk| {
            fill(s);
            s.update_chunk(0, &small_chunk()).expect("updated");
            s.update_chunk(3, &small_chunk()).expect("updated");
        };
        for store in Store::ON_DISK {
            for at in [0, 3] {
                let grow = |s: &SuperChunk| s.update_chunk(at, &compress_chunk(&noise(30, 80))).is_ok();
                assert!(fail_at_each_position("update, longer", store, 7, &short_ones, &grow) > 5);
            }
        }
    });
}

/// Frames that are empty, that have one chunk, and whose last chunk is deleted.
#[test]
fn frame_9_first_or_last_change_on_full_disk_leaves_the_old_frame() {
    in_new_process(test_name!(), || {
        let one = |s: &SuperChunk| assert_eq!(s.append(&noise(1, 80)), Ok(1));
        let emptied = |s: &SuperChunk| {
            one(s);
            s.append(&noise(2, 80)).expect("appended");
            s.delete_chunk(0).expect("deleted");
            s.delete_chunk(0).expect("deleted");
        };
        let append = |s: &SuperChunk| s.append_chunk(&compress_chunk(&noise(3, 80))).is_ok();
        let delete = |s: &SuperChunk| s.delete_chunk(0).is_ok();
        let nothing = |_: &SuperChunk| {};
        for store in Store::ON_DISK {
            assert!(fail_at_each_position("the first append", store, 3, &nothing, &append) > 5);
            let meta_add = |s: &SuperChunk| s.meta_add("m", &[1; 50]) == 0;
            assert!(fail_at_each_position("meta_add", store, 3, &nothing, &meta_add) > 5);
            let fill_special = |s: &SuperChunk| s.fill_special(1000, 1, 400) == 10;
            assert!(fail_at_each_position("fill_special", store, 3, &nothing, &fill_special) > 5);
            assert!(fail_at_each_position("the last delete", store, 3, &one, &delete) > 5);
            assert!(fail_at_each_position("append to an emptied one", store, 13, &emptied, &append) > 5);
        }
    });
}

/// A move of more bytes than one segment has.
#[test]
fn frame_9_large_move_on_full_disk_leaves_the_old_frame() {
    in_new_process(test_name!(), || {
        const WORDS: usize = 90_000;
        let make = |first: usize| {
            move |s: &SuperChunk| {
                s.append(&noise(0, WORDS)).expect("appended");
                s.append(&int32_bytes(std::iter::repeat_n(first as i32, WORDS))).expect("appended");
                for number in 2..9 {
                    s.append(&noise(number, WORDS)).expect("appended");
                }
            }
        };
        let large = Params { typesize: 4, ..Params::default() };
        let compressed = |src: &[u8]| {
            crate::support::calls::compress(ours(), &large, src, src.len() + 1000).expect("a chunk")
        };
        let (long, short) = (compressed(&noise(50, WORDS)), compressed(&int32_bytes(0..WORDS as i32)));
        let step = 123_457;
        let grow = |s: &SuperChunk| s.update_chunk(1, &long).is_ok();
        assert!(fail_at_each_position("a large growing update", Store::File, step, &make(5), &grow) > 5);
        let shrink = |s: &SuperChunk| s.update_chunk(0, &short).is_ok();
        assert!(fail_at_each_position("a large shrinking update", Store::File, step, &make(6), &shrink) > 5);
    });
}

/// A failed change of a frame preserves the data that follow the frame in its file.
#[test]
fn frame_9_change_on_full_disk_keeps_the_data_after_the_frame() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let schunk = SuperChunk::create(ours(), Store::File, &path, &int32_params());
        fill(&schunk);
        let len = fs::metadata(&path).expect("a file").len();
        assert_eq!(schunk.append_file(&path), Ok(len as i64));
        drop(schunk);
        let original = fs::read(&path).expect("a file");
        for limit in (0..len + 300).step_by(31) {
            let path = scratch.new_path();
            fs::write(&path, &original).expect("a file");
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            if with_file_size_limit(limit, || schunk.append(&noise(1, 50))).is_err() {
                assert!(fs::read(&path).expect("a file") == original, "{limit} of {len} bytes");
            }
        }
    });
}
