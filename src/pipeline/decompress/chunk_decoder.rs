//! The decoder of a chunk: a codec of the format, a registered one, or none.

use super::super::callbacks::UserDecoder;
use super::super::params::DecompressParams;
use crate::chunk::ChunkHeader;
use crate::chunk::format::codec_format;
use crate::codec::{
    BuiltInCodec, BuiltInDecoder, Decoder, DecoderDictionary, PluginCodec, PluginDecoder, Workspace,
};
use crate::err;
use crate::error::Result;
use crate::registry;

pub(super) enum ChunkDecoder<'a> {
    /// A codec of the format.
    BuiltIn(BuiltInDecoder<'a>),
    /// An optional codec, ids 32 to 35.
    Plugin(PluginDecoder<'a>),
    /// A registered codec.
    User(UserDecoder),
    /// An unknown codec: an error only if a stream needs it (`chunk.md` 1.4).
    Unknown(u8),
}

/// Returns the codec of the library that decodes the streams of a chunk with that header; `None` if there is none.
pub(crate) fn built_in_codec(header: &ChunkHeader) -> Option<BuiltInCodec> {
    let format = header.codec_format();
    if header.is_blosc1() {
        BuiltInCodec::from_blosc1_format(format)
    } else {
        BuiltInCodec::from_format(format)
    }
}

impl<'a> ChunkDecoder<'a> {
    /// Returns the decoder for the header's codec: by the format bits, and for the format UDCODEC by the codec id.
    pub(super) fn new(
        header: &ChunkHeader,
        params: &DecompressParams<'a>,
        dictionary: Option<&'a DecoderDictionary>,
        chunk: &[u8],
    ) -> Self {
        let format = header.codec_format();
        if let Some(codec) = built_in_codec(header) {
            return ChunkDecoder::BuiltIn(codec.decoder(dictionary));
        }
        let code = Some(i32::from(header.udcompcode)).filter(|_| format == codec_format::UDCODEC);
        if let Some(codec) = code.and_then(PluginCodec::from_compcode) {
            return ChunkDecoder::Plugin(codec.decoder(header.compcode_meta, params.container));
        }
        let user = code.and_then(registry::codec);
        match user {
            Some(codec) => {
                let dparams = params.c_dparams(i32::from(header.typesize));
                let (code, meta) = (header.udcompcode, header.compcode_meta);
                // SAFETY: the caller that registered the codec guarantees the contract for its functions, and the
                // caller that created the context guarantees it for the pointers in `dparams`.
                ChunkDecoder::User(unsafe {
                    UserDecoder::new(code, codec.properties.decoder, meta, dparams, chunk.as_ptr().cast())
                })
            }
            None => ChunkDecoder::Unknown(format),
        }
    }
}

impl Decoder for ChunkDecoder<'_> {
    fn decode(&self, workspace: &mut Workspace, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        match self {
            ChunkDecoder::BuiltIn(decoder) => decoder.decode(workspace, src, dest),
            ChunkDecoder::Plugin(decoder) => decoder.decode(workspace, src, dest),
            ChunkDecoder::User(decoder) => decoder.decode(workspace, src, dest),
            ChunkDecoder::Unknown(format) => {
                Err(err!(CodecSupport, "the codec of format {format} is neither built in nor registered"))
            }
        }
    }

    fn decode_with_slack(
        &self,
        workspace: &mut Workspace,
        src: &[u8],
        src_len: usize,
        dest: &mut [u8],
        dest_len: usize,
    ) -> Result<usize> {
        match self {
            ChunkDecoder::BuiltIn(decoder) => {
                decoder.decode_with_slack(workspace, src, src_len, dest, dest_len)
            }
            _ => self.decode(workspace, &src[..src_len], &mut dest[..dest_len]),
        }
    }
}
