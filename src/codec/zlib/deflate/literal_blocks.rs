//! Blocks of deflate with literals only, for bytes without repetitions.

use super::bit_writer::BitWriter;
use super::block::{self, LiteralCounts};
use crate::tuning::tunable;

tunable! {
    /// The number of literals that are counted together. A block consists of whole portions.
    const PORTION: usize = 4 << 10;
}

/// Writes `src` as literals, with blocks that end where the frequencies of the values change. Returns `None` if there
/// is no room.
pub(super) fn write(src: &[u8], is_last: bool, bits: &mut BitWriter<'_>) -> Option<()> {
    let (mut start, mut at) = (0, 0);
    let (mut counts, mut cost) = (LiteralCounts::NONE, 0.0);
    for portion in src.chunks(PORTION.get()) {
        let own = LiteralCounts::of(portion);
        let both = counts.sum_with(&own);
        let (own_cost, both_cost) = (own.estimate_bits(), both.estimate_bits());
        if at > start && both_cost > cost + own_cost {
            block::write_literals(&counts, &src[start..at], false, bits)?;
            (start, counts, cost) = (at, own, own_cost);
        } else {
            (counts, cost) = (both, both_cost);
        }
        at += portion.len();
    }
    block::write_literals(&counts, &src[start..], is_last, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zlib::inflate::Inflater;

    #[test]
    fn literal_blocks_decode_and_end_where_frequencies_change() {
        let mut x = 1u32;
        let mut noise = |values: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((x >> 8) % values) as u8
        };
        let parts: Vec<Vec<u8>> =
            [256, 100, 256, 10].map(|values| (0..20_000).map(|_| noise(values)).collect()).into();
        let src = parts.concat();
        for len in [0, 1, 5000, 40_000, src.len()] {
            for more in [None, Some(b"end")] {
                let written = |dest: &mut [u8]| {
                    let mut bits = BitWriter::new(dest);
                    write(&src[..len], more.is_none(), &mut bits)?;
                    more.map_or(Some(()), |more| write(more, true, &mut bits))?;
                    bits.finish()
                };
                let mut dest = vec![0; 2 * src.len()];
                let written_len = written(&mut dest).expect("there is room");
                assert_eq!(written(&mut vec![0; written_len - 1]), None);
                let mut back = vec![0; src.len() + 3];
                let expected = [&src[..len], more.map_or(&[][..], |more| &more[..])].concat();
                assert_eq!(
                    Inflater::default().decode_raw(&dest[..written_len], &mut back),
                    Some((written_len, expected.len()))
                );
                assert!(back[..expected.len()] == expected);
            }
        }
        let mut dest = vec![0; 2 * src.len()];
        let mut bits = BitWriter::new(&mut dest);
        write(&src, true, &mut bits).expect("there is room");
        let len = bits.finish().expect("there is room");
        // 8, 6.6, 8 and 3.3 bits for each byte.
        assert!(len < 20_000 * 260 / 80 + 2000, "{len}");
    }
}
