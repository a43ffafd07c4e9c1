//! The planes that are unshuffled, each in its own place.

/// The largest number of planes that need not be contiguous.
pub(crate) const MAX_SEPARATE_PLANES: usize = 8;

/// A stream of a shuffled block.
#[derive(Clone, Copy)]
pub(crate) enum SeparatePlane<'a> {
    /// The bytes of the stream.
    Bytes(&'a [u8]),
    /// All bytes of the stream have this value.
    Run(u8),
}
