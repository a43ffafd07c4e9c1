//! The loops over symbols, compiled for each instruction set.
//!
//! Owns the choice of the instruction set. Decodes nothing.

use crate::codec::match_copy::Portable;

use super::bits::Bits;
use super::fast::Stop;
use super::lanes::{Lanes, Outcome};
use super::symbol::Codes;
use super::{fast, flat};

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
type Wide = crate::codec::match_copy::Avx2;

kernel! {
    /// [`fast::symbols`] without a limit on literals in a row.
    fn symbols(codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize) -> Option<(usize, Stop)> =
        fast::symbols::<Portable, false, false>(codes, bits, dest, out, 0),
        fast::symbols::<Wide, false, false>(codes, bits, dest, out, 0)
}

kernel! {
    /// The same, for blocks in which near and far matches alternate.
    fn near_symbols(codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize) -> Option<(usize, Stop)> =
        fast::symbols::<Portable, false, true>(codes, bits, dest, out, 0),
        fast::symbols::<Wide, false, true>(codes, bits, dest, out, 0)
}

kernel! {
    /// [`fast::symbols`] that stops at runs of literals.
    fn symbols_to_run(codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize, run: usize) -> Option<(usize, Stop)> =
        fast::symbols::<Portable, true, false>(codes, bits, dest, out, run),
        fast::symbols::<Wide, true, false>(codes, bits, dest, out, run)
}

kernel! {
    /// [`Lanes::symbols`].
    fn lanes(
        lanes: &mut Lanes, codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize
    ) -> (usize, Outcome) =
        lanes.symbols::<Portable>(codes, bits, dest, out),
        lanes.symbols::<Wide>(codes, bits, dest, out)
}

kernel! {
    /// [`flat::symbols`].
    fn flat(codes: Codes, bits: &mut Bits, dest: &mut [u8], out: usize) -> usize =
        flat::symbols::<Portable>(codes, bits, dest, out),
        flat::symbols::<Wide>(codes, bits, dest, out)
}
