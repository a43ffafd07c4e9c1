//! The coders are compiled twice on x86-64: for every machine, and for those with AVX2 and the bit manipulation
//! instructions BMI1, BMI2 and LZCNT. The source code of both is the same.
//!
//! Owns the choice between the two.

#[cfg(target_arch = "x86_64")]
use crate::filter::cpu;

/// Returns whether the machine has the instructions of the second form, and `BLOSC_SIMD` does not exclude it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_avx2() -> bool {
    cpu::level().has_avx2()
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
}

/// `fn name<[generics], [their names]>(arguments) -> result = inner`: defines the function `name`, which calls
/// `inner` compiled for either form. `inner` has to be `#[inline(always)]`.
macro_rules! dispatch_simd {
    (
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident<[$($generics:tt)*], [$($names:tt)*]>($($argument:ident: $type:ty),* $(,)?)
            -> $result:ty = $inner:ident
    ) => {
        $(#[$doc])*
        $visibility fn $name<$($generics)*>($($argument: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
                fn avx2<$($generics)*>($($argument: $type),*) -> $result {
                    $inner::<$($names)*>($($argument),*)
                }
                if $crate::codec::zfp::simd_dispatch::has_avx2() {
                    // SAFETY: the machine has these instructions.
                    return unsafe { avx2::<$($names)*>($($argument),*) };
                }
            }
            #[inline(never)]
            fn plain<$($generics)*>($($argument: $type),*) -> $result {
                $inner::<$($names)*>($($argument),*)
            }
            plain::<$($names)*>($($argument),*)
        }
    };
}
pub(super) use dispatch_simd;
