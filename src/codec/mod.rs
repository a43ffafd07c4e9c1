//! The compressors of single streams, each behind [`Encoder`] and [`Decoder`].

pub mod blosclz;

use crate::error::Result;

/// The per-thread state that codecs keep between streams, so that a stream costs no allocation.
/// Everything in it is created on first use.
#[derive(Default)]
pub struct Workspace {}

/// Compresses single streams.
pub trait Encoder: Sync {
    /// Compresses `src` into `dest`. Returns the number of bytes written; 0 when the result does not fit into
    /// `dest` or the codec gives up. A caller's own codec may also fail with an error.
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;
}

/// Decompresses single streams.
pub trait Decoder: Sync {
    /// Decompresses the whole of `src` into `dest` and returns the number of bytes written; any number but
    /// `dest.len()` means that the stream is bad (0: the codec found out itself).
    fn decode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;
}
