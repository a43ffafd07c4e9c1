//! Zlib streams (`codecs.md` 5): RFC 1950, two header bytes, deflate data, the Adler-32 of the plain bytes.
//!
//! Owns the decoder, the choice of the encoder's entry function by level, and the states of a thread. Never decides
//! which codec runs, and has no access to chunks.
//!
//! The encoder, [`deflate`], searches as the reference does: zlib-ng for chunks of Blosc2, zlib for those of Blosc 1.

mod deflate;
mod inflate;

use super::incompressible::is_incompressible;
use crate::error::Result;
use crate::fallible::{self, get_or_make};
use crate::tuning::tunable;
use inflate::ADLER_LEN;

pub(in crate::codec) use deflate::LevelSet;

/// The first bytes of a stream: deflate with the largest window (RFC 1950 2.2).
const HEADER: [u8; 2] = [0x78, 0x01];

tunable! {
    /// Where the content can be stored instead, a stream must save at least 1 / `MIN_SAVING_DIVISOR` of its content: stored
    /// bytes are read 10 to 30 times as fast (cell 9005:496 of the drawn benchmark saves 0.3 % and took 30 times as long to
    /// read as the chunk that the C library had stored).
    const MIN_SAVING_DIVISOR: usize = 256;
    /// Whether a test for noise precedes the encoder.
    const TESTS_FOR_NOISE: bool = true;
}

/// The states of one thread.
#[derive(Default)]
pub(super) struct ZlibWorkspace {
    inflater: Option<Box<inflate::Inflater>>,
    positions: deflate::Level1Positions,
    encoder: Option<Box<deflate::DeflateWorkspace>>,
}

/// Compresses `src` at a level of zlib or zlib-ng. Returns the length in bytes; 0 if the result does not fit, at `clevel` 0, and if `dest` is no
/// longer than `src` and the result is not shorter than `dest` by 1 / [`MIN_SAVING_DIVISOR`].
pub(super) fn compress(
    state: &mut ZlibWorkspace,
    src: &[u8],
    dest: &mut [u8],
    levels: LevelSet,
    clevel: i32,
) -> Result<usize> {
    let can_store = dest.len() <= src.len();
    let max_len = if can_store {
        dest.len() - src.len().min(dest.len()) / MIN_SAVING_DIVISOR.get()
    } else {
        dest.len()
    };
    let Some(room) = max_len.checked_sub(HEADER.len() + ADLER_LEN) else { return Ok(0) };
    let is_incompressible =
        can_store && TESTS_FOR_NOISE.get() && is_incompressible(src, deflate::MAX_DISTANCE);
    if !(1..=9).contains(&clevel) || is_incompressible {
        return Ok(0);
    }
    let (header, rest) = dest.split_at_mut(HEADER.len());
    let written = match (levels, clevel) {
        (LevelSet::ZlibNg, 1) => deflate::compress_level_1(&mut state.positions, src, &mut rest[..room])?,
        _ => {
            let encoder = get_or_make(&mut state.encoder, deflate::DeflateWorkspace::new)?;
            deflate::compress(encoder, src, &mut rest[..room], levels, clevel)
        }
    };
    let Some(written) = written else { return Ok(0) };
    header.copy_from_slice(&HEADER);
    rest[written..written + ADLER_LEN].copy_from_slice(&adler32(src).to_be_bytes());
    Ok(HEADER.len() + written + ADLER_LEN)
}

/// Returns the Adler-32 of `bytes` (RFC 1950 9).
fn adler32(bytes: &[u8]) -> u32 {
    simd_adler32::adler32(&bytes)
}

/// Decompresses the zlib stream that `src` begins with. Returns the number of bytes written; 0 if the stream is invalid
/// or needs more than `dest`.
pub(super) fn decompress(state: &mut ZlibWorkspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    let inflater = get_or_make(&mut state.inflater, new_inflater)?;
    Ok(inflater.decode_zlib(src, dest, adler32).unwrap_or(0))
}

/// Returns a new decoder. Not inlined: the decoder would be built on the caller's stack, and every call would pay for
/// the stack probes.
#[cold]
#[inline(never)]
fn new_inflater() -> Result<Box<inflate::Inflater>> {
    fallible::try_box(inflate::Inflater::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns one in `step` levels of both sets.
    fn all_levels(step: usize) -> impl Iterator<Item = (LevelSet, i32)> {
        let sets = [LevelSet::ZlibNg, LevelSet::Zlib];
        sets.into_iter().flat_map(move |levels| (1..=9).step_by(step).map(move |clevel| (levels, clevel)))
    }

    /// Returns streams that an encoder would misjudge by a sample.
    fn hard_to_sample_streams() -> Vec<(String, Vec<u8>)> {
        let noise = Random(1).bytes(200_000, 256);
        let mut kinds: Vec<(String, Vec<u8>)> = Vec::new();
        for period in [1 << 10, 4 << 10, 20_000, 32_000, 100_000] {
            let bytes = noise[..period].iter().copied().cycle().take(200_000).collect();
            kinds.push((format!("noise repeated after {period} bytes"), bytes));
        }
        for run in [2, 7, 100, 3000] {
            let bytes = noise.iter().flat_map(|&byte| std::iter::repeat_n(byte, run)).take(150_000).collect();
            kinds.push((format!("runs of {run}"), bytes));
        }
        let skewed: Vec<u8> = noise.chunks_exact(2).map(|two| two[0].min(two[1])).collect();
        kinds.push(("skewed noise".into(), skewed.clone()));
        let ramp: Vec<u8> = (0..60_000u32).map(|i| (i / 7) as u8).collect();
        kinds.push((
            "planes of a ramp, noise and zeros".into(),
            [&ramp[..], &noise[..60_000], &[0; 60_000]].concat(),
        ));
        kinds.push((
            "noise, skewed noise, noise".into(),
            [&noise[..50_000], &skewed[..50_000], &noise[..30_000]].concat(),
        ));
        kinds.push(("noise before a few zeros".into(), [&noise[..24_576], &[0; 8000]].concat()));
        kinds.push(("an empty stream".into(), vec![]));
        kinds
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes many minutes for 200 KB")]
    fn round_trip_gives_the_input_and_streams_are_not_longer_than_zlib_rs() {
        let mut state = ZlibWorkspace::default();
        for (name, src) in hard_to_sample_streams() {
            let mut dest = vec![0; 2 * src.len() + 100];
            let mut back = vec![0; src.len()];
            for (levels, clevel) in all_levels(1) {
                let len = compress(&mut state, &src, &mut dest, levels, clevel).unwrap();
                assert_eq!(
                    decompress(&mut state, &dest[..len], &mut back).unwrap(),
                    src.len(),
                    "{name}, {levels:?} {clevel}"
                );
                assert!(back == src, "{name}, {levels:?} {clevel}");
                let mut plain = vec![0; 2 * src.len() + 100];
                // The lengths of zlib's levels are compared with C-Blosc 1 in the tests of the crate `blosc1`.
                let mut library = flate2::Compress::new(flate2::Compression::new(clevel as u32), false);
                library.compress(&src, &mut plain, flate2::FlushCompress::Finish).unwrap();
                let plain = library.total_out() as usize;
                let limit = plain + plain / 100 + 20;
                let is_short = levels == LevelSet::Zlib || len <= limit;
                assert!(is_short, "{name}, {levels:?} {clevel}: {len} against {plain}");
                // One byte less is too few, and the encoders remain usable.
                let tight = compress(&mut state, &src, &mut dest[..len - 1], levels, clevel).unwrap();
                assert_eq!(tight, 0, "{name}, {levels:?} {clevel}");
            }
        }
    }

    #[test]
    fn compress_returns_0_if_storing_is_possible_and_saving_is_small() {
        // Zeros are none, 1/400 of the stream, or 1/68.
        let step = if cfg!(miri) { 4 } else { 1 };
        for (zeros, is_encoded) in [(0, false), (20, false), (120, true)] {
            let src = [&Random(1).bytes(8000, 256)[..], &vec![0; zeros]].concat();
            let mut dest = vec![0; 2 * src.len()];
            let mut state = ZlibWorkspace::default();
            for (levels, clevel) in all_levels(step) {
                assert!(
                    compress(&mut state, &src, &mut dest, levels, clevel).unwrap() > 0,
                    "{levels:?} {clevel}"
                );
                let len = compress(&mut state, &src, &mut dest[..src.len()], levels, clevel).unwrap();
                assert_eq!(len > 0, is_encoded, "{zeros}, {levels:?} {clevel}: {len}");
            }
        }
    }
}
