//! LZ4 and LZ4HC streams (`codecs.md` 4 and 7): encoders and a decoder of our own, with and without a dictionary.
//!
//! Owns the choice of the encoder by level, the working states and the dictionaries. The choice of the codec and the
//! layout of chunks belong to the callers. A stream is one raw LZ4 block: no frame, no size prefix.

mod decode;
mod dictionary;
mod encode;

pub(super) use dictionary::Dictionary;

use crate::error::Result;
use crate::fallible::get_or_make;
use dictionary::DictionaryBuffer;

/// The level that the C library uses if no level is given.
const HC_DEFAULT_LEVEL: i32 = 9;
/// The lowest level at which LZ4HC searches hash chains; lower levels use two hash tables.
const HC_FIRST_CHAIN_LEVEL: i32 = 3;
/// The longest input of one stream, in bytes. It is the C library's limit, and positions have 32 bits.
const MAX_INPUT_LEN: usize = 0x7e00_0000;

/// The encoders' working states of one thread.
#[derive(Default)]
pub(super) struct Lz4Workspace {
    fast: encode::fast::FastTables,
    mid: encode::mid::MidTables,
    high: Option<encode::high::ChainTables>,
    dictionary_buffer: Option<DictionaryBuffer>,
}

/// Decompresses at least the first `wanted` bytes of the content of `src` into `dest`, which has room for all of the
/// content. Returns the number of decompressed bytes, which is 0 for a bad stream.
pub(super) fn decompress_prefix(src: &[u8], dest: &mut [u8], wanted: usize) -> usize {
    decode::decode_prefix(src, dest, wanted.min(dest.len())).unwrap_or(0)
}

/// Compresses with the fast encoder at `clevel` 0..=9. Returns the number of bytes written, 0 if the result does not
/// fit.
pub(super) fn compress_fast(
    state: &mut Lz4Workspace,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: Option<&Dictionary>,
) -> Result<usize> {
    if src.len() > MAX_INPUT_LEN {
        return Ok(0);
    }
    let acceleration = acceleration(clevel);
    let written = if let Some(dictionary) = dictionary {
        let DictionaryBuffer { dictionary_len: start, input, fast, .. } =
            DictionaryBuffer::load(&mut state.dictionary_buffer, dictionary, src)?;
        encode::fast::compress_with_dictionary(&mut state.fast, fast, input, *start, dest, acceleration)?
    } else {
        encode::fast::compress(&mut state.fast, src, dest, acceleration)?
    };
    Ok(written.unwrap_or(0))
}

/// Compresses with the high-compression encoder at `clevel` 0..=9 (0: the library's default). Returns the number of
/// bytes written, 0 if the result does not fit.
pub(super) fn compress_hc(
    state: &mut Lz4Workspace,
    src: &[u8],
    dest: &mut [u8],
    clevel: i32,
    dictionary: Option<&Dictionary>,
) -> Result<usize> {
    if src.len() > MAX_INPUT_LEN {
        return Ok(0);
    }
    let loaded = dictionary
        .map(|dictionary| DictionaryBuffer::load(&mut state.dictionary_buffer, dictionary, src))
        .transpose()?;
    let written = if let Some(attempts) = max_attempts(clevel) {
        let tables = get_or_make(&mut state.high, encode::high::ChainTables::new)?;
        match loaded {
            None => encode::high::compress(tables, src, dest, attempts),
            Some(DictionaryBuffer { id, dictionary_len: start, input, .. }) => {
                encode::high::compress_with_dictionary(tables, input, *start, *id, dest, attempts)
            }
        }
    } else if let Some(DictionaryBuffer { dictionary_len: start, input, mid, .. }) = loaded {
        encode::mid::compress_with_dictionary(&mut state.mid, mid, input, *start, dest)?
    } else {
        encode::mid::compress(&mut state.mid, src, dest)?
    };
    Ok(written.unwrap_or(0))
}

/// Decompresses the first `src_len` bytes of `src`, which were made with `dictionary`, into the first `dest_len`
/// bytes of `dest`. Returns the number of decompressed bytes; 0 if the stream is bad or its content is longer. The
/// bytes of `src` behind the stream may be read, and those of `dest` behind the result overwritten with garbage.
///
/// # Panics
/// If the buffers are shorter than `src_len` and `dest_len`.
pub(super) fn decompress(
    src: &[u8],
    src_len: usize,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> usize {
    decode::decode_lz4_block(
        decode::BlockWithSlack { readable: src, len: src_len },
        dest,
        dest_len,
        dictionary,
    )
    .unwrap_or(0)
}

/// Returns the acceleration of the fast encoder for a level, 1 to 10: higher values try fewer positions.
fn acceleration(clevel: i32) -> usize {
    (10 - clevel.clamp(0, 9)) as usize
}

/// Returns the number of candidates that the high-compression encoder compares in each hash chain; `None` for the
/// levels without hash chains.
fn max_attempts(clevel: i32) -> Option<u32> {
    let level = if clevel < 1 { HC_DEFAULT_LEVEL } else { clevel };
    (level >= HC_FIRST_CHAIN_LEVEL).then(|| 1 << (level - 1))
}
