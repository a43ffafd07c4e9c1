//! Little-endian fields of a chunk.

/// Returns the little-endian `i32` at `pos`; `None` when fewer than four bytes are left.
pub(crate) fn read_i32(bytes: &[u8], pos: usize) -> Option<i32> {
    let field = bytes.get(pos..pos.checked_add(4)?)?;
    Some(i32::from_le_bytes(field.try_into().ok()?))
}

/// Stores a little-endian `i32` at `pos`.
///
/// # Panics
/// If fewer than four bytes are left.
pub(crate) fn write_i32(bytes: &mut [u8], pos: usize, value: i32) {
    bytes[pos..pos + 4].copy_from_slice(&value.to_le_bytes());
}
