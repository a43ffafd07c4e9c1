//! Transposes of 8x8 matrices of bytes and of bits held in 64-bit words: the portable building blocks of the
//! shuffle kernels. Words are little-endian views of memory: byte 0 is the least significant.

/// Transposes the byte matrix whose row `i` is the word `rows[i]`: byte `j` of row `i` becomes byte `i` of row `j`.
#[inline(always)]
pub(super) fn bytes(rows: &mut [u64; 8]) {
    swap_fields::<4>(rows, 32, 0x0000_0000_ffff_ffff);
    swap_fields::<2>(rows, 16, 0x0000_ffff_0000_ffff);
    swap_fields::<1>(rows, 8, 0x00ff_00ff_00ff_00ff);
}

/// Swaps, in each pair of rows `DISTANCE` apart, the upper fields of the first with the lower fields of the
/// second; `low` masks the lower fields, which are `bits` wide.
#[inline(always)]
fn swap_fields<const DISTANCE: usize>(rows: &mut [u64; 8], bits: u32, low: u64) {
    for pairs in rows.chunks_exact_mut(2 * DISTANCE) {
        for i in 0..DISTANCE {
            let (a, b) = (pairs[i], pairs[i + DISTANCE]);
            pairs[i] = (a & low) | ((b & low) << bits);
            pairs[i + DISTANCE] = ((a >> bits) & low) | (b & !low);
        }
    }
}

/// Transposes the bit matrix whose row `i` is byte `i` of `x`: bit `j` of byte `i` becomes bit `i` of byte `j`.
#[inline(always)]
pub(super) fn bits(mut x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_transposed(rows: [u64; 8]) {
            let mut turned = rows;
            bytes(&mut turned);
            for (i, row) in rows.iter().enumerate() {
                for (j, turned_row) in turned.iter().enumerate() {
                    prop_assert_eq!(row.to_le_bytes()[j], turned_row.to_le_bytes()[i]);
                }
            }
        }

        #[test]
        fn bits_are_transposed(x: u64) {
            let y = bits(x);
            for i in 0..8 {
                for j in 0..8 {
                    prop_assert_eq!(x >> (8 * i + j) & 1, y >> (8 * j + i) & 1);
                }
            }
        }
    }
}
