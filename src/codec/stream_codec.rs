//! What a compressor of single streams is to its callers: the traits [`Encoder`] and [`Decoder`], and the working memory.

#[cfg(feature = "ndlz")]
use super::ndlz;
use super::{blosclz, lz4, zlib, zstd};
use crate::error::Result;

/// The per-thread state that codecs keep between streams, so that a stream costs no allocation.
/// Everything in it is created on first use.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(super) blosclz: blosclz::Tables,
    pub(super) lz4: lz4::State,
    #[cfg(feature = "ndlz")]
    pub(crate) ndlz: ndlz::Tables,
    pub(super) zlib: zlib::State,
    pub(super) zstd: zstd::State,
}

/// Room behind a stream's content with which every decoder is as fast as it can be, in bytes.
pub(crate) const WRITE_AHEAD: usize = 128;

/// Compresses single streams.
pub(crate) trait Encoder: Sync {
    /// Compresses `src` into `dest`. Returns the number of bytes written; 0 when the result does not fit into
    /// `dest` or the codec gives up. A caller's own codec may also fail with an error.
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;
}

/// Decompresses single streams.
pub(crate) trait Decoder: Sync {
    /// Decompresses the whole of `src` into `dest` and returns the number of bytes written; any number but
    /// `dest.len()` means that the stream is bad (0: the codec found out itself).
    fn decode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// As [`decode`](Self::decode) of the first `src_len` bytes of `src` into the first `dest_len` of `dest`. A codec
    /// may read what lies behind them, and leave garbage there, so that short streams need fewer checks.
    ///
    /// # Panics
    /// If the buffers are shorter than that.
    fn decode_ahead(
        &self,
        workspace: &mut Workspace,
        src: &[u8],
        src_len: usize,
        dest: &mut [u8],
        dest_len: usize,
    ) -> Result<usize> {
        self.decode(workspace, &src[..src_len], &mut dest[..dest_len])
    }
}
