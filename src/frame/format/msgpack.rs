//! The msgpack values that frames are made of (`frame.md` 1.1, 1.3, 1.5), written with the crate `rmp`. The module does
//! not depend on the meaning of the values.
//!
//! Every value has the width that the format prescribes. For integers `rmp` has functions of fixed width. For the
//! lengths of maps, arrays, byte strings and text it only writes the shortest form, so [`MsgpackWriter`] adds the
//! marker and the length itself.
//!
//! Numbers are read here and not by `rmp`: its functions reject a number behind another marker, but readers of frames
//! must accept any marker where the reference ignores it (`frame.md` 4.4).

#![forbid(unsafe_code)]

use rmp::encode::{self, ByteBuf, RmpWrite};

pub(crate) use rmp::Marker;

use crate::error::Result;
use crate::fallible;

/// Returns the `N` bytes at `pos`; `None` when they are not all there.
pub(crate) fn bytes_at<const N: usize>(bytes: &[u8], pos: usize) -> Option<[u8; N]> {
    bytes.get(pos..pos.checked_add(N)?)?.try_into().ok()
}

/// Returns the `i16` at `pos`, where its marker ends.
pub(crate) fn i16_at(bytes: &[u8], pos: usize) -> Option<i16> {
    bytes_at(bytes, pos).map(i16::from_be_bytes)
}

/// Returns the `u16` at `pos`, where its marker ends.
pub(crate) fn u16_at(bytes: &[u8], pos: usize) -> Option<u16> {
    bytes_at(bytes, pos).map(u16::from_be_bytes)
}

/// Returns the `i32` at `pos`, where its marker ends.
pub(crate) fn i32_at(bytes: &[u8], pos: usize) -> Option<i32> {
    bytes_at(bytes, pos).map(i32::from_be_bytes)
}

/// Returns the `u32` at `pos`, where its marker ends.
pub(crate) fn u32_at(bytes: &[u8], pos: usize) -> Option<u32> {
    bytes_at(bytes, pos).map(u32::from_be_bytes)
}

/// Returns the `i64` at `pos`, where its marker ends.
pub(crate) fn i64_at(bytes: &[u8], pos: usize) -> Option<i64> {
    bytes_at(bytes, pos).map(i64::from_be_bytes)
}

/// A buffer that msgpack values are appended to. Its whole memory is allocated when it is created, so that appending
/// does not fail: the error type of `rmp`'s functions is an empty type here.
pub(crate) struct MsgpackWriter(ByteBuf);

impl MsgpackWriter {
    /// Creates a writer of up to `capacity` bytes.
    pub(crate) fn new(capacity: usize) -> Result<Self> {
        Ok(MsgpackWriter(ByteBuf::from_vec(fallible::vec_with_capacity(capacity)?)))
    }

    /// Appends bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let Ok(()) = self.0.write_bytes(bytes);
        self
    }

    pub(crate) fn byte(&mut self, byte: u8) -> &mut Self {
        self.bytes(&[byte])
    }

    /// Appends an `i16` with its marker.
    pub(crate) fn int16(&mut self, number: i16) -> &mut Self {
        let Ok(()) = encode::write_i16(&mut self.0, number);
        self
    }

    /// Appends an `i32` with its marker.
    pub(crate) fn int32(&mut self, number: i32) -> &mut Self {
        let Ok(()) = encode::write_i32(&mut self.0, number);
        self
    }

    /// Appends an `i64` with its marker.
    pub(crate) fn int64(&mut self, number: i64) -> &mut Self {
        let Ok(()) = encode::write_i64(&mut self.0, number);
        self
    }

    /// Appends a `u16` with its marker.
    pub(crate) fn uint16(&mut self, number: u16) -> &mut Self {
        let Ok(()) = encode::write_u16(&mut self.0, number);
        self
    }

    /// Appends a `u32` with its marker.
    pub(crate) fn uint32(&mut self, number: u32) -> &mut Self {
        let Ok(()) = encode::write_u32(&mut self.0, number);
        self
    }

    /// Appends a `u64` with its marker.
    pub(crate) fn uint64(&mut self, number: u64) -> &mut Self {
        let Ok(()) = encode::write_u64(&mut self.0, number);
        self
    }

    /// Appends true or false.
    pub(crate) fn boolean(&mut self, value: bool) -> &mut Self {
        let Ok(()) = encode::write_bool(&mut self.0, value);
        self
    }

    /// Appends the marker of an array of `len` items, which is at most 15.
    pub(crate) fn fixarray(&mut self, len: u8) -> &mut Self {
        debug_assert!(len < 16);
        let Ok(_) = encode::write_array_len(&mut self.0, u32::from(len));
        self
    }

    /// Appends a string of at most 31 bytes; they need not be UTF-8.
    pub(crate) fn fixstr(&mut self, text: &[u8]) -> &mut Self {
        debug_assert!(text.len() < 32);
        let Ok(_) = encode::write_str_len(&mut self.0, text.len() as u32);
        self.bytes(text)
    }

    /// Appends a string after a length of 32 bits, which is read as an `i32`; the bytes need not be UTF-8.
    pub(crate) fn str32(&mut self, text: &[u8]) -> &mut Self {
        self.marker(Marker::Str32).length32(text.len()).bytes(text)
    }

    /// Appends bytes after a length of 32 bits, which is read as an `i32`.
    pub(crate) fn bin32(&mut self, content: &[u8]) -> &mut Self {
        self.marker(Marker::Bin32).length32(content.len()).bytes(content)
    }

    /// Appends the marker of an array, and its length in 16 bits.
    pub(crate) fn array16(&mut self, len: u16) -> &mut Self {
        self.marker(Marker::Array16).bytes(&len.to_be_bytes())
    }

    /// Appends the marker of a map, and its number of entries in 16 bits.
    pub(crate) fn map16(&mut self, len: u16) -> &mut Self {
        self.marker(Marker::Map16).bytes(&len.to_be_bytes())
    }

    /// Appends an extension of 16 bytes of that type.
    pub(crate) fn fixext16(&mut self, ext_type: i8, content: &[u8; 16]) -> &mut Self {
        let Ok(_) = encode::write_ext_meta(&mut self.0, content.len() as u32, ext_type);
        self.bytes(content)
    }

    fn marker(&mut self, marker: Marker) -> &mut Self {
        self.byte(marker.to_u8())
    }

    fn length32(&mut self, len: usize) -> &mut Self {
        debug_assert!(i32::try_from(len).is_ok());
        self.bytes(&(len as u32).to_be_bytes())
    }

    /// Returns the number of bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.0.as_slice().len()
    }

    /// Returns the bytes written.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// msgpack has shorter forms of all these values; frames do not use them.
    #[test]
    fn small_values_have_the_full_width() {
        let mut out = MsgpackWriter::new(100).unwrap();
        out.int16(1).int32(1).int64(1).uint16(1).uint32(1).uint64(1);
        let numbers = [
            &[0xd1, 0, 1][..],
            &[0xd2, 0, 0, 0, 1],
            &[0xd3, 0, 0, 0, 0, 0, 0, 0, 1],
            &[0xcd, 0, 1],
            &[0xce, 0, 0, 0, 1],
            &[0xcf, 0, 0, 0, 0, 0, 0, 0, 1],
        ];
        assert_eq!(out.finish(), numbers.concat());
        let mut out = MsgpackWriter::new(100).unwrap();
        out.str32(b"ab")
            .bin32(b"c")
            .array16(1)
            .map16(2)
            .fixstr(b"d")
            .fixarray(3)
            .boolean(true)
            .boolean(false);
        let lengths = [
            &[0xdb, 0, 0, 0, 2, b'a', b'b'][..],
            &[0xc6, 0, 0, 0, 1, b'c'],
            &[0xdc, 0, 1],
            &[0xde, 0, 2],
            &[0xa1, b'd'],
            &[0x93, 0xc3, 0xc2],
        ];
        assert_eq!(out.finish(), lengths.concat());
        let mut out = MsgpackWriter::new(18).unwrap();
        out.fixext16(6, b"0123456789abcdef");
        assert_eq!(out.finish(), b"\xd8\x060123456789abcdef");
    }

    #[test]
    fn a_writer_does_not_allocate_again() {
        let mut out = MsgpackWriter::new(20).unwrap();
        let before = out.0.as_slice().as_ptr();
        out.int64(-1).fixstr(b"name").int32(5).byte(7);
        assert_eq!((out.len(), out.0.as_slice().as_ptr()), (20, before));
    }

    #[test]
    fn reading_a_number_beyond_the_end_returns_none() {
        let bytes = [0xff, 0xfe, 1, 2, 3, 4, 5, 6];
        assert_eq!((i16_at(&bytes, 0), u16_at(&bytes, 6), u16_at(&bytes, 7)), (Some(-2), Some(0x506), None));
        assert_eq!((i32_at(&bytes, 4), u32_at(&bytes, 5)), (Some(0x0304_0506), None));
        assert_eq!((i64_at(&bytes, 0), i64_at(&bytes, 1)), (Some(-0x1_fefd_fcfb_fafa), None));
        assert_eq!(bytes_at::<4>(&bytes, usize::MAX), None);
    }
}
