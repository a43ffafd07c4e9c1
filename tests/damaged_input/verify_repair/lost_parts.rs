//! Frames of which one part is lost: a chunk, the header, the index, the trailer, a file of a directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::full_read::FullRead;
use super::{
    PART_CHUNK, PART_FILE, PART_HEADER, PART_INDEX, PART_METALAYER, PART_TRAILER, PART_VLMETALAYER,
    write_frame,
};
use crate::frames::fields::{CBYTES, Field, HEADER_LEN};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Params, Special, compress, special_chunk};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::{Damage, repair, verify};
use crate::support::{all_libraries, both_libraries};

const STORES: [Store; 2] = [Store::File, Store::Directory];

/// Makes a super-chunk of six chunks of 400 bytes, of which the fourth has no bytes, and metalayers of both kinds.
fn make(library: &'static Library, store: Store, scratch: &ScratchDir) -> PathBuf {
    let (path, random) = (scratch.new_path(), &mut Random::new(9));
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(library, store, &path, &params);
    assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
    for n in 0..6 {
        if n == 3 {
            let zeros = special_chunk(library, &params, Special::Zeros, 400, 32).expect("a chunk");
            schunk.append_chunk(&zeros).expect("appended");
        } else {
            schunk.append(&random.bytes(if n == 5 { 200 } else { 400 })).expect("appended");
        }
    }
    assert_eq!(schunk.vlmeta_add("first", &b"some content".repeat(9)), 0);
    assert_eq!(schunk.vlmeta_add("second", &random.bytes(50)), 1);
    path
}

fn main_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("chunks.b2frame") } else { path.to_owned() }
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("a file");
    change(&mut bytes);
    fs::write(path, bytes).expect("a file");
}

fn index_at(bytes: &[u8]) -> usize {
    let data_len = if bytes[26] == 0 { CBYTES.get(bytes) } else { 0 };
    (HEADER_LEN.get(bytes) + data_len) as usize
}

/// The result of a repair: the number of saved chunks, the reports, and what all libraries read.
fn repaired(path: &Path, scratch: &ScratchDir) -> (i64, Vec<Damage>, FullRead) {
    let saved = scratch.new_path();
    let (count, reports) = repair(path, &saved);
    assert!(count >= 0, "{}: code {count}", path.display());
    assert_eq!(verify(&saved), (0, vec![]));
    let read = FullRead::of(Library::ours(), &saved).expect("a frame");
    for library in all_libraries() {
        assert!(FullRead::of(library, &saved).as_ref() == Some(&read), "{}", library.name);
    }
    (count, reports, read)
}

/// Returns the numbers of the parts, in the order of the reports.
fn parts(reports: &[Damage]) -> Vec<i32> {
    reports.iter().map(|damage| damage.part).collect()
}

fn each_frame(check: impl Fn(&ScratchDir, Store, PathBuf, FullRead)) {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in STORES {
            let path = make(library, store, &scratch);
            let read = FullRead::of(library, &path).expect("a frame");
            check(&scratch, store, path, read);
        }
    }
}

#[test]
fn a_damaged_chunk_becomes_zeros_and_the_others_keep_their_numbers() {
    each_frame(|scratch, store, path, before| {
        let damaged = match store {
            Store::Directory => (path.join("00000002.chunk"), 0),
            _ => {
                let schunk = SuperChunk::open(Library::ours(), &path).expect("a frame");
                let offset = schunk.offsets().expect("offsets")[2] as usize;
                (path.clone(), HEADER_LEN.get(&fs::read(&path).expect("a frame")) as usize + offset)
            }
        };
        change(&damaged.0, |bytes| bytes[damaged.1..][..16].fill(0xFF));
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports), reports[0].nchunk), (1, vec![PART_CHUNK], 2));
        assert_eq!(reports[0].offset, damaged.1 as i64);
        let (count, reports, after) = repaired(&path, scratch);
        assert_eq!((count, parts(&reports), reports[0].nchunk), (5, vec![PART_CHUNK], 2));
        let mut expected = before;
        expected.chunks[2] = Ok(vec![0; 400]);
        assert!(after == expected);
    });
}

#[test]
fn a_missing_chunk_file_becomes_zeros() {
    each_frame(|scratch, store, path, before| {
        if store != Store::Directory {
            return;
        }
        for (name, n) in [("00000000.chunk", 0), ("00000004.chunk", 5)] {
            fs::remove_file(path.join(name)).expect("a chunk file");
            let (_, reports) = verify(&path);
            let last = reports.last().expect("a report");
            assert_eq!((last.part, last.cause, last.nchunk), (PART_CHUNK, -15, n));
        }
        let (count, _, after) = repaired(&path, scratch);
        let mut expected = before;
        (expected.chunks[0], expected.chunks[5]) = (Ok(vec![0; 400]), Ok(vec![0; 200]));
        assert!(count == 4 && after == expected);
    });
}

#[test]
pub fn chunks_are_found_without_the_index() {
    each_frame(|scratch, _, path, before| {
        change(&main_file(&path), |bytes| {
            let at = index_at(bytes);
            bytes[at..at + 32].fill(0);
        });
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports)), (1, vec![PART_INDEX]));
        let (count, reports, after) = repaired(&path, scratch);
        assert!(count == 5 && reports[0].part == PART_INDEX, "{count}: {reports:?}");
        let mut expected = before;
        // Without checksums, the number of the chunk without bytes is not known: zeros are before the short last chunk.
        let has_checksums = fs::read(main_file(&path)).expect("a file")[86] & 1 != 0;
        let number = if has_checksums { 3 } else { 4 };
        let zeros = expected.chunks.remove(3);
        expected.chunks.insert(number, zeros);
        assert!(reports.iter().any(|damage| damage.nchunk == number as i64), "{reports:?}");
        assert!(after == expected);
    });
}

#[test]
fn metalayers_of_variable_length_are_saved_one_by_one() {
    each_frame(|scratch, _, path, before| {
        change(&main_file(&path), |bytes| {
            // The first chunk behind the name and the offset of the second metalayer.
            let at =
                bytes.windows(8).rposition(|window| window[0] == 0xC6 && window[5] == 5).expect("a content");
            bytes[at + 5 + 12] ^= 1;
        });
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports)), (1, vec![PART_VLMETALAYER]));
        assert!(reports[0].message.contains("second"), "{}", reports[0].message);
        let (count, _, after) = repaired(&path, scratch);
        let mut expected = before;
        expected.vlmetalayers.pop();
        assert!(count == 6 && after == expected);
    });
}

#[test]
pub fn everything_else_is_saved_without_the_trailer() {
    each_frame(|scratch, _, path, before| {
        change(&main_file(&path), |bytes| {
            let len = bytes.len();
            bytes[len - 23..].fill(0);
        });
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports)), (1, vec![PART_TRAILER]));
        let (count, _, after) = repaired(&path, scratch);
        assert!(count == 6 && after == FullRead { vlmetalayers: vec![], ..before });
    });
}

#[test]
pub fn chunks_and_variable_length_metalayers_are_saved_without_the_header() {
    each_frame(|scratch, store, path, before| {
        change(&main_file(&path), |bytes| bytes[..97].fill(0));
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports)), (1, vec![PART_HEADER]));
        let (count, reports, after) = repaired(&path, scratch);
        assert_eq!(parts(&reports)[..1], [PART_HEADER]);
        assert_eq!(count, 6, "{store:?}: {reports:?}");
        assert!(after == FullRead { metalayers: vec![], ..before }, "{store:?}: {after:?}");
    });
}

#[test]
fn chunk_files_are_saved_without_the_index_file() {
    each_frame(|scratch, store, path, before| {
        if store != Store::Directory {
            return;
        }
        fs::write(path.join("00000077.chunk"), b"").expect("a file");
        fs::remove_file(path.join("chunks.b2frame")).expect("an index file");
        let (count, reports) = verify(&path);
        assert_eq!((count, parts(&reports), reports[0].cause), (1, vec![PART_FILE], -15));
        let (count, reports, after) = repaired(&path, scratch);
        assert_eq!((count, reports[0].part), (5, PART_FILE));
        let mut expected = before;
        let _ = expected.chunks.remove(3);
        assert!(after.chunks == expected.chunks && after.metalayers.is_empty());
    });
}

/// A wrong number in the header does not lose the chunks.
#[test]
pub fn wrong_numbers_in_the_header_are_corrected() {
    each_frame(|scratch, store, path, before| {
        let bytes = fs::read(main_file(&path)).expect("a file");
        let numbers = [
            (11, 4, 5000),
            (11, 4, 87),
            (16, 8, 100),
            (16, 8, 1 << 40),
            (25, 1, 0x1F),
            (26, 1, 9),
            (30, 8, 0x7777),
            (39, 8, 77),
            (48, 4, 0),
            (58, 4, 77),
            (58, 4, 0),
        ];
        for (at, width, value) in numbers {
            fs::write(main_file(&path), &bytes).expect("a file");
            change(&main_file(&path), |bytes| Field { at, width, big_endian: true }.set(bytes, value));
            let (count, reports) = verify(&path);
            // The sum of the chunks of a directory is not used.
            assert!(count > 0 || (at == 39 && store == Store::Directory), "{at}: {reports:?}");
            let (count, reports, after) = repaired(&path, scratch);
            assert!(count == 6 && after == before, "{at} <- {value}: {count} {reports:?} {after:?}");
        }
    });
}

#[test]
fn an_array_with_a_damaged_chunk_stays_an_array() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in STORES {
            let path = scratch.new_path();
            let spec = ArraySpec::new(&[40, 60], &[10, 30], &[5, 10], 4).with_store(store, &path);
            let items = Random::new(4).bytes(4 * 40 * 60);
            drop(spec.create_from_buffer(library, &items));
            match store {
                Store::Directory => fs::write(path.join("00000001.chunk"), b"x").expect("a file"),
                _ => change(&path, |bytes| {
                    let at = HEADER_LEN.get(bytes) as usize + 1232;
                    bytes[at..at + 16].fill(0xFF);
                }),
            }
            let saved = scratch.new_path();
            let (count, reports) = repair(&path, &saved);
            assert_eq!((count, parts(&reports), reports[0].nchunk), (7, vec![PART_CHUNK], 1), "{store:?}");
            let (code, array) = Array::open(library, &saved);
            let array = array.unwrap_or_else(|| panic!("code {code}"));
            let content = array.get(&[0, 0], &[40, 60]).expect("items");
            for (n, (found, expected)) in content.chunks(4).zip(items.chunks(4)).enumerate() {
                let (row, column) = (n / 60, n % 60);
                let is_lost = row < 10 && column >= 30;
                assert_eq!(
                    found,
                    if is_lost { &[0; 4] } else { expected },
                    "{store:?}: item {row}, {column}"
                );
            }
        }
    }
}

#[test]
fn a_damaged_metalayer_of_an_array_is_reported() {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let spec = ArraySpec::new(&[8, 6], &[4, 3], &[2, 3], 4).with_store(Store::File, &path);
    drop(spec.create_from_buffer(Library::ours(), &[1; 4 * 48]));
    change(&path, |bytes| {
        let at = bytes.windows(4).position(|window| window == b"b2nd").expect("the name");
        let content = bytes[at..].iter().position(|&byte| byte == 0x97).expect("the content");
        bytes[at + content + 2] = 99;
    });
    let (count, reports) = verify(&path);
    assert_eq!((count, parts(&reports)), (1, vec![PART_METALAYER]));
    assert!(reports[0].message.contains("b2nd"), "{}", reports[0].message);
    let (count, reports, read) = repaired(&path, &scratch);
    assert_eq!((count, parts(&reports), read.metalayers.len()), (4, vec![PART_METALAYER], 0));
}

/// The metalayers behind a damaged one in the header are lost, those before it are saved.
#[test]
fn metalayers_before_a_damaged_one_are_saved() {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    let schunk = SuperChunk::create(Library::ours(), Store::File, &path, &Params::default());
    for name in ["one", "two", "three"] {
        schunk.meta_add(name, name.as_bytes());
    }
    schunk.append(&[7; 800]).expect("appended");
    schunk.append(&Random::new(1).bytes(800)).expect("appended");
    drop(schunk);
    let bytes = fs::read(&path).expect("a frame");
    let at = bytes.windows(3).position(|window| window == b"two").expect("the name");
    let mut damaged = bytes.clone();
    damaged[at - 1] = 0;
    let path = write_frame(&scratch, &[("frame".to_string(), damaged)].into());
    assert_eq!(parts(&verify(&path).1), [PART_METALAYER]);
    let (count, _, read) = repaired(&path, &scratch);
    assert_eq!((count, read.metalayers), (2, vec![(b"one".to_vec(), b"one".to_vec())]));
}

/// Chunks that do not hold the items that the metalayer of an array promises; the C library stores such chunks.
#[test]
fn chunks_that_do_not_fit_the_array_are_reported() {
    let Some((_, reference)) = both_libraries() else { return };
    let scratch = ScratchDir::new();
    let items: Vec<u8> = (0..8 * 6 * 4).collect();
    for store in STORES {
        for (typesize, nbytes, text) in [
            (4, 52, "expected at most 48 by the chunk shape"),
            (4, 24, "end at byte 48"),
            (4, 47, "end at byte 48"),
            (8, 48, "items of 8 bytes, the array of 4"),
        ] {
            let path = scratch.new_path();
            let spec = ArraySpec::new(&[8, 6], &[4, 3], &[2, 3], 4).with_store(store, &path);
            let array = spec.create_from_buffer(reference, &items);
            let params = Params { typesize, blocksize: 24, ..Params::default() };
            let chunk = compress(reference, &params, &items[..nbytes], 100).expect("a chunk");
            array.schunk().update_chunk(2, &chunk).expect("updated");
            drop(array);
            let (count, reports) = verify(&path);
            assert_eq!((count, parts(&reports), reports[0].nchunk), (1, vec![PART_CHUNK], 2), "{reports:?}");
            assert!(reports[0].message.contains(text), "{text}: {}", reports[0].message);
        }
    }
}

#[test]
fn missing_chunks_of_an_array_are_reported() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in STORES {
            for kept in [0, 3] {
                let path = scratch.new_path();
                let spec = ArraySpec::new(&[8, 6], &[4, 3], &[2, 3], 4).with_store(store, &path);
                let array = spec.create_from_buffer(library, &(0..8 * 6 * 4).collect::<Vec<u8>>());
                for nchunk in (kept..4).rev() {
                    array.schunk().delete_chunk(nchunk).expect("deleted");
                }
                drop(array);
                let (count, reports) = verify(&path);
                assert_eq!((count, parts(&reports)), (1, vec![PART_METALAYER]), "{reports:?}");
                let text = format!("has 4 chunks, but the frame has {kept}");
                assert!(reports[0].message.contains(&text), "{}", reports[0].message);
            }
        }
    }
}
