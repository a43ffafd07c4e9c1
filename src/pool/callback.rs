//! The threads callback of the program: `blosc2_set_threads_callback` (`chunk.md` 6.5). Turns a job into an array of
//! records for the callback. The result is correct for every order and subset of the records, on any threads.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::time::Duration;

use super::generation;
use super::job::{Outcome, attempt_inside};
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicU8};
use crate::sync::thread;

/// The function that the callback calls to run one record.
pub type JobFn = unsafe extern "C" fn(*mut c_void);

/// The program's function: `callback(data, dojob, numjobs, elsize, jobdata)` calls `dojob(jobdata + i * elsize)`
/// for each `i` in `0..numjobs`, in any threads, and returns when all calls have returned.
pub(crate) type ThreadsCallback = unsafe extern "C" fn(*mut c_void, Option<JobFn>, c_int, usize, *mut c_void);

/// A callback with its data, once installed. Never freed, since a job may be using it while another one is installed;
/// installing the same pair again reuses the existing route.
pub(super) struct Route {
    callback: ThreadsCallback,
    data: *mut c_void,
    /// The route that was created before this one.
    older: *const Route,
}

/// The newest route; the others follow through `older`.
static NEWEST: AtomicPtr<Route> = AtomicPtr::new(ptr::null_mut());

/// The route in use; null for the pool's own workers.
static INSTALLED: AtomicPtr<Route> = AtomicPtr::new(ptr::null_mut());

/// Sends all later jobs to `callback`, or with `None` to the pool's own workers again. `data` is passed to the
/// callback and not accessed. Running jobs are not affected.
///
/// # Safety
/// `callback` may be called with `data` from every thread that starts a job, at any time until it is replaced
/// and the running jobs have ended. It passes to `dojob` only addresses of elements it was given, and only
/// before it returns.
pub unsafe fn set_callback(callback: Option<ThreadsCallback>, data: *mut c_void) {
    let route = match callback {
        // SAFETY: guaranteed by the caller.
        Some(callback) => unsafe { intern(callback, data) },
        None => ptr::null_mut(),
    };
    INSTALLED.store(route, Release);
}

/// Returns the route in use, if jobs go to a callback.
pub(super) fn installed() -> Option<&'static Route> {
    // SAFETY: the pointer is null or comes from `intern`, whose routes are never freed nor changed.
    unsafe { INSTALLED.load(Acquire).as_ref() }
}

/// Returns the route of that pair, a new one if there is none.
///
/// # Safety
/// As for [`set_callback`].
unsafe fn intern(callback: ThreadsCallback, data: *mut c_void) -> *mut Route {
    let mut newest = NEWEST.load(Acquire);
    let mut at: *const Route = newest;
    // SAFETY: routes in the list, and their `older` links, are never freed nor changed.
    while let Some(route) = unsafe { at.as_ref() } {
        if ptr::fn_addr_eq(route.callback, callback) && route.data == data {
            return at.cast_mut();
        }
        at = route.older;
    }
    // SAFETY: guaranteed by the caller.
    let route = unsafe { Route::new(callback, data) };
    let new = Box::into_raw(Box::new(Route { older: newest, ..route }));
    while let Err(now) = NEWEST.compare_exchange_weak(newest, new, AcqRel, Acquire) {
        newest = now;
        // SAFETY: `new` came from `Box::into_raw` above and is not in the list yet, so no other thread accesses it.
        unsafe { (*new).older = newest };
    }
    new
}

/// A record that was not run yet.
const FRESH: u8 = 0;
/// A record that is running.
const RUNNING: u8 = 1;
/// A record that has run, or that must not run any more.
const OVER: u8 = 2;

/// One element of the callback's `jobdata`.
struct Record<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    panicked: &'a AtomicBool,
    tid: usize,
    state: AtomicU8,
}

impl Record<'_> {
    /// Runs the record unless it has run, or is running.
    fn run(&self) {
        if self.state.compare_exchange(FRESH, RUNNING, Acquire, Relaxed).is_err() {
            return;
        }
        if attempt_inside(self.work, self.tid) == Outcome::Panicked {
            self.panicked.store(true, Relaxed);
        }
        self.state.store(OVER, Release);
    }

    /// Prevents the record from being run later, and waits while a thread of this process is running it.
    fn close(&self, generation: u32) -> Closed {
        if self.state.compare_exchange(FRESH, OVER, Relaxed, Acquire).is_ok() {
            return Closed::NeverRun;
        }
        // Only a callback that returns too early, against its contract, makes this wait.
        while self.state.load(Acquire) != OVER {
            if generation::current() != generation {
                return Closed::RunsElsewhere;
            }
            thread::sleep(Duration::from_micros(50));
        }
        Closed::HasRun
    }
}

/// State of a record after the callback returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closed {
    HasRun,
    NeverRun,
    /// The job forked: another thread of the parent runs the record.
    RunsElsewhere,
}

/// The function that the callback calls with the address of a record.
unsafe extern "C" fn run_record(record: *mut c_void) {
    // SAFETY: by its contract the callback passes the address of one of the records it was given, before it
    // returns, and they live and are shared immutably until after that.
    if let Some(record) = unsafe { record.cast::<Record<'_>>().as_ref() } {
        record.run();
    }
}

impl Route {
    /// Returns a route that is not installed.
    ///
    /// # Safety
    /// As for [`set_callback`], for as long as the route runs jobs.
    pub(super) const unsafe fn new(callback: ThreadsCallback, data: *mut c_void) -> Self {
        Route { callback, data, older: ptr::null() }
    }

    /// Runs one job of `nthreads` records through the callback.
    pub(super) fn run(&self, nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> Outcome {
        let generation = generation::current();
        let panicked = AtomicBool::new(false);
        let mut records = Vec::new();
        let numjobs = match c_int::try_from(nthreads) {
            Ok(numjobs) if records.try_reserve_exact(nthreads).is_ok() => numjobs,
            _ => return attempt_inside(work, 0),
        };
        let fresh = |tid| Record { work, panicked: &panicked, tid, state: AtomicU8::new(FRESH) };
        records.extend((0..nthreads).map(fresh));
        let jobdata = ptr::from_ref(records.as_slice()).cast_mut().cast::<c_void>();
        // SAFETY: guaranteed by the caller of `new`; `jobdata` is an array of `numjobs` records of `elsize` bytes, which
        // lives until after the call. Only the atomics of the records are changed.
        unsafe { (self.callback)(self.data, Some(run_record), numjobs, size_of::<Record<'_>>(), jobdata) };
        // Closes all records before anything else: no thread may be inside a record when this function returns.
        let mut led = false;
        let mut forked = false;
        for record in &records {
            match record.close(generation) {
                Closed::HasRun => led |= record.tid == 0,
                Closed::NeverRun => {}
                Closed::RunsElsewhere => forked = true,
            }
        }
        if forked {
            return Outcome::Forked;
        }
        // Only number 0 must be called, so without it the job may be unfinished.
        if !led && attempt_inside(work, 0) == Outcome::Panicked {
            return Outcome::Panicked;
        }
        if panicked.load(Relaxed) { Outcome::Panicked } else { Outcome::Done }
    }
}
