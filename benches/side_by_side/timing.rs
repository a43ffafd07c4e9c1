//! How two pieces of work are timed against each other. Owns the clock; prints nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How many times as fast `ours` is as `theirs`. The two take turns, in batches of at least `batch`; each
/// counts with its best batch, since what disturbs a measurement only ever slows it down.
pub fn speed_ratio(rounds: usize, batch: Duration, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> f64 {
    // The first call warms caches and contexts up, the second is the yardstick for the batch.
    ours();
    let ours_calls = calls_per_batch(batch, time(1, &mut ours));
    theirs();
    let theirs_calls = calls_per_batch(batch, time(1, &mut theirs));
    let (mut ours_best, mut theirs_best) = (f64::INFINITY, f64::INFINITY);
    for round in 0..rounds {
        // Neither always comes first.
        for turn in [round % 2, (round + 1) % 2] {
            if turn == 0 {
                ours_best = ours_best.min(time(ours_calls, &mut ours) / f64::from(ours_calls));
            } else {
                theirs_best = theirs_best.min(time(theirs_calls, &mut theirs) / f64::from(theirs_calls));
            }
        }
    }
    theirs_best / ours_best
}

fn calls_per_batch(batch: Duration, one_call: f64) -> u32 {
    (batch.as_secs_f64() / one_call.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}

/// Seconds for so many calls.
fn time(calls: u32, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(&mut *work)();
    }
    start.elapsed().as_secs_f64()
}

/// The geometric mean; of nothing, 1.
pub fn geometric_mean(ratios: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = ratios.clone().count().max(1);
    (ratios.map(f64::ln).sum::<f64>() / count as f64).exp()
}
