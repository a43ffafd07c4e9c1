//! The calls into the zlib-rs crate, and its per-thread states.

use zlib_rs::{Deflate, DeflateFlush, Status};

/// The largest window, as in the reference.
const WINDOW_BITS: u8 = 15;

/// The compressor of one thread, and the level it is set to.
#[derive(Default)]
pub(super) struct State {
    compressor: Option<(i32, Deflate)>,
}

/// Compresses at zlib's `level` 1..=9; 0 if the result does not fit.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8], level: i32) -> usize {
    let deflate = match &mut state.compressor {
        Some((at, deflate)) if *at == level => {
            deflate.reset();
            deflate
        }
        slot => &mut slot.insert((level, Deflate::new(level, true, WINDOW_BITS))).1,
    };
    match deflate.compress(src, dest, DeflateFlush::Finish) {
        Ok(Status::StreamEnd) => usize::try_from(deflate.total_out()).unwrap_or(0),
        _ => 0,
    }
}
