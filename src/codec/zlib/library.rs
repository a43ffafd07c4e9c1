//! The deflate encoder of the crate flate2 (zlib-rs), which searches as the reference's library does: at the same level its
//! streams are as long to the byte, or nearly so.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::deflate::REACH;

/// The compressor of one thread and the level that it is set to.
#[derive(Default)]
pub(super) struct State {
    compressor: Option<(u32, Compress)>,
}

/// Compresses `src[start..end]` as raw deflate at zlib's `level` 1..=9; matches may lie before `start`. What is not the end
/// of `src` ends with a whole byte. Returns the length in bytes, or `None` if it does not fit.
pub(super) fn compress(
    state: &mut State,
    src: &[u8],
    range: std::ops::Range<usize>,
    dest: &mut [u8],
    level: u32,
) -> Option<usize> {
    let compress = match &mut state.compressor {
        Some((at, compress)) if *at == level => compress,
        slot => &mut slot.insert((level, Compress::new(Compression::new(level), false))).1,
    };
    let written = run(compress, src, range, dest);
    if written.is_some() {
        compress.reset();
    } else {
        // A reset does not undo an unfinished stream (zlib-rs 0.6.8, level 1: the next stream would be corrupt).
        state.compressor = None;
    }
    written
}

fn run(compress: &mut Compress, src: &[u8], range: std::ops::Range<usize>, dest: &mut [u8]) -> Option<usize> {
    let before = &src[range.start.saturating_sub(REACH)..range.start];
    if !before.is_empty() {
        compress.set_dictionary(before).ok()?;
    }
    let is_last = range.end == src.len();
    let flush = if is_last { FlushCompress::Finish } else { FlushCompress::Sync };
    let status = compress.compress(&src[range.clone()], dest, flush).ok()?;
    let written = usize::try_from(compress.total_out()).ok()?;
    // A flush is complete if there is room left.
    let is_complete = if is_last {
        status == Status::StreamEnd
    } else {
        compress.total_in() == range.len() as u64 && written < dest.len()
    };
    is_complete.then_some(written)
}
