//! The progress of decoding a block, and the choice of the loop for its next bytes.

#![forbid(unsafe_code)]

use super::format::{MAX_NIBBLE, read_length};
use crate::tuning::tunable;

tunable! {
    /// Whether there is a loop for sequences whose literals are predictable (docs/tuning.md).
    const HAS_TWO_LOOPS: bool = true;
}

/// The number of bytes of a block that are decoded with one loop: the first window, and the others. The sample takes as
/// long as decoding 100 bytes.
const FIRST_WINDOW: usize = 1024;
const WINDOW: usize = 8 << 10;
/// The largest number of sequences in a sample, and the number of bytes after which the sample ends. Where sequences are
/// long, the loop matters little.
const MAX_SAMPLES: u32 = 24;
const SAMPLE_BYTES: usize = 192;

/// The progress of decoding a block.
pub(super) struct DecodeProgress {
    /// The position in the block, and that in its content. A position one behind the end of the block means that the
    /// block is decoded.
    pub at: usize,
    pub out: usize,
    /// Whether the processor can predict which sequences of the window have literals.
    pub is_predictable: bool,
    /// The end of the window in the block.
    pub window_end: usize,
}

impl DecodeProgress {
    pub(super) const START: DecodeProgress =
        DecodeProgress { at: 0, out: 0, is_predictable: false, window_end: FIRST_WINDOW };

    /// Begins the next window of `block` if the last one is decoded.
    #[inline]
    pub(super) fn check_window(&mut self, block: &[u8]) {
        if self.at > self.window_end {
            self.is_predictable = HAS_TWO_LOOPS.get() && has_predictable_literals(block, self.at);
            self.window_end = self.at + WINDOW;
        }
    }
}

/// Returns whether a processor can predict which sequences from `block[at]` on have literals: of a sample, at most one in
/// five differs from the sequence that last followed the same four.
#[inline(never)]
fn has_predictable_literals(block: &[u8], mut at: usize) -> bool {
    let (end, mut history, mut followed_by) = (at + SAMPLE_BYTES, 0, 0u32);
    let (mut count, mut wrong) = (0, 0);
    while count < MAX_SAMPLES
        && at < end
        && let Some(&token) = block.get(at)
    {
        at += 1;
        let nibble = usize::from(token >> 4);
        let has_literals = u32::from(nibble > 0);
        let is_wrong = (followed_by >> history & 1) ^ has_literals;
        (wrong, count) = (wrong + is_wrong, count + 1);
        followed_by ^= is_wrong << history;
        history = (history << 1 | has_literals) & 0xf;
        let Some(literals) = read_length(block, &mut at, nibble) else { break };
        at += literals + 2;
        if read_length(block, &mut at, usize::from(token) & MAX_NIBBLE).is_none() {
            break;
        }
    }
    wrong * 5 <= count
}

/// A block and the readable bytes behind it.
pub(in super::super) struct BlockWithSlack<'a> {
    /// The block, followed by bytes that may be read.
    pub readable: &'a [u8],
    /// Length of the block, in bytes, at most that of `readable`.
    pub len: usize,
}
