//! The filter that clears low mantissa bits of floats and doubles (`filters.md` 7). It is lossy: there is nothing
//! to undo.

use super::cpu::vectorised;
use crate::err;
use crate::error::Result;

/// The number of mantissa bits of a float.
const FLOAT_MANTISSA: u32 = 23;

/// The number of mantissa bits of a double.
const DOUBLE_MANTISSA: u32 = 52;

/// Clears the low mantissa bits of every float (`typesize` 4) or double (`typesize` 8) of `src` into `dest`. `prec` is
/// the number of mantissa bits to keep if positive, the number to clear if negative. Bytes behind the last whole
/// value are copied (`filters.md` D2).
///
/// # Errors
/// [`FilterPipeline`](crate::ErrorKind::FilterPipeline) if the typesize is neither 4 nor 8, or if `prec` keeps no
/// mantissa bit or more than there are; `dest` is then untouched.
///
/// # Panics
/// If the lengths differ.
pub fn truncate(prec: i8, typesize: usize, src: &[u8], dest: &mut [u8]) -> Result<()> {
    assert_eq!(src.len(), dest.len(), "source and destination of a truncation differ in length");
    let mask = match typesize {
        4 => {
            let mask = u32::MAX << cleared_bits(prec, FLOAT_MANTISSA)?;
            (u64::from(mask) << 32) | u64::from(mask)
        }
        8 => u64::MAX << cleared_bits(prec, DOUBLE_MANTISSA)?,
        _ => {
            return Err(err!(FilterPipeline, "TRUNC_PREC: `typesize` is {typesize}, expected 4 or 8"));
        }
    };
    let whole = src.len() / typesize * typesize;
    dest[whole..].copy_from_slice(&src[whole..]);
    and_words(mask, &src[..whole], &mut dest[..whole]);
    Ok(())
}

vectorised! {
    /// ANDs every native word of 8 bytes of `src` with `mask` into `dest`, which has the same length. The bytes behind
    /// the last word are ANDed with the first bytes of the mask.
    pub(super) fn and_words(mask: u64, src: &[u8], dest: &mut [u8]) {
        let (src_words, src_rest) = src.as_chunks::<8>();
        let (words, rest) = dest.as_chunks_mut::<8>();
        for (word, src) in words.iter_mut().zip(src_words) {
            *word = (u64::from_ne_bytes(*src) & mask).to_ne_bytes();
        }
        for (byte, (src, mask)) in rest.iter_mut().zip(src_rest.iter().zip(mask.to_ne_bytes())) {
            *byte = src & mask;
        }
    }
}

/// Returns how many of the `mantissa` bits `prec` clears.
fn cleared_bits(prec: i8, mantissa: u32) -> Result<u32> {
    let bits = u32::from(prec.unsigned_abs());
    let cleared = if prec >= 0 { mantissa.checked_sub(bits) } else { Some(bits) };
    cleared.filter(|&cleared| cleared < mantissa).ok_or_else(|| {
        err!(FilterPipeline, "TRUNC_PREC: {prec} bits, expected 1 to {mantissa}, or -1 to 1 - {mantissa}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truncated(prec: i8, typesize: usize, src: &[u8]) -> Option<Vec<u8>> {
        let mut dest = vec![0x5a; src.len()];
        match truncate(prec, typesize, src, &mut dest) {
            Ok(()) => Some(dest),
            Err(error) => {
                assert_eq!(error.kind(), crate::ErrorKind::FilterPipeline);
                assert!(dest.iter().all(|&byte| byte == 0x5a));
                None
            }
        }
    }

    #[test]
    fn only_valid_precisions_are_accepted() {
        let ones = [0xff; 16];
        for (typesize, mantissa) in [(4, 23i32), (8, 52)] {
            for prec in (i8::MIN..=i8::MAX).step_by(if cfg!(miri) { 5 } else { 1 }) {
                let bits = i32::from(prec);
                let valid = (1..=mantissa).contains(&bits) || (1 - mantissa..0).contains(&bits);
                let cleared = if bits > 0 { mantissa - bits } else { -bits };
                let expected = valid.then(|| {
                    let word = u64::MAX << cleared;
                    if typesize == 4 {
                        (word as u32).to_ne_bytes().repeat(4)
                    } else {
                        word.to_ne_bytes().repeat(2)
                    }
                });
                assert_eq!(truncated(prec, typesize, &ones), expected, "typesize {typesize}, prec {prec}");
            }
        }
        for typesize in [1, 2, 3, 5, 16] {
            assert_eq!(truncated(10, typesize, &ones), None);
        }
    }

    #[test]
    fn tails_are_copied() {
        for len in 0..40 {
            let src: Vec<u8> = (0..len).map(|i| 0xff - i as u8).collect();
            for typesize in [4, 8] {
                let out = truncated(-3, typesize, &src).unwrap();
                let whole = len / typesize * typesize;
                // The byte of a word with the lowest bits.
                let lowest = if cfg!(target_endian = "big") { typesize - 1 } else { 0 };
                assert_eq!(out[whole..], src[whole..]);
                for (i, (out, src)) in out.iter().zip(&src).enumerate().take(whole) {
                    assert_eq!(*out, if i % typesize == lowest { src & 0xf8 } else { *src });
                }
            }
        }
    }
}
