//! Runs one work item for each block of a chunk: on the caller's thread, or on the caller's thread and threads of the
//! pool.

use super::scratch::{self, Scratch};
use super::workload::{WorkKind, Workload, nanoseconds_since};
use crate::error::{Error, Result};
use crate::{held_locks, pool, thread};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// One worker of a job: its number and its working memory.
pub(crate) struct Worker<'a> {
    /// Logical number, 0 for the caller's thread.
    pub tid: usize,
    /// The worker's working memory.
    pub scratch: &'a mut Scratch,
}

/// Calls `work(nblock, worker)` once for each block of `blocks`: in ascending order on the caller's thread, then, if the
/// remaining blocks are worth it, on the threads of `load` in no particular order. Stops at the first error and returns
/// it.
///
/// # Errors
/// The first error that `work` returned.
pub(crate) fn for_each_block(
    load: &Workload,
    blocks: Range<usize>,
    work: impl Fn(usize, &mut Worker<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let rest = scratch::with_scratch(|scratch| {
        let mut worker = Worker { tid: 0, scratch };
        run_serial_phase(load, blocks, |nblock| work(nblock, &mut worker))
    })?;
    for_each_block_in_parallel(load, rest, work)
}

/// Calls `work(nblock, worker)` once for each block of `blocks`, on the threads of `load` in no particular order. Stops at
/// the first error and returns it.
pub(crate) fn for_each_block_in_parallel(
    load: &Workload,
    blocks: Range<usize>,
    work: impl Fn(usize, &mut Worker<'_>) -> Result<()> + Sync,
) -> Result<()> {
    run_parallel_phase(load, blocks, |queue, tid| {
        scratch::with_scratch(|scratch| {
            let mut worker = Worker { tid, scratch };
            Ok(queue.run_items(|nblock| work(nblock, &mut worker)))
        })
    })
}

/// Size in bytes that an item of [`for_each_item`] has in the measurements: that of a small chunk.
const ITEM_NBYTES: usize = 64 << 10;

/// Calls `work(n)` once for each of `items`: in ascending order on the caller's thread, then, if the remaining items are
/// worth it, on `nthreads` threads in no particular order. A job that `work` starts on one of several threads runs on
/// that thread alone and borrows its own working memory. Stops at the first error and returns it.
pub(crate) fn for_each_item(
    nthreads: usize,
    items: Range<usize>,
    work: impl Fn(usize) -> Result<()> + Sync,
) -> Result<()> {
    // Reading an item may read a file.
    let load = Workload::new(WorkKind::Items, nthreads, items.len() * ITEM_NBYTES, ITEM_NBYTES, true);
    let rest = run_serial_phase(&load, items, &work)?;
    run_parallel_phase(&load, rest, |queue, _| Ok(queue.run_items(&work)))
}

/// Calls `work(n)` for the first of `items`, as many as the caller's thread does alone. Returns the others.
fn run_serial_phase(
    load: &Workload,
    mut items: Range<usize>,
    mut work: impl FnMut(usize) -> Result<()>,
) -> Result<Range<usize>> {
    let first = items.start;
    let mut phase = load.begin_serial_phase(items.len(), 0);
    while phase.includes_next(items.start - first) {
        work(items.start)?;
        items.start += 1;
    }
    Ok(items)
}

/// Calls `part(queue, tid)` on each thread of `load`; it runs items of the queue and returns their number.
fn run_parallel_phase(
    load: &Workload,
    items: Range<usize>,
    part: impl Fn(&WorkQueue, usize) -> Result<usize> + Sync,
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let count = items.len();
    let phase = load.begin_parallel_phase(count);
    let queue = WorkQueue::new(items);
    let (caller, held) = (thread::id(), held_locks::current());
    let (callers_count, callers_time) = (AtomicUsize::new(0), AtomicU64::new(0));
    let finished = pool::run(load.nthreads_for(count), &|tid| {
        let _part = ScratchReturnGuard { caller_thread: caller };
        let _held = held_locks::inherit(&held);
        let start = (tid == 0).then(Instant::now);
        match part(&queue, tid) {
            Ok(count) => {
                if let Some(start) = start {
                    callers_count.store(count, Ordering::Relaxed);
                    callers_time.store(nanoseconds_since(start), Ordering::Relaxed);
                }
            }
            Err(error) => queue.fail(error),
        }
    });
    phase.record(callers_count.into_inner(), callers_time.into_inner());
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
    fn new(items: Range<usize>) -> WorkQueue {
        WorkQueue {
            next: AtomicUsize::new(items.start),
            end: items.end,
            has_failed: AtomicBool::new(false),
            first_error: Mutex::new(None),
        }
    }

    /// Runs `work` on items until none is left or one has failed. Each worker calls it once. Returns the number of
    /// items.
    fn run_items(&self, mut work: impl FnMut(usize) -> Result<()>) -> usize {
        let mut count = 0;
        while !self.has_failed.load(Ordering::Relaxed) {
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            if item >= self.end {
                break;
            }
            count += 1;
            if let Err(error) = work(item) {
                self.fail(error);
            }
        }
        count
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
