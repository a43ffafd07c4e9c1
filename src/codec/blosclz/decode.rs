//! The decoder (`codecs.md` 3.2). Streams are untrusted: whatever they say, nothing outside the two slices is
//! touched, and a bad one gives 0.
//!
//! Tokens far enough from both ends go through [`State::fast`], which copies in fixed sizes and may write bytes
//! that later tokens overwrite; the others through [`State::careful`], which is safe code.

mod kernel;
mod state;

use kernel::READ_AHEAD;
use state::State;

/// Decompresses the whole of `src` into `dest` and returns the number of bytes produced; 0 when the stream is bad
/// or does not fit. Bytes of `dest` beyond the result may have been written.
#[cfg(test)]
pub(crate) fn decompress(src: &[u8], dest: &mut [u8]) -> usize {
    let (src_len, dest_len) = (src.len(), dest.len());
    decompress_ahead(src, src_len, dest, dest_len)
}

/// As [`decompress`] of the first `src_len` bytes of `src` into the first `dest_len` of `dest`. What lies behind them
/// is room to read and write ahead: the bytes of `dest` there are garbage afterwards.
///
/// # Panics
/// If the buffers are shorter than that.
pub(crate) fn decompress_ahead(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::run, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decompresses `src` into `dest`, which has room for all of it, until the first `wanted` bytes are there; how many are, 0
/// for a stream that is bad up to there. What comes behind them is not looked at.
pub(crate) fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    let dest_len = dest.len();
    decode(kernel::run, src, src.len(), dest, dest_len, wanted).filter(|&there| there >= wanted).unwrap_or(0)
}

/// The same as [`decompress_ahead`], without the form of the fast loop for this processor.
#[cfg(test)]
pub(super) fn decompress_portable(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::run_portable, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decodes a stream, or its tokens until there are `enough` bytes, with one form of the fast loop.
#[inline]
fn decode(
    run: impl Fn(&mut State<'_>) -> Option<()>,
    ahead: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    enough: usize,
) -> Option<usize> {
    assert!(dest_len <= dest.len());
    let src = &ahead[..src_len];
    let mut state = State { src, ahead, dest, dest_len, enough, ip: 0, op: 0 };
    run(&mut state)?;
    state.rest(run)
}

/// So many of the last bytes of a stream are copied where there is room to read ahead.
const TAIL: usize = 2 * READ_AHEAD;

impl State<'_> {
    /// What the fast loop has left for want of room; how much output there is then.
    ///
    /// Out of line, or that loop would suffer.
    #[inline(never)]
    fn rest(&mut self, run: impl Fn(&mut State<'_>) -> Option<()>) -> Option<usize> {
        let rest = &self.src[self.ip..];
        let is_limited = self.ahead.len() - self.ip < TAIL;
        if is_limited && !rest.is_empty() && rest.len() <= TAIL && self.op < self.enough {
            // The last stream of a chunk: from a copy with room behind it.
            let mut copy = [0; TAIL + READ_AHEAD];
            copy[..rest.len()].copy_from_slice(rest);
            let mut end = State { src: &copy[..rest.len()], ahead: &copy, dest: self.dest, ip: 0, ..*self };
            run(&mut end)?;
            self.ip += end.ip;
            self.op = end.op;
        }
        while self.ip < self.src.len() && self.op < self.enough {
            self.careful()?;
        }
        Some(self.op)
    }
}
