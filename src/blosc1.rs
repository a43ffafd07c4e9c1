//! Chunks of Blosc 1 (format 2, `blosc1.md` 5 to 7), for the crate `blosc1` of this workspace, which has the C functions
//! of that library. Not a public interface: any release may change it.
//!
//! Owns the coding of blocks, and the layout that a writer chooses. The caller checks arguments and headers, and maps errors
//! to the codes of Blosc 1.

pub mod layout;

use crate::abi::{BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT};
use crate::chunk::format::{MAX_FILTERS, filter_id, flag};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::codec::{BuiltInCodec, Decoder, Workspace};
use crate::error::Result;
use crate::fallible;
use crate::os;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::{self, ContentSource};
use crate::pipeline::decompress::{self, ItemRange};
use crate::pipeline::params::{ChunkFormat, CompressParams, DecompressParams};
use std::ffi::CStr;
use std::mem::MaybeUninit;

pub use crate::panics::catch_panics;
pub use crate::pool::shutdown as end_threads;

/// Makes the system call `handler`, which is async-signal-safe, in each child of a fork. Returns false if that fails.
pub fn call_in_forked_children(handler: extern "C" fn()) -> bool {
    os::call_in_forked_children(handler)
}

/// A codec of Blosc 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec(BuiltInCodec);

impl Codec {
    /// Returns the codecs by ascending code.
    pub fn all() -> impl Iterator<Item = Codec> {
        BuiltInCodec::all_of_blosc1().map(Codec)
    }

    /// Returns the codec with that code, or `None` if there is none.
    pub fn from_code(code: i32) -> Option<Codec> {
        BuiltInCodec::from_blosc1_compcode(code).map(Codec)
    }

    /// Returns the codec of that name, exactly as written, or `None` if there is none.
    pub fn from_name(name: &CStr) -> Option<Codec> {
        Codec::all().find(|codec| codec.name() == name)
    }

    /// Returns the code.
    pub fn code(self) -> i32 {
        i32::from(self.0.compcode())
    }

    /// Returns the name.
    pub fn name(self) -> &'static CStr {
        self.0.name()
    }

    /// Returns the format code in bits 5 to 7 of a chunk's flags, which is also the code of the codec's library.
    pub fn format(self) -> u8 {
        self.0.format()
    }

    /// Returns the name of the codec's library.
    pub fn library_name(self) -> &'static str {
        self.0.library_name().to_str().unwrap_or_default()
    }

    /// Returns the version of the codec's library.
    pub fn library_version(self) -> &'static str {
        match self.0 {
            // The release whose decisions the encoder makes for chunks of Blosc 1.
            BuiltInCodec::BloscLz => "2.5.1",
            codec => codec.library_version(),
        }
    }
}

/// The filter of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// None.
    None,
    /// Byte shuffle, which does nothing for items of one byte.
    Shuffle,
    /// Bit shuffle, of blocks whose number of items is a multiple of 8.
    Bitshuffle,
}

/// The properties of a chunk that is written.
#[derive(Clone, Copy, Debug)]
pub struct ChunkSettings {
    /// The codec.
    pub codec: Codec,
    /// Compression level, 0 to 9.
    pub clevel: u8,
    /// The filter.
    pub filter: Filter,
    /// Item size in bytes, at least 1.
    pub typesize: u8,
    /// Size of all blocks but a shorter last one, in bytes, at least 1.
    pub blocksize: i32,
    /// Whether full blocks are split into one stream per byte of an item.
    pub is_split: bool,
    /// Maximum number of threads that work on the chunk, at least 1.
    pub nthreads: usize,
}

/// Compresses `src`, which has at most 2^31 - 17 bytes, into `dest`. Returns the length of the chunk in bytes; 0 if it
/// does not fit. `dest` must have room for a header of 16 bytes.
///
/// # Errors
/// `MemoryAlloc`. The content of `dest` is unspecified after an error.
pub fn compress(settings: &ChunkSettings, src: &[u8], dest: &mut [MaybeUninit<u8>]) -> Result<usize> {
    let (filter_flags, filter) = match settings.filter {
        Filter::None => (0, filter_id::NONE),
        Filter::Shuffle if settings.typesize == 1 => (flag::SHUFFLE, filter_id::NONE),
        Filter::Shuffle => (flag::SHUFFLE, filter_id::SHUFFLE),
        Filter::Bitshuffle => (flag::BITSHUFFLE, filter_id::BITSHUFFLE),
    };
    let mut filters = [filter_id::NONE; MAX_FILTERS];
    filters[MAX_FILTERS - 1] = filter;
    let params = CompressParams {
        compcode: settings.codec.code(),
        clevel: i32::from(settings.clevel),
        typesize: i32::from(settings.typesize),
        nthreads: settings.nthreads,
        blocksize: settings.blocksize,
        splitmode: if settings.is_split { BLOSC_ALWAYS_SPLIT } else { BLOSC_NEVER_SPLIT },
        filters,
        format: ChunkFormat::Blosc1 { filter_flags },
        ..CompressParams::default()
    };
    // SAFETY: the encoder writes each byte of a chunk before it reads it.
    let dest = unsafe { OutBuffer::from(dest).into_bytes() };
    let header = compress::compress(&params, ContentSource::Buffer(src), dest)?;
    Ok(usize::try_from(header.cbytes).unwrap_or(0))
}

/// Decompresses the whole of `chunk` into `dest`, with up to `nthreads` threads. Returns the length of the content in
/// bytes.
///
/// # Errors
/// Those of a damaged chunk; the content of `dest` is unspecified then.
pub fn decompress(chunk: &[u8], nthreads: usize, dest: &mut [MaybeUninit<u8>]) -> Result<usize> {
    let params = DecompressParams { nthreads, ..DecompressParams::default() };
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?;
    Ok(decompress::decompress(&params, &chunk, OutBuffer::from(dest))?.nbytes)
}

/// Decompresses `nitems` items of `chunk`, from item `start` on, into `dest`. Only the blocks that hold them are
/// decoded. Returns the length of the items in bytes.
///
/// # Errors
/// `Data` if a stream is damaged; others for items outside the chunk and for other damage.
pub fn read_items(chunk: &[u8], start: i32, nitems: i32, dest: &mut [MaybeUninit<u8>]) -> Result<usize> {
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?;
    let range = ItemRange::Items { start, nitems };
    Ok(decompress::getitem(&DecompressParams::default(), &chunk, range, OutBuffer::from(dest))?.nbytes)
}

/// Returns whether a stream of the codec with that format code decodes to exactly `len` bytes; `None` without the memory
/// to decode it.
pub fn is_valid_stream(format: u8, stream: &[u8], len: usize) -> Option<bool> {
    let mut content = fallible::filled(0, len).ok()?;
    let mut workspace = Workspace::default();
    let codec = BuiltInCodec::from_blosc1_format(format);
    let decoded = codec.map(|codec| codec.decoder(None).decode(&mut workspace, stream, &mut content));
    decoded.map_or(Some(false), |decoded| Some(decoded.ok()? == len))
}
