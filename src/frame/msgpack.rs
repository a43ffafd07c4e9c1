//! The few msgpack forms that frames are made of (`frame.md` 1.1, 1.3, 1.5): fixed widths, big-endian. Knows
//! nothing of what they mean.

#![forbid(unsafe_code)]

use crate::err;
use crate::error::Result;

/// First bytes of the forms.
pub mod marker {
    /// An array; its length is in the low four bits.
    pub const FIXARRAY: u8 = 0x90;
    /// A string; its length is in the low five bits.
    pub const FIXSTR: u8 = 0xa0;
    /// The bits of [`FIXSTR`] that are no length.
    pub const FIXSTR_MASK: u8 = 0xe0;
    /// False.
    pub const FALSE: u8 = 0xc2;
    /// True.
    pub const TRUE: u8 = 0xc3;
    /// Bytes, after a length of 32 bits.
    pub const BIN32: u8 = 0xc6;
    /// An unsigned integer of 16 bits.
    pub const UINT16: u8 = 0xcd;
    /// An unsigned integer of 32 bits.
    pub const UINT32: u8 = 0xce;
    /// An unsigned integer of 64 bits.
    pub const UINT64: u8 = 0xcf;
    /// A signed integer of 16 bits.
    pub const INT16: u8 = 0xd1;
    /// A signed integer of 32 bits.
    pub const INT32: u8 = 0xd2;
    /// A signed integer of 64 bits.
    pub const INT64: u8 = 0xd3;
    /// 16 bytes, after a type byte.
    pub const FIXEXT16: u8 = 0xd8;
    /// An array, after a length of 16 bits.
    pub const ARRAY16: u8 = 0xdc;
    /// A map, after a length of 16 bits.
    pub const MAP16: u8 = 0xde;
}

/// The `N` bytes at `pos`; `None` when they are not all there.
pub fn bytes_at<const N: usize>(bytes: &[u8], pos: usize) -> Option<[u8; N]> {
    bytes.get(pos..pos.checked_add(N)?)?.try_into().ok()
}

/// The `i16` at `pos`.
pub fn i16_at(bytes: &[u8], pos: usize) -> Option<i16> {
    bytes_at(bytes, pos).map(i16::from_be_bytes)
}

/// The `u16` at `pos`.
pub fn u16_at(bytes: &[u8], pos: usize) -> Option<u16> {
    bytes_at(bytes, pos).map(u16::from_be_bytes)
}

/// The `i32` at `pos`.
pub fn i32_at(bytes: &[u8], pos: usize) -> Option<i32> {
    bytes_at(bytes, pos).map(i32::from_be_bytes)
}

/// The `u32` at `pos`.
pub fn u32_at(bytes: &[u8], pos: usize) -> Option<u32> {
    bytes_at(bytes, pos).map(u32::from_be_bytes)
}

/// The `i64` at `pos`.
pub fn i64_at(bytes: &[u8], pos: usize) -> Option<i64> {
    bytes_at(bytes, pos).map(i64::from_be_bytes)
}

/// Bytes that are being written; the memory for all of them is there from the start.
pub struct Writer(Vec<u8>);

impl Writer {
    /// A writer of up to `capacity` bytes.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub fn new(capacity: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(capacity).map_err(|_| err!(MemoryAlloc, "{capacity} bytes of a frame"))?;
        Ok(Writer(bytes))
    }

    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends one byte.
    pub fn byte(&mut self, byte: u8) -> &mut Self {
        self.0.push(byte);
        self
    }

    /// Appends a marker and what follows it.
    pub fn form<const N: usize>(&mut self, marker: u8, bytes: [u8; N]) -> &mut Self {
        self.byte(marker).bytes(&bytes)
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is written yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
