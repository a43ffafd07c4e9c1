//! How two pieces of work are timed against each other. Owns the clock; prints nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::options::Options;

/// Which seconds count.
#[derive(Clone, Copy)]
enum Clock {
    /// Those in which the calling thread ran: for work on one thread, on a machine that others use too.
    Thread,
    /// Those that passed: for work on several threads.
    Wall,
}

impl Clock {
    fn now(self) -> f64 {
        let id = match self {
            Clock::Thread => libc::CLOCK_THREAD_CPUTIME_ID,
            Clock::Wall => libc::CLOCK_MONOTONIC,
        };
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: a clock that Linux has, and a struct for its reading.
        assert_eq!(unsafe { libc::clock_gettime(id, &raw mut now) }, 0, "a clock");
        now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
    }
}

/// Rounds that are not cut for want of time.
const LEAST_ROUNDS: usize = 3;

/// How many times as fast `ours` is as `theirs`. The two take turns, in batches of a least length; each
/// counts with its best batch, since what disturbs a measurement only ever slows it down.
pub fn speed_ratio(options: &Options, nthreads: i16, ours: impl FnMut(), theirs: impl FnMut()) -> f64 {
    let clock = if nthreads > 1 { Clock::Wall } else { Clock::Thread };
    compare(clock, options, ours, theirs)
}

/// Seconds that a call takes, of the best batch.
pub fn seconds(options: &Options, nthreads: i16, mut work: impl FnMut()) -> f64 {
    let clock = if nthreads > 1 { Clock::Wall } else { Clock::Thread };
    work();
    let calls = calls_per_batch(options.batch, time(clock, 1, &mut work));
    let start = Instant::now();
    let mut best = f64::INFINITY;
    for round in 0..options.rounds {
        if round >= LEAST_ROUNDS && start.elapsed() > options.budget {
            break;
        }
        best = best.min(time(clock, calls, &mut work) / f64::from(calls));
    }
    best
}

fn compare(clock: Clock, options: &Options, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> f64 {
    // The first call warms caches and contexts up, the second is the yardstick for the batch.
    ours();
    let ours_calls = calls_per_batch(options.batch, time(clock, 1, &mut ours));
    theirs();
    let theirs_calls = calls_per_batch(options.batch, time(clock, 1, &mut theirs));
    let (mut ours_best, mut theirs_best) = (f64::INFINITY, f64::INFINITY);
    let start = Instant::now();
    for round in 0..options.rounds {
        if round >= LEAST_ROUNDS && start.elapsed() > options.budget {
            break;
        }
        // Neither always comes first.
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

/// As [`speed_ratio`], of work that changes what it works on: each batch is one call, on what `prepare` has just made.
/// Neither making it nor dropping it counts. Waiting counts: the reference has threads encode the index of a frame. `prepare` is told for which library: 0 is ours.
pub fn speed_ratio_afresh<S>(
    rounds: usize,
    mut prepare: impl FnMut(usize) -> S,
    mut work: impl FnMut(&mut S),
) -> f64 {
    let mut best = [f64::INFINITY; 2];
    // The first round warms caches up, unless there is but one.
    let warm_up = usize::from(rounds > 1);
    for round in 0..rounds + warm_up {
        for turn in [round % 2, (round + 1) % 2] {
            let mut state = prepare(turn);
            let seconds = time(Clock::Wall, 1, &mut || work(&mut state));
            drop(state);
            if round >= warm_up {
                best[turn] = best[turn].min(seconds);
            }
        }
    }
    best[1] / best[0]
}

fn calls_per_batch(batch: Duration, one_call: f64) -> u32 {
    (batch.as_secs_f64() / one_call.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// Seconds for so many calls.
fn time(clock: Clock, calls: u32, work: &mut impl FnMut()) -> f64 {
    let start = clock.now();
    for _ in 0..calls {
        black_box(&mut *work)();
    }
    clock.now() - start
}
