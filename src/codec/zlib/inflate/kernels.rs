//! The loops over symbols, compiled for each instruction set.
//!
//! Owns the choice of the instruction set. Decodes nothing.

use crate::codec::match_copy::PortableCopy;

use super::bit_reader::BitReader;
use super::fast::StopReason;
use super::lanes::{Lanes, Outcome};
use super::symbol::BlockTables;
use super::{eight_bit_codes, fast};

/// Defines `$name`, which evaluates `$fast` on processors with shifts by any register (BMI2) and 32-byte moves (AVX2),
/// and `$portable` on others.
macro_rules! kernel {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $portable:expr, $fast:expr) => {
        $(#[$doc])*
        pub(super) fn $name($($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "bmi2,avx2")]
                fn with_bmi2($($arg: $type),*) -> $result {
                    $fast
                }
                if is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("avx2") {
                    // SAFETY: the two features have just been detected.
                    return unsafe { with_bmi2($($arg),*) };
                }
            }
            $portable
        }
    };
}

#[cfg(target_arch = "x86_64")]
type Avx2Periods = crate::codec::match_copy::Avx2Copy;

kernel! {
    /// [`fast::decode_symbols`] without a limit on literals in a row.
    fn symbols(codes: BlockTables, bits: &mut BitReader, dest: &mut [u8], out: usize) -> Option<(usize, StopReason)> =
        fast::decode_symbols::<PortableCopy, false, false>(codes, bits, dest, out, 0),
        fast::decode_symbols::<Avx2Periods, false, false>(codes, bits, dest, out, 0)
}

kernel! {
    /// The same, for blocks in which near and far matches alternate.
    fn near_symbols(codes: BlockTables, bits: &mut BitReader, dest: &mut [u8], out: usize) -> Option<(usize, StopReason)> =
        fast::decode_symbols::<PortableCopy, false, true>(codes, bits, dest, out, 0),
        fast::decode_symbols::<Avx2Periods, false, true>(codes, bits, dest, out, 0)
}

kernel! {
    /// [`fast::decode_symbols`] that stops at runs of literals.
    fn symbols_to_run(codes: BlockTables, bits: &mut BitReader, dest: &mut [u8], out: usize, run: usize) -> Option<(usize, StopReason)> =
        fast::decode_symbols::<PortableCopy, true, false>(codes, bits, dest, out, run),
        fast::decode_symbols::<Avx2Periods, true, false>(codes, bits, dest, out, run)
}

kernel! {
    /// [`Lanes::decode_symbols`].
    fn lanes(
        lanes: &mut Lanes, codes: BlockTables, bits: &mut BitReader, dest: &mut [u8], out: usize
    ) -> (usize, Outcome) =
        lanes.decode_symbols::<PortableCopy>(codes, bits, dest, out),
        lanes.decode_symbols::<Avx2Periods>(codes, bits, dest, out)
}

kernel! {
    /// [`eight_bit_codes::decode_symbols`].
    fn flat(codes: BlockTables, bits: &mut BitReader, dest: &mut [u8], out: usize) -> usize =
        eight_bit_codes::decode_symbols::<PortableCopy>(codes, bits, dest, out),
        eight_bit_codes::decode_symbols::<Avx2Periods>(codes, bits, dest, out)
}
