//! The changes of super-chunks and arrays that are interrupted.

use std::path::Path;

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Params, Special, compress, special_chunk};
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// Runs a change, which returns whether it succeeded, with the fault armed.
pub type RunArmed<'a> = &'a mut dyn FnMut(&mut dyn FnMut() -> bool) -> bool;

/// A change of a frame on disk.
#[derive(Clone, Copy)]
pub struct Operation {
    pub name: &'static str,
    /// Creates the files before the change.
    pub make: fn(Store, &Path),
    /// Opens the files, runs the change, and returns whether the change succeeded.
    pub change: fn(&Path, RunArmed<'_>) -> bool,
    /// Whether the files hold an array.
    pub is_array: bool,
}

pub fn ours() -> &'static Library {
    Library::ours()
}

fn params() -> Params {
    Params { typesize: 4, ..Params::default() }
}

/// The number of items of a chunk.
const ITEMS: usize = 1500;

/// Returns the bytes of `count` random items.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..count).flat_map(|_| (random.next() as u32).to_le_bytes()).collect()
}

fn chunk(seed: u64, count: usize) -> Vec<u8> {
    let content = noise(seed, count);
    compress(ours(), &params(), &content, content.len() + 100).expect("a chunk")
}

/// Five chunks, one of them special, and metalayers of both kinds.
fn make_schunk(store: Store, path: &Path) {
    let schunk = SuperChunk::create(ours(), store, path, &params());
    assert_eq!(schunk.meta_add("fixed", b"some content"), 0);
    for seed in 0..5 {
        schunk.append(&noise(seed, ITEMS)).expect("appended");
    }
    let zeros = special_chunk(ours(), &params(), Special::Zeros, 4 * ITEMS as i32, 32).expect("a chunk");
    schunk.update_chunk(3, &zeros).expect("replaced");
    assert_eq!(schunk.vlmeta_add("variable", &noise(9, 200)), 0);
}

fn with_schunk(path: &Path, run: RunArmed<'_>, change: impl Fn(&SuperChunk) -> bool) -> bool {
    let schunk = SuperChunk::open(ours(), path).expect("a super-chunk");
    run(&mut || change(&schunk))
}

macro_rules! schunk_operations {
    ($($name:literal: $change:expr;)*) => {
        /// Changes of one chunk or metalayer.
        pub const SCHUNK_OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            make: make_schunk,
            change: |path, run| with_schunk(path, run, $change),
            is_array: false,
        },)*];
    };
}

schunk_operations! {
    "append": |schunk| schunk.append(&noise(20, ITEMS)).is_ok();
    "insert": |schunk| schunk.insert_chunk(1, &chunk(21, ITEMS)).is_ok();
    "update, longer": |schunk| schunk.update_chunk(3, &chunk(22, ITEMS)).is_ok();
    "update, same length": |schunk| schunk.update_chunk(1, &chunk(23, ITEMS)).is_ok();
    "update, shorter": |schunk| {
        let zeros = special_chunk(ours(), &params(), Special::Zeros, 4 * ITEMS as i32, 32).expect("a chunk");
        schunk.update_chunk(1, &zeros).is_ok()
    };
    "delete": |schunk| schunk.delete_chunk(1).is_ok();
    "reorder": |schunk| schunk.reorder(&[4, 3, 2, 1, 0]) >= 0;
    "meta_update": |schunk| schunk.meta_update("fixed", b"SOME CONTENT") >= 0;
    "vlmeta_add": |schunk| schunk.vlmeta_add("another", &noise(24, 100)) >= 0;
    "vlmeta_update": |schunk| schunk.vlmeta_update("variable", &noise(25, 400)) >= 0;
    "vlmeta_delete": |schunk| schunk.vlmeta_delete("variable") >= 0;
}

/// The spec of the array: 40 x 60 items in chunks of 10 x 30.
fn spec(store: Store, path: &Path) -> ArraySpec {
    ArraySpec::new(&[40, 60], &[10, 30], &[5, 10], 4).with_store(store, path)
}

fn make_array(store: Store, path: &Path) {
    drop(spec(store, path).create_from_buffer(ours(), &noise(1, 2400)));
}

fn with_array(path: &Path, run: RunArmed<'_>, change: impl Fn(&Array) -> bool) -> bool {
    let array = Array::open(ours(), path).1.expect("an array");
    run(&mut || change(&array))
}

macro_rules! array_operations {
    ($($name:literal: $change:expr;)*) => {
        /// Changes of one or several chunks of an array.
        pub const ARRAY_OPERATIONS: &[Operation] = &[$(Operation {
            name: $name,
            make: make_array,
            change: |path, run| with_array(path, run, $change),
            is_array: true,
        },)*];
    };
}

array_operations! {
    "slice in one chunk": |array| array.set(&[0, 0], &[4, 5], &noise(30, 20)) >= 0;
    "slice over all chunks": |array| array.set(&[0, 0], &[40, 60], &noise(31, 2400)) >= 0;
    "resize, larger": |array| array.resize(&[50, 60], None) >= 0;
    "resize, smaller": |array| array.resize(&[20, 60], None) >= 0;
}
