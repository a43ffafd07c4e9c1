//! Result of a decompression.

#[derive(Clone, Copy, Debug)]
pub(crate) struct DecompressOutcome {
    /// Size of the content in bytes, masked-out blocks included.
    pub nbytes: usize,
    pub used_dictionary: bool,
}
