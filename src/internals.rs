//! Modules and items that the tests, benchmarks and fuzz targets of this repository use besides the C functions. They
//! are not a public interface: any release may change them.

pub use crate::buffers::limits;
#[cfg(feature = "zfp")]
pub use crate::codec::zfp;
pub use crate::filter::{bitshuffle, cpu, delta, shuffle, trunc_prec};

/// Returns the CRC-32C of some bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crate::crc32c::checksum(bytes)
}

/// The thresholds and mechanisms that the benchmark `tune` changes.
#[cfg(feature = "tuning")]
pub mod tuning {
    pub use crate::tuning::{Operation, ROWS, Row, Setting, Steps, read_default, reset, set};
}

/// The features of the automatic tuner, and its choice.
pub mod auto_tuner {
    pub use crate::pipeline::auto_tuner::chains::FilterChain;
    pub use crate::pipeline::auto_tuner::features::NFEATURES;
    pub use crate::pipeline::auto_tuner::model::MODEL;
    pub use crate::pipeline::auto_tuner::settings::{Settings, SpeedMode};
    pub use crate::pipeline::auto_tuner::trees::{
        DEPTH, FeatureLimits, LEAF_UNIT, LevelModel, Model, NLIMITS, NOUTPUTS, Prediction, Ranks, Tree, ranks,
    };
    pub use crate::pipeline::auto_tuner::{Analysis, AutoTuner, CodecChoice};
}

/// The worker pool.
pub mod pool {
    pub use crate::pool::{JobFn, prestart, run, set_callback, shutdown, worker_count};
}

/// Single streams of the library's own codecs, without a chunk around them.
pub mod streams {
    use crate::codec::{Decoder, DecoderDictionary, Encoder, EncoderDictionary, Workspace};
    #[cfg(feature = "ndlz")]
    use crate::{
        chunk::{BlockShape, Container},
        codec::ndlz,
    };

    /// The codecs; those with a decoder in this repository are tested.
    pub use crate::codec::BuiltInCodec as NativeCodec;

    /// Encoders and decoders, with the state that a thread reuses for each stream.
    #[derive(Default)]
    pub struct StreamCoder {
        workspace: Workspace,
    }

    impl StreamCoder {
        /// Compresses `src` into `dest` at `clevel` 0..=9, with `dictionary` unless it is empty. Returns the length of
        /// the stream in bytes; 0 if it does not fit, if the encoder finds `src` incompressible, or if the codec does
        /// not accept the dictionary.
        pub fn encode(
            &mut self,
            codec: NativeCodec,
            clevel: i32,
            dictionary: &[u8],
            src: &[u8],
            dest: &mut [u8],
        ) -> usize {
            let Ok(dictionary) =
                (!dictionary.is_empty()).then(|| EncoderDictionary::new(codec, dictionary)).transpose()
            else {
                return 0;
            };
            codec.encoder(clevel, dictionary.as_ref()).encode(&mut self.workspace, src, dest).unwrap_or(0)
        }

        /// Decompresses the first `src_len` bytes of `src` into the first `dest_len` bytes of `dest`, with `dictionary`
        /// unless it is empty. The decoder may read the bytes of `src`, and write the bytes of `dest`, that follow
        /// these. Returns the number of bytes written; 0 for an invalid stream or a dictionary that the codec does not
        /// accept.
        ///
        /// # Panics
        /// If `src` is shorter than `src_len`, or `dest` shorter than `dest_len`.
        pub fn decode(
            &mut self,
            codec: NativeCodec,
            dictionary: &[u8],
            (src, src_len): (&[u8], usize),
            (dest, dest_len): (&mut [u8], usize),
        ) -> usize {
            let Ok(dictionary) =
                (!dictionary.is_empty()).then(|| DecoderDictionary::new(codec, dictionary)).transpose()
            else {
                return 0;
            };
            let decoder = codec.decoder(dictionary.as_ref());
            decoder.decode_with_slack(&mut self.workspace, src, src_len, dest, dest_len).unwrap_or(0)
        }

        /// Compresses the two-dimensional block `src` of the shape `extents`, in bytes, with NDLZ in cells of `cell` (4
        /// or 8) bytes a side. Returns the length of the stream in bytes; 0 if it is no shorter than `src`, or if the
        /// arguments are inconsistent.
        #[cfg(feature = "ndlz")]
        pub fn encode_ndlz(&mut self, cell: u8, extents: [i32; 2], src: &[u8], dest: &mut [u8]) -> usize {
            let container = Container { typesize: 1, blockshape: BlockShape::new(&extents) };
            ndlz::compress(&mut self.workspace.ndlz, cell, Some(&container), src, dest).unwrap_or(0)
        }
    }

    /// Decompresses at least the first `wanted` bytes of the content of `src` into `dest`, which has room for the whole
    /// content. Returns the number of bytes written, fewer for an invalid stream; `None` for a codec that can only
    /// decompress whole streams.
    pub fn decode_prefix(codec: NativeCodec, src: &[u8], dest: &mut [u8], wanted: usize) -> Option<usize> {
        codec.decode_prefix(src, dest, wanted)
    }

    /// Decompresses an NDLZ stream in cells of `cell` (4 or 8) bytes a side. Returns the number of bytes written; 0 for
    /// an invalid stream.
    #[cfg(feature = "ndlz")]
    pub fn decode_ndlz(cell: u8, src: &[u8], dest: &mut [u8]) -> usize {
        ndlz::decompress(cell, src, dest)
    }
}
