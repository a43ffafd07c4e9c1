//! Cells that write and verify checksums, at the defaults. The ratios to level `off` without checksums should be at
//! least 0.97, and at least 0.9 for single items.

use std::path::Path;

use super::changes::{append_parts, contents};
use super::variants::{Operation, TempFrame, Variant};
use crate::Bench;
use crate::report::Report;
use crate::schunk::handles::{self, LARGE_CHUNKSIZE, StorageVariant};
use crate::support::calls::Params;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The number of chunks that are appended and read.
const NCHUNKS: usize = 64;
/// The number of times that all chunks are read in one batch.
const PASSES: usize = 3;
/// The number and the sizes, in bytes, of the chunks and blocks from which single items are read.
const ITEM_CHUNKS: usize = 64;
const ITEM_CHUNKSIZE: usize = 16 << 20;
const ITEM_BLOCKSIZE: usize = 256 << 10;
/// The number of items that are read.
const ITEMS: usize = 1000;
/// The number of chunks, and their size in bytes, of a frame to which a chunk is appended.
const OLD_CHUNKS: usize = 3;
const OLD_CHUNKSIZE: usize = 1 << 20;

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let data = handles::dataset_bytes("field-f32", NCHUNKS * LARGE_CHUNKSIZE);
    let variants = || vec![Variant::off(bench), Variant::default(bench), Variant::reference(bench)];
    for store in Store::ON_DISK {
        let create =
            |variant: Variant, path: &Path| handles::create_with(variant.library, store, path, 1, &[]);
        let append = |schunk: &SuperChunk| append_parts(schunk, &data, LARGE_CHUNKSIZE, NCHUNKS);
        Operation {
            store,
            name: format!("checksums, append 256 KiB, {NCHUNKS} times"),
            variants: variants(),
            open: &create,
            work: &|frame: &mut TempFrame<SuperChunk>| append(frame.handle()),
            contents: &contents,
        }
        .measure(bench, report, &scratch);
        let open_filled = |variant: Variant, path: &Path| {
            append(&create(variant, path));
            handles::open(variant.library, StorageVariant::In(store), path)
        };
        let read = |frame: &mut TempFrame<SuperChunk>| {
            let mut dest = vec![0; LARGE_CHUNKSIZE];
            for nchunk in (0..NCHUNKS as i64).cycle().take(PASSES * NCHUNKS) {
                assert_eq!(handles::decompress(frame.handle(), nchunk, &mut dest), LARGE_CHUNKSIZE as i32);
            }
        };
        Operation {
            store,
            name: "checksums, read in sequence".to_string(),
            variants: variants(),
            open: &open_filled,
            work: &read,
            contents: &contents,
        }
        .measure(bench, report, &scratch);
        read_items(bench, report, &scratch, store);
        append_to_old_frame(bench, report, &scratch, store);
    }
}

/// Opens a frame of 1 GiB and reads single items at random places.
fn read_items(bench: &Bench, report: &mut Report, scratch: &ScratchDir, store: Store) {
    let params = Params { codec: 1, typesize: 4, blocksize: ITEM_BLOCKSIZE as i32, ..Params::default() };
    let data = handles::dataset_bytes("field-f32", ITEM_CHUNKSIZE);
    let open_filled = |variant: Variant, path: &Path| {
        let schunk = SuperChunk::create(variant.library, store, path, &params);
        append_parts(&schunk, &data, ITEM_CHUNKSIZE, ITEM_CHUNKS);
        drop(schunk);
        handles::open(variant.library, StorageVariant::In(store), path)
    };
    let read = |frame: &mut TempFrame<SuperChunk>| {
        let mut random = Random::new(71);
        for _ in 0..ITEMS {
            let at = random.below(ITEM_CHUNKS * ITEM_CHUNKSIZE / 4) as i64;
            assert!(frame.handle().get_slice(at, at + 1, 4).is_ok(), "an item");
        }
    };
    let first_item = |library, path: &Path| {
        SuperChunk::open(library, path).expect("a super-chunk").get_slice(5, 6, 4).expect("an item")
    };
    Operation {
        store,
        name: format!("checksums, {ITEMS} items of {ITEM_CHUNKS} chunks of 16 MiB"),
        variants: vec![Variant::off(bench), Variant::default(bench), Variant::reference(bench)],
        open: &open_filled,
        work: &read,
        contents: &first_item,
    }
    .measure(bench, report, scratch);
}

/// Appends a chunk to a frame of C-Blosc2, which has no checksums: by default, all its chunks are read then.
fn append_to_old_frame(bench: &Bench, report: &mut Report, scratch: &ScratchDir, store: Store) {
    let params = Params { codec: 1, typesize: 4, ..Params::default() };
    let chunk = Random::new(72).bytes(OLD_CHUNKSIZE);
    let open_old = |variant: Variant, path: &Path| {
        let schunk = SuperChunk::create(bench.reference, store, path, &params);
        append_parts(&schunk, &chunk, OLD_CHUNKSIZE, OLD_CHUNKS);
        drop(schunk);
        handles::open(variant.library, StorageVariant::In(store), path)
    };
    Operation {
        store,
        name: format!("checksums, first append to {OLD_CHUNKS} chunks of 1 MiB"),
        variants: vec![Variant::off(bench), Variant::default(bench), Variant::reference(bench)],
        open: &open_old,
        work: &|frame: &mut TempFrame<SuperChunk>| append_parts(frame.handle(), &chunk, OLD_CHUNKSIZE, 1),
        contents: &contents,
    }
    .measure(bench, report, scratch);
}
