//! The portable byte shuffle. It has no target-specific code, but is written in words and fixed strides that
//! compilers vectorise well everywhere. The SIMD kernels call it for blocks too small for a tile.

use super::super::columns::covering_starts;
use super::super::transpose;

/// The number of elements and of columns of a tile.
const TILE: usize = 8;

/// Returns the number of whole elements of `typesize` bytes in `len`. Powers of two are shifted: for a short block,
/// the latency of a division is noticeable.
#[inline(always)]
pub(super) fn count_elements(len: usize, typesize: usize) -> usize {
    if typesize.is_power_of_two() { len >> typesize.trailing_zeros() } else { len / typesize }
}

/// Shuffles whole elements: `src.len() == dest.len()`, a multiple of `typesize`.
pub(super) fn shuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    match typesize {
        2 => split_streams::<2>(src, dest),
        4 => split_streams::<4>(src, dest),
        8.. if elements >= TILE => {
            for first in covering_starts(elements, TILE) {
                for column in covering_starts(typesize, TILE) {
                    let mut words: [u64; TILE] =
                        std::array::from_fn(|i| load(src, (first + i) * typesize + column));
                    transpose::bytes(&mut words);
                    for (j, word) in words.into_iter().enumerate() {
                        store(dest, (column + j) * elements + first, word);
                    }
                }
            }
        }
        _ => {
            for (j, stream) in dest.chunks_exact_mut(elements).enumerate() {
                for (byte, element) in stream.iter_mut().zip(src.chunks_exact(typesize)) {
                    *byte = element[j];
                }
            }
        }
    }
}

/// Undoes [`shuffle`], under the same conditions.
pub(super) fn unshuffle(typesize: usize, src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / typesize;
    match typesize {
        2 => join_streams::<2>(src, dest),
        4 => join_streams::<4>(src, dest),
        8.. if elements >= TILE => {
            for first in covering_starts(elements, TILE) {
                for column in covering_starts(typesize, TILE) {
                    let mut words: [u64; TILE] =
                        std::array::from_fn(|j| load(src, (column + j) * elements + first));
                    transpose::bytes(&mut words);
                    for (i, word) in words.into_iter().enumerate() {
                        store(dest, (first + i) * typesize + column, word);
                    }
                }
            }
        }
        _ => {
            for (i, element) in dest.chunks_exact_mut(typesize).enumerate() {
                for (byte, stream) in element.iter_mut().zip(src.chunks_exact(elements)) {
                    *byte = stream[i];
                }
            }
        }
    }
}

fn load(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

fn store(bytes: &mut [u8], at: usize, word: u64) {
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

/// The forward shuffle of a constant typesize, one pass over the elements.
fn split_streams<const T: usize>(src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / T;
    for first in (0..elements).step_by(BATCH) {
        let count = BATCH.min(elements - first);
        let batch = &src[first * T..(first + count) * T];
        for (j, stream) in dest.chunks_exact_mut(elements).enumerate() {
            let stream = &mut stream[first..first + count];
            for (byte, element) in stream.iter_mut().zip(batch.as_chunks::<T>().0) {
                *byte = element[j];
            }
        }
    }
}

/// The backward shuffle of a constant typesize, one pass over the elements.
fn join_streams<const T: usize>(src: &[u8], dest: &mut [u8]) {
    let elements = src.len() / T;
    for first in (0..elements).step_by(BATCH) {
        let count = BATCH.min(elements - first);
        let streams: [&[u8]; T] = std::array::from_fn(|j| &src[j * elements + first..][..count]);
        for (i, element) in dest[first * T..].as_chunks_mut::<T>().0[..count].iter_mut().enumerate() {
            *element = std::array::from_fn(|j| streams[j][i]);
        }
    }
}

/// The number of elements that [`split_streams`] and [`join_streams`] process at a time: they stay in the L1 cache.
const BATCH: usize = 512;
