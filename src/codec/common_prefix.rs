//! Comparison of two positions of a buffer. Encoders use it for every match.

/// Returns which of the 32 bytes at `a[at]` and `b[at]` differ: one bit for each, where the bits behind the first one
/// set are unspecified.
///
/// # Safety
/// `at + 32` <= both lengths.
#[inline(always)]
pub(super) unsafe fn difference_mask32(a: &[u8], b: &[u8], at: usize) -> u32 {
    debug_assert!(at + 32 <= a.len().min(b.len()));
    #[cfg(target_arch = "x86_64")]
    // SAFETY: by the contract 32 bytes can be read at `at` of both; SSE2 is part of x86-64.
    unsafe {
        use std::arch::x86_64::*;
        let same = |n: usize| {
            let (a, b) = (a.as_ptr().add(at + n).cast(), b.as_ptr().add(at + n).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b))) as u32
        };
        !(same(0) | same(16) << 16)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        for n in (0..32).step_by(8) {
            let word = |of: &[u8]| {
                // SAFETY: by the contract 32 bytes can be read at `at`; `n` is at most 24.
                u64::from_le_bytes(unsafe { of.as_ptr().add(at + n).cast::<[u8; 8]>().read() })
            };
            let differing = word(a) ^ word(b);
            if differing != 0 {
                return 1 << (n + differing.trailing_zeros() as usize / 8);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_set_bit_is_the_first_differing_byte() {
        let a: Vec<u8> = (0..40).map(|n| n * 3).collect();
        for at in (0..=8).step_by(if cfg!(miri) { 4 } else { 1 }) {
            for first in (0..=32).step_by(if cfg!(miri) { 5 } else { 1 }) {
                for second in (first..=32).step_by(if cfg!(miri) { 9 } else { 1 }) {
                    let mut b = a.clone();
                    for n in [first, second] {
                        if let Some(byte) = b[at..at + 32].get_mut(n) {
                            *byte ^= 0x80;
                        }
                    }
                    if first == second && first < 32 {
                        b[at + first] ^= 1;
                    }
                    // SAFETY: 8 + 32 <= 40.
                    let differing = unsafe { difference_mask32(&a, &b, at) };
                    assert_eq!(differing.trailing_zeros(), first as u32, "{at} {first} {second}");
                }
            }
        }
    }
}
