//! The filter pipelines that the automatic tuner chooses from: those that every release of C-Blosc2 has without plugins.

use crate::chunk::format::{MAX_FILTERS, filter_id};

/// A filter pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterChain {
    /// No filter.
    None,
    /// Bytes by their place in the item.
    Shuffle,
    /// Bits by their place in the item.
    Bitshuffle,
    /// XOR with the item before, or with the first block.
    Delta,
    /// Delta, then shuffle.
    DeltaShuffle,
    /// Delta, then bitshuffle.
    DeltaBitshuffle,
}

impl FilterChain {
    /// All pipelines.
    pub const ALL: [FilterChain; 6] = [
        FilterChain::None,
        FilterChain::Shuffle,
        FilterChain::Bitshuffle,
        FilterChain::Delta,
        FilterChain::DeltaShuffle,
        FilterChain::DeltaBitshuffle,
    ];
    /// The pipelines that the tuner chooses from.
    pub const CHOICES: [FilterChain; 3] = [FilterChain::None, FilterChain::Shuffle, FilterChain::Bitshuffle];

    /// Returns the pipeline with delta in front.
    pub(crate) fn with_delta(self) -> FilterChain {
        match self {
            FilterChain::None | FilterChain::Delta => FilterChain::Delta,
            FilterChain::Shuffle | FilterChain::DeltaShuffle => FilterChain::DeltaShuffle,
            FilterChain::Bitshuffle | FilterChain::DeltaBitshuffle => FilterChain::DeltaBitshuffle,
        }
    }

    /// Returns whether the first filter is delta.
    pub(crate) fn has_delta(self) -> bool {
        matches!(self, FilterChain::Delta | FilterChain::DeltaShuffle | FilterChain::DeltaBitshuffle)
    }

    /// Returns whether the pipeline encodes each byte of items of `typesize` bytes that `nbytes` bytes of content consist of,
    /// and no shorter pipeline does the same: shuffle does not change items of one byte, and the reference loses the bytes
    /// behind the last word of delta (`filters.md` D2).
    pub fn is_useful(self, typesize: usize, nbytes: usize) -> bool {
        let shuffles = matches!(self, FilterChain::Shuffle | FilterChain::DeltaShuffle);
        let is_identity = shuffles && typesize == 1;
        !is_identity && (!self.has_delta() || nbytes.is_multiple_of(typesize))
    }

    /// Returns the ids of the filters, slot by slot.
    pub fn filters(self) -> [u8; MAX_FILTERS] {
        let mut filters = [filter_id::NONE; MAX_FILTERS];
        if self.has_delta() {
            filters[MAX_FILTERS - 2] = filter_id::DELTA;
        }
        filters[MAX_FILTERS - 1] = match self {
            FilterChain::None | FilterChain::Delta => filter_id::NONE,
            FilterChain::Shuffle | FilterChain::DeltaShuffle => filter_id::SHUFFLE,
            FilterChain::Bitshuffle | FilterChain::DeltaBitshuffle => filter_id::BITSHUFFLE,
        };
        filters
    }
}
