//! Lengths in the sequences of a block.

#![forbid(unsafe_code)]

/// The value of a token's nibble that says that more length bytes follow.
pub(super) const MAX_NIBBLE: usize = 15;
/// The length of a match whose nibble is 0.
pub(super) const MIN_MATCH: usize = 4;

/// Returns a length whose nibble in the token is `nibble`, including the bytes at `src[at]` that continue it, and
/// moves `at` behind them.
#[inline(always)]
pub(super) fn read_length(src: &[u8], at: &mut usize, nibble: usize) -> Option<usize> {
    let mut length = nibble;
    if nibble == MAX_NIBBLE {
        loop {
            let more = *src.get(*at)?;
            *at += 1;
            // At most 255 for each byte of `src`, so it cannot overflow.
            length += usize::from(more);
            if more != 255 {
                break;
            }
        }
    }
    Some(length)
}
