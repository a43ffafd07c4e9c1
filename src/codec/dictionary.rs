//! Dictionaries of a chunk, prepared once for all its streams (`codecs.md` 7).
//!
//! Owns the bytes and the data that each codec derives from them. Never decides whether a chunk has a dictionary, nor
//! where its bytes are. Codecs without dictionaries ignore the one that a chunk may have.

#[cfg(feature = "zstd")]
use zstd_safe::{CDict, DDict};

use super::BuiltInCodec;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "zstd")]
use super::zstd;
use crate::error::{Result, err};
use crate::fallible;

/// The largest dictionary of the chunk format.
pub(crate) const MAX_DICTIONARY_LEN: usize = 32768;

/// A dictionary prepared for compressing; all threads share one.
pub(crate) struct EncoderDictionary(pub(super) EncoderDictionaryData);

pub(super) enum EncoderDictionaryData {
    Ignored,
    #[cfg(feature = "lz4")]
    Lz4(lz4::Dictionary),
    #[cfg(feature = "zstd")]
    Zstd(CDict<'static>),
}

impl EncoderDictionary {
    /// Prepares a copy of `bytes` for `codec`.
    ///
    /// # Errors
    /// `CodecDict` if there are no bytes, more than [`MAX_DICTIONARY_LEN`], or the codec rejects them; `MemoryAlloc`.
    pub(crate) fn new(codec: BuiltInCodec, bytes: &[u8]) -> Result<Self> {
        check_len(bytes)?;
        Ok(EncoderDictionary(match codec {
            #[cfg(feature = "lz4")]
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => {
                EncoderDictionaryData::Lz4(lz4::Dictionary::new(fallible::copy_of(bytes)?.into()))
            }
            #[cfg(feature = "zstd")]
            BuiltInCodec::Zstd => EncoderDictionaryData::Zstd(
                CDict::try_create(bytes, zstd::DICTIONARY_LEVEL)
                    .ok_or_else(|| zstd::dictionary_error(bytes))?,
            ),
            _ => EncoderDictionaryData::Ignored,
        }))
    }
}

/// A dictionary prepared for decompressing; all threads share one.
pub(crate) struct DecoderDictionary(pub(super) DecoderDictionaryData);

pub(super) enum DecoderDictionaryData {
    Ignored,
    Lz4(Box<[u8]>),
    #[cfg(feature = "zstd")]
    Zstd(DDict<'static>),
}

impl DecoderDictionary {
    /// Prepares a copy of `bytes` for streams of `codec`.
    ///
    /// # Errors
    /// `CodecDict` if there are no bytes, more than [`MAX_DICTIONARY_LEN`], or the codec rejects them; `MemoryAlloc`.
    pub(crate) fn new(codec: BuiltInCodec, bytes: &[u8]) -> Result<Self> {
        check_len(bytes)?;
        Ok(DecoderDictionary(match codec {
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => {
                DecoderDictionaryData::Lz4(fallible::copy_of(bytes)?.into())
            }
            #[cfg(feature = "zstd")]
            BuiltInCodec::Zstd => DecoderDictionaryData::Zstd(
                DDict::try_create(bytes).ok_or_else(|| zstd::dictionary_error(bytes))?,
            ),
            _ => DecoderDictionaryData::Ignored,
        }))
    }
}

fn check_len(bytes: &[u8]) -> Result<()> {
    match bytes.len() {
        1..=MAX_DICTIONARY_LEN => Ok(()),
        len => Err(err!(CodecDict, "the dictionary has {len} bytes, expected 1 to {MAX_DICTIONARY_LEN}")),
    }
}
