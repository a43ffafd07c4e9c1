//! Threads and processes that change the shape of one array, and write and read its items at the same time: no
//! appended row is lost, and every item keeps its position.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

use crate::children::{child_part, child_setting, join_children, start_child};
use crate::support::array::{Array, ArraySpec};
use crate::support::child::test_name;
use crate::support::library::Library;
use crate::support::random::from_environment;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, c_path};

const PATH: &str = "BLOSC2_CONCURRENCY_PATH";

/// Items per row, of four bytes each.
const COLUMNS: usize = 6;
const ITEM_SIZE: usize = 4;

fn nrows(short: u64) -> u32 {
    from_environment("BLOSC2_CONCURRENCY_APPENDS", short) as u32
}

/// Returns row `number` of a writer.
fn row(writer: u32, number: u32) -> Vec<u8> {
    (0..COLUMNS as u32).flat_map(|column| (writer << 24 | number << 8 | column).to_le_bytes()).collect()
}

struct SharedArray(Array);

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedArray {}

/// Sets a flag when it is dropped, so that the threads that read the flag end after a failure of this thread, too.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Fails unless the array has the rows of all writers, each once, and those of each writer in order.
#[track_caller]
fn assert_has_all_rows(array: &Array, nwriters: u32, nrows: u32) {
    assert_eq!(array.shape(), [i64::from(nwriters * nrows), COLUMNS as i64]);
    let bytes = array.to_cbuffer().expect("all items");
    let mut next = vec![0; nwriters as usize];
    for (at, found) in bytes.chunks(COLUMNS * ITEM_SIZE).enumerate() {
        let writer = u32::from(found[3]);
        assert!(writer < nwriters, "row {at}: {found:?}");
        assert_eq!(found, row(writer, next[writer as usize]), "row {at}");
        next[writer as usize] += 1;
    }
    assert_eq!(next, vec![nrows; nwriters as usize]);
}

fn create_empty(store: Store, path: &Path) -> Array {
    ArraySpec::new(&[0, COLUMNS as i64], &[4, 3], &[2, 3], ITEM_SIZE as i32)
        .with_store(store, path)
        .zeros(Library::ours())
}

/// Appends rows; every other writer appends arrays of one row.
fn append_rows(array: &Array, writer: u32, nrows: u32) {
    for number in 0..nrows {
        let items = row(writer, number);
        let code = if writer.is_multiple_of(2) {
            array.append(&items, 0)
        } else {
            let spec = ArraySpec::new(&[1, COLUMNS as i64], &[4, 3], &[2, 3], ITEM_SIZE as i32);
            array.extend(&spec.create_from_buffer(Library::ours(), &items), 0)
        };
        assert_eq!(code, 0, "row {number} of {writer}");
    }
}

/// Two threads concatenate two arrays many times, in opposite orders, without a deadlock.
#[test]
fn concurrent_concatenations_in_opposite_order_do_not_deadlock() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let spec = |_| {
            let spec =
                ArraySpec::new(&[1], &[3], &[2], ITEM_SIZE as i32).with_store(store, &scratch.new_path());
            SharedArray(spec.create_from_buffer(Library::ours(), &[7; ITEM_SIZE]))
        };
        let arrays = &[0, 1].map(spec);
        thread::scope(|scope| {
            for nth in 0..2 {
                scope.spawn(move || {
                    for _ in 0..8 {
                        assert_eq!(arrays[nth].0.extend(&arrays[1 - nth].0, 0), 0);
                    }
                });
            }
        });
        for SharedArray(array) in arrays {
            assert!(array.to_cbuffer().expect("all items").iter().all(|&byte| byte == 7));
        }
    }
}

#[test]
fn rows_appended_by_threads_are_all_kept() {
    let (scratch, nwriters, nrows) = (ScratchDir::new(), 4, nrows(200));
    for store in Store::ALL {
        let shared = &SharedArray(create_empty(store, &scratch.new_path()));
        thread::scope(|scope| {
            for writer in 0..nwriters {
                scope.spawn(move || append_rows(&shared.0, writer, nrows));
            }
        });
        assert_has_all_rows(&shared.0, nwriters, nrows);
    }
}

fn append_from_two_processes(test: &str, store: Store) {
    let nrows = nrows(200);
    if let Some(part) = child_part() {
        let (rc, array) = Array::open(Library::ours(), Path::new(&child_setting(PATH)));
        let array = array.unwrap_or_else(|| panic!("no array: {rc}"));
        return append_rows(&array, u32::from(part == "second"), nrows);
    }
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    drop(create_empty(store, &path));
    let text = c_path(&path).into_string().expect("a path");
    let child = |part| start_child(test, part, &[(PATH, text.as_str()), ("BLOSC_LOCKING", "1")]);
    join_children(vec![("the first process", child("first")), ("the second process", child("second"))]);
    let (rc, array) = Array::open(Library::ours(), &path);
    assert_has_all_rows(&array.unwrap_or_else(|| panic!("no array: {rc}")), 2, nrows);
}

#[test]
fn rows_appended_to_a_file_by_processes_are_all_kept() {
    append_from_two_processes(test_name!(), Store::File);
}

#[test]
fn rows_appended_to_a_directory_by_processes_are_all_kept() {
    append_from_two_processes(test_name!(), Store::Directory);
}

/// Adding and removing columns changes the number of every chunk except those of the first row of chunks.
#[test]
fn items_keep_their_positions_while_columns_are_added_and_removed() {
    const ROWS: usize = 8;
    let (scratch, rounds) = (ScratchDir::new(), nrows(60));
    for store in Store::ALL {
        let items: Vec<u8> = (0..ROWS as u32).flat_map(|at| row(at, 0)).collect();
        let spec = ArraySpec::new(&[ROWS as i64, COLUMNS as i64], &[2, 2], &[1, 2], ITEM_SIZE as i32);
        let shared = &SharedArray(
            spec.with_store(store, &scratch.new_path()).create_from_buffer(Library::ours(), &items),
        );
        let (is_over, is_over_too) = (&AtomicBool::new(false), &AtomicBool::new(false));
        thread::scope(|scope| {
            // Writes every second row.
            let writer = scope.spawn(move || {
                for number in 1..=rounds {
                    for at in (0..ROWS).step_by(2) {
                        let (start, stop) = ([at as i64, 0], [at as i64 + 1, COLUMNS as i64]);
                        assert_eq!(shared.0.set(&start, &stop, &row(at as u32, number)), 0);
                        let back = shared.0.get(&start, &stop).expect("a row");
                        assert_eq!(back, row(at as u32, number), "row {at}");
                    }
                }
                is_over.store(true, SeqCst);
            });
            let reader = scope.spawn(move || {
                while !is_over_too.load(SeqCst) {
                    let all = shared.0.get(&[0, 0], &[ROWS as i64, COLUMNS as i64]).expect("all rows");
                    // A row has three chunks, which are written one after another.
                    for (at, found) in all.chunks(ITEM_SIZE).enumerate() {
                        let (at, column) = (at / COLUMNS, at % COLUMNS);
                        let number = u32::from(found[1]) | u32::from(found[2]) << 8;
                        assert_eq!(
                            found,
                            &row(at as u32, number)[column * ITEM_SIZE..][..ITEM_SIZE],
                            "row {at}"
                        );
                        assert!(
                            at % 2 == 0 || number == 0,
                            "row {at}, which is never written, has number {number}"
                        );
                    }
                }
            });
            let mut result = Ok(());
            while result.is_ok() && !is_over.load(SeqCst) && !writer.is_finished() {
                let codes = [
                    shared.0.append(&[0xff; ROWS * 5 * ITEM_SIZE], 1),
                    shared.0.delete(1, COLUMNS as i64, 5),
                    shared.0.insert(&[0xfe; 2 * COLUMNS * ITEM_SIZE], 0, ROWS as i64),
                    shared.0.delete(0, ROWS as i64, 2),
                ];
                result = if codes == [0; 4] { Ok(()) } else { Err(codes) };
            }
            is_over_too.store(true, SeqCst);
            writer.join().expect("a writer");
            reader.join().expect("a reader");
            assert_eq!(result, Ok(()));
        });
        assert_eq!(shared.0.shape(), [ROWS as i64, COLUMNS as i64]);
    }
}

/// A thread writes and reads a view while another one adds and removes columns of its array, with which chunks have
/// other numbers: the view reads and writes its own items, or fails.
#[test]
fn views_access_their_own_items_while_columns_are_added_and_removed() {
    const ROWS: usize = 8;
    let (scratch, rounds) = (ScratchDir::new(), nrows(200));
    for store in Store::ALL {
        let items: Vec<u8> = (0..ROWS as u32).flat_map(|at| row(at, 0)).collect();
        let shape = [ROWS as i64, 1, COLUMNS as i64];
        let spec = ArraySpec::new(&shape, &[2, 1, 2], &[1, 1, 2], ITEM_SIZE as i32);
        let shared = &SharedArray(
            spec.with_store(store, &scratch.new_path()).create_from_buffer(Library::ours(), &items),
        );
        let view = &SharedArray(shared.0.squeeze().1.expect("a view"));
        let is_over = &AtomicBool::new(false);
        let mut written = [0; ROWS];
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut changes = 0;
                while !is_over.load(SeqCst) || changes == 0 {
                    assert_eq!(shared.0.append(&[0xff; ROWS * 5 * ITEM_SIZE], 2), 0);
                    assert_eq!(shared.0.delete(2, COLUMNS as i64, 5), 0);
                    changes += 1;
                }
            });
            let _over = SetOnDrop(is_over);
            for number in 1..=rounds {
                let at = number as usize % ROWS;
                let (start, stop) = ([at as i64, 0], [at as i64 + 1, COLUMNS as i64]);
                if let Ok(found) = view.0.get(&start, &stop) {
                    assert_eq!(found, row(at as u32, written[at]), "row {at}");
                }
                // The array has three chunks along a row: a failed write changes none of them.
                if view.0.set(&start, &stop, &row(at as u32, number)) == 0 {
                    written[at] = number;
                }
            }
        });
        let expected: Vec<u8> = (0..ROWS).flat_map(|at| row(at as u32, written[at])).collect();
        assert_eq!(view.0.to_cbuffer(), Ok(expected), "{store:?}");
    }
}
