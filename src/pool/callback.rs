//! The threads callback of the program: `blosc2_set_threads_callback` (`chunk.md` 6.5). Turns a job into an array of
//! records for the callback. The result is correct for every order and subset of the records, on any threads.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::time::Duration;

use super::job::{JobOutcome, call_inside_job};
use crate::fork_count;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicU8};
use crate::sync::thread;

/// The function that the callback calls to run one record.
pub type JobFn = unsafe extern "C" fn(*mut c_void);

/// The program's function: `callback(data, dojob, numjobs, elsize, jobdata)` calls `dojob(jobdata + i * elsize)`
/// for each `i` in `0..numjobs`, in any threads, and returns when all calls have returned.
pub(crate) type ThreadsCallback = unsafe extern "C" fn(*mut c_void, Option<JobFn>, c_int, usize, *mut c_void);

/// A callback with its data, once installed. Never freed, since a job may be using it while another one is installed;
/// installing the same pair again reuses the existing runner.
pub(super) struct CallbackRunner {
    callback: ThreadsCallback,
    data: *mut c_void,
    /// The runner that was created before this one.
    previous: *const CallbackRunner,
}

/// The newest runner; the others follow through `previous`.
static NEWEST_RUNNER: AtomicPtr<CallbackRunner> = AtomicPtr::new(ptr::null_mut());

/// The runner in use; null for the pool's own workers.
static INSTALLED_RUNNER: AtomicPtr<CallbackRunner> = AtomicPtr::new(ptr::null_mut());

/// Sends all later jobs to `callback`, or with `None` to the pool's own workers again. `data` is passed to the
/// callback and not accessed. Running jobs are not affected.
///
/// # Safety
/// `callback` may be called with `data` from every thread that starts a job, at any time until it is replaced
/// and the running jobs have ended. It passes to `dojob` only addresses of elements it was given, and only
/// before it returns.
pub unsafe fn set_callback(callback: Option<ThreadsCallback>, data: *mut c_void) {
    let runner = match callback {
        // SAFETY: the contract of this function: `callback` may be called with `data` until it is replaced and the
        // running jobs have ended.
        Some(callback) => unsafe { intern(callback, data) },
        None => ptr::null_mut(),
    };
    INSTALLED_RUNNER.store(runner, Release);
}

/// Returns the runner in use, if jobs go to a callback.
pub(super) fn installed_runner() -> Option<&'static CallbackRunner> {
    // SAFETY: the pointer is null or comes from `intern`, whose runners are never freed nor changed.
    unsafe { INSTALLED_RUNNER.load(Acquire).as_ref() }
}

/// Returns the runner of that pair, a new one if there is none.
///
/// # Safety
/// As for [`set_callback`].
unsafe fn intern(callback: ThreadsCallback, data: *mut c_void) -> *mut CallbackRunner {
    let mut newest = NEWEST_RUNNER.load(Acquire);
    let mut at: *const CallbackRunner = newest;
    // SAFETY: runners in the list, and their `previous` links, are never freed nor changed.
    while let Some(runner) = unsafe { at.as_ref() } {
        if ptr::fn_addr_eq(runner.callback, callback) && runner.data == data {
            return at.cast_mut();
        }
        at = runner.previous;
    }
    // SAFETY: the contract of this function: `callback` may be called with `data` until it is replaced and the
    // running jobs have ended.
    let runner = unsafe { CallbackRunner::new(callback, data) };
    let new = Box::into_raw(Box::new(CallbackRunner { previous: newest, ..runner }));
    while let Err(now) = NEWEST_RUNNER.compare_exchange_weak(newest, new, AcqRel, Acquire) {
        newest = now;
        // SAFETY: `new` came from `Box::into_raw` above and is not in the list yet, so no other thread accesses it.
        unsafe { (*new).previous = newest };
    }
    new
}

/// A record that was not run yet.
const NOT_STARTED: u8 = 0;
const RUNNING: u8 = 1;
/// A record that has run, or that must not run any more.
const FINISHED: u8 = 2;

/// One element of the callback's `jobdata`.
struct JobRecord<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    panicked: &'a AtomicBool,
    tid: usize,
    state: AtomicU8,
}

impl JobRecord<'_> {
    /// Runs the record unless it has run, or is running.
    fn run(&self) {
        if self.state.compare_exchange(NOT_STARTED, RUNNING, Acquire, Relaxed).is_err() {
            return;
        }
        if call_inside_job(self.work, self.tid) == JobOutcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
        self.state.store(FINISHED, Release);
    }

    /// Prevents the record from being run later, and waits while a thread of this process is running it.
    fn close(&self, fork_count: u32) -> CloseResult {
        if self.state.compare_exchange(NOT_STARTED, FINISHED, Relaxed, Acquire).is_ok() {
            return CloseResult::NeverRun;
        }
        // Only a callback that returns too early, against its contract, makes this wait.
        while self.state.load(Acquire) != FINISHED {
            if fork_count::current() != fork_count {
                return CloseResult::RunsInParent;
            }
            thread::sleep(Duration::from_micros(50));
        }
        CloseResult::HasRun
    }
}

/// State of a record after the callback returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseResult {
    HasRun,
    NeverRun,
    /// The job forked: another thread of the parent runs the record.
    RunsInParent,
}

/// The function that the callback calls with the address of a record.
unsafe extern "C" fn run_record(record: *mut c_void) {
    // SAFETY: by its contract the callback passes the address of one of the records it was given, before it
    // returns, and they live and are shared immutably until after that.
    if let Some(record) = unsafe { record.cast::<JobRecord<'_>>().as_ref() } {
        record.run();
    }
}

impl CallbackRunner {
    /// Returns a runner that is not installed.
    ///
    /// # Safety
    /// As for [`set_callback`], for as long as the runner runs jobs.
    pub(super) const unsafe fn new(callback: ThreadsCallback, data: *mut c_void) -> Self {
        CallbackRunner { callback, data, previous: ptr::null() }
    }

    /// Runs one job of `nthreads` records through the callback.
    pub(super) fn run(&self, nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> JobOutcome {
        let fork_count = fork_count::current();
        let panicked = AtomicBool::new(false);
        let mut records = Vec::new();
        let numjobs = match c_int::try_from(nthreads) {
            Ok(numjobs) if records.try_reserve_exact(nthreads).is_ok() => numjobs,
            _ => return call_inside_job(work, 0),
        };
        let fresh = |tid| JobRecord { work, panicked: &panicked, tid, state: AtomicU8::new(NOT_STARTED) };
        records.extend((0..nthreads).map(fresh));
        let jobdata = ptr::from_ref(records.as_slice()).cast_mut().cast::<c_void>();
        // SAFETY: guaranteed by the caller of `new`; `jobdata` is an array of `numjobs` records of `elsize` bytes,
        // which lives until after the call. Only the atomics of the records are changed.
        unsafe { (self.callback)(self.data, Some(run_record), numjobs, size_of::<JobRecord<'_>>(), jobdata) };
        // Closes all records before anything else: no thread may be inside a record when this function returns.
        let mut led = false;
        let mut forked = false;
        for record in &records {
            match record.close(fork_count) {
                CloseResult::HasRun => led |= record.tid == 0,
                CloseResult::NeverRun => {}
                CloseResult::RunsInParent => forked = true,
            }
        }
        if forked {
            return JobOutcome::Forked;
        }
        // Only number 0 must be called, so without it the job may be unfinished.
        if !led && call_inside_job(work, 0) == JobOutcome::Panicked {
            return JobOutcome::Panicked;
        }
        if panicked.load(Relaxed) { JobOutcome::Panicked } else { JobOutcome::Done }
    }
}
