//! Every test uses its own worker set (or a callback runner that is not installed), so that it does not affect
//! tests of other modules, which share the process-wide set. Functions that affect the whole process are tested in
//! `tests/pool_fork.rs`.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use super::callback::{CallbackRunner, JobFn, ThreadsCallback};
use super::job::JobOutcome;
use super::run;
use super::test_worker_set::TestWorkerSet;
use super::worker_bits::{BANK_COUNT, MAX_WORKERS};
use crate::error::ErrorKind;

/// Panics without a message. The payload has no size: the pool forgets payloads, and Miri reports memory that is lost.
fn panic_silently() -> ! {
    std::panic::resume_unwind(Box::new(()))
}

/// Returns the number of rounds of a test that has `all` of them: fewer under Miri, which is a thousand times slower.
fn rounds(all: usize) -> usize {
    if cfg!(miri) { all.div_ceil(100) } else { all }
}

/// A job like those of the pipeline: blocks from a counter. Checks that each block is done once, and the thread
/// numbers.
fn count_blocks(nthreads: usize, blocks: usize, run: impl FnOnce(&(dyn Fn(usize) + Sync)) -> JobOutcome) {
    let next = AtomicUsize::new(0);
    let done: Vec<AtomicU32> = (0..blocks).map(|_| AtomicU32::new(0)).collect();
    let called: Vec<AtomicU32> = (0..nthreads).map(|_| AtomicU32::new(0)).collect();
    let outcome = run(&|tid| {
        called[tid].fetch_add(1, Relaxed);
        while let Some(block) = done.get(next.fetch_add(1, Relaxed)) {
            block.fetch_add(1, Relaxed);
        }
    });
    assert_eq!(outcome, JobOutcome::Done);
    assert!(done.iter().all(|block| block.load(Relaxed) == 1));
    assert_eq!(called[0].load(Relaxed), 1);
    assert!(called.iter().all(|calls| calls.load(Relaxed) <= 1));
}

/// Keeps a job on a worker until the caller has made its checks.
struct Rendezvous {
    inside: AtomicUsize,
}

impl Rendezvous {
    fn new() -> Self {
        Rendezvous { inside: AtomicUsize::new(0) }
    }

    /// Waits until `count` threads have arrived; if they never do, the test hangs, but does not fail wrongly.
    fn wait_for(&self, count: usize) {
        self.inside.fetch_add(1, Relaxed);
        while self.inside.load(Relaxed) < count {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

#[test]
fn every_block_is_processed_once_for_all_thread_counts() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    let sizes: &[usize] = if cfg!(miri) { &[3, 70] } else { &[2, 3, 4, 7, 16, 70] };
    for &nthreads in sizes {
        let numbers: &[usize] = if cfg!(miri) { &[0, 2, 20] } else { &[0, 1, 2, 3, 10, 1000] };
        for &blocks in numbers {
            count_blocks(nthreads, blocks, |work| set.run(nthreads, work));
        }
    }
    assert_eq!(set.worker_count(), 69);
}

#[test]
fn the_set_grows_to_the_largest_request_and_no_further() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    for (nthreads, workers) in [(2, 1), (5, 4), (3, 4), (5, 4), (6, 5)] {
        assert_eq!(set.run(nthreads, &|_| ()), JobOutcome::Done);
        assert_eq!(set.worker_count(), workers);
    }
    set.shutdown();
    assert_eq!(set.worker_count(), 0);
}

#[test]
fn all_requested_threads_run_concurrently() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    let numbers: &[usize] = if cfg!(miri) { &[2, 5] } else { &[2, 5, 67] };
    for &nthreads in numbers {
        for _ in 0..if cfg!(miri) { 2 } else { 20 } {
            let rendezvous = Rendezvous::new();
            let seen = AtomicU64::new(0);
            let outcome = set.run(nthreads, &|tid| {
                seen.fetch_add(1 << (tid % 64), Relaxed);
                rendezvous.wait_for(nthreads);
            });
            assert_eq!(outcome, JobOutcome::Done);
            let expected: u64 = (0..nthreads).map(|tid| 1 << (tid % 64)).fold(0, u64::wrapping_add);
            assert_eq!(seen.load(Relaxed), expected);
        }
    }
}

#[test]
fn claim_returns_only_existing_idle_workers() {
    let mut claimed = [0; BANK_COUNT];
    let owner = TestWorkerSet::new();
    let set = owner.set();
    assert_eq!(set.grow(3), 3);
    assert_eq!(set.claim(MAX_WORKERS, &mut claimed), 3);
    assert_eq!(claimed[0], 0b111);
    assert_eq!(claimed[1..], [0; BANK_COUNT - 1]);
    // No worker is idle: only the caller runs the job.
    let calls = AtomicUsize::new(0);
    let outcome = set.run(4, &|_| {
        calls.fetch_add(1, Relaxed);
    });
    assert_eq!(outcome, JobOutcome::Done);
    assert_eq!(calls.load(Relaxed), 1);
    (0..3).for_each(|index| set.set_idle(index));
}

#[test]
fn a_job_does_not_wait_for_busy_workers() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    let (started, begun) = mpsc::channel();
    let release = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let rendezvous = Rendezvous::new();
            set.run(3, &|_| {
                rendezvous.wait_for(3);
                started.send(()).unwrap();
                while !release.load(Relaxed) {
                    thread::sleep(Duration::from_micros(100));
                }
            })
        });
        (0..3).for_each(|_| begun.recv().unwrap());
        for _ in 0..rounds(100) {
            count_blocks(3, 10, |work| set.run(3, work));
        }
        release.store(true, Relaxed);
    });
}

#[test]
fn a_withdrawn_offer_leaves_the_worker_usable() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    assert_eq!(set.grow(2), 2);
    for round in 0..rounds(2000) {
        // A job without work: the offers are mostly withdrawn, from workers awake, waking and asleep.
        assert_eq!(set.run(3, &|_| ()), JobOutcome::Done);
        if round % rounds(100) == 0 {
            thread::sleep(Duration::from_millis(1));
            let rendezvous = Rendezvous::new();
            assert_eq!(set.run(3, &|_| rendezvous.wait_for(3)), JobOutcome::Done);
        }
    }
}

#[test]
fn concurrent_callers_share_the_workers() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    thread::scope(|scope| {
        for caller in 0..if cfg!(miri) { 3 } else { 8 } {
            scope.spawn(move || {
                for round in 0..rounds(500) * if cfg!(miri) { 1 } else { 4 } {
                    let nthreads = 2 + (caller + round) % 5;
                    count_blocks(nthreads, round % 40, |work| set.run(nthreads, work));
                }
            });
        }
    });
    let rendezvous = Rendezvous::new();
    assert_eq!(set.run(6, &|_| rendezvous.wait_for(6)), JobOutcome::Done);
    assert_eq!(set.worker_count(), 5);
}

#[test]
fn a_job_inside_a_job_runs_inline() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    let inner = AtomicUsize::new(0);
    let rendezvous = Rendezvous::new();
    let outcome = set.run(4, &|_| {
        rendezvous.wait_for(4);
        let here = thread::current().id();
        // Through `pool::run`, which would start the process-wide set if it did not check for this.
        run(4, &|tid| {
            assert_eq!((tid, thread::current().id()), (0, here));
            inner.fetch_add(1, Relaxed);
        })
        .unwrap();
    });
    assert_eq!(outcome, JobOutcome::Done);
    assert_eq!(inner.load(Relaxed), 4);
    assert!(!super::job::is_in_job());
}

#[test]
fn panic_in_a_job_is_reported_and_workers_stay_alive() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    for culprit in [0, 1, 2] {
        let rendezvous = Rendezvous::new();
        let survivors = AtomicUsize::new(0);
        let outcome = set.run(3, &|tid| {
            rendezvous.wait_for(3);
            if tid == culprit {
                panic_silently();
            }
            survivors.fetch_add(1, Relaxed);
        });
        assert_eq!(outcome, JobOutcome::Panicked);
        assert_eq!(survivors.load(Relaxed), 2);
        assert!(!super::job::is_in_job());
    }
    let rendezvous = Rendezvous::new();
    assert_eq!(set.run(3, &|_| rendezvous.wait_for(3)), JobOutcome::Done);
    assert_eq!(set.worker_count(), 2);
}

#[test]
fn a_panic_in_a_serial_job_is_an_error_too() {
    let error = run(1, &|_| panic_silently()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failure);
}

#[test]
fn run_returns_after_the_slowest_worker_has_finished() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    for _ in 0..if cfg!(miri) { 2 } else { 20 } {
        let rendezvous = Rendezvous::new();
        let done = AtomicUsize::new(0);
        let outcome = set.run(3, &|tid| {
            rendezvous.wait_for(3);
            thread::sleep(Duration::from_millis(tid as u64));
            done.fetch_add(1, Relaxed);
        });
        assert_eq!((outcome, done.load(Relaxed)), (JobOutcome::Done, 3));
    }
}

#[test]
fn shutdown_while_jobs_run_completes_all_jobs() {
    let owner = TestWorkerSet::new();
    let set = owner.set();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    count_blocks(4, 20, |work| set.run(4, work));
                }
            });
        }
        for _ in 0..rounds(200) {
            set.shutdown();
            set.grow(3);
        }
        over.store(true, Relaxed);
    });
    set.shutdown();
    assert_eq!(set.worker_count(), 0);
    // The idle bits are still correct: every worker is idle again after a restart.
    set.grow(3);
    let rendezvous = Rendezvous::new();
    assert_eq!(set.run(4, &|_| rendezvous.wait_for(4)), JobOutcome::Done);
}

type CallbackCalls = (AtomicUsize, AtomicUsize);

/// Records its arguments, and runs every record in order.
unsafe extern "C" fn run_in_order(
    data: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    // SAFETY: the tests below pass `CallbackCalls`, and the pool passes its records.
    unsafe {
        let seen = &*data.cast::<CallbackCalls>();
        seen.0.fetch_add(1, Relaxed);
        seen.1.store(n as usize, Relaxed);
        (0..n as usize).for_each(|i| dojob.unwrap()(jobs.byte_add(i * size)));
    }
}

unsafe extern "C" fn run_in_reverse_order(
    _: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    // SAFETY: the pool passes its records.
    unsafe { (0..n as usize).rev().for_each(|i| dojob.unwrap()(jobs.byte_add(i * size))) }
}

unsafe extern "C" fn run_in_threads(
    _: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    thread::scope(|scope| {
        for i in 0..n as usize {
            // SAFETY: the pool passes `n` records of `size` bytes.
            let record = SendPtr(unsafe { jobs.byte_add(i * size) });
            // SAFETY: the pool passes its records, which outlive the scope.
            scope.spawn(move || unsafe { dojob.unwrap()({ record }.0) });
        }
    });
}

struct SendPtr(*mut c_void);
// SAFETY: a record may be run in any thread.
unsafe impl Send for SendPtr {}

/// Runs only the last record, and that one twice.
unsafe extern "C" fn run_last_twice(
    _: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    // SAFETY: the pool passes its records.
    unsafe { (0..2).for_each(|_| dojob.unwrap()(jobs.byte_add((n as usize - 1) * size))) }
}

unsafe extern "C" fn run_no_record(_: *mut c_void, _: Option<JobFn>, _: c_int, _: usize, _: *mut c_void) {}

/// Starts a thread that is still inside the last record when the callback returns.
unsafe extern "C" fn return_too_early(
    data: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    // SAFETY: the test below passes a barrier at which its job waits; `close` waits for a running record.
    unsafe {
        let last = SendPtr(jobs.byte_add((n as usize - 1) * size));
        thread::spawn(move || dojob.unwrap()({ last }.0));
        (*data.cast::<Barrier>()).wait();
    }
}

#[test]
fn callback_may_run_records_in_any_order_or_thread_or_skip_them() {
    let seen = CallbackCalls::default();
    let data = ptr::from_ref(&seen).cast_mut().cast();
    for nthreads in [2, 3, 9] {
        count_blocks(nthreads, 50, |work| {
            // SAFETY: `run_in_order` runs each record once, with the data that it expects.
            unsafe { CallbackRunner::new(run_in_order, data) }.run(nthreads, work)
        });
        assert_eq!(seen.1.load(Relaxed), nthreads);
        for callback in [run_in_reverse_order, run_in_threads, run_last_twice, run_no_record] {
            // SAFETY: each of them passes addresses of records, before it returns.
            let runner = unsafe { CallbackRunner::new(callback, ptr::null_mut()) };
            count_blocks(nthreads, 50, |work| runner.run(nthreads, work));
        }
    }
    assert_eq!(seen.0.load(Relaxed), 3);
}

#[test]
fn panic_does_not_unwind_into_the_callback() {
    let callbacks: [(ThreadsCallback, bool); 3] =
        [(run_in_reverse_order, true), (run_in_threads, true), (run_no_record, false)];
    for culprit in [0, 2] {
        for (callback, runs_all) in callbacks {
            // SAFETY: each of them passes addresses of records, before it returns.
            let runner = unsafe { CallbackRunner::new(callback, ptr::null_mut()) };
            let outcome = runner.run(3, &|tid| {
                if tid == culprit {
                    panic_silently();
                }
            });
            let met = culprit == 0 || runs_all;
            assert_eq!(outcome, if met { JobOutcome::Panicked } else { JobOutcome::Done });
        }
    }
}

#[test]
fn run_waits_for_records_running_after_the_callback_returns() {
    let barrier = Barrier::new(2);
    let done = AtomicBool::new(false);
    // SAFETY: the callback passes addresses of records, and returns once each of them is running.
    let runner = unsafe { CallbackRunner::new(return_too_early, ptr::from_ref(&barrier).cast_mut().cast()) };
    let outcome = runner.run(2, &|tid| {
        if tid == 1 {
            barrier.wait();
            thread::sleep(Duration::from_millis(5));
            done.store(true, Relaxed);
        }
    });
    assert_eq!(outcome, JobOutcome::Done);
    assert!(done.load(Relaxed));
}

#[test]
fn job_started_in_a_callback_thread_runs_inline() {
    let inner = AtomicUsize::new(0);
    // SAFETY: the callback passes addresses of records, before it returns.
    let runner = unsafe { CallbackRunner::new(run_in_threads, ptr::null_mut()) };
    let outcome = runner.run(3, &|_| {
        run(2, &|tid| {
            inner.fetch_add(tid + 1, Relaxed);
        })
        .unwrap();
    });
    assert_eq!((outcome, inner.load(Relaxed)), (JobOutcome::Done, 3));
}
