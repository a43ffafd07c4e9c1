//! Runs the pool under loom, in every order of its threads (up to a number of preemptions) and with every value that
//! the memory model lets a load return:
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release --lib loom
//!
//! What must hold in each execution: no deadlock, and no data race between the calls of a job and what its caller does
//! before and after `run`. The caller's data is a loom cell, whose accesses loom compares.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicUsize as Counter;
use std::sync::atomic::Ordering::Relaxed;

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::callback::{CallbackRunner, JobFn};
use super::job::{JobOutcome, is_in_job};
use super::test_worker_set::TestWorkerSet;
use super::worker_set::WorkerSet;
use crate::sync::atomic::AtomicUsize;
use crate::sync::explore;

/// Runs `scenario` with a worker set, then ends the workers and frees the set.
fn with_workers(scenario: impl FnOnce(&'static WorkerSet)) {
    let owner = TestWorkerSet::new();
    scenario(owner.set());
}

/// The data of a job: one cell for each call. A call reads what the caller wrote and writes its own cell.
struct JobData {
    input: UnsafeCell<usize>,
    output: [UnsafeCell<usize>; 3],
}

// SAFETY: loom reports every pair of accesses that is not ordered.
unsafe impl Sync for JobData {}
// SAFETY: loom reports every pair of accesses that is not ordered.
unsafe impl Send for JobData {}

impl JobData {
    fn new(input: usize) -> Self {
        JobData { input: UnsafeCell::new(input), output: std::array::from_fn(|_| UnsafeCell::new(0)) }
    }

    fn call(&self, tid: usize) {
        // SAFETY: loom reports an access that is not ordered after the caller's write.
        let input = self.input.with(|input| unsafe { *input });
        // SAFETY: loom reports an access that is not ordered before the caller's read.
        self.output[tid].with_mut(|output| unsafe { *output += input });
    }

    /// Checks that the caller's call ran exactly once and each worker's call at most once. Overwrites the input, which
    /// no call may read any more. Returns the number of workers that ran the job.
    fn check(&self) -> usize {
        // SAFETY: loom reports an access that is not ordered after all calls.
        let input = self.input.with_mut(|input| unsafe { std::mem::take(&mut *input) });
        // SAFETY: loom reports an access that is not ordered after all calls.
        let sums = self.output.each_ref().map(|output| output.with(|output| unsafe { *output }));
        assert_eq!(sums[0], input);
        assert!(sums.iter().all(|&sum| sum == 0 || sum == input));
        sums[1..].iter().filter(|&&sum| sum != 0).count()
    }
}

/// Runs one job of `nthreads` threads and checks it. Returns the number of workers that ran it.
fn run_job(set: &'static WorkerSet, nthreads: usize) -> usize {
    let data = JobData::new(7);
    assert_eq!(set.run(nthreads, &|tid| data.call(tid)), JobOutcome::Done);
    data.check()
}

/// Counts jobs by the number of workers that ran them. `check` fails if a number never occurred: the model would not
/// cover that case.
struct WorkerCountCoverage([Counter; 3]);

impl WorkerCountCoverage {
    const fn new() -> Self {
        WorkerCountCoverage([const { Counter::new(0) }; 3])
    }

    fn record(&self, workers: usize) {
        self.0[workers].fetch_add(1, Relaxed);
    }

    fn check(&self, most: usize) {
        assert!(self.0[..=most].iter().all(|count| count.load(Relaxed) > 0));
    }
}

#[test]
fn loom_jobs_one_after_another_on_one_worker() {
    static SEEN: WorkerCountCoverage = WorkerCountCoverage::new();
    explore("jobs one after another, one worker", 3, || {
        with_workers(|set| {
            SEEN.record(run_job(set, 2));
            SEEN.record(run_job(set, 2));
        });
    });
    SEEN.check(1);
}

#[test]
fn loom_workers_wake_each_other() {
    static SEEN: WorkerCountCoverage = WorkerCountCoverage::new();
    explore("one job, two workers", 2, || {
        with_workers(|set| {
            assert_eq!(set.grow(2), 2);
            SEEN.record(run_job(set, 3));
        });
    });
    SEEN.check(2);
}

/// Every worker that was idle gets the job, however near it is to sleep: otherwise the threads that wait for it never end.
#[test]
fn loom_all_idle_workers_run_the_job() {
    explore("one job that waits for its threads, two workers", 2, || {
        with_workers(|set| {
            assert_eq!(set.grow(2), 2);
            let (inside, changed) = (Mutex::new(0), Condvar::new());
            let outcome = set.run(3, &|_| {
                let mut inside = inside.lock().unwrap();
                *inside += 1;
                changed.notify_all();
                while *inside < 3 {
                    inside = changed.wait(inside).unwrap();
                }
            });
            assert_eq!(outcome, JobOutcome::Done);
        });
    });
}

#[test]
fn loom_callers_share_a_worker() {
    static SEEN: WorkerCountCoverage = WorkerCountCoverage::new();
    explore("two callers, one worker", 2, || {
        with_workers(|set| {
            let other = thread::spawn(move || run_job(set, 2));
            SEEN.record(run_job(set, 2));
            SEEN.record(other.join().unwrap());
        });
    });
    SEEN.check(1);
}

#[test]
fn loom_shutdown_while_a_job_runs() {
    static DURING: WorkerCountCoverage = WorkerCountCoverage::new();
    static AFTER: WorkerCountCoverage = WorkerCountCoverage::new();
    explore("shutdown while a job runs, one worker", 2, || {
        with_workers(|set| {
            assert_eq!(set.grow(1), 1);
            let other = thread::spawn(move || set.shutdown());
            DURING.record(run_job(set, 2));
            other.join().unwrap();
            // The worker was started by either job after the shutdown.
            AFTER.record(run_job(set, 2));
        });
    });
    DURING.check(1);
    AFTER.check(1);
}

#[test]
fn loom_worker_panic_is_reported_and_worker_stays_alive() {
    static SEEN: WorkerCountCoverage = WorkerCountCoverage::new();
    explore("a worker panics", 2, || {
        with_workers(|set| {
            let calls = AtomicUsize::new(0);
            let outcome = set.run(2, &|tid| {
                if tid == 1 {
                    calls.fetch_add(1, Relaxed);
                    std::panic::resume_unwind(Box::new("on purpose"));
                }
            });
            let workers = calls.load(Relaxed);
            assert_eq!(outcome, if workers == 1 { JobOutcome::Panicked } else { JobOutcome::Done });
            SEEN.record(workers);
            // The worker has not ended.
            SEEN.record(run_job(set, 2));
        });
    });
    SEEN.check(1);
}

#[test]
fn loom_nested_job_is_detected() {
    explore("nested jobs", 2, || {
        with_workers(|set| {
            assert!(!is_in_job());
            assert_eq!(set.run(2, &|_| assert!(is_in_job())), JobOutcome::Done);
            assert!(!is_in_job());
        });
    });
}

/// Runs the last record on another thread, which may still be inside it when this returns.
unsafe extern "C" fn return_early(
    data: *mut c_void,
    dojob: Option<JobFn>,
    n: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    struct Record(*mut c_void);
    // SAFETY: a record may be run in any thread.
    unsafe impl Send for Record {}
    // SAFETY: the test passes an `Arc`'s address, which it keeps; the pool passes `n` records of `size` bytes.
    unsafe {
        let started = &*data.cast::<Arc<AtomicUsize>>();
        let last = Record(jobs.byte_add((n as usize - 1) * size));
        let (mine, dojob) = (started.clone(), dojob.unwrap());
        // The thread is inside the record when it counts: the pool has to wait for it.
        thread::spawn(move || dojob({ last }.0));
        while mine.load(Relaxed) == 0 {
            thread::yield_now();
        }
        dojob(jobs);
    }
}

#[test]
fn loom_run_waits_for_records_after_early_callback_return() {
    explore("the threads callback", 2, || {
        let started = Arc::new(AtomicUsize::new(0));
        let data = JobData::new(7);
        // SAFETY: the callback passes addresses of records, and returns once each of them is running.
        let runner = unsafe { CallbackRunner::new(return_early, ptr::from_ref(&started).cast_mut().cast()) };
        let outcome = runner.run(2, &|tid| {
            if tid == 1 {
                started.store(1, Relaxed);
            }
            data.call(tid);
        });
        assert_eq!(outcome, JobOutcome::Done);
        assert_eq!(data.check(), 1);
    });
}
