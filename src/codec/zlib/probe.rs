//! A quick look at a stream before deflating it: how much of it repeats what came shortly before.
//!
//! Owns the sampling. Never decides what follows from the answer, and never changes a byte.

/// How far back a sample looks. Long enough to hold the vocabulary of repetitive data.
const WINDOW: usize = 4096;
/// How many bytes after its window a sample asks about.
const SPAN: usize = 512;
/// How many samples are spread over a stream. Byte-shuffled items make planes of quite different nature,
/// so a few more than the bytes of a common item.
const SAMPLES: usize = 8;
/// Only every so many positions of a window are remembered; a position asks as many times.
const STRIDE: usize = 4;
/// Distance between the positions that ask.
const QUERY_STEP: usize = 16;
const WORD: usize = 8;
const SLOTS_LOG2: u32 = 11;

/// The share of runs, in percent, that needs no closer look.
const CLEARLY_RUNS: usize = 50;
/// The share of repetition in the first half of the samples, in percent, that makes the others needless.
const CLEARLY_REPETITIVE: usize = 70;
/// The length of a run that counts.
const RUN: usize = 16;
/// How many places are asked whether they lie in a run.
const RUN_QUERIES: usize = 128;

/// What a stream is like, in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    /// The share of positions whose next eight bytes occurred in the few KiB before. Runs count too.
    pub repetition: usize,
    /// The share of positions in runs.
    pub runs: usize,
}

/// What `src` is like; nothing of all that, for streams too short to sample.
pub(super) fn look(src: &[u8]) -> Look {
    let sample_len = WINDOW + SPAN;
    let Some(slack) = src.len().checked_sub(sample_len) else { return Look::default() };
    let samples = (src.len() / sample_len).min(SAMPLES);
    // Runs are quickly seen, and what is full of them is compressed so fast that a closer look would cost.
    let runs = run_percent(src);
    if runs >= CLEARLY_RUNS {
        return Look { repetition: runs, runs };
    }
    let mut slots = [0u16; 1 << SLOTS_LOG2];
    let (mut repeated, mut asked) = (0, 0);
    // Every other sample first: repetitive streams, the quickly compressed ones, need no more.
    for sample in (0..samples).step_by(2).chain((1..samples).step_by(2)) {
        if sample == 1 && repeated * 100 >= asked * CLEARLY_REPETITIVE {
            break;
        }
        // With one sample only, its end is the stream's.
        let start = if samples > 1 { slack / (samples - 1) * sample } else { slack };
        let sample = &src[start..start + sample_len];
        for at in (0..WINDOW - WORD).step_by(STRIDE) {
            slots[slot(word_at(sample, at))] = at as u16;
        }
        for at in (WINDOW..sample_len - WORD - STRIDE).step_by(QUERY_STEP) {
            asked += 1;
            repeated += usize::from((at..at + STRIDE).any(|at| {
                let word = word_at(sample, at);
                word_at(sample, usize::from(slots[slot(word)])) == word
            }));
        }
    }
    Look { repetition: repeated * 100 / asked, runs }
}

/// The share of places in `src`, at least `RUN` long, where a byte is repeated `RUN` times, in percent.
fn run_percent(src: &[u8]) -> usize {
    let step = (src.len() - RUN) / RUN_QUERIES;
    let in_run = |query: &usize| {
        src[query * step..].first_chunk::<RUN>().is_some_and(|bytes| *bytes == [bytes[0]; RUN])
    };
    (0..RUN_QUERIES).filter(in_run).count() * 100 / RUN_QUERIES
}

fn word_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk::<WORD>().map_or(0, |word| u64::from_le_bytes(*word))
}

fn slot(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_of_runs_periods_and_noise() {
        let mut x = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 56) as u8
        })
        .take(100_000)
        .collect();
        let period: Vec<u8> = noise[..1000].iter().copied().cycle().take(100_000).collect();
        assert_eq!(look(&vec![7; 100_000]), Look { repetition: 100, runs: 100 });
        assert!(look(&period).repetition > 75 && look(&period).runs == 0);
        assert!(look(&noise).repetition < 5);
        let half: Vec<u8> = noise[..50_000].iter().copied().chain(vec![0; 50_000]).collect();
        assert!((30..70).contains(&look(&half).repetition));
    }

    #[test]
    fn every_length_is_fine() {
        for len in (0..WINDOW + SPAN + 3).chain(9000..9300).chain([40_000]) {
            let expected = if len < WINDOW + SPAN { 0 } else { 100 };
            assert_eq!(look(&vec![1; len]).repetition, expected, "{len}");
        }
    }
}
