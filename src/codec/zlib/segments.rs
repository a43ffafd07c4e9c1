//! The choice of the parts of a stream that are searched for matches.
//!
//! Shuffled numbers have planes of noise between planes with repetitions. A search in noise takes most of the time and
//! finds nothing. A part is exempt from the search only after all its words, of the length of the shortest match, have
//! been compared with those in reach before them, and hardly any of them were repeated. Otherwise the part is searched;
//! where the repetitions were found late, the rest of the stream is searched, too.

use std::ops::Range;

use super::deflate::MAX_DISTANCE;
use crate::error::Result;
use crate::fallible;
use crate::tuning::tunable;

/// Streams are examined in units of this many bytes.
const UNIT: usize = 8 << 10;
tunable! {
    /// The least number of consecutive units for which the search is interrupted: restarting it costs a hundred bytes.
    const MIN_LITERAL_UNITS: usize = 3;
    /// A rest of fewer bytes at the end of a stream belongs to the segment before it.
    const SHORT_REST: usize = 64;
    /// The number of bytes of a unit that are sampled, and the least number of different values among them for bytes of
    /// more than 6 bits of information. For noise 162 are expected.
    const SAMPLES: usize = 256;
    const MIN_DISTINCT_VALUES: u32 = 100;
    /// The number of words of a unit that may be repeated: of four bytes, and of three bytes, of which noise repeats more
    /// by chance. A repetition of 30 bytes exceeds it.
    const MAX_REPEATED_WORDS: usize = UNIT / 1024;
    /// The quotient of the two numbers: of three bytes.
    const MAX_REPEATED_3_BYTE_WORDS: usize = 3 * UNIT / 1024;
}
/// log2 of the number of slots for words.
const SLOTS_LOG2: u32 = 15;

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub range: Range<usize>,
    /// Whether the part is encoded as literals, since it has hardly any repetitions.
    pub is_literals: bool,
}

/// The working memory: the last position of each word, by its hash, and the segments.
#[derive(Default)]
pub(super) struct SegmentBuffers {
    slots: Vec<u32>,
    segments: Vec<Segment>,
}

/// Returns the segments of `src`, for an encoder whose shortest match has `shortest` bytes, 3 or 4. Two consecutive
/// segments are of different kinds.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn find_segments<'a>(
    buffers: &'a mut SegmentBuffers,
    src: &[u8],
    shortest: usize,
) -> Result<&'a [Segment]> {
    let SegmentBuffers { slots, segments } = buffers;
    segments.clear();
    let mut slots = Some(slots);
    let mut start = 0;
    let mut at = 0;
    let mut words: Option<WordTable> = None;
    while src.len() - at >= MIN_LITERAL_UNITS.get() * UNIT {
        let is_run =
            (0..MIN_LITERAL_UNITS.get()).all(|nth| has_high_entropy(&src[at + nth * UNIT..][..UNIT]));
        if !is_run {
            at += UNIT;
            continue;
        }
        if let Some(slots) = slots.take() {
            words = Some(WordTable::new(slots, src, shortest)?);
        }
        let Some(words) = &mut words else { break };
        let first = at;
        while src.len() - at >= UNIT
            && has_high_entropy(&src[at..][..UNIT])
            && !words.insert_and_check_repeats(at)
        {
            at += UNIT;
        }
        let scanned = at;
        // The comparison with the words before `first` costs another pass; it is made only for units that do not repeat
        // each other.
        if at - first >= MIN_LITERAL_UNITS.get() * UNIT {
            words.insert_words_before(first);
            at = (first..at).step_by(UNIT).find(|&unit| words.insert_and_check_repeats(unit)).unwrap_or(at);
        }
        // Units were scanned completely without a result, or twice. Noise with a period of 32,000 bytes would cost that
        // each time.
        if at < scanned || (first + 1..first + MIN_LITERAL_UNITS.get() * UNIT).contains(&at) {
            break;
        }
        if at - first >= MIN_LITERAL_UNITS.get() * UNIT {
            if first > start {
                fallible::push(segments, Segment { range: start..first, is_literals: false })?;
            }
            let rest = &src[at..];
            let is_literals = rest.len() < SHORT_REST.get()
                || (rest.len() < UNIT && has_high_entropy(rest) && !words.insert_and_check_repeats(at));
            let end = if is_literals { src.len() } else { at };
            fallible::push(segments, Segment { range: first..end, is_literals: true })?;
            (start, at) = (end, end);
        }
        at = (at + UNIT).min(src.len());
    }
    if start < src.len() || src.is_empty() {
        fallible::push(segments, Segment { range: start..src.len(), is_literals: false })?;
    }
    Ok(segments)
}

/// Returns whether a unit, or a shorter rest, has enough different values for its words to differ from each other.
fn has_high_entropy(unit: &[u8]) -> bool {
    let mut seen = [0u64; 4];
    let step = (unit.len() / SAMPLES.get()).max(1);
    unit.iter().step_by(step).for_each(|byte| seen[usize::from(byte >> 6)] |= 1 << (byte & 63));
    seen.iter().map(|bits| bits.count_ones()).sum::<u32>() >= MIN_DISTINCT_VALUES.get()
}

/// The last position of each word.
struct WordTable<'a> {
    slots: &'a mut [u32],
    src: &'a [u8],
    /// The mask of the bits of four bytes that are compared.
    mask: u32,
    /// The number of words of a unit that may be repeated.
    max_repeated: usize,
}

impl<'a> WordTable<'a> {
    fn new(slots: &'a mut Vec<u32>, src: &'a [u8], len: usize) -> Result<WordTable<'a>> {
        let most = if len == 3 { MAX_REPEATED_3_BYTE_WORDS.get() } else { MAX_REPEATED_WORDS.get() };
        slots.clear();
        fallible::reserve(slots, 1 << SLOTS_LOG2)?;
        slots.resize(1 << SLOTS_LOG2, u32::MAX);
        Ok(WordTable { slots, src, mask: u32::MAX >> (8 * (4 - len)), max_repeated: most })
    }

    /// Inserts the words before `start` that matches there can reach.
    fn insert_words_before(&mut self, start: usize) {
        for at in start.saturating_sub(MAX_DISTANCE)..start {
            if let Some(word) = self.src.get(at..at + 4) {
                let slot = self.slot(read_word(word) & self.mask);
                self.slots[slot] = at as u32;
            }
        }
    }

    fn slot(&self, word: u32) -> usize {
        (word.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS_LOG2)) as usize
    }

    /// Inserts the words of the unit at `start`, or of a shorter rest. Returns whether too many of them occurred before
    /// in reach; the remaining words are not inserted then.
    fn insert_and_check_repeats(&mut self, start: usize) -> bool {
        let mut repeated = 0;
        for (nth, word) in self.src[start..self.src.len().min(start + UNIT)].windows(4).enumerate() {
            let word = read_word(word) & self.mask;
            let at = start + nth;
            let slot = self.slot(word);
            let before = std::mem::replace(&mut self.slots[slot], at as u32) as usize;
            let there =
                self.src.get(before..before.saturating_add(4)).map(|there| read_word(there) & self.mask);
            // If a unit is inserted again, its slots have its own words, or later ones.
            let is_before = at.wrapping_sub(before).wrapping_sub(1) < MAX_DISTANCE;
            repeated += usize::from(is_before && there == Some(word));
            if repeated > self.max_repeated {
                return true;
            }
        }
        false
    }
}

/// Returns four bytes as a little-endian number.
#[inline(always)]
fn read_word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("a slice of 4 bytes"))
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

    fn find_kinds(src: &[u8]) -> Vec<(usize, bool)> {
        let mut buffers = SegmentBuffers::default();
        find_segments(&mut buffers, src, 4)
            .unwrap()
            .iter()
            .map(|segment| (segment.range.len(), segment.is_literals))
            .collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 100 KB")]
    fn noise_between_compressible_planes_becomes_a_literal_segment() {
        let (noise, zeros) = (noise(100_000), vec![0; 40_960]);
        assert_eq!(find_kinds(&noise), [(100_000, true)]);
        assert_eq!(find_kinds(&noise[..20_000]), [(20_000, false)]);
        assert_eq!(find_kinds(&zeros), [(40_960, false)]);
        let planes = [&zeros[..], &noise[..49_152], &zeros, &noise[49_152..]].concat();
        assert_eq!(find_kinds(&planes), [(40_960, false), (49_152, true), (40_960, false), (50_848, true)]);
        assert_eq!(find_kinds(&noise[..1]), [(1, false)]);
        // A rest that is no whole unit.
        let rest = |rest: &[u8]| find_kinds(&[&noise[..24_576], rest].concat());
        assert_eq!(rest(&zeros[..8000]), [(24_576, true), (8000, false)]);
        assert_eq!(rest(&noise[30_000..38_000]), [(32_576, true)]);
        assert_eq!(rest(&noise[..8000]), [(24_576, true), (8000, false)]);
        assert_eq!(rest(&zeros[..50]), [(24_626, true)]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 120 KB")]
    fn repeated_3_byte_words_prevent_literals_if_the_shortest_match_is_3() {
        // Items of 6 bytes, three of which are the same in all.
        let items: Vec<u8> =
            noise(60_000).chunks_exact(3).flat_map(|low| [low, &[1, 2, 3]].concat()).collect();
        let mut buffers = SegmentBuffers::default();
        assert!(find_segments(&mut buffers, &items, 3).unwrap().iter().all(|segment| !segment.is_literals));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 120 KB")]
    fn noise_repeated_within_the_window_is_searched() {
        let noise = noise(100_000);
        for period in [1000, 4000, 9000, 20_000, 32_000] {
            let again: Vec<u8> = noise[..period].iter().copied().cycle().take(120_000).collect();
            let literals: usize =
                find_kinds(&again).iter().filter(|segment| segment.1).map(|segment| segment.0).sum();
            // The first occurrence may be a segment of literals.
            assert!(literals <= period, "{period}: {literals}");
        }
        // Beyond the reach of a match.
        let far = [&noise[..65_536], &noise[..65_536]].concat();
        assert_eq!(find_kinds(&far), [(131_072, true)]);
    }
}
