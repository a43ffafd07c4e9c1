//! A worker: the slot in which it is offered jobs, and the loop that takes them. Does not choose workers and
//! does not start threads; that is the crew's.

use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use super::IN_JOB;
use super::crew::Crew;
use super::job::Job;
use super::park::{Gate, spin_until};

/// The word of a slot is the address of the job on offer, or one of these small numbers.
const NOTHING: usize = 0;
/// Nothing is on offer, and the worker sleeps or is about to.
const ASLEEP: usize = 1;
/// The worker shall end.
const LEAVE: usize = 2;
/// There is no worker.
const VACANT: usize = 3;

type Word = *mut Job<'static>;

const fn word(state: usize) -> Word {
    ptr::without_provenance_mut(state)
}

/// Where one worker is offered jobs.
///
/// The worker may touch a job only after it changed the word from the job's address to `NOTHING`. So an offer
/// that its maker changed back first was never seen by anybody, and the job may go.
pub(super) struct Slot {
    word: AtomicPtr<Job<'static>>,
    gate: Gate,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// The worker is awake and will see it.
    Made,
    /// The worker sleeps: somebody must [`Slot::wake`] it, or withdraw the offer as unheard.
    MadeAsleep,
    /// There is no worker, or it has an offer already.
    Refused,
}

impl Slot {
    pub(super) const fn vacant() -> Self {
        Slot { word: AtomicPtr::new(word(VACANT)), gate: Gate::new() }
    }

    /// Offers `job`. Whoever does so keeps it alive until the offer is withdrawn or the worker has left the job.
    pub(super) fn offer(&self, job: &Job<'_>) -> Offer {
        let mut seen = self.word.load(Relaxed);
        loop {
            let made = match seen.addr() {
                NOTHING => Offer::Made,
                ASLEEP => Offer::MadeAsleep,
                _ => return Offer::Refused,
            };
            match self.word.compare_exchange_weak(seen, address(job), Release, Relaxed) {
                Ok(_) => return made,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes back an offer of `job`; false if the worker took it. `unheard`: the offer was
    /// [`Offer::MadeAsleep`] and nobody has woken the worker, nor will.
    pub(super) fn withdraw(&self, job: &Job<'_>, unheard: bool) -> bool {
        let back = word(if unheard { ASLEEP } else { NOTHING });
        self.word.compare_exchange(address(job), back, Relaxed, Relaxed).is_ok()
    }

    /// Wakes the worker after an offer.
    pub(super) fn wake(&self) {
        self.gate.wake();
    }

    /// Opens a vacant slot for a worker that is about to be started.
    pub(super) fn occupy(&self) {
        debug_assert_eq!(self.word.load(Relaxed).addr(), VACANT);
        self.word.store(word(NOTHING), Relaxed);
    }

    /// Tells the worker to end once it has done what it began. No offer is accepted afterwards.
    pub(super) fn dismiss(&self) {
        self.close(LEAVE);
        self.gate.wake();
    }

    /// Marks that the worker has ended.
    pub(super) fn vacate(&self) {
        self.word.store(word(VACANT), Relaxed);
    }

    /// Marks that the worker never came to be.
    pub(super) fn close_unused(&self) {
        self.close(VACANT);
    }

    fn close(&self, state: usize) {
        let mut seen = self.word.load(Relaxed);
        loop {
            match seen.addr() {
                LEAVE | VACANT => return,
                NOTHING | ASLEEP => match self.word.compare_exchange(seen, word(state), Relaxed, Relaxed) {
                    Ok(_) => return,
                    Err(now) => seen = now,
                },
                // An offer that is not taken yet: its maker withdraws it soon, if the worker does not come first.
                _ => {
                    std::thread::sleep(Duration::from_micros(50));
                    seen = self.word.load(Relaxed);
                }
            }
        }
    }

    /// The worker's wait for the next job; `None` when it shall end.
    fn take(&self, spin: bool) -> Option<*const Job<'static>> {
        loop {
            spin_until(spin, || self.word.load(Relaxed).addr() != NOTHING);
            let seen = self.word.load(Relaxed);
            match seen.addr() {
                // If this fails there is an offer, seen in the next round.
                NOTHING => {
                    let _ = self.word.compare_exchange(seen, word(ASLEEP), Relaxed, Relaxed);
                }
                ASLEEP => self.gate.sleep_while(|| self.word.load(Relaxed).addr() == ASLEEP),
                LEAVE | VACANT => return None,
                _ => {
                    if self.word.compare_exchange(seen, word(NOTHING), Acquire, Relaxed).is_ok() {
                        return Some(seen);
                    }
                }
            }
        }
    }
}

/// The word for an offer of `job`. Its lifetime is forgotten here; the crew's `Offers` sees to it that the
/// address leaves every slot, and every worker that took it leaves the job, before the job's borrow ends.
fn address(job: &Job<'_>) -> Word {
    ptr::from_ref(job).cast::<Job<'static>>().cast_mut()
}

/// What the thread of worker number `index` does all its life.
pub(super) fn serve(crew: &'static Crew, index: usize) {
    IN_JOB.set(true);
    let slot = crew.slot(index);
    while let Some(taken) = slot.take(crew.spin) {
        {
            // SAFETY: `take` moved the address out of the slot, so this worker is in the job's count, and the
            // caller of `run` keeps the job until the worker signs off below (see `Offers`).
            let job = unsafe { &*taken };
            crew.wake_others(job);
            job.help();
        }
        // Idle again before the caller hears of it, so that its next job finds this worker.
        crew.set_idle(index);
        // SAFETY: as above: still counted, and the job is not touched afterwards.
        if unsafe { Job::leave(taken) } {
            crew.gate_of(taken).wake();
        }
        if !crew.is_ours() {
            // The job forked, and this thread is all there is of the child: nobody will ever offer it a job.
            return;
        }
    }
}
