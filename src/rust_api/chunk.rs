//! Compressing and decompressing single chunks; the fields of a chunk's header.

use super::params::{CompressSettings, decompress_params};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, MAX_BUFFERSIZE, MAX_FILTERS};
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue};
use crate::codec::BuiltInCodec;
use crate::error::{Result, err};
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::ContentSource;
use crate::pipeline::context::{Context, OwnedContext};
use crate::pipeline::decompress::ItemRange;

/// The largest difference, in bytes, between the length of a chunk and that of its content.
pub const MAX_OVERHEAD: usize = EXTENDED_HEADER_LENGTH;
/// The largest content of a chunk in bytes.
pub const MAX_CONTENT: usize = MAX_BUFFERSIZE;

/// Compresses chunks.
pub struct Compressor(OwnedContext);

// SAFETY: the context belongs to this value alone, has no callbacks, and is not bound to a thread.
unsafe impl Send for Compressor {}
// SAFETY: every method takes `&mut self`.
unsafe impl Sync for Compressor {}

impl Compressor {
    pub fn new(settings: &CompressSettings) -> Result<Compressor> {
        // SAFETY: the parameters have no pointers.
        unsafe { Context::for_compression(&settings.to_c()) }.map(Compressor)
    }

    /// Compresses `content` into `dest`. Returns the length of the chunk in bytes; 0 if it does not fit.
    pub fn compress(&mut self, content: &[u8], dest: &mut [u8]) -> Result<usize> {
        if content.len() > MAX_CONTENT {
            let len = content.len();
            return Err(err!(
                MaxBufsizeExceeded,
                "the content has {len} bytes, expected at most {MAX_CONTENT}"
            ));
        }
        self.0.compress(ContentSource::Buffer(content), OutBuffer::from(dest))
    }
}

/// Decompresses chunks.
pub struct Decompressor(OwnedContext);

// SAFETY: as for `Compressor`.
unsafe impl Send for Decompressor {}
// SAFETY: every method takes `&mut self`.
unsafe impl Sync for Decompressor {}

impl Decompressor {
    pub fn new(nthreads: i16) -> Result<Decompressor> {
        // SAFETY: the parameters have no pointers.
        unsafe { Context::for_decompression(&decompress_params(nthreads)) }.map(Decompressor)
    }

    /// Decompresses the whole of `chunk` into `dest`. Returns the number of bytes.
    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        check_is_whole(chunk)?;
        self.0.decompress(chunk, None, OutBuffer::from(dest))
    }

    /// Reads `nitems` items from item `start` on. Returns the number of bytes.
    pub fn read_items(&mut self, chunk: &[u8], start: i32, nitems: i32, dest: &mut [u8]) -> Result<usize> {
        check_is_whole(chunk)?;
        self.0.getitem(chunk, None, ItemRange::Items { start, nitems }, OutBuffer::from(dest))
    }
}

/// Rejects a lazy chunk, whose blocks are elsewhere.
fn check_is_whole(chunk: &[u8]) -> Result<()> {
    if ChunkHeader::parse(chunk)?.is_lazy() {
        return Err(err!(InvalidHeader, "the chunk is lazy: its blocks are in a frame"));
    }
    Ok(())
}

/// The content of a special chunk, which has no streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Zeros.
    Zeros,
    /// NaNs.
    Nans,
    /// One value, repeated.
    Value,
    /// Unspecified bytes.
    Uninit,
}

/// The fields of a chunk's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkFields {
    /// Length of the content in bytes.
    pub nbytes: usize,
    /// Length of the chunk in bytes.
    pub cbytes: usize,
    /// Block size in bytes; of variable-length blocks, their number.
    pub blocksize: usize,
    /// Item size in bytes.
    pub typesize: usize,
    /// Codec id.
    pub compcode: u8,
    /// Filter ids, slot by slot.
    pub filters: [u8; MAX_FILTERS],
    /// One byte for each filter slot.
    pub filters_meta: [u8; MAX_FILTERS],
    /// The content of a special chunk; `None` for other chunks.
    pub special: Option<Special>,
    /// Whether the content is stored without compression.
    pub is_stored: bool,
    /// Whether the chunk has a dictionary.
    pub has_dictionary: bool,
    /// Whether the blocks have variable lengths.
    pub has_variable_blocks: bool,
}

impl ChunkFields {
    /// Reads the header of a chunk; `chunk` may end behind the header.
    pub fn parse(chunk: &[u8]) -> Result<ChunkFields> {
        let header = ChunkHeader::parse(chunk)?;
        let size = |value: i32| usize::try_from(value).unwrap_or(0);
        Ok(ChunkFields {
            nbytes: size(header.nbytes),
            cbytes: size(header.cbytes),
            blocksize: size(header.blocksize),
            typesize: usize::from(header.typesize),
            compcode: match BuiltInCodec::from_format(header.codec_format()) {
                Some(codec) if header.udcompcode == 0 => codec.compcode(),
                Some(codec) => {
                    BuiltInCodec::from_compcode(i32::from(header.udcompcode)).unwrap_or(codec).compcode()
                }
                None => header.udcompcode,
            },
            filters: header.filters,
            filters_meta: header.filters_meta,
            special: header.special()?.map(|special| match special {
                SpecialValue::Zero => Special::Zeros,
                SpecialValue::Nan => Special::Nans,
                SpecialValue::Value => Special::Value,
                SpecialValue::Uninit => Special::Uninit,
            }),
            is_stored: header.is_memcpyed(),
            has_dictionary: header.has_dictionary(),
            has_variable_blocks: header.has_varlen_blocks(),
        })
    }

    /// As [`parse`](Self::parse), for a whole chunk: `chunk` must have all its bytes, and its parts must be inside.
    pub fn parse_whole(chunk: &[u8]) -> Result<ChunkFields> {
        check_is_whole(chunk)?;
        let mut header = ChunkHeader::default();
        ParsedChunk::parse(&mut header, chunk)?;
        ChunkFields::parse(chunk)
    }
}
