//! The encoder of a chunk: a codec of the format, a registered one, or none.

use super::super::callbacks::UserEncoder;
use super::super::params::{ChunkFormat, CompressParams};
use super::plan::CompressionPlan;
use crate::abi::BLOSC_ALWAYS_SPLIT;
use crate::codec::{BuiltInEncoder, Encoder, EncoderDictionary, PluginCodec, PluginEncoder, Workspace};
use crate::error::{Result, err};
use crate::registry;

pub(super) enum ChunkEncoder<'a> {
    /// A codec of the format.
    BuiltIn(BuiltInEncoder<'a>),
    /// An optional codec, ids 32 to 35.
    Plugin(PluginEncoder),
    /// A registered codec.
    User(UserEncoder),
    /// An unknown codec: an error is returned only when a stream has to be compressed (`codecs.md` 1.2).
    Unknown(i32),
}

impl<'a> ChunkEncoder<'a> {
    /// Returns the encoder for `params`. `source` is the address that is passed to a program's encoder.
    pub(super) fn new(
        params: &CompressParams,
        plan: &CompressionPlan,
        blocksize: i32,
        dictionary: Option<&'a EncoderDictionary>,
        source: *const u8,
    ) -> Self {
        if let Some(codec) = params.built_in_codec() {
            let encoder = codec.encoder(params.clevel, dictionary).with_planes(plan.planes_per_stream());
            return ChunkEncoder::BuiltIn(match params.format {
                ChunkFormat::Blosc1 { .. } => encoder.for_blosc1(params.splitmode == BLOSC_ALWAYS_SPLIT),
                ChunkFormat::Blosc2 | ChunkFormat::ShortHeader => encoder,
            });
        }
        if let Some(codec) = PluginCodec::from_compcode(params.compcode) {
            let typesize = plan.typesize;
            return ChunkEncoder::Plugin(codec.encoder(params.compcode_meta, typesize, params.container));
        }
        match registry::codec(params.compcode) {
            Some(codec) => {
                let cparams = params.c_cparams(plan.typesize as i32, blocksize);
                // SAFETY: the caller that registered the codec guarantees the contract for its functions, and the
                // caller that created the context guarantees it for the pointers in `cparams`.
                ChunkEncoder::User(unsafe {
                    let encoder = codec.properties.encoder;
                    UserEncoder::new(codec.id as u8, encoder, params.compcode_meta, cparams, source.cast())
                })
            }
            None => ChunkEncoder::Unknown(params.compcode),
        }
    }
}

impl Encoder for ChunkEncoder<'_> {
    fn encode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match self {
            ChunkEncoder::BuiltIn(encoder) => encoder.encode(workspace, src, dest),
            ChunkEncoder::Plugin(encoder) => encoder.encode(workspace, src, dest),
            ChunkEncoder::User(encoder) => encoder.encode(workspace, src, dest),
            ChunkEncoder::Unknown(code) => {
                Err(err!(CodecSupport, "codec {code} is neither built in nor registered"))
            }
        }
    }

    fn encode_run(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match self {
            ChunkEncoder::BuiltIn(encoder) => encoder.encode_run(workspace, src, dest),
            _ => self.encode(workspace, src, dest),
        }
    }
}
