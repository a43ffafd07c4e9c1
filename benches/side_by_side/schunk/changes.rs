//! Cells that change super-chunks. Each batch changes a new super-chunk; creating it is not timed.

use std::path::{Path, PathBuf};

use super::handles::{self, LARGE_CHUNKSIZE, SMALL_CHUNKSIZE};
use super::is_wanted;
use crate::Bench;
use crate::library::Library;
use crate::report::Report;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::timing::speed_ratio_with_setup;

/// The number of large chunks appended in one batch.
const APPENDS: usize = 64;
/// Size in bytes of the chunks of the cell that appends 20 000 of them, which takes the reference several seconds.
const TINY_CHUNKSIZE: usize = 256;
/// The number of updates in one batch.
const UPDATES: usize = 16;

/// A super-chunk and the path of its file or directory, which is removed on drop.
struct TempSchunk {
    schunk: Option<SuperChunk>,
    path: PathBuf,
}

impl Drop for TempSchunk {
    fn drop(&mut self) {
        drop(self.schunk.take());
        let _ = std::fs::remove_dir_all(&self.path).or_else(|_| std::fs::remove_file(&self.path));
    }
}

/// One cell: the chunks of the super-chunk before the batch, and the timed operation.
struct ChangeCell<'a> {
    name: String,
    initial_chunks: &'a [Vec<u8>],
    rounds: usize,
    work: &'a dyn Fn(&SuperChunk),
    /// Returns the contents after the operation, which have to be equal for both libraries.
    contents: &'a dyn Fn(&SuperChunk) -> Vec<u8>,
}

pub fn run(bench: &Bench, report: &mut Report) {
    let scratch = ScratchDir::new();
    let floats = handles::dataset_bytes("field-f32", 64 * LARGE_CHUNKSIZE);
    let integers = handles::dataset_bytes("walk-i32", 64 * LARGE_CHUNKSIZE);
    let large = handles::compress_chunks(bench.reference, &floats, LARGE_CHUNKSIZE);
    let count = handles::small_chunk_count(bench);
    let small =
        handles::compress_chunks(bench.reference, &integers[..count * SMALL_CHUNKSIZE], SMALL_CHUNKSIZE);
    // A batch of the reference takes up to several seconds.
    let rounds = if bench.options.full { bench.options.rounds.max(3) } else { 2 };
    let whole = |schunk: &SuperChunk| schunk.contents();

    let append = |data: &'static [u8], size: usize, count: usize| {
        move |schunk: &SuperChunk| {
            for (n, part) in data.chunks(size).cycle().take(count).enumerate() {
                assert_eq!(schunk.append(part), Ok(n as i64 + 1));
            }
        }
    };
    let (floats, integers): (&'static [u8], &'static [u8]) = (floats.leak(), integers.leak());
    let append_floats = append(floats, LARGE_CHUNKSIZE, APPENDS);
    let append_integers = append(integers, LARGE_CHUNKSIZE, APPENDS);
    let append_small = append(integers, SMALL_CHUNKSIZE, count);
    let append_many = append(integers, TINY_CHUNKSIZE, 20_000);
    let append_ready = |schunk: &SuperChunk| {
        for chunk in &large {
            assert!(schunk.append_chunk(chunk).is_ok());
        }
    };
    let append_ready_small = |schunk: &SuperChunk| {
        for chunk in &small {
            assert!(schunk.append_chunk(chunk).is_ok());
        }
    };
    // Updates replace a chunk by the same one, or by one of another length.
    let middle = large.len() / 2;
    let other =
        handles::compress_chunks(bench.reference, &integers[..LARGE_CHUNKSIZE], LARGE_CHUNKSIZE).remove(0);
    assert_ne!(other.len(), large[middle].len());
    let update_same = |schunk: &SuperChunk| {
        for _ in 0..UPDATES {
            assert!(schunk.update_chunk(middle as i64, &large[middle]).is_ok());
        }
    };
    let update_larger = |schunk: &SuperChunk| {
        for n in 0..UPDATES {
            let chunk = if n % 2 == 0 { &other } else { &large[middle] };
            assert!(schunk.update_chunk(middle as i64, chunk).is_ok());
        }
    };
    let update_small = |schunk: &SuperChunk| {
        for (n, chunk) in small.iter().enumerate().skip(count / 2 - 50).take(100) {
            assert!(schunk.update_chunk(n as i64, chunk).is_ok());
        }
    };

    let cell = |name: &str, before, work| ChangeCell {
        name: name.to_string(),
        initial_chunks: before,
        rounds,
        work,
        contents: &whole,
    };
    let mut cells = vec![
        cell("append_buffer 256 KiB floats", &[][..], &append_floats as &dyn Fn(&SuperChunk)),
        cell("append_buffer 256 KiB integers", &[], &append_integers),
        cell(&format!("append_buffer 4 KiB, {count} times"), &[], &append_small),
        cell("append_chunk of 256 KiB", &[], &append_ready),
        cell(&format!("append_chunk of 4 KiB, {count} times"), &[], &append_ready_small),
        cell("update_chunk in the middle, same size", &large, &update_same),
        cell("update_chunk in the middle, other sizes", &large, &update_larger),
        cell(&format!("update_chunk of {count} small ones, same size"), &small, &update_small),
    ];
    if bench.options.full || bench.options.only.contains("20000") {
        let many = cell("append_buffer 256 bytes, 20000 times", &[], &append_many);
        cells.push(ChangeCell { rounds: 1, ..many });
    }
    for store in Store::ALL {
        let name = handles::StorageVariant::In(store).name();
        for cell in cells.iter().filter(|cell| is_wanted(bench, name, &cell.name)) {
            let make = |library: &'static Library| {
                let path = if store.is_on_disk() { scratch.new_path() } else { Path::new("-").to_path_buf() };
                let schunk = handles::create_with(library, store, &path, 1, cell.initial_chunks);
                TempSchunk { schunk: Some(schunk), path }
            };
            let answers = [bench.ours, bench.reference].map(|library| {
                let made = make(library);
                let schunk = made.schunk.as_ref().expect("a super-chunk");
                (cell.work)(schunk);
                (cell.contents)(schunk)
            });
            assert!(answers[0] == answers[1], "{name} {}: contents differ", cell.name);
            let ratio = speed_ratio_with_setup(
                cell.rounds,
                |turn| make(if turn == 0 { bench.ours } else { bench.reference }),
                |made| (cell.work)(made.schunk.as_ref().expect("a super-chunk")),
            );
            report.add(name, cell.name.clone(), vec![ratio]);
        }
    }
}
