//! The frames of these tests: their layout, and the changes that a writer commits.

use std::path::Path;

use super::content::{NBYTES, chunk_content, note_content};
use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Params, compress};
use crate::support::library::Library;
use crate::support::super_chunk::{Store, SuperChunk};

/// What one commit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Appends a chunk.
    Append,
    /// Appends a chunk and updates the metalayer, in one bracket of `blosc2_schunk_lock`.
    AppendAndNote,
    /// Updates chunks 0 and 1, in one bracket.
    UpdatePair,
    /// Updates the variable-length metalayer.
    UpdateNote,
    /// Writes a slice of an array that covers 20 of its 24 chunks.
    ArraySlice,
}

impl Change {
    pub const ALL: [Change; 5] =
        [Change::Append, Change::AppendAndNote, Change::UpdatePair, Change::UpdateNote, Change::ArraySlice];

    pub fn from_name(name: &str) -> Change {
        Change::ALL.into_iter().find(|change| format!("{change:?}") == name).expect("a change")
    }
}

/// The number of chunks of a super-chunk before the first commit. Those behind the pair never change.
pub const INITIAL_CHUNKS: u64 = 6;
/// The name of the variable-length metalayer.
pub const NOTE: &str = "note";

/// The shape of the array: 4 x 6 chunks of 10 x 100 items.
const SHAPE: [usize; 2] = [40, 600];
const CHUNKSHAPE: [usize; 2] = [10, 100];
/// The number of columns of the slice that is written. The chunks of the last column of chunks never change.
const SLICE_COLUMNS: usize = 500;
/// The number of chunks of the array.
pub const ARRAY_CHUNKS: u64 = 24;

/// Returns whether commits change the chunk at `place` of the array.
pub fn is_written(place: u64) -> bool {
    array_chunk_start(place)[1] < SLICE_COLUMNS
}

/// Returns the coordinates of the first item of the chunk at `place` of the array.
fn array_chunk_start(place: u64) -> [usize; 2] {
    let columns = SHAPE[1] / CHUNKSHAPE[1];
    [place as usize / columns * CHUNKSHAPE[0], place as usize % columns * CHUNKSHAPE[1]]
}

/// Returns first and last coordinates of the box of the chunk at `place` of the array.
pub fn array_chunk_box(place: u64) -> [[i64; 2]; 2] {
    let start = array_chunk_start(place);
    [start, [start[0] + CHUNKSHAPE[0], start[1] + CHUNKSHAPE[1]]].map(|corner| corner.map(|at| at as i64))
}

/// Calls `visit` for each row of the chunk at `place`: its bytes in the chunk, and its bytes in an array of `columns`
/// columns.
fn each_row(
    place: u64,
    columns: usize,
    mut visit: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
) {
    let start = array_chunk_start(place);
    let nbytes = CHUNKSHAPE[1] * 4;
    for row in 0..CHUNKSHAPE[0] {
        let at = ((start[0] + row) * columns + start[1]) * 4;
        visit(row * nbytes..(row + 1) * nbytes, at..at + nbytes);
    }
}

/// Returns the items of the first `columns` columns of the array after commit `commit`, in C order.
fn array_items(columns: usize, commit: u64) -> Vec<u8> {
    let mut items = vec![0; SHAPE[0] * columns * 4];
    for place in (0..ARRAY_CHUNKS).filter(|&place| array_chunk_start(place)[1] < columns) {
        let chunk = chunk_content(place, commit);
        each_row(place, columns, |from, to| items[to].copy_from_slice(&chunk[from]));
    }
    items
}

/// Returns the content of the chunk at `place` from all items of the array.
pub fn array_chunk(items: &[u8], place: u64) -> Vec<u8> {
    let mut chunk = vec![0; NBYTES];
    each_row(place, SHAPE[1], |to, from| chunk[to].copy_from_slice(&items[from]));
    chunk
}

/// An open frame.
pub enum Frame {
    Schunk(SuperChunk),
    Array(Array),
}

impl Frame {
    pub fn open(library: &'static Library, change: Change, path: &Path) -> Option<Frame> {
        match change {
            Change::ArraySlice => Array::open(library, path).1.map(Frame::Array),
            _ => SuperChunk::open(library, path).map(Frame::Schunk),
        }
    }

    /// Creates the frame in the state before the first commit, number 0, with our library.
    pub fn create(change: Change, store: Store, path: &Path) -> Frame {
        let library = Library::ours();
        if change == Change::ArraySlice {
            let spec = ArraySpec::new(
                &SHAPE.map(|extent| extent as i64),
                &CHUNKSHAPE.map(|extent| extent as i32),
                &[5, 50],
                4,
            );
            let spec = spec.with_store(store, path);
            return Frame::Array(spec.create_from_buffer(library, &array_items(SHAPE[1], 0)));
        }
        let schunk = SuperChunk::create(library, store, path, &params());
        assert_eq!(schunk.meta_add("fixed", b"metalayer"), 0);
        for place in 0..INITIAL_CHUNKS {
            schunk.append(&chunk_content(place, 0)).expect("appended");
        }
        assert_eq!(schunk.vlmeta_add(NOTE, &note_content(0)), 0);
        Frame::Schunk(schunk)
    }

    /// Makes the change of commit `commit`.
    pub fn commit(&self, change: Change, commit: u64) {
        match (self, change) {
            (Frame::Schunk(schunk), Change::Append) => append(schunk, commit),
            (Frame::Schunk(schunk), Change::AppendAndNote) => in_bracket(schunk, || {
                append(schunk, commit);
                update_note(schunk, commit);
            }),
            (Frame::Schunk(schunk), Change::UpdatePair) => in_bracket(schunk, || {
                update(schunk, 0, commit);
                update(schunk, 1, commit);
            }),
            (Frame::Schunk(schunk), Change::UpdateNote) => update_note(schunk, commit),
            (Frame::Array(array), Change::ArraySlice) => {
                let stop = [SHAPE[0] as i64, SLICE_COLUMNS as i64];
                assert_eq!(
                    array.set(&[0, 0], &stop, &array_items(SLICE_COLUMNS, commit)),
                    0,
                    "commit {commit}"
                );
            }
            _ => panic!("{change:?} of another frame"),
        }
    }
}

fn params() -> Params {
    Params { codec: 1, typesize: 4, ..Params::default() }
}

fn in_bracket(schunk: &SuperChunk, change: impl FnOnce()) {
    assert_eq!(schunk.lock(), 0, "a bracket");
    change();
    assert_eq!(schunk.unlock(), 0, "a bracket");
}

fn append(schunk: &SuperChunk, commit: u64) {
    let place = INITIAL_CHUNKS - 1 + commit;
    assert_eq!(schunk.append(&chunk_content(place, commit)), Ok(place as i64 + 1), "commit {commit}");
}

fn update(schunk: &SuperChunk, place: u64, commit: u64) {
    let chunk = compress(Library::ours(), &params(), &chunk_content(place, commit), NBYTES + 100);
    let updated = schunk.update_chunk(place as i64, &chunk.expect("a chunk"));
    assert_eq!(updated, Ok(INITIAL_CHUNKS as i64), "commit {commit}");
}

fn update_note(schunk: &SuperChunk, commit: u64) {
    assert_eq!(schunk.vlmeta_update(NOTE, &note_content(commit)), 0, "commit {commit}");
}
