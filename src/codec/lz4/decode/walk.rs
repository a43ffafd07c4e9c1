//! The progress of decoding a block, and the kind of the sequences that come next.

#![forbid(unsafe_code)]

use super::sample::{self, Kind};

/// The number of bytes of a block that are decoded with one form of the loop: the first window, the second, and the
/// longest, which is reached while the kind of the sequences stays the same. Determining the kind takes as long as
/// decoding 100 bytes.
pub(super) const FIRST_WINDOW: usize = 1024;
pub(super) const SECOND_WINDOW: usize = 4096;
const LONGEST_WINDOW: usize = 32 << 10;

/// The progress of decoding a block.
pub(super) struct Walk {
    /// The position in the block, and that in its content. A position one behind the end of the block means that the
    /// block is decoded.
    pub at: usize,
    pub out: usize,
    /// The kind assumed for the sequences in the window.
    pub kind: Kind,
    /// The length of the window, in bytes of the block.
    pub window: usize,
}

impl Walk {
    pub(super) const START: Walk = Walk { at: 0, out: 0, kind: Kind::Mixed, window: FIRST_WINDOW };

    /// Sets the kind of the sequences in the next window of `block`, and the length of that window.
    #[inline]
    pub(super) fn next_window(&mut self, block: &[u8]) {
        let kind = sample::kind(block, self.at);
        self.window = if kind == self.kind {
            (2 * self.window).clamp(SECOND_WINDOW, LONGEST_WINDOW)
        } else {
            SECOND_WINDOW
        };
        self.kind = kind;
    }
}

/// A block and the readable bytes behind it.
pub(in super::super) struct Source<'a> {
    /// The block, followed by bytes that may be read.
    pub ahead: &'a [u8],
    /// Length of the block, in bytes, at most that of `ahead`.
    pub len: usize,
}
