//! The filter that clears low bits of integers (`filters.md` 9). It is lossy: there is nothing to undo.

#![forbid(unsafe_code)]

use super::trunc_prec::and_words;
use crate::err;
use crate::error::Result;

/// Clears the low bits of every integer of `typesize` bytes (1, 2, 4 or 8) of `src` into `dest`. `prec` is the number
/// of bits to keep if positive, the number to clear if negative. Bytes behind the last whole integer are copied
/// (`filters.md` D2).
///
/// # Errors
/// `FilterPipeline` for another typesize, or if `prec` keeps no bit or more than there are; `dest` is then untouched.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn truncate(prec: i8, typesize: usize, src: &[u8], dest: &mut [u8]) -> Result<()> {
    assert_eq!(src.len(), dest.len(), "source and destination of a truncation differ in length");
    let mask = match typesize {
        1 => u64::from(u8::MAX << cleared_bits(prec, 8)?) * (u64::MAX / u64::from(u8::MAX)),
        2 => u64::from(u16::MAX << cleared_bits(prec, 16)?) * (u64::MAX / u64::from(u16::MAX)),
        4 => u64::from(u32::MAX << cleared_bits(prec, 32)?) * (u64::MAX / u64::from(u32::MAX)),
        8 => u64::MAX << cleared_bits(prec, 64)?,
        _ => return Err(err!(FilterPipeline, "int_trunc: `typesize` is {typesize}, expected 1, 2, 4 or 8")),
    };
    let whole = src.len() / typesize * typesize;
    dest[whole..].copy_from_slice(&src[whole..]);
    and_words(mask, &src[..whole], &mut dest[..whole]);
    Ok(())
}

/// Returns how many of `bits` bits `prec` clears.
fn cleared_bits(prec: i8, bits: u32) -> Result<u32> {
    let given = u32::from(prec.unsigned_abs());
    let cleared = if prec >= 0 { bits.checked_sub(given) } else { Some(given) };
    cleared.filter(|&cleared| cleared < bits).ok_or_else(|| {
        err!(FilterPipeline, "int_trunc: {prec} bits, expected 1 to {bits}, or -1 to 1 - {bits}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::model::golden;
    use super::*;
    use crate::error::ErrorKind;

    fn truncated(prec: i8, typesize: usize, src: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0x5a; src.len()];
        match truncate(prec, typesize, src, &mut out) {
            Ok(()) => Some(out),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::FilterPipeline);
                assert!(out.iter().all(|&b| b == 0x5a), "an error left something behind");
                None
            }
        }
    }

    #[test]
    fn only_valid_precisions_are_accepted() {
        for typesize in [1usize, 2, 4, 8] {
            let bits = 8 * typesize as i32;
            for prec in (i8::MIN..=i8::MAX).step_by(if cfg!(miri) { 5 } else { 1 }) {
                let valid = (1..=bits).contains(&prec.into()) || (1 - bits..0).contains(&prec.into());
                assert_eq!(truncated(prec, typesize, &[0xff; 24]).is_some(), valid, "{typesize} {prec}");
            }
            assert_eq!(truncated(bits as i8, typesize, &golden(100)), Some(golden(100)));
        }
        for typesize in [3, 5, 12, 16, 255] {
            assert_eq!(truncated(4, typesize, &[0; 32]), None);
        }
    }

    #[test]
    fn words_are_truncated_and_the_tail_is_copied() {
        for typesize in [1, 2, 4, 8] {
            for len in (0..70).step_by(if cfg!(miri) { 9 } else { 1 }) {
                let src = golden(len);
                let mut expected = src.clone();
                // The lowest bits are in the last byte of a word on a big-endian machine.
                let lowest = if cfg!(target_endian = "big") { typesize - 1 } else { 0 };
                for word in expected.chunks_exact_mut(typesize) {
                    word[lowest] &= !0b111;
                }
                assert_eq!(truncated(-3, typesize, &src), Some(expected), "{typesize} {len}");
            }
        }
    }
}
