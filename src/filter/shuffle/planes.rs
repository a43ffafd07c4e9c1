//! The planes that are unshuffled, each in its own place.

/// The largest number of planes that need not be contiguous.
pub(crate) const MAX_SEPARATE_PLANES: usize = 8;

/// A stream of a shuffled block.
#[derive(Clone, Copy)]
pub(crate) enum SeparatePlane<'a> {
    /// The bytes of the stream.
    Bytes(&'a [u8]),
    /// All bytes of the stream have this value.
    #[cfg_attr(
        not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
        expect(dead_code, reason = "the kernels are of x86-64 and AArch64")
    )]
    Run(u8),
}
