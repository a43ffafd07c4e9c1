//! Features of a filtered sample, from which the model predicts ratio and speed of the codecs.

use std::f32::consts::LN_2;

/// The number of features of a sample that was filtered by one pipeline.
pub const NFEATURES: usize = 17;

/// The logarithm to base 2 of the number of entries of the match finder's table.
const TABLE_LOG: u32 = 12;
/// Shortest match, in bytes.
const MIN_MATCH: usize = 4;
/// Matches of at least this length, in bytes, count as long ones.
const LONG_MATCH: usize = 64;
/// The largest number of segments whose entropies are computed apart.
const MAX_SEGMENTS: usize = 16;
/// Cost of a match in bytes, for the estimated size of a codec with entropy coding, and of one without.
const ENTROPY_MATCH_COST: f32 = 2.2;
const BYTE_MATCH_COST: f32 = 3.0;

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
struct MatchStats {
    literals: Histogram,
    nliterals: usize,
    nmatches: usize,
    /// Bytes in matches of at least [`LONG_MATCH`] bytes.
    long_len: usize,
    /// Sum of the base-2 logarithms of the offsets.
    offset_bits: u32,
}

/// The match finder, whose table is reused.
pub(crate) struct MatchFinder {
    /// Places of sequences of four bytes, by their hash.
    table: Vec<u16>,
    literals: Vec<u8>,
}

impl MatchFinder {
    pub(crate) fn new() -> MatchFinder {
        MatchFinder { table: vec![0; 1 << TABLE_LOG], literals: Vec::new() }
    }

    /// Searches matches in `bytes`, at most 64 KiB.
    fn search(&mut self, bytes: &[u8]) -> MatchStats {
        self.table.fill(0);
        self.literals.clear();
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (mut nmatches, mut long_len, mut offset_bits) = (0, 0, 0);
        let (mut at, mut first_literal) = (1, 0);
        while at + MIN_MATCH <= bytes.len() {
            let here = word(at);
            let entry = &mut self.table[(here.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_LOG)) as usize];
            let candidate = usize::from(*entry);
            *entry = at as u16;
            if candidate >= at || word(candidate) != here {
                at += 1;
                continue;
            }
            let rest = bytes[at + MIN_MATCH..].iter().zip(&bytes[candidate + MIN_MATCH..]);
            let len = MIN_MATCH + rest.take_while(|(a, b)| a == b).count();
            self.literals.extend_from_slice(&bytes[first_literal..at]);
            nmatches += 1;
            offset_bits += (at - candidate).ilog2();
            if len >= LONG_MATCH {
                long_len += len;
            }
            at += len;
            first_literal = at;
        }
        self.literals.extend_from_slice(&bytes[first_literal.min(bytes.len())..]);
        let literals = Histogram::new(&self.literals);
        MatchStats { literals, nliterals: self.literals.len(), nmatches, long_len, offset_bits }
    }

    /// Returns the features of `bytes`, a sample of items of `typesize` bytes that pipeline number `chain` of
    /// [`FilterChain::ALL`](super::chains::FilterChain::ALL) has filtered.
    pub(crate) fn features(
        &mut self,
        bytes: &[u8],
        typesize: usize,
        chain: usize,
        probes: [f32; 3],
    ) -> [f32; NFEATURES] {
        let stats = self.search(bytes);
        let share = |count: usize| count as f32 / bytes.len().max(1) as f32;
        let (mut entropy, mut random_len) = (0.0, 0);
        let segment_len = bytes.len().div_ceil(typesize.clamp(4, MAX_SEGMENTS)).max(1);
        for segment in bytes.chunks(segment_len) {
            let of_segment = Histogram::new(segment).entropy();
            // A short random segment does not have each byte equally often: its expected entropy is lower.
            let expected = 1.0 - 255.0 / (16.0 * LN_2 * segment.len().max(256) as f32);
            entropy += of_segment * segment.len() as f32;
            random_len += if of_segment > 0.98 * expected { segment.len() } else { 0 };
        }
        let literals = share(stats.nliterals);
        let matches = share(stats.nmatches);
        let literal_cost = stats.literals.entropy() * literals;
        let long = share(stats.long_len);
        [
            entropy / bytes.len().max(1) as f32,
            literals,
            matches,
            literal_cost,
            long,
            share(random_len),
            share(bytes.windows(2).filter(|pair| pair[0] == pair[1]).count()),
            share(bytes.iter().filter(|&&byte| byte == 0).count()),
            stats.offset_bits as f32 / (16 * stats.nmatches.max(1)) as f32,
            (literal_cost + ENTROPY_MATCH_COST * matches + long / 255.0 + 1e-4).ln(),
            (literals + BYTE_MATCH_COST * matches + long / 255.0 + 1e-4).ln(),
            (typesize as f32).log2(),
            chain as f32,
            if bytes.is_empty() { 0.0 } else { stats.nmatches as f32 / (stats.nliterals + 1) as f32 },
            probes[0],
            probes[1],
            probes[2],
        ]
    }
}
