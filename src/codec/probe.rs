//! Quick looks at a stream before compressing it: how much of it repeats what came before, and how its bytes are spread.
//!
//! Owns the sampling. Never decides what follows from the answers, and never changes a byte.

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
/// Spreads words over slots.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const SLOTS_LOG2: u32 = 11;

/// The share of runs, in percent, that needs no closer look.
const CLEARLY_RUNS: usize = 50;
/// The share of repetition in the first half of the samples, in percent, that makes the others needless.
const CLEARLY_REPETITIVE: usize = 70;
/// The length of a run that counts.
const RUN: usize = 16;
/// How many places are asked whether they lie in a run.
const RUN_QUERIES: usize = 128;

/// How many pieces of a stream are looked at for the spread of its bytes, and how long they are.
const PIECES: usize = 16;
const PIECE: usize = 128;
/// The first bytes of each piece that a first glance takes, and how many different ones that shows at least in noise: 162
/// are to be expected of 256, give or take 7.
const GLANCE: usize = 16;
const NOISE_VALUES: usize = 140;

/// A spread of differences that shows neighbours that are alike, though their values are spread like noise.
const SMALL_DIFFERENCES: f32 = 36.0;

/// The byte behind which streams are compared with what came long before, how many bytes are compared, and the distance
/// from which on it is long before.
const MARK: u8 = 0x5b;
const FAR_LEN: usize = 16;
const FAR: usize = 4096;
const FAR_SLOTS_LOG2: u32 = 12;

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
    look_at(src, SAMPLES)
}

/// As [`look`], and less sure.
fn glance(src: &[u8]) -> Look {
    look_at(src, 1)
}

/// As [`look`], with that many samples at the most.
fn look_at(src: &[u8], most: usize) -> Look {
    let sample_len = WINDOW + SPAN;
    let Some(slack) = src.len().checked_sub(sample_len) else { return Look::default() };
    let samples = (src.len() / sample_len).min(most);
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

/// The share of positions in runs, in percent.
pub(super) fn runs(src: &[u8]) -> usize {
    if src.len() < RUN { 0 } else { run_percent(src) }
}

/// The share of places in `src`, at least `RUN` long, where a byte is repeated `RUN` times, in percent.
fn run_percent(src: &[u8]) -> usize {
    let step = (src.len() - RUN) / RUN_QUERIES;
    let in_run = |query: &usize| {
        src[query * step..].first_chunk::<RUN>().is_some_and(|bytes| *bytes == [bytes[0]; RUN])
    };
    (0..RUN_QUERIES).filter(in_run).count() * 100 / RUN_QUERIES
}

/// How often values occur, put as the number of equally frequent ones that would meet as often: 256 for the bytes of
/// noise, 1 where all are equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    /// Of the bytes.
    pub values: f32,
    /// Of the differences between neighbours.
    pub differences: f32,
    /// Whether bytes at even and at odd places are spread alike, unlike those of items of two bytes.
    pub is_even: bool,
}

/// How the bytes of `src` are spread; `None` for streams too short to sample.
pub(super) fn spread(src: &[u8]) -> Option<Spread> {
    let mut values = [[0u16; 256]; 2];
    let mut differences = [0u16; 256];
    for piece in pieces(src)? {
        for pair in piece.as_chunks::<2>().0 {
            values[0][usize::from(pair[0])] += 1;
            values[1][usize::from(pair[1])] += 1;
        }
        for (byte, next) in piece.iter().zip(&piece[1..]) {
            differences[usize::from(next.wrapping_sub(*byte))] += 1;
        }
    }
    let meetings =
        |counts: &[u16; 256]| counts.iter().map(|&n| u32::from(n) * u32::from(n)).sum::<u32>() as f32;
    let [even, odd] = &values;
    let both: [u16; 256] = std::array::from_fn(|value| even[value] + odd[value]);
    // A value does not meet itself.
    let spread = |counts: &[u16; 256], len: usize| {
        let len = len as f32;
        (len * (len - 1.0)) / (meetings(counts) - len).max(len)
    };
    let across: u32 = even.iter().zip(odd).map(|(&a, &b)| u32::from(a) * u32::from(b)).sum();
    let half = (PIECES * PIECE / 2) as f32;
    let values = spread(&both, PIECES * PIECE);
    Some(Spread {
        values,
        differences: spread(&differences, PIECES * (PIECE - 1)),
        is_even: across as f32 / (half * half) * values > 0.8,
    })
}

/// Whether `src` could be noise at a first glance; not if it is too short to tell.
fn may_be_noise(src: &[u8]) -> bool {
    let Some(pieces) = pieces(src) else { return false };
    let mut seen = [0u64; 4];
    for byte in pieces.flat_map(|piece| &piece[..GLANCE]) {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    seen.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() >= NOISE_VALUES
}

/// How carefully to look for what comes again in noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// In one place.
    Glance,
    /// All over, near.
    Look,
    /// All over, near and far.
    Far,
}

/// Whether `src` is noise, of bytes that are spread like so many equally frequent ones at least, and nothing comes again.
pub(super) fn is_noise(src: &[u8], values: f32, care: Care) -> bool {
    let comes_again = |look: Look| look.repetition > 1;
    if !may_be_noise(src) {
        return false;
    }
    let Some(spread) = spread(src) else { return false };
    if spread.values < values {
        return false;
    }
    if care == Care::Glance {
        return !comes_again(glance(src));
    }
    // Three bytes in a row that differ by little are found again often enough.
    let is_noise = spread.differences >= SMALL_DIFFERENCES && !comes_again(look(src));
    is_noise && (care == Care::Look || far_repetition(src) <= 1)
}

/// Whether all values of a byte are about equally frequent in all of `src`.
pub(super) fn is_uniform(src: &[u8]) -> bool {
    let mut tables = [[0u32; 256]; 4];
    for (at, &byte) in src.iter().enumerate() {
        tables[at % 4][usize::from(byte)] += 1;
    }
    let count = |value: usize| tables.iter().map(|table| u64::from(table[value])).sum::<u64>();
    let meetings: u64 = (0..256).map(|value| count(value).pow(2)).sum();
    // As often as chance has it, and a hundredth more.
    let len = src.len() as u64;
    meetings as f64 * 256.0 <= (len * (len + 256)) as f64 * 1.01
}

/// The longest stream that [`is_short_noise`] looks through, in bytes.
pub(super) const SHORT: usize = 8 << 10;

/// Whether no byte of `src`, at most [`SHORT`] long, is frequent and hardly anything comes again: what it costs to say
/// which bytes are more frequent than others is then more than that saves. Never for a few bytes.
pub(super) fn is_short_noise(src: &[u8]) -> bool {
    const GLANCE: usize = 64;
    const SLOTS_LOG2: u32 = 10;
    if src.len() > SHORT || src.len() < 2 * GLANCE {
        return false;
    }
    let mut seen = [0u64; 4];
    src.iter().step_by(src.len() / GLANCE).for_each(|byte| seen[usize::from(byte >> 6)] |= 1 << (byte & 63));
    // Of noise 57 are to be expected, give or take 2.
    if seen.iter().map(|bits| bits.count_ones()).sum::<u32>() < 48 {
        return false;
    }
    let mut counts = [0u16; 256];
    src.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let meetings: usize = counts.iter().map(|&count| usize::from(count) * usize::from(count)).sum();
    // As often as equally frequent values would meet, 200 of them.
    if (meetings - src.len()) * 200 > src.len() * (src.len() - 1) {
        return false;
    }
    // Words of four bytes, by their last place.
    let mut slots = [0u16; 1 << SLOTS_LOG2];
    let mut again = 0;
    for (at, word) in src.windows(4).enumerate() {
        let word: [u8; 4] = word.try_into().expect("four bytes");
        let slot = u32::from_le_bytes(word).wrapping_mul(MULTIPLIER as u32) >> (32 - SLOTS_LOG2);
        let before = usize::from(std::mem::replace(&mut slots[slot as usize], at as u16));
        again += usize::from(before < at && src[before..].first_chunk() == Some(&word));
    }
    again <= src.len() / 256
}

/// How much of `src`, in percent, begins three bytes, and four, that occurred shortly before; nothing of all that, for streams
/// too short to sample.
pub(super) fn short_repetition(src: &[u8]) -> [usize; 2] {
    const HISTORY: usize = 2048;
    const ASKED: usize = 256;
    const SAMPLES: usize = 8;
    const SLOTS_LOG2: u32 = 12;
    let Some(slack) = src.len().checked_sub(HISTORY + ASKED) else { return [0; 2] };
    let mut repeated = [0; 2];
    for nth in 0..SAMPLES {
        let sample = &src[slack / (SAMPLES - 1) * nth..][..HISTORY + ASKED];
        let mut slots = [[0u16; 1 << SLOTS_LOG2]; 2];
        for (at, word) in sample.windows(4).enumerate() {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            for (which, key) in [word << 8, word].into_iter().enumerate() {
                let slot = key.wrapping_mul(MULTIPLIER as u32) >> (32 - SLOTS_LOG2);
                let before = usize::from(std::mem::replace(&mut slots[which][slot as usize], at as u16));
                let len = 3 + which;
                let is_repeated = before < at && sample[before..][..len] == sample[at..][..len];
                repeated[which] += usize::from(at >= HISTORY && is_repeated);
            }
        }
    }
    repeated.map(|places| places * 100 / (SAMPLES * ASKED))
}

/// Pieces all over `src`; `None` for streams too short to have them side by side.
fn pieces(src: &[u8]) -> Option<impl Iterator<Item = &[u8; PIECE]>> {
    let step = src.len().checked_sub(PIECES * PIECE)? / (PIECES - 1) + PIECE;
    Some((0..PIECES).map_while(move |nth| src.get(nth * step..)?.first_chunk::<PIECE>()))
}

/// The share of `src`, in percent, that occurred before, far away: planes that are copies of each other, for instance. Takes
/// the places behind one value of a byte for all.
pub(super) fn far_repetition(src: &[u8]) -> usize {
    let mut slots = [0u32; 1 << FAR_SLOTS_LOG2];
    let (mut repeated, mut asked) = (0, 0);
    for (nth, group) in src.as_chunks::<32>().0.iter().enumerate() {
        if !group.iter().fold(false, |found, &byte| found | (byte == MARK)) {
            continue;
        }
        let first = nth * group.len();
        for at in (first..first + group.len()).filter(|&at| src[at] == MARK) {
            let Some(bytes) = src[at..].first_chunk::<FAR_LEN>() else { break };
            let slot =
                &mut slots[(word_at(bytes, 1).wrapping_mul(MULTIPLIER) >> (64 - FAR_SLOTS_LOG2)) as usize];
            let before = std::mem::replace(slot, at as u32) as usize;
            asked += 1;
            repeated += usize::from(at - before >= FAR && src[before..].first_chunk() == Some(bytes));
        }
    }
    repeated * 100 / asked.max(1)
}

fn word_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk::<WORD>().map_or(0, |word| u64::from_le_bytes(*word))
}

fn slot(word: u64) -> usize {
    (word.wrapping_mul(MULTIPLIER) >> (64 - SLOTS_LOG2)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut x = 1u64;
        std::iter::repeat_with(|| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 56) as u8
        })
        .take(len)
        .collect()
    }

    #[test]
    fn short_repetition_of_items_and_noise() {
        let noise = noise(40_000);
        assert_eq!(short_repetition(&noise[..1000]), [0, 0]);
        assert!(short_repetition(&noise)[0] < 2);
        // Of each item of 8 bytes the high ones are alike: five, or two. Another byte beside them is soon found again.
        let items = |alike: usize| {
            let item = |low: &[u8]| [low[..8 - alike].to_vec(), vec![7; alike]].concat();
            noise.chunks_exact(8).flat_map(item).collect::<Vec<u8>>()
        };
        let [three, four] = short_repetition(&items(5));
        assert!((38..63).contains(&three) && (25..50).contains(&four), "{three} {four}");
        let [three, four] = short_repetition(&items(2));
        assert!((10..25).contains(&three) && four < 2, "{three} {four}");
    }

    #[test]
    fn repetition_of_runs_periods_and_noise() {
        let noise = noise(100_000);
        let period: Vec<u8> = noise[..1000].iter().copied().cycle().take(100_000).collect();
        assert_eq!(look(&vec![7; 100_000]), Look { repetition: 100, runs: 100 });
        assert!(look(&period).repetition > 75 && look(&period).runs == 0);
        assert!(look(&noise).repetition < 5);
        let half: Vec<u8> = noise[..50_000].iter().copied().chain(vec![0; 50_000]).collect();
        assert!((30..70).contains(&look(&half).repetition));
    }

    #[test]
    fn spreads_of_noise_digits_and_items() {
        let noise = noise(100_000);
        let of = |map: &dyn Fn(usize) -> u8| spread(&(0..100_000).map(map).collect::<Vec<u8>>()).unwrap();
        let plain = of(&|at| noise[at]);
        assert!((240.0..272.0).contains(&plain.values) && plain.is_even, "{plain:?}");
        assert!((240.0..272.0).contains(&plain.differences), "{plain:?}");
        let digits = of(&|at| noise[at] % 10);
        assert!(
            (9.0..11.0).contains(&digits.values) && digits.is_even && digits.differences > 10.0,
            "{digits:?}"
        );
        let counter = of(&|at| at as u8);
        assert!(counter.values > 100.0 && (0.9..1.1).contains(&counter.differences), "{counter:?}");
        let items = of(&|at| if at % 2 == 0 { noise[at] } else { 3 });
        assert!(!items.is_even, "{items:?}");
        let few: Vec<u8> = noise.iter().map(|byte| byte % 64).collect();
        assert!(may_be_noise(&noise) && !may_be_noise(&few));
        assert_eq!(far_repetition(&noise), 0);
        assert!((40..60).contains(&far_repetition(&[&noise[..], &noise[..]].concat())));
    }

    #[test]
    fn what_is_spread_evenly() {
        let noise = noise(100_000);
        assert!(is_uniform(&noise) && is_noise(&noise, 240.0, Care::Far));
        let twice = [&noise[..], &noise[..]].concat();
        assert!(is_noise(&twice, 240.0, Care::Look) && !is_noise(&twice, 240.0, Care::Far));
        // A run of a hundredth may be overlooked by samples, not by counting.
        let mut spike = noise.clone();
        spike[99_000..].fill(7);
        assert!(!is_uniform(&spike) && !is_uniform(&[1; 1000]) && is_uniform(&[]));
    }

    #[test]
    fn short_noise() {
        let noise = noise(SHORT + 1);
        for len in [128, 256, 500, 1000, 4000, SHORT] {
            assert!(is_short_noise(&noise[..len]), "{len}");
            let again = [&noise[..len / 2], &noise[..len / 2]].concat();
            let few: Vec<u8> = noise[..len].iter().map(|byte| byte % 128).collect();
            let half: Vec<u8> = (0..len).map(|at| if at < len / 2 { noise[at] } else { 0 }).collect();
            assert!([again, few, half].iter().all(|bytes| !is_short_noise(bytes)), "{len}");
        }
        assert!(!is_short_noise(&noise) && !is_short_noise(&noise[..127]) && !is_short_noise(&[]));
    }

    #[test]
    fn every_length_is_fine() {
        for len in (0..4000).chain([60_000]) {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 91 / 7) as u8).collect();
            assert_eq!(spread(&bytes).is_some(), len >= PIECES * PIECE, "{len}");
            assert!(!may_be_noise(&bytes[..len.min(PIECES * PIECE - 1)]));
            assert!(far_repetition(&bytes) <= 100);
        }
        // Runs are near.
        assert_eq!(far_repetition(&[MARK; 100_000]), 0);
        for len in (0..WINDOW + SPAN + 3).chain(9000..9300).chain([40_000]) {
            let expected = if len < WINDOW + SPAN { 0 } else { 100 };
            assert_eq!(look(&vec![1; len]).repetition, expected, "{len}");
        }
    }
}
