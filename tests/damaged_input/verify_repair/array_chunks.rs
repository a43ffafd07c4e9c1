//! `blosc2x_verify` for frames with an array metalayer that does not fit their chunks. No function makes these frames:
//! the metalayer is written under another name, which is changed in the bytes of the file.

use std::fs;
use std::path::{Path, PathBuf};

use super::{PART_CHUNK, PART_INDEX};
use crate::support::array::ArraySpec;
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::verify::verify;

const ZEROS: i32 = 1;
const TYPESIZE: i32 = 4;
/// Items of a chunk.
const ITEMS: i64 = 6;
const CHUNKSIZE: usize = (ITEMS * TYPESIZE as i64) as usize;

/// Returns the content of the metalayer of an array of 11 items in chunks of 6: the last chunk needs 5 items.
fn metalayer() -> Vec<u8> {
    let spec = ArraySpec::new(&[2 * ITEMS - 1], &[ITEMS as i32], &[3], TYPESIZE);
    spec.zeros(Library::ours()).schunk().meta_get("b2nd").expect("a metalayer")
}

/// Makes a frame of the chunks that `add` adds, with the metalayer of an array.
fn frame_with(scratch: &ScratchDir, add: impl FnOnce(&SuperChunk)) -> PathBuf {
    let path = scratch.new_path();
    let params = Params { typesize: TYPESIZE, ..Params::default() };
    let schunk = SuperChunk::create(Library::ours(), Store::File, &path, &params);
    assert_eq!(schunk.meta_add("x2nd", &metalayer()), 0);
    add(&schunk);
    drop(schunk);
    let mut bytes = fs::read(&path).expect("a frame");
    let at = bytes.windows(4).position(|name| name == b"x2nd").expect("the name of the metalayer");
    bytes[at] = b'b';
    fs::write(&path, bytes).expect("a frame");
    path
}

/// Returns a chunk of `nbytes` bytes.
fn chunk_of(nbytes: usize, typesize: i32) -> Vec<u8> {
    let params = Params { typesize, ..Params::default() };
    let content: Vec<u8> = (0..nbytes as u8).collect();
    compress(Library::ours(), &params, &content, nbytes + 100).expect("a chunk")
}

fn assert_damages(what: &str, path: &Path, expected: &[(i32, i64)]) {
    let (count, reports) = verify(path);
    let found: Vec<(i32, i64)> = reports.iter().map(|damage| (damage.part, damage.nchunk)).collect();
    assert_eq!((count, &found[..]), (expected.len() as i64, expected), "{what}: {reports:?}");
}

#[test]
fn stored_chunks_of_an_array_have_its_items() {
    let scratch = ScratchDir::new();
    for (what, nbytes, typesize, nchunks, damaged) in [
        ("chunks of the shape", CHUNKSIZE, TYPESIZE, 2, 0..0),
        ("more chunks than the shape has", CHUNKSIZE, TYPESIZE, 3, 0..0),
        ("items of one byte, as in the zeros that a repair stores", CHUNKSIZE, 1, 2, 0..0),
        ("larger chunks", CHUNKSIZE + 4, TYPESIZE, 2, 0..2),
        ("larger chunks of items of one byte", CHUNKSIZE + 4, 1, 2, 0..2),
        ("chunks of 5 items", CHUNKSIZE - 4, TYPESIZE, 2, 0..1),
        ("chunks of 4 items", CHUNKSIZE - 8, TYPESIZE, 2, 0..2),
        ("items of another size", CHUNKSIZE, 8, 2, 0..2),
    ] {
        let path = frame_with(&scratch, |schunk| {
            for _ in 0..nchunks {
                schunk.append_chunk(&chunk_of(nbytes, typesize)).expect("a chunk");
            }
        });
        assert_damages(what, &path, &Vec::from_iter(damaged.map(|n| (PART_CHUNK, n))));
    }
}

#[test]
fn chunks_of_an_array_without_bytes_have_its_items() {
    let scratch = ScratchDir::new();
    for (what, chunk_items, nitems, is_whole) in [
        ("chunks of the shape", ITEMS, 12, true),
        ("the items of the shape", ITEMS, 11, true),
        ("more chunks than the shape has", ITEMS, 18, true),
        ("larger chunks", ITEMS + 1, 14, false),
        ("chunks of 5 items", ITEMS - 1, 10, false),
        ("a last chunk of 4 items", ITEMS, 10, false),
    ] {
        let chunksize = chunk_items as i32 * TYPESIZE;
        let path = frame_with(&scratch, |schunk| assert!(schunk.fill_special(nitems, ZEROS, chunksize) > 0));
        let expected: &[_] = if is_whole { &[] } else { &[(PART_INDEX, -1)] };
        assert_damages(what, &path, expected);
    }
    // With a stored chunk behind those of the shape, the index is a list, whose entries are checked one by one.
    for (what, chunk_items, damaged) in [
        ("chunks of the shape", ITEMS, 0..0),
        ("larger chunks", ITEMS + 1, 0..3),
        ("5 items", ITEMS - 1, 0..1),
    ] {
        let chunksize = chunk_items as i32 * TYPESIZE;
        let path = frame_with(&scratch, |schunk| {
            assert_eq!(schunk.fill_special(2 * chunk_items, ZEROS, chunksize), 2);
            schunk.append_chunk(&chunk_of(chunksize as usize, TYPESIZE)).expect("a chunk");
        });
        assert_damages(what, &path, &Vec::from_iter(damaged.map(|n| (PART_CHUNK, n))));
    }
}
