//! The instruction-set level of the kernels of this crate, detected once.
//!
//! Owns the detection and the `BLOSC_SIMD` override. Kernels are run by other modules.

use std::sync::atomic::{AtomicU8, Ordering};

/// Proof that the machine was found to have the instructions of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectionProof(());

/// An instruction-set level for which there are kernels. Outside this file, a value exists only of a level that this
/// machine has: [`available_levels`] and [`level()`] return them, and other files cannot make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// Portable code; every machine has it.
    Generic,
    /// x86-64 with AVX2.
    Avx2(DetectionProof),
    /// x86-64 with AVX-512 F, BW, VL and VBMI, and GFNI (and AVX2).
    Avx512(DetectionProof),
    /// Little-endian AArch64 with NEON.
    Neon(DetectionProof),
}

impl SimdLevel {
    /// Every level, the least preferred first. The list must stay private: its values do not prove detection.
    const ALL: [SimdLevel; 4] = [
        SimdLevel::Generic,
        SimdLevel::Avx2(DetectionProof(())),
        SimdLevel::Avx512(DetectionProof(())),
        SimdLevel::Neon(DetectionProof(())),
    ];

    /// Returns the name that the environment variable `BLOSC_SIMD` gives the level.
    pub const fn name(self) -> &'static str {
        match self {
            SimdLevel::Generic => "generic",
            SimdLevel::Avx2(_) => "avx2",
            SimdLevel::Avx512(_) => "avx512",
            SimdLevel::Neon(_) => "neon",
        }
    }

    /// Returns whether the level includes AVX2.
    #[inline]
    pub const fn has_avx2(self) -> bool {
        matches!(self, SimdLevel::Avx2(_) | SimdLevel::Avx512(_))
    }

    /// Returns whether this machine has the level.
    fn is_detected(self) -> bool {
        match self {
            SimdLevel::Generic => true,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2(_) => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512(_) => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("gfni")
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            SimdLevel::Neon(_) => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns, reason = "which levels are left depends on the target")]
            _ => false,
        }
    }

    /// Returns the number of the level in [`CHOSEN_LEVEL`].
    const fn number(self) -> u8 {
        match self {
            SimdLevel::Generic => GENERIC,
            SimdLevel::Avx2(_) => AVX2,
            SimdLevel::Avx512(_) => AVX512,
            SimdLevel::Neon(_) => NEON,
        }
    }
}

/// Defines a function that runs its body compiled for AVX2 where the machine has it: the compiler vectorises the loops of
/// a body for the target features of the function that contains them.
macro_rules! vectorised {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) $body:block) => {
        $(#[$attribute])*
        $visibility fn $name($($argument: $type),*) {
            #[inline(always)]
            fn portable($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($argument: $type),*) {
                portable($($argument),*);
            }

            #[cfg(target_arch = "x86_64")]
            if $crate::filter::cpu::level().has_avx2() {
                // SAFETY: the level proves that the machine has AVX2.
                return unsafe { avx2($($argument),*) };
            }
            portable($($argument),*);
        }
    };
}
pub(super) use vectorised;

/// Prefetches the cache line at `place`, which may be any address.
#[inline(always)]
pub fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    let _ = place;
}

/// Prefetches the cache line at `place`, which may be any address, for writing.
#[inline(always)]
pub fn prefetch_for_write(place: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(place.cast()) };
    }
    let _ = place;
}

/// The smallest length, in bytes, of an output that kernels prefetch for writing. An input and an output of this length
/// hardly fit into an L1 cache of 48 KiB. On Intel, stored chunks of 28 KiB are copied 1.4 times as fast, longer ones 1.08
/// times (`cargo bench --bench drawn -- --named`, `noise, stored`), and 64 KiB are unshuffled 1.1 to 1.2 times as fast
/// (`cargo bench --bench side_by_side -- --group shuffles`); copies of 16 KiB would take a tenth longer.
#[cfg(target_arch = "x86_64")]
pub(super) const MIN_PREFETCHED_LEN: usize = 22 << 10;

/// Prefetches `len` bytes of an output for writing: those from 1 KiB behind `place` on, which may be any address. With 256
/// bytes to 2 KiB, copies are equally fast.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn prefetch_output(place: *mut u8, len: usize) {
    const DISTANCE: usize = 1 << 10;
    const LINE: usize = 64;
    for line in (0..len).step_by(LINE) {
        prefetch_for_write(place.wrapping_add(DISTANCE + line));
    }
}

/// Returns the levels that this machine has, the least preferred first.
pub fn available_levels() -> impl Iterator<Item = SimdLevel> {
    SimdLevel::ALL.into_iter().filter(|level| level.is_detected())
}

/// Returns the level in use: the best one of the machine, or the one that `BLOSC_SIMD` names. It is chosen at the first
/// call and stays the same.
#[inline]
pub fn level() -> SimdLevel {
    // `detect` stores only the numbers of levels that the machine has.
    match CHOSEN_LEVEL.load(Ordering::Relaxed) {
        GENERIC => SimdLevel::Generic,
        AVX2 => SimdLevel::Avx2(DetectionProof(())),
        AVX512 => SimdLevel::Avx512(DetectionProof(())),
        NEON => SimdLevel::Neon(DetectionProof(())),
        _ => detect(),
    }
}

const GENERIC: u8 = 1;
const AVX2: u8 = 2;
const AVX512: u8 = 3;
const NEON: u8 = 4;

/// The level in use as its number, 0 before the first call of [`level`].
static CHOSEN_LEVEL: AtomicU8 = AtomicU8::new(0);

#[cold]
fn detect() -> SimdLevel {
    let wanted = std::env::var("BLOSC_SIMD");
    let level = choose(wanted.as_deref().unwrap_or_default());
    CHOSEN_LEVEL.store(level.number(), Ordering::Relaxed);
    level
}

/// Returns the available level of the name `wanted`, else the best available one.
fn choose(wanted: &str) -> SimdLevel {
    available_levels()
        .find(|level| level.name() == wanted)
        .or_else(|| available_levels().last())
        .unwrap_or(SimdLevel::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_level_is_used_only_where_it_is_available() {
        let best = choose("");
        assert_eq!(Some(best), available_levels().last());
        assert_eq!(choose("generic"), SimdLevel::Generic);
        assert_eq!(choose("no such level"), best);
        for level in SimdLevel::ALL {
            let expected = if level.is_detected() { level } else { best };
            assert_eq!(choose(level.name()), expected);
        }
    }

    #[test]
    fn the_level_in_use_is_detected_and_stays_the_same() {
        let first = level();
        assert!(first.is_detected());
        assert_eq!(level(), first);
        assert!(available_levels().any(|level| level == first));
    }
}
