//! The portable bit shuffle: 8x8 transposes in 64-bit words. The SIMD kernels leave it the blocks too small
//! for a tile of theirs.

use super::super::transpose;
use super::GROUP;

/// Groups of a tile: one word of every bit row.
const GROUPS: usize = 8;

/// Shuffles whole groups: `src.len() == dest.len()`, a multiple of `8 * typesize`.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / GROUP;
    for j in 0..typesize {
        let rows = &mut dest[j * GROUP * row..(j + 1) * GROUP * row];
        let mut group = 0;
        while group + GROUPS <= row {
            let mut words: [u64; GROUPS] =
                std::array::from_fn(|g| transpose::bits(gather(typesize, src, group + g, j)));
            transpose::bytes(&mut words);
            for (b, word) in words.into_iter().enumerate() {
                rows[b * row + group..][..8].copy_from_slice(&word.to_le_bytes());
            }
            group += GROUPS;
        }
        for group in group..row {
            let word = transpose::bits(gather(typesize, src, group, j)).to_le_bytes();
            for (b, byte) in word.into_iter().enumerate() {
                rows[b * row + group] = byte;
            }
        }
    }
}

/// Undoes [`bitshuffle`], under the same conditions.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / GROUP;
    for j in 0..typesize {
        let rows = &src[j * GROUP * row..(j + 1) * GROUP * row];
        let mut group = 0;
        while group + GROUPS <= row {
            let mut words: [u64; GROUPS] = std::array::from_fn(|b| {
                let mut word = [0; 8];
                word.copy_from_slice(&rows[b * row + group..][..8]);
                u64::from_le_bytes(word)
            });
            transpose::bytes(&mut words);
            for (g, word) in words.into_iter().enumerate() {
                scatter(typesize, dest, group + g, j, transpose::bits(word));
            }
            group += GROUPS;
        }
        for group in group..row {
            let word = u64::from_le_bytes(std::array::from_fn(|b| rows[b * row + group]));
            scatter(typesize, dest, group, j, transpose::bits(word));
        }
    }
}

/// Byte `j` of the 8 elements of a group, the first element in the least significant byte.
#[inline(always)]
fn gather(typesize: usize, elements: &[u8], group: usize, j: usize) -> u64 {
    let group = &elements[group * GROUP * typesize..(group + 1) * GROUP * typesize];
    u64::from_le_bytes(std::array::from_fn(|k| group[k * typesize + j]))
}

/// The inverse of [`gather`].
#[inline(always)]
fn scatter(typesize: usize, elements: &mut [u8], group: usize, j: usize, word: u64) {
    let group = &mut elements[group * GROUP * typesize..(group + 1) * GROUP * typesize];
    for (k, byte) in word.to_le_bytes().into_iter().enumerate() {
        group[k * typesize + j] = byte;
    }
}
