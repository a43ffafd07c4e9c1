//! Zlib streams (`codecs.md` 5): RFC 1950, two header bytes, deflate data, the Adler-32 of the plain bytes.
//!
//! Owns the decoder, the choice between the deflate encoders, and the per-thread states. Never
//! decides which codec runs, and never sees a chunk.
//!
//! Three encoders, because none wins everywhere. Ours ([`deflate`]) is for what shuffling makes of numbers: runs, short
//! periods, and bytes that nothing can be done about; and for everything at level 1. Text, where the search for repetitions
//! is all, is left to zlib-rs, which makes the reference's decisions, and at the highest levels to libdeflate. Streams that
//! are noise throughout are not encoded.

mod deflate;
mod inflate;
mod libdeflate;
mod zlib_rs;

use super::Arrangement;
use super::probe::{self, Care, Look};
use crate::error::Result;

/// What is told as the version of the codec: that of the library in it that has one, libdeflate.
pub(super) const VERSION: &str = libdeflate::VERSION;

/// What a stream begins with: deflate with the largest window, and a level that nobody reads.
const HEADER: [u8; 2] = [0x78, 0x01];
/// What a stream ends with: the checksum of the plain bytes.
const ADLER_LEN: usize = 4;

/// Up to this share of repetition, in percent, there is next to nothing to be found.
const NOISE: usize = 20;
/// The spread of bytes that codes gain next to nothing from.
const NOISE_VALUES: f32 = 245.0;
/// The share of repetition of text, in percent, at least, and its share of runs at the most.
const TEXT: usize = 30;
const TEXT_RUNS: usize = 5;
/// The same of bit-shuffled text, which repeats itself more than runs do.
const TEXT_BITS: usize = 12;
const TEXT_BITS_RUNS: usize = 15;

/// Up to this length, in bytes, bits are searched with all effort: there each repetition counts, and runs of zeros hide
/// those that are farther away. The same up to another length, with so many runs in percent.
const TINY: usize = 1024;
const SMALL: usize = 2048;
const SMALL_RUNS: usize = 40;
/// Where the repetition that is not runs is no more, in percent, a search is worth fewer levels: it finds next to
/// nothing more.
const ONLY_RUNS: usize = 3;

/// The least share of short repetition in items, the share of long one that is next to nothing, and the least of runs, in
/// percent.
const SHORT_REPETITION: usize = 12;
const LONG_REPETITION: usize = 10;
const ITEM_RUNS: usize = 50;

/// Who encodes a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoder {
    /// Ours, with the effort of a level.
    Own(usize),
    ZlibRs,
    Libdeflate,
}

/// Who encodes `src`, whose bytes are arranged like that, at a `clevel` of 1..=9. The limits are measured: the fastest
/// encoder whose streams are about as short as the reference's, on numbers (plain, shuffled, bit-shuffled), text and
/// programs.
fn encoder(clevel: i32, src: &[u8], arrangement: Arrangement) -> Encoder {
    let level = clevel as usize;
    if level == 1 {
        return Encoder::Own(level);
    }
    let is_tiny = src.len() <= TINY || (src.len() <= SMALL && probe::runs(src) >= SMALL_RUNS);
    if is_tiny && arrangement == Arrangement::Bits {
        return Encoder::Own(9);
    }
    let look = probe::look(src);
    let is_text = look.repetition >= TEXT && look.runs < TEXT_RUNS;
    let is_only_runs = look.repetition <= look.runs + ONLY_RUNS;
    let is_bits_of_text = look.runs < TEXT_BITS_RUNS && look.repetition >= look.runs + TEXT_BITS;
    if arrangement == Arrangement::Items
        && !is_text
        && !is_bits_of_text
        && let Some(encoder) = encoder_of_items(level, src, look)
    {
        return encoder;
    }
    match clevel {
        ..=6 if is_text || is_bits_of_text => Encoder::ZlibRs,
        7..=8 if is_text => Encoder::Libdeflate,
        // Here the reference looks everywhere.
        9 if look.repetition >= 70 => Encoder::ZlibRs,
        9 if arrangement == Arrangement::Items && (NOISE..60).contains(&look.repetition) => {
            Encoder::Libdeflate
        }
        3..=8 if is_only_runs => match arrangement {
            Arrangement::Plane | Arrangement::Planes => Encoder::Own((level - 2).max(2)),
            Arrangement::Bits if level == 5 => Encoder::Own(4),
            _ => Encoder::Own(level),
        },
        _ => Encoder::Own(level),
    }
}

/// As [`encoder`], of items that no filter has shuffled; `None` where nothing is special.
fn encoder_of_items(level: usize, src: &[u8], look: Look) -> Option<Encoder> {
    if !(3..=9).contains(&level) {
        return None;
    }
    let [three, four] = probe::short_repetition(src);
    let is_of_three = 2 * four < three;
    match level {
        // Three bytes are all that is repeated, and whoever looks for four finds little, slowly.
        ..=8 if three >= SHORT_REPETITION && is_of_three => Some(Encoder::Libdeflate),
        ..=7 if look.runs >= ITEM_RUNS => Some(Encoder::ZlibRs),
        // Items whose high bytes are alike: a deep search finds the same in each of them.
        ..=6 if four >= SHORT_REPETITION && look.repetition < LONG_REPETITION => Some(Encoder::Own(2)),
        9 if four >= SHORT_REPETITION && !is_of_three && look.repetition < LONG_REPETITION => {
            Some(Encoder::ZlibRs)
        }
        _ => None,
    }
}

/// The states of one thread.
#[derive(Default)]
pub(super) struct State {
    inflater: Option<Box<inflate::Inflater>>,
    libdeflate: libdeflate::State,
    zlib_rs: zlib_rs::State,
    deflate: deflate::State,
}

/// Compresses; 0 if the result does not fit or would save next to nothing, and at `clevel` 0: zlib would store, which is
/// longer than `src`.
pub(super) fn compress(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    arrangement: Arrangement,
) -> Result<usize> {
    if !(1..=9).contains(&clevel) {
        return Ok(0);
    }
    if probe::is_noise(src, NOISE_VALUES, Care::Far) && probe::is_uniform(src) {
        return Ok(0);
    }
    match encoder(clevel, src, arrangement) {
        Encoder::Own(level) => Ok(own(&mut state.deflate, src, dest, level)),
        Encoder::ZlibRs => Ok(zlib_rs::compress(&mut state.zlib_rs, src, dest, clevel)),
        Encoder::Libdeflate => libdeflate::compress(&mut state.libdeflate, src, dest),
    }
}

/// Compresses with our own encoder; 0 if the result does not fit.
fn own(state: &mut deflate::State, src: &[u8], dest: &mut [u8], level: usize) -> usize {
    let Some(room) = dest.len().checked_sub(HEADER.len() + ADLER_LEN) else { return 0 };
    let (header, rest) = dest.split_at_mut(HEADER.len());
    let Some(written) = deflate::compress(state, src, &mut rest[..room], level) else { return 0 };
    header.copy_from_slice(&HEADER);
    rest[written..written + ADLER_LEN].copy_from_slice(&libdeflate::adler32(src).to_be_bytes());
    HEADER.len() + written + ADLER_LEN
}

/// Decompresses the zlib stream that `src` begins with; 0 if it is bad or needs more than `dest`.
pub(super) fn decompress(state: &mut State, src: &[u8], dest: &mut [u8]) -> usize {
    state.inflater.get_or_insert_with(fresh).zlib(src, dest, libdeflate::adler32).unwrap_or(0)
}

/// Not in line: it would be made on the stack there, and every call clear its way to that.
#[cold]
#[inline(never)]
fn fresh() -> Box<inflate::Inflater> {
    Box::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_searched_with_less_effort_and_few_bits_with_all() {
        let runs: Vec<u8> = (0..64 << 10).map(|i: usize| (i / 61 * 0x9e37) as u8).collect();
        assert_eq!(encoder(5, &runs, Arrangement::Planes), Encoder::Own(3));
        assert_eq!(encoder(3, &runs, Arrangement::Plane), Encoder::Own(2));
        assert_eq!(encoder(5, &runs, Arrangement::Bits), Encoder::Own(4));
        assert_eq!(encoder(7, &runs, Arrangement::Bits), Encoder::Own(7));
        assert_eq!(encoder(5, &runs[..1024], Arrangement::Bits), Encoder::Own(9));
        assert_eq!(encoder(5, &runs, Arrangement::Items), Encoder::ZlibRs);
    }

    #[test]
    fn noise_is_left_alone_unless_it_comes_again() {
        let mut x = 1u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 56) as u8
        })
        .take(16 << 10)
        .collect();
        let again = noise.repeat(4);
        let mut state = State::default();
        let mut dest = vec![0; 2 * again.len()];
        for clevel in 1..=9 {
            let mut len =
                |src: &[u8]| compress(&mut state, src, &mut dest, clevel, Arrangement::Planes).unwrap();
            assert_eq!(len(&noise), 0, "{clevel}");
            // Farther away than a first look goes, and in reach.
            assert!((1..again.len() / 2).contains(&len(&again)), "{clevel}");
        }
    }
}
