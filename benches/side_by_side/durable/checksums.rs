//! Cells that write and verify checksums. The ratios to level `off` without checksums should be at least 0.97.

use std::path::Path;

use super::changes::{append_parts, contents};
use super::variants::{Operation, TempFrame, Variant};
use crate::Bench;
use crate::report::Report;
use crate::schunk::handles::{self, LARGE_CHUNKSIZE, StorageVariant};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The number of chunks that are appended and read.
const NCHUNKS: usize = 64;
/// The number of times that all chunks are read in one batch.
const PASSES: usize = 3;

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let data = handles::dataset_bytes("field-f32", NCHUNKS * LARGE_CHUNKSIZE);
    let variants = || vec![Variant::off(bench), Variant::checksums(bench), Variant::reference(bench)];
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
    }
}
