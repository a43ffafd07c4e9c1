//! Several handles of one file: changes made through one handle are neither lost nor missed by another (frame.md 9,
//! schunk.md 25).

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::checks::ours;
use crate::schunk_fixtures::{
    assert_chunks, compress_chunk, int32_bytes, int32_params, numbered_data, schunk_with_chunks,
};
use crate::support::calls::{Special, special_chunk, vlcompress};
use crate::support::child::{in_new_process, in_new_process_with, test_name};
use crate::support::has_atomic_changes;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, locking_io};

fn open(path: &Path) -> SuperChunk {
    SuperChunk::open(ours(), path).expect("a second handle")
}

#[test]
fn frame_9_meta_update_of_a_stale_handle_keeps_the_chunks() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = SuperChunk::create(ours(), store, &path, &int32_params());
            assert_eq!(w.meta_add("m", b"first"), 0, "{store:?}");
            assert_eq!(w.append(&numbered_data(0)), Ok(1), "{store:?}");
            let r = open(&path);
            assert_eq!(w.append(&numbered_data(1)), Ok(2), "{store:?}");
            assert_eq!(w.vlmeta_add("v", b"hello"), 0, "{store:?}");
            assert_eq!(r.meta_update("m", b"later"), 0, "{store:?}");
            let again = open(&path);
            assert_chunks(&again, store, &path, &[0, 1].map(numbered_data));
            assert_eq!(again.meta_get("m").as_deref(), Some(&b"later"[..]), "{store:?}");
            assert_eq!(again.vlmeta_get("v").as_deref(), Ok(&b"hello"[..]), "{store:?}");
        }
    });
}

/// The handle that adds the metalayer has not read that another handle has appended a chunk, or added a metalayer: the
/// chunk and the first metalayer must stay.
#[test]
fn frame_9_metalayer_of_a_stale_handle_is_refused_or_added() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = SuperChunk::create(ours(), store, &path, &int32_params());
            let r = open(&path);
            assert_eq!(w.meta_add("first", b"1"), 0, "{store:?}");
            assert_eq!(r.meta_add("second", b"22"), 1, "{store:?}");
            assert_eq!(w.append(&numbered_data(0)), Ok(1), "{store:?}");
            assert_eq!(r.meta_add("third", b"333"), -12, "{store:?}");
            let again = open(&path);
            assert_chunks(&again, store, &path, &[numbered_data(0)]);
            assert_eq!(again.meta_get("first").as_deref(), Some(&b"1"[..]), "{store:?}");
            assert_eq!(again.meta_get("second").as_deref(), Some(&b"22"[..]), "{store:?}");
        }
    });
}

/// The writing handle has read a last chunk of 500 items. Another handle has replaced it by a whole chunk, whose
/// other 500 items must be preserved. (A directory whose index keeps its length is not read again.)
#[test]
fn schunk_25_set_slice_of_a_stale_handle_keeps_the_other_items() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let w = schunk_with_chunks(Store::File, &path, 1);
        let whole = numbered_data(1);
        let half = whole.len() / 2;
        assert_eq!(w.append(&whole[..half]), Ok(2));
        let r = open(&path);
        assert_eq!(w.update_chunk(1, &compress_chunk(&whole)), Ok(2));
        let items = (whole.len() / 4) as i64;
        assert_eq!(r.set_slice(items, items + items / 2, &vec![0; half]), 0);
        let expected = [vec![0; half], whole[half..].to_vec()].concat();
        assert_chunks(&open(&path), Store::File, &path, &[numbered_data(0), expected]);
    });
}

/// The order has as many numbers as the handle has read chunks; meanwhile chunks were added or deleted.
#[test]
fn frame_9_reorder_of_a_stale_handle_is_rejected() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            for grows in [true, false] {
                let path = scratch.new_path();
                let w = schunk_with_chunks(store, &path, 3);
                let r = open(&path);
                let model: Vec<Vec<u8>> = if grows {
                    assert_eq!(w.append(&numbered_data(3)), Ok(4), "{store:?}");
                    (0..4).map(numbered_data).collect()
                } else {
                    assert_eq!(w.delete_chunk(2), Ok(2), "{store:?}");
                    (0..2).map(numbered_data).collect()
                };
                let rc = r.reorder(&[2, 1, 0]);
                assert!(rc < 0, "{store:?}: three numbers for {} chunks: {rc}", model.len());
                assert_chunks(&open(&path), store, &path, &model);
            }
        }
    });
}

/// The frame keeps its length, so it is not read again: small reads, which cache blocks, must still return the new
/// chunks.
#[test]
fn frame_6_3_small_reads_see_updates_of_the_same_length() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let noise = |seed| Random::new(seed).bytes(4000);
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = SuperChunk::create(ours(), store, &path, &int32_params());
            for seed in 0..3 {
                assert!(w.append_chunk(&compress_chunk(&noise(seed))).is_ok(), "{store:?}");
            }
            let r = open(&path);
            let (mut before, pauses) = (noise(1), [0, 0, 1, 30, 60, 0, 40]);
            for (round, pause) in pauses.into_iter().enumerate() {
                for item in [0, 1, 0] {
                    let expected = before[4 * item..][..4].to_vec();
                    let (start, stop) = (1000 + item as i64, 1001 + item as i64);
                    assert_eq!(r.get_slice(start, stop, 4), Ok(expected), "{store:?}, round {round}");
                }
                std::thread::sleep(Duration::from_millis(pause));
                before = noise(100 + round as u64);
                assert_eq!(w.update_chunk(1, &compress_chunk(&before)), Ok(3), "{store:?}");
                // Atomic changes give another length.
                assert_eq!(r.refresh() == 1, has_atomic_changes(), "{store:?}");
            }
        }
    });
}

#[test]
fn frame_9_vlmetalayers_of_two_handles_are_all_kept() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = schunk_with_chunks(store, &path, 1);
            let r = open(&path);
            assert_eq!(w.vlmeta_add("of w", b"one"), 0, "{store:?}");
            assert_eq!(w.append(&numbered_data(1)), Ok(2), "{store:?}");
            assert_eq!(r.vlmeta_add("of r", b"two"), 1, "{store:?}");
            assert_eq!(w.vlmeta_update("of r", b"three"), 1, "{store:?}");
            let again = open(&path);
            assert_chunks(&again, store, &path, &[0, 1].map(numbered_data));
            assert_eq!(again.vlmeta_get("of w").as_deref(), Ok(&b"one"[..]), "{store:?}");
            assert_eq!(again.vlmeta_get("of r").as_deref(), Ok(&b"three"[..]), "{store:?}");
        }
    });
}

#[test]
fn schunk_25_metalayer_update_takes_the_lock() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let io = locking_io();
            let w = SuperChunk::try_create(ours(), store, &path, &int32_params(), Some(&io))
                .expect("a super-chunk");
            assert_eq!(w.meta_add("m", b"first"), 0, "{store:?}");
            assert_eq!(w.append(&numbered_data(0)), Ok(1), "{store:?}");
            let r = SuperChunk::open_locking(ours(), &path).expect("a second handle");
            assert_eq!(w.meta_update("m", b"later"), 0, "{store:?}");
            assert_eq!(r.refresh(), 1, "{store:?}");
            assert_eq!(r.meta_get("m").as_deref(), Some(&b"later"[..]), "{store:?}");
        }
    });
}

/// One handle appends to a frame of variable-size chunks, the other one reads the additions.
#[test]
fn frame_9_variable_size_chunks_of_another_handle_are_read() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            for locking in [false, true] {
                let path = scratch.new_path();
                let io = locking_io();
                let w = SuperChunk::try_create(ours(), store, &path, &int32_params(), locking.then_some(&io));
                let w = w.expect("a super-chunk");
                let mut model = Vec::new();
                for items in [100, 10, 1000] {
                    model.push(int32_bytes(0..items));
                    assert!(w.append(&int32_bytes(0..items)).is_ok(), "{store:?}");
                }
                let r = if locking {
                    SuperChunk::open_locking(ours(), &path).expect("a second handle")
                } else {
                    open(&path)
                };
                for items in [2000, 5, 3000] {
                    assert!(w.append(&int32_bytes(0..items)).is_ok(), "{store:?}");
                    model.push(int32_bytes(0..items));
                    assert_eq!(r.refresh(), 1, "{store:?}, locking: {locking}");
                    assert_chunks(&r, store, &path, &model);
                }
                assert_eq!(r.append(&int32_bytes(0..7)), Ok(7), "{store:?}");
                model.push(int32_bytes(0..7));
                assert_eq!(w.refresh(), 1, "{store:?}");
                assert_chunks(&w, store, &path, &model);
            }
        }
    });
}

#[test]
fn schunk_25_refresh_of_an_empty_handle_reads_the_chunksize() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = schunk_with_chunks(store, &path, 0);
            let r = open(&path);
            assert_eq!(w.append(&numbered_data(0)), Ok(1), "{store:?}");
            assert_eq!(w.append(&numbered_data(1)), Ok(2), "{store:?}");
            assert_eq!(r.refresh(), 1, "{store:?}");
            assert_eq!(r.chunksize(), 4000, "{store:?}");
            assert_eq!(r.get_slice(1500, 1502, 8), Ok(int32_bytes([1000, 1002])), "{store:?}");
            assert_eq!(r.append(&numbered_data(2)), Ok(3), "{store:?}");
            assert_chunks(&r, store, &path, &[0, 1, 2].map(numbered_data));
        }
    });
}

/// Another handle has appended chunks of different sizes since this handle read the chunk size: reads by item are
/// refused, instead of computed with the old chunk size, and the chunk size in the file stays 0.
#[test]
fn schunk_25_refresh_detects_chunks_of_different_sizes() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = schunk_with_chunks(store, &path, 1);
            let r = open(&path);
            let half = numbered_data(1)[..2000].to_vec();
            assert_eq!(w.append(&half), Ok(2), "{store:?}");
            assert_eq!(w.append(&numbered_data(2)), Ok(3), "{store:?}");
            assert_eq!(w.chunksize(), 0, "{store:?}");
            assert_eq!(r.refresh(), 1, "{store:?}");
            assert_eq!(r.chunksize(), 0, "{store:?}");
            assert_eq!(r.get_slice(2000, 2100, 400), w.get_slice(2000, 2100, 400), "{store:?}");
            assert_eq!(r.append(&numbered_data(3)), Ok(4), "{store:?}");
            let again = open(&path);
            assert_eq!(again.chunksize(), 0, "{store:?}");
            assert_chunks(
                &again,
                store,
                &path,
                &[numbered_data(0), half, numbered_data(2), numbered_data(3)],
            );
        }
    });
}

/// A handle that has read a chunk size, but no chunk, detects on refresh that the chunks have variable-length blocks.
#[test]
fn schunk_25_refresh_detects_variable_length_blocks() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        let chunk =
            vlcompress(ours(), &int32_params(), &[vec![1; 400], vec![2; 3600]], 5000).expect("a chunk");
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = schunk_with_chunks(store, &path, 0);
            assert_eq!(w.append_chunk(&chunk), Ok(1), "{store:?}");
            assert_eq!(w.delete_chunk(0), Ok(0), "{store:?}");
            let r = open(&path);
            assert_eq!(w.append_chunk(&chunk), Ok(1), "{store:?}");
            assert_eq!(r.refresh(), 1, "{store:?}");
            assert_eq!(r.insert_chunk(1, &chunk), Ok(2), "{store:?}");
            assert!(r.append(&numbered_data(0)).is_err(), "{store:?}: chunks of both kinds");
            assert_eq!(open(&path).get_chunk(1), Ok(chunk.clone()), "{store:?}");
        }
    });
}

#[test]
fn frame_9_fill_special_of_a_frame_filled_by_another_handle_fails() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let w = schunk_with_chunks(store, &path, 0);
            let r = open(&path);
            assert_eq!(w.append(&numbered_data(0)), Ok(1), "{store:?}");
            let rc = r.fill_special(3000, 1, 4000);
            assert!(rc < 0, "{store:?}: {rc}");
            assert_chunks(&open(&path), store, &path, &[numbered_data(0)]);
        }
    });
}

/// A reader of a chunk that is rewritten continuously gets one state or another, never a mixture or an error.
#[test]
fn frame_9_locked_slice_reads_never_mix_two_states() {
    in_new_process(test_name!(), || {
        let scratch = ScratchDir::new();
        for store in Store::ON_DISK {
            let path = scratch.new_path();
            let io = locking_io();
            let w = SuperChunk::try_create(ours(), store, &path, &int32_params(), Some(&io))
                .expect("a super-chunk");
            let states = [numbered_data(0), int32_bytes((0..1000).map(|i| i ^ (i << 13))), vec![0; 4000]];
            assert_eq!(w.append(&states[0]), Ok(1), "{store:?}");
            assert_eq!(w.append(&numbered_data(1)), Ok(2), "{store:?}");
            drop(w);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let w = SuperChunk::open_locking(ours(), &path).expect("a writer");
                    let zeros =
                        special_chunk(ours(), &int32_params(), Special::Zeros, 4000, 32).expect("a chunk");
                    let chunks = [compress_chunk(&states[0]), compress_chunk(&states[1]), zeros];
                    for round in 0..400 {
                        assert_eq!(w.update_chunk(0, &chunks[round % 3]), Ok(2), "{store:?}");
                    }
                });
                let r = SuperChunk::open_locking(ours(), &path).expect("a reader");
                for _ in 0..400 {
                    // Less than a whole chunk, so that single blocks are read.
                    let found = r.get_slice(1, 1999, 7992).unwrap_or_else(|code| panic!("{store:?}: {code}"));
                    let valid = states.iter().any(|state| found[..3996] == state[4..]);
                    assert!(
                        valid && found[3996..] == numbered_data(1)[..3996],
                        "{store:?}: items of two different states"
                    );
                }
            });
        }
    });
}

/// Two handles change different chunks in turn. The index of a directory keeps its length, and at level `kill` also its
/// header: each handle must detect the commit of the other one, also after its own.
#[test]
fn frame_9_alternate_updates_of_two_handles_are_all_kept() {
    for limit in ["96", "0"] {
        in_new_process_with(test_name!(), &[("BLOSC_MAX_CACHED_READERS", limit)], || {
            let scratch = ScratchDir::new();
            let noise = |seed| Random::new(seed).bytes(4000);
            for store in Store::ON_DISK {
                let path = scratch.new_path();
                let w = SuperChunk::create(ours(), store, &path, &int32_params());
                let mut model: Vec<Vec<u8>> = (0..2).map(noise).collect();
                for content in &model {
                    assert!(w.append_chunk(&compress_chunk(content)).is_ok(), "{store:?}");
                }
                let handles = [w, open(&path)];
                for round in 0..12 {
                    // One, two or three changes by a handle before the other one continues: the file system may give
                    // the number of a removed file to a new one.
                    let (handle, changes) = (round % 2, 1 + round / 2 % 3);
                    for change in 0..changes {
                        model[handle] = noise(10 * (round as u64 + 1) + change as u64);
                        let chunk = compress_chunk(&model[handle]);
                        let result = handles[handle].update_chunk(handle as i64, &chunk);
                        assert_eq!(result, Ok(2), "{store:?}, round {round}");
                    }
                    assert_chunks(&open(&path), store, &path, &model);
                }
            }
        });
    }
}

/// The file is replaced by another frame of the same length: the handle reads the new one.
#[test]
fn frame_6_4_refresh_reads_a_replaced_file() {
    let scratch = ScratchDir::new();
    let (path, other) = (scratch.new_path(), scratch.new_path());
    let schunk = schunk_with_chunks(Store::File, &path, 1);
    let next = SuperChunk::create(ours(), Store::File, &other, &int32_params());
    assert_eq!(next.append(&numbered_data(0)), Ok(1));
    assert_eq!(next.append(&numbered_data(1)), Ok(2));
    drop(next);
    fs::rename(&other, &path).expect("another file");
    assert_eq!(schunk.refresh(), 1);
    assert_chunks(&schunk, Store::File, &path, &[0, 1].map(numbered_data));
}
