//! A statistical test for streams that cannot be compressed, which is faster than running an encoder.
//!
//! A sample only selects the streams for which the test is worthwhile. The test reads every byte. Never changes a byte.

use crate::tuning::tunable;

/// The shortest stream that is examined, in bytes.
const MIN_STREAM_LEN: usize = 256;
tunable! {
    /// The number of bytes that are sampled at first, and the least number of different values among them, in percent of
    /// the number that is expected of noise.
    const SAMPLE_COUNT: usize = 512;
    const MIN_DISTINCT_PERCENT: usize = 85;

    /// The length in bytes of the parts that are examined for frequent values, and the largest value of Pearson's statistic
    /// that still counts as chance: 255 are expected, plus or minus 23. Codes that save 0.7 bits for each unit above would
    /// save 40 bytes of a part, less than their own description takes.
    const UNIFORM_PART_LEN: usize = 16 << 10;
    const MAX_CHI_SQUARE: u64 = 700;

    /// At most one word in this many may be repeated.
    const REPEATED_WORD_DIVISOR: usize = 1024;
}
/// log2 of the number of slots for words. The slots are on the stack: 16 KiB.
const HASH_LOG: u32 = 12;

/// Returns whether `src` counts as incompressible: apart from chance, the values of its bytes are equally frequent in
/// each part, and hardly any four bytes are repeated within `reach` bytes.
pub(super) fn is_incompressible(src: &[u8], reach: usize) -> bool {
    src.len() >= MIN_STREAM_LEN && may_be_noise(src) && is_uniform(src) && !has_repeated_words(src, reach)
}

/// Returns whether a sample of `src` has about as many different values as a sample of noise.
fn may_be_noise(src: &[u8]) -> bool {
    // Odd, so that it shares no factor with periods that are powers of two.
    let step = src.len().div_ceil(SAMPLE_COUNT.get()) | 1;
    let mut seen = [0u64; 4];
    src.iter().step_by(step).for_each(|byte| seen[usize::from(byte >> 6)] |= 1 << (byte & 63));
    let values = seen.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
    let samples = src.len().div_ceil(step) as f64;
    let expected = 256.0 * (1.0 - (-samples / 256.0).exp());
    values * 100 >= (expected * MIN_DISTINCT_PERCENT.get() as f64) as usize
}

/// Returns whether all values of a byte are equally frequent, apart from chance, in each part of `src` to which an
/// encoder could give its own codes.
fn is_uniform(src: &[u8]) -> bool {
    src.chunks(UNIFORM_PART_LEN.get()).all(|part| {
        // Four tables: in a single one, the increments for equal bytes would wait for each other.
        let mut tables = [[0u32; 256]; 4];
        let (quads, rest) = part.as_chunks::<4>();
        for quad in quads {
            for (table, &byte) in tables.iter_mut().zip(quad) {
                table[usize::from(byte)] += 1;
            }
        }
        rest.iter().for_each(|&byte| tables[0][usize::from(byte)] += 1);
        let count = |value: usize| tables.iter().map(|table| u64::from(table[value])).sum::<u64>();
        let squares: u64 = (0..256).map(|value| count(value).pow(2)).sum();
        let len = part.len() as u64;
        squares * 256 <= len * (len + MAX_CHI_SQUARE.get())
    })
}

/// Returns whether at more than one in [`REPEATED_WORD_DIVISOR`] positions of `src`, by an estimate, the four bytes
/// occurred up to `reach` bytes before. Where the reach is long, words are selected by their content, so that either
/// both occurrences are selected or none. Returns early once the result is certain.
fn has_repeated_words(src: &[u8], reach: usize) -> bool {
    let mut slots = [u32::MAX; 1 << HASH_LOG];
    let rate = (reach.min(src.len()) >> HASH_LOG).max(1).next_power_of_two();
    let most = src.len() / REPEATED_WORD_DIVISOR.get() / rate;
    let mut repeated = 0;
    for (at, word) in src.windows(4).enumerate() {
        let word: [u8; 4] = word.try_into().expect("a window of 4 has 4 bytes");
        let hash = u32::from_le_bytes(word).wrapping_mul(0x9e37_79b1);
        if hash as usize >> 4 & (rate - 1) != 0 {
            continue;
        }
        let before = std::mem::replace(&mut slots[(hash >> (32 - HASH_LOG)) as usize], at as u32) as usize;
        let there = src.get(before..).and_then(|there| there.first_chunk());
        if at.wrapping_sub(before) <= reach && there == Some(&word) {
            repeated += 1;
            if repeated > most {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns bytes of SplitMix64: samples at distances of powers of two are as random as neighbours.
    #[test]
    fn noise_is_incompressible_unless_repeated_within_reach() {
        let (most, shorter) = if cfg!(miri) { (1000, 500) } else { (1 << 20, 1) };
        let noise = Random(1).bytes(2_000_000 / shorter, 256);
        for len in [MIN_STREAM_LEN, 500, 1000, 4000, 32_000, 100_000, 300_000] {
            if len > noise.len() {
                continue;
            }
            assert!(is_incompressible(&noise[..len], usize::MAX), "{len}");
        }
        for period in [300, 1000, 4000, 20_000, 32_000, 100_000, 1 << 20] {
            if period > most {
                continue;
            }
            let again: Vec<u8> = noise[..period].iter().copied().cycle().take(4 * period).collect();
            assert!(!is_incompressible(&again, usize::MAX), "{period}");
            assert_eq!(is_incompressible(&again, 32 << 10), period > 32 << 10, "{period}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 1 MB")]
    fn stream_with_a_compressible_part_is_not_incompressible() {
        let noise = Random(1).bytes(300_000, 256);
        let mut partly = noise.clone();
        partly.copy_within(10_000..12_000, 200_000);
        assert!(!is_incompressible(&partly, usize::MAX));
        partly.copy_from_slice(&noise);
        partly[100_000..150_000].iter_mut().for_each(|byte| *byte &= 0x7f);
        assert!(!is_incompressible(&partly, usize::MAX));
        partly.copy_from_slice(&noise);
        partly[299_000..].fill(7);
        assert!(!is_incompressible(&partly, usize::MAX));
        // 200 of 256 values: codes save 4 %.
        let values: Vec<u8> = noise.iter().copied().filter(|&byte| byte < 200).collect();
        for len in [2000, 8000, 200_000] {
            assert!(!is_incompressible(&values[..len], usize::MAX), "{len}");
        }
        // Uniform in all, but not in parts; and a counter.
        let sorted: Vec<u8> = (0..100_000).map(|at| (at / 400) as u8).collect();
        let counter: Vec<u8> = (0..100_000).map(|at| at as u8).collect();
        assert!(!is_incompressible(&sorted, usize::MAX) && !is_incompressible(&counter, usize::MAX));
    }

    #[test]
    fn noise_of_every_length_from_min_len_is_incompressible() {
        let noise = Random(1).bytes(3000, 256);
        for len in (0..noise.len()).step_by(if cfg!(miri) { 977 } else { 1 }) {
            assert_eq!(is_incompressible(&noise[..len], usize::MAX), len >= MIN_STREAM_LEN, "{len}");
            assert!(!is_incompressible(&vec![1; len], usize::MAX), "{len}");
        }
    }
}
