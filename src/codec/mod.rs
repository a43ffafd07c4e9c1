//! The compressors of single streams, each behind [`Encoder`] and [`Decoder`].
//!
//! Owns the codecs, their libraries and their working memory. Never decides how a chunk is split into streams, and has
//! access to nothing but the given stream. In this module, "the reference" is C-Blosc2 3.3.5 with its codec libraries, or
//! C-Blosc 1.21.6 ([`mod@reference`]).

mod built_in;
mod common_prefix;
mod dictionary;
mod incompressible;
#[cfg(feature = "lz4")]
mod lz4;
mod match_copy;
mod matchless;
#[cfg(feature = "ndlz")]
pub(crate) mod ndlz;
mod plugin;
mod position_rows;
mod reference;
mod run_streams;
#[cfg(feature = "snappy")]
mod snappy;
mod stream_codec;
mod table;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(test)]
mod tests;

pub(crate) use built_in::{BuiltInDecoder, BuiltInEncoder};
pub(crate) use dictionary::{DecoderDictionary, EncoderDictionary};
pub(crate) use plugin::{PluginCodec, PluginDecoder, PluginEncoder};
pub(crate) use stream_codec::{DECODE_SLACK, Decoder, Encoder, Workspace};
pub use table::BuiltInCodec;
#[cfg(feature = "zstd")]
pub(crate) use zstd::train_dictionary as train_zstd;

pub(crate) mod blosclz;
#[cfg(feature = "zfp")]
pub mod zfp;
