//! Calls that cannot acquire the lock between processes: the code is `BLOSC2_ERROR_LOCK`, and nothing has changed.

use std::fs;

use crate::content::{CHUNK_NITEMS, CodecSettings, ITEM_SIZE, NOTE, StorageVariant, chunk, create_filled};
use crate::fork::{assert_exits_with_0, run_in_fork};
use crate::fork_locking::{at_each_level, lock_file};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::compress;
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;

const LOCK_ERROR: i32 = -37;
const NCHUNKS: usize = 3;
const CODEC_SETTINGS: CodecSettings = CodecSettings { codec: 1, delta: false, nthreads: 1 };

fn check_super_chunk(schunk: &SuperChunk) {
    let nbytes = CHUNK_NITEMS * ITEM_SIZE;
    let new = compress(Library::ours(), &CODEC_SETTINGS.params(), &chunk(7), nbytes + 100).expect("a chunk");
    let codes = [
        ("append_buffer", schunk.append(&chunk(7)).map(|_| ())),
        ("append_chunk", schunk.append_chunk(&new).map(|_| ())),
        ("insert_chunk", schunk.insert_chunk(1, &new).map(|_| ())),
        ("update_chunk", schunk.update_chunk(1, &new).map(|_| ())),
        ("delete_chunk", schunk.delete_chunk(1).map(|_| ())),
        ("decompress_chunk", schunk.decompress_into(1, nbytes).map(|_| ())),
        ("get_chunk", schunk.get_chunk(1).map(|_| ())),
        ("get_lazychunk", schunk.get_lazychunk(1).map(|_| ())),
        ("get_slice of an item", schunk.get_slice(5, 6, ITEM_SIZE).map(|_| ())),
        ("get_slice of a chunk", schunk.get_slice(0, CHUNK_NITEMS as i64, nbytes).map(|_| ())),
        ("get_sparse of an item", schunk.get_sparse(&[5], ITEM_SIZE).map(|_| ())),
        ("get_sparse", schunk.get_sparse(&[1, 5], 2 * ITEM_SIZE).map(|_| ())),
        ("vlmeta_get", schunk.vlmeta_get(NOTE).map(|_| ())),
    ];
    for (call, result) in codes {
        assert_eq!(result, Err(LOCK_ERROR), "{call}");
    }
    let codes = [
        ("set_slice of an item", schunk.set_slice(5, 6, &[0; ITEM_SIZE])),
        ("set_slice of a chunk", schunk.set_slice(0, CHUNK_NITEMS as i64, &chunk(1))),
        ("reorder", schunk.reorder(&[2, 1, 0])),
        ("meta_add", schunk.meta_add("other", b"content")),
        ("meta_update", schunk.meta_update("fixed", b"METALAYER")),
        ("vlmeta_exists", schunk.vlmeta_exists(NOTE)),
        ("vlmeta_add", schunk.vlmeta_add("new", b"content")),
        ("vlmeta_update", schunk.vlmeta_update(NOTE, b"content")),
        ("vlmeta_delete", schunk.vlmeta_delete(NOTE)),
        ("lock", schunk.lock()),
        ("refresh", schunk.refresh()),
    ];
    for (call, code) in codes {
        assert_eq!(code, LOCK_ERROR, "{call}");
    }
    // The codes of C-Blosc2.
    assert_eq!(schunk.to_buffer(), Err(-23));
    assert_eq!(schunk.fill_special(1, 1, nbytes as i32), -28);
    assert_eq!(schunk.unlock(), 0);
}

fn check_array(array: &Array) {
    let (start, stop) = ([1, 2], [5, 6]);
    let items = [1; 16 * ITEM_SIZE];
    assert_eq!(array.get(&start, &stop), Err(LOCK_ERROR));
    assert_eq!(array.to_cbuffer(), Err(LOCK_ERROR));
    let codes = [
        ("set", array.set(&start, &stop, &items)),
        ("resize", array.resize(&[30, 10], None)),
        ("append", array.append(&[0; 20 * ITEM_SIZE], 0)),
        ("extend", array.extend(array, 0)),
        ("save", array.save(&std::env::temp_dir().join("b2-not-written"))),
    ];
    for (call, code) in codes {
        assert_eq!(code, LOCK_ERROR, "{call}");
    }
}

/// The children of a fork open the lock file again; there is a directory in its place.
#[test]
fn a_lock_that_fails_gives_the_code_of_the_lock() {
    at_each_level(test_name!(), |store, scratch| {
        let variant = StorageVariant::Unmapped(store);
        let (path, array_path) = (scratch.new_path(), scratch.new_path());
        let schunk = create_filled(Library::ours(), variant, &path, CODEC_SETTINGS, NCHUNKS, true);
        let spec = ArraySpec::new(&[20, 10], &[6, 10], &[3, 5], ITEM_SIZE as i32);
        let array = spec.with_store(store, &array_path).zeros(Library::ours());
        // Creating a frame under a temporary name takes no lock.
        assert!(array.to_cbuffer().is_ok());
        for path in [&path, &array_path] {
            fs::remove_file(lock_file(store, path)).expect("a lock file");
            fs::create_dir(lock_file(store, path)).expect("a directory");
        }
        assert_exits_with_0(run_in_fork(|| check_super_chunk(&schunk)));
        assert_exits_with_0(run_in_fork(|| check_array(&array)));
        for nchunk in 0..NCHUNKS {
            assert!(schunk.decompress_into(nchunk as i64, CHUNK_NITEMS * ITEM_SIZE) == Ok(chunk(nchunk)));
        }
        assert!(array.to_cbuffer().expect("all items").iter().all(|&byte| byte == 0));
    });
}
