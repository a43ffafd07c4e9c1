//! Zlib streams (`codecs.md` 5): RFC 1950, two header bytes, deflate data, the Adler-32 of the plain bytes.
//!
//! Owns the decoder, the choice between the two deflate encoders, their level maps, and the per-thread states. Never
//! decides which codec runs, and never sees a chunk.
//!
//! Two encoders, because neither wins everywhere. zlib-rs makes the reference's decisions: on streams that
//! mostly repeat what came just before, runs above all, it is several times as fast as libdeflate, which
//! looks at every byte of a match. On everything else libdeflate is up to three times as fast for the same size.

mod inflate;
mod libdeflate;
mod probe;
mod zlib_rs;

use crate::error::Result;
use libdeflate::Level;

/// What encodes most streams (libdeflate).
pub(super) const VERSION: &str = libdeflate::VERSION;

/// What a stream begins with: deflate with the largest window, and a level that nobody reads.
const HEADER: [u8; 2] = [0x78, 0x01];
/// What a stream ends with: the checksum of the plain bytes.
const ADLER_LEN: usize = 4;

/// How a `clevel` is served. The levels are measured: the fastest that stay within 2 % of the size that the
/// reference reaches at that `clevel`, on numbers (plain, shuffled, bit-shuffled), text and programs.
struct Plan {
    /// From this share of repetition on, in percent, zlib-rs encodes, at `clevel` itself.
    repetitive: usize,
    /// libdeflate's level for the other streams.
    level: Level,
}

const ALWAYS: usize = 0;

/// libdeflate's level for streams of few different bytes at the middle `clevel`s: every short sequence has occurred
/// many times, and to look at all of them costs a lot and gains next to nothing.
const FEW_SYMBOLS: Level = Level::L2;

/// By `clevel` - 1.
const PLANS: [Plan; 9] = [
    // libdeflate has nothing as fast as the reference's first level.
    Plan { repetitive: ALWAYS, level: Level::L1 },
    Plan { repetitive: 45, level: Level::L1 },
    Plan { repetitive: 45, level: Level::L2 },
    Plan { repetitive: 45, level: Level::L3 },
    Plan { repetitive: 45, level: Level::L4 },
    Plan { repetitive: 45, level: Level::L5 },
    // From here on the reference is so slow that only streams of almost nothing but runs are left to it.
    Plan { repetitive: 90, level: Level::L6 },
    Plan { repetitive: 90, level: Level::L6 },
    // And here also those that repeat a lot: libdeflate would make them up to 3 % larger.
    Plan { repetitive: 60, level: Level::L7 },
];

/// The states of one thread.
#[derive(Default)]
pub(super) struct State {
    inflater: Option<Box<inflate::Inflater>>,
    libdeflate: libdeflate::State,
    zlib_rs: zlib_rs::State,
}

/// Compresses; 0 if the result does not fit, and at `clevel` 0: zlib would store, which is longer than `src`.
pub(super) fn compress(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> Result<usize> {
    let Some(plan) = usize::try_from(clevel - 1).ok().and_then(|i| PLANS.get(i)) else { return Ok(0) };
    if plan.repetitive == ALWAYS || probe::repetition_percent(src) >= plan.repetitive {
        Ok(zlib_rs::compress(&mut state.zlib_rs, src, dest, clevel))
    } else {
        let level =
            if (3..=6).contains(&clevel) && probe::has_few_symbols(src) { FEW_SYMBOLS } else { plan.level };
        libdeflate::compress(&mut state.libdeflate, src, dest, level)
    }
}

/// Decompresses the zlib stream that `src` begins with; 0 if it is bad or needs more than `dest`.
pub(super) fn decompress(state: &mut State, src: &[u8], dest: &mut [u8]) -> usize {
    state.inflater.get_or_insert_default().zlib(src, dest, libdeflate::adler32).unwrap_or(0)
}
