//! The worker threads: one process-wide set of them, and the routing of jobs to it or to the threads
//! callback of the caller (`chunk.md` 6, `abi.md` 9.4 and 9.7).
//!
//! A job is a closure over its own work counter: [`run`] calls it with thread number 0 on the calling thread
//! and offers it, with other numbers, to idle workers. It never waits for a worker to begin: when the caller's
//! own call has returned, offers that no worker has taken are withdrawn, and only workers that began are waited for.
//! So a job must be correct, and finish its work, when only number 0 runs; and when every worker sleeps or is busy
//! it takes as long as serial work.
//!
//! | file | contents |
//! |---|---|
//! | `job` | the record of one job, on the caller's stack while `run` lasts; whether a thread is inside a job |
//! | `slot` | the slot in which one worker is offered jobs |
//! | `worker_bits` | sets of workers as bits of words |
//! | `worker_set` | the slots, which workers are idle, and the queues in which callers wait |
//! | `worker` | the threads: starting them, the loop that each runs, ending them |
//! | `offers` | running one job: offering it, withdrawing offers, waiting for the workers that took one |
//! | `park` | spinning and sleeping |
//! | `cores` | the number of cores |
//! | `callback` | the program's own threads |
//! | `process_set` | which set belongs to this process |
//!
//! The pool does not depend on contexts, blocks and codecs. It takes no lock except to start and end threads (and
//! before it sleeps), and allocates nothing for a job that its own workers run.
//!
//! The atomics, locks and threads of everything that a job passes through come from `crate::sync`: `model_tests` runs
//! this code under loom.

mod callback;
mod cores;
mod job;
#[cfg(all(test, loom))]
mod model_tests;
mod offers;
mod park;
mod process_set;
mod slot;
#[cfg(test)]
mod test_worker_set;
#[cfg(all(test, not(loom)))]
mod tests;
mod worker;
mod worker_bits;
mod worker_set;

pub use callback::{JobFn, set_callback};
pub(crate) use cores::core_count;

use crate::error::{Result, err};

/// Calls `work(0)` on this thread and, at the same time, `work(tid)` for distinct `tid` in `1..nthreads` on
/// those workers that are idle, or through the threads callback if one is installed.
///
/// Only `tid` 0 is called in every case. All calls have returned when this function returns.
/// With `nthreads <= 1`, or from inside another job, only `work(0)` is called.
///
/// # Errors
/// `Failure` when a call panicked (the other calls still ran to their end and the workers live on), or when
/// the job itself forked the process and this is the child, where the blocks that the workers were processing are lost.
pub fn run(nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    let outcome = if nthreads <= 1 || job::is_in_job() {
        job::call_catching_panic(work, 0)
    } else if let Some(runner) = callback::installed_runner() {
        runner.run(nthreads, work)
    } else if let Some(set) = process_set::get_or_create() {
        set.run(nthreads, work)
    } else {
        job::call_inside_job(work, 0)
    };
    outcome.into_result()
}

/// Returns whether jobs go through the program's own threads.
pub(crate) fn has_callback() -> bool {
    callback::installed_runner().is_some()
}

/// Returns whether this thread is inside a job.
pub(crate) fn is_in_job() -> bool {
    job::is_in_job()
}

/// Returns whether a worker would begin a job at once, because it has finished another one a few microseconds ago.
pub(crate) fn is_worker_awake() -> bool {
    process_set::get().is_some_and(worker_set::WorkerSet::is_first_worker_awake)
}

/// Starts the workers that jobs of `nthreads` threads use, now rather than with the first of these jobs.
/// Does nothing when a threads callback is installed.
///
/// # Errors
/// `ThreadCreate` when workers are needed and none could be started.
pub fn prestart(nthreads: usize) -> Result<()> {
    if nthreads <= 1 || callback::installed_runner().is_some() {
        return Ok(());
    }
    let Some(set) = process_set::get_or_create() else {
        return Err(err!(ThreadCreate, "the fork handler could not be registered"));
    };
    // Inside a job the thread must not wait for the lock: `shutdown` may hold it and wait for this job.
    let alive = if job::is_in_job() { set.try_grow(nthreads - 1) } else { set.grow(nthreads - 1) };
    if alive == 0 {
        Err(err!(ThreadCreate, "none of the {} workers could be started", nthreads - 1))
    } else {
        Ok(())
    }
}

/// Ends every worker and waits until its thread has ended. Running jobs finish first; jobs that are started
/// meanwhile run on their caller's thread; a later job starts new workers. Does nothing inside a job, which
/// would wait for itself.
pub fn shutdown() {
    if let Some(set) = process_set::get()
        && !job::is_in_job()
    {
        set.shutdown();
    }
}

/// Returns the number of workers alive in this process.
pub fn worker_count() -> usize {
    process_set::get().map_or(0, worker_set::WorkerSet::worker_count)
}
