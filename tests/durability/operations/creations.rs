//! Creating frames: copies, and new super-chunks and arrays.

use std::path::Path;

use super::setups::{ITEMS, Setup, noise, params};
use super::{Change, Group, Operation, open_array, ours};
use crate::support::array::ArraySpec;
use crate::support::super_chunk::{Store, SuperChunk};

/// Returns the store of the frame at a path.
fn store_of(path: &Path) -> Store {
    if path.is_dir() { Store::Directory } else { Store::File }
}

/// Creates a frame at the second path, from the one at the first path.
type Creation = fn(&Path, &Path) -> bool;

const OF_SUPER_CHUNKS: &[(&str, Creation)] = &[
    ("create", |source, target| {
        SuperChunk::try_create(ours(), store_of(source), target, &params(), None).is_some()
    }),
    ("schunk_copy", |source, target| {
        let schunk = SuperChunk::open(ours(), source).expect("a super-chunk");
        schunk.copy_to(store_of(source), target, None).is_some()
    }),
    ("schunk_copy to the other store", |source, target| {
        let schunk = SuperChunk::open(ours(), source).expect("a super-chunk");
        let store = if source.is_dir() { Store::File } else { Store::Directory };
        schunk.copy_to(store, target, None).is_some()
    }),
    ("to_file", |source, target| {
        SuperChunk::open(ours(), source).expect("a super-chunk").to_file(target).is_ok()
    }),
    ("to_file of a frame in memory", |_, target| {
        let frame = SuperChunk::create(ours(), Store::MemoryFrame, Path::new(""), &params());
        (0..3).all(|seed| frame.append(&noise(seed, ITEMS)).is_ok()) && frame.to_file(target).is_ok()
    }),
    ("append_file to a new file", |source, target| {
        SuperChunk::open(ours(), source).expect("a super-chunk").append_file(target).is_ok()
    }),
];

/// Returns the parameters of a new array.
fn spec(source: &Path, target: &Path, chunkshape: [i32; 2]) -> ArraySpec {
    ArraySpec::new(&[40, 60], &chunkshape, &[5, 10], 4).with_store(store_of(source), target)
}

const OF_ARRAYS: &[(&str, Creation)] = &[
    ("b2nd_from_cbuffer", |source, target| {
        let context = spec(source, target, [10, 30]).context(ours());
        context.create_from_buffer(&noise(2, 2400)).1.is_some()
    }),
    ("b2nd_copy", |source, target| {
        spec(source, target, [10, 30]).context(ours()).copy(&open_array(source)).1.is_some()
    }),
    ("b2nd_copy to other chunks", |source, target| {
        spec(source, target, [20, 20]).context(ours()).copy(&open_array(source)).1.is_some()
    }),
    ("b2nd_save", |source, target| open_array(source).save(target) >= 0),
];

pub fn operations() -> Vec<Operation> {
    let operation = |&(name, create): &(&'static str, Creation), setup| Operation {
        name,
        group: Group::Creation,
        setup,
        change: Change::Creation(create),
    };
    let of_super_chunks = OF_SUPER_CHUNKS.iter().map(|creation| operation(creation, Setup::Schunk));
    of_super_chunks.chain(OF_ARRAYS.iter().map(|creation| operation(creation, Setup::Array))).collect()
}
