//! The interface of the compressors of single streams: the traits [`Encoder`] and [`Decoder`], and the working memory.

use super::blosclz;
#[cfg(feature = "ndlz")]
use super::ndlz;
use super::run_streams::RunStreams;
use crate::error::Result;

/// The per-thread state that codecs keep between streams, so that a stream costs no allocation. Each part is created on
/// first use.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(super) blosclz: Option<blosclz::HashTables>,
    #[cfg(feature = "lz4")]
    pub(super) lz4: super::lz4::Lz4Workspace,
    pub(super) runs: RunStreams,
    #[cfg(feature = "ndlz")]
    pub(crate) ndlz: Option<ndlz::NdlzTables>,
    #[cfg(feature = "snappy")]
    pub(super) snappy: super::snappy::SnappyWorkspace,
    #[cfg(feature = "zlib")]
    pub(super) zlib: super::zlib::ZlibWorkspace,
    #[cfg(feature = "zstd")]
    pub(super) zstd: super::zstd::ZstdWorkspace,
}

/// The room, in bytes, behind a stream's content that is enough for the fastest path of every decoder.
pub(crate) const DECODE_SLACK: usize = 128;

/// Compresses single streams.
pub(crate) trait Encoder: Sync {
    /// Compresses `src` into `dest`. Returns the number of bytes written; 0 when the result does not fit into `dest` or
    /// the codec gives up. A codec of the caller may also return an error.
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// As [`encode`](Self::encode), for one byte or more that are all equal.
    fn encode_run(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.encode(workspace, src, dest)
    }
}

/// Decompresses single streams.
pub(crate) trait Decoder: Sync {
    /// Decompresses the whole of `src` into `dest` and returns the number of bytes written; any number but `dest.len()`
    /// means that the stream is invalid (0: the codec itself has detected it).
    fn decode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// As [`decode`](Self::decode) of the first `src_len` bytes of `src` into the first `dest_len` of `dest`. A codec
    /// may read the bytes behind them, and write garbage there, so that short streams need fewer checks.
    ///
    /// # Panics
    /// If the buffers are shorter than that.
    fn decode_with_slack(
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
