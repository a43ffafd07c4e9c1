//! The choice of a loop for the next window of a block, from a look at the first sequences in it.
//!
//! Copies nothing, and reports no errors: the loop finds them.

#![forbid(unsafe_code)]

use super::format::{MORE, length};

/// What the sequences of a window are like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whether a sequence has literals can be predicted from the ones before it.
    Regular,
    /// It cannot.
    Mixed,
    /// As [`Regular`](Kind::Regular), and some of the short matches overlap themselves.
    Near,
}

/// The most sequences to look at, and the number of bytes after which no further one is looked at. Where sequences are long, their kind
/// matters little, and reading 24 of them takes as long as decoding them.
const SAMPLE: u32 = 24;
const SAMPLE_BYTES: usize = 192;
/// Sequences are mixed if more than one in this number is predicted wrongly.
const MIXED_FROM: u32 = 5;
/// Near matches occur if more than one in this number overlaps itself.
const NEAR_FROM: u32 = 8;

/// Returns the kind of the sequences at `src[at]`.
#[inline(never)]
pub(super) fn kind(src: &[u8], mut at: usize) -> Kind {
    let end = at + SAMPLE_BYTES;
    let (mut count, mut wrong, mut near) = (0, 0, 0);
    let mut predictor = Predictor::default();
    while count < SAMPLE
        && at < end
        && let Some(&token) = src.get(at)
    {
        at += 1;
        let nibble = usize::from(token >> 4);
        wrong += u32::from(predictor.is_wrong(nibble > 0));
        let Some(literals) = length(src, &mut at, nibble) else { break };
        at += literals;
        let Some(&[low, high]) = src.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        near += u32::from(u16::from_le_bytes([low, high]) < 8);
        at += 2;
        if length(src, &mut at, usize::from(token) & MORE).is_none() {
            break;
        }
        count += 1;
    }
    if wrong * MIXED_FROM > count {
        Kind::Mixed
    } else if near * NEAR_FROM > count {
        Kind::Near
    } else {
        Kind::Regular
    }
}

/// Predicts a sequence of yes and no: the same as the last time after the same four.
#[derive(Default)]
struct Predictor {
    /// The last four, the last one in the lowest bit.
    history: u32,
    /// What followed each history: a bit each.
    followed_by: u32,
}

impl Predictor {
    /// Returns whether `value` is not what was predicted.
    #[inline(always)]
    fn is_wrong(&mut self, value: bool) -> bool {
        let wrong = (self.followed_by >> self.history & 1 == 1) != value;
        self.followed_by ^= u32::from(wrong) << self.history;
        self.history = (self.history << 1 | u32::from(value)) & 0xf;
        wrong
    }
}
