//! Arrays that several threads write, and contents that threads read ahead.

use blosc2::{Array, Codec, Durability, ErrorKind, Filter, OpenOptions, Params, SuperChunk};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const SHAPE: [u64; 2] = [60, 70];
const WRITERS: u64 = 4;

/// The arrays of a test, one for each kind of storage.
fn arrays(directory: &Path, params: &Params) -> Vec<(String, Array<u32>)> {
    let builder = || Array::<u32>::builder(SHAPE).chunks([16, 20]).blocks([8, 10]).params(params.clone());
    let mut arrays = vec![("memory".to_owned(), builder().in_memory().unwrap())];
    for level in [Durability::Off, Durability::Kill, Durability::Power] {
        for is_directory in [false, true] {
            let name = format!("{level:?} {is_directory}");
            let array =
                builder().durability(level).directory(is_directory).create(directory.join(&name)).unwrap();
            arrays.push((name, array));
        }
    }
    arrays
}

fn params() -> Params {
    Params::new().codec(Codec::Lz4).filters([Filter::Shuffle])
}

fn expected() -> Vec<u32> {
    (0..(SHAPE[0] * SHAPE[1]) as u32).map(|n| n.wrapping_mul(2_654_435_761)).collect()
}

/// Runs `write` with the numbers of the writers, each on a thread of its own.
fn write_in_threads(write: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let write = &write;
            scope.spawn(move || write(writer));
        }
    });
}

/// Returns the items of a box of `expected`.
fn part(expected: &[u32], ranges: &[std::ops::Range<u64>]) -> Vec<u32> {
    let rows = ranges[0].clone();
    rows.flat_map(|row| ranges[1].clone().map(move |column| expected[(row * SHAPE[1] + column) as usize]))
        .collect()
}

#[test]
fn threads_write_chunks() {
    let directory = tempfile::tempdir().unwrap();
    for params in
        [params(), params().threads(2), params().dictionary(true), params().filters([Filter::Delta])]
    {
        let expected = expected();
        for (name, array) in arrays(directory.path(), &params) {
            write_in_threads(|writer| {
                for nchunk in (writer..array.nchunks()).step_by(WRITERS as usize) {
                    let items = part(&expected, &array.chunk_ranges(nchunk).unwrap());
                    array.write_chunk(nchunk, &items).unwrap();
                }
            });
            assert!(array.read(..).unwrap() == expected, "{name}");
            drop(array);
            let path = directory.path().join(&name);
            if name != "memory" {
                assert!(
                    Array::<u32>::open(&path).unwrap().read(..).unwrap() == expected,
                    "{name}, opened again"
                );
                assert!(blosc2::verify(&path, 1).unwrap().is_empty(), "{name}");
            }
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
        }
    }
}

/// Rows of one item, and columns of one item, of which each chunk has parts of all writers.
#[test]
fn threads_write_parts_of_the_same_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let expected = expected();
    for (name, array) in arrays(directory.path(), &params()) {
        write_in_threads(|writer| {
            for row in (writer..SHAPE[0]).step_by(WRITERS as usize) {
                array.write_shared((row, ..35), &part(&expected, &[row..row + 1, 0..35])).unwrap();
            }
            for column in (35 + writer..SHAPE[1]).step_by(WRITERS as usize) {
                array
                    .write_shared((.., column), &part(&expected, &[0..SHAPE[0], column..column + 1]))
                    .unwrap();
            }
        });
        assert!(array.read(..).unwrap() == expected, "{name}");
    }
}

/// A call above the limit for chunks that are compressed and not stored.
#[test]
fn one_call_writes_more_than_it_compresses_ahead() {
    let array = Array::<u64>::builder([15 << 20])
        .chunks([1 << 20])
        .params(Params::new().level(0))
        .in_memory()
        .unwrap();
    let items: Vec<u64> = (1..=15 << 20).collect();
    array.write_shared(.., &items).unwrap();
    assert!(array.read(..).unwrap() == items);
    array.write_shared(1..15 << 20, &items[..items.len() - 1]).unwrap();
    assert!(array.read(1..15 << 20).unwrap() == items[..items.len() - 1]);
}

#[test]
fn readers_see_chunks_before_or_after_a_call() {
    let directory = tempfile::tempdir().unwrap();
    for (name, array) in arrays(directory.path(), &params()) {
        if name.starts_with("Power") {
            // Synchronising files takes half a minute.
            continue;
        }
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..20u32 {
                    array.chunks().for_each(|chunk| {
                        let nitems: u64 = chunk.shape().iter().product();
                        chunk.write(&vec![round; nitems as usize]).unwrap();
                    });
                }
                is_done.store(true, Ordering::Relaxed);
            });
            let mut last = 0;
            while !is_done.load(Ordering::Relaxed) {
                let items = array.chunk(5).unwrap().to_vec().unwrap();
                assert!(items.iter().all(|&item| item == items[0]), "{name}: {items:?}");
                assert!(items[0] >= last, "{name}");
                last = items[0];
            }
        });
    }
}

#[test]
fn an_array_of_dimension_0_and_an_empty_one() {
    let item = Array::<u16>::builder([]).in_memory().unwrap();
    item.write_shared(.., &[7]).unwrap();
    assert_eq!((item.nchunks(), item.read(..).unwrap()), (1, vec![7]));
    let empty = Array::<u16>::builder([0, 3]).in_memory().unwrap();
    assert_eq!((empty.nchunks(), empty.chunks().len()), (0, 0));
    empty.write_shared(.., &[]).unwrap();
}

#[test]
fn shared_writes_check_their_arguments() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    Array::<u8>::builder([10]).chunks([4]).create(&path).unwrap();
    let array = Array::<u8>::open(&path).unwrap();
    assert_eq!(array.write_chunk(0, &[1; 4]).unwrap_err().kind(), ErrorKind::FileWrite);
    let array = OpenOptions::new().write(true).open_array::<u8>(&path).unwrap();
    for (nchunk, len) in [(3, 4), (u64::MAX, 4), (2, 3), (0, 5)] {
        let error = array.write_chunk(nchunk, &vec![1; len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParam, "{nchunk}, {len}");
    }
    array.write_chunk(2, &[1; 2]).unwrap();
    assert_eq!(array.read(..).unwrap(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn contents_are_read_ahead_in_order() {
    let mut schunk = SuperChunk::new(&Params::new().typesize(1)).unwrap();
    assert_eq!(schunk.prefetch_contents(3).unwrap().count(), 0);
    for n in 0..23u8 {
        schunk.append(&[n; 100]).unwrap();
    }
    for threads in [1, 2, 5, 100] {
        let mut contents = schunk.prefetch_contents(threads).unwrap();
        assert_eq!(contents.len(), 23);
        for n in 0..23u8 {
            assert_eq!(contents.next().unwrap().unwrap(), [n; 100]);
        }
        assert!(contents.next().is_none());
        // The threads of an iterator that is not consumed end, too.
        drop(schunk.prefetch_contents(threads).unwrap().nth(2));
    }
    assert_eq!(schunk.prefetch_contents(0).err().unwrap().kind(), ErrorKind::InvalidParam);
    schunk.append(&[0; 10]).unwrap();
}

#[test]
fn a_damaged_chunk_is_an_error_in_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let noise: Vec<u32> = expected();
    let items: Vec<u32> = noise.iter().map(|n| n ^ (n >> 15)).collect();
    Array::<u32>::builder([4200]).chunks([420]).create_from(&path, &items).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // The middle of the file is inside a chunk in the middle of the array.
    let middle = bytes.len() / 2;
    bytes[middle..middle + 200].fill(0x55);
    std::fs::write(&path, bytes).unwrap();
    let array = Array::<u32>::open(&path).unwrap();
    let is_right: Vec<bool> = (array.prefetch_chunks(3).unwrap().enumerate())
        .map(|(n, read)| read.is_ok_and(|read| read == items[n * 420..(n + 1) * 420]))
        .collect();
    assert_eq!(is_right.len(), 10);
    assert!(is_right[0] && is_right[9] && is_right.contains(&false), "{is_right:?}");
}
