//! The two lists of metalayers of a super-chunk.

use crate::abi::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS};

/// A list of metalayers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetalayerKind {
    /// Fixed metalayers, in the header of a frame.
    Fixed,
    /// Metalayers of variable length, compressed, in the trailer.
    Variable,
}

impl MetalayerKind {
    /// Upper limit for the number of metalayers.
    pub(crate) fn max_count(self) -> usize {
        match self {
            MetalayerKind::Fixed => BLOSC2_MAX_METALAYERS as usize,
            MetalayerKind::Variable => BLOSC2_MAX_VLMETALAYERS as usize,
        }
    }
}
