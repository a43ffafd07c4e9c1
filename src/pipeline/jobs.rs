//! Runs one work item for each block of a chunk: on the caller's thread, or on the caller's thread and threads of the pool.

use super::scratch::{self, Scratch};
use crate::error::{Error, Result};
use crate::{held_locks, pool, thread};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Below this many uncompressed bytes, waking a worker costs more time than it saves.
const MIN_PARALLEL: usize = 64 << 10;

/// Returns how many threads work on `nbytes` bytes in blocks of `blocksize` bytes (`chunk.md` 6.2); 1 means only the
/// caller's thread. A program's thread callback is called for every chunk of at least two full blocks: it may count its
/// calls.
pub(crate) fn nthreads_for(nthreads: usize, nbytes: usize, blocksize: usize) -> usize {
    if nthreads > 1 && nbytes / blocksize.max(1) > 1 && (nbytes >= MIN_PARALLEL || pool::has_callback()) {
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
        return scratch::with(|scratch| {
            let mut worker = Worker { tid: 0, scratch };
            blocks.into_iter().try_for_each(|nblock| work(nblock, &mut worker))
        });
    }
    let queue = Queue::new(blocks);
    let (caller, held) = (thread::id(), held_locks::current());
    let finished = pool::run(nthreads, &|tid| {
        let _part = ThreadPart { caller };
        let _held = held_locks::adopt(&held);
        scratch::with(|scratch| {
            let mut worker = Worker { tid, scratch };
            queue.work_off(|nblock| work(nblock, &mut worker));
        });
    });
    queue.finish(finished)
}

/// Calls `work(n)` once for each of `items`: on `nthreads` threads in no particular order, or in ascending order if
/// `nthreads` is 1. A job that `work` starts runs on its thread alone and borrows its own working memory. Stops at the
/// first error and returns it.
///
/// # Errors
/// The first error that `work` returned.
pub(crate) fn for_each(
    nthreads: usize,
    mut items: std::ops::Range<usize>,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    if nthreads <= 1 || items.len() <= 1 {
        return items.try_for_each(work);
    }
    let queue = Queue::new(items);
    let (caller, held) = (thread::id(), held_locks::current());
    let finished = pool::run(nthreads, &|_| {
        let _part = ThreadPart { caller };
        let _held = held_locks::adopt(&held);
        queue.work_off(&work);
    });
    queue.finish(finished)
}

/// A thread's part of a job. When it ends, also by a panic, a thread other than the caller's moves its working memory
/// to the process, so that idle threads keep none.
struct ThreadPart {
    /// The thread that started the job.
    caller: usize,
}

impl Drop for ThreadPart {
    fn drop(&mut self) {
        if thread::id() != self.caller {
            scratch::hand_over();
        }
    }
}

/// The remaining items of a job, and its first error.
struct Queue {
    next: AtomicUsize,
    end: usize,
    failed: AtomicBool,
    first_error: Mutex<Option<Error>>,
}

impl Queue {
    fn new(items: std::ops::Range<usize>) -> Queue {
        Queue {
            next: AtomicUsize::new(items.start),
            end: items.end,
            failed: AtomicBool::new(false),
            first_error: Mutex::new(None),
        }
    }

    /// Runs `work` on items until none is left or one has failed. Each worker calls it once.
    fn work_off(&self, mut work: impl FnMut(usize) -> Result<()>) {
        while !self.failed.load(Ordering::Relaxed) {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.end {
                break;
            }
            if let Err(error) = work(item) {
                self.failed.store(true, Ordering::Relaxed);
                self.first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }

    fn finish(self, finished: Result<()>) -> Result<()> {
        match self.first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => finished,
        }
    }
}
