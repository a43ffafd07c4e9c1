//! The libraries whose streams are the measure for the length of ours.

/// Whether the encoders for Blosc 1 are compiled in: `libblosc2` does not write chunks of Blosc 1.
pub(super) const HAS_BLOSC1_ENCODERS: bool = cfg!(any(feature = "blosc1", test));

/// The library than whose streams those of an encoder must not be longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// C-Blosc 1.21.6.
    CBlosc1 {
        /// Whether blocks are split into one stream for each byte of an item.
        is_split: bool,
    },
    /// C-Blosc2 3.3.5.
    CBlosc2,
}
