//! One job: offers it to idle workers, runs the caller's share, withdraws the offers that no worker took, and
//! waits for the workers that took one.

use super::job::{Job, Outcome, attempt_inside};
use super::slot::Offer;
use super::worker_bits::{BANK, BANKS, MAX_WORKERS, positions};
use super::worker_set::WorkerSet;
use crate::sync::atomic::Ordering::{Relaxed, Release};

/// Number of sleeping workers that the caller wakes for its job. Waking takes a system call, which takes longer than a
/// small job: the caller wakes one worker, which wakes others while the caller works already.
const CALLER_WAKES: usize = 1;

impl WorkerSet {
    /// Runs one job; the body of `pool::run`.
    pub(super) fn run(&'static self, nthreads: usize, work: &(dyn Fn(usize) + Sync)) -> Outcome {
        let want = (nthreads - 1).min(MAX_WORKERS);
        if self.workers() < want {
            self.try_grow(want);
        }
        let mut claimed = [0; BANKS];
        let offers = self.claim(want, &mut claimed);
        if offers == 0 {
            return attempt_inside(work, 0);
        }
        let job = Job::new(work, offers);
        // SAFETY: dropped below, or by a panic in between.
        let guard = unsafe { Offers::make(self, &job, claimed, offers) };
        job.run_on_caller();
        drop(guard);
        job.outcome()
    }
}

/// The offers of one job. Dropping them, in whatever way the caller's own share ended, withdraws those that no worker
/// took and waits for the workers that took one: afterwards no thread can reach the job.
struct Offers<'j, 'w> {
    set: &'static WorkerSet,
    job: &'j Job<'w>,
    /// The workers that were offered the job and did not refuse it.
    offered: [u64; BANKS],
    refused: u32,
}

impl<'j, 'w> Offers<'j, 'w> {
    /// Offers `job` to the `claimed` workers, `offers` in number, and wakes some of those that sleep.
    ///
    /// # Safety
    /// The result is dropped, not leaked.
    unsafe fn make(set: &'static WorkerSet, job: &'j Job<'w>, claimed: [u64; BANKS], offers: u32) -> Self {
        let mut made = Offers { set, job, offered: [0; BANKS], refused: 0 };
        let mut left = offers;
        let mut any_asleep = false;
        for (bank, claimed) in claimed.into_iter().enumerate() {
            if left == 0 {
                break;
            }
            let mut asleep = 0;
            for bit in positions(claimed) {
                // SAFETY: `made` borrows the job, and the caller guarantees that it is dropped. Its drop withdraws the
                // offer, or waits for the worker that took it.
                match unsafe { set.slot(bank * BANK + bit).offer(job) } {
                    Offer::Made => made.offered[bank] |= 1 << bit,
                    Offer::MadeAsleep => {
                        made.offered[bank] |= 1 << bit;
                        asleep |= 1 << bit;
                    }
                    // The worker is ending, or has an offer already; in that case it sets its idle bit after that job.
                    Offer::Refused => made.refused += 1,
                }
                left -= 1;
            }
            if asleep != 0 {
                job.asleep[bank].store(asleep, Release);
                any_asleep = true;
            }
        }
        if any_asleep {
            set.wake(job, CALLER_WAKES);
        }
        made
    }
}

impl Drop for Offers<'_, '_> {
    fn drop(&mut self) {
        let mut gone = self.refused;
        for (bank, offered) in self.offered.into_iter().enumerate() {
            if offered == 0 {
                continue;
            }
            let unheard = self.job.asleep[bank].swap(0, Relaxed);
            let mut back = 0;
            for bit in positions(offered) {
                let slot = self.set.slot(bank * BANK + bit);
                if slot.withdraw(self.job, unheard & (1 << bit) != 0) {
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
        if self.set.is_ours() {
            self.job.wait(self.set.queue_of(self.job), self.set.spin);
        } else {
            // The workers that began are threads of the parent: they cannot access memory of this process.
            self.job.abandon();
        }
    }
}
