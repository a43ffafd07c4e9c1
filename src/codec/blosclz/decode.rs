//! The decoder (`codecs.md` 3.2). Streams are untrusted: for every stream, only the two slices are accessed, and a
//! bad stream gives 0.
//!
//! Tokens far enough from both ends are decoded by the fast loop ([`kernel`]), which copies in fixed sizes and may
//! write bytes that later tokens overwrite; the others by [`StreamDecoder::decode_token_checked`], which is safe code.

mod kernel;
mod state;

use kernel::READ_AHEAD;
use state::StreamDecoder;

/// Decompresses the whole of `src` into `dest` and returns the number of bytes produced; 0 if the stream is bad or
/// does not fit. Bytes of `dest` beyond the result may have been written.
#[cfg(test)]
pub(crate) fn decompress(src: &[u8], dest: &mut [u8]) -> usize {
    let (src_len, dest_len) = (src.len(), dest.len());
    decompress_with_slack(src, src_len, dest, dest_len)
}

/// Decompresses the first `src_len` bytes of `src` into the first `dest_len` bytes of `dest` and returns the number
/// of bytes produced; 0 if the stream is bad or does not fit. The bytes of `src` behind the stream may be read, and
/// those of `dest` behind the result overwritten with garbage.
///
/// # Panics
/// If the buffers are shorter than `src_len` and `dest_len`.
pub(crate) fn decompress_with_slack(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::decode_fast, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decompresses `src` into `dest`, which has room for all of the content, until the first `wanted` bytes are decoded.
/// Returns the number of decoded bytes; 0 for a stream that is bad up to there. The rest of the stream is not read.
pub(crate) fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    let dest_len = dest.len();
    decode(kernel::decode_fast, src, src.len(), dest, dest_len, wanted)
        .filter(|&there| there >= wanted)
        .unwrap_or(0)
}

/// Decompresses like [`decompress_with_slack`], with the portable form of the fast loop.
#[cfg(test)]
pub(super) fn decompress_portable(src: &[u8], src_len: usize, dest: &mut [u8], dest_len: usize) -> usize {
    decode(kernel::decode_fast_portable, src, src_len, dest, dest_len, usize::MAX).unwrap_or(0)
}

/// Decodes a stream, or its first tokens until `wanted_len` bytes are decoded, with one form of the fast loop.
#[inline]
fn decode(
    run: impl Fn(&mut StreamDecoder<'_>) -> Option<()>,
    ahead: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    wanted_len: usize,
) -> Option<usize> {
    assert!(dest_len <= dest.len());
    let src = &ahead[..src_len];
    let mut decoder = StreamDecoder { src, readable_src: ahead, dest, dest_len, wanted_len, ip: 0, op: 0 };
    run(&mut decoder)?;
    decoder.decode_rest(run)
}

/// The number of bytes at the end of a stream that are copied into a longer buffer if too few readable bytes lie
/// behind them.
const MAX_PADDED_TAIL: usize = 2 * READ_AHEAD;

impl StreamDecoder<'_> {
    /// Decodes the tokens that the fast loop has left because too few bytes were readable or writable ahead. Returns
    /// the length of the output.
    ///
    /// Not inlined: inlining would slow down the fast loop.
    #[inline(never)]
    fn decode_rest(&mut self, run: impl Fn(&mut StreamDecoder<'_>) -> Option<()>) -> Option<usize> {
        let rest = &self.src[self.ip..];
        let is_limited = self.readable_src.len() - self.ip < MAX_PADDED_TAIL;
        if is_limited && !rest.is_empty() && rest.len() <= MAX_PADDED_TAIL && self.op < self.wanted_len {
            // The last stream of a chunk: decoded from a copy in a longer buffer.
            let mut copy = [0; MAX_PADDED_TAIL + READ_AHEAD];
            copy[..rest.len()].copy_from_slice(rest);
            let mut end = StreamDecoder {
                src: &copy[..rest.len()],
                readable_src: &copy,
                dest: self.dest,
                ip: 0,
                ..*self
            };
            run(&mut end)?;
            self.ip += end.ip;
            self.op = end.op;
        }
        while self.ip < self.src.len() && self.op < self.wanted_len {
            self.decode_token_checked()?;
        }
        Some(self.op)
    }
}
