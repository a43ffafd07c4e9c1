//! The bytedelta filter (`filters.md` 8): every byte of a stream minus the one before it, modulo 256. It improves
//! compression after a shuffle with the same number of streams.
//!
//! A block consists of as many streams of the same length as an item has bytes; the bytes behind the last stream are
//! not coded (`filters.md` D2). A stream consists of one or two pieces, each of which is coded independently.

mod prefix_sum;

use super::cpu::{self, SimdLevel, vectorised};

/// The two filters. They code streams whose length is a multiple of 16 in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Id 34: restarts at the last multiple of 16 of a stream.
    Restarting,
    /// Id 35.
    Plain,
}

/// The restarting revision restarts at the last multiple of this number of bytes.
const RESTART_ALIGNMENT: usize = 16;

/// Encodes the block `src`, `nstreams` streams (1 or more), into `dest`.
///
/// # Panics
/// If the lengths differ or `nstreams` is 0.
pub(crate) fn encode(revision: Revision, nstreams: usize, src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len(), "source and destination of a bytedelta differ in length");
    let end = for_each_piece(revision, nstreams, src.len(), |start, end| {
        differences(&src[start..end], &mut dest[start..end]);
    });
    dest[end..].copy_from_slice(&src[end..]);
}

/// [`encode`] in place.
///
/// # Panics
/// If `nstreams` is 0.
pub(crate) fn encode_in_place(revision: Revision, nstreams: usize, buf: &mut [u8]) {
    for_each_piece(revision, nstreams, buf.len(), |start, end| differences_in_place(&mut buf[start..end]));
}

/// Undoes [`encode`] in place.
///
/// # Panics
/// If `nstreams` is 0.
pub(crate) fn decode_in_place(revision: Revision, nstreams: usize, buf: &mut [u8]) {
    decode_in_place_at(cpu::level(), revision, nstreams, buf);
}

/// [`decode_in_place`] with the code of one level.
///
/// # Panics
/// If `nstreams` is 0.
pub(crate) fn decode_in_place_at(level: SimdLevel, revision: Revision, nstreams: usize, buf: &mut [u8]) {
    let len = buf.len();
    for_each_piece(revision, nstreams, len, |start, end| {
        prefix_sum::prefix_sum(level, &mut buf[start..end]);
    });
}

/// Returns the position where the coding of a stream of `len` bytes, at least 1, restarts; 0 if it does not.
fn restart_offset(revision: Revision, len: usize) -> usize {
    match revision {
        Revision::Plain => 0,
        Revision::Restarting => len / RESTART_ALIGNMENT * RESTART_ALIGNMENT % len,
    }
}

/// Calls `visit` with the start and the end of each piece of a block of `len` bytes; no piece is empty. Returns the
/// end of the last piece.
#[inline(always)]
fn for_each_piece(
    revision: Revision,
    nstreams: usize,
    len: usize,
    mut visit: impl FnMut(usize, usize),
) -> usize {
    let stream = len / nstreams;
    if stream == 0 {
        return 0;
    }
    let cut = restart_offset(revision, stream);
    for start in (0..stream * nstreams).step_by(stream) {
        if cut > 0 {
            visit(start, start + cut);
        }
        visit(start + cut, start + stream);
    }
    stream * nstreams
}

vectorised! {
    /// Writes every byte of `src` minus the one before it; the first byte is copied.
    fn differences(src: &[u8], dest: &mut [u8]) {
        let (Some((first, rest)), Some((dest_first, dest_rest))) =
            (src.split_first(), dest.split_first_mut())
        else {
            return;
        };
        *dest_first = *first;
        for ((dest, byte), before) in dest_rest.iter_mut().zip(rest).zip(src) {
            *dest = byte.wrapping_sub(*before);
        }
    }
}

vectorised! {
    /// Works from the end to the start, so that the byte before is still unchanged.
    fn differences_in_place(buf: &mut [u8]) {
        const BATCH: usize = 128;
        let mut end = buf.len();
        while end > BATCH {
            let start = end - BATCH;
            let mut before = [0; BATCH];
            before.copy_from_slice(&buf[start - 1..end - 1]);
            for (byte, before) in buf[start..end].iter_mut().zip(before) {
                *byte = byte.wrapping_sub(before);
            }
            end = start;
        }
        for at in (1..end).rev() {
            buf[at] = buf[at].wrapping_sub(buf[at - 1]);
        }
    }
}

#[cfg(test)]
mod tests;
