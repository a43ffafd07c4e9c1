//! The transform of a cell's integers, one axis after the other (`codecs.md` 10.4).
//!
//! Lines along the slower axes are adjacent in memory, and the compiler vectorises them.

use super::integer::Integer;

/// The number of values of a line.
const SIDE: usize = 4;

/// Transforms a cell.
#[inline(always)]
pub(super) fn forward<I: Integer, const N: usize>(cell: &mut [I; N]) {
    transform_axis::<I, 1>(cell, forward_lift);
    if N > 4 {
        transform_axis::<I, 4>(cell, forward_lift);
    }
    if N > 16 {
        transform_axis::<I, 16>(cell, forward_lift);
    }
    if N > 64 {
        transform_axis::<I, 64>(cell, forward_lift);
    }
}

/// Undoes [`forward`].
#[inline(always)]
pub(super) fn inverse<I: Integer, const N: usize>(cell: &mut [I; N]) {
    if N > 64 {
        transform_axis::<I, 64>(cell, inverse_lift);
    }
    if N > 16 {
        transform_axis::<I, 16>(cell, inverse_lift);
    }
    if N > 4 {
        transform_axis::<I, 4>(cell, inverse_lift);
    }
    transform_axis::<I, 1>(cell, inverse_lift);
}

/// Transforms all lines of a cell along the axis whose neighbours are `STRIDE` apart.
#[inline(always)]
fn transform_axis<I: Integer, const STRIDE: usize>(cell: &mut [I], line: impl Fn([I; SIDE]) -> [I; SIDE]) {
    for lines in cell.chunks_exact_mut(SIDE * STRIDE) {
        for at in 0..STRIDE {
            let places = [at, at + STRIDE, at + 2 * STRIDE, at + 3 * STRIDE];
            let values = line(places.map(|place| lines[place]));
            places.into_iter().zip(values).for_each(|(place, value)| lines[place] = value);
        }
    }
}

#[inline(always)]
fn forward_lift<I: Integer>([mut x, mut y, mut z, mut w]: [I; SIDE]) -> [I; SIDE] {
    x = x.plus(w).half();
    w = w.minus(x);
    z = z.plus(y).half();
    y = y.minus(z);
    x = x.plus(z).half();
    z = z.minus(x);
    w = w.plus(y).half();
    y = y.minus(w);
    w = w.plus(y.half());
    y = y.minus(w.half());
    [x, y, z, w]
}

#[inline(always)]
fn inverse_lift<I: Integer>([mut x, mut y, mut z, mut w]: [I; SIDE]) -> [I; SIDE] {
    y = y.plus(w.half());
    w = w.minus(y.half());
    y = y.plus(w);
    w = w.twice().minus(y);
    z = z.plus(x);
    x = x.twice().minus(z);
    y = y.plus(z);
    z = z.twice().minus(y);
    w = w.plus(x);
    x = x.twice().minus(w);
    [x, y, z, w]
}
