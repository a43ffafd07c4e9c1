//! Equality of items within a tolerance, as `numpy.isclose` defines it.

use super::number::Number;
use super::scalar_text::round_to_half;
use super::types::{Dtype, Field, ScalarType};

/// How far numbers may be apart. Those of a record are compared one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tolerance {
    /// A difference of this is allowed.
    pub absolute: f64,
    /// A difference of this part of the second number is allowed as well.
    pub relative: f64,
    /// Whether a NaN is equal to another NaN.
    pub equal_nan: bool,
}

impl Tolerance {
    /// Returns whether numbers are within the tolerance.
    fn are_close(self, a: Number, b: Number) -> bool {
        if a.is_nan() || b.is_nan() {
            return self.equal_nan && a.is_nan() && b.is_nan();
        }
        match (a, b) {
            // Exact, also above 2^53.
            (Number::Integer(a), Number::Integer(b)) => {
                a == b || a.abs_diff(b) as f64 <= self.absolute + self.relative * (b as f64).abs()
            }
            (Number::Half(a), Number::Half(b)) => {
                let [absolute, relative] =
                    [self.absolute, self.relative].map(|part| round_to_half(part as f32));
                let limit = round_to_half(absolute + round_to_half(relative * b.abs()));
                a == b || b.is_finite() && round_to_half(a - b).abs() <= limit
            }
            (Number::Single(a), Number::Single(b)) => {
                let limit = self.absolute as f32 + self.relative as f32 * b.abs();
                a == b || b.is_finite() && (a - b).abs() <= limit
            }
            (a, b) => {
                let ([a_re, a_im], [b_re, b_im]) = (a.parts(), b.parts());
                let limit = self.absolute + self.relative * b_re.hypot(b_im);
                (a_re, a_im) == (b_re, b_im)
                    || b_re.is_finite() && b_im.is_finite() && (a_re - b_re).hypot(a_im - b_im) <= limit
            }
        }
    }
}

impl Dtype {
    /// Returns whether items of this type and of `other` are numbers, or records of numbers of the same structure, that can
    /// be compared within a tolerance.
    pub(crate) fn is_comparable(&self, other: &Dtype) -> bool {
        match (self, other) {
            (Dtype::Scalar(ScalarType(a)), Dtype::Scalar(ScalarType(b))) => {
                a == b || (a.has_number() && b.has_number())
            }
            (Dtype::Record(a), Dtype::Record(b)) => {
                let are_alike = |(a, b): (&Field, &Field)| {
                    a.name == b.name && a.shape == b.shape && a.dtype.is_comparable(&b.dtype)
                };
                a.len() == b.len() && a.iter().zip(b).all(are_alike)
            }
            _ => false,
        }
    }

    /// Returns whether an item of this type and one of `other`, with which it [is comparable](Self::is_comparable), are
    /// equal: numbers within the tolerance, others with the same bytes.
    pub(crate) fn is_close(
        &self,
        item: &[u8],
        other: &Dtype,
        other_item: &[u8],
        tolerance: Tolerance,
    ) -> bool {
        match (self, other) {
            (Dtype::Scalar(ScalarType(a)), Dtype::Scalar(ScalarType(b))) => {
                match (a.number(item), b.number(other_item)) {
                    (Some(a), Some(b)) => tolerance.are_close(a, b),
                    _ => item == other_item,
                }
            }
            (Dtype::Record(a), Dtype::Record(b)) => {
                let (mut rest, mut other_rest) = (item, other_item);
                a.iter().zip(b).all(|(a, b)| {
                    let (bytes, other_bytes);
                    (bytes, rest) = rest.split_at(a.size);
                    (other_bytes, other_rest) = other_rest.split_at(b.size);
                    let mut pairs =
                        bytes.chunks_exact(a.dtype.size()).zip(other_bytes.chunks_exact(b.dtype.size()));
                    a.is_padding() || pairs.all(|(x, y)| a.dtype.is_close(x, &b.dtype, y, tolerance))
                })
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_close(dtypes: [&str; 2], items: [&[u8]; 2], tolerance: Tolerance) -> bool {
        let [a, b] = dtypes.map(|dtype| dtype.parse::<Dtype>().unwrap());
        assert!(a.is_comparable(&b));
        a.is_close(items[0], &b, items[1], tolerance)
    }

    #[test]
    fn numbers_are_close_as_in_numpy() {
        let close = |a: f64, b: f64, relative, absolute, equal_nan| {
            let tolerance = Tolerance { absolute, relative, equal_nan };
            are_close(["<f8", ">f8"], [&a.to_le_bytes(), &b.to_be_bytes()], tolerance)
        };
        assert!(close(1.0, 1.1, 0.1, 0.0, false));
        // The tolerance is relative to the second number.
        assert!(close(10.0, 11.0, 0.091, 0.0, false) && !close(11.0, 10.0, 0.091, 0.0, false));
        assert!(close(0.0, -0.5, 0.0, 0.5, false) && !close(0.0, 0.6, 0.0, 0.5, false));
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        assert!(!close(nan, nan, 1.0, 1.0, false) && close(nan, nan, 0.0, 0.0, true));
        assert!(!close(nan, 1.0, 1.0, infinity, true));
        assert!(close(infinity, infinity, 0.0, 0.0, false));
        assert!(!close(infinity, -infinity, 1.0, 1.0, false) && !close(1.0, infinity, 1.0, 1.0, false));
        assert!(close(0.0, -0.0, 0.0, 0.0, false));
    }

    #[test]
    fn types_of_numbers_are_compared_by_value() {
        let exact = Tolerance::default();
        assert!(are_close(["<i8", ">u2"], [&300i64.to_le_bytes(), &300u16.to_be_bytes()], exact));
        let big = 1i64 << 62;
        assert!(!are_close(["<i8", "<i8"], [&big.to_le_bytes(), &(big + 1).to_le_bytes()], exact));
        assert!(are_close(["?", "|u1"], [&[1], &[1]], exact));
        let complex: Vec<u8> = [3.0f32, 4.0].iter().flat_map(|part| part.to_le_bytes()).collect();
        let tolerance = Tolerance { absolute: 5.0, ..exact };
        assert!(are_close(["<c8", "<f4"], [&complex, &0f32.to_le_bytes()], tolerance));
        assert!(!are_close(["<c8", "<f4"], [&complex, &(-0.1f32).to_le_bytes()], tolerance));
        let record = "[('a', '<f4'), ('', '|V1'), ('b', '|i1', (2,)), ('s', '|S1')]";
        let item = |a: f32, rest: &[u8]| [&a.to_le_bytes(), rest].concat();
        let tolerance = Tolerance { absolute: 1.0, ..exact };
        let first = item(1.0, b"\x00\x01\x02x");
        assert!(are_close([record, record], [&first, &item(2.0, b"\x09\x01\x03x")], tolerance));
        assert!(!are_close([record, record], [&first, &item(2.0, b"\x00\x01\x04x")], tolerance));
        assert!(!are_close([record, record], [&first, &item(2.0, b"\x00\x01\x03y")], tolerance));
        for (a, b) in [("<f4", "|S4"), ("<f4", record), ("<M8[s]", "<M8[ns]"), ("<f16", "<f8")] {
            assert!(!a.parse::<Dtype>().unwrap().is_comparable(&b.parse().unwrap()), "{a} {b}");
        }
    }
}
