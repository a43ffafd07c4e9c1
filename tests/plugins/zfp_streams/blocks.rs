//! The reference's ZFP, block by block: compresses blocks with the contexts of an array's super-chunk, and extracts
//! the streams from the chunks (chunk.md 1.10 and 1.12). It does not check results.

use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::{Params, len32};
use crate::support::library::Library;

/// Header of a chunk, in bytes.
const HEADER_LEN: usize = 32;
/// Offset of the flags, and the flags used here (chunk.md 1.3, 1.4 and 1.6).
const FLAGS_OFFSET: usize = 2;
const BLOSC2_FLAGS_OFFSET: usize = 31;
const MEMCPYED: u8 = 0x02;
const NOT_SPLIT: u8 = 0x10;
const CODEC_FORMAT_MASK: u8 = 0xe0;
const REGISTERED_CODEC_FORMAT: u8 = 6 << 5;
const SPECIAL_MASK: u8 = 0x70;

/// The encoding of a block in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockEncoding {
    /// All bytes of the block are this one.
    Run(u8),
    /// Uncompressed.
    Raw,
    /// Compressed.
    Coded(Vec<u8>),
}

/// The reference's codec for blocks of one shape.
pub struct ReferenceCodec {
    library: &'static Library,
    array: Array,
    nbytes: usize,
    /// Id and meta byte.
    codec: [u8; 2],
}

impl ReferenceCodec {
    pub fn new(library: &'static Library, zfp: Zfp, geometry: ZfpGeometry<'_>) -> ReferenceCodec {
        let shape: Vec<i64> = geometry.blockshape.iter().map(|&extent| i64::from(extent)).collect();
        let mut spec = ArraySpec::new(&shape, geometry.blockshape, geometry.blockshape, geometry.typesize);
        let codec = match zfp.mode {
            Mode::Accuracy => 33,
            Mode::Precision => 34,
            Mode::Rate => 35,
        };
        spec.params = Params {
            codec,
            codec_meta: zfp.meta,
            typesize: geometry.typesize,
            filters: [0; 6],
            ..Params::default()
        };
        let array = spec.zeros(library);
        let nbytes = spec.nbytes();
        ReferenceCodec { library, array, nbytes, codec: [codec, zfp.meta] }
    }

    /// Compresses a block into a separate chunk.
    pub fn compress(&self, block: &[u8]) -> Vec<u8> {
        // Large enough for every stream: the codec does not check the size (codecs.md 18.3).
        let mut chunk = vec![0; 2 * self.nbytes + 1024];
        let rc = self.compress_into(block, &mut chunk);
        assert!(rc > 0, "compression gives {rc}");
        chunk.truncate(rc as usize);
        chunk
    }

    pub fn compress_into(&self, block: &[u8], chunk: &mut [u8]) -> i32 {
        // SAFETY: the context of a live super-chunk, and two buffers of their true sizes.
        unsafe {
            (self.library.blosc2_compress_ctx)(
                (*self.array.fields().sc).cctx,
                block.as_ptr().cast(),
                len32(block),
                chunk.as_mut_ptr().cast(),
                len32(chunk),
            )
        }
    }

    pub fn decompress_into(&self, chunk: &[u8], block: &mut [u8]) -> i32 {
        // SAFETY: as in `compress_into`.
        unsafe {
            (self.library.blosc2_decompress_ctx)(
                (*self.array.fields().sc).dctx,
                chunk.as_ptr().cast(),
                len32(chunk),
                block.as_mut_ptr().cast(),
                len32(block),
            )
        }
    }

    pub fn decompress(&self, chunk: &[u8]) -> Result<Vec<u8>, i32> {
        let mut block = vec![0xa5; self.nbytes];
        let rc = self.decompress_into(chunk, &mut block);
        if rc < 0 {
            return Err(rc);
        }
        assert_eq!(rc as usize, block.len());
        Ok(block)
    }

    /// Calls `blosc2_getitem_ctx` with the super-chunk's context.
    pub fn getitem(&self, chunk: &[u8], item: usize, dest: &mut [u8]) -> i32 {
        // SAFETY: as in `compress_into`.
        unsafe {
            (self.library.blosc2_getitem_ctx)(
                (*self.array.fields().sc).dctx,
                chunk.as_ptr().cast(),
                len32(chunk),
                item as i32,
                1,
                dest.as_mut_ptr().cast(),
                len32(dest),
            )
        }
    }

    /// Returns the encoding of the block in its chunk (chunk.md 1.12).
    pub fn block_encoding(&self, chunk: &[u8]) -> BlockEncoding {
        if chunk[FLAGS_OFFSET] & MEMCPYED != 0 {
            return BlockEncoding::Raw;
        }
        if chunk[BLOSC2_FLAGS_OFFSET] & SPECIAL_MASK != 0 {
            return BlockEncoding::Run(0);
        }
        assert_ne!(chunk[FLAGS_OFFSET] & NOT_SPLIT, 0, "one stream per block");
        assert_eq!(read_i32(chunk, 8) as usize, self.nbytes, "the block size");
        let start = read_i32(chunk, HEADER_LEN) as usize;
        let len = read_i32(chunk, start);
        match usize::try_from(len) {
            Ok(0) => BlockEncoding::Run(0),
            Ok(len) if len == self.nbytes => BlockEncoding::Raw,
            Ok(len) => BlockEncoding::Coded(chunk[start + 4..start + 4 + len].to_vec()),
            Err(_) => BlockEncoding::Run((-len) as u8),
        }
    }

    /// Returns a chunk of one block whose stream is `stream`.
    pub fn wrap_stream(&self, stream: &[u8]) -> Vec<u8> {
        assert!(stream.len() != self.nbytes && !stream.is_empty());
        let probe: Vec<u8> = (0..self.nbytes).map(|at| (at * 37 + at / 256) as u8).collect();
        let mut chunk = self.compress(&probe)[..HEADER_LEN].to_vec();
        // Neither uncompressed as a whole nor special, whatever the encoding of the probe.
        chunk[FLAGS_OFFSET] =
            chunk[FLAGS_OFFSET] & !MEMCPYED & !CODEC_FORMAT_MASK | NOT_SPLIT | REGISTERED_CODEC_FORMAT;
        chunk[BLOSC2_FLAGS_OFFSET] &= !SPECIAL_MASK;
        [chunk[22], chunk[23]] = self.codec;
        let total = HEADER_LEN + 4 + 4 + stream.len();
        chunk[12..16].copy_from_slice(&(total as u32).to_le_bytes());
        chunk.extend_from_slice(&(HEADER_LEN as u32 + 4).to_le_bytes());
        chunk.extend_from_slice(&(stream.len() as u32).to_le_bytes());
        chunk.extend_from_slice(stream);
        chunk
    }
}

fn read_i32(chunk: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(chunk[at..at + 4].try_into().expect("four bytes"))
}
