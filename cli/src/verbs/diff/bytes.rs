//! The comparison of two contents as bytes.

use super::places::{Difference, Places};
use super::sides::Bytes;
use crate::error::{Failure, WithPath};
use crate::terminal::Progress;
use std::io::BufRead;

/// Returns how the bytes of two contents differ; `None` if they are equal.
pub(super) fn difference(
    mut a: Bytes<'_>,
    mut b: Bytes<'_>,
    limit: usize,
    progress: &Progress,
) -> Result<Option<Difference>, Failure> {
    let mut places = Places::new(limit);
    let common = compare(&mut a, &mut b, &mut places, progress)?;
    let lines = places.lines(|offset, (a, b)| format!("offset {offset}: 0x{a:02x} and 0x{b:02x}"));
    let lengths = format!("lengths {} and {}", a.nbytes, b.nbytes);
    Ok(match (a.nbytes == b.nbytes, places.count) {
        (true, 0) => None,
        (true, count) => Some((format!("different bytes: {count} of {common}"), lines)),
        (false, 0) => Some((format!("{lengths}, the first {common} bytes are equal"), lines)),
        (false, count) => Some((format!("{lengths}, different bytes: {count} of the first {common}"), lines)),
    })
}

/// Compares the bytes that both contents have. Returns their number.
fn compare(
    a_side: &mut Bytes<'_>,
    b_side: &mut Bytes<'_>,
    places: &mut Places<(u8, u8)>,
    progress: &Progress,
) -> Result<u64, Failure> {
    let (a_path, b_path) = (a_side.path, b_side.path);
    let (mut a, mut b) = (a_side.stream(), b_side.stream());
    let mut offset = 0;
    while !places.is_enough() {
        let a_piece = a.fill_buf().with_path(a_path)?;
        let b_piece = b.fill_buf().with_path(b_path)?;
        let len = a_piece.len().min(b_piece.len());
        if len == 0 {
            break;
        }
        // The comparison of slices is much faster than that of bytes.
        if a_piece[..len] != b_piece[..len] {
            for (at, (&a, &b)) in a_piece.iter().zip(b_piece).enumerate().filter(|(_, (a, b))| a != b) {
                places.count += 1;
                if places.has_room(offset + at as u64) {
                    places.insert(offset + at as u64, (a, b));
                }
            }
        }
        offset += len as u64;
        progress.add(len as u64);
        a.consume(len);
        b.consume(len);
    }
    Ok(offset)
}
