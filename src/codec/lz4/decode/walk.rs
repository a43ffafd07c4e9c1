//! How far a block is decoded, and the kind of the sequences that come next.

#![forbid(unsafe_code)]

use super::sample::{self, Kind};

/// The number of bytes of a block that are decoded with one form of the loop: at first, then, and at most, as long as the kind of the
/// sequences stays the same. To find out the kind takes as long as to decode 100 bytes.
pub(super) const FIRST_WINDOW: usize = 1024;
pub(super) const SECOND_WINDOW: usize = 4096;
const LONGEST_WINDOW: usize = 32 << 10;

/// How far a block is decoded.
pub(super) struct Walk {
    /// The position in the block, and that in its content. A position one behind the end tells that all is done.
    pub at: usize,
    pub out: usize,
    /// What the sequences in the window are taken as.
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

/// Where a block is, and how far its surroundings may be touched.
pub(in super::super) struct Source<'a> {
    /// The block, and what may be read behind it.
    pub ahead: &'a [u8],
    /// Length of the block, in bytes, at most that of `ahead`.
    pub len: usize,
}
