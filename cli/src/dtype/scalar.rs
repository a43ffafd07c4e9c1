//! Types of items without fields.

use std::fmt::{self, Display};
use std::str::FromStr;

/// The largest size of an item in bytes: that of a file of Blosc2.
pub(super) const MAX_SIZE: usize = i32::MAX as usize;
/// Size of a character of a `U` item in bytes.
pub(super) const CHARACTER_SIZE: usize = 4;

/// The meaning of the bytes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    /// Text of single bytes, padded with zeros.
    Bytes,
    /// Text in UTF-32, padded with zeros.
    Unicode,
    Void,
    /// A point in time or a duration: an integer.
    Datetime,
    Timedelta,
}

/// The letters of the kinds.
const KINDS: [(char, Kind); 10] = [
    ('b', Kind::Bool),
    ('i', Kind::Int),
    ('u', Kind::Uint),
    ('f', Kind::Float),
    ('c', Kind::Complex),
    ('S', Kind::Bytes),
    ('U', Kind::Unicode),
    ('V', Kind::Void),
    ('M', Kind::Datetime),
    ('m', Kind::Timedelta),
];

/// The names of types, and the same types in letters.
const NAMES: [(&str, &str); 15] = [
    ("?", "b1"),
    ("bool", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
];

/// A type of items without fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub kind: Kind,
    /// Whether numbers and characters of more than one byte begin with the most significant byte.
    pub is_big_endian: bool,
    /// Size of an item in bytes, at least 1.
    pub size: usize,
    /// The unit of a time with its brackets, for example `[ns]`; empty for other kinds.
    pub unit: String,
}

impl FromStr for Scalar {
    type Err = String;

    /// Reads for example `f4`, `>i2`, `|u1`, `float32` or `<M8[ns]`. Without a byte order it is that of the machine.
    fn from_str(text: &str) -> Result<Scalar, String> {
        let invalid = || format!("type {text:?}, expected for example f4, <i2, u1, float64 or S10");
        let native = cfg!(target_endian = "big");
        let (is_big_endian, rest) = match text.chars().next() {
            Some('<') => (false, &text[1..]),
            Some('>') => (true, &text[1..]),
            Some('|' | '=') => (native, &text[1..]),
            _ => (native, text),
        };
        let rest = NAMES.iter().find(|(name, _)| *name == rest).map_or(rest, |(_, letters)| *letters);
        let letter = rest.chars().next().ok_or_else(invalid)?;
        let (_, kind) = KINDS.iter().find(|(known, _)| *known == letter).ok_or_else(invalid)?;
        let (number, unit) = rest[1..].split_at(rest[1..].find('[').unwrap_or(rest.len() - 1));
        if !number.bytes().all(|byte| byte.is_ascii_digit()) || !is_unit(*kind, unit) {
            return Err(invalid());
        }
        let count: usize = number.parse().map_err(|_| invalid())?;
        let size = match kind {
            Kind::Unicode => count.checked_mul(CHARACTER_SIZE).ok_or_else(invalid)?,
            _ => count,
        };
        if !is_size(*kind, size) {
            return Err(invalid());
        }
        let has_order = size > 1 && !matches!(kind, Kind::Bytes | Kind::Void);
        Ok(Scalar { kind: *kind, is_big_endian: is_big_endian && has_order, size, unit: unit.to_owned() })
    }
}

/// Returns whether `unit` is empty, or the unit of a time in brackets.
fn is_unit(kind: Kind, unit: &str) -> bool {
    let Some(inner) = unit.strip_prefix('[').and_then(|unit| unit.strip_suffix(']')) else {
        return unit.is_empty();
    };
    let is_time = matches!(kind, Kind::Datetime | Kind::Timedelta);
    is_time && !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '/')
}

/// Returns whether NumPy has items of that kind and size in bytes.
fn is_size(kind: Kind, size: usize) -> bool {
    match kind {
        Kind::Bool => size == 1,
        Kind::Int | Kind::Uint => matches!(size, 1 | 2 | 4 | 8),
        // The long double of x86 has 12 or 16 bytes.
        Kind::Float => matches!(size, 2 | 4 | 8 | 12 | 16),
        Kind::Complex => matches!(size, 8 | 16 | 24 | 32),
        Kind::Datetime | Kind::Timedelta => size == 8,
        Kind::Bytes | Kind::Unicode | Kind::Void => (1..=MAX_SIZE).contains(&size),
    }
}

impl Display for Scalar {
    /// Writes the type as NumPy's `dtype.str`, for example `<f4` or `|u1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.kind {
            Kind::Bytes | Kind::Void => '|',
            _ if self.size == 1 => '|',
            _ if self.is_big_endian => '>',
            _ => '<',
        };
        let letter = KINDS.iter().find(|(_, kind)| *kind == self.kind).map_or('V', |(letter, _)| *letter);
        let count = if self.kind == Kind::Unicode { self.size / CHARACTER_SIZE } else { self.size };
        write!(f, "{order}{letter}{count}{}", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_and_written_in_the_notation_of_numpy() {
        let cases = [
            ("<f4", "<f4", 4),
            (">i2", ">i2", 2),
            ("|u1", "|u1", 1),
            (">u1", "|u1", 1),
            ("?", "|b1", 1),
            ("bool", "|b1", 1),
            (">float32", ">f4", 4),
            (">complex128", ">c16", 16),
            ("<S5", "|S5", 5),
            (">U3", ">U3", 12),
            ("V7", "|V7", 7),
            ("<M8[ns]", "<M8[ns]", 8),
            (">m8[25us]", ">m8[25us]", 8),
            ("<m8", "<m8", 8),
        ];
        for (given, written, size) in cases {
            let dtype: Scalar = given.parse().unwrap();
            assert_eq!((dtype.to_string().as_str(), dtype.size), (written, size), "{given}");
            assert_eq!(written.parse(), Ok(dtype));
        }
        let native = if cfg!(target_endian = "big") { ">i8" } else { "<i8" };
        for given in ["i8", "=i8", "|i8", "int64"] {
            assert_eq!(given.parse::<Scalar>().unwrap().to_string(), native, "{given}");
        }
    }

    #[test]
    fn other_types_are_errors() {
        let invalid = [
            "",
            "<",
            "f",
            "f3",
            "i16",
            "b2",
            "S0",
            "S",
            "U0",
            "f+4",
            "f4[ns]",
            "M8[",
            "M8[]",
            "M4[s]",
            "|O",
            "<<f4",
            "[('a', '<f4')]",
            "é4",
            "S99999999999999999999",
            "U4611686018427387905",
            "S2147483648",
        ];
        for text in invalid {
            let error = text.parse::<Scalar>().unwrap_err();
            assert!(error.contains("expected for example f4"), "{error}");
        }
    }
}
