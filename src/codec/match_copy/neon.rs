//! Match copies with NEON: periods of up to 16 bytes are repeated in two registers.

use super::generic::MatchCopy;
use super::periods::{PERIOD_SHUFFLES, WHOLE_PERIODS_LEN};
use std::arch::aarch64::*;

/// The implementation with NEON, which the target has: repeats a period in two registers.
pub(in crate::codec) struct NeonCopy;

impl MatchCopy for NeonCopy {
    #[inline(always)]
    unsafe fn repeat_period(to: *mut u8, distance: usize, length: usize) {
        // SAFETY: the target has NEON. By the contract, 16 bytes from `distance` before `to` and OVERSHOOT bytes from each `at` <
        // `length` belong to the buffer.
        unsafe {
            let from = to.sub(distance);
            // A load of one byte can be forwarded from any store.
            let first = if distance == 1 { vdupq_n_u8(*from) } else { vld1q_u8(from) };
            let (low, high) = repeat(first, distance);
            let step = usize::from(WHOLE_PERIODS_LEN[distance & 15]);
            let mut at = 0;
            while at < length {
                vst1q_u8(to.add(at), low);
                vst1q_u8(to.add(at + 16), high);
                at += step;
            }
        }
    }

    #[inline(always)]
    unsafe fn repeat_period_32(to: *mut u8, distance: usize) {
        // SAFETY: the target has NEON; by the contract 8 bytes from `distance` before `to` and 32 from it belong to the buffer.
        unsafe {
            let from = to.sub(distance);
            let first = if distance == 1 { vdup_n_u8(*from) } else { vld1_u8(from) };
            let (low, high) = repeat(vcombine_u8(first, first), distance);
            vst1q_u8(to, low);
            vst1q_u8(to.add(16), high);
        }
    }
}

/// Returns 32 bytes that repeat the first `distance` ones of `first`.
///
/// # Safety
/// The target has NEON; `distance` is 1 to 15.
#[inline(always)]
unsafe fn repeat(first: uint8x16_t, distance: usize) -> (uint8x16_t, uint8x16_t) {
    let order = PERIOD_SHUFFLES[distance & 15].as_ptr();
    // SAFETY: NEON by the caller; an entry has 32 bytes.
    unsafe { (vqtbl1q_u8(first, vld1q_u8(order)), vqtbl1q_u8(first, vld1q_u8(order.add(16)))) }
}
