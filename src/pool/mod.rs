//! The worker threads: one process-wide set of them, and the routing of jobs to it or to the threads
//! callback of the caller (`chunk.md` 6, `abi.md` 9.4 and 9.7).
//!
//! A job is a closure over its own work counter: [`run`] calls it with thread number 0 on the calling thread
//! and offers it, with other numbers, to idle workers. It never waits for a worker to begin: when the caller's
//! own call has returned, offers nobody has taken are withdrawn, and only workers that began are waited for. So
//! a job must be correct, and finish its work, when only number 0 runs; and when every worker sleeps or is busy
//! it takes as long as serial work.
//!
//! | file | owns |
//! |---|---|
//! | `job` | the record of one job, on the caller's stack while `run` lasts |
//! | `worker` | the slot in which a worker is offered jobs, and the loop the worker runs |
//! | `crew` | the set of slots: growing, claiming idle workers, withdrawing offers, ending |
//! | `park` | spinning and sleeping |
//! | `callback` | the caller's own threads |
//! | `fork` | which set belongs to this process |
//!
//! This room knows nothing of contexts, blocks or codecs, takes no lock except to start and end threads (and to
//! go to sleep), and allocates nothing for a job that its own workers run.

mod callback;
mod crew;
mod fork;
mod job;
mod park;
#[cfg(test)]
mod tests;
mod worker;

use std::cell::Cell;

pub use callback::{JobFn, set_callback};

use crate::err;
use crate::error::Result;

thread_local! {
    /// Whether this thread is inside a job. Has no destructor, so it can be read at any time in a thread's life.
    static IN_JOB: Cell<bool> = const { Cell::new(false) };
}

/// Calls `work(0)` on this thread and, at the same time, `work(tid)` for distinct `tid` in `1..nthreads` on
/// those workers that are idle, or through the threads callback if one is installed.
///
/// No `tid` but 0 is sure to be called. Everything that was called has returned when this function returns.
/// With `nthreads <= 1`, or from inside another job, only `work(0)` is called.
///
/// # Errors
/// `Failure` when a call panicked (the other calls still ran to their end and the workers live on), or when
/// the job itself forked the process and this is the child, where the blocks the workers held are lost.
pub fn run(nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    let outcome = if nthreads <= 1 || IN_JOB.get() {
        job::attempt(work, 0)
    } else if let Some(route) = callback::installed() {
        route.run(nthreads, work)
    } else if let Some(crew) = fork::current_crew() {
        crew.run(nthreads, work)
    } else {
        job::attempt_inside(work, 0)
    };
    outcome.into_result()
}

/// Whether jobs go through the caller's own threads.
pub(crate) fn has_callback() -> bool {
    callback::installed().is_some()
}

/// Whether this thread is inside a job.
pub(crate) fn in_job() -> bool {
    IN_JOB.get()
}

/// Starts the workers that jobs of `nthreads` threads use, now rather than with the first such job.
/// Does nothing when a threads callback is installed.
///
/// # Errors
/// `ThreadCreate` when workers are needed and there is not a single one.
pub fn prestart(nthreads: usize) -> Result<()> {
    if nthreads <= 1 || callback::installed().is_some() {
        return Ok(());
    }
    let Some(crew) = fork::current_crew() else {
        return Err(err!(ThreadCreate, "the fork handler could not be registered"));
    };
    // Inside a job nothing may wait for the lock: `shutdown` may hold it and wait for this very job.
    let alive = if IN_JOB.get() { crew.try_grow(nthreads - 1) } else { crew.grow(nthreads - 1) };
    if alive == 0 {
        Err(err!(ThreadCreate, "not one of {} workers could be started", nthreads - 1))
    } else {
        Ok(())
    }
}

/// Ends every worker and waits until its thread is gone. Jobs that are under way finish first; jobs that come
/// meanwhile run on their caller's thread; a later one starts workers afresh. Does nothing inside a job, which
/// would wait for itself.
pub fn shutdown() {
    if let Some(crew) = fork::existing_crew()
        && !IN_JOB.get()
    {
        crew.shutdown();
    }
}

/// The number of workers alive in this process.
pub fn workers() -> usize {
    fork::existing_crew().map_or(0, crew::Crew::workers)
}
