//! Effects of the thread pool on the process: forks, the number of threads, the installed threads callback,
//! allocations, and threads that cannot be created. Each test runs in a separate process: it starts this program
//! again for only that test.

#![cfg(target_os = "linux")]

use libblosc2_test_support::support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::child::{in_new_process, test_name};
use crate::support::fork::{fork_and_run, thread_count, wait_for_exit};
use blosc2::ErrorKind;
use blosc2::internals::pool::{JobFn, prestart, run, set_callback, shutdown, worker_count};

/// The system's allocator with a counter of the allocations of the threads that take part in jobs. (The test harness
/// has threads, too.)
struct CountingAllocator;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static COUNTED: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every request is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTED.get() {
            ALLOCATIONS.fetch_add(1, Relaxed);
        }
        // SAFETY: the caller guarantees the conditions of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs a job of `nthreads` over `blocks` blocks and returns the sum of its results.
fn sum_blocks(nthreads: usize, blocks: u64) -> u64 {
    let next = AtomicU64::new(0);
    let sum = AtomicU64::new(0);
    run(nthreads, &|_| {
        loop {
            let block = next.fetch_add(1, Relaxed);
            if block >= blocks {
                break;
            }
            sum.fetch_add(block, Relaxed);
        }
    })
    .unwrap();
    sum.load(Relaxed)
}

/// Returns whether jobs of `nthreads` work, and whether all `nthreads` threads take part. Several attempts are made,
/// since another thread may be using the workers.
fn can_run_jobs(nthreads: usize) -> bool {
    let all_came = (0..1000).any(|_| {
        let here = AtomicUsize::new(0);
        let late = Instant::now() + Duration::from_secs(2);
        run(nthreads, &|_| {
            here.fetch_add(1, Relaxed);
            while here.load(Relaxed) < nthreads && Instant::now() < late {
                thread::yield_now();
            }
        })
        .unwrap();
        here.load(Relaxed) == nthreads
    });
    all_came && sum_blocks(nthreads, 1000) == 499_500
}

#[test]
fn every_thread_is_gone_after_shutdown() {
    in_new_process(test_name!(), || {
        let before = thread_count();
        for nthreads in [2, 5, 3, 66] {
            prestart(nthreads).unwrap();
            assert_eq!(worker_count(), nthreads - 1);
            assert_eq!(thread_count(), before + nthreads - 1);
            assert!(can_run_jobs(nthreads));
            shutdown();
            assert_eq!(worker_count(), 0);
            // A joined thread may still be in the kernel's thread list.
            let late = Instant::now() + Duration::from_secs(60);
            while thread_count() != before && Instant::now() < late {
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(thread_count(), before);
            shutdown();
        }
        // The next job starts them again.
        assert!(can_run_jobs(4));
        assert_eq!(thread_count(), before + 3);
    });
}

#[test]
fn shutdown_and_prestart_inside_a_job_do_not_wait_for_it() {
    in_new_process(test_name!(), || {
        run(3, &|_| {
            shutdown();
            prestart(6).unwrap();
        })
        .unwrap();
        assert_eq!(worker_count(), 5);
        assert!(can_run_jobs(6));
    });
}

#[test]
fn jobs_allocate_nothing_once_the_workers_are_there() {
    in_new_process(test_name!(), || {
        prestart(4).unwrap();
        let here = AtomicUsize::new(0);
        run(4, &|_| {
            COUNTED.set(true);
            drop(std::hint::black_box(Box::new(here.fetch_add(1, Relaxed))));
            while here.load(Relaxed) < 4 {
                thread::yield_now();
            }
        })
        .unwrap();
        let before = ALLOCATIONS.load(Relaxed);
        assert_eq!(before, 4, "every thread is counted");
        for round in 0..2000 {
            sum_blocks(2 + round % 3, 100);
            if round % 100 == 0 {
                // Long enough for the workers, and for the caller, to block.
                run(4, &|tid| thread::sleep(Duration::from_micros(200 * tid as u64))).unwrap();
            }
        }
        assert_eq!(ALLOCATIONS.load(Relaxed), before);
    });
}

#[test]
fn jobs_run_serially_when_no_thread_can_be_created() {
    in_new_process(test_name!(), || {
        prestart(1).unwrap();
        let statm = fs::read_to_string("/proc/self/statm").unwrap();
        let pages: libc::rlim_t = statm.split(' ').next().unwrap().parse().unwrap();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is a valid struct, written and read.
        unsafe { assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &mut limit), 0) };
        // Enough memory for small allocations, but not for a stack.
        let tight = libc::rlimit { rlim_cur: pages * 4096 + (6 << 20), ..limit };
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &tight), 0) };
        let failed = prestart(4).unwrap_err();
        let serial = sum_blocks(4, 1000);
        // SAFETY: as above.
        unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0) };
        assert_eq!(failed.kind(), ErrorKind::ThreadCreate);
        assert_eq!((serial, worker_count()), (499_500, 0));
        assert!(can_run_jobs(4));
    });
}

/// Runs the records in reverse order; the data counts the calls.
unsafe extern "C" fn run_jobs_in_reverse(
    data: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    // SAFETY: the test below passes a counter, and the pool passes its records.
    unsafe {
        (*data.cast::<AtomicUsize>()).fetch_add(1, Relaxed);
        (0..n as usize).rev().for_each(|i| dojob.unwrap()(jobs.byte_add(i * size)));
    }
}

#[test]
fn installed_callback_runs_the_jobs_until_it_is_removed() {
    in_new_process(test_name!(), || {
        static CALLS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let calls = |i: usize| CALLS[i].load(Relaxed);
        for round in 1..=3 {
            for counter in &CALLS {
                let data = ptr::from_ref(counter).cast_mut().cast();
                // SAFETY: the callback follows the contract, and its data is static.
                unsafe { set_callback(Some(run_jobs_in_reverse), data) };
                prestart(4).unwrap();
                assert_eq!(worker_count(), 0);
                assert_eq!(sum_blocks(4, 1000), 499_500);
                assert_eq!(sum_blocks(1, 1000), 499_500);
            }
            assert_eq!((calls(0), calls(1)), (round, round));
            // SAFETY: no callback is installed.
            unsafe { set_callback(None, ptr::null_mut()) };
            assert!(can_run_jobs(4));
            assert_eq!((calls(0), calls(1), worker_count()), (round, round, 3));
            shutdown();
        }
    });
}

#[test]
fn a_forked_child_starts_workers_of_its_own() {
    in_new_process(test_name!(), || {
        assert!(can_run_jobs(4));
        for _ in 0..10 {
            let child = fork_and_run(|| {
                let empty = worker_count() == 0;
                let same = can_run_jobs(4) && worker_count() == 3;
                let other = can_run_jobs(6) && can_run_jobs(2) && worker_count() == 5;
                let grandchild = wait_for_exit(fork_and_run(|| worker_count() == 0 && can_run_jobs(4))) == 0;
                shutdown();
                empty && same && other && grandchild && worker_count() == 0
            });
            assert!(can_run_jobs(4));
            assert_eq!(wait_for_exit(child), 0);
        }
        assert!(can_run_jobs(4) && worker_count() == 3);
    });
}

#[test]
fn a_fork_may_happen_while_other_threads_run_jobs() {
    in_new_process(test_name!(), || {
        assert!(can_run_jobs(4));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Relaxed) {
                        assert_eq!(sum_blocks(4, 50), 1225);
                    }
                });
            }
            let statuses: Vec<_> =
                (0..50).map(|_| wait_for_exit(fork_and_run(|| can_run_jobs(4) && can_run_jobs(3)))).collect();
            over.store(true, Relaxed);
            assert_eq!(statuses, [0; 50]);
        });
        assert!(can_run_jobs(4));
    });
}

#[test]
fn a_fork_may_happen_while_another_thread_starts_and_ends_workers() {
    in_new_process(test_name!(), || {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            // Holds the lock for adding workers nearly all the time.
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    prestart(5).unwrap();
                    shutdown();
                }
            });
            let child = || prestart(3).is_ok() && can_run_jobs(4);
            let statuses: Vec<_> = (0..50).map(|_| wait_for_exit(fork_and_run(child))).collect();
            over.store(true, Relaxed);
            assert_eq!(statuses, [0; 50]);
        });
        assert!(can_run_jobs(4));
    });
}

#[test]
fn job_that_forks_returns_an_error_in_the_child() {
    in_new_process(test_name!(), || {
        prestart(3).unwrap();
        let here = AtomicUsize::new(0);
        let parent = std::process::id();
        let child = AtomicUsize::new(0);
        let outcome = run(3, &|tid| {
            here.fetch_add(1, Relaxed);
            while here.load(Relaxed) < 3 {
                thread::yield_now();
            }
            if tid == 0 {
                // SAFETY: the child uses only the pool, until `_exit`.
                let pid = unsafe { libc::fork() };
                assert!(pid >= 0);
                child.store(pid as usize, Relaxed);
                here.fetch_add(1, Relaxed);
            } else {
                // Keeps the workers in the job until the fork has returned.
                while here.load(Relaxed) < 4 {
                    thread::yield_now();
                }
            }
        });
        if std::process::id() != parent {
            // SAFETY: plain system calls.
            unsafe {
                libc::alarm(120);
                let told = outcome.is_err_and(|error| error.kind() == ErrorKind::Failure);
                libc::_exit(if told && can_run_jobs(3) { 0 } else { 1 });
            }
        }
        outcome.unwrap();
        assert_eq!(wait_for_exit(child.load(Relaxed) as libc::pid_t), 0);
        assert!(can_run_jobs(3));
    });
}
