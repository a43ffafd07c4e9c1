//! The [`Encoder`] and the [`Decoder`] of each codec of the [table](super::table).

use super::dictionary::{DecoderDictionaryData, EncoderDictionaryData};
#[cfg(feature = "lz4")]
use super::lz4;
use super::reference::{HAS_BLOSC1_ENCODERS, Reference};
use super::run_streams::RunParameters;
#[cfg(feature = "snappy")]
use super::snappy;
use super::table::BuiltInCodec;
#[cfg(feature = "zlib")]
use super::zlib;
#[cfg(feature = "zstd")]
use super::zstd;
use super::{Decoder, DecoderDictionary, Encoder, EncoderDictionary, Workspace, blosclz};
use crate::error::Result;
use crate::fallible;

impl BuiltInCodec {
    /// Decompresses at least the first `wanted` bytes of the content of `src` into `dest`, which must have room for all
    /// of the content. Returns the number of bytes written, fewer than `wanted` for an invalid stream; `None` for a
    /// codec that only decompresses whole streams.
    pub(crate) fn decode_prefix(self, src: &[u8], dest: &mut [u8], wanted: usize) -> Option<usize> {
        match self {
            #[cfg(feature = "lz4")]
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => Some(lz4::decompress_prefix(src, dest, wanted)),
            BuiltInCodec::BloscLz => Some(blosclz::decompress_prefix(src, dest, wanted)),
            _ => None,
        }
    }

    /// Returns an encoder at `clevel` 0..=9, whose streams refer to `dictionary` if there is one. A dictionary that was
    /// prepared for another codec is ignored.
    pub(crate) fn encoder(self, clevel: i32, dictionary: Option<&EncoderDictionary>) -> BuiltInEncoder<'_> {
        let dictionary = dictionary.map(|d| &d.0);
        BuiltInEncoder {
            codec: self,
            clevel: clevel.clamp(0, 9),
            dictionary,
            reference: Reference::CBlosc2,
            nplanes: 1,
        }
    }

    /// Returns a decoder, for streams made with `dictionary` if there is one. A dictionary that was prepared for
    /// another format is ignored.
    pub(crate) fn decoder(self, dictionary: Option<&DecoderDictionary>) -> BuiltInDecoder<'_> {
        BuiltInDecoder { codec: self, dictionary: dictionary.map(|d| &d.0) }
    }
}

/// The [`Encoder`] of a built-in codec, made by [`BuiltInCodec::encoder`]. It returns an error only if memory is
/// exhausted, or for a codec that this build does not have.
#[derive(Clone, Copy)]
pub(crate) struct BuiltInEncoder<'a> {
    codec: BuiltInCodec,
    clevel: i32,
    dictionary: Option<&'a EncoderDictionaryData>,
    reference: Reference,
    /// The number of planes of equal length in each stream.
    nplanes: usize,
}

impl BuiltInEncoder<'_> {
    /// Returns the encoder for chunks of Blosc 1, whose blocks are split or not: its streams are as short as those of
    /// C-Blosc 1.21.6, which has other releases of the codecs.
    pub(crate) fn for_blosc1(self, is_split: bool) -> Self {
        BuiltInEncoder { reference: Reference::CBlosc1 { is_split }, ..self }
    }

    /// Returns the encoder for streams of `nplanes` planes: bytes, or bits, that shuffling has made adjacent. It affects the
    /// length of the result only.
    pub(crate) fn with_planes(self, nplanes: usize) -> Self {
        BuiltInEncoder { nplanes, ..self }
    }

    fn blosclz_release(&self) -> blosclz::Release {
        match self.reference {
            Reference::CBlosc1 { is_split } if HAS_BLOSC1_ENCODERS => blosclz::Release::V2_5_1 { is_split },
            _ => blosclz::Release::V2_5_3,
        }
    }

    #[cfg(feature = "zlib")]
    fn zlib_levels(&self) -> zlib::LevelSet {
        match self.reference {
            Reference::CBlosc1 { .. } if HAS_BLOSC1_ENCODERS => zlib::LevelSet::Zlib,
            _ => zlib::LevelSet::ZlibNg,
        }
    }
}

impl Encoder for BuiltInEncoder<'_> {
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let clevel = self.clevel;
        match (self.codec, self.dictionary) {
            // The reference's encoder crashes at level 0 (`codecs.md` 18.18).
            (BuiltInCodec::BloscLz, _) if clevel == 0 => Ok(0),
            (BuiltInCodec::BloscLz, _) => {
                let tables = fallible::get_or_make(&mut workspace.blosclz, blosclz::HashTables::new)?;
                Ok(blosclz::compress(tables, self.blosclz_release(), clevel, src, dest))
            }
            #[cfg(feature = "lz4")]
            (codec @ (BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc), dictionary) => {
                let dictionary = match dictionary {
                    Some(EncoderDictionaryData::Lz4(dictionary)) => Some(dictionary),
                    _ => None,
                };
                match codec {
                    BuiltInCodec::Lz4 => {
                        lz4::compress_fast(&mut workspace.lz4, src, dest, clevel, dictionary)
                    }
                    _ => lz4::compress_hc(&mut workspace.lz4, src, dest, clevel, dictionary),
                }
            }
            #[cfg(feature = "snappy")]
            (BuiltInCodec::Snappy, _) => snappy::compress(&mut workspace.snappy, src, dest),
            #[cfg(feature = "zlib")]
            (BuiltInCodec::Zlib, _) => {
                zlib::compress(&mut workspace.zlib, src, dest, self.zlib_levels(), clevel)
            }
            #[cfg(feature = "zstd")]
            (BuiltInCodec::Zstd, Some(EncoderDictionaryData::Zstd(dictionary))) => {
                zstd::compress_with_dictionary(&mut workspace.zstd, src, dest, dictionary)
            }
            #[cfg(feature = "zstd")]
            (BuiltInCodec::Zstd, _) => zstd::compress(&mut workspace.zstd, src, dest, clevel, self.nplanes),
            #[allow(unreachable_patterns, reason = "only without a feature")]
            (codec, _) => Err(codec.left_out()),
        }
    }

    fn encode_run(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // Chunks of Blosc2 hold runs without a codec.
        let (&[value, ..], Reference::CBlosc1 { .. }) = (src, self.reference) else {
            return self.encode(workspace, src, dest);
        };
        let &BuiltInEncoder { codec, clevel, reference, .. } = self;
        let parameters =
            RunParameters { compcode: codec.compcode(), clevel, reference, len: src.len(), value };
        if let Some(stream) = workspace.runs.get(&parameters, dest.len()) {
            dest[..stream.len()].copy_from_slice(stream);
            return Ok(stream.len());
        }
        let written = self.encode(workspace, src, dest)?;
        if written > 0 {
            workspace.runs.keep(parameters, dest.len(), &dest[..written]);
        }
        Ok(written)
    }
}

/// The [`Decoder`] of a built-in codec, made by [`BuiltInCodec::decoder`]. It returns an error only if memory is
/// exhausted, or for a codec that this build does not have; for invalid streams it returns 0.
#[derive(Clone, Copy)]
pub(crate) struct BuiltInDecoder<'a> {
    codec: BuiltInCodec,
    dictionary: Option<&'a DecoderDictionaryData>,
}

impl Decoder for BuiltInDecoder<'_> {
    #[inline]
    fn decode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.decode_with_slack(workspace, src, src.len(), dest, dest.len())
    }

    fn decode_with_slack(
        &self,
        workspace: &mut Workspace,
        src: &[u8],
        src_len: usize,
        dest: &mut [u8],
        dest_len: usize,
    ) -> Result<usize> {
        if let BuiltInCodec::BloscLz = self.codec {
            return Ok(blosclz::decompress_with_slack(src, src_len, dest, dest_len));
        }
        #[cfg(feature = "lz4")]
        if let BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc = self.codec {
            let dictionary = match self.dictionary {
                Some(DecoderDictionaryData::Lz4(dictionary)) => dictionary,
                _ => &[][..],
            };
            return Ok(lz4::decompress(src, src_len, dest, dest_len, dictionary));
        }
        self.decode_large(workspace, &src[..src_len], &mut dest[..dest_len])
    }
}

impl BuiltInDecoder<'_> {
    /// Decodes with the codecs that have large states. Not inlined: they would add their stack frame and registers to
    /// those of the fast codecs.
    #[inline(never)]
    fn decode_large(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match (self.codec, self.dictionary) {
            #[cfg(feature = "snappy")]
            (BuiltInCodec::Snappy, _) => Ok(snappy::decompress(src, dest)),
            #[cfg(feature = "zlib")]
            (BuiltInCodec::Zlib, _) => zlib::decompress(&mut workspace.zlib, src, dest),
            #[cfg(feature = "zstd")]
            (BuiltInCodec::Zstd, Some(DecoderDictionaryData::Zstd(dictionary))) => {
                zstd::decompress_with_dictionary(&mut workspace.zstd, src, dest, dictionary)
            }
            #[cfg(feature = "zstd")]
            (BuiltInCodec::Zstd, _) => zstd::decompress(&mut workspace.zstd, src, dest),
            // The caller decodes streams of BloscLZ, and of LZ4 if this build has it.
            (codec, _) => Err(codec.left_out()),
        }
    }
}
