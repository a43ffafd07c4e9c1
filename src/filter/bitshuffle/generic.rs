//! The portable bit shuffle: 8x8 transposes in 64-bit words. The SIMD kernels call it for blocks too small for a
//! tile.

use super::super::columns::covering_starts;
use super::super::transpose;

/// The number of elements of a group, the unit of the shuffle; the elements behind the last group are copied.
pub(super) const GROUP: usize = 8;

/// The number of groups that are processed together: their bit rows fill a word.
const GROUPS_PER_BATCH: usize = 8;

/// The number of columns that are processed together: they fill a word.
const COLUMNS: usize = 8;

/// For each column of a group of 8 elements, a word with the first element in the least significant byte.
type ColumnWords = [u64; COLUMNS];

/// Shuffles whole groups: `src.len() == dest.len()`, a multiple of `8 * typesize`.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / GROUP;
    let width = typesize.min(COLUMNS);
    for first in (0..row).step_by(GROUPS_PER_BATCH) {
        let groups = (row - first).min(GROUPS_PER_BATCH);
        for column in covering_starts(typesize, width) {
            let mut columns = [[0; COLUMNS]; GROUPS_PER_BATCH];
            for (g, columns) in columns.iter_mut().enumerate().take(groups) {
                *columns = gather(typesize, src, first + g, column);
            }
            for j in 0..width {
                let mut rows = columns.map(|columns| transpose::bits(columns[j]));
                transpose::bytes(&mut rows);
                for (b, word) in rows.into_iter().enumerate() {
                    let at = ((column + j) * GROUP + b) * row + first;
                    if groups == GROUPS_PER_BATCH {
                        store(&mut dest[at..at + GROUPS_PER_BATCH], word);
                    } else {
                        store(&mut dest[at..at + groups], word);
                    }
                }
            }
        }
    }
}

/// Undoes [`bitshuffle`], under the same conditions.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let row = src.len() / typesize / GROUP;
    let width = typesize.min(COLUMNS);
    for first in (0..row).step_by(GROUPS_PER_BATCH) {
        let groups = (row - first).min(GROUPS_PER_BATCH);
        for column in covering_starts(typesize, width) {
            let mut columns = [[0; COLUMNS]; GROUPS_PER_BATCH];
            for j in 0..width {
                let mut rows: [u64; GROUP] = std::array::from_fn(|b| {
                    let at = ((column + j) * GROUP + b) * row + first;
                    if groups == GROUPS_PER_BATCH {
                        load(&src[at..at + GROUPS_PER_BATCH])
                    } else {
                        load(&src[at..at + groups])
                    }
                });
                transpose::bytes(&mut rows);
                for (columns, word) in columns.iter_mut().zip(rows) {
                    columns[j] = transpose::bits(word);
                }
            }
            for (g, &columns) in columns.iter().enumerate().take(groups) {
                scatter(typesize, dest, first + g, column, columns);
            }
        }
    }
}

/// Returns the columns from `column` on of the elements of a group. Columns behind the last byte of the elements are
/// unspecified.
#[inline(always)]
fn gather(typesize: usize, elements: &[u8], group: usize, column: usize) -> ColumnWords {
    let elements = &elements[group * GROUP * typesize + column..];
    let width = typesize.min(COLUMNS);
    let mut words = if elements.len() >= (GROUP - 1) * typesize + 8 {
        std::array::from_fn(|k| load(&elements[k * typesize..][..8]))
    } else {
        std::array::from_fn(|k| load(&elements[k * typesize..][..width]))
    };
    transpose::bytes(&mut words);
    words
}

/// The inverse of [`gather`]. Bytes of the following group may be overwritten with garbage: groups are written in
/// order.
#[inline(always)]
fn scatter(typesize: usize, elements: &mut [u8], group: usize, column: usize, mut columns: ColumnWords) {
    let elements = &mut elements[group * GROUP * typesize + column..];
    let width = typesize.min(COLUMNS);
    transpose::bytes(&mut columns);
    if elements.len() >= (GROUP - 1) * typesize + 8 {
        for (k, word) in columns.into_iter().enumerate() {
            store(&mut elements[k * typesize..][..8], word);
        }
    } else {
        for (k, word) in columns.into_iter().enumerate() {
            store(&mut elements[k * typesize..][..width], word);
        }
    }
}

/// Returns up to 8 bytes as a word.
#[inline(always)]
fn load(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// The inverse of [`load`].
#[inline(always)]
fn store(bytes: &mut [u8], word: u64) {
    match bytes.first_chunk_mut::<8>() {
        Some(all) => *all = word.to_le_bytes(),
        None => {
            for (byte, value) in bytes.iter_mut().zip(word.to_le_bytes()) {
                *byte = value;
            }
        }
    }
}
