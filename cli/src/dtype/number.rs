//! The values of items that are numbers.

use super::scalar::{Kind, Scalar};
use super::scalar_text::half_to_single;
use std::cmp::Ordering;

/// The value of an item.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Integer(i128),
    /// Of half precision, in which NumPy computes.
    Half(f32),
    /// Of single precision, in which NumPy computes.
    Single(f32),
    Real(f64),
    Complex([f64; 2]),
}

impl Number {
    pub(super) fn parts(self) -> [f64; 2] {
        match self {
            Number::Integer(value) => [value as f64, 0.0],
            Number::Half(value) | Number::Single(value) => [value.into(), 0.0],
            Number::Real(value) => [value, 0.0],
            Number::Complex(parts) => parts,
        }
    }

    pub(super) fn is_nan(self) -> bool {
        self.parts().iter().any(|part| part.is_nan())
    }

    /// Returns the order of two numbers; `None` for complex numbers and NaN.
    pub(super) fn order(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => Some(a.cmp(&b)),
            (Number::Complex(_), _) | (_, Number::Complex(_)) => None,
            (a, b) => a.parts()[0].partial_cmp(&b.parts()[0]),
        }
    }
}

impl Scalar {
    /// Returns the value of a number; `None` for other items, and for long doubles, whose format depends on the machine.
    pub(super) fn number(&self, item: &[u8]) -> Option<Number> {
        if !self.has_number() {
            return None;
        }
        Some(match self.kind {
            Kind::Int => Number::Integer(self.int(item).into()),
            Kind::Bool | Kind::Uint => Number::Integer(u64::from_le_bytes(self.widened(item)).into()),
            Kind::Complex => {
                let (real, imaginary) = item.split_at(item.len() / 2);
                Number::Complex([self.real(real).parts()[0], self.real(imaginary).parts()[0]])
            }
            _ => self.real(item),
        })
    }

    fn real(&self, bytes: &[u8]) -> Number {
        match bytes.len() {
            2 => Number::Half(half_to_single(u16::from_le_bytes(self.little_endian(bytes)))),
            4 => Number::Single(f32::from_le_bytes(self.little_endian(bytes))),
            _ => Number::Real(f64::from_le_bytes(self.little_endian(bytes))),
        }
    }

    /// Returns the value of a number, or of a time; `None` for other items, and for `NaT`.
    pub(super) fn ordered_value(&self, item: &[u8]) -> Option<Number> {
        match self.kind {
            Kind::Datetime | Kind::Timedelta => Some(self.int(item))
                .filter(|&number| number != i64::MIN)
                .map(|number| Number::Integer(number.into())),
            _ => self.number(item),
        }
    }
}
