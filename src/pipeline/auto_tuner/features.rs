//! Features of a filtered sample, from which the model predicts ratio and speed of the codecs.

use std::f32::consts::LN_2;

/// The number of features of a sample that was filtered by one pipeline.
pub const NFEATURES: usize = NSTATISTICS + PROBES.len();
/// The number of features that no encoder computes.
const NSTATISTICS: usize = 11;
/// Codecs and levels whose size of the sample is a feature: the fast ones of the model.
pub(super) const PROBES: [(u8, u8); 8] = [(0, 1), (0, 5), (0, 6), (0, 8), (1, 2), (1, 7), (1, 9), (5, 3)];

/// The largest number of segments whose entropies are computed apart.
const MAX_SEGMENTS: usize = 16;
/// The feature of a probe that cannot make the sample shorter: codecs give up on such content, which changes their speed.
const INCOMPRESSIBLE: f32 = 0.5;

/// The logarithm to base 2 of the number of entries of the match finder's table.
const TABLE_LOG: u32 = 12;
/// Shortest match, in bytes.
const MIN_MATCH: usize = 4;
/// Matches of at least this length, in bytes, count as long ones.
const LONG_MATCH: usize = 64;

/// Counts of byte values.
struct Histogram([u32; 256]);

impl Histogram {
    fn new(bytes: &[u8]) -> Histogram {
        // Four tables, so that equal neighbours do not wait for one another.
        let mut tables = [[0u32; 256]; 4];
        let quads = bytes.chunks_exact(4);
        for &byte in quads.remainder() {
            tables[0][usize::from(byte)] += 1;
        }
        for quad in quads {
            for (table, &byte) in tables.iter_mut().zip(quad) {
                table[usize::from(byte)] += 1;
            }
        }
        let [mut sum, second, third, fourth] = tables;
        for (value, count) in sum.iter_mut().enumerate() {
            *count += second[value] + third[value] + fourth[value];
        }
        Histogram(sum)
    }

    /// Returns the entropy of order 0, as a share of 8 bits per byte.
    fn entropy(&self) -> f32 {
        let total: u32 = self.0.iter().sum();
        if total == 0 {
            return 0.0;
        }
        let sum: f32 = self.0.iter().filter(|&&n| n > 0).map(|&n| n as f32 * (n as f32).log2()).sum();
        ((total as f32).log2() - sum / total as f32).max(0.0) / 8.0
    }
}

/// The result of a greedy search for matches.
#[derive(Default)]
struct MatchStats {
    nmatches: usize,
    /// Bytes in matches.
    matched_len: usize,
    /// Bytes in matches of at least [`LONG_MATCH`] bytes.
    long_len: usize,
    /// Matches of the bytes right before, up to 16 bytes away.
    nnear: usize,
}

/// Searches matches in `bytes`, at most 64 KiB.
fn search_matches(bytes: &[u8]) -> MatchStats {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let mut table = [0u16; 1 << TABLE_LOG];
    let mut stats = MatchStats::default();
    let mut at = 1;
    while at + MIN_MATCH <= bytes.len() {
        let here = word(at);
        let entry = &mut table[(here.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_LOG)) as usize];
        let candidate = usize::from(std::mem::replace(entry, at as u16));
        if candidate >= at || word(candidate) != here {
            at += 1;
            continue;
        }
        let rest = bytes[at + MIN_MATCH..].iter().zip(&bytes[candidate + MIN_MATCH..]);
        let len = MIN_MATCH + rest.take_while(|(a, b)| a == b).count();
        stats.nmatches += 1;
        stats.matched_len += len;
        stats.long_len += if len >= LONG_MATCH { len } else { 0 };
        stats.nnear += usize::from(at - candidate <= 16);
        at += len;
    }
    stats
}

/// Returns the features of `bytes`, a sample of items of `typesize` bytes that pipeline number `chain` of
/// [`FilterChain::CHOICES`](super::chains::FilterChain::CHOICES) has filtered. `log_sizes` are those of the [`PROBES`].
pub(super) fn features(
    bytes: &[u8],
    typesize: usize,
    chain: usize,
    log_sizes: [f32; PROBES.len()],
) -> [f32; NFEATURES] {
    let share = |count: usize| count as f32 / bytes.len().max(1) as f32;
    let (mut entropy, mut random_len) = (0.0, 0);
    let segment_len = bytes.len().div_ceil(typesize.clamp(4, MAX_SEGMENTS)).max(1);
    for segment in bytes.chunks(segment_len) {
        let of_segment = Histogram::new(segment).entropy();
        // A short random segment does not have each byte equally often: its expected entropy is lower.
        let expected = 1.0 - 255.0 / (16.0 * LN_2 * segment.len().max(256) as f32);
        entropy += of_segment * share(segment.len());
        random_len += if of_segment > 0.98 * expected { segment.len() } else { 0 };
    }
    let matches = search_matches(bytes);
    let mut features = [0.0; NFEATURES];
    features[..NSTATISTICS].copy_from_slice(&[
        entropy,
        share(random_len),
        share(bytes.windows(2).filter(|pair| pair[0] == pair[1]).count()),
        share(bytes.iter().filter(|&&byte| byte == 0).count()),
        (typesize as f32).log2(),
        chain as f32,
        f32::from(u8::from(typesize <= 16)),
        share(matches.nmatches),
        share(matches.matched_len),
        share(matches.long_len),
        share(matches.nnear),
    ]);
    for (feature, log_size) in features[NSTATISTICS..].iter_mut().zip(log_sizes) {
        *feature = if log_size < 0.0 { log_size } else { INCOMPRESSIBLE };
    }
    features
}
