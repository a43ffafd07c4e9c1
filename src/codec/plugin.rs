//! The codecs of the library's own range, which look at the array around a block (`codecs.md` 8 to 10): their numbers,
//! and the [`Encoder`] and [`Decoder`] of each.
//!
//! Owns the choice between them by number, and which of them a build has. Names and versions are the registry's.

use super::{Decoder, Encoder, Workspace};
use crate::chunk::Container;
use crate::error::Result;

/// A codec of the library's own range that this build has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// Blocks of bytes in two dimensions.
    #[cfg(feature = "ndlz")]
    Ndlz,
}

impl Plugin {
    /// The codec with that code, if it is one of these.
    pub fn from_compcode(code: i32) -> Option<Plugin> {
        match code {
            #[cfg(feature = "ndlz")]
            crate::abi::BLOSC_CODEC_NDLZ => Some(Plugin::Ndlz),
            _ => None,
        }
    }

    /// An encoder with the codec's own byte `meta`, for a chunk of `container` with items of `typesize` bytes.
    pub fn encoder(self, meta: u8, typesize: usize, container: Option<Container>) -> PluginEncoder {
        PluginEncoder { codec: self, meta, typesize, container }
    }

    /// A decoder with the codec's own byte `meta`, for a chunk of `container`.
    pub fn decoder(self, meta: u8, container: Option<&Container>) -> PluginDecoder<'_> {
        PluginDecoder { codec: self, meta, container }
    }
}

/// The [`Encoder`] that [`Plugin::encoder`] makes. It fails where codec, array and block do not go together.
#[derive(Clone, Copy)]
pub struct PluginEncoder {
    codec: Plugin,
    meta: u8,
    typesize: usize,
    container: Option<Container>,
}

impl Encoder for PluginEncoder {
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let _ = (&workspace, self.meta, self.typesize, &self.container, &src, &dest);
        match self.codec {
            #[cfg(feature = "ndlz")]
            Plugin::Ndlz => {
                super::ndlz::compress(&mut workspace.ndlz, self.meta, self.container.as_ref(), src, dest)
            }
        }
    }
}

/// The [`Decoder`] that [`Plugin::decoder`] makes.
#[derive(Clone, Copy)]
pub struct PluginDecoder<'a> {
    codec: Plugin,
    meta: u8,
    container: Option<&'a Container>,
}

impl Decoder for PluginDecoder<'_> {
    fn decode(&self, _: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let _ = (self.meta, self.container, &src, &dest);
        match self.codec {
            #[cfg(feature = "ndlz")]
            Plugin::Ndlz => Ok(super::ndlz::decompress(self.meta, src, dest)),
        }
    }
}
