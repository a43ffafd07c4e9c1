//! Dictionaries of a chunk, prepared once for all its streams (`codecs.md` 7).
//!
//! Owns the bytes and the data that each codec derives from them. Never decides whether a chunk has a dictionary, nor
//! where its bytes are. Codecs without dictionaries ignore the one that a chunk may have.

use zstd_safe::{CDict, DDict};

use super::{BuiltIn, lz4, zstd};
use crate::err;
use crate::error::Result;

/// The largest dictionary of the chunk format.
pub(crate) const MAX_DICTIONARY_LEN: usize = 32768;

/// A dictionary prepared for compressing; all threads share one.
pub(crate) struct EncoderDictionary(pub(super) EncoderForm);

pub(super) enum EncoderForm {
    Ignored,
    Lz4(lz4::Dictionary),
    Lz4Hc(lz4::Dictionary),
    Zstd(CDict<'static>),
}

impl EncoderDictionary {
    /// Prepares a copy of `bytes` for `codec`.
    ///
    /// # Errors
    /// `CodecDict` if there are no bytes, more than [`MAX_DICTIONARY_LEN`], or the codec rejects them or has no memory.
    pub(crate) fn new(codec: BuiltIn, bytes: &[u8]) -> Result<Self> {
        check_len(bytes)?;
        Ok(EncoderDictionary(match codec {
            BuiltIn::BloscLz | BuiltIn::Zlib => EncoderForm::Ignored,
            BuiltIn::Lz4 => EncoderForm::Lz4(lz4::Dictionary::new(copy_of(bytes)?)),
            BuiltIn::Lz4Hc => EncoderForm::Lz4Hc(lz4::Dictionary::new(copy_of(bytes)?)),
            BuiltIn::Zstd => EncoderForm::Zstd(zstd::encoder_dictionary(bytes).ok_or_else(refused)?),
        }))
    }
}

/// A dictionary prepared for decompressing; all threads share one.
pub(crate) struct DecoderDictionary(pub(super) DecoderForm);

pub(super) enum DecoderForm {
    Ignored,
    Lz4(Box<[u8]>),
    Zstd(DDict<'static>),
}

impl DecoderDictionary {
    /// Prepares a copy of `bytes` for streams of `codec`.
    ///
    /// # Errors
    /// `CodecDict` if there are no bytes, more than [`MAX_DICTIONARY_LEN`], or the codec rejects them or has no memory.
    pub(crate) fn new(codec: BuiltIn, bytes: &[u8]) -> Result<Self> {
        check_len(bytes)?;
        Ok(DecoderDictionary(match codec {
            BuiltIn::BloscLz | BuiltIn::Zlib => DecoderForm::Ignored,
            BuiltIn::Lz4 | BuiltIn::Lz4Hc => DecoderForm::Lz4(copy_of(bytes)?),
            BuiltIn::Zstd => DecoderForm::Zstd(zstd::decoder_dictionary(bytes).ok_or_else(refused)?),
        }))
    }
}

/// Trains a Zstd dictionary of at most `capacity` bytes on `samples`, the concatenation of samples of `sample_sizes`
/// bytes each. Returns `None` if the sizes do not add up to `samples.len()`, or the samples are too few or too similar
/// to train on.
pub(crate) fn train_zstd(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
    zstd::train(samples, sample_sizes, capacity)
}

fn check_len(bytes: &[u8]) -> Result<()> {
    match bytes.len() {
        1..=MAX_DICTIONARY_LEN => Ok(()),
        len => Err(err!(CodecDict, "the dictionary has {len} bytes, expected 1 to {MAX_DICTIONARY_LEN}")),
    }
}

/// Returns a copy of `bytes`.
///
/// # Errors
/// `CodecDict` without memory, as from Zstd.
fn copy_of(bytes: &[u8]) -> Result<Box<[u8]>> {
    let mut copy = Vec::new();
    let reserved = copy.try_reserve_exact(bytes.len());
    reserved.map_err(|_| err!(CodecDict, "no memory for a dictionary of {} bytes", bytes.len()))?;
    copy.extend_from_slice(bytes);
    Ok(copy.into())
}

#[cold]
fn refused() -> crate::Error {
    err!(CodecDict, "Zstd rejects the dictionary")
}
