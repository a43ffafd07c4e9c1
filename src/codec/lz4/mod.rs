//! LZ4 and LZ4HC streams (`codecs.md` 4 and 7): encoders and a decoder of our own, with and without a dictionary.
//!
//! Owns the choice of the encoder by level, the working states and the dictionaries. Never decides which codec
//! runs, and never sees a chunk. A stream is one raw LZ4 block: no frame, no size prefix.

mod decode;
mod dictionary;
mod encode;

pub(super) use dictionary::Dictionary;

use crate::error::Result;
use dictionary::Joined;

/// The version of the C library whose format and sizes are met, as programs ask for it.
pub(super) const VERSION: &str = "1.10.0";

/// The C library's level for "no level given".
const HC_DEFAULT_LEVEL: i32 = 9;
/// From this level on LZ4HC searches hash chains; below it uses two hash tables.
const HC_FIRST_CHAIN_LEVEL: i32 = 3;
/// The longest input of one stream, in bytes: the C library's, and positions have 32 bits.
const MAX_INPUT: usize = 0x7e00_0000;

/// The working states of one thread.
#[derive(Default)]
pub(super) struct State {
    fast: encode::fast::Tables,
    mid: Option<encode::mid::Tables>,
    high: Option<encode::high::Tables>,
    /// The dictionary that was used last.
    joined: Option<Joined>,
}

/// Decompresses the first `wanted` bytes at least of what `src` stands for into `dest`, which has room for all of it; how
/// many are there, fewer for a bad stream.
pub(super) fn decode_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    decode::prefix(src, dest, wanted.min(dest.len())).unwrap_or(0)
}

/// Compresses with the fast encoder at `clevel` 0..=9; 0 if the result does not fit.
pub(super) fn compress_fast(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> usize {
    if src.len() > MAX_INPUT {
        return 0;
    }
    encode::fast::compress(&mut state.fast, src, dest, acceleration(clevel)).unwrap_or(0)
}

/// As [`compress_fast`], with a dictionary.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn compress_fast_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: &Dictionary,
) -> Result<usize> {
    if src.len() > MAX_INPUT {
        return Ok(0);
    }
    let Joined { start, input, fast, .. } = Joined::join(&mut state.joined, dictionary, src)?;
    let acceleration = acceleration(clevel);
    Ok(encode::fast::compress_with(&mut state.fast, fast, input, *start, dest, acceleration).unwrap_or(0))
}

/// Compresses with the high-compression encoder at `clevel` 0..=9 (0: the library's default); 0 if the result does not fit.
pub(super) fn compress_hc(state: &mut State, src: &[u8], dest: &mut [u8], clevel: i32) -> usize {
    if src.len() > MAX_INPUT {
        return 0;
    }
    match attempts(clevel) {
        None => encode::mid::compress(state.mid.get_or_insert_default(), src, dest),
        Some(attempts) => encode::high::compress(state.high.get_or_insert_default(), src, dest, attempts),
    }
    .unwrap_or(0)
}

/// As [`compress_hc`], with a dictionary.
///
/// # Errors
/// `MemoryAlloc`.
pub(super) fn compress_hc_with(
    state: &mut State,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: &Dictionary,
) -> Result<usize> {
    if src.len() > MAX_INPUT {
        return Ok(0);
    }
    let Joined { id, start, input, mid, .. } = Joined::join(&mut state.joined, dictionary, src)?;
    let written = match attempts(clevel) {
        None => encode::mid::compress_with(state.mid.get_or_insert_default(), mid, input, *start, dest),
        Some(attempts) => {
            let tables = state.high.get_or_insert_default();
            encode::high::compress_with(tables, input, *start, *id, dest, attempts)
        }
    };
    Ok(written.unwrap_or(0))
}

/// Decompresses the first `src_len` bytes of `src`, which were made with `dictionary`, into the first `dest_len` of
/// `dest`; 0 if they are bad or need more. What lies behind is room to read and write ahead: the bytes of `dest` there
/// are garbage afterwards.
///
/// # Panics
/// If the buffers are shorter than that.
pub(super) fn decompress(
    src: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> usize {
    decode::block(decode::Source { ahead: src, len: src_len }, dest, dest_len, dictionary).unwrap_or(0)
}

/// How hastily the fast encoder goes about it.
fn acceleration(clevel: i32) -> usize {
    (10 - clevel.clamp(0, 9)) as usize
}

/// The number of candidates that the high-compression encoder looks at in each hash chain; `None` for the levels that have none.
fn attempts(clevel: i32) -> Option<u32> {
    let level = if clevel < 1 { HC_DEFAULT_LEVEL } else { clevel };
    (level >= HC_FIRST_CHAIN_LEVEL).then(|| 1 << (level - 1))
}
