//! Streams of LZ4HC are at most 1 % longer than the reference's. Each case is a kind of data for which they were
//! longer once.

use crate::support::calls::{Params, compress, decompress};
use crate::support::data::Data;
use crate::support::known_defects as defects;
use crate::support::random::Random;
use crate::{BITSHUFFLE, SHUFFLE, assert_bytes, assert_decodes};

const LZ4HC: u8 = 2;

/// A filter, and the item size it is applied with.
type Filter = (u8, i32);

const NO_FILTER: Filter = (0, 1);

/// A chunk of one block with one stream.
fn params(clevel: u8, (filter, typesize): Filter, src: &[u8]) -> Params {
    Params {
        codec: LZ4HC,
        clevel,
        typesize,
        blocksize: src.len() as i32,
        splitmode: 2,
        filters: [0, 0, 0, 0, 0, filter],
        ..Params::default()
    }
}

/// Compresses `src` with both libraries at these levels, and compares the sizes. Chunks of less than 1 KiB are
/// exempt: for them 1 % is a few bytes.
fn check_sizes(src: &[u8], filters: &[Filter], levels: impl Iterator<Item = u8> + Clone) {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for &filter in filters {
        for clevel in levels.clone() {
            let params = params(clevel, filter, src);
            let destsize = defects::sufficient_destsize(&params, src.len() as i32);
            let [mine, theirs] = [ours, reference].map(|library| {
                compress(library, &params, src, destsize)
                    .unwrap_or_else(|code| panic!("error {code}: {params:?}"))
            });
            assert!(
                mine.len() * 100 <= theirs.len() * 101 || mine.len() < 1024,
                "{} bytes, {} of the reference: {params:?}",
                mine.len(),
                theirs.len()
            );
            assert_decodes("our chunk in the reference", decompress(reference, 1, &mine, src.len()), src);
        }
    }
}

/// Returns `count` items, one after the other.
fn items<const N: usize>(count: usize, item: impl FnMut(usize) -> [u8; N]) -> Vec<u8> {
    (0..count).map(item).collect::<Vec<_>>().concat()
}

/// Returns `len` bytes of runs: up to `longest` repetitions of one of `values` values of `width` bytes each.
fn random_runs(longest: usize, values: usize, width: usize, len: usize) -> Vec<u8> {
    let random = &mut Random::new(3);
    let values: Vec<Vec<u8>> = (0..values).map(|_| random.bytes(width)).collect();
    let mut out = Vec::new();
    while out.len() < len {
        let value = random.pick(&values).clone();
        out.extend(value.repeat(1 + random.below(longest)));
    }
    out.truncate(len);
    out
}

/// Returns words of a vocabulary of five.
fn random_words(len: usize) -> Vec<u8> {
    let random = &mut Random::new(1);
    let vocabulary: Vec<Vec<u8>> = (0..5)
        .map(|_| {
            let letters = 2 + random.below(10);
            let mut word: Vec<u8> = (0..letters).map(|_| b'a' + random.below(26) as u8).collect();
            word.push(b' ');
            word
        })
        .collect();
    let mut out = Vec::new();
    while out.len() < len {
        let word: &Vec<u8> = random.pick(&vocabulary);
        out.extend_from_slice(word);
    }
    out.truncate(len);
    out
}

/// Returns rounded samples of a sine, each followed by eight zeros: an array of complex numbers without an imaginary
/// part.
fn rounded_samples(count: usize, step: f64) -> Vec<u8> {
    items(count, |n| {
        let sample = ((n as f64 * step).sin() * 10.0).round() / 10.0;
        (u128::from(sample.to_bits())).to_le_bytes()
    })
}

/// If matches overlap, a match that was discarded for a longer one is used again when the next match shortens the
/// longer one.
#[test]
fn overlapping_matches_compress_like_the_reference() {
    check_sizes(&random_words(4000), &[(SHUFFLE, 4)], 3..=9);
    check_sizes(&random_runs(1, 3, 1, 8000), &[NO_FILTER, (SHUFFLE, 2), (SHUFFLE, 4), (SHUFFLE, 8)], 3..=9);
    check_sizes(&random_runs(1, 3, 4, 80_000), &[(SHUFFLE, 2), (SHUFFLE, 8)], 3..=9);
    check_sizes(&random_runs(6, 10, 2, 32_000), &[NO_FILTER, (SHUFFLE, 2)], 3..=9);
}

/// The records have a short period, but few bytes repeat with it: there are runs of zeros and rare numbers between
/// them.
#[test]
fn periods_of_records_behind_runs_compress_like_the_reference() {
    let random = &mut Random::new(4);
    let cycle: Vec<u16> = (0..51).map(|_| random.next() as u16).collect();
    let records = items(5000, |n| {
        let rare = if random.one_in(250) { random.next() as u32 } else { 0 };
        let mut record = [0; 10];
        record[..2].copy_from_slice(&cycle[n % 51].to_le_bytes());
        record[2..6].copy_from_slice(&rare.to_le_bytes());
        record[6] = random.below(2) as u8;
        record
    });
    check_sizes(&records, &[NO_FILTER], 3..=9);

    let random = &mut Random::new(6);
    let cycle: Vec<u16> = (0..16).map(|_| random.next() as u16).collect();
    let records = items(13_000, |n| {
        let rare = if random.one_in(600) { random.next() } else { 0 };
        let mut record = [0; 14];
        record[..8].copy_from_slice(&rare.to_le_bytes());
        record[8] = random.below(3) as u8;
        record[12..].copy_from_slice(&cycle[n % 16].to_le_bytes());
        record
    });
    check_sizes(&records, &[NO_FILTER, (SHUFFLE, 8)], 3..=9);
}

#[test]
fn nearly_repeating_samples_compress_like_the_reference() {
    check_sizes(&rounded_samples(9500, 0.076), &[NO_FILTER, (SHUFFLE, 4), (SHUFFLE, 8)], 1..=9);
    check_sizes(&rounded_samples(2300, 0.037), &[(SHUFFLE, 4), (SHUFFLE, 8)], 1..=9);
    check_sizes(&rounded_samples(2300, 0.062), &[(SHUFFLE, 2), (SHUFFLE, 4)], 1..=9);
}

#[test]
fn long_runs_of_few_values_compress_like_the_reference() {
    check_sizes(&random_runs(1000, 4, 1, 92_000), &[(SHUFFLE, 8)], 1..=9);
}

/// The first bytes are zeros: an empty entry of a table of positions must not be taken for one of their positions.
#[test]
fn zeros_at_the_start_are_not_matched_by_empty_table_entries() {
    let counter = items(1432, |n| (n / 8 * 482).to_le_bytes());
    check_sizes(&counter, &[NO_FILTER], 1..=9);
}

#[test]
fn periods_with_changed_bytes_compress_like_the_reference() {
    for (period, changed_one_in) in [(11_860, 100_000), (11_864, 10_000), (1864, 1000)] {
        let random = &mut Random::new(5);
        let values: Vec<u64> = (0..157).map(|_| random.next() >> random.below(50)).collect();
        let one = items(period / 8, |_| random.pick(&values).to_le_bytes());
        let src: Vec<u8> = (0..60_000)
            .map(|n| if random.one_in(changed_one_in) { random.byte() } else { one[n % one.len()] })
            .collect();
        check_sizes(&src, &[NO_FILTER], 1..=9);
    }
}

/// For streams of more than 1 KiB.
#[test]
fn streams_of_levels_1_and_2_equal_those_of_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for (nth, data) in Data::ALL.into_iter().enumerate() {
        for (len, filter) in
            [(1100, NO_FILTER), (4100, (SHUFFLE, 4)), (65_536, (BITSHUFFLE, 8)), (200_000, NO_FILTER)]
        {
            let src = data.generate(&mut Random::new(nth as u64), filter.1 as usize, len);
            for clevel in [1, 2] {
                let params = params(clevel, filter, &src);
                let destsize = defects::sufficient_destsize(&params, src.len() as i32);
                let [mine, theirs] =
                    [ours, reference].map(|library| compress(library, &params, &src, destsize).unwrap());
                if theirs.len() < src.len() + 32 {
                    assert_bytes(&format!("{data:?}, {params:?}"), &mine, &theirs);
                } else {
                    assert_eq!(mine.len(), src.len() + 32, "{data:?}, {params:?}");
                }
            }
        }
    }
}

/// After a long section without matches, the encoder skips some positions: in runs always the same ones, if the run
/// length equals the step.
#[test]
fn short_runs_behind_noise_compress_like_the_reference() {
    for (noise, run) in
        (18_000..18_005).map(|noise| (noise, 5)).chain((24_000..24_006).map(|noise| (noise, 6)))
    {
        let mut src = Random::new(7).bytes(noise);
        src.extend((0..1400 * run).map(|n| (n / run * 79) as u8));
        check_sizes(&src, &[NO_FILTER], 3..=9);
    }
}
