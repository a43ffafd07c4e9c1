//! The progress of decoding a block, and the kind of the sequences that come next.

#![forbid(unsafe_code)]

use super::sample::{self, SequenceKind};
use crate::tuning::tunable;

/// The number of bytes of a block that are decoded with one form of the loop: the first window, the second, and the
/// longest, which is reached while the kind of the sequences stays the same. Determining the kind takes as long as
/// decoding 100 bytes.
pub(super) const FIRST_WINDOW: usize = 1024;
pub(super) const SECOND_WINDOW: usize = 4096;
tunable! {
    /// The length in bytes of the longest window.
    const MAX_WINDOW: usize = 32 << 10;
}

/// The progress of decoding a block.
pub(super) struct DecodeProgress {
    /// The position in the block, and that in its content. A position one behind the end of the block means that the
    /// block is decoded.
    pub at: usize,
    pub out: usize,
    /// The kind assumed for the sequences in the window.
    pub kind: SequenceKind,
    /// The length of the window, in bytes of the block.
    pub window: usize,
}

impl DecodeProgress {
    pub(super) const START: DecodeProgress =
        DecodeProgress { at: 0, out: 0, kind: SequenceKind::Unpredictable, window: FIRST_WINDOW };

    /// Sets the kind of the sequences in the next window of `block`, and the length of that window.
    #[inline]
    pub(super) fn start_next_window(&mut self, block: &[u8]) {
        let kind = sample::sample_sequence_kind(block, self.at);
        self.window = if kind == self.kind {
            (2 * self.window).clamp(SECOND_WINDOW, MAX_WINDOW.get())
        } else {
            SECOND_WINDOW
        };
        self.kind = kind;
    }
}

/// A block and the readable bytes behind it.
pub(in super::super) struct BlockWithSlack<'a> {
    /// The block, followed by bytes that may be read.
    pub readable: &'a [u8],
    /// Length of the block, in bytes, at most that of `readable`.
    pub len: usize,
}
