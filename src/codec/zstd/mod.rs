//! Zstandard streams (`codecs.md` 6 and 7): wrappers around the bundled C library.
//!
//! Owns the per-thread contexts. Never decides which codec runs, and has no access to chunks. The decoder accepts what the
//! library accepts, several frames and the formats of old releases included.
//!
//! Matches are searched for with the effort of the reference at the same level, except in planes without any
//! ([`matchless`]). A stream is one standard frame with its content size and no checksum, or, if only some of its planes are
//! without matches, several such frames.

use zstd_safe::{CCtx, CDict, CParameter, CompressionLevel, DCtx, DDict, ParamSwitch, ResetDirective};

use super::matchless::{self, Limits};
use crate::error::{Error, Result, err};
use crate::fallible;
use crate::tuning::tunable;

/// The level of every prepared dictionary, whatever the chunk's `clevel` (`codecs.md` 7.2).
pub(super) const DICTIONARY_LEVEL: CompressionLevel = 1;

/// The level without a search for matches: the library skips this many bytes after each position that it tries.
const LITERALS_LEVEL: CompressionLevel = -(1 << 17);
/// The least and the largest limit of the length of the library's blocks, in bytes.
const MIN_BLOCK_LEN: usize = 1 << 10;
const MAX_BLOCK_LEN: usize = 128 << 10;

tunable! {
    /// Whether planes without matches are not searched.
    const FINDS_MATCHLESS_PLANES: bool = true;
    /// The `clevel` from which on the library's search takes longer than the test for matches.
    const MIN_SLOW_CLEVEL: i32 = 4;
    /// The excess of Huffman codes over the entropy, in percent, up to which a search for matches saves nothing, below
    /// [`MIN_OPTIMAL_CLEVEL`] and from there on.
    const MAX_FAST_EXCESS_PERCENT: u32 = 10;
    const MAX_OPTIMAL_EXCESS_PERCENT: u32 = 5;
}
/// The `clevel` from which on the library compares the lengths of codes when it chooses matches, and is slow for noise.
const MIN_OPTIMAL_CLEVEL: i32 = 7;
/// The least entropy of matchless data, and the largest one below [`MIN_OPTIMAL_CLEVEL`], in bits: searches find matches in
/// data of fewer bits (without the limit, the drawn cells 918002:115 and 917001:112 are 2.4 to 3.4 % longer), and are fast in
/// noise.
const MIN_ENTROPY: f64 = 1.5;
const MAX_FAST_ENTROPY: f64 = 7.0;
/// The length in bytes from which on planes are tested below [`MIN_OPTIMAL_CLEVEL`] if a stream has several: the samples of
/// shorter ones take longer than some searches (cell 915801:22 of the drawn benchmark, 64 planes of 4 KiB).
const MIN_FAST_PLANE_LEN: usize = 16 << 10;

/// The contexts of one thread.
#[derive(Default)]
pub(super) struct ZstdWorkspace {
    encoder: Option<CCtx<'static>>,
    positions: matchless::Positions,
    decoder: Option<DCtx<'static>>,
}

impl ZstdWorkspace {
    fn encoder(&mut self) -> Result<&mut CCtx<'static>> {
        fallible::get_or_make(&mut self.encoder, || {
            CCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "a Zstd compression context"))
        })
    }

    fn decoder(&mut self) -> Result<&mut DCtx<'static>> {
        fallible::get_or_make(&mut self.decoder, || {
            DCtx::try_create().ok_or_else(|| err!(MemoryAlloc, "a Zstd decompression context"))
        })
    }
}

/// Returns the library's level for a `clevel` of 0..=9 (`codecs.md` 6).
fn zstd_level(clevel: i32) -> CompressionLevel {
    if clevel < 9 { 2 * clevel - 1 } else { zstd_safe::max_c_level() }
}

/// Returns the parameters of the library's search at `level` in a stream of `len` bytes. By itself, the library would search
/// a part of the stream with more effort, because it is shorter.
fn search_parameters(level: CompressionLevel, len: usize) -> [CParameter; 8] {
    // SAFETY: a function of numbers.
    let parameters = unsafe { zstd_safe::zstd_sys::ZSTD_getCParams(level, len as u64, 0) };
    [
        CParameter::CompressionLevel(level),
        CParameter::WindowLog(parameters.windowLog),
        CParameter::ChainLog(parameters.chainLog),
        CParameter::HashLog(parameters.hashLog),
        CParameter::SearchLog(parameters.searchLog),
        CParameter::MinMatch(parameters.minMatch),
        CParameter::TargetLength(parameters.targetLength),
        CParameter::Strategy(parameters.strategy),
    ]
}

/// Compresses `src`, which consists of `nplanes` planes of equal length, perhaps with a rest. Returns the length in bytes; 0
/// if the result does not fit.
pub(super) fn compress(
    state: &mut ZstdWorkspace,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    nplanes: usize,
) -> Result<usize> {
    let is_fast = clevel < MIN_OPTIMAL_CLEVEL;
    let is_tested = clevel >= MIN_SLOW_CLEVEL.get()
        && (!is_fast || nplanes <= 1 || src.len() / nplanes >= MIN_FAST_PLANE_LEN);
    let limits = if is_fast {
        let huffman_excess_percent = MAX_FAST_EXCESS_PERCENT.get();
        Limits { entropy: MIN_ENTROPY..MAX_FAST_ENTROPY, huffman_excess_percent }
    } else {
        let huffman_excess_percent = MAX_OPTIMAL_EXCESS_PERCENT.get();
        Limits { entropy: MIN_ENTROPY..f64::INFINITY, huffman_excess_percent }
    };
    let units = match FINDS_MATCHLESS_PLANES.get() && is_tested {
        true => matchless::find_matchless_units(&mut state.positions, src, nplanes, &limits)?,
        false => None,
    };
    let encoder = state.encoder()?;
    let Some(units) = units else {
        return Ok(encoder.compress(dest, src, zstd_level(clevel)).unwrap_or(0));
    };
    // Each plane has codes of its own: its length is a multiple of that of the library's blocks.
    let nblocks = units.unit_len().div_ceil(MAX_BLOCK_LEN);
    let block_len = (units.unit_len() / nblocks).max(MIN_BLOCK_LEN);
    let literals = [
        CParameter::CompressionLevel(LITERALS_LEVEL),
        CParameter::LiteralCompressionMode(ParamSwitch::Enable),
        CParameter::MaxBlockSize(block_len as u32),
    ];
    let search = search_parameters(zstd_level(clevel), src.len());
    let mut written = 0;
    for (part, is_matchless) in units.parts() {
        encoder.reset(ResetDirective::SessionAndParameters).expect("a context can be reset");
        for &parameter in if is_matchless { &literals[..] } else { &search } {
            encoder.set_parameter(parameter).expect("a valid parameter");
        }
        match encoder.compress2(&mut dest[written..], &src[part]) {
            Ok(len) => written += len,
            Err(_) => return Ok(0),
        }
    }
    Ok(written)
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

/// Returns the error for a dictionary that the library does not prepare: it gives no reason. Decoding an empty frame
/// checks the bytes without allocating.
#[cold]
pub(super) fn dictionary_error(bytes: &[u8]) -> Error {
    const EMPTY_FRAME: [u8; 9] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0, 1, 0, 0];
    let decoded = DCtx::try_create()
        .map(|mut decoder| decoder.decompress_using_dict(&mut [0][..], &EMPTY_FRAME, bytes));
    match decoded {
        Some(Err(_)) => err!(CodecDict, "Zstd rejects the dictionary"),
        _ => err!(MemoryAlloc, "a Zstd dictionary of {} bytes", bytes.len()),
    }
}

/// Trains a dictionary of at most `capacity` bytes on `samples`, the concatenation of samples of `sample_sizes`
/// bytes each. Returns `None` if the sizes do not add up to `samples.len()`, or the samples are too few or too similar
/// to train on.
pub(crate) fn train_dictionary(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
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
    use crate::codec::BuiltInCodec;
    use crate::random::Random;

    #[test]
    fn clevel_maps_to_the_zstd_level_of_the_reference() {
        assert_eq!([0, 1, 2, 5, 8, 9].map(zstd_level), [-1, 1, 3, 9, 15, 22]);
    }

    #[test]
    fn parameters_of_a_search_are_valid() {
        let mut context = CCtx::create();
        for clevel in 0..=9 {
            for len in [1, 2048, 100_000, 1 << 20, i32::MAX as usize] {
                for parameter in search_parameters(zstd_level(clevel), len) {
                    context
                        .set_parameter(parameter)
                        .unwrap_or_else(|_| panic!("{clevel} {len} {parameter:?}"));
                }
            }
        }
    }

    /// Returns planes of noise, of a ramp, of few values and of zeros.
    fn planes(len: usize) -> Vec<u8> {
        let random = &mut Random(1);
        let mut planes = random.bytes(len, 256);
        planes.extend((0..len).map(|at| (at / 100) as u8));
        planes.extend(random.bytes(len, 8));
        planes.resize(4 * len, 0);
        planes
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the C library")]
    fn planes_without_matches_have_frames_of_their_own_and_round_trip() {
        let mut state = ZstdWorkspace::default();
        let src = planes(20_000);
        let mut dest = vec![0; 2 * src.len()];
        for clevel in MIN_SLOW_CLEVEL.get()..=9 {
            let plain = compress(&mut state, &src, &mut dest, clevel, 1).unwrap();
            let len = compress(&mut state, &src, &mut dest, clevel, 4).unwrap();
            assert!(len < plain + plain / 200, "{clevel}: {len} bytes, {plain} in one frame");
            let first = zstd_safe::find_frame_compressed_size(&dest[..len]).unwrap();
            assert!(first < len, "{clevel}: one frame");
            let mut back = vec![0; src.len()];
            assert_eq!(decompress(&mut state, &dest[..len], &mut back).unwrap(), src.len(), "{clevel}");
            assert!(back == src, "{clevel}");
            // One byte less is too few, and the state remains usable.
            assert_eq!(compress(&mut state, &src, &mut dest[..len - 1], clevel, 4).unwrap(), 0, "{clevel}");
            assert_eq!(compress(&mut state, &src, &mut dest, clevel, 4).unwrap(), len, "{clevel}");
        }
    }

    #[test]
    fn version_equals_that_of_the_bundled_library() {
        assert_eq!(zstd_safe::version_string(), BuiltInCodec::Zstd.library_version());
    }
}
