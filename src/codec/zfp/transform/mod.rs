//! The transform of a cell's integers, one axis after the other (`codecs.md` 10.4).
//!
//! Lines along the slower axes are adjacent in memory, and the compiler vectorises them. For lines along the fastest
//! axis of a cell of 32-bit numbers there is a kernel.

#[cfg(target_arch = "x86_64")]
mod sse2;

use super::integer::Integer;

/// The number of values of a line.
const SIDE: usize = 4;

/// Transforms a cell.
#[inline(always)]
pub(super) fn forward<I: TransformRows, const N: usize>(cell: &mut [I; N]) {
    transform_fastest_axis(cell, I::forward_lift_rows, forward_lift);
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
pub(super) fn inverse<I: TransformRows, const N: usize>(cell: &mut [I; N]) {
    if N > 64 {
        transform_axis::<I, 64>(cell, inverse_lift);
    }
    if N > 16 {
        transform_axis::<I, 16>(cell, inverse_lift);
    }
    if N > 4 {
        transform_axis::<I, 4>(cell, inverse_lift);
    }
    transform_fastest_axis(cell, I::inverse_lift_rows, inverse_lift);
}

/// Transforms all lines of a cell along the fastest axis, four at a time if there are four or more.
#[inline(always)]
fn transform_fastest_axis<I: Integer>(
    cell: &mut [I],
    rows: impl Fn(&mut [I; SIDE * SIDE]),
    line: impl Fn([I; SIDE]) -> [I; SIDE],
) {
    let (some, rest) = cell.as_chunks_mut();
    some.iter_mut().for_each(rows);
    transform_axis::<I, 1>(rest, line);
}

/// The transform of four neighbouring lines along the fastest axis.
pub(super) trait TransformRows: Integer {
    /// Transforms the lines.
    fn forward_lift_rows(cell: &mut [Self; SIDE * SIDE]);

    /// Undoes [`forward_lift_rows`](Self::forward_lift_rows).
    fn inverse_lift_rows(cell: &mut [Self; SIDE * SIDE]);
}

impl TransformRows for i64 {
    #[inline(always)]
    fn forward_lift_rows(cell: &mut [i64; SIDE * SIDE]) {
        transform_axis::<i64, 1>(cell, forward_lift);
    }

    #[inline(always)]
    fn inverse_lift_rows(cell: &mut [i64; SIDE * SIDE]) {
        transform_axis::<i64, 1>(cell, inverse_lift);
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl TransformRows for i32 {
    #[inline(always)]
    fn forward_lift_rows(cell: &mut [i32; SIDE * SIDE]) {
        transform_axis::<i32, 1>(cell, forward_lift);
    }

    #[inline(always)]
    fn inverse_lift_rows(cell: &mut [i32; SIDE * SIDE]) {
        transform_axis::<i32, 1>(cell, inverse_lift);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_kernel_equals_the_line_transform() {
        let mut state = 1u64;
        for _ in 0..if cfg!(miri) { 20 } else { 1000 } {
            let numbers: [i32; 16] = std::array::from_fn(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 32) as i32 >> (state % 31)
            });
            let (mut lines, mut rows) = (numbers, numbers);
            transform_axis::<i32, 1>(&mut lines, forward_lift);
            i32::forward_lift_rows(&mut rows);
            assert_eq!(lines, rows, "{numbers:?} forwards");
            let (mut lines, mut rows) = (numbers, numbers);
            transform_axis::<i32, 1>(&mut lines, inverse_lift);
            i32::inverse_lift_rows(&mut rows);
            assert_eq!(lines, rows, "{numbers:?} backwards");
        }
    }
}
