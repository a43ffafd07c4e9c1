//! Sizes in bytes, as arguments and as text.

use std::fmt;
use std::str::FromStr;

/// A size in bytes, written with an optional unit: `4096`, `64K`, `4M`, `1G`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let invalid = || format!("size {text:?}, expected for example 4096, 64K, 4M or 1G");
        let number = text.trim_end_matches(['i', 'B']);
        let (digits, shift) = match number.chars().last() {
            Some('k' | 'K') => (&number[..number.len() - 1], 10),
            Some('m' | 'M') => (&number[..number.len() - 1], 20),
            Some('g' | 'G') => (&number[..number.len() - 1], 30),
            _ => (number, 0),
        };
        let value: usize = digits.parse().map_err(|_| invalid())?;
        value.checked_mul(1 << shift).filter(|&size| size > 0).map(Size).ok_or_else(invalid)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_unit(self.0 as u64))
    }
}

/// Returns a number of bytes with a unit, for example `1.5 MiB`.
pub(crate) fn with_unit(nbytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = nbytes as f64;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{nbytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Returns a number of things, for example `1 byte` or `2 bytes`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written_with_units() {
        for (text, size) in [("1", 1), ("64K", 65536), ("4M", 4 << 20), ("4MiB", 4 << 20), ("1g", 1 << 30)] {
            assert_eq!(text.parse(), Ok(Size(size)));
        }
        for text in ["", "K", "-1", "0", "1.5M", "99999999999G", "1T"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        for (size, text) in [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), ((1 << 20) - 1, "1.0 MiB")] {
            assert_eq!(with_unit(size), text);
        }
    }
}
