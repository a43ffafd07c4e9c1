//! Forks (blosc1.md 3.3): the child of a process with a pool, or with threads that compress, keeps the settings and works.

use super::work::{compress, content, decompress, round_trip_works};
use crate::support::child::{in_new_process, test_name};
use crate::support::fork::{fork_and_run, thread_count, wait_for_exit};
use crate::support::{Library, ours};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

const LARGE: usize = 2 << 20;
const FORKS: usize = 60;

fn core_count() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Sets 4 threads, the codec zlib and a block size.
fn set_up(library: &Library) {
    // SAFETY: settings.
    unsafe {
        (library.blosc_set_nthreads)(4);
        assert_eq!((library.blosc_set_compressor)(c"zlib".as_ptr()), 4);
        (library.blosc_set_blocksize)(30_000);
    }
}

/// What a child does: it has the settings, is not initialised, compresses, decompresses, changes the number of threads,
/// and destroys. Returns whether everything is right.
fn child_works(library: &Library, chunk: &[u8], expected: &[u8]) -> bool {
    // SAFETY: functions without arguments, and numbers.
    unsafe {
        let is_initialised = (library.blosc_free_resources)() == 0;
        let has_settings = (library.blosc_get_nthreads)() == 4 && (library.blosc_get_blocksize)() == 30_000;
        let code = (library.blosc_compname_to_compcode)((library.blosc_get_compressor)());
        if is_initialised || !has_settings || code != 4 {
            return false;
        }
        let before = decompress(library, chunk, expected.len()).as_deref() == Ok(expected);
        let with_4 = round_trip_works(library, expected);
        let has_own_pool = thread_count() > 1 || core_count() == 1;
        let previous = (library.blosc_set_nthreads)(2);
        let with_2 = round_trip_works(library, expected);
        let freed = (library.blosc_free_resources)();
        (library.blosc_destroy)();
        let freed_again = (library.blosc_free_resources)();
        let at_last = round_trip_works(library, expected);
        before && with_4 && has_own_pool && with_2 && at_last && (previous, freed, freed_again) == (4, 0, -1)
    }
}

#[test]
fn children_and_grandchildren_of_a_process_with_a_pool_work() {
    in_new_process(test_name!(), || {
        let ours = ours();
        set_up(&ours);
        let content = content(LARGE, 1);
        let chunk = compress(&ours, &content).expect("a chunk");
        let harness = thread_count();
        assert!(harness > 4.min(core_count()), "the pool has started");
        let child = fork_and_run(|| {
            let grandchild = fork_and_run(|| child_works(&ours, &chunk, &content));
            // A grandchild of a child that has a pool of its own, too.
            let has_worked = wait_for_exit(grandchild) == 0 && round_trip_works(&ours, &content);
            let second = fork_and_run(|| child_works(&ours, &chunk, &content));
            has_worked && wait_for_exit(second) == 0 && round_trip_works(&ours, &content)
        });
        assert_eq!(wait_for_exit(child), 0);
        let child = fork_and_run(|| child_works(&ours, &chunk, &content));
        assert_eq!(wait_for_exit(child), 0);
        // The parent goes on.
        assert!(round_trip_works(&ours, &content));
        // SAFETY: functions without arguments.
        unsafe {
            assert_eq!((ours.blosc_get_nthreads)(), 4);
            assert_eq!((ours.blosc_free_resources)(), 0);
        }
    });
}

#[test]
fn children_of_a_process_whose_threads_compress_work() {
    in_new_process(test_name!(), || {
        let ours = ours();
        set_up(&ours);
        let expected = content(LARGE / 8, 1);
        let chunk = compress(&ours, &expected).expect("a chunk");
        let (ends, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
        thread::scope(|scope| {
            for seed in 0..2 {
                let (ends, rounds) = (&ends, &rounds);
                scope.spawn(move || {
                    let content = content(LARGE / 4, seed);
                    while !ends.load(Relaxed) {
                        assert!(round_trip_works(&ours, &content));
                        rounds.fetch_add(1, Relaxed);
                    }
                });
            }
            let failed = (0..FORKS)
                .filter(|_| wait_for_exit(fork_and_run(|| child_works(&ours, &chunk, &expected))) != 0)
                .count();
            ends.store(true, Relaxed);
            assert_eq!(failed, 0, "of {FORKS} children");
        });
        assert!(rounds.load(Relaxed) > 2);
        assert!(round_trip_works(&ours, &expected));
    });
}
