//! Which instruction-set level the kernels of this crate use, found out once.
//!
//! This file owns the detection and the `BLOSC_SIMD` override; it never runs a kernel.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction-set level for which there are kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Level {
    /// Portable code; always there.
    Generic = 1,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and VBMI, and GFNI (and AVX2).
    Avx512,
    /// Little-endian AArch64 with NEON.
    Neon,
}

impl Level {
    /// Every level, the least preferred first.
    pub const ALL: [Level; 4] = [Level::Generic, Level::Avx2, Level::Avx512, Level::Neon];

    /// The name that the environment variable `BLOSC_SIMD` gives the level.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Generic => "generic",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
        }
    }

    /// Whether this machine can run the kernels of the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Generic => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("gfni")
            }
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[allow(unreachable_patterns, reason = "which levels are left depends on the target")]
            _ => false,
        }
    }
}

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
pub fn prefetch_to_write(place: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(place.cast()) };
    }
    let _ = place;
}

/// The levels that this machine can run, the least preferred first.
pub fn available() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// The level in use: the best available one, or the one that `BLOSC_SIMD` names. The answer is found at the
/// first call and stays the same; it is always an available level.
#[inline]
pub fn level() -> Level {
    match CHOSEN.load(Ordering::Relaxed) {
        GENERIC => Level::Generic,
        AVX2 => Level::Avx2,
        AVX512 => Level::Avx512,
        NEON => Level::Neon,
        _ => detect(),
    }
}

const GENERIC: u8 = Level::Generic as u8;
const AVX2: u8 = Level::Avx2 as u8;
const AVX512: u8 = Level::Avx512 as u8;
const NEON: u8 = Level::Neon as u8;

/// The level in use as its number, 0 before the first call of [`level`].
static CHOSEN: AtomicU8 = AtomicU8::new(0);

#[cold]
fn detect() -> Level {
    let wanted = std::env::var("BLOSC_SIMD");
    let level = choose(wanted.as_deref().unwrap_or_default());
    CHOSEN.store(level as u8, Ordering::Relaxed);
    level
}

/// The available level of the name `wanted`, else the best available one.
fn choose(wanted: &str) -> Level {
    available().find(|level| level.name() == wanted).or_else(|| available().last()).unwrap_or(Level::Generic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_level_is_used_only_where_it_is_available() {
        let best = choose("");
        assert_eq!(Some(best), available().last());
        assert_eq!(choose("generic"), Level::Generic);
        assert_eq!(choose("no such level"), best);
        for level in Level::ALL {
            let expected = if level.is_available() { level } else { best };
            assert_eq!(choose(level.name()), expected);
        }
    }

    #[test]
    fn the_answer_is_available_and_stays_the_same() {
        let first = level();
        assert!(first.is_available());
        assert_eq!(level(), first);
        assert!(available().any(|level| level == first));
    }
}
