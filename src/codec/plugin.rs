//! The optional codecs, ids 32 to 35, which depend on the array around a block (`codecs.md` 8 to 10): their
//! numbers, and the [`Encoder`] and [`Decoder`] of each.
//!
//! Owns the choice between them by number, which of them a build has, and the error codes of what they reject. The
//! registry owns their names and versions.

#![forbid(unsafe_code)]

#[cfg(feature = "ndlz")]
use super::ndlz;
#[cfg(feature = "zfp")]
use super::zfp::{self, Mode, Zfp};
use super::{Decoder, Encoder, Workspace};
use crate::chunk::Container;
use crate::error::Result;
#[cfg(feature = "zfp")]
use crate::error::{Error, ErrorKind, err, to_kind};
use std::ops::Range;

/// An optional codec (ids 32 to 35) that this build has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginCodec {
    /// Blocks of bytes in two dimensions.
    #[cfg(feature = "ndlz")]
    Ndlz,
    /// Blocks of floats or doubles in one to four dimensions.
    #[cfg(feature = "zfp")]
    Zfp(Mode),
}

impl PluginCodec {
    /// Returns the codec with that code, or `None` if it is not one of these.
    pub(crate) fn from_compcode(code: i32) -> Option<PluginCodec> {
        match code {
            #[cfg(feature = "ndlz")]
            crate::abi::BLOSC_CODEC_NDLZ => Some(PluginCodec::Ndlz),
            #[cfg(feature = "zfp")]
            crate::abi::BLOSC_CODEC_ZFP_FIXED_ACCURACY => Some(PluginCodec::Zfp(Mode::Accuracy)),
            #[cfg(feature = "zfp")]
            crate::abi::BLOSC_CODEC_ZFP_FIXED_PRECISION => Some(PluginCodec::Zfp(Mode::Precision)),
            #[cfg(feature = "zfp")]
            crate::abi::BLOSC_CODEC_ZFP_FIXED_RATE => Some(PluginCodec::Zfp(Mode::Rate)),
            _ => None,
        }
    }

    /// Returns whether the codec decodes some items of a block without the others.
    pub(crate) fn can_decode_parts(self) -> bool {
        match self {
            #[cfg(feature = "ndlz")]
            PluginCodec::Ndlz => false,
            #[cfg(feature = "zfp")]
            PluginCodec::Zfp(mode) => mode == Mode::Rate,
        }
    }

    /// Returns an encoder with the codec's own byte `meta`, for a chunk of `container` with items of `typesize` bytes.
    pub(crate) fn encoder(self, meta: u8, typesize: usize, container: Option<Container>) -> PluginEncoder {
        PluginEncoder { codec: self, meta, typesize, container }
    }

    /// Returns a decoder with the codec's own byte `meta`, for a chunk of `container`.
    pub(crate) fn decoder(self, meta: u8, container: Option<&Container>) -> PluginDecoder<'_> {
        PluginDecoder { codec: self, meta, container }
    }
}

/// The [`Encoder`] that [`PluginCodec::encoder`] makes. It returns an error if codec, array and block do not match.
#[derive(Clone, Copy)]
pub(crate) struct PluginEncoder {
    codec: PluginCodec,
    #[cfg_attr(not(any(feature = "ndlz", feature = "zfp")), expect(dead_code, reason = "no codec uses it"))]
    meta: u8,
    #[cfg_attr(not(feature = "zfp"), expect(dead_code, reason = "no codec uses it"))]
    typesize: usize,
    #[cfg_attr(not(any(feature = "ndlz", feature = "zfp")), expect(dead_code, reason = "no codec uses it"))]
    container: Option<Container>,
}

impl Encoder for PluginEncoder {
    #[cfg_attr(
        not(any(feature = "ndlz", feature = "zfp")),
        allow(unused_variables, reason = "no codec uses them")
    )]
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match self.codec {
            #[cfg(feature = "ndlz")]
            PluginCodec::Ndlz => {
                ndlz::compress(&mut workspace.ndlz, self.meta, self.container.as_ref(), src, dest)
            }
            #[cfg(feature = "zfp")]
            PluginCodec::Zfp(mode) => {
                // Without a super-chunk, data are not compressed; with a super-chunk, a missing shape is an error
                // (9.2).
                let Some(container) = &self.container else { return Ok(0) };
                let geometry = zfp_geometry_of(container, i32::try_from(self.typesize).unwrap_or(0))?;
                let zfp = Zfp { mode, meta: self.meta };
                zfp.encode(geometry, src, dest).map_err(to_data_error)
            }
        }
    }
}

/// The [`Decoder`] that [`PluginCodec::decoder`] makes.
#[derive(Clone, Copy)]
pub(crate) struct PluginDecoder<'a> {
    codec: PluginCodec,
    #[cfg_attr(not(any(feature = "ndlz", feature = "zfp")), expect(dead_code, reason = "no codec uses it"))]
    meta: u8,
    #[cfg_attr(not(feature = "zfp"), expect(dead_code, reason = "no codec uses it"))]
    container: Option<&'a Container>,
}

impl Decoder for PluginDecoder<'_> {
    #[cfg_attr(
        not(any(feature = "ndlz", feature = "zfp")),
        allow(unused_variables, reason = "no codec uses them")
    )]
    fn decode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match self.codec {
            #[cfg(feature = "ndlz")]
            PluginCodec::Ndlz => Ok(ndlz::decompress(self.meta, src, dest)),
            #[cfg(feature = "zfp")]
            PluginCodec::Zfp(mode) => {
                let zfp = Zfp { mode, meta: self.meta };
                zfp.decode(self.zfp_geometry()?, src, dest).map_err(to_data_error)
            }
        }
    }
}

impl PluginDecoder<'_> {
    /// Decompresses the bytes `part` of the block of `nbytes` bytes whose stream is `src` into `dest`, which must be as
    /// long as `part`. Returns `false`, and leaves `dest` unchanged, if the whole block has to be decompressed for
    /// them.
    ///
    /// # Errors
    /// `Data` for a stream that is too short.
    #[cfg_attr(not(feature = "zfp"), allow(unused_variables, reason = "no codec uses them"))]
    pub(crate) fn decode_byte_range(
        &self,
        src: &[u8],
        nbytes: usize,
        part: Range<usize>,
        dest: &mut [u8],
    ) -> Result<bool> {
        match self.codec {
            #[cfg(feature = "ndlz")]
            PluginCodec::Ndlz => Ok(false),
            #[cfg(feature = "zfp")]
            PluginCodec::Zfp(mode) => {
                let geometry = self.zfp_geometry()?;
                let typesize = usize::try_from(geometry.typesize).unwrap_or(0).max(1);
                let shape = self.container.and_then(|container| container.blockshape);
                let is_whole =
                    shape.and_then(|shape| shape.checked_extents(typesize, nbytes)).map(|(n, _)| n)
                        == Some(nbytes);
                if !is_whole || !part.start.is_multiple_of(typesize) || !part.end.is_multiple_of(typesize) {
                    return Ok(false);
                }
                let items = part.start / typesize..part.end / typesize;
                let zfp = Zfp { mode, meta: self.meta };
                zfp.decode_items(geometry, src, items, dest).map_err(to_data_error)
            }
        }
    }

    #[cfg(feature = "zfp")]
    fn zfp_geometry(&self) -> Result<zfp::ZfpGeometry<'_>> {
        let container = self.container.ok_or_else(|| err!(Data, "ZFP: the chunk has no super-chunk"))?;
        zfp_geometry_of(container, container.typesize)
    }
}

/// Returns the shape and the item size of a block for ZFP.
#[cfg(feature = "zfp")]
fn zfp_geometry_of(container: &Container, typesize: i32) -> Result<zfp::ZfpGeometry<'_>> {
    let shape = container.blockshape.as_ref();
    let shape = shape.ok_or_else(|| err!(Data, "ZFP: the super-chunk has no valid metalayer `b2nd`"))?;
    Ok(zfp::ZfpGeometry { blockshape: shape.extents(), typesize })
}

/// Returns the error of a codec as the pipeline reports it (`codecs.md` 2).
#[cfg(feature = "zfp")]
fn to_data_error(error: Error) -> Error {
    to_kind(ErrorKind::Data)(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_codecs_match_the_enabled_features() {
        for (code, is_there) in [
            (31, false),
            (32, cfg!(feature = "ndlz")),
            (33, cfg!(feature = "zfp")),
            (34, cfg!(feature = "zfp")),
            (35, cfg!(feature = "zfp")),
            (36, false),
        ] {
            assert_eq!(PluginCodec::from_compcode(code).is_some(), is_there, "{code}");
        }
    }
}
