//! The delta filter (`filters.md` 6): words XORed with the word before, or with the chunk's first block.
//!
//! The first block of a chunk is coded against itself, every other block against the first one. Which block is
//! which, and where the reference block comes from, is decided by the pipeline.
//!
//! XOR works bit by bit, so a word of `w` bytes XORed with its predecessor is just every byte XORed with the byte `w` before
//! it; the word width decides this distance and where whole words end. Bytes behind the last whole word are not
//! coded: they are copied (`filters.md` D2).

use super::cpu::{self, Level};

/// The word width in bytes for elements of `typesize` bytes.
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

/// Encodes any other block of a chunk: every word of `src` XORed with the word of `reference`, the raw first block, at the
/// same place. Words behind the end of the reference are copied.
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
///
/// # Panics
/// If this machine does not have the level.
pub fn decode_first_at(level: Level, typesize: usize, buf: &mut [u8]) {
    assert!(level.is_available(), "no {} on this machine", level.name());
    let width = word_width(typesize);
    let coded = buf.len() / width * width;
    let buf = &mut buf[..coded];
    match width {
        1 => prefix_xor::<1>(buf),
        2 => prefix_xor::<2>(buf),
        4 => prefix_xor::<4>(buf),
        _ => prefix_xor::<8>(buf),
    }
}

/// Undoes [`encode_other`] in place; `reference` is the decoded first block.
pub fn decode_other(typesize: usize, buf: &mut [u8], reference: &[u8]) {
    let coded = coded_length(typesize, buf.len(), reference.len());
    for (byte, reference) in buf[..coded].iter_mut().zip(reference) {
        *byte ^= reference;
    }
}

/// Bytes in the whole words that a block and its reference have in common.
fn coded_length(typesize: usize, block: usize, reference: usize) -> usize {
    let width = word_width(typesize);
    block.min(reference) / width * width
}

/// `dest[i] = a[i] ^ b[i]`.
#[inline(always)]
fn xor(a: &[u8], b: &[u8], dest: &mut [u8]) {
    for ((dest, a), b) in dest.iter_mut().zip(a).zip(b) {
        *dest = a ^ b;
    }
}

/// XORs every word of `W` bytes with all the words before it. The length is a multiple of `W`.
#[inline(always)]
fn prefix_xor<const W: usize>(buf: &mut [u8]) {
    // All words so far, repeated through the register.
    let mut carry = 0u64;
    let (words, rest) = buf.as_chunks_mut::<8>();
    for word in words {
        let mut x = u64::from_le_bytes(*word);
        for step in [8, 16, 32] {
            if step >= 8 * W {
                x ^= x << step;
            }
        }
        x ^= carry;
        carry = repeat_last::<W>(x);
        *word = x.to_le_bytes();
    }
    let mut carry = carry.to_le_bytes();
    for word in rest.chunks_exact_mut(W) {
        for (byte, carry) in word.iter_mut().zip(&mut carry) {
            *byte ^= *carry;
            *carry = *byte;
        }
    }
}

/// The last `W` bytes of `x`, repeated.
#[inline(always)]
fn repeat_last<const W: usize>(x: u64) -> u64 {
    match W {
        1 => (x >> 56) * 0x0101_0101_0101_0101,
        2 => (x >> 48) * 0x0001_0001_0001_0001,
        4 => (x >> 32) * 0x0000_0001_0000_0001,
        _ => x,
    }
}

#[cfg(test)]
mod tests;
