//! Byte strings in messages: length, checksum and a few bytes, and the position of the first difference.

use std::fmt;

use crate::support::crc32;

/// Bytes with a short debug representation.
#[derive(Clone, PartialEq, Eq)]
pub struct DebugBytes(pub Vec<u8>);

impl fmt::Debug for DebugBytes {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let few = &self.0[..self.0.len().min(48)];
        write!(out, "[{} bytes, crc {:08x}: {few:02x?}]", self.0.len(), crc32(&self.0))
    }
}

/// Describes the first difference of two byte strings; returns `None` if they are equal.
pub fn describe_difference(a: &[u8], b: &[u8]) -> Option<String> {
    if a == b {
        return None;
    }
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    let around = |bytes: &[u8]| {
        let from = at.saturating_sub(4).min(bytes.len());
        format!("{:02x?}", &bytes[from..bytes.len().min(at + 28)])
    };
    Some(format!("{} and {} bytes, part at {at}: {} and {}", a.len(), b.len(), around(a), around(b)))
}
