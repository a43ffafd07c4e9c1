//! What a read did.

/// What a decompression did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decompressed {
    /// Bytes of content, blocks that were masked out included.
    pub nbytes: usize,
    /// Whether a dictionary was used.
    pub used_dictionary: bool,
}
