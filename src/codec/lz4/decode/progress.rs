//! The progress of decoding a block.

#![forbid(unsafe_code)]

#[derive(Default)]
pub(super) struct DecodeProgress {
    /// The position in the block, and that in its content. A position one behind the end of the block means that the
    /// block is decoded.
    pub at: usize,
    pub out: usize,
}

/// A block and the readable bytes behind it.
pub(in super::super) struct BlockWithSlack<'a> {
    /// The block, followed by bytes that may be read.
    pub readable: &'a [u8],
    /// Length of the block, in bytes, at most that of `readable`.
    pub len: usize,
}
