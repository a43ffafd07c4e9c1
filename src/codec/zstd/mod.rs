//! Zstandard streams (`codecs.md` 6 and 7): wrappers around the bundled C library.
//!
//! Owns the per-thread contexts. Never decides which codec runs, and has no access to chunks. A stream is one standard
//! frame with its content size and no checksum; the decoder accepts what the library accepts, several frames and the
//! formats of old releases included.
//!
//! Every stream is searched with the effort of the reference at the same level. A sample cannot show whether another
//! search would find as much in less time.

use zstd_safe::{CCtx, CDict, CompressionLevel, DCtx, DDict};

use super::incompressible::is_incompressible;
use crate::err;
use crate::error::{Error, Result};
use crate::tuning::tunable;

/// The version of the bundled library; a test compares it with the version that the library reports.
pub(super) const VERSION: &str = "1.5.7";

/// The level of every prepared dictionary, whatever the chunk's `clevel` (`codecs.md` 7.2).
const DICTIONARY_LEVEL: CompressionLevel = 1;

tunable! {
    /// Whether a test for noise precedes the encoder at slow levels.
    const TESTS_FOR_NOISE: bool = true;
    /// The `clevel` from which on the library takes longer for noise than the test for noise (`cargo bench --bench drawn`).
    const MIN_SLOW_CLEVEL: i32 = 7;
}

/// The contexts of one thread.
#[derive(Default)]
pub(super) struct ZstdWorkspace {
    encoder: Option<CCtx<'static>>,
    decoder: Option<DCtx<'static>>,
}

impl ZstdWorkspace {
    fn encoder(&mut self) -> Result<&mut CCtx<'static>> {
        match &mut self.encoder {
            Some(context) => Ok(context),
            slot => {
                let context =
                    CCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "a Zstd compression context"))?;
                Ok(slot.insert(context))
            }
        }
    }

    fn decoder(&mut self) -> Result<&mut DCtx<'static>> {
        match &mut self.decoder {
            Some(context) => Ok(context),
            slot => {
                let context =
                    DCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "a Zstd decompression context"))?;
                Ok(slot.insert(context))
            }
        }
    }
}

/// Returns the library's level for a `clevel` of 0..=9 (`codecs.md` 6).
fn zstd_level(clevel: i32) -> CompressionLevel {
    if clevel < 9 { 2 * clevel - 1 } else { zstd_safe::max_c_level() }
}

/// Compresses `src`. Returns the length in bytes; 0 if the result does not fit, or, from level [`MIN_SLOW_CLEVEL`] on,
/// if `dest` is no longer than `src` and `src` is incompressible.
pub(super) fn compress(state: &mut ZstdWorkspace, src: &[u8], dest: &mut [u8], clevel: i32) -> Result<usize> {
    if TESTS_FOR_NOISE.get()
        && clevel >= MIN_SLOW_CLEVEL.get()
        && dest.len() <= src.len()
        && is_incompressible(src, usize::MAX)
    {
        return Ok(0);
    }
    Ok(state.encoder()?.compress(dest, src, zstd_level(clevel)).unwrap_or(0))
}

/// Compresses with a dictionary, at the dictionary's level. Returns the length in bytes; 0 if the result does not fit.
pub(super) fn compress_with_dictionary(
    state: &mut ZstdWorkspace,
    src: &[u8],
    dest: &mut [u8],
    dictionary: &CDict<'static>,
) -> Result<usize> {
    Ok(state.encoder()?.compress_using_cdict(dest, src, dictionary).unwrap_or(0))
}

/// Decompresses all of `src`. Returns the number of bytes written; 0 if `src` is invalid or needs more than `dest`.
pub(super) fn decompress(state: &mut ZstdWorkspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    Ok(state.decoder()?.decompress(dest, src).unwrap_or(0))
}

/// As [`decompress`], with the dictionary that the encoder used.
pub(super) fn decompress_with_dictionary(
    state: &mut ZstdWorkspace,
    src: &[u8],
    dest: &mut [u8],
    dictionary: &DDict<'static>,
) -> Result<usize> {
    Ok(state.decoder()?.decompress_using_ddict(dest, src, dictionary).unwrap_or(0))
}

/// Prepares a dictionary for the encoder.
///
/// # Errors
/// `CodecDict` if the library rejects the bytes, `MemoryAlloc`.
pub(super) fn encoder_dictionary(bytes: &[u8]) -> Result<CDict<'static>> {
    CDict::try_create(bytes, DICTIONARY_LEVEL).ok_or_else(|| dictionary_error(bytes))
}

/// Prepares a dictionary for the decoder.
///
/// # Errors
/// `CodecDict` if the library rejects the bytes, `MemoryAlloc`.
pub(super) fn decoder_dictionary(bytes: &[u8]) -> Result<DDict<'static>> {
    DDict::try_create(bytes).ok_or_else(|| dictionary_error(bytes))
}

/// Returns the error for a dictionary that the library does not prepare: it gives no reason. Decoding an empty frame
/// checks the bytes without allocating.
#[cold]
fn dictionary_error(bytes: &[u8]) -> Error {
    const EMPTY_FRAME: [u8; 9] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0];
    let decoded = DCtx::try_create()
        .map(|mut decoder| decoder.decompress_using_dict(&mut [0][..], &EMPTY_FRAME, bytes));
    match decoded {
        Some(Err(_)) => err!(CodecDict, "Zstd rejects the dictionary"),
        _ => err!(MemoryAlloc, "a Zstd dictionary of {} bytes", bytes.len()),
    }
}

/// Trains a dictionary of at most `capacity` bytes; see [`super::train_zstd`].
pub(super) fn train_dictionary(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
    let total = sample_sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size))?;
    if total != samples.len() || u32::try_from(sample_sizes.len()).is_err() {
        return None;
    }
    let mut dictionary = Vec::new();
    dictionary.try_reserve_exact(capacity).ok()?;
    dictionary.resize(capacity, 0);
    let len = zstd_safe::train_from_buffer(&mut dictionary[..], samples, sample_sizes).ok()?;
    dictionary.truncate(len);
    Some(dictionary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clevel_maps_to_the_zstd_level_of_the_reference() {
        assert_eq!([0, 1, 2, 5, 8, 9].map(zstd_level), [-1, 1, 3, 9, 15, 22]);
    }

    #[test]
    fn version_equals_that_of_the_bundled_library() {
        assert_eq!(zstd_safe::version_string(), VERSION);
    }
}
