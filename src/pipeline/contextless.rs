//! Compression and decompression without a context: the parameters come from the library's settings and the
//! environment.
//!
//! The settings are read at the start of a call; calls from several threads do not wait for each other.

use super::block_size::DefaultTuner;
use super::compress::{self, ContentSource, plan};
use super::decompress;
use super::env_overrides;
use super::params::DecompressParams;
use super::{library, tuner};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{ErrorKind, Result};
use crate::out_buffer::OutBuffer;

/// Compresses `src` into `dest`. Returns the length of the chunk in bytes, or 0 if it does not fit.
///
/// # Errors
/// Those of `chunk.md` 3.
pub(crate) fn compress(
    clevel: i32,
    doshuffle: i32,
    typesize: i32,
    src: &[u8],
    dest: OutBuffer<'_>,
) -> Result<usize> {
    let mut params = env_overrides::params_without_context(clevel, doshuffle, typesize)?;
    let nbytes = i32::try_from(src.len()).unwrap_or(i32::MAX);
    let default_tuner = DefaultTuner::from_params(&params);
    params.blocksize = default_tuner.blocksize(nbytes, params.typesize, params.blocksize);
    tuner::trace_choice(params.compcode, params.clevel, params.blocksize, params.typesize, default_tuner);
    plan::check_params(&params, src.len(), dest.len(), Some(ErrorKind::CodecParam))?;
    // SAFETY: the encoder writes each byte of a chunk before it reads it.
    let dest = unsafe { dest.into_bytes() };
    let header = compress::compress(&params, ContentSource::Buffer(src), dest)?;
    Ok(usize::try_from(header.cbytes).unwrap_or(0))
}

/// Decompresses a whole chunk into `dest`. Returns the length of the content in bytes.
///
/// # Errors
/// `InvalidParam` when the environment sets an invalid number of threads, and those of `chunk.md` 2.
pub(crate) fn decompress(chunk: &[u8], dest: OutBuffer<'_>) -> Result<usize> {
    library::init();
    let nthreads = env_overrides::nthreads_without_context()?;
    let params =
        DecompressParams { nthreads: usize::from(nthreads.unsigned_abs()), ..DecompressParams::default() };
    let mut header = ChunkHeader::default();
    Ok(decompress::decompress(&params, &ParsedChunk::parse(&mut header, chunk)?, dest)?.nbytes)
}
