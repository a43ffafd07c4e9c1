//! The loop over symbols, compiled for each instruction set.
//!
//! Owns the choice of the instruction set. Decodes nothing.

use crate::codec::match_copy::BaselineCopy;

use super::bit_reader::BitReader;
use super::fast::{self, BlockTables, StopReason};

/// [`fast::decode_symbols`], on processors with shifts by any register (BMI2) and 32-byte moves (AVX2) by these.
pub(super) fn symbols(
    codes: BlockTables,
    bits: &mut BitReader,
    dest: &mut [u8],
    out: usize,
) -> Option<(usize, StopReason)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
        // SAFETY: the two features have just been detected.
        return unsafe { symbols_bmi2(codes, bits, dest, out) };
    }
    fast::decode_symbols::<BaselineCopy>(codes, bits, dest, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2,avx2")]
fn symbols_bmi2(
    codes: BlockTables,
    bits: &mut BitReader,
    dest: &mut [u8],
    out: usize,
) -> Option<(usize, StopReason)> {
    fast::decode_symbols::<crate::codec::match_copy::Avx2Copy>(codes, bits, dest, out)
}
