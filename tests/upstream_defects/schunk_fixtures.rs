//! Shared code of the super-chunk tests: creates filled super-chunks in each store, and checks the contents that a
//! handle, a new handle and the reference return.

use std::path::Path;

use crate::checks::ours;
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::super_chunk::{Store, SuperChunk};

/// Converts int32 values to bytes.
pub fn int32_bytes(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

pub fn int32_params() -> Params {
    Params { typesize: 4, ..Params::default() }
}

/// Returns chunk `number` of the test data: 1000 int32.
pub fn numbered_data(number: i32) -> Vec<u8> {
    int32_bytes((0..1000).map(|i| i * (number + 1)))
}

/// Compresses `src` into a chunk.
pub fn compress_chunk(src: &[u8]) -> Vec<u8> {
    compress(ours(), &int32_params(), src, src.len() + 1000).expect("a chunk")
}

/// Creates a super-chunk with `count` numbered chunks.
pub fn schunk_with_chunks(store: Store, path: &Path, count: i32) -> SuperChunk {
    let schunk = SuperChunk::create(ours(), store, path, &int32_params());
    for number in 0..count {
        schunk.append(&numbered_data(number)).expect("appended");
    }
    schunk
}

/// The state that an operation must not change if it fails.
pub type SchunkState = (i64, i64, i64, i32, u8, i64, u16, i16);

pub fn schunk_state(schunk: &SuperChunk) -> SchunkState {
    (
        schunk.nchunks(),
        schunk.nbytes(),
        schunk.cbytes(),
        schunk.chunksize(),
        schunk.flags2(),
        schunk.frame_len(),
        schunk.nmetalayers(),
        schunk.nvlmetalayers(),
    )
}

/// Checks that the handle has these chunks.
#[track_caller]
pub fn assert_handle(schunk: &SuperChunk, what: &str, expected: &[Vec<u8>]) {
    assert_eq!(schunk.nchunks(), expected.len() as i64, "{what}");
    let nbytes: usize = expected.iter().map(Vec::len).sum();
    assert_eq!(schunk.nbytes(), nbytes as i64, "{what}");
    for (nchunk, bytes) in expected.iter().enumerate() {
        let found = schunk.decompress(nchunk as i64);
        assert!(found.as_ref() == Ok(bytes), "{what}: chunk {nchunk}: {:?}", found.map(|found| found.len()));
    }
}

/// Checks that the handle, and new handles of our library and of the reference, have these chunks.
#[track_caller]
pub fn assert_chunks(schunk: &SuperChunk, store: Store, path: &Path, expected: &[Vec<u8>]) {
    assert_handle(schunk, &format!("{store:?}, the handle"), expected);
    let libraries = [Some(ours()), Library::reference()];
    for library in libraries.into_iter().flatten() {
        let what = format!("{store:?}, opened by {}", library.name);
        if store.is_on_disk() {
            let again = SuperChunk::open(library, path).unwrap_or_else(|| panic!("{what}: NULL"));
            assert_handle(&again, &what, expected);
        } else {
            let mut frame = schunk.to_buffer().expect("a frame");
            let again =
                SuperChunk::from_frame_copy(library, &mut frame).unwrap_or_else(|| panic!("{what}: NULL"));
            assert_handle(&again, &what, expected);
        }
    }
}
