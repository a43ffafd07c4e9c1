//! Transforms four lines along the fastest axis at once: transposed, they are the lanes of four vectors.

use std::arch::x86_64::*;

use super::{SIDE, TransformRows};

/// Four values of each of four lines, or their transpose.
type Vectors = [__m128i; SIDE];

impl TransformRows for i32 {
    #[inline(always)]
    fn forward_lift_rows(cell: &mut [i32; SIDE * SIDE]) {
        // SAFETY: every x86-64 machine has SSE2.
        unsafe { transform_rows(cell, true) }
    }

    #[inline(always)]
    fn inverse_lift_rows(cell: &mut [i32; SIDE * SIDE]) {
        // SAFETY: every x86-64 machine has SSE2.
        unsafe { transform_rows(cell, false) }
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn transform_rows(cell: &mut [i32; SIDE * SIDE], is_forward: bool) {
    let lines = transpose(to_vectors(*cell));
    *cell = from_vectors(transpose(if is_forward { forward_lift(lines) } else { inverse_lift(lines) }));
}

#[inline(always)]
fn to_vectors(cell: [i32; SIDE * SIDE]) -> Vectors {
    // SAFETY: both are 64 bytes of plain numbers.
    unsafe { std::mem::transmute(cell) }
}

#[inline(always)]
fn from_vectors(vectors: Vectors) -> [i32; SIDE * SIDE] {
    // SAFETY: both are 64 bytes of plain numbers.
    unsafe { std::mem::transmute(vectors) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn transpose([a, b, c, d]: Vectors) -> Vectors {
    let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(ab_low, cd_low),
        _mm_unpackhi_epi64(ab_low, cd_low),
        _mm_unpacklo_epi64(ab_high, cd_high),
        _mm_unpackhi_epi64(ab_high, cd_high),
    ]
}

#[inline]
#[target_feature(enable = "sse2")]
fn plus(a: __m128i, b: __m128i) -> __m128i {
    _mm_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
fn minus(a: __m128i, b: __m128i) -> __m128i {
    _mm_sub_epi32(a, b)
}

#[inline]
#[target_feature(enable = "sse2")]
fn half(a: __m128i) -> __m128i {
    _mm_srai_epi32::<1>(a)
}

#[inline]
#[target_feature(enable = "sse2")]
fn forward_lift([mut x, mut y, mut z, mut w]: Vectors) -> Vectors {
    x = half(plus(x, w));
    w = minus(w, x);
    z = half(plus(z, y));
    y = minus(y, z);
    x = half(plus(x, z));
    z = minus(z, x);
    w = half(plus(w, y));
    y = minus(y, w);
    w = plus(w, half(y));
    y = minus(y, half(w));
    [x, y, z, w]
}

#[inline]
#[target_feature(enable = "sse2")]
fn inverse_lift([mut x, mut y, mut z, mut w]: Vectors) -> Vectors {
    y = plus(y, half(w));
    w = minus(w, half(y));
    y = plus(y, w);
    w = minus(plus(w, w), y);
    z = plus(z, x);
    x = minus(plus(x, x), z);
    y = plus(y, z);
    z = minus(plus(z, z), y);
    w = plus(w, x);
    x = minus(plus(x, x), w);
    [x, y, z, w]
}
