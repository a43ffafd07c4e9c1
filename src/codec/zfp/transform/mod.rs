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
pub(super) fn forward<I: Rows, const N: usize>(cell: &mut [I; N]) {
    along_fastest(cell, I::lift_rows, lift);
    if N > 4 {
        along::<I, 4>(cell, lift);
    }
    if N > 16 {
        along::<I, 16>(cell, lift);
    }
    if N > 64 {
        along::<I, 64>(cell, lift);
    }
}

/// Undoes [`forward`].
#[inline(always)]
pub(super) fn inverse<I: Rows, const N: usize>(cell: &mut [I; N]) {
    if N > 64 {
        along::<I, 64>(cell, lower);
    }
    if N > 16 {
        along::<I, 16>(cell, lower);
    }
    if N > 4 {
        along::<I, 4>(cell, lower);
    }
    along_fastest(cell, I::lower_rows, lower);
}

/// Transforms all lines of a cell along the fastest axis, four at a time if there are four or more.
#[inline(always)]
fn along_fastest<I: Integer>(
    cell: &mut [I],
    rows: impl Fn(&mut [I; SIDE * SIDE]),
    line: impl Fn([I; SIDE]) -> [I; SIDE],
) {
    let (some, rest) = cell.as_chunks_mut();
    some.iter_mut().for_each(rows);
    along::<I, 1>(rest, line);
}

/// The transform of four neighbouring lines along the fastest axis.
pub(super) trait Rows: Integer {
    /// Transforms the lines.
    fn lift_rows(cell: &mut [Self; SIDE * SIDE]);

    /// Undoes [`lift_rows`](Self::lift_rows).
    fn lower_rows(cell: &mut [Self; SIDE * SIDE]);
}

impl Rows for i64 {
    #[inline(always)]
    fn lift_rows(cell: &mut [i64; SIDE * SIDE]) {
        along::<i64, 1>(cell, lift);
    }

    #[inline(always)]
    fn lower_rows(cell: &mut [i64; SIDE * SIDE]) {
        along::<i64, 1>(cell, lower);
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Rows for i32 {
    #[inline(always)]
    fn lift_rows(cell: &mut [i32; SIDE * SIDE]) {
        along::<i32, 1>(cell, lift);
    }

    #[inline(always)]
    fn lower_rows(cell: &mut [i32; SIDE * SIDE]) {
        along::<i32, 1>(cell, lower);
    }
}

/// Transforms all lines of a cell along the axis whose neighbours are `STRIDE` apart.
#[inline(always)]
fn along<I: Integer, const STRIDE: usize>(cell: &mut [I], line: impl Fn([I; SIDE]) -> [I; SIDE]) {
    for lines in cell.chunks_exact_mut(SIDE * STRIDE) {
        for at in 0..STRIDE {
            let places = [at, at + STRIDE, at + 2 * STRIDE, at + 3 * STRIDE];
            let values = line(places.map(|place| lines[place]));
            places.into_iter().zip(values).for_each(|(place, value)| lines[place] = value);
        }
    }
}

#[inline(always)]
fn lift<I: Integer>([mut x, mut y, mut z, mut w]: [I; SIDE]) -> [I; SIDE] {
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
fn lower<I: Integer>([mut x, mut y, mut z, mut w]: [I; SIDE]) -> [I; SIDE] {
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
    fn rows_are_transformed_like_lines() {
        let mut state = 1u64;
        for _ in 0..if cfg!(miri) { 20 } else { 1000 } {
            let numbers: [i32; 16] = std::array::from_fn(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 32) as i32 >> (state % 31)
            });
            let (mut lines, mut rows) = (numbers, numbers);
            along::<i32, 1>(&mut lines, lift);
            i32::lift_rows(&mut rows);
            assert_eq!(lines, rows, "{numbers:?} forwards");
            let (mut lines, mut rows) = (numbers, numbers);
            along::<i32, 1>(&mut lines, lower);
            i32::lower_rows(&mut rows);
            assert_eq!(lines, rows, "{numbers:?} backwards");
        }
    }
}
