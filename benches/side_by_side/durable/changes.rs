//! Cells that append and update chunks.

use std::fs::File;
use std::path::Path;

use super::variants::{Operation, TempFrame, Variant};
use crate::Bench;
use crate::library::Library;
use crate::report::Report;
use crate::schunk::handles::{self, LARGE_CHUNKSIZE, SMALL_CHUNKSIZE};
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The number of large chunks that a frame has, and that are appended in one batch.
const LARGE_CHUNKS: usize = 64;
/// The number of updates in one batch.
const UPDATES: usize = 16;
/// The number of appends that are synchronised together.
const BRACKET: usize = 100;

/// A change of a super-chunk on disk that is measured.
struct ChangeCell<'a> {
    name: String,
    initial_chunks: &'a [Vec<u8>],
    change: &'a dyn Fn(&SuperChunk),
}

/// Returns the uncompressed contents of a super-chunk on disk.
pub fn contents(library: &'static Library, path: &Path) -> Vec<u8> {
    SuperChunk::open(library, path).expect("a super-chunk").contents()
}

/// Appends `count` parts of `size` bytes of `data`, repeatedly from its start.
pub fn append_parts(schunk: &SuperChunk, data: &[u8], size: usize, count: usize) {
    for part in data.chunks(size).cycle().take(count) {
        assert!(schunk.append(part).is_ok(), "{}: an append", schunk.library.name);
    }
}

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let floats = handles::dataset_bytes("field-f32", LARGE_CHUNKS * LARGE_CHUNKSIZE);
    let integers = handles::dataset_bytes("walk-i32", LARGE_CHUNKS * LARGE_CHUNKSIZE);
    let small_count = handles::small_chunk_count(bench);
    let large = handles::compress_chunks(bench.reference, &floats, LARGE_CHUNKSIZE);
    let middle = large.len() / 2;
    let other =
        handles::compress_chunks(bench.reference, &integers[..LARGE_CHUNKSIZE], LARGE_CHUNKSIZE).remove(0);
    assert_ne!(other.len(), large[middle].len());

    let append_large = |schunk: &SuperChunk| append_parts(schunk, &floats, LARGE_CHUNKSIZE, LARGE_CHUNKS);
    let append_small = |schunk: &SuperChunk| append_parts(schunk, &integers, SMALL_CHUNKSIZE, small_count);
    let update_same = |schunk: &SuperChunk| {
        for _ in 0..UPDATES {
            assert!(schunk.update_chunk(middle as i64, &large[middle]).is_ok());
        }
    };
    let update_other = |schunk: &SuperChunk| {
        for n in 0..UPDATES {
            let chunk = if n % 2 == 0 { &other } else { &large[middle] };
            assert!(schunk.update_chunk(middle as i64, chunk).is_ok());
        }
    };
    let cell =
        |name: &str, initial_chunks, change| ChangeCell { name: name.to_string(), initial_chunks, change };
    let cells = [
        cell(
            &format!("append 256 KiB, {LARGE_CHUNKS} times"),
            &[][..],
            &append_large as &dyn Fn(&SuperChunk),
        ),
        cell(&format!("append 4 KiB, {small_count} times"), &[], &append_small),
        cell(&format!("update {UPDATES} times, same size"), &large, &update_same),
        cell(&format!("update {UPDATES} times, other sizes"), &large, &update_other),
    ];
    for store in Store::ON_DISK {
        for cell in &cells {
            measure_change(bench, report, &scratch, store, cell);
        }
        measure_bracket(bench, report, &scratch, store, &floats);
    }
}

/// Measures a change without and with closing the frame, which at level `kill` moves chunks into the gap that appends
/// left.
fn measure_change(
    bench: &Bench,
    report: &mut Report,
    scratch: &ScratchDir,
    store: Store,
    cell: &ChangeCell<'_>,
) {
    for closes in [false, true] {
        Operation {
            store,
            name: format!("{}{}", cell.name, if closes { ", and close" } else { "" }),
            variants: Variant::levels(bench),
            open: &|variant: Variant, path: &Path| {
                handles::create_with(variant.library, store, path, 1, cell.initial_chunks)
            },
            work: &|frame: &mut TempFrame<SuperChunk>| {
                (cell.change)(frame.handle());
                if closes {
                    frame.close();
                }
            },
            contents: &contents,
        }
        .measure(bench, report, scratch);
    }
}

/// Appends in one bracket at level `power`, compared with the same appends at level `off` and one `fsync` of the file
/// (of every file, for a directory). The ratio to level `off` should be at least 0.9.
fn measure_bracket(bench: &Bench, report: &mut Report, scratch: &ScratchDir, store: Store, data: &[u8]) {
    let work = |frame: &mut TempFrame<SuperChunk>| {
        let schunk = frame.handle();
        let is_bracket = frame.variant.name == "power";
        if is_bracket {
            assert_eq!(schunk.lock(), 0, "a bracket");
        }
        append_parts(schunk, data, LARGE_CHUNKSIZE, BRACKET);
        if is_bracket {
            assert_eq!(schunk.unlock(), 0, "a bracket");
        } else {
            synchronise(&frame.path);
        }
    };
    Operation {
        store,
        name: format!("synchronised, append 256 KiB, {BRACKET} times"),
        variants: vec![Variant::off(bench), Variant::power(bench), Variant::reference(bench)],
        open: &|variant: Variant, path: &Path| handles::create_with(variant.library, store, path, 1, &[]),
        work: &work,
        contents: &contents,
    }
    .measure(bench, report, scratch);
}

/// Calls `fsync` on a file, or on a directory and its files.
fn synchronise(path: &Path) {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all()).expect("synchronised");
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            sync(&entry.expect("an entry").path());
        }
    }
    sync(path);
}
