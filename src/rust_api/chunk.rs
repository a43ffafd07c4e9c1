//! Compressing and decompressing single chunks; the fields of a chunk's header.

use super::block_functions::{BlockClosure, ContextWithClosure};
use super::params::{CompressSettings, decompress_params};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, LONGER_CONTENT, MAX_BUFFERSIZE, MAX_FILTERS, filter_id};
use crate::chunk::{ChunkHeader, ParsedChunk, SpecialValue};
use crate::codec::BuiltInCodec;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::ContentSource;
use crate::pipeline::context::Context;
use crate::pipeline::decompress::{ItemRange, VarlenReader};

/// The largest difference, in bytes, between the length of a chunk and that of its content.
pub const MAX_OVERHEAD: usize = EXTENDED_HEADER_LENGTH;
/// The largest content of a chunk in bytes.
pub const MAX_CONTENT: usize = MAX_BUFFERSIZE;

/// Compresses chunks.
pub struct Compressor(ContextWithClosure);

// SAFETY: the context belongs to this value alone, calls at most a closure that is `Send` and `Sync`, and is not bound to a
// thread.
unsafe impl Send for Compressor {}
// SAFETY: every method takes `&mut self`.
unsafe impl Sync for Compressor {}

impl Compressor {
    pub fn new(settings: &CompressSettings, prefilter: Option<BlockClosure>) -> Result<Compressor> {
        ContextWithClosure::for_compression(&settings.to_c(), prefilter).map(Compressor)
    }

    /// Compresses `content` into `dest`. Returns the length of the chunk in bytes; 0 if it does not fit.
    pub fn compress(&mut self, content: &[u8], dest: &mut [u8]) -> Result<usize> {
        if content.len() > MAX_CONTENT {
            let len = content.len();
            return Err(err!(
                MaxBufsizeExceeded,
                "the content has {len} bytes, expected at most {MAX_CONTENT}; {LONGER_CONTENT}"
            ));
        }
        self.0.context().compress(ContentSource::Buffer(content), OutBuffer::from(dest))
    }

    /// Compresses blocks of different lengths, of which none is empty, into one chunk. Returns the chunk. There must be no
    /// prefilter, to which the library does not pass the numbers of these blocks.
    pub fn compress_varlen(&mut self, blocks: &[&[u8]]) -> Result<Vec<u8>> {
        check_has_no_closure(&self.0)?;
        let total = blocks.iter().try_fold(0usize, |total, block| total.checked_add(block.len()));
        let total = total.filter(|&total| total <= MAX_CONTENT).ok_or_else(|| {
            err!(MaxBufsizeExceeded, "the blocks have more than {MAX_CONTENT} bytes; {LONGER_CONTENT}")
        })?;
        ensure!(!blocks.is_empty(), InvalidParam, "no blocks, expected at least 1");
        let empty = blocks.iter().position(|block| block.is_empty());
        ensure!(empty.is_none(), InvalidParam, "block {empty:?} is empty, expected at least 1 byte");
        // Offset and length of each block.
        let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH + 8 * blocks.len() + total)?;
        let source = ContentSource::VarlenBlocks(blocks);
        let len = self.0.context().compress(source, OutBuffer::from(&mut chunk[..]))?;
        ensure!(len != 0, Failure, "{total} bytes could not be compressed");
        chunk.truncate(len);
        Ok(chunk)
    }

    /// Returns a chunk without streams, whose content is `nbytes` bytes long; `value` is the item of [`Special::Value`].
    pub fn special(&mut self, special: Special, nbytes: usize, value: &[u8]) -> Result<Vec<u8>> {
        ensure!(
            nbytes <= MAX_CONTENT,
            MaxBufsizeExceeded,
            "{nbytes} bytes, expected at most {MAX_CONTENT}; {LONGER_CONTENT}"
        );
        let kind = match special {
            Special::Zeros => SpecialValue::Zero,
            Special::Nans => SpecialValue::Nan,
            Special::Value => SpecialValue::Value,
            Special::Uninit => SpecialValue::Uninit,
        };
        let mut chunk = fallible::filled(0, EXTENDED_HEADER_LENGTH + value.len())?;
        let dest = OutBuffer::from(&mut chunk[..]);
        let len = self.0.context().compress_special_chunk(kind, nbytes, value, dest)?;
        chunk.truncate(len);
        Ok(chunk)
    }
}

/// Decompresses chunks.
pub struct Decompressor(ContextWithClosure);

// SAFETY: as for `Compressor`.
unsafe impl Send for Decompressor {}
// SAFETY: every method takes `&mut self`.
unsafe impl Sync for Decompressor {}

impl Decompressor {
    pub fn new(nthreads: i16, postfilter: Option<BlockClosure>) -> Result<Decompressor> {
        ContextWithClosure::for_decompression(&decompress_params(nthreads), postfilter).map(Decompressor)
    }

    /// Returns the context for a chunk, which is whole; with a postfilter, its blocks have equal lengths.
    fn context_for(&self, chunk: &[u8]) -> Result<&Context> {
        check_is_whole(chunk)?;
        if ChunkHeader::parse(chunk)?.has_varlen_blocks() {
            check_has_no_closure(&self.0)?;
        }
        Ok(self.0.context())
    }

    /// Decompresses the whole of `chunk` into `dest`. Returns the number of bytes.
    pub fn decompress(&mut self, chunk: &[u8], dest: &mut [u8]) -> Result<usize> {
        self.context_for(chunk)?.decompress(chunk, None, OutBuffer::from(dest))
    }

    /// Decompresses the blocks of a chunk with blocks of different lengths.
    pub fn decompress_varlen(&mut self, chunk: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.context_for(chunk)?.open_varlen(chunk, None, |reader| {
            (0..reader.nblocks()).map(|nblock| varlen_block(reader, nblock)).collect()
        })
    }

    /// Decompresses one block of a chunk with blocks of different lengths.
    pub fn decompress_varlen_block(&mut self, chunk: &[u8], nblock: usize) -> Result<Vec<u8>> {
        self.context_for(chunk)?.open_varlen(chunk, None, |reader| {
            ensure!(nblock < reader.nblocks(), InvalidParam, "block {nblock} of {}", reader.nblocks());
            varlen_block(reader, nblock)
        })
    }

    /// Reads `nitems` items from item `start` on. Returns the number of bytes.
    pub fn read_items(&mut self, chunk: &[u8], start: i32, nitems: i32, dest: &mut [u8]) -> Result<usize> {
        self.context_for(chunk)?.getitem(
            chunk,
            None,
            ItemRange::Items { start, nitems },
            OutBuffer::from(dest),
        )
    }
}

/// Checks that there is no prefilter or postfilter.
fn check_has_no_closure(context: &ContextWithClosure) -> Result<()> {
    let text = "blocks of different lengths with a prefilter or postfilter, expected blocks of equal lengths";
    if context.has_closure() { Err(err!(InvalidParam, "{text}")) } else { Ok(()) }
}

fn varlen_block(reader: &VarlenReader<'_>, nblock: usize) -> Result<Vec<u8>> {
    let mut content = fallible::filled(0, reader.block_nbytes(nblock))?;
    reader.decode_block(nblock, OutBuffer::from(&mut content[..]))?;
    Ok(content)
}

/// Length of the header of a chunk of Blosc 1 in bytes.
const BLOSC1_HEADER_LENGTH: usize = 16;

/// Compresses `content` into a chunk that readers of Blosc 1 can read.
///
/// # Errors
/// `CodecSupport` for a codec that Blosc 1 lacks; `FilterPipeline` for filters other than one shuffle or bitshuffle;
/// `MaxBufsizeExceeded`, `MemoryAlloc`.
pub fn compress_for_blosc1(settings: &CompressSettings, content: &[u8]) -> Result<Vec<u8>> {
    use crate::blosc1::layout::LayoutParams;
    use crate::blosc1::{self, ChunkSettings, Codec, Filter};
    let codec = Codec::from_code(settings.compcode.into())
        .ok_or_else(|| err!(CodecSupport, "Blosc 1 has no codec {}", settings.compcode))?;
    let filters: Vec<u8> = settings.filters.iter().copied().filter(|&id| id != 0).collect();
    let filter = match filters[..] {
        [] => Filter::None,
        [filter_id::SHUFFLE] => Filter::Shuffle,
        [filter_id::BITSHUFFLE] => Filter::Bitshuffle,
        _ => return Err(err!(FilterPipeline, "the filters {filters:?}, expected one shuffle or bitshuffle")),
    };
    let capacity = content.len().checked_add(BLOSC1_HEADER_LENGTH).filter(|&len| len <= i32::MAX as usize);
    let capacity = capacity.ok_or_else(|| {
        err!(MaxBufsizeExceeded, "the content has {} bytes, expected less than 2^31", content.len())
    })?;
    // Wider items than the header can store are single bytes.
    let typesize = u8::try_from(settings.typesize).unwrap_or(1).max(1);
    let layout = LayoutParams {
        codec,
        clevel: settings.clevel,
        typesize,
        splitmode: settings.splitmode,
        forced_blocksize: settings.blocksize,
    };
    let (blocksize, is_split) = layout.layout(content.len() as i32);
    let nthreads = usize::try_from(settings.nthreads).unwrap_or(1).max(1);
    let settings =
        ChunkSettings { codec, clevel: settings.clevel, filter, typesize, blocksize, is_split, nthreads };
    let mut chunk: Vec<u8> = fallible::vec_with_capacity(capacity)?;
    let len = blosc1::compress(&settings, content, &mut chunk.spare_capacity_mut()[..capacity])?;
    ensure!(len != 0, Failure, "{} bytes could not be compressed", content.len());
    // SAFETY: `compress` has written that number of bytes.
    unsafe { chunk.set_len(len) };
    Ok(chunk)
}

/// Rejects a lazy chunk, whose blocks are elsewhere.
fn check_is_whole(chunk: &[u8]) -> Result<()> {
    if ChunkHeader::parse(chunk)?.is_lazy() {
        return Err(err!(InvalidHeader, "the chunk is lazy: its blocks are in a frame"));
    }
    Ok(())
}

/// The content of a special chunk, which has no streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
