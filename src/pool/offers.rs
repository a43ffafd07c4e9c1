//! One job: offers it to idle workers, runs the caller's share, withdraws the offers that no worker took, and
//! waits for the workers that took one.

use super::job::{Job, JobOutcome, call_inside_job};
use super::slot::OfferResult;
use super::worker_bits::{BANK_COUNT, BANK_SIZE, MAX_WORKERS, bit_positions};
use super::worker_set::WorkerSet;
use crate::sync::atomic::Ordering::{Relaxed, Release};

/// Number of sleeping workers that the caller wakes for its job. Waking takes a system call, which takes longer than a
/// small job: the caller wakes one worker, which wakes others while the caller works already.
const WAKES_PER_CALLER: usize = 1;

impl WorkerSet {
    /// Runs one job; the body of `pool::run`.
    pub(super) fn run(&'static self, nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> JobOutcome {
        let want = (nthreads - 1).min(MAX_WORKERS);
        if self.worker_count() < want {
            self.try_grow(want);
        }
        let mut claimed = [0; BANK_COUNT];
        let offers = self.claim(want, &mut claimed);
        if offers == 0 {
            return call_inside_job(work, 0);
        }
        let job = Job::new(work, offers);
        // SAFETY: dropped below, or by a panic in between.
        let guard = unsafe { OffersGuard::offer_to_workers(self, &job, claimed, offers) };
        job.run_on_caller();
        drop(guard);
        job.outcome()
    }
}

/// The offers of one job. Dropping them, in whatever way the caller's own share ended, withdraws those that no worker
/// took and waits for the workers that took one: afterwards no thread can reach the job.
struct OffersGuard<'j, 'w> {
    set: &'static WorkerSet,
    job: &'j Job<'w>,
    /// The workers that were offered the job and did not refuse it.
    offered: [u64; BANK_COUNT],
    refused: u32,
}

impl<'j, 'w> OffersGuard<'j, 'w> {
    /// Offers `job` to the `claimed` workers, `offers` in number, and wakes some of those that sleep.
    ///
    /// # Safety
    /// The result is dropped, not leaked.
    unsafe fn offer_to_workers(
        set: &'static WorkerSet,
        job: &'j Job<'w>,
        claimed: [u64; BANK_COUNT],
        offers: u32,
    ) -> Self {
        let mut guard = OffersGuard { set, job, offered: [0; BANK_COUNT], refused: 0 };
        let mut left = offers;
        let mut any_asleep = false;
        for (bank, claimed) in claimed.into_iter().enumerate() {
            if left == 0 {
                break;
            }
            let mut asleep = 0;
            for bit in bit_positions(claimed) {
                // SAFETY: `guard` borrows the job, and the caller guarantees that it is dropped. Its drop withdraws the
                // offer, or waits for the worker that took it.
                match unsafe { set.slot(bank * BANK_SIZE + bit).offer(job) } {
                    OfferResult::Made => guard.offered[bank] |= 1 << bit,
                    OfferResult::MadeAsleep => {
                        guard.offered[bank] |= 1 << bit;
                        asleep |= 1 << bit;
                    }
                    // The worker is ending, or has an offer already; in that case it sets its idle bit after that job.
                    OfferResult::Refused => guard.refused += 1,
                }
                left -= 1;
            }
            if asleep != 0 {
                job.asleep_workers[bank].store(asleep, Release);
                any_asleep = true;
            }
        }
        if any_asleep {
            set.wake(job, WAKES_PER_CALLER);
        }
        guard
    }
}

impl Drop for OffersGuard<'_, '_> {
    fn drop(&mut self) {
        let mut gone = self.refused;
        for (bank, offered) in self.offered.into_iter().enumerate() {
            if offered == 0 {
                continue;
            }
            let not_woken = self.job.asleep_workers[bank].swap(0, Relaxed);
            let mut back = 0;
            for bit in bit_positions(offered) {
                let slot = self.set.slot(bank * BANK_SIZE + bit);
                if slot.withdraw(self.job, not_woken & (1 << bit) != 0) {
                    back |= 1 << bit;
                }
            }
            if back != 0 {
                self.set.set_all_idle(bank, back);
                gone += back.count_ones();
            }
        }
        if self.job.withdraw(gone) {
            return;
        }
        if self.set.is_of_this_process() {
            self.job.wait(self.set.wait_queue(self.job), self.set.spin.long);
        } else {
            // The workers that began are threads of the parent: they cannot access memory of this process.
            self.job.mark_forked();
        }
    }
}
