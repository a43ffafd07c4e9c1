//! Numbers of threads after each call, calls from many threads at the same time, and threads that cannot be created
//! (blosc1.md 3.2, 12.10 to 12.12).
//!
//! `BLOSC1_SECONDS` is the duration of the test with many threads, in seconds (default 2).

use super::work::{compress, content, decompress, round_trip_works};
use crate::support::child::{in_new_process, test_name};
use crate::support::fork::thread_count;
use crate::support::forked::{Outcome, in_forked_processes};
use crate::support::{CODECS, Library, Random, from_environment, libraries, ours};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

// So long that the start of threads saves time on a busy machine, too.
const LARGE: usize = 16 << 20;

/// Waits until the process has that number of threads: a joined thread may still be in the list of the kernel. Returns
/// the number that it has.
fn settled_thread_count(expected: usize) -> i64 {
    let late = Instant::now() + Duration::from_secs(5);
    while thread_count() != expected && Instant::now() < late {
        thread::sleep(Duration::from_millis(1));
    }
    thread_count() as i64
}

/// Compresses and decompresses, several times so that every worker has been started. Returns the number of threads.
fn threads_after_work(library: &Library, len: usize, expected: usize) -> i64 {
    let content = content(len, 5);
    assert!((0..4).all(|_| round_trip_works(library, &content)));
    settled_thread_count(expected)
}

fn threads_after_work_with_context(library: &Library, nthreads: i32, expected: usize) -> i64 {
    let content = content(LARGE, 5);
    let chunk = library.compress((5, 1, 4), &content, LARGE + 16, c"lz4", 0, nthreads).expect("a chunk");
    assert!(library.decompress(&chunk, LARGE, nthreads) == Ok(content));
    settled_thread_count(expected)
}

fn set_nthreads(library: &Library, nthreads: i32, expected: usize) -> i64 {
    // SAFETY: a number.
    unsafe { (library.blosc_set_nthreads)(nthreads) };
    settled_thread_count(expected)
}

/// Returns how many threads work here when `nthreads` are requested: no more than there are cores.
fn at_most_cores(nthreads: usize) -> usize {
    nthreads.min(thread::available_parallelism().map_or(1, usize::from))
}

/// A call, and the number of threads of the process after it: of this library with enough cores, and of the reference. The
/// caller is one of the threads that work here; in the reference it only waits.
type Step = (&'static str, fn(&Library, usize) -> i64, [usize; 2]);

const STEPS: [Step; 17] = [
    ("4 threads", |library, expected| set_nthreads(library, 4, expected), [1, 1]),
    ("one block", |library, expected| threads_after_work(library, 4000, expected), [1, 1]),
    ("work", |library, expected| threads_after_work(library, LARGE, expected), [4, 5]),
    ("the same number", |library, expected| set_nthreads(library, 4, expected), [4, 5]),
    ("fewer threads", |library, expected| set_nthreads(library, 3, expected), [1, 1]),
    ("work of 3 threads", |library, expected| threads_after_work(library, LARGE, expected), [3, 4]),
    ("free", |library, expected| free(library, expected), [1, 1]),
    ("work after free", |library, expected| threads_after_work(library, LARGE, expected), [3, 4]),
    ("one thread", |library, expected| set_nthreads(library, 1, expected), [1, 1]),
    ("work of 1 thread", |library, expected| threads_after_work(library, LARGE, expected), [1, 1]),
    ("2 threads", |library, expected| set_nthreads(library, 2, expected), [1, 1]),
    ("work of 2 threads", |library, expected| threads_after_work(library, LARGE, expected), [2, 3]),
    ("a bad number", |library, expected| set_nthreads(library, -1, expected), [1, 1]),
    ("2 threads again", |library, expected| set_nthreads(library, 2, expected), [1, 1]),
    ("work again", |library, expected| threads_after_work(library, LARGE, expected), [2, 3]),
    ("destroy", |library, expected| destroy(library, expected), [1, 1]),
    // Contexts share the workers here; the reference starts and ends threads in each call.
    ("contexts", |library, expected| threads_after_work_with_context(library, 3, expected), [3, 1]),
];

fn free(library: &Library, expected: usize) -> i64 {
    // SAFETY: no arguments.
    assert_eq!(unsafe { (library.blosc_free_resources)() }, 0);
    settled_thread_count(expected)
}

fn destroy(library: &Library, expected: usize) -> i64 {
    // SAFETY: no arguments.
    unsafe { (library.blosc_destroy)() };
    settled_thread_count(expected)
}

#[test]
fn numbers_of_threads_after_each_call() {
    let Some((libraries, _guard)) = libraries() else { return };
    for (which, library) in libraries.iter().enumerate() {
        let expected_of = |expected: [usize; 2]| [at_most_cores(expected[0]), expected[1]][which];
        let found = in_forked_processes(STEPS.len(), Duration::from_secs(30), |number| {
            let (_, call, expected) = STEPS[number];
            call(library, expected_of(expected))
        });
        for ((what, _, expected), found) in STEPS.iter().zip(found) {
            let expected = expected_of(*expected) as i64;
            assert_eq!(found, Outcome::Returned(expected), "{}: {what}", library.name);
        }
    }
}

/// Workers that contexts have started end too, although the library is not initialised by them.
#[test]
fn destroy_ends_the_threads_of_contexts() {
    let ours = ours();
    let found = in_forked_processes(2, Duration::from_secs(30), |number| match number {
        0 => threads_after_work_with_context(&ours, 4, at_most_cores(4)),
        _ => destroy(&ours, 1),
    });
    assert_eq!(found, [at_most_cores(4), 1].map(|count| Outcome::Returned(count as i64)));
}

/// One of the calls of a thread of the test below. All settings that it changes are valid.
fn random_call(library: &Library, random: &mut Random, content: &[u8], chunk: &[u8]) {
    // SAFETY: valid settings, and no arguments.
    unsafe {
        match random.below(24) {
            0 => drop((library.blosc_set_nthreads)(1 + random.below(5) as i32)),
            1 => drop((library.blosc_set_compressor)(CODECS[random.below(6)].as_ptr())),
            2 => (library.blosc_set_blocksize)([0, 4096, 50_000, 200_000][random.below(4)]),
            3 => (library.blosc_set_splitmode)(1 + random.below(4) as i32),
            4 => (library.blosc_init)(),
            5 => (library.blosc_destroy)(),
            6 => drop((library.blosc_free_resources)()),
            7 => assert!((1..=5).contains(&(library.blosc_get_nthreads)())),
            8 => assert!(!(library.blosc_get_compressor)().is_null()),
            9 => assert!((library.blosc_get_blocksize)() >= 0),
            10..17 => {
                let chunk = compress(library, content).expect("a chunk");
                assert!(
                    decompress(library, &chunk, content.len()).as_deref() == Ok(content),
                    "wrong content"
                );
            }
            17..20 => {
                assert!(decompress(library, chunk, content.len()).as_deref() == Ok(content), "wrong content");
            }
            20 => {
                let (arguments, codec) = ((4, 2, 4), CODECS[random.below(6)]);
                let nthreads = 1 + random.below(4) as i32;
                let chunk = library.compress(arguments, content, content.len() + 16, codec, 0, nthreads);
                let chunk = chunk.expect("a chunk");
                assert!(library.decompress(&chunk, content.len(), nthreads).as_deref() == Ok(content));
            }
            _ => {
                let start = random.below(content.len() / 8);
                let expected = &content[4 * start..4 * start + 400];
                assert!(
                    library.getitem(chunk, start as i32, 100, 400).as_deref() == Ok(expected),
                    "wrong items"
                );
            }
        }
    }
}

#[test]
fn calls_from_many_threads_return_right_results() {
    in_new_process(test_name!(), || {
        let ours = ours();
        let end = Instant::now() + Duration::from_secs(from_environment("BLOSC1_SECONDS", 2));
        let calls = AtomicU64::new(0);
        thread::scope(|scope| {
            for number in 0..8_u64 {
                let calls = &calls;
                scope.spawn(move || {
                    let mut random = Random(0x7A_2D00 + number);
                    let content = content(100_000 + 40_000 * number as usize, number);
                    let chunk = compress(&ours, &content).expect("a chunk");
                    while Instant::now() < end {
                        random_call(&ours, &mut random, &content, &chunk);
                        calls.fetch_add(1, Relaxed);
                    }
                });
            }
        });
        assert!(calls.load(Relaxed) > 100, "{calls:?} calls");
        destroy(&ours, 2);
        // The main thread and that of the test.
        let harness = thread_count();
        assert!(harness <= 2, "{harness} threads are left");
    });
}

/// Limits the address space to what the process has, and `more` bytes. Returns the previous limit.
fn limit_memory(more: u64) -> libc::rlimit {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the counters of the process");
    let pages: u64 = statm.split(' ').next().expect("a counter").parse().expect("a number");
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid struct.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) }, 0);
    set_limit(libc::rlimit { rlim_cur: (pages * 4096 + more) as libc::rlim_t, ..limit });
    limit
}

fn set_limit(limit: libc::rlimit) {
    // SAFETY: a valid struct.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

/// With memory for the work, but for no stack of a thread; then for the stacks of some threads.
#[test]
fn work_goes_on_with_fewer_threads_when_none_can_be_created() {
    for (more, may_start) in [(6 << 20, false), (40 << 20, true)] {
        let ours = ours();
        let found = in_forked_processes(1, Duration::from_secs(60), |_| {
            let content = content(400_000, 5);
            // Fill the free lists of the allocator, so that the work needs no address space.
            assert!((0..4).all(|_| round_trip_works(&ours, &content)));
            set_nthreads(&ours, 200, 1);
            let previous = limit_memory(more);
            let all_right = (0..4).all(|_| round_trip_works(&ours, &content));
            let threads = thread_count();
            set_limit(previous);
            assert!(all_right, "a wrong result with {more} bytes");
            assert!(may_start || threads == 1, "{threads} threads with {more} bytes");
            assert!(threads < 200, "the limit has no effect");
            assert_eq!(free(&ours, 1), 1);
            // With memory, the workers start.
            set_nthreads(&ours, 4, 1);
            threads_after_work(&ours, LARGE, at_most_cores(4))
        });
        assert_eq!(found[0], Outcome::Returned(at_most_cores(4) as i64), "{more} bytes");
    }
}
