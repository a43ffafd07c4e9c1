//! The slot in which one worker is offered jobs.

use std::ptr;
use std::time::Duration;

use super::job::Job;
use super::park::{WaitQueue, spin_until};
use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::thread;

/// The word of a slot is the address of the job on offer, or one of these small numbers.
const EMPTY: usize = 0;
/// Nothing is on offer, and the worker sleeps or is about to.
const ASLEEP: usize = 1;
/// The worker has to end: its thread returns.
const SHUT_DOWN: usize = 2;
const VACANT: usize = 3;

type SlotWord = *mut Job<'static>;

const fn state_word(state: usize) -> SlotWord {
    ptr::without_provenance_mut(state)
}

/// Returns the word for an offer of `job`. The lifetime of the job is erased here: see [`WorkerSlot::offer`].
fn offer_word(job: &Job<'_>) -> SlotWord {
    ptr::from_ref(job).cast::<Job<'static>>().cast_mut()
}

/// The slot in which one worker is offered jobs.
///
/// The worker may access a job only after it changed the word from the job's address to `EMPTY`. If the thread that
/// made an offer changes the word back first, the worker has not accessed the job, and the job may end.
pub(super) struct WorkerSlot {
    word: AtomicPtr<Job<'static>>,
    queue: WaitQueue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfferResult {
    /// The worker is awake and will read the offer.
    Made,
    /// The worker sleeps: a thread has to [`WorkerSlot::wake`] it, or withdraw the offer as `not_woken`.
    MadeAsleep,
    /// There is no worker, or it has an offer already.
    Refused,
}

impl WorkerSlot {
    pub(super) fn vacant() -> Self {
        WorkerSlot { word: AtomicPtr::new(state_word(VACANT)), queue: WaitQueue::new() }
    }

    /// Offers `job`.
    ///
    /// # Safety
    /// The job is not moved or freed until [`withdraw`](Self::withdraw) has returned true for it, or the worker that
    /// took it has finished it.
    pub(super) unsafe fn offer(&self, job: &Job<'_>) -> OfferResult {
        let mut seen = self.word.load(Relaxed);
        loop {
            let made = match seen.addr() {
                EMPTY => OfferResult::Made,
                ASLEEP => OfferResult::MadeAsleep,
                _ => return OfferResult::Refused,
            };
            match self.word.compare_exchange_weak(seen, offer_word(job), Release, Relaxed) {
                Ok(_) => return made,
                Err(now) => seen = now,
            }
        }
    }

    /// Returns whether the worker has not taken its offer of `job`. If so, what this thread has seen is visible to the worker
    /// when it takes the offer.
    pub(super) fn renew_offer(&self, job: &Job<'_>) -> bool {
        self.word.compare_exchange(offer_word(job), offer_word(job), Release, Relaxed).is_ok()
    }

    /// Returns whether the worker is awake and has no offer.
    pub(super) fn is_awake(&self) -> bool {
        self.word.load(Relaxed).addr() == EMPTY
    }

    /// Withdraws an offer of `job`. Returns false if the worker took it. `not_woken` is true if the offer was
    /// [`OfferResult::MadeAsleep`] and no thread has woken the worker or will wake it.
    pub(super) fn withdraw(&self, job: &Job<'_>, not_woken: bool) -> bool {
        let back = state_word(if not_woken { ASLEEP } else { EMPTY });
        self.word.compare_exchange(offer_word(job), back, Relaxed, Relaxed).is_ok()
    }

    /// Wakes the worker after an offer.
    pub(super) fn wake(&self) {
        self.queue.wake();
    }

    /// Opens a vacant slot for a worker that is about to start.
    pub(super) fn occupy(&self) {
        debug_assert_eq!(self.word.load(Relaxed).addr(), VACANT);
        self.word.store(state_word(EMPTY), Relaxed);
    }

    /// Makes the worker end after the job that it runs. Every later offer is refused.
    pub(super) fn request_shutdown(&self) {
        self.set_closed_state(SHUT_DOWN);
        self.queue.wake();
    }

    /// Marks that the worker has ended.
    pub(super) fn vacate(&self) {
        self.word.store(state_word(VACANT), Relaxed);
    }

    /// Marks that the worker could not be started.
    pub(super) fn cancel_occupy(&self) {
        self.set_closed_state(VACANT);
    }

    fn set_closed_state(&self, state: usize) {
        let mut seen = self.word.load(Relaxed);
        loop {
            match seen.addr() {
                SHUT_DOWN | VACANT => return,
                EMPTY | ASLEEP => match self.word.compare_exchange(seen, state_word(state), Relaxed, Relaxed)
                {
                    Ok(_) => return,
                    Err(now) => seen = now,
                },
                // An offer: its worker takes it, or the caller of the job withdraws it, in a short time.
                _ => {
                    thread::sleep(Duration::from_micros(50));
                    seen = self.word.load(Relaxed);
                }
            }
        }
    }

    /// Waits, as the worker, for the next job, spinning for at most `spin` before it sleeps. Returns the job, and whether
    /// the worker slept; `None` when the worker has to end.
    pub(super) fn wait_for_job(&self, spin: Duration) -> Option<(*const Job<'static>, bool)> {
        let mut has_slept = false;
        loop {
            spin_until(spin, || self.word.load(Relaxed).addr() != EMPTY);
            let seen = self.word.load(Relaxed);
            match seen.addr() {
                // If this fails, there is an offer, which the next iteration reads.
                EMPTY => {
                    let _ = self.word.compare_exchange(seen, state_word(ASLEEP), Relaxed, Relaxed);
                }
                ASLEEP => {
                    has_slept = true;
                    self.queue.sleep_while(|| self.word.load(Relaxed).addr() == ASLEEP);
                }
                SHUT_DOWN | VACANT => return None,
                _ => {
                    if self.word.compare_exchange(seen, state_word(EMPTY), Acquire, Relaxed).is_ok() {
                        return Some((seen, has_slept));
                    }
                }
            }
        }
    }
}
