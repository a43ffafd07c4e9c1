//! The threads of a worker set: starting them, their loop, and ending them.

use std::sync::{PoisonError, TryLockError};

use super::job::{Job, set_in_job};
use super::worker_bits::MAX_WORKERS;
use super::worker_set::WorkerSet;
use crate::sync::MutexGuard;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::thread::{Builder, JoinHandle};

/// Number of sleeping workers that a worker wakes when it takes a job.
const WAKES_PER_WORKER: usize = 2;

/// The size of a worker's stack in bytes: callbacks of the user run on workers, and were written for the default
/// stack of a C thread on Linux.
const WORKER_STACK_SIZE: usize = 8 << 20;

/// The body of the thread of worker number `index`.
fn run_worker(set: &'static WorkerSet, index: usize) {
    set_in_job(true);
    let slot = set.slot(index);
    let mut spin = set.spin.short;
    while let Some((taken, has_slept)) = slot.wait_for_job(spin) {
        spin = if has_slept { set.spin.short } else { set.spin.long };
        {
            // SAFETY: `wait_for_job` moved the address out of the slot, so this worker is in the job's count, and the
            // caller of `run` keeps the job until `Job::finish` below (see `OffersGuard`).
            let job = unsafe { &*taken };
            set.wake(job, WAKES_PER_WORKER);
            job.run_on_worker();
        }
        // Set before the caller's `run` returns, so that the caller's next job finds this worker idle.
        set.set_idle(index);
        // SAFETY: this worker is in the job's count until this call, so the caller of `run` still keeps the job, and
        // the job is not accessed afterwards.
        if unsafe { Job::finish(taken) } {
            set.wait_queue(taken).wake();
        }
        if !set.is_of_this_process() {
            // The job forked, and this thread is the only one of the child: no job will ever be offered to it.
            return;
        }
    }
}

impl WorkerSet {
    /// Grows to `want` workers (at most [`MAX_WORKERS`]) or as many as can be started. Returns the number of workers.
    pub(super) fn grow(&'static self, want: usize) -> usize {
        self.grow_locked(self.threads.lock().unwrap_or_else(PoisonError::into_inner), want)
    }

    /// Does the same as [`WorkerSet::grow`], but returns at once when another thread starts or ends workers: the job
    /// runs with the existing workers.
    pub(super) fn try_grow(&'static self, want: usize) -> usize {
        match self.threads.try_lock() {
            Ok(threads) => self.grow_locked(threads, want),
            Err(TryLockError::Poisoned(poisoned)) => self.grow_locked(poisoned.into_inner(), want),
            Err(TryLockError::WouldBlock) => self.worker_count(),
        }
    }

    fn grow_locked(&'static self, mut threads: MutexGuard<'_, Vec<JoinHandle<()>>>, want: usize) -> usize {
        while threads.len() < want.min(MAX_WORKERS) {
            let index = threads.len();
            if self.make_slot(index).is_err() {
                break;
            }
            let slot = self.slot(index);
            slot.occupy();
            let builder = Builder::new().name(format!("blosc2-{}", index + 1)).stack_size(WORKER_STACK_SIZE);
            match builder.spawn(move || run_worker(self, index)) {
                Ok(thread) => threads.push(thread),
                Err(_) => {
                    slot.cancel_occupy();
                    break;
                }
            }
            self.count.store(threads.len(), Relaxed);
            self.set_idle(index);
        }
        threads.len()
    }

    /// Ends all workers and waits until their threads have ended.
    pub(super) fn shutdown(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for index in 0..threads.len() {
            self.slot(index).request_shutdown();
        }
        for (index, thread) in threads.drain(..).enumerate() {
            // A worker catches the panics of its jobs; its thread ends only by returning.
            let _ = thread.join();
            self.vacate(index);
        }
        self.count.store(0, Relaxed);
    }
}
