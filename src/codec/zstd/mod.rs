//! Zstandard streams (`codecs.md` 6 and 7): wrappers round the bundled C library.
//!
//! Owns the per-thread contexts, and how the library is to search a stream ([`search`]). Never decides which codec runs, and never sees a chunk.
//! A stream is one standard frame with its content size and no checksum; the decoder takes what the
//! library takes, several frames and the formats of old releases included.

mod search;

use zstd_safe::{CCtx, CDict, CParameter, CompressionLevel, DCtx, DDict, ParamSwitch, ResetDirective};

use super::Arrangement;
use crate::err;
use crate::error::Result;
use search::Search;

/// What the library embeds; a test compares it with what the library says of itself.
pub(super) const VERSION: &str = "1.5.7";

/// The level of every prepared dictionary, whatever the chunk's `clevel` (`codecs.md` 7.2).
const DICTIONARY_LEVEL: CompressionLevel = 1;

/// The contexts of one thread.
#[derive(Default)]
pub(super) struct State {
    encoder: Option<CCtx<'static>>,
    /// What the encoder's parameters are set to, unless they are the library's own.
    set: Option<Search>,
    decoder: Option<DCtx<'static>>,
}

impl State {
    fn encoder(&mut self) -> Result<&mut CCtx<'static>> {
        match &mut self.encoder {
            Some(context) => Ok(context),
            slot => {
                let context =
                    CCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "no memory for the Zstd context"))?;
                Ok(slot.insert(context))
            }
        }
    }

    fn decoder(&mut self) -> Result<&mut DCtx<'static>> {
        match &mut self.decoder {
            Some(context) => Ok(context),
            slot => {
                let context =
                    DCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "no memory for the Zstd context"))?;
                Ok(slot.insert(context))
            }
        }
    }
}

/// Compresses; 0 if the result does not fit. Where there is no room for a longer one, the search may be left out.
pub(super) fn compress(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    arrangement: Arrangement,
) -> Result<usize> {
    if dest.len() <= src.len() && search::is_hopeless(src, clevel) {
        return Ok(0);
    }
    let search = search::choose(src, clevel, arrangement);
    if search.is_plain() {
        return Ok(state.encoder()?.compress(dest, src, search.level).unwrap_or(0));
    }
    if state.set != Some(search) {
        state.set = None;
        if set(state.encoder()?, &search).is_err() {
            return Err(err!(Failure, "the Zstd library refuses {search:?}"));
        }
        state.set = Some(search);
    }
    Ok(state.encoder()?.compress2(dest, src).unwrap_or(0))
}

/// Sets the parameters of an encoder, which only [`CCtx::compress2`] heeds.
fn set(encoder: &mut CCtx<'static>, search: &Search) -> std::result::Result<(), usize> {
    encoder.reset(ResetDirective::SessionAndParameters)?;
    encoder.set_parameter(CParameter::CompressionLevel(search.level))?;
    if let Some(strategy) = search.strategy {
        encoder.set_parameter(CParameter::Strategy(strategy))?;
    }
    if let Some(log) = search.search_log {
        encoder.set_parameter(CParameter::SearchLog(log))?;
    }
    if let Some(len) = search.min_match {
        encoder.set_parameter(CParameter::MinMatch(len))?;
    }
    if search.splits {
        encoder.set_parameter(CParameter::UseBlockSplitter(ParamSwitch::Enable))?;
    }
    Ok(())
}

/// Compresses with a dictionary, at the dictionary's level; 0 if the result does not fit.
pub(super) fn compress_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    dictionary: &CDict<'static>,
) -> Result<usize> {
    Ok(state.encoder()?.compress_using_cdict(dest, src, dictionary).unwrap_or(0))
}

/// Decompresses all of `src`; 0 if it is bad or needs more than `dest`.
pub(super) fn decompress(state: &mut State, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    Ok(state.decoder()?.decompress(dest, src).unwrap_or(0))
}

/// As [`decompress`], with the dictionary that the encoder had.
pub(super) fn decompress_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    dictionary: &DDict<'static>,
) -> Result<usize> {
    Ok(state.decoder()?.decompress_using_ddict(dest, src, dictionary).unwrap_or(0))
}

/// Prepares a dictionary for the encoder; `None` if the library refuses the bytes.
pub(super) fn encoder_dictionary(bytes: &[u8]) -> Option<CDict<'static>> {
    CDict::try_create(bytes, DICTIONARY_LEVEL)
}

/// Prepares a dictionary for the decoder; `None` if the library refuses the bytes.
pub(super) fn decoder_dictionary(bytes: &[u8]) -> Option<DDict<'static>> {
    DDict::try_create(bytes)
}

/// Trains a dictionary of at most `capacity` bytes; see [`super::train_zstd`].
pub(super) fn train(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
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
    fn the_version_is_the_library_s_own() {
        assert_eq!(zstd_safe::version_string(), VERSION);
    }
}
