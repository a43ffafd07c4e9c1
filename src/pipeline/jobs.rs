//! Runs one work item for each block of a chunk: on the caller's thread, or on the caller's thread and threads of the
//! pool.

use super::scratch::{self, Scratch};
use crate::error::{Error, Result};
use crate::{held_locks, pool, thread};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Below this many uncompressed bytes, waking a worker costs more time than it saves.
const MIN_PARALLEL_NBYTES: usize = 64 << 10;

/// Returns how many threads work on `nbytes` bytes in blocks of `blocksize` bytes (`chunk.md` 6.2); 1 means only the
/// caller's thread. A program's thread callback is called for every chunk of at least two full blocks: it may count its
/// calls.
pub(crate) fn effective_nthreads(nthreads: usize, nbytes: usize, blocksize: usize) -> usize {
    if nthreads > 1
        && nbytes / blocksize.max(1) > 1
        && (nbytes >= MIN_PARALLEL_NBYTES || pool::has_callback())
    {
        nthreads
    } else {
        1
    }
}

/// One worker of a job: its number and its working memory.
pub(crate) struct Worker<'a> {
    /// Logical number, 0 for the caller's thread.
    pub tid: usize,
    /// The worker's working memory.
    pub scratch: &'a mut Scratch,
}

/// Calls `work(nblock, worker)` once for each block of `blocks`: on `nthreads` threads in no particular order, or
/// in ascending order if `nthreads` is 1. Stops at the first error and returns it.
///
/// # Errors
/// The first error that `work` returned.
pub(crate) fn for_each_block(
    nthreads: usize,
    blocks: std::ops::Range<usize>,
    work: impl Fn(usize, &mut Worker<'_>) -> Result<()> + Sync,
) -> Result<()> {
    if nthreads <= 1 || blocks.len() <= 1 {
        return scratch::with_scratch(|scratch| {
            let mut worker = Worker { tid: 0, scratch };
            blocks.into_iter().try_for_each(|nblock| work(nblock, &mut worker))
        });
    }
    let queue = WorkQueue::new(blocks);
    let (caller, held) = (thread::id(), held_locks::current());
    let finished = pool::run(nthreads, &|tid| {
        let _part = ScratchReturnGuard { caller_thread: caller };
        let _held = held_locks::inherit(&held);
        let part = scratch::with_scratch(|scratch| {
            let mut worker = Worker { tid, scratch };
            queue.run_items(|nblock| work(nblock, &mut worker));
            Ok(())
        });
        if let Err(error) = part {
            queue.fail(error);
        }
    });
    queue.into_result(finished)
}

/// Calls `work(n)` once for each of `items`: on `nthreads` threads in no particular order, or in ascending order if
/// `nthreads` is 1. A job that `work` starts runs on its thread alone and borrows its own working memory. Stops at the
/// first error and returns it.
///
/// # Errors
/// The first error that `work` returned.
pub(crate) fn for_each_item(
    nthreads: usize,
    mut items: std::ops::Range<usize>,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    if nthreads <= 1 || items.len() <= 1 {
        return items.try_for_each(work);
    }
    let queue = WorkQueue::new(items);
    let (caller, held) = (thread::id(), held_locks::current());
    let finished = pool::run(nthreads, &|_| {
        let _part = ScratchReturnGuard { caller_thread: caller };
        let _held = held_locks::inherit(&held);
        queue.run_items(&work);
    });
    queue.into_result(finished)
}

/// Held by each thread during its part of a job. When it is dropped, also by a panic, it moves the working memory of a
/// thread other than the caller's to the process, so that idle threads keep none.
struct ScratchReturnGuard {
    /// The thread that started the job.
    caller_thread: usize,
}

impl Drop for ScratchReturnGuard {
    fn drop(&mut self) {
        if thread::id() != self.caller_thread {
            scratch::move_to_process();
        }
    }
}

/// The remaining items of a job, and its first error.
struct WorkQueue {
    next: AtomicUsize,
    end: usize,
    has_failed: AtomicBool,
    first_error: Mutex<Option<Error>>,
}

impl WorkQueue {
    fn new(items: std::ops::Range<usize>) -> WorkQueue {
        WorkQueue {
            next: AtomicUsize::new(items.start),
            end: items.end,
            has_failed: AtomicBool::new(false),
            first_error: Mutex::new(None),
        }
    }

    /// Runs `work` on items until none is left or one has failed. Each worker calls it once.
    fn run_items(&self, mut work: impl FnMut(usize) -> Result<()>) {
        while !self.has_failed.load(Ordering::Relaxed) {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.end {
                break;
            }
            if let Err(error) = work(item) {
                self.fail(error);
            }
        }
    }

    /// Records that a worker has failed.
    fn fail(&self, error: Error) {
        self.has_failed.store(true, Ordering::Relaxed);
        self.first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn into_result(self, finished: Result<()>) -> Result<()> {
        match self.first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => finished,
        }
    }
}
