//! The five codecs that every Blosc2 library has, and Snappy, which only Blosc 1 has: their numbers and names
//! (`codecs.md` 1), and the [`Encoder`] and [`Decoder`] of each.
//!
//! Owns the choice between them by number. Does not handle codecs that are registered at run time.

use super::dictionary::{DecoderDictionaryData, EncoderDictionaryData};
use super::reference::{HAS_BLOSC1_ENCODERS, Reference};
use super::run_streams::RunParameters;
#[cfg(feature = "snappy")]
use super::snappy;
use super::{Decoder, DecoderDictionary, Encoder, EncoderDictionary, Workspace, blosclz, lz4, zlib, zstd};
use crate::error::Result;
use std::ffi::CStr;

/// A codec of the library itself. The numbers are the ABI's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BuiltInCodec {
    /// BloscLZ, Blosc's own.
    BloscLz = 0,
    /// LZ4, the fast encoder.
    Lz4 = 1,
    /// LZ4, the high-compression encoder: the streams are [`BuiltInCodec::Lz4`]'s.
    Lz4Hc = 2,
    /// Snappy, for chunks of Blosc 1 only.
    #[cfg(feature = "snappy")]
    Snappy = 3,
    /// Deflate in a zlib wrapper.
    Zlib = 4,
    /// Zstandard.
    Zstd = 5,
}

impl BuiltInCodec {
    /// The codecs of Blosc2, by ascending code.
    pub(crate) const ALL: [BuiltInCodec; 5] = [
        BuiltInCodec::BloscLz,
        BuiltInCodec::Lz4,
        BuiltInCodec::Lz4Hc,
        BuiltInCodec::Zlib,
        BuiltInCodec::Zstd,
    ];

    /// Returns the codec with that code, or `None` if it is not a built-in one.
    pub(crate) fn from_compcode(code: i32) -> Option<BuiltInCodec> {
        BuiltInCodec::ALL.into_iter().find(|codec| i32::from(codec.compcode()) == code)
    }

    /// Returns the codec of Blosc 1 with that code, or `None` if there is none.
    pub(crate) fn from_blosc1_compcode(code: i32) -> Option<BuiltInCodec> {
        #[cfg(feature = "snappy")]
        if code == i32::from(BuiltInCodec::Snappy.compcode()) {
            return Some(BuiltInCodec::Snappy);
        }
        BuiltInCodec::from_compcode(code)
    }

    /// Returns the ABI's code.
    pub(crate) const fn compcode(self) -> u8 {
        self as u8
    }

    /// Returns the codec of that name, exactly as written, or `None` if there is none.
    pub(crate) fn from_name(name: &CStr) -> Option<BuiltInCodec> {
        BuiltInCodec::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// Returns the ABI's name.
    pub(crate) const fn name(self) -> &'static CStr {
        match self {
            BuiltInCodec::BloscLz => c"blosclz",
            BuiltInCodec::Lz4 => c"lz4",
            BuiltInCodec::Lz4Hc => c"lz4hc",
            #[cfg(feature = "snappy")]
            BuiltInCodec::Snappy => c"snappy",
            BuiltInCodec::Zlib => c"zlib",
            BuiltInCodec::Zstd => c"zstd",
        }
    }

    /// Returns whether streams of the codec can refer to a dictionary.
    pub(crate) const fn has_dictionaries(self) -> bool {
        matches!(self, BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc | BuiltInCodec::Zstd)
    }

    /// Returns the format code in bits 5-7 of a chunk's flags.
    pub(crate) const fn format(self) -> u8 {
        match self {
            BuiltInCodec::BloscLz => 0,
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => 1,
            #[cfg(feature = "snappy")]
            BuiltInCodec::Snappy => 2,
            BuiltInCodec::Zlib => 3,
            BuiltInCodec::Zstd => 4,
        }
    }

    /// Decompresses at least the first `wanted` bytes of the content of `src` into `dest`, which must have room for all
    /// of the content. Returns the number of bytes written, fewer than `wanted` for an invalid stream; `None` for a
    /// codec that only decompresses whole streams.
    pub(crate) fn decode_prefix(self, src: &[u8], dest: &mut [u8], wanted: usize) -> Option<usize> {
        match self {
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => Some(lz4::decompress_prefix(src, dest, wanted)),
            BuiltInCodec::BloscLz => Some(blosclz::decompress_prefix(src, dest, wanted)),
            #[cfg(feature = "snappy")]
            BuiltInCodec::Snappy => None,
            BuiltInCodec::Zlib | BuiltInCodec::Zstd => None,
        }
    }

    /// Returns the codec that decodes that format code in chunks of Blosc2, or `None` if there is none.
    pub(crate) fn from_format(format: u8) -> Option<BuiltInCodec> {
        BuiltInCodec::ALL.into_iter().find(|codec| codec.format() == format)
    }

    /// Returns the codec that decodes that format code in chunks of Blosc 1, or `None` if there is none.
    pub(crate) fn from_blosc1_format(format: u8) -> Option<BuiltInCodec> {
        #[cfg(feature = "snappy")]
        if format == BuiltInCodec::Snappy.format() {
            return Some(BuiltInCodec::Snappy);
        }
        BuiltInCodec::from_format(format)
    }

    /// Returns the code of the library that the codec belongs to (`blosc2_get_complib_info`).
    pub(crate) const fn library_code(self) -> u8 {
        self.format()
    }

    /// Returns the name of that library.
    pub(crate) const fn library_name(self) -> &'static str {
        match self {
            BuiltInCodec::BloscLz => "BloscLZ",
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => "LZ4",
            #[cfg(feature = "snappy")]
            BuiltInCodec::Snappy => "Snappy",
            BuiltInCodec::Zlib => "Zlib",
            BuiltInCodec::Zstd => "Zstd",
        }
    }

    /// Returns the version of that library.
    pub(crate) const fn library_version(self) -> &'static str {
        match self {
            // The version whose streams and encoder decisions this implementation reproduces.
            BuiltInCodec::BloscLz => "2.5.3",
            BuiltInCodec::Lz4 | BuiltInCodec::Lz4Hc => lz4::VERSION,
            #[cfg(feature = "snappy")]
            BuiltInCodec::Snappy => snappy::VERSION,
            BuiltInCodec::Zlib => zlib::VERSION,
            BuiltInCodec::Zstd => zstd::VERSION,
        }
    }

    /// Returns an encoder at `clevel` 0..=9, whose streams refer to `dictionary` if there is one. A dictionary that was
    /// prepared for another codec is ignored.
    pub(crate) fn encoder(self, clevel: i32, dictionary: Option<&EncoderDictionary>) -> BuiltInEncoder<'_> {
        let dictionary = dictionary.map(|d| &d.0);
        BuiltInEncoder { codec: self, clevel: clevel.clamp(0, 9), dictionary, reference: Reference::CBlosc2 }
    }

    /// Returns a decoder, for streams made with `dictionary` if there is one. A dictionary that was prepared for
    /// another format is ignored.
    pub(crate) fn decoder(self, dictionary: Option<&DecoderDictionary>) -> BuiltInDecoder<'_> {
        BuiltInDecoder { codec: self, dictionary: dictionary.map(|d| &d.0) }
    }
}

/// The [`Encoder`] of a built-in codec, made by [`BuiltInCodec::encoder`]. It returns an error only if memory is
/// exhausted.
#[derive(Clone, Copy)]
pub(crate) struct BuiltInEncoder<'a> {
    codec: BuiltInCodec,
    clevel: i32,
    dictionary: Option<&'a EncoderDictionaryData>,
    reference: Reference,
}

impl BuiltInEncoder<'_> {
    /// Returns the encoder for chunks of Blosc 1, whose blocks are split or not: its streams are as short as those of
    /// C-Blosc 1.21.6, which has other releases of the codecs.
    pub(crate) fn for_blosc1(self, is_split: bool) -> Self {
        BuiltInEncoder { reference: Reference::CBlosc1 { is_split }, ..self }
    }

    fn blosclz_release(&self) -> blosclz::Release {
        match self.reference {
            Reference::CBlosc1 { is_split } if HAS_BLOSC1_ENCODERS => blosclz::Release::V2_5_1 { is_split },
            _ => blosclz::Release::V2_5_3,
        }
    }

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
                let release = self.blosclz_release();
                Ok(blosclz::compress(&mut workspace.blosclz, release, clevel, src, dest))
            }
            (BuiltInCodec::Lz4, Some(EncoderDictionaryData::Lz4(dictionary))) => {
                lz4::compress_fast_with_dictionary(&mut workspace.lz4, src, dest, clevel, dictionary)
            }
            (BuiltInCodec::Lz4, _) => lz4::compress_fast(&mut workspace.lz4, src, dest, clevel),
            (BuiltInCodec::Lz4Hc, Some(EncoderDictionaryData::Lz4Hc(dictionary))) => {
                lz4::compress_hc_with_dictionary(&mut workspace.lz4, src, dest, clevel, dictionary)
            }
            (BuiltInCodec::Lz4Hc, _) => lz4::compress_hc(&mut workspace.lz4, src, dest, clevel),
            #[cfg(feature = "snappy")]
            (BuiltInCodec::Snappy, _) => snappy::compress(&mut workspace.snappy, src, dest),
            (BuiltInCodec::Zlib, _) => {
                zlib::compress(&mut workspace.zlib, src, dest, self.zlib_levels(), clevel)
            }
            (BuiltInCodec::Zstd, Some(EncoderDictionaryData::Zstd(dictionary))) => {
                zstd::compress_with_dictionary(&mut workspace.zstd, src, dest, dictionary)
            }
            (BuiltInCodec::Zstd, _) => zstd::compress(&mut workspace.zstd, src, dest, clevel),
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
/// exhausted; for invalid streams it returns 0.
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
            (BuiltInCodec::Zlib, _) => zlib::decompress(&mut workspace.zlib, src, dest),
            (_, Some(DecoderDictionaryData::Zstd(dictionary))) => {
                zstd::decompress_with_dictionary(&mut workspace.zstd, src, dest, dictionary)
            }
            (_, _) => zstd::decompress(&mut workspace.zstd, src, dest),
        }
    }
}
