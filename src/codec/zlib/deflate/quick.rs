//! The fastest encoder of deflate, for level 1: one candidate for each word, the fixed codes, and stored blocks for
//! noise.
//!
//! Data flow: stream -> the last position of each word -> bits, in one pass. Owns the choice of what is coded and what
//! is stored.

use super::bit_writer::BitWriter;
use super::block;
use super::codes::{Codes, FIXED_CODES};
use super::matches::{MAX_DISTANCE, MAX_MATCH, match_length, split_match, try_read32};
use crate::error::Result;
use crate::fallible;
use crate::tuning::tunable;

/// log2 of the length of the table of positions: the smallest and the largest. There are up to four slots for each
/// position, where the largest length permits it: of two words with one slot the earlier one is lost.
const SLOTS_LOG2: (u32, u32) = (11, 15);
/// log2 of the number of bytes without a match, behind [`SKIP_AFTER_BYTES`], for each of which the step grows by one
/// position.
const STEP_GROWTH_LOG2: usize = 6;
tunable! {
    /// The number of bytes without a match after which positions are skipped, and the greatest step, in positions.
    const SKIP_AFTER_BYTES: usize = 512;
    const MAX_STEP: usize = 4;
}
/// The bits that a stored block takes in place of the codes of its literals: the end of the block before, its header,
/// the padding to the next byte, its length twice, and the header of the next block.
const STORED_OVERHEAD_BITS: usize = 7 + 3 + 7 + 32 + 3;
/// The shortest match that is searched for, in bytes.
const MIN_QUICK_MATCH: usize = 4;

/// The last position of each word, modulo 2^16.
#[derive(Default)]
pub(crate) struct Level1Positions(Vec<u16>);

/// Compresses `src` as raw deflate. Returns the length in bytes, or `None` if it does not fit.
pub(crate) fn compress(
    positions: &mut Level1Positions,
    src: &[u8],
    dest: &mut [u8],
) -> Result<Option<usize>> {
    let slots_log2 = (src.len().max(1).ilog2() + 2).clamp(SLOTS_LOG2.0, SLOTS_LOG2.1);
    let slots = 1 << slots_log2;
    if positions.0.len() < slots {
        positions.0 = fallible::filled(0, slots)?;
    }
    Ok(compress_with_table(&mut positions.0[..slots], slots_log2, src, dest))
}

/// Does the same as [`compress`], with a table of `1 << slots_log2` positions.
fn compress_with_table(positions: &mut [u16], slots_log2: u32, src: &[u8], dest: &mut [u8]) -> Option<usize> {
    // The output must not depend on earlier streams.
    positions.fill(0);
    let slot = |word: u32| (word.wrapping_mul(0x9e37_79b1) >> (32 - slots_log2)) as usize;

    let mut writer = FixedBlockWriter { bits: BitWriter::new(dest), codes: &FIXED_CODES, block_start: None };
    let (mut at, mut start) = (0, 0);
    while let Some(here) = try_read32(src, at) {
        let place = std::mem::replace(&mut positions[slot(here)], at as u16);
        let distance = usize::from((at as u16).wrapping_sub(place));
        if distance.wrapping_sub(1) >= at.min(MAX_DISTANCE) || try_read32(src, at - distance) != Some(here) {
            let misses = (at - start).saturating_sub(SKIP_AFTER_BYTES.get());
            at += 1 + (misses >> STEP_GROWTH_LOG2).min(MAX_STEP.get() - 1);
            continue;
        }
        let mut len = MIN_QUICK_MATCH + match_length(src, at + MIN_QUICK_MATCH, distance);
        while at > start && at > distance && src[at - 1] == src[at - 1 - distance] {
            at -= 1;
            len += 1;
        }
        writer.write_literals(&src[start..at])?;
        for part in split_match(len) {
            let nearer = if len > MAX_MATCH {
                find_nearer_distance(&src[..at + usize::from(part)], at, distance)
            } else {
                None
            };
            writer.write_match(part, nearer.unwrap_or(distance))?;
            at += usize::from(part);
        }
        start = at;
    }
    writer.finish(&src[start..])
}

/// Returns a distance less than `distance` at which the end of `src`, from `at` on, repeats earlier bytes: the fixed
/// codes have more extra bits for greater distances. Tries two distances, since a part of a long match can be a run, or
/// can repeat the part before it, which has the same length; this covers every period that is a divisor of that length.
#[inline(always)]
fn find_nearer_distance(src: &[u8], at: usize, distance: usize) -> Option<usize> {
    [1, MAX_MATCH]
        .into_iter()
        .find(|&nearer| nearer < distance && nearer <= at && match_length(src, at, nearer) == src.len() - at)
}

/// Writes literals and matches as blocks.
struct FixedBlockWriter<'a> {
    bits: BitWriter<'a>,
    codes: &'static Codes,
    /// The position, in bits, of the first bit of the coded block that has begun, which marks the last block; `None`
    /// outside a coded block.
    block_start: Option<usize>,
}

impl FixedBlockWriter<'_> {
    /// Begins a coded block unless one has begun.
    #[inline(always)]
    fn begin_block(&mut self) {
        if self.block_start.is_none() {
            self.block_start = Some(self.bits.position());
            block::write_fixed_header(false, &mut self.bits);
        }
    }

    #[inline(always)]
    fn write_literals(&mut self, literals: &[u8]) -> Option<()> {
        if is_stored_shorter(literals) {
            return self.write_stored(literals, false);
        }
        self.begin_block();
        // Up to 7 bits are buffered, 3 begin a block, and codes have at most 9.
        self.codes.write_literals::<6>(literals, &mut self.bits)
    }

    #[inline(never)]
    fn write_stored(&mut self, literals: &[u8], is_last: bool) -> Option<()> {
        if self.block_start.take().is_some() {
            self.codes.write_end_of_block(&mut self.bits)?;
        }
        block::write_stored(literals, is_last, &mut self.bits)
    }

    #[inline(always)]
    fn write_match(&mut self, len: u16, distance: usize) -> Option<()> {
        self.begin_block();
        self.codes.write_match(len, distance as u16, &mut self.bits)
    }

    /// Writes the last literals and ends the stream. Returns its length in bytes, or `None` if it does not fit.
    fn finish(mut self, literals: &[u8]) -> Option<usize> {
        if is_stored_shorter(literals) {
            self.write_stored(literals, true)?;
            return self.bits.finish();
        }
        self.write_literals(literals)?;
        self.codes.write_end_of_block(&mut self.bits)?;
        let last = self.block_start?;
        self.bits.align()?;
        self.bits.set_bit(last);
        self.bits.finish()
    }
}

/// Returns whether literals are shorter as a stored block than coded.
#[inline(always)]
fn is_stored_shorter(literals: &[u8]) -> bool {
    // The fixed codes of most values have eight bits, those of the values from 144 on nine.
    let high = || literals.iter().map(|&byte| usize::from(byte >= 144)).sum::<usize>();
    literals.len() > STORED_OVERHEAD_BITS && high() > STORED_OVERHEAD_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32) -> impl Iterator<Item = u8> {
        let mut x = seed;
        std::iter::repeat_with(move || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        })
    }

    #[test]
    fn noise_is_stored_and_the_rest_coded() {
        let low: Vec<u8> = noise(1).map(|byte| byte & 0x7f).take(3000).collect();
        let high: Vec<u8> = noise(2).take(3000).collect();
        let mut dest = [0; 8000];
        let mut len = |src: &[u8]| {
            compress(&mut Level1Positions::default(), src, &mut dest).expect("memory").expect("there is room")
        };
        // Header and length.
        assert_eq!(len(&high), 3000 + 5);
        // Eight bits for each byte, three bits before them, seven behind.
        assert_eq!(len(&low), 3000 + 2);
        // Two matches and the ends of two blocks between the stored bytes.
        let both = [&high[..], &[0; 300], &high[..2000]].concat();
        assert!(len(&both) < 3000 + 2 * 5 + 30, "the second half repeats the first");
        let apart = [&high[..1500], &[0; 300], &high[1500..]].concat();
        assert!((3000..3000 + 2 * 5 + 10).contains(&len(&apart)));
    }

    #[test]
    fn parts_of_long_matches_have_the_nearest_distance() {
        // Planes of 4 KiB with a period of three bytes, which repeat.
        let plane: Vec<u8> = [1, 2, 3].into_iter().cycle().take(4096).collect();
        let src = plane.repeat(if cfg!(miri) { 2 } else { 8 });
        let mut dest = [0; 500];
        let len = compress(&mut Level1Positions::default(), &src, &mut dest)
            .expect("memory")
            .expect("there is room");
        // 20 bits for each match of 258 bytes, and a few bytes more.
        assert!(len <= src.len() / MAX_MATCH * 20 / 8 + 10, "{len}");
        let mut back = vec![0; src.len()];
        let mut inflater = crate::codec::zlib::inflate::Inflater::default();
        assert_eq!(inflater.decode_raw(&dest[..len], &mut back), Some((len, src.len())));
        assert!(back == src);
    }

    #[test]
    fn streams_decode_with_every_kind_of_last_block() {
        // A coded block, a stored block, a match, nothing.
        let ends: [&[u8]; 4] = [b"the end", &noise(3).take(500).collect::<Vec<_>>(), &[7; 1000], &[]];
        for begin in ends {
            for end in ends {
                let src = [begin, end].concat();
                let mut dest = [0; 3000];
                let len = compress(&mut Level1Positions::default(), &src, &mut dest)
                    .expect("memory")
                    .expect("there is room");
                let mut back = [0; 3000];
                let mut inflater = crate::codec::zlib::inflate::Inflater::default();
                assert_eq!(inflater.decode_raw(&dest[..len], &mut back), Some((len, src.len())));
                assert!(back[..src.len()] == src);
                assert_eq!(inflater.decode_raw(&dest[..len - 1], &mut back), None, "every byte is needed");
            }
        }
    }
}
