//! The header of a block with dynamic codes (RFC 1951 3.2.7).

use super::bit_writer::BitWriter;
use super::codes::{FIRST_LENGTH_SYMBOL, NUM_DISTANCE_SYMBOLS, NUM_LITLEN_SYMBOLS};
use super::huffman::{self, Code};

/// The code of code lengths: the number of its symbols, the order in which its own code lengths are written, and its
/// longest code in bits.
const NUM_CODE_LENGTH_SYMBOLS: usize = 19;
const CODE_LENGTH_ORDER: [usize; NUM_CODE_LENGTH_SYMBOLS] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const MAX_CODE_LENGTH_CODE_LEN: usize = 7;

/// The codes of a block with dynamic codes, and its header.
pub(super) struct DynamicCodes {
    /// The lengths in bits of the codes of literals and match lengths, and of distances.
    pub litlen_lens: [u8; NUM_LITLEN_SYMBOLS],
    pub distance_lens: [u8; NUM_DISTANCE_SYMBOLS],
    /// The lengths of both, run-length encoded.
    run_lengths: RunLengths,
    nliterals: usize,
    ndistances: usize,
    code_length_lens: [u8; NUM_CODE_LENGTH_SYMBOLS],
    ncode_length_lens: usize,
    /// The length of the header in bits, without the three bits that begin every block.
    pub header_bits: u64,
}

/// Code lengths as symbols with the values of their extra bits (RFC 1951 3.2.7).
struct RunLengths {
    symbols: [(u8, u8); NUM_LITLEN_SYMBOLS + NUM_DISTANCE_SYMBOLS],
    len: usize,
}

impl RunLengths {
    fn push(&mut self, symbol: u8, value: usize) {
        self.symbols[self.len] = (symbol, value as u8);
        self.len += 1;
    }

    fn symbols(&self) -> &[(u8, u8)] {
        &self.symbols[..self.len]
    }
}

fn code_length_extra_bits(symbol: u8) -> u32 {
    match symbol {
        16 => 2,
        17 => 3,
        18 => 7,
        _ => 0,
    }
}

impl DynamicCodes {
    /// Returns optimal codes for symbols with these counts.
    pub(super) fn of(
        literal_counts: &[u32; NUM_LITLEN_SYMBOLS],
        distance_counts: &[u32; NUM_DISTANCE_SYMBOLS],
    ) -> DynamicCodes {
        let mut literals = [0; NUM_LITLEN_SYMBOLS];
        let mut distances = [0; NUM_DISTANCE_SYMBOLS];
        huffman::compute_code_lengths(literal_counts, huffman::MAX_CODE_LEN, &mut literals);
        huffman::compute_code_lengths(distance_counts, huffman::MAX_CODE_LEN, &mut distances);
        let used =
            |lens: &[u8], least: usize| lens.iter().rposition(|&len| len > 0).map_or(0, |i| i + 1).max(least);
        let (nliterals, ndistances) = (used(&literals, FIRST_LENGTH_SYMBOL), used(&distances, 1));
        let run_lengths =
            run_length_encode(literals[..nliterals].iter().chain(&distances[..ndistances]).copied());
        let mut meta_counts = [0; NUM_CODE_LENGTH_SYMBOLS];
        for &(symbol, _) in run_lengths.symbols() {
            meta_counts[usize::from(symbol)] += 1;
        }
        let mut meta = [0; NUM_CODE_LENGTH_SYMBOLS];
        huffman::compute_code_lengths(&meta_counts, MAX_CODE_LENGTH_CODE_LEN, &mut meta);
        let nmeta =
            CODE_LENGTH_ORDER.iter().rposition(|&symbol| meta[symbol] > 0).map_or(0, |i| i + 1).max(4);
        let header_bits: u32 = run_lengths
            .symbols()
            .iter()
            .map(|&(symbol, _)| u32::from(meta[usize::from(symbol)]) + code_length_extra_bits(symbol))
            .sum();
        let bits = 5 + 5 + 4 + 3 * nmeta as u64 + u64::from(header_bits);
        DynamicCodes {
            litlen_lens: literals,
            distance_lens: distances,
            run_lengths,
            nliterals,
            ndistances,
            code_length_lens: meta,
            ncode_length_lens: nmeta,
            header_bits: bits,
        }
    }

    /// Writes the header. Returns `None` if there is no room.
    pub(super) fn write_header(&self, bits: &mut BitWriter<'_>) -> Option<()> {
        bits.add_bits((self.nliterals - FIRST_LENGTH_SYMBOL) as u64, 5);
        bits.add_bits((self.ndistances - 1) as u64, 5);
        bits.add_bits((self.ncode_length_lens - 4) as u64, 4);
        bits.flush()?;
        for &symbol in &CODE_LENGTH_ORDER[..self.ncode_length_lens] {
            bits.add_bits(u64::from(self.code_length_lens[symbol]), 3);
            bits.flush()?;
        }
        let codes: [Code; NUM_CODE_LENGTH_SYMBOLS] = huffman::canonical_codes(&self.code_length_lens);
        for &(symbol, value) in self.run_lengths.symbols() {
            let code = codes[usize::from(symbol)];
            bits.add_bits(u64::from(code.bits), u32::from(code.len));
            bits.add_bits(u64::from(value), code_length_extra_bits(symbol));
            bits.flush()?;
        }
        Some(())
    }
}

/// Returns lengths as symbols: a length itself, "the last length 3 to 6 times more", or "3 to 10" and "11 to 138 times
/// 0".
fn run_length_encode(lens: impl Iterator<Item = u8>) -> RunLengths {
    // Each symbol stands for at least one length, so there are at most as many symbols as lengths.
    let mut run_lengths = RunLengths { symbols: [(0, 0); NUM_LITLEN_SYMBOLS + NUM_DISTANCE_SYMBOLS], len: 0 };
    let mut lens = lens.peekable();
    while let Some(len) = lens.next() {
        let mut run = 1usize;
        while lens.next_if_eq(&len).is_some() {
            run += 1;
        }
        if len != 0 {
            run_lengths.push(len, 0);
            run -= 1;
        }
        while run > 0 {
            let part = match len {
                0 if run >= 11 => {
                    let part = run.min(138);
                    run_lengths.push(18, part - 11);
                    part
                }
                0 if run >= 3 => {
                    run_lengths.push(17, run - 3);
                    run
                }
                1.. if run >= 3 => {
                    let part = run.min(6);
                    run_lengths.push(16, part - 3);
                    part
                }
                _ => {
                    run_lengths.push(len, 0);
                    1
                }
            };
            run -= part;
        }
    }
    run_lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lengths_are_encoded_as_runs() {
        let encoded = |lens: &[u8]| run_length_encode(lens.iter().copied()).symbols().to_vec();
        assert_eq!(encoded(&[3, 3, 3]), [(3, 0), (3, 0), (3, 0)]);
        assert_eq!(encoded(&[3; 8]), [(3, 0), (16, 3), (3, 0)]);
        assert_eq!(encoded(&[0; 2]), [(0, 0), (0, 0)]);
        assert_eq!(encoded(&[0; 10]), [(17, 7)]);
        assert_eq!(encoded(&[0; 139]), [(18, 127), (0, 0)]);
    }
}
