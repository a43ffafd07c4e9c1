//! Chooses the loop for the next window of a block, from a sample of the first sequences in it.
//!
//! Copies nothing, and reports no errors: the loop finds them.

#![forbid(unsafe_code)]

use super::format::{MAX_NIBBLE, read_length};
use crate::tuning::tunable;

/// The kind of the sequences of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SequenceKind {
    /// Whether a sequence has literals can be predicted from the ones before it.
    Predictable,
    /// It cannot.
    Unpredictable,
    /// As [`Predictable`](SequenceKind::Predictable), and some of the short matches overlap themselves.
    ShortOffsets,
}

tunable! {
    /// Whether a sample chooses the loop; otherwise, sequences count as unpredictable.
    const HAS_SAMPLES: bool = true;
    /// Whether sequences with short offsets have a loop of their own.
    const HAS_SHORT_OFFSET_LOOP: bool = true;
    /// The largest number of sequences in a sample, and the number of bytes after which the sample ends. Where sequences
    /// are long, their kind matters little, and reading 24 of them takes as long as decoding them.
    const MAX_SAMPLES: u32 = 24;
    const SAMPLE_BYTES: usize = 192;
    /// Sequences count as unpredictable if more than one in this number is predicted wrongly.
    const UNPREDICTABLE_DIVISOR: u32 = 5;
    /// Short offsets occur if more than one match in this number overlaps itself.
    const SHORT_OFFSETS_DIVISOR: u32 = 8;
}

/// Returns the kind of the sequences at `src[at]`.
#[inline(never)]
pub(super) fn sample_sequence_kind(src: &[u8], mut at: usize) -> SequenceKind {
    let end = at + SAMPLE_BYTES.get();
    let (mut count, mut wrong, mut near) = (0, 0, 0);
    let mut predictor = Predictor::default();
    while count < MAX_SAMPLES.get()
        && at < end
        && let Some(&token) = src.get(at)
    {
        at += 1;
        let nibble = usize::from(token >> 4);
        wrong += u32::from(predictor.is_wrong(nibble > 0));
        let Some(literals) = read_length(src, &mut at, nibble) else { break };
        at += literals;
        let Some(&[low, high]) = src.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        near += u32::from(u16::from_le_bytes([low, high]) < 8);
        at += 2;
        if read_length(src, &mut at, usize::from(token) & MAX_NIBBLE).is_none() {
            break;
        }
        count += 1;
    }
    if !HAS_SAMPLES.get() || wrong * UNPREDICTABLE_DIVISOR.get() > count {
        SequenceKind::Unpredictable
    } else if HAS_SHORT_OFFSET_LOOP.get() && near * SHORT_OFFSETS_DIVISOR.get() > count {
        SequenceKind::ShortOffsets
    } else {
        SequenceKind::Predictable
    }
}

/// Predicts a sequence of booleans: the value that last followed the same four values.
#[derive(Default)]
struct Predictor {
    /// The last four values, the most recent one in the lowest bit.
    history: u32,
    /// The value that last followed each history, one bit each.
    followed_by: u32,
}

impl Predictor {
    /// Returns whether `value` differs from the prediction, and updates the predictor.
    #[inline(always)]
    fn is_wrong(&mut self, value: bool) -> bool {
        let wrong = (self.followed_by >> self.history & 1 == 1) != value;
        self.followed_by ^= u32::from(wrong) << self.history;
        self.history = (self.history << 1 | u32::from(value)) & 0xf;
        wrong
    }
}
