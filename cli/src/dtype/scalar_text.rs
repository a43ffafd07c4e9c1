//! Items without fields as text.

use super::date;
use super::scalar::{CHARACTER_SIZE, Kind, Scalar};
use super::style::{Style, push_hex, push_json_text, quoted};
use std::fmt::{Display, LowerExp, Write};

impl Scalar {
    /// Returns whether items are numbers or truth values.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Bool | Kind::Int | Kind::Uint | Kind::Float | Kind::Complex)
    }

    /// Returns whether items have a value that is computed with: no long doubles, whose format depends on the machine.
    pub(super) fn has_number(&self) -> bool {
        self.is_number() && !(matches!(self.kind, Kind::Float | Kind::Complex) && self.is_long_double())
    }

    fn is_long_double(&self) -> bool {
        self.size > if self.kind == Kind::Complex { 16 } else { 8 }
    }

    /// Returns whether items have an order, or are complex numbers.
    pub(super) fn has_order(&self) -> bool {
        let is_time = matches!(self.kind, Kind::Datetime | Kind::Timedelta);
        is_time || self.has_number()
    }

    pub(super) fn is_complex(&self) -> bool {
        self.kind == Kind::Complex
    }

    /// Returns the number at the start of `bytes` in little-endian order; missing bytes are zeros.
    pub(super) fn little_endian<const N: usize>(&self, bytes: &[u8]) -> [u8; N] {
        let mut number = [0; N];
        for (to, from) in number.iter_mut().zip(bytes) {
            *to = *from;
        }
        if self.is_big_endian {
            number.reverse();
        }
        number
    }

    /// Appends an item as text.
    pub(super) fn push(&self, item: &[u8], style: Style, text: &mut String) {
        let is_json = style == Style::Json;
        match self.kind {
            Kind::Bool => text.push_str(match (item == [0], is_json) {
                (true, false) => "False",
                (false, false) => "True",
                (true, true) => "false",
                (false, true) => "true",
            }),
            Kind::Int => push(self.int(item), text),
            Kind::Uint => push(u64::from_le_bytes(self.widened(item)), text),
            Kind::Float => self.push_json_float(item, is_json, text),
            Kind::Complex if is_json && item.len() <= 16 => {
                let (real, imaginary) = item.split_at(item.len() / 2);
                text.push('[');
                self.push_json_float(real, true, text);
                text.push(',');
                self.push_json_float(imaginary, true, text);
                text.push(']');
            }
            Kind::Complex => quoted(is_json, text, |text| self.push_complex(item, text)),
            Kind::Bytes | Kind::Unicode if style != Style::Fields => {
                let content = self.string(item);
                if is_json { push_json_text(&content, text) } else { text.push_str(&content) }
            }
            Kind::Bytes => push_escaped(without_padding(item), text),
            Kind::Unicode => self.push_unicode(item, text),
            Kind::Datetime | Kind::Timedelta => self.push_time(item, is_json, text),
            Kind::Void => quoted(is_json, text, |text| push_hex(item, text)),
        }
    }

    /// Appends a point in time as ISO 8601, and a duration as its number of units.
    fn push_time(&self, item: &[u8], is_json: bool, text: &mut String) {
        let number = self.int(item);
        if number == i64::MIN {
            return text.push_str(if is_json { "null" } else { "NaT" });
        }
        let date = if self.kind == Kind::Datetime { date::to_text(number, &self.unit) } else { None };
        match date {
            Some(date) => quoted(is_json, text, |text| text.push_str(&date)),
            None => push(number, text),
        }
    }

    /// Returns the characters of an item, without padding. Bytes that are not UTF-8 are escaped.
    fn string(&self, item: &[u8]) -> String {
        if self.kind == Kind::Bytes {
            let bytes = without_padding(item);
            return match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => bytes.escape_ascii().to_string(),
            };
        }
        let codes =
            item.chunks_exact(CHARACTER_SIZE).map(|bytes| u32::from_le_bytes(self.little_endian(bytes)));
        let text: String =
            codes.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        text.trim_end_matches('\0').to_owned()
    }

    /// Appends a number, in quotes if it is none of JSON.
    fn push_json_float(&self, item: &[u8], is_json: bool, text: &mut String) {
        let start = text.len();
        self.push_float(item, text);
        let is_number = item.len() <= 8 && text.ends_with(|c: char| c.is_ascii_digit());
        if is_json && !is_number {
            text.insert(start, '"');
            text.push('"');
        }
    }

    /// Returns an unsigned integer of up to 8 bytes in 8 bytes, in little-endian order.
    pub(super) fn widened(&self, item: &[u8]) -> [u8; 8] {
        let mut wide = [0; 8];
        for (n, to) in wide.iter_mut().enumerate().take(item.len()) {
            *to = if self.is_big_endian { item[item.len() - 1 - n] } else { item[n] };
        }
        wide
    }

    /// Returns a signed integer.
    pub(super) fn int(&self, item: &[u8]) -> i64 {
        let unused = 64 - 8 * item.len().clamp(1, 8);
        // The shift to the left and back extends the sign.
        i64::from_le_bytes(self.widened(item)) << unused >> unused
    }

    fn push_float(&self, item: &[u8], text: &mut String) {
        match item.len() {
            2 => push_real(half_to_single(u16::from_le_bytes(self.little_endian(item))), text),
            4 => push_real(f32::from_le_bytes(self.little_endian(item)), text),
            8 => push_real(f64::from_le_bytes(self.little_endian(item)), text),
            _ => push_hex(item, text),
        }
    }

    fn push_complex(&self, item: &[u8], text: &mut String) {
        if item.len() > 16 {
            return push_hex(item, text);
        }
        let (real, imaginary) = item.split_at(item.len() / 2);
        self.push_float(real, text);
        let sign_at = text.len();
        self.push_float(imaginary, text);
        if !text[sign_at..].starts_with('-') {
            text.insert(sign_at, '+');
        }
        text.push('j');
    }

    fn push_unicode(&self, item: &[u8], text: &mut String) {
        let start = text.len();
        // The length of the text without its padding.
        let mut end = start;
        for bytes in item.chunks_exact(CHARACTER_SIZE) {
            let code = u32::from_le_bytes(self.little_endian(bytes));
            match char::from_u32(code) {
                Some(' ') => text.push_str("\\x20"),
                Some(character) if character == '\\' || !is_printable(character) => {
                    text.extend(character.escape_default());
                }
                Some(character) => text.push(character),
                None => {
                    let _ = write!(text, "\\u{{{code:x}}}");
                }
            }
            if code != 0 {
                end = text.len();
            }
        }
        text.truncate(end);
    }
}

fn push(value: impl Display, text: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(text, "{value}");
}

/// Appends a number with the fewest digits that identify it; very large and very small ones with an exponent.
fn push_real<T: Copy + Into<f64> + Display + LowerExp>(value: T, text: &mut String) {
    let wide: f64 = value.into();
    let size = wide.abs();
    let has_exponent = size.is_finite() && (size >= 1e16 || (size < 1e-4 && size != 0.0));
    let _ = match (wide.is_nan(), has_exponent) {
        (true, _) => write!(text, "nan"),
        (false, true) => write!(text, "{value:e}"),
        (false, false) => write!(text, "{value}"),
    };
}

/// Appends bytes as ASCII text. A space, which separates items, is escaped as well.
fn push_escaped(bytes: &[u8], text: &mut String) {
    for &byte in bytes {
        match byte {
            b' ' => text.push_str("\\x20"),
            byte => push(byte.escape_ascii(), text),
        }
    }
}

/// Returns the bytes before the zeros at the end.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..len]
}

fn is_printable(character: char) -> bool {
    !character.is_control() && !character.is_whitespace()
}

/// Returns the value of a number in half precision (IEEE 754 binary16).
pub(super) fn half_to_single(half: u16) -> f32 {
    let magnitude = match (half >> 10 & 0x1f, half & 0x3ff) {
        (0x1f, 0) => f32::INFINITY,
        (0x1f, _) => f32::NAN,
        (0, fraction) => f32::from(fraction) / 2f32.powi(24),
        (exponent, fraction) => f32::from(fraction | 0x400) * 2f32.powi(i32::from(exponent) - 25),
    };
    if half & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Returns the number of half precision next to `value`: the even one of two.
pub(super) fn round_to_half(value: f32) -> f32 {
    if !value.is_finite() {
        return value;
    }
    // The distance of two numbers of half precision, whose fractions have 10 bits, and whose least exponent is -14.
    let exponent = (value.to_bits() >> 23 & 0xff) as i32 - 127;
    let step = 2f32.powi(exponent.max(-14) - 10);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > 65504.0 { f32::INFINITY.copysign(value) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(dtype: &str, item: &[u8]) -> String {
        let mut text = String::new();
        dtype.parse::<Scalar>().unwrap().push(item, Style::Fields, &mut text);
        text
    }

    #[test]
    fn numbers_are_rounded_to_half_precision() {
        for half in 0..=u16::MAX {
            let value = half_to_single(half);
            assert!(round_to_half(value) == value || value.is_nan());
            let next = half_to_single(half.wrapping_add(1));
            if half & 0x7fff < 0x7bff {
                let middle = f32::midpoint(value, next);
                let even = if half % 2 == 0 { value } else { next };
                assert_eq!(round_to_half(middle), even);
                assert_eq!(round_to_half((middle + value) / 2.0), value);
                assert_eq!(round_to_half((middle + next) / 2.0), next);
            }
        }
        assert_eq!((round_to_half(65519.0), round_to_half(-65520.0)), (65504.0, f32::NEG_INFINITY));
    }

    #[test]
    fn numbers_have_the_shortest_text() {
        assert_eq!(text("<i2", &(-2i16).to_le_bytes()), "-2");
        assert_eq!(text(">i2", &(-2i16).to_be_bytes()), "-2");
        assert_eq!(text("|i1", &[0x80]), "-128");
        assert_eq!(text(">i8", &i64::MIN.to_be_bytes()), i64::MIN.to_string());
        assert_eq!(text("<u8", &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(text(">u4", &7u32.to_be_bytes()), "7");
        assert_eq!(text("<f4", &0.1f32.to_le_bytes()), "0.1");
        assert_eq!(text(">f8", &0.1f64.to_be_bytes()), "0.1");
        assert_eq!(text("<f8", &1e300f64.to_le_bytes()), "1e300");
        assert_eq!(text("<f8", &(-2.5e-7f64).to_le_bytes()), "-2.5e-7");
        assert_eq!(text("<f8", &(-0.0f64).to_le_bytes()), "-0");
        assert_eq!(text("<f4", &f32::NAN.to_le_bytes()), "nan");
        assert_eq!(text("<f4", &f32::NEG_INFINITY.to_le_bytes()), "-inf");
        let complex: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|part| part.to_be_bytes()).collect();
        assert_eq!(text(">c8", &complex), "1.5-2j");
        let complex: Vec<u8> = [f64::NAN, f64::INFINITY].iter().flat_map(|part| part.to_le_bytes()).collect();
        assert_eq!(text("<c16", &complex), "nan+infj");
        assert_eq!(text("<M8[ns]", &1i64.to_le_bytes()), "1970-01-01T00:00:00.000000001");
        assert_eq!(text("<M8", &1i64.to_le_bytes()), "1");
        assert_eq!(text("<m8[s]", &(-5i64).to_le_bytes()), "-5");
        assert_eq!(text(">M8[s]", &i64::MIN.to_be_bytes()), "NaT");
        assert_eq!(text("<f16", &[0xab; 16]), "ab".repeat(16));
    }

    #[test]
    fn text_is_escaped_and_has_no_padding() {
        assert_eq!((text("?", &[0]), text("?", &[1])), ("False".to_owned(), "True".to_owned()));
        assert_eq!(text("S6", b"a b\n\xff\0"), "a\\x20b\\n\\xff");
        assert_eq!(text("S4", b"\0\0\0\0"), "");
        assert_eq!(text("S3", b"\0a\0"), "\\x00a");
        assert_eq!(text("V3", &[1, 0xab, 0]), "01ab00");
        let utf32: Vec<u8> = "é \\\n\0ß\0\0".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        assert_eq!(text(">U8", &utf32), "é\\x20\\\\\\n\\u{0}ß");
        assert_eq!(text("<U1", &[0, 0xd8, 0, 0]), "\\u{d800}");
    }

    #[test]
    fn half_precision_is_converted() {
        let cases = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f32.powi(-24)),
            (0x03ff, 1023.0 / 2f32.powi(24)),
            (0x0400, 2f32.powi(-14)),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (half, value) in cases {
            assert_eq!(half_to_single(half), value, "{half:x}");
        }
        assert!(half_to_single(0x7e00).is_nan());
        assert_eq!(half_to_single(0x8000).to_bits(), (-0.0f32).to_bits());
        assert_eq!(text(">f2", &[0x3e, 0x00]), "1.5");
    }
}
