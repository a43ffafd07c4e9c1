//! A statistical test for the parts of a stream in which no match is worth coding: bytes that are as good as drawn
//! independently from one distribution. Codes for single bytes are as short there as any matches, and an encoder needs
//! far less time for them.
//!
//! Data flow: stream -> units, the planes of shuffled items -> pieces of a unit -> tests of samples of each piece, then
//! of the repetitions in all of it -> the units without matches. Never changes a byte. The result depends on nothing but
//! the arguments. The thresholds were chosen for streams of drawn cells, so that none became much longer than with a
//! search, and checked with other seeds (`cargo bench --bench drawn -- --codecs zstd --kib 1024 --sizes --cells 1500`, seeds
//! 923001 and 923002: none is more than 1 % longer than the reference's).

use std::ops::Range;

use crate::error::Result;
use crate::fallible;
use crate::tuning::tunable;

tunable! {
    /// The length in bytes of the pieces that are tested separately.
    const PIECE_LEN: usize = 32 << 10;
    /// The length in bytes from which on planes are tested.
    const MIN_PLANE_LEN: usize = 2 << 10;
    /// The length in bytes of each of the samples of a piece.
    const SAMPLE_LEN: usize = 512;
    /// The distance between the distributions of the samples, in percent of the probability that two bytes are equal,
    /// from which on the piece counts as a mixture.
    const MAX_DRIFT_PERCENT: u32 = 5;
    /// The difference between the number of equal bytes at a distance and the expected number, in standard deviations and
    /// in percent, from which on bytes count as dependent.
    const MAX_DEVIATIONS: u32 = 4;
    const MAX_DEVIATION_PERCENT: u32 = 10;
    /// How many times as many repetitions as chance gives, and which share of all positions (1 / `REPEATED_DIVISOR`)
    /// beyond them, may be repeated.
    const MAX_REPEATED_RATIO: u32 = 2;
    const REPEATED_DIVISOR: u32 = 512;
}

/// The places of the middles of the samples, in 64ths of the piece: the distances differ, so that data with a period are not
/// sampled at places that are alike.
const SAMPLE_PLACES: [usize; SAMPLE_COUNT] = [8, 23, 37, 54];
const SAMPLE_COUNT: usize = 4;
/// The largest length in bytes of a sample, with the double of [`SAMPLE_LEN`].
const MAX_SAMPLE_LEN: usize = 1 << 10;
/// The largest number of units.
const MAX_UNITS: usize = 256;
/// log2 of the number of positions of repetitions that are kept: 64 KiB stay in the L2 cache.
const POSITIONS_LOG2: u32 = 14;
/// The distances at which bytes are compared: items of up to 32 bytes repeat something at one of them.
const DISTANCES: Range<usize> = 1..33;
/// The first test, which takes least time: the number of bytes that it compares at a quarter and at three quarters of a piece,
/// and the distances.
const HEAD_LEN: usize = 64;
const HEAD_DISTANCES: [usize; 4] = [1, 2, 4, 8];
/// The longest words that are searched for repetitions, in bytes; all data of less entropy counts as having matches.
const MAX_WORD_LEN: usize = 32;
/// The collision entropy, in bits per byte, from which on the lower half of the bits of a byte counts as noise.
const HIGH_ENTROPY: f64 = 6.0;
/// The collision entropy from which on Huffman codes are close to the entropy, and are not computed.
const SHORT_CODES_ENTROPY: f64 = 5.0;
/// One in this many positions may be that of a word that chance repeats. With 10, more repetitions than chance gives were not
/// significant in planes of few values, and a chunk was 18 % longer (drawn cell 922001:946).
const CHANCE_DIVISOR: f64 = 100.0;
/// log2 of the least number of slots for positions of words, and the number of positions of which one is selected.
const MIN_SLOTS_LOG2: u32 = 8;
const MIN_RATE_LOG2: u32 = 3;
/// The same for the words that are repeated between parts.
const BETWEEN_SLOTS_LOG2: u32 = 13;
const BETWEEN_MIN_RATE_LOG2: u32 = 4;
/// The number of positions of which some are selected before their words are searched, which needs fewer branches.
const GROUP_LEN: usize = 1024;
/// The length in bytes of words that are repeated between units.
const LONG_WORD_LEN: usize = 16;
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The data for which a search is not worthwhile.
pub(super) struct Limits {
    /// The least and the largest collision entropy (-log2 of the probability that two bytes are equal), in bits.
    pub entropy: Range<f64>,
    /// The largest excess of the Huffman codes of the bytes over their entropy, in percent.
    pub huffman_excess_percent: u32,
}

/// The positions of words that were seen before. One for each thread.
#[derive(Default)]
pub(super) struct Positions(Vec<u32>);

impl Positions {
    /// Returns 2^`log2` slots, empty if `clears`.
    fn slots(&mut self, log2: u32, clears: bool) -> Result<&mut [u32]> {
        if self.0.is_empty() {
            self.0 = fallible::filled(u32::MAX, 1 << POSITIONS_LOG2)?;
        }
        let slots = &mut self.0[..1 << log2];
        if clears {
            slots.fill(u32::MAX);
        }
        Ok(slots)
    }
}

/// The units of a stream, and which of them have no matches.
pub(super) struct Units {
    stream_len: usize,
    unit_len: usize,
    count: usize,
    is_matchless: [bool; MAX_UNITS],
}

impl Units {
    fn range(&self, unit: usize) -> Range<usize> {
        let end = if unit + 1 == self.count { self.stream_len } else { (unit + 1) * self.unit_len };
        unit * self.unit_len..end
    }

    /// Returns the length in bytes of each unit but the last one.
    pub(super) fn unit_len(&self) -> usize {
        self.unit_len
    }

    /// Iterates over the parts that are alike: the bytes, and whether they have no matches.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Range<usize>, bool)> {
        let units = &self.is_matchless[..self.count];
        let mut done = 0;
        units.chunk_by(|a, b| a == b).map(move |alike| {
            let start = self.range(done).start;
            done += alike.len();
            (start..self.range(done - 1).end, alike[0])
        })
    }
}

/// Returns the units of `src`, which consists of `nplanes` planes, if at least one of them has no matches.
pub(super) fn find_matchless_units(
    positions: &mut Positions,
    src: &[u8],
    nplanes: usize,
    limits: &Limits,
) -> Result<Option<Units>> {
    let (nplanes, plane_len) = (nplanes.max(1), src.len() / nplanes.max(1));
    if plane_len < MIN_PLANE_LEN.get() || nplanes > MAX_UNITS || u32::try_from(src.len()).is_err() {
        return Ok(None);
    }
    let mut units = Units {
        stream_len: src.len(),
        unit_len: plane_len,
        count: nplanes,
        is_matchless: [false; MAX_UNITS],
    };
    let mut words = WordSearch::new(positions, src);
    for unit in 0..nplanes {
        let range = units.range(unit);
        let npieces = ((range.len() + PIECE_LEN.get() / 2) / PIECE_LEN.get()).max(1);
        let mut pieces = (0..npieces)
            .map(|n| range.start + range.len() * n / npieces..range.start + range.len() * (n + 1) / npieces);
        let mut is_matchless = true;
        for piece in &mut pieces {
            let Some(sample) = Sample::of_independent_bytes(&src[piece.clone()], limits) else {
                is_matchless = false;
                break;
            };
            match words.count_repeated(piece, &sample, range.start)? {
                Repetitions::Few => {}
                Repetitions::Near => is_matchless = false,
                // Separate parts of the stream could not refer to each other.
                Repetitions::Far => return Ok(None),
            }
            if !is_matchless {
                break;
            }
        }
        units.is_matchless[unit] = is_matchless;
    }
    for unit in 1..nplanes {
        let [before, this] = [unit - 1, unit].map(|unit| units.is_matchless[unit]);
        if (before || this) && is_similar(&src[units.range(unit - 1)], &src[units.range(unit)]) {
            units.is_matchless[unit - 1..=unit].fill(false);
        }
    }
    let matchless = units.is_matchless[..nplanes].iter().filter(|&&is_matchless| is_matchless).count();
    let is_useful = match matchless {
        0 => false,
        _ if matchless == nplanes => true,
        _ => !has_repetitions_between_parts(positions, src, &units)?,
    };
    Ok(is_useful.then_some(units))
}

fn samples_of(piece: &[u8]) -> [&[u8]; SAMPLE_COUNT] {
    let len = SAMPLE_LEN.get().min(piece.len() / 8).min(MAX_SAMPLE_LEN);
    SAMPLE_PLACES.map(|place| &piece[piece.len() * place / 64 - len / 2..][..len])
}

/// Returns whether `count` is so far from `expected` that it is no chance.
fn is_significant(count: usize, expected: f64) -> bool {
    let allowed =
        f64::from(MAX_DEVIATIONS.get()) * expected.sqrt() + percent(MAX_DEVIATION_PERCENT.get()) * expected;
    // At least 3, for numbers that are not normally distributed.
    (count as f64 - expected).abs() > allowed + 3.0
}

/// Returns the number of pairs of equal bytes, one of each sample, from the counts of values.
fn equal_pairs(a: &[u32; 256], b: &[u32; 256]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| u64::from(a) * u64::from(b)).sum::<u64>() as f64
}

/// Returns whether bytes of two planes are equal at more places than those of independent planes.
fn is_similar(a: &[u8], b: &[u8]) -> bool {
    let windows = samples_of(a).into_iter().zip(samples_of(&b[..a.len().min(b.len())]));
    let (mut equal, mut expected) = (0, 0.0);
    for (a, b) in windows {
        equal += a.iter().zip(b).filter(|(a, b)| a == b).count();
        expected += equal_pairs(&count_values(a), &count_values(b)) / a.len() as f64;
    }
    is_significant(equal, expected)
}

/// The distribution of the bytes in the samples of a piece.
struct Sample {
    counts: [u32; 256],
    len: usize,
    /// The probability that two bytes are equal.
    collision: f64,
}

impl Sample {
    /// Returns samples of `piece` if its bytes look independent of each other, with a distribution within `limits`.
    fn of_independent_bytes(piece: &[u8], limits: &Limits) -> Option<Sample> {
        if piece.len() < 4 * (HEAD_LEN + HEAD_DISTANCES[3]) {
            return None;
        }
        let is_repetitive = |at: usize| {
            HEAD_DISTANCES.iter().any(|&distance| {
                4 * count_equal(&piece[at..at + HEAD_LEN + distance], distance) >= 3 * HEAD_LEN
            })
        };
        if is_repetitive(piece.len() / 4) || is_repetitive(piece.len() / 4 * 3 - HEAD_LEN) {
            return None;
        }
        let windows = samples_of(piece);
        let len = windows[0].len();
        let counts = windows.map(count_values);
        let total: [u32; 256] = std::array::from_fn(|value| counts.iter().map(|counts| counts[value]).sum());
        let (count, len) = (SAMPLE_COUNT as f64, len as f64);
        let within = counts.iter().map(|counts| equal_pairs(counts, counts)).sum::<f64>();
        // Without the pairs of a byte with itself.
        let mean = (within / count - len) / (len * len - len);
        let between = (equal_pairs(&total, &total) - within) / (count * (count - 1.0) * len * len);
        let drift = 2.0 * (mean - between);
        if drift > mean * percent(MAX_DRIFT_PERCENT.get()) + 3.0 * mean.sqrt() / len {
            return None;
        }
        let sample =
            Sample { counts: total, len: SAMPLE_COUNT * windows[0].len(), collision: (mean + between) / 2.0 };
        let is_within_limits = limits.entropy.contains(&sample.entropy());
        (is_within_limits
            && !sample.has_dependent_bytes(windows)
            && sample.has_short_codes(limits.huffman_excess_percent))
        .then_some(sample)
    }

    /// Returns the collision entropy in bits per byte.
    fn entropy(&self) -> f64 {
        -self.collision.log2()
    }

    /// Returns whether bytes at one of [`DISTANCES`] are equal more or less often than independent bytes. Where there are
    /// many values, this is whether the upper halves of bytes are equal.
    fn has_dependent_bytes(&self, windows: [&[u8]; SAMPLE_COUNT]) -> bool {
        let mut halves = [[0u8; MAX_SAMPLE_LEN]; SAMPLE_COUNT];
        let mut windows = windows;
        let mut collision = self.collision;
        if self.entropy() >= HIGH_ENTROPY {
            for (window, halves) in windows.iter_mut().zip(&mut halves) {
                let halves = &mut halves[..window.len()];
                halves.iter_mut().zip(*window).for_each(|(half, &byte)| *half = byte >> 4);
                *window = halves;
            }
            let squares =
                self.counts.chunks_exact(16).map(|upper| f64::from(upper.iter().sum::<u32>()).powi(2));
            collision = squares.sum::<f64>() / (self.len * self.len) as f64;
        }
        DISTANCES.into_iter().any(|distance| {
            let equal: usize = windows.iter().map(|window| count_equal(window, distance)).sum();
            let expected = (self.len - SAMPLE_COUNT * distance) as f64 * collision;
            is_significant(equal, expected)
        })
    }

    /// Returns whether Huffman codes of the bytes are at most `excess_percent` longer than the entropy: matches can save
    /// that excess.
    fn has_short_codes(&self, excess_percent: u32) -> bool {
        if self.entropy() >= SHORT_CODES_ENTROPY {
            return true;
        }
        let mut weights = self.counts;
        weights.sort_unstable();
        let unused = weights.iter().take_while(|&&weight| weight == 0).count();
        let weights = &weights[unused..];
        let entropy_of = |&weight: &u32| f64::from(weight) * (self.len as f64 / f64::from(weight)).log2();
        let entropy = weights.iter().map(entropy_of).sum::<f64>();
        f64::from(huffman_bits(weights)) <= entropy * (1.0 + percent(excess_percent))
    }
}

/// Returns the length in bits of the Huffman codes of values with these frequencies, in ascending order.
fn huffman_bits(weights: &[u32]) -> u32 {
    // The inner nodes of the tree, which are created in ascending order, and the number of those with a parent.
    let mut inner = [0; 256];
    let (mut used, mut leaves) = (0, weights.iter().peekable());
    for created in 0..weights.len().saturating_sub(1) {
        for _ in 0..2 {
            let is_leaf = leaves.peek().is_some_and(|&&leaf| used == created || leaf <= inner[used]);
            inner[created] += if is_leaf {
                *leaves.next().expect("a leaf was found")
            } else {
                used += 1;
                inner[used - 1]
            };
        }
    }
    // Each inner node is one bit of each code below it.
    inner.iter().sum()
}

enum Repetitions {
    /// No more than chance gives.
    Few,
    /// More, mostly of bytes at or behind the start of the unit.
    Near,
    /// More, mostly of bytes before the unit.
    Far,
}

/// A search for repeated words. Only some positions are examined. Words are selected by their content, so that either all
/// occurrences of a word are selected or none.
struct WordSearch<'a> {
    src: &'a [u8],
    positions: &'a mut Positions,
    /// Whether the slots are in use; those of the stream before are cleared first.
    is_used: bool,
    /// log2 of the number of slots, and the share of the positions that are selected by their hash, 1 / 2^`rate_log2`.
    slots_log2: u32,
    rate_log2: u32,
    /// The number of bytes that were searched in the pieces before.
    searched: usize,
    /// The length in bytes of the words in the last piece.
    word_len: i32,
}

impl<'a> WordSearch<'a> {
    fn new(positions: &'a mut Positions, src: &'a [u8]) -> Self {
        let len_log2 = usize::BITS - (src.len() - 1).leading_zeros();
        let slots_log2 = len_log2.saturating_sub(MIN_RATE_LOG2).clamp(MIN_SLOTS_LOG2, POSITIONS_LOG2);
        let rate_log2 = len_log2.saturating_sub(slots_log2).max(MIN_RATE_LOG2);
        WordSearch { src, positions, is_used: false, slots_log2, rate_log2, searched: 0, word_len: 0 }
    }

    /// Searches `piece`, of which `sample` is a sample, in a unit that starts at `unit_start`.
    fn count_repeated(
        &mut self,
        piece: Range<usize>,
        sample: &Sample,
        unit_start: usize,
    ) -> Result<Repetitions> {
        let src = self.src;
        // Words of which chance hardly repeats any: a repetition saves about as much as coding it takes.
        let mut least_len = 1;
        while sample.collision.powi(least_len) * src.len() as f64 * CHANCE_DIVISOR > 1.0 {
            least_len += 1;
            if least_len as usize > MAX_WORD_LEN {
                return Ok(Repetitions::Near);
            }
        }
        // Pieces that are alike select the same words.
        if self.word_len < least_len || self.word_len > least_len + 1 {
            self.word_len = least_len;
        }
        let probability = sample.collision.powi(self.word_len);
        let word_len = self.word_len as usize;
        let end = piece.end.min(src.len().saturating_sub(MAX_WORD_LEN));
        let len = end.saturating_sub(piece.start);
        let rate = 1.0 / f64::from(1u32 << self.rate_log2);
        // Later words overwrite the positions of earlier ones.
        let slots = self.positions.slots(self.slots_log2, !self.is_used)?;
        self.is_used = true;
        let kept = slots.len() as f64 / rate;
        let before = self.searched as f64 + len as f64 / 2.0;
        let by_chance = len as f64 * rate * probability * before * kept / (before + kept);
        let most = by_chance * f64::from(MAX_REPEATED_RATIO.get())
            + len as f64 * rate / f64::from(REPEATED_DIVISOR.get())
            + 2.0;
        let (mut repeated, mut far) = (0usize, 0);
        let mut excess = None;
        let words = SelectedWords { src, word_len, selected_len: word_len, rate_log2: self.rate_log2 };
        words.find_repeated(piece.start..end, slots, |last, _| {
            repeated += 1;
            far += usize::from(last < unit_start);
            if repeated as f64 > most {
                let is_far = far * 2 > repeated;
                excess = Some(if is_far { Repetitions::Far } else { Repetitions::Near });
            }
            excess.is_none()
        });
        if let Some(excess) = excess {
            return Ok(excess);
        }
        self.searched += len;
        Ok(Repetitions::Few)
    }
}

/// The words of `word_len` bytes in `src` whose first `selected_len` bytes have a hash that selects them: about one in
/// 2^`rate_log2`.
struct SelectedWords<'a> {
    src: &'a [u8],
    word_len: usize,
    selected_len: usize,
    rate_log2: u32,
}

impl SelectedWords<'_> {
    /// Calls `then` with the position of a word in `range`, and of the last equal one before that is in `slots`, until it
    /// returns false. [`MAX_WORD_LEN`] bytes must be at each position.
    #[inline(always)]
    fn find_repeated(
        &self,
        range: Range<usize>,
        slots: &mut [u32],
        mut then: impl FnMut(usize, usize) -> bool,
    ) {
        let &SelectedWords { src, word_len, selected_len, rate_log2 } = self;
        let shift = u64::BITS - slots.len().ilog2();
        let mut selected = [0u16; GROUP_LEN];
        for group in range.clone().step_by(GROUP_LEN) {
            let positions = group..range.end.min(group + GROUP_LEN);
            let count = select_hashed(src, positions, selected_len, rate_log2, &mut selected);
            for &offset in &selected[..count] {
                let at = group + usize::from(offset);
                let slot = &mut slots[(hash_word(src, at, word_len) >> shift) as usize];
                let last = std::mem::replace(slot, at as u32) as usize;
                if last < at && is_same_word(src, last, at, word_len) && !then(last, at) {
                    return;
                }
            }
        }
    }
}

/// Writes which of `positions`, relative to the first one, hold a word of `len` bytes whose hash selects it: about one in
/// 2^`rate_log2`. Returns their number.
#[inline(always)]
fn select_hashed(
    src: &[u8],
    positions: Range<usize>,
    len: usize,
    rate_log2: u32,
    selected: &mut [u16; GROUP_LEN],
) -> usize {
    // The first and the last eight bytes select: of those in between, few differ where these are equal.
    let last = len.saturating_sub(8);
    let mask = u64::MAX >> (64 - 8 * len.min(8));
    let limit = 1 << (64 - rate_log2);
    let word = |bytes: &[u8]| u64::from_le_bytes(*bytes.first_chunk().expect("a window of 8 bytes")) & mask;
    let firsts = src[positions.start..positions.end + 7].windows(8);
    let lasts = src[positions.start + last..positions.end + last + 7].windows(8);
    let mut count = 0;
    for (offset, (first, last)) in firsts.zip(lasts).enumerate() {
        let hash = (word(first).wrapping_mul(MULTIPLIER) ^ word(last)).wrapping_mul(MULTIPLIER);
        // Without a branch, which could not be predicted.
        selected[count % GROUP_LEN] = offset as u16;
        count += usize::from(hash < limit);
    }
    count
}

/// Returns a hash of the `len` bytes, 1 to [`MAX_WORD_LEN`], at `src[at]`, of which the highest bits are the best.
/// [`MAX_WORD_LEN`] bytes must be there.
#[inline(always)]
fn hash_word(src: &[u8], at: usize, len: usize) -> u64 {
    let bytes: &[u8; MAX_WORD_LEN] = src[at..].first_chunk().expect("the caller leaves that many bytes");
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    if len <= 8 {
        return (word(0) << (64 - 8 * len)).wrapping_mul(MULTIPLIER);
    }
    let mix = |hash: u64, word: u64| (hash ^ (hash >> 29) ^ word).wrapping_mul(MULTIPLIER);
    let hash = (8..len - 8).step_by(8).fold(mix(0, word(0)), |hash, at| mix(hash, word(at)));
    mix(hash, word(len - 8))
}

/// Returns whether the words of `len` bytes at two positions are equal. [`MAX_WORD_LEN`] bytes must be at both.
#[inline(always)]
fn is_same_word(src: &[u8], a: usize, b: usize, len: usize) -> bool {
    let word =
        |at: usize| u64::from_le_bytes(*src[at..].first_chunk().expect("the caller leaves these bytes"));
    let differ = word(a) ^ word(b);
    if len <= 8 { differ << (64 - 8 * len) == 0 } else { differ == 0 && src[a..a + len] == src[b..b + len] }
}

/// Returns whether a part of `units` repeats so much of another part that separate streams would be longer.
fn has_repetitions_between_parts(positions: &mut Positions, src: &[u8], units: &Units) -> Result<bool> {
    let slots = positions.slots(BETWEEN_SLOTS_LOG2, true)?;
    let rate_log2 =
        (src.len() >> BETWEEN_SLOTS_LOG2).max(1).next_power_of_two().ilog2().max(BETWEEN_MIN_RATE_LOG2);
    let words = SelectedWords { src, word_len: LONG_WORD_LEN, selected_len: LONG_WORD_LEN / 2, rate_log2 };
    let mut repeated = 0;
    for (part, _) in units.parts() {
        let end = part.end.min(src.len().saturating_sub(MAX_WORD_LEN));
        words.find_repeated(part.start..end, slots, |last, at| {
            // Runs need no repetition.
            let is_run = is_same_word(src, at, at + LONG_WORD_LEN / 2, LONG_WORD_LEN / 2);
            repeated += usize::from(last < part.start && !is_run);
            true
        });
    }
    Ok((repeated << rate_log2) > src.len() / REPEATED_DIVISOR.get() as usize)
}

fn percent(number: u32) -> f64 {
    f64::from(number) / 100.0
}

fn count_values(bytes: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    counts
}

/// Returns how many of `bytes` are equal to the byte `distance` before.
#[inline]
fn count_equal(bytes: &[u8], distance: usize) -> usize {
    const LANES: usize = 32;
    let (here, there) = (&bytes[distance..], &bytes[..bytes.len() - distance]);
    let mut sum = 0;
    // The lanes of a block have at most 255 bytes each.
    for (here, there) in here.chunks(255 * LANES).zip(there.chunks(255 * LANES)) {
        let (here, here_rest) = here.as_chunks::<LANES>();
        let (there, there_rest) = there.as_chunks::<LANES>();
        let mut counts = [0u8; LANES];
        for (a, b) in here.iter().zip(there) {
            for (count, (a, b)) in counts.iter_mut().zip(a.iter().zip(b)) {
                *count += u8::from(a == b);
            }
        }
        sum += counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        sum += here_rest.iter().zip(there_rest).filter(|(a, b)| a == b).count();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const LIMITS: Limits = Limits { entropy: 0.6..f64::INFINITY, huffman_excess_percent: 5 };

    fn matchless_units(src: &[u8], nplanes: usize) -> Vec<bool> {
        let mut positions = Positions::default();
        let units = find_matchless_units(&mut positions, src, nplanes, &LIMITS).unwrap();
        let again = find_matchless_units(&mut positions, src, nplanes, &LIMITS).unwrap();
        let flags = |units: Option<Units>| units.map(|units| units.is_matchless[..units.count].to_vec());
        let units = flags(units);
        assert_eq!(units, flags(again), "the positions of the stream before have an effect");
        units.unwrap_or_else(|| vec![false; nplanes])
    }

    #[test]
    fn independent_bytes_have_no_matches() {
        for len in [2048, 5000, 100_000] {
            let noise = Random(1).bytes(len, 256);
            assert_eq!(matchless_units(&noise, 1), [true], "{len}");
            let few_values: Vec<u8> = noise.iter().map(|byte| byte >> 5).collect();
            assert_eq!(matchless_units(&few_values, 1), [true], "{len}");
        }
    }

    #[test]
    fn repeated_and_dependent_bytes_have_matches() {
        let noise = Random(2).bytes(100_000, 256);
        for period in [1, 12, 1000, 40_000, 90_000] {
            let repeated: Vec<u8> = noise[..period].iter().copied().cycle().take(noise.len()).collect();
            assert_eq!(matchless_units(&repeated, 1), [false], "{period}");
        }
        let counter: Vec<u8> = (0..100_000).map(|at| (at / 7) as u8).collect();
        assert_eq!(matchless_units(&counter, 1), [false]);
        let items: Vec<u8> =
            noise.iter().enumerate().map(|(at, &byte)| if at % 4 == 0 { byte } else { 0 }).collect();
        assert_eq!(matchless_units(&items, 1), [false]);
    }

    #[test]
    fn differences_of_a_slow_wave_have_matches() {
        // Samples at places that are alike, half a plane apart, have few bytes that depend on each other.
        for phase in 0..32 {
            let level = |at: usize| {
                let turn = at as f64 / 10_156.0 + f64::from(phase) / 32.0;
                (9000.0 * (turn * std::f64::consts::TAU).sin()).round() as i32
            };
            let bytes: Vec<u8> = (1..40_626).map(|at| (level(at) ^ level(at - 1)) as u8).collect();
            assert_eq!(matchless_units(&bytes, 1), [false], "{phase}");
        }
    }

    #[test]
    fn planes_are_tested_separately_unless_they_repeat_each_other() {
        let noise = Random(3).bytes(10_000, 256);
        let ramp: Vec<u8> = (0..10_000).map(|at| (at / 40) as u8).collect();
        assert_eq!(matchless_units(&[&noise[..], &ramp].concat(), 2), [true, false]);
        assert_eq!(matchless_units(&[&ramp[..], &noise, &noise].concat(), 3), [false; 3]);
        let mut partly = Random(4).bytes(10_000, 256);
        partly[2000..6000].copy_from_slice(&noise[3000..7000]);
        assert_eq!(matchless_units(&[&noise[..], &partly].concat(), 2), [false; 2]);
    }

    #[test]
    fn huffman_bits_are_the_weighted_lengths_of_the_codes() {
        assert_eq!(huffman_bits(&[]), 0);
        assert_eq!(huffman_bits(&[5]), 0);
        assert_eq!(huffman_bits(&[1, 1, 2, 4]), 3 + 3 + 2 * 2 + 4);
        assert_eq!(huffman_bits(&[1; 256]), 8 * 256);
    }

    #[test]
    fn equal_bytes_are_counted_at_each_distance() {
        let bytes: Vec<u8> = Random(5).bytes(20_000, 256).iter().map(|byte| byte >> 6).collect();
        for (len, distance) in [(20_000, 1), (9000, 32), (100, 7), (33, 32), (8, 8)] {
            let bytes = &bytes[..len];
            let expected = (distance..len).filter(|&at| bytes[at] == bytes[at - distance]).count();
            assert_eq!(count_equal(bytes, distance), expected, "{len} {distance}");
        }
    }
}
