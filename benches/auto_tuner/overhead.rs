//! The time that the tuner takes, as a share of the time of compression with its choice.

use std::collections::BTreeMap;
use std::ops::Range;

use blosc2::internals::auto_tuner::{AutoTuner, Settings, SpeedMode};

use crate::calls::Params;
use crate::cell::CODECS;
use crate::data::DataSet;
use crate::linked::Context;
use crate::measure::thread_seconds;

/// The number of chunks of a super-chunk.
const CHUNKS: usize = 32;

/// Sums of seconds, and counts.
#[derive(Default)]
struct Sum {
    sets: usize,
    compression: f64,
    /// The first choice of a set.
    first: f64,
    /// The choices for the other chunks.
    others: f64,
    /// The least time of a choice that is kept.
    kept: f64,
    changes: usize,
}

/// Prints the shares for each codec that the tuner chooses for the first chunk of drawn sets.
pub fn run(seed: u64, sets: Range<u64>) {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for index in sets {
        let set = DataSet::draw_series(seed, index, CHUNKS);
        let settings = Settings::new([0.0, 0.25, 0.5, 0.75][index as usize % 4], SpeedMode::Compression);
        let mut tuner = AutoTuner::new(settings.expect("a tradeoff"));
        let mut out = vec![0; set.chunks[0].len() + 32];
        let mut choices = Vec::new();
        let (mut first, mut others, mut kept, mut compression, mut codec) =
            (0.0, 0.0, f64::INFINITY, 0.0, "");
        for (nchunk, chunk) in set.chunks.iter().enumerate() {
            let start = thread_seconds();
            let choice = tuner.choose(chunk, set.typesize, 0).expect("a choice");
            let middle = thread_seconds();
            let mut compressor = Context::for_compression(
                Params {
                    codec: choice.compcode,
                    clevel: choice.clevel,
                    typesize: set.typesize as i32,
                    filters: choice.chain.filters(),
                    ..Params::default()
                }
                .cparams(),
            );
            // The first call of a context allocates its memory.
            compressor.compress(chunk, &mut out);
            let before = thread_seconds();
            compressor.compress(chunk, &mut out);
            compression += thread_seconds() - before;
            if nchunk == 0 {
                first = middle - start;
                codec = CODECS.iter().find(|known| known.0 == choice.compcode).expect("a codec").1;
            } else {
                others += middle - start;
                kept = kept.min(middle - start);
            }
            choices.push((choice.compcode, choice.clevel, choice.chain));
        }
        let sum = sums.entry(codec).or_default();
        sum.sets += 1;
        sum.compression += compression / CHUNKS as f64;
        sum.first += first;
        sum.others += others / (CHUNKS - 1) as f64;
        sum.kept += kept;
        sum.changes += choices.windows(2).filter(|pair| pair[0] != pair[1]).count();
    }
    println!(
        "| codec | sets | us per chunk | first choice, us | other chunks, % | kept choice, % | changes per set |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (codec, sum) in sums {
        let per_set = |seconds: f64| seconds / sum.sets as f64 * 1e6;
        println!(
            "| {codec} | {} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} |",
            sum.sets,
            per_set(sum.compression),
            per_set(sum.first),
            100.0 * sum.others / sum.compression,
            100.0 * sum.kept / sum.compression,
            sum.changes as f64 / sum.sets as f64
        );
    }
}
