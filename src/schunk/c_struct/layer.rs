//! The two lists of metalayers of a super-chunk.

use crate::abi::{BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS};

/// A list of metalayers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Fixed metalayers, in the header of a frame.
    Fixed,
    /// Metalayers of variable length, compressed, in the trailer.
    Variable,
}

impl Layer {
    /// Upper limit for the number of metalayers.
    pub(crate) fn limit(self) -> usize {
        match self {
            Layer::Fixed => BLOSC2_MAX_METALAYERS as usize,
            Layer::Variable => BLOSC2_MAX_VLMETALAYERS as usize,
        }
    }
}
