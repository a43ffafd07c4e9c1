//! The delta filter (`filters.md` 6): words XORed with the word before, or with the chunk's first block.
//!
//! The first block of a chunk is coded against itself, every other block against the first one. The pipeline decides
//! which block is which, and provides the reference block.
//!
//! XOR works bit by bit, so a word of `w` bytes XORed with its predecessor is every byte XORed with the byte `w`
//! before it; the word width determines this distance and the end of the whole words. Bytes behind the last whole
//! word are not coded but copied (`filters.md` D2).

mod prefix_xor;

use super::cpu::{self, SimdLevel, vectorised};

/// Returns the word width in bytes for elements of `typesize` bytes.
pub fn word_width(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// Encodes the first block of a chunk: every word of `src` but the first XORed with the word before.
///
/// # Panics
/// If the lengths differ.
pub fn encode_first(typesize: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a delta differ in length");
    let width = word_width(typesize);
    let coded = src.len() / width * width;
    let head = width.min(coded);
    dest[..head].copy_from_slice(&src[..head]);
    if coded > width {
        xor(&src[width..coded], &src[..coded - width], &mut dest[width..coded]);
    }
    dest[coded..].copy_from_slice(&src[coded..]);
}

/// Encodes any other block of a chunk: every word of `src` XORed with the word of `reference`, the raw first block, at
/// the same place. Words behind the end of the reference are copied.
///
/// # Panics
/// If the lengths of `src` and `dest` differ.
pub fn encode_other(typesize: usize, src: &[u8], reference: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a delta differ in length");
    let coded = coded_length(typesize, src.len(), reference.len());
    xor(&src[..coded], &reference[..coded], &mut dest[..coded]);
    dest[coded..].copy_from_slice(&src[coded..]);
}

/// Undoes [`encode_first`] in place.
pub fn decode_first(typesize: usize, buf: &mut [u8]) {
    decode_first_at(cpu::level(), typesize, buf);
}

/// [`decode_first`] with the code of one level.
pub fn decode_first_at(level: SimdLevel, typesize: usize, buf: &mut [u8]) {
    let width = word_width(typesize);
    let coded = buf.len() / width * width;
    let buf = &mut buf[..coded];
    match width {
        1 => prefix_xor::prefix_xor::<1>(level, buf),
        2 => prefix_xor::prefix_xor::<2>(level, buf),
        4 => prefix_xor::prefix_xor::<4>(level, buf),
        _ => prefix_xor::prefix_xor::<8>(level, buf),
    }
}

/// Undoes [`encode_other`] in place; `reference` is the decoded first block.
pub fn decode_other(typesize: usize, buf: &mut [u8], reference: &[u8]) {
    let coded = coded_length(typesize, buf.len(), reference.len());
    xor_in_place(&mut buf[..coded], &reference[..coded]);
}

/// Returns the number of bytes in the whole words that a block and its reference have in common.
fn coded_length(typesize: usize, block: usize, reference: usize) -> usize {
    let width = word_width(typesize);
    block.min(reference) / width * width
}

vectorised! {
    /// `dest[i] = a[i] ^ b[i]`.
    fn xor(a: &[u8], b: &[u8], dest: &mut [u8]) {
        for ((dest, a), b) in dest.iter_mut().zip(a).zip(b) {
            *dest = a ^ b;
        }
    }
}

vectorised! {
    fn xor_in_place(buf: &mut [u8], other: &[u8]) {
        for (byte, other) in buf.iter_mut().zip(other) {
            *byte ^= other;
        }
    }
}

#[cfg(test)]
mod tests;
