//! The calls into the zlib-rs crate, and its per-thread state.

use zlib_rs::{Deflate, DeflateFlush, Status};

use super::{ADLER_LEN, HEADER, libdeflate};

/// The largest window, as in the reference.
const WINDOW_BITS: u8 = 15;

/// The compressor of one thread, and the level it is set to. It makes raw deflate: libdeflate's checksum is the faster one.
#[derive(Default)]
pub(super) struct State {
    compressor: Option<(i32, Deflate)>,
}

/// Compresses at zlib's `level` 1..=9; 0 if the result does not fit.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8], level: i32) -> usize {
    let Some(room) = dest.len().checked_sub(HEADER.len() + ADLER_LEN) else { return 0 };
    let (header, rest) = dest.split_at_mut(HEADER.len());
    let deflate = match &mut state.compressor {
        Some((at, deflate)) if *at == level => deflate,
        slot => &mut slot.insert((level, Deflate::new(level, false, WINDOW_BITS))).1,
    };
    let status = deflate.compress(src, &mut rest[..room], DeflateFlush::Finish);
    let written = usize::try_from(deflate.total_out()).unwrap_or(0);
    if !matches!(status, Ok(Status::StreamEnd)) {
        // A reset does not undo an unfinished stream (0.6.8, level 1: the next stream would be corrupt).
        state.compressor = None;
        return 0;
    }
    deflate.reset();
    header.copy_from_slice(&HEADER);
    rest[written..written + ADLER_LEN].copy_from_slice(&libdeflate::adler32(src).to_be_bytes());
    HEADER.len() + written + ADLER_LEN
}
