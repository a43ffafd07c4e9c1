//! Changes of frames with a damaged chunk: values of its header never get into the frame, the other chunks stay
//! readable, and the damaged chunk can be replaced or deleted (frame.md 9.1).

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::checks::ours;
use crate::schunk_fixtures::{
    assert_chunks, compress_chunk, int32_params, numbered_data, schunk_with_chunks,
};
use crate::support::array::{Array, ArraySpec};
use crate::support::child::{in_new_process_with, test_name};
use crate::support::has_atomic_changes;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::system::{FileExt, set_variable};

const NCHUNKS: i32 = 9;

/// Bytes of a chunk that are overwritten: their position, and the new ones.
type Damage<'a> = (u64, &'a [u8]);

/// Damaged headers: the uncompressed size, the compressed size, or everything.
const DAMAGES: [Damage<'_>; 8] = [
    (4, &16i32.to_le_bytes()),
    (4, &i32::MAX.to_le_bytes()),
    (4, &(-1i32).to_le_bytes()),
    (12, &16i32.to_le_bytes()),
    (12, &64i32.to_le_bytes()),
    (12, &i32::MAX.to_le_bytes()),
    (0, &[0xFF; 16]),
    (0, &[0; 32]),
];

/// Returns the file of chunk `nchunk` and the offset of the chunk in it.
fn place_of_chunk(schunk: &SuperChunk, path: &Path, nchunk: usize) -> (PathBuf, u64) {
    let offset = schunk.offsets().expect("the offsets")[nchunk];
    if path.is_dir() {
        return (path.join(format!("{offset:08X}.chunk")), 0);
    }
    let mut len = [0; 4];
    File::open(path).and_then(|file| file.read_exact_at(&mut len, 11)).expect("a header");
    (path.to_owned(), u64::from(u32::from_be_bytes(len)) + offset as u64)
}

/// Overwrites bytes of a chunk of a closed super-chunk.
fn damage_chunk(path: &Path, nchunk: usize, (position, bytes): Damage<'_>) {
    let schunk = SuperChunk::open(ours(), path).expect("a super-chunk");
    let (file, at) = place_of_chunk(&schunk, path, nchunk);
    drop(schunk);
    let file = OpenOptions::new().write(true).open(file).expect("the file");
    file.write_all_at(bytes, at + position).expect("written");
}

/// Creates a super-chunk of which chunk `nchunk` is damaged, opens it and changes it. Afterwards, chunk `n` must have the
/// data of number `expected[n]`.
fn change_damaged(nchunk: usize, change: &dyn Fn(&SuperChunk), expected: &[i32]) {
    for store in Store::ON_DISK {
        for damage in DAMAGES {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            drop(schunk_with_chunks(store, &path, NCHUNKS));
            damage_chunk(&path, nchunk, damage);
            let schunk = SuperChunk::open(ours(), &path)
                .unwrap_or_else(|| panic!("{store:?}, chunk {nchunk}, {damage:?}: does not open"));
            change(&schunk);
            let expected: Vec<_> = expected.iter().map(|&number| numbered_data(number)).collect();
            assert_chunks(&schunk, store, &path, &expected);
        }
    }
}

#[test]
fn frame_9_1_a_damaged_chunk_can_be_deleted() {
    change_damaged(1, &|schunk| assert_eq!(schunk.delete_chunk(1), Ok(8)), &[0, 2, 3, 4, 5, 6, 7, 8]);
    change_damaged(0, &|schunk| assert_eq!(schunk.delete_chunk(0), Ok(8)), &[1, 2, 3, 4, 5, 6, 7, 8]);
    change_damaged(8, &|schunk| assert_eq!(schunk.delete_chunk(8), Ok(8)), &[0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn frame_9_1_a_damaged_chunk_can_be_replaced() {
    for nchunk in [0, 1, 8] {
        let replace = |schunk: &SuperChunk| {
            let chunk = compress_chunk(&numbered_data(20));
            assert_eq!(schunk.update_chunk(nchunk as i64, &chunk), Ok(9));
        };
        let mut expected: Vec<i32> = (0..NCHUNKS).collect();
        expected[nchunk] = 20;
        change_damaged(nchunk, &replace, &expected);
    }
}

/// The sizes of a damaged chunk in a frame with chunks of different sizes are what the other chunks leave.
#[test]
fn frame_9_1_a_damaged_chunk_among_chunks_of_different_sizes_can_be_replaced() {
    for store in Store::ON_DISK {
        for damage in [DAMAGES[1], DAMAGES[2], DAMAGES[5], DAMAGES[6], DAMAGES[7]] {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            let schunk = schunk_with_chunks(store, &path, 4);
            schunk.insert_chunk(2, &compress_chunk(&numbered_data(7)[..1000])).expect("inserted");
            drop(schunk);
            damage_chunk(&path, 1, damage);
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            assert_eq!(schunk.update_chunk(1, &compress_chunk(&numbered_data(21))), Ok(5), "{damage:?}");
            let short = numbered_data(7)[..1000].to_vec();
            let [a, b, c, d] = [0, 21, 2, 3].map(numbered_data);
            assert_chunks(&schunk, store, &path, &[a, b, short, c, d]);
        }
    }
}

/// An append, and a change of a metalayer, leave a damaged chunk and the others as they are.
#[test]
fn frame_9_1_changes_beside_a_damaged_chunk_keep_the_others_readable() {
    for store in Store::ON_DISK {
        for (nchunk, damage) in [0, 1, 8].into_iter().flat_map(|n| DAMAGES.map(|damage| (n, damage))) {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            let schunk = schunk_with_chunks(store, &path, NCHUNKS);
            assert_eq!(schunk.vlmeta_add("note", b"before"), 0);
            drop(schunk);
            damage_chunk(&path, nchunk, damage);
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            assert_eq!(schunk.vlmeta_update("note", b"after it"), 0);
            assert_eq!(schunk.append(&numbered_data(9)), Ok(10));
            drop(schunk);
            let schunk = SuperChunk::open(ours(), &path).expect("opened again");
            assert_eq!((schunk.nchunks(), schunk.nbytes()), (10, 40_000));
            assert_eq!(schunk.vlmeta_get("note"), Ok(b"after it".to_vec()));
            for n in (0..10).filter(|&n| n != nchunk as i32) {
                assert_eq!(schunk.decompress(i64::from(n)), Ok(numbered_data(n)), "{store:?}, chunk {n}");
            }
        }
    }
}

/// The handle's default use of checksums keeps the table of a frame up to date, so that a chunk with another checksum
/// stays damaged until it is replaced.
#[test]
fn frame_2_14_a_damaged_chunk_stays_damaged_after_changes() {
    in_new_process_with(test_name!(), &[("BLOSC2_CHECKSUMS", "on")], || {
        for store in Store::ON_DISK {
            let scratch = ScratchDir::new();
            let path = scratch.new_path();
            let schunk = SuperChunk::create(ours(), store, &path, &int32_params());
            let noise = Random::new(3).bytes(4000);
            for _ in 0..4 {
                schunk.append(&noise).expect("appended");
            }
            assert_eq!(schunk.vlmeta_add("note", b"before"), 0);
            drop(schunk);
            // A byte of the content, which can be decoded.
            damage_chunk(&path, 2, (1000, &[noise[968] ^ 1]));
            // SAFETY: no other thread of this process uses the environment.
            unsafe { set_variable("BLOSC2_CHECKSUMS", None) };
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            assert_eq!(schunk.vlmeta_update("note", b"after it"), 0);
            schunk.append(&noise).expect("appended");
            assert_eq!(schunk.delete_chunk(0), Ok(4));
            assert!(schunk.decompress(1).is_err(), "{store:?}: the handle");
            drop(schunk);
            let schunk = SuperChunk::open(ours(), &path).expect("a super-chunk");
            let readable: Vec<bool> = (0..4).map(|n| schunk.decompress(n) == Ok(noise.clone())).collect();
            assert_eq!(readable, [true, false, true, true], "{store:?}");
            assert!(schunk.update_chunk(1, &compress_chunk(&noise)).is_ok());
            assert_eq!(schunk.decompress(1), Ok(noise), "{store:?}");
            // SAFETY: as above.
            unsafe { set_variable("BLOSC2_CHECKSUMS", Some("on")) };
        }
    });
}

/// A chunk of an array whose header gives fewer bytes is not taken for a shorter chunk: its items would become zeros.
#[test]
fn frame_9_1_a_chunk_with_fewer_bytes_in_its_header_is_not_completed_with_zeros() {
    for store in Store::ON_DISK {
        let scratch = ScratchDir::new();
        let path = scratch.new_path();
        let items: Vec<u8> = (0..1400i32).flat_map(|n| (n / 3).to_le_bytes()).collect();
        let spec = ArraySpec::new(&[1400], &[700], &[100], 4).with_store(store, &path);
        drop(spec.create_from_buffer(ours(), &items));
        // Two of the seven blocks.
        damage_chunk(&path, 0, (4, &800i32.to_le_bytes()));
        let array = Array::open(ours(), &path).1.expect("an array");
        assert!(array.set(&[3], &[4], &[9; 4]) < 0, "{store:?}: one item of a damaged chunk");
        assert_eq!(array.get(&[700], &[1400]).as_deref(), Ok(&items[2800..]), "{store:?}");
        drop(array);
        damage_chunk(&path, 0, (4, &2800i32.to_le_bytes()));
        let array = Array::open(ours(), &path).1.expect("an array");
        assert_eq!(array.to_cbuffer().as_deref(), Ok(&items[..]), "{store:?}: after the header was restored");
        assert_eq!(array.set(&[3], &[4], &[9; 4]), 0, "{store:?}");
    }
}

/// A slice whose first chunk, the last one in the file, becomes shorter, and which then fails: the bytes that were cut
/// off are restored.
#[test]
fn frame_2_13_a_failed_slice_restores_a_chunk_at_the_end_of_the_file() {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let items = Random::new(5).bytes(4 * 3500);
    let array = ArraySpec::new(&[3500], &[700], &[100], 4).with_store(Store::File, &path).zeros(ours());
    for nchunk in (0..5).rev() {
        let (start, stop) = (700 * nchunk, 700 * nchunk + 700);
        let part = &items[4 * start as usize..4 * stop as usize];
        assert_eq!(array.set(&[start], &[stop], part), 0);
    }
    drop(array);
    damage_chunk(&path, 1, DAMAGES[6]);
    let array = Array::open(ours(), &path).1.expect("an array");
    assert!(array.set(&[0], &[1399], &[1; 4 * 1399]) < 0, "a slice into a damaged chunk");
    assert_eq!(array.get(&[0], &[700]).as_deref(), Ok(&items[..2800]), "the handle");
    drop(array);
    let array = Array::open(ours(), &path).1.expect("an array");
    assert_eq!(array.get(&[0], &[700]).as_deref(), Ok(&items[..2800]), "a new handle");
    assert_eq!(array.get(&[1400], &[3500]).as_deref(), Ok(&items[5600..]));
    assert!(has_atomic_changes() || array.get(&[700], &[701]).is_err());
}
