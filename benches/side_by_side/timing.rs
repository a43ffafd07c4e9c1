//! Timing of two functions against each other: clocks, batches and rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::options::Options;

/// The clock of a measurement.
#[derive(Clone, Copy)]
enum Clock {
    /// Processor time of the calling thread: for work on one thread. Other processes do not change it.
    Thread,
    /// Elapsed time: for work on several threads.
    Wall,
}

impl Clock {
    fn now(self) -> f64 {
        let id = match self {
            Clock::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Clock::Wall => libc::CLOCK_MONOTONIC,
        };
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: Linux has this clock, and `now` is a valid out-pointer.
        assert_eq!(unsafe { libc::clock_gettime(id, &raw mut now) }, 0, "a clock");
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }
}

/// The number of rounds that run even if the time budget is used up.
const MIN_ROUNDS: usize = 3;

/// Returns how many times as fast `ours` is as `theirs`. The two alternate, in batches of at least `options.min_batch`.
/// The fastest batch of each counts, since noise only adds time.
pub fn speed_ratio(options: &Options, nthreads: i16, ours: impl FnMut(), theirs: impl FnMut()) -> f64 {
    let clock = if nthreads > 1 { Clock::Wall } else { Clock::Thread };
    compare(clock, options, ours, theirs)
}

/// Returns the seconds per call of the fastest batch.
pub fn seconds_per_call(options: &Options, nthreads: i16, mut work: impl FnMut()) -> f64 {
    let clock = if nthreads > 1 { Clock::Wall } else { Clock::Thread };
    work();
    let calls = calls_per_batch(options.min_batch, time(clock, 1, &mut work));
    let start = Instant::now();
    let mut best = f64::INFINITY;
    for round in 0..options.rounds {
        if round >= MIN_ROUNDS && start.elapsed() > options.budget {
            break;
        }
        best = best.min(time(clock, calls, &mut work) / f64::from(calls));
    }
    best
}

fn compare(clock: Clock, options: &Options, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> f64 {
    // The first call warms up caches and contexts. The time of the second determines the number of calls per batch.
    ours();
    let ours_calls = calls_per_batch(options.min_batch, time(clock, 1, &mut ours));
    theirs();
    let theirs_calls = calls_per_batch(options.min_batch, time(clock, 1, &mut theirs));
    let (mut ours_best, mut theirs_best) = (f64::INFINITY, f64::INFINITY);
    let start = Instant::now();
    for round in 0..options.rounds {
        if round >= MIN_ROUNDS && start.elapsed() > options.budget {
            break;
        }
        // The order alternates from round to round.
        for turn in [round % 2, (round + 1) % 2] {
            if turn == 0 {
                ours_best = ours_best.min(time(clock, ours_calls, &mut ours) / f64::from(ours_calls));
            } else {
                theirs_best =
                    theirs_best.min(time(clock, theirs_calls, &mut theirs) / f64::from(theirs_calls));
            }
        }
    }
    theirs_best / ours_best
}

/// Returns the ratio of [`speed_ratio`] for work that changes its input: see [`seconds_with_setup`]. Variant 0 is ours.
pub fn speed_ratio_with_setup<S>(
    rounds: usize,
    prepare: impl FnMut(usize) -> S,
    work: impl FnMut(&mut S),
) -> f64 {
    let best = seconds_with_setup(rounds, 2, prepare, work);
    best[1] / best[0]
}

/// Returns the seconds of the fastest batch of each of `variants` variants that alternate, for work that changes its
/// input. Each batch is one call of `work` on a new state from `prepare`, whose argument is the number of the variant.
/// Creating and dropping the state is not timed. The time is elapsed time: the reference encodes the index of a frame
/// in other threads.
pub fn seconds_with_setup<S>(
    rounds: usize,
    variants: usize,
    mut prepare: impl FnMut(usize) -> S,
    mut work: impl FnMut(&mut S),
) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; variants];
    // The first round only warms up caches, unless a single round was requested.
    let warm_up = usize::from(rounds > 1);
    for round in 0..rounds + warm_up {
        // The order changes from round to round.
        for turn in (0..variants).map(|turn| (round + turn) % variants) {
            let mut state = prepare(turn);
            let seconds = time(Clock::Wall, 1, &mut || work(&mut state));
            drop(state);
            if round >= warm_up {
                best[turn] = best[turn].min(seconds);
            }
        }
    }
    best
}

fn calls_per_batch(batch: Duration, one_call: f64) -> u32 {
    (batch.as_secs_f64() / one_call.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// Returns the seconds that `calls` calls take together.
fn time(clock: Clock, calls: u32, work: &mut impl FnMut()) -> f64 {
    let start = clock.now();
    for _ in 0..calls {
        black_box(&mut *work)();
    }
    clock.now() - start
}
